//! The cases of a run in the order of their names, so that the attempts at one case come one after the other. Holds one
//! attempt at a time, and judges nothing.

use std::sync::atomic::Ordering;

use rusqlite::{Statement, params};

use super::{
    CaseKey, CaseToJudge, RowToJudge, RunKey, Store, StoreError, effort::Ascending,
    judging::case_to_judge,
};
use crate::row::Json;

/// Through the index that keeps names unique, which has them in this order: nothing is sorted. A case that says that it
/// is of this run, but has a key of another, is not part of it.
const ATTEMPTS: &str = "
    SELECT case_key, case_id, node_id, iteration, attempt, latency_ms, usage, skip_reason
    FROM cases INDEXED BY sqlite_autoindex_cases_1
    WHERE run = ?1 AND +case_key BETWEEN ?2 AND ?3 AND (?4 IS NULL OR +node_id = ?4)
    ORDER BY case_id, iteration, attempt";

const ROWS: &str = "
    SELECT scorer, status, score, assertions_json
    FROM score_rows WHERE case_key = ?1 ORDER BY scorer";

const MOST: &str = "
    SELECT coalesce(max(attempts), 0) FROM (
        SELECT count(*) AS attempts FROM cases INDEXED BY sqlite_autoindex_cases_1
        WHERE run = ?1 AND +case_key BETWEEN ?2 AND ?3 AND (?4 IS NULL OR +node_id = ?4)
        GROUP BY case_id)";

impl Store {
    /// Hands over the cases of a run, or those of one of its tasks, ordered by id, iteration and attempt, until `take`
    /// answers false.
    ///
    /// # Errors
    /// Troubles of reading.
    pub fn for_each_attempt(
        &self,
        run: RunKey,
        node: Option<&str>,
        mut take: impl FnMut(&CaseToJudge) -> bool,
    ) -> Result<(), StoreError> {
        let (first, last) = CaseKey::bounds(run);
        self.snapshot(|store| {
            store.bounded(|| {
                let mut cases = store.conn.prepare_cached(ATTEMPTS)?;
                let mut cases = cases.query(params![run, first, last, node])?;
                let mut rows = store.conn.prepare_cached(ROWS)?;
                let mut names = Ascending::after(None);
                while let Some(row) = cases.next()? {
                    let mut case = case_to_judge(row)?;
                    names.note((case.case_id.clone(), case.iteration, case.attempt))?;
                    case.rows = rows_of(&mut rows, case.key)?;
                    store.rows_read.fetch_add(1, Ordering::Relaxed);
                    if !take(&case) {
                        break;
                    }
                }
                Ok(())
            })
        })
    }

    /// How many attempts the case of a run has that was tried most often, or the case of one of its tasks; 0 if there are
    /// no cases.
    ///
    /// # Errors
    /// Troubles of reading.
    pub fn most_attempts(&self, run: RunKey, node: Option<&str>) -> Result<u64, StoreError> {
        let (first, last) = CaseKey::bounds(run);
        self.bounded(|| {
            let mut most = self.conn.prepare_cached(MOST)?;
            most.query_row(params![run, first, last, node], |row| row.get::<_, i64>(0))
                .map(i64::unsigned_abs)
        })
    }
}

fn rows_of(rows: &mut Statement<'_>, case: CaseKey) -> rusqlite::Result<Vec<RowToJudge>> {
    let mut keys = Ascending::after(None);
    let row = |row: &rusqlite::Row<'_>| {
        let scorer = row.get(0)?;
        keys.note(scorer)?;
        let assertions = row.get::<_, Option<String>>(3)?.map(Json::from);
        Ok(RowToJudge { scorer, status: row.get(1)?, score: row.get(2)?, assertions })
    };
    rows.query_map([case], row)?.collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::{NewCase, sample::*},
        *,
    };

    /// Case `x` tried three times, with `y` between its attempts; one of `x` belongs to another task.
    fn tried() -> (tempfile::TempDir, super::super::RunWriter) {
        let (folder, store) = database();
        let mut writer = writer(store, "r", &["a", "b"]);
        let scorer = writer.run().scorers[1];
        let attempt = |ordinal, id, attempt| NewCase { attempt, ..case(ordinal, id) };
        for (ordinal, id, number) in [(0, "x", 2), (1, "y", 0), (2, "x", 0)] {
            let key = added(&mut writer, &attempt(ordinal, id, number));
            writer.add_score(key, scorer, &scored(f64::from(number))).unwrap();
        }
        added(&mut writer, &NewCase { node_id: Some("n"), iteration: 1, ..case(3, "x") });
        (folder, writer)
    }

    #[test]
    fn the_attempts_at_a_case_come_together_and_in_their_order() {
        let (_folder, writer) = tried();
        let (store, run) = (writer.store(), writer.run().key);
        let read = |node: Option<&str>| {
            let mut read = Vec::new();
            let taken = store.for_each_attempt(run, node, |case| {
                let scores = case.rows.iter().filter_map(|row| row.score).collect::<Vec<_>>();
                read.push(format!(
                    "{} {} {} {scores:?}",
                    case.case_id, case.iteration, case.attempt
                ));
                true
            });
            taken.unwrap();
            read
        };
        assert_eq!(read(None), ["x 0 0 [0.0]", "x 0 2 [2.0]", "x 1 0 []", "y 0 0 [0.0]"]);
        assert_eq!(read(Some("n")), ["x 1 0 []"]);
    }

    #[test]
    fn the_most_attempts_are_those_of_one_case() {
        let (_folder, writer) = tried();
        let (store, run) = (writer.store(), writer.run().key);
        assert_eq!(store.most_attempts(run, None).unwrap(), 3);
        assert_eq!(store.most_attempts(run, Some("n")).unwrap(), 1);
        assert_eq!(store.most_attempts(run, Some("none")).unwrap(), 0);
    }

    #[test]
    fn nothing_is_sorted() {
        let (_folder, writer) = tried();
        for sql in [ATTEMPTS, MOST] {
            let plan = format!("EXPLAIN QUERY PLAN {sql}");
            let mut plan = writer.store().conn.prepare(&plan).unwrap();
            let steps =
                plan.query_map(params![1, 0, 1, None::<&str>], |row| row.get::<_, String>(3));
            for step in steps.unwrap() {
                assert!(!step.as_ref().unwrap().contains("TEMP B-TREE"), "{step:?}");
            }
        }
    }
}
