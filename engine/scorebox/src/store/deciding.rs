//! The cases of a run with the parts of their scorers' answers that verdicts need: in one pass over both tables, one
//! case at a time. It computes no verdict.

use std::sync::atomic::Ordering;

use rusqlite::{Row, Rows, params};

use super::{CaseKey, RunKey, ScorerKey, Store, StoreError, column::OnAScale, effort::Ascending};
use crate::row::{Json, Status};

/// A case, and the answers of its scorers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CaseToDecide {
    /// Its key in this database.
    pub key: CaseKey,
    /// Its own id.
    pub case_id: String,
    /// The task that it belongs to.
    pub node_id: Option<String>,
    /// The task's iteration.
    pub iteration: u32,
    /// The task's attempt.
    pub attempt: u32,
    /// How long the task took, in milliseconds.
    pub latency_ms: Option<f64>,
    /// What the task consumed, as JSON.
    pub usage: Option<Json>,
    /// Whether it has a trace of the agent's actions.
    pub has_trace: bool,
    /// Why the case must not be judged; empty if no reason is given.
    pub skip: Option<String>,
    /// Why there is no output, if the task failed.
    pub error: Option<String>,
    /// Its rows, in the order of the scorers.
    pub rows: Vec<RowToDecide>,
}

/// One scorer's answer for a case.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RowToDecide {
    /// The scorer.
    pub scorer: ScorerKey,
    /// The outcome.
    pub status: Status,
    /// Set in scored rows only.
    pub score: Option<f64>,
    /// The checks that the score consists of.
    pub assertions: Option<Json>,
    /// Why the scorer skips the case; only in skipped rows.
    pub skipped_because: Option<String>,
}

/// The `+` keeps SQLite from using an index, because it would then have to sort.
const CASES: &str = "
    SELECT case_key, case_id, node_id, iteration, attempt, latency_ms, usage, skip_reason, error, typeof(trace) <> 'null'
    FROM cases WHERE case_key BETWEEN ?1 AND ?2 AND (?3 IS NULL OR +node_id = ?3)
    ORDER BY case_key";

const ROWS: &str = "
    SELECT case_key, scorer, status, score, assertions_json, CASE status WHEN 'skipped' THEN reason END
    FROM score_rows WHERE case_key BETWEEN ?1 AND ?2 ORDER BY case_key, scorer";

impl Store {
    /// Calls `take` with each case of a run, or of one of its tasks, in the order in which they were read, until it
    /// returns false.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn for_each_case(
        &self,
        run: RunKey,
        node: Option<&str>,
        take: impl FnMut(&CaseToDecide) -> bool,
    ) -> Result<(), StoreError> {
        self.for_each_case_from(run, None, node, take)
    }

    /// Like [`Store::for_each_case`], beginning with the case `from`.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn for_each_case_from(
        &self,
        run: RunKey,
        from: Option<CaseKey>,
        node: Option<&str>,
        mut take: impl FnMut(&CaseToDecide) -> bool,
    ) -> Result<(), StoreError> {
        let (first, last) = CaseKey::bounds(run);
        let first = from.map_or(first, |from| from.0.max(first));
        self.snapshot(|store| {
            store.bounded(|| {
                let mut cases = store.conn.prepare_cached(CASES)?;
                let mut cases = cases.query(params![first, last, node])?;
                let mut rows = store.conn.prepare_cached(ROWS)?;
                let mut rows = ScoreRows::new(rows.query([first, last])?)?;
                let mut keys = Ascending::after(None);
                while let Some(row) = cases.next()? {
                    let mut case = case_to_decide(row)?;
                    keys.note(case.key)?;
                    rows.move_to(&mut case)?;
                    store.rows_read.fetch_add(1, Ordering::Relaxed);
                    if !take(&case) {
                        break;
                    }
                }
                Ok(())
            })
        })
    }
}

/// Score rows in the order of their cases, with one row of lookahead.
struct ScoreRows<'s> {
    rows: Rows<'s>,
    next: Option<(CaseKey, RowToDecide)>,
    keys: Ascending<(CaseKey, ScorerKey)>,
}

impl<'s> ScoreRows<'s> {
    fn new(rows: Rows<'s>) -> rusqlite::Result<ScoreRows<'s>> {
        let mut rows = ScoreRows { rows, next: None, keys: Ascending::after(None) };
        rows.read()?;
        Ok(rows)
    }

    fn read(&mut self) -> rusqlite::Result<()> {
        self.next = match self.rows.next()? {
            None => None,
            Some(row) => {
                let (case, scorer) = (row.get(0)?, row.get(1)?);
                self.keys.note((case, scorer))?;
                Some((case, row_to_decide(row, scorer, 2)?))
            }
        };
        Ok(())
    }

    /// Gives the case its rows. Rows before them belong to cases that were not requested.
    fn move_to(&mut self, case: &mut CaseToDecide) -> rusqlite::Result<()> {
        while let Some((key, row)) = self.next.take_if(|(key, _)| *key <= case.key) {
            if key == case.key {
                case.rows.push(row);
            }
            self.read()?;
        }
        Ok(())
    }
}

/// A case from the columns that [`CASES`] names, without its rows.
pub(super) fn case_to_decide(row: &Row<'_>) -> rusqlite::Result<CaseToDecide> {
    Ok(CaseToDecide {
        key: row.get(0)?,
        case_id: row.get(1)?,
        node_id: row.get(2)?,
        iteration: row.get(3)?,
        attempt: row.get(4)?,
        latency_ms: row.get(5)?,
        usage: row.get::<_, Option<String>>(6)?.map(Json::from),
        skip: row.get(7)?,
        error: row.get(8)?,
        has_trace: row.get(9)?,
        rows: Vec::new(),
    })
}

/// A scorer's answer, from its key and the four columns after it, the first of which has this index.
pub(super) fn row_to_decide(
    row: &Row<'_>,
    scorer: ScorerKey,
    first: usize,
) -> rusqlite::Result<RowToDecide> {
    Ok(RowToDecide {
        scorer,
        status: row.get(first)?,
        score: OnAScale::of(row.get(first + 1)?),
        assertions: row.get::<_, Option<String>>(first + 2)?.map(Json::from),
        skipped_because: row.get(first + 3)?,
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::{NewCase, sample::*},
        *,
    };

    /// `CASE: STATUS STATUS …` of each case.
    fn cases(store: &Store, run: RunKey, node: Option<&str>) -> Vec<String> {
        let mut found = Vec::new();
        let read = store.for_each_case(run, node, |case| {
            let rows: Vec<&str> = case.rows.iter().map(|row| row.status.as_str()).collect();
            found.push(format!("{}: {}", case.case_id, rows.join(" ")));
            true
        });
        read.unwrap();
        found
    }

    #[test]
    fn each_case_comes_with_its_own_rows() {
        let (_folder, store) = database();
        let mut writer = writer(store, "r", &["a", "b"]);
        let scorers = writer.run().scorers.clone();
        let node = |ordinal, id, node_id| NewCase { node_id, ..case(ordinal, id) };
        let keys = [
            added(&mut writer, &node(0, "x", Some("n"))),
            added(&mut writer, &node(1, "y", None)),
            added(&mut writer, &node(2, "z", Some("n"))),
        ];
        for (key, scorer, row) in [
            (keys[0], scorers[1], error()),
            (keys[0], scorers[0], scored(1.0)),
            (keys[2], scorers[1], scored(0.5)),
        ] {
            writer.add_score(key, scorer, &row).unwrap();
        }
        let (store, run) = (writer.store(), writer.run().key);
        assert_eq!(cases(store, run, None), ["x: scored error", "y: ", "z: scored"]);
        assert_eq!(cases(store, run, Some("n")), ["x: scored error", "z: scored"]);
        assert_eq!(cases(store, run, Some("none")), [""; 0]);
    }

    #[test]
    fn reading_ends_where_no_more_is_wanted() {
        let (_folder, store) = database();
        let mut writer = writer(store, "r", &["a"]);
        for ordinal in 0..5 {
            added(&mut writer, &case(ordinal, &ordinal.to_string()));
        }
        let mut read = 0;
        let run = writer.run().key;
        let reading = writer.store().for_each_case(run, None, |_| {
            read += 1;
            read < 2
        });
        reading.unwrap();
        assert_eq!(read, 2);
    }
}
