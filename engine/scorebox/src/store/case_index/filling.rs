//! Cases go into an index, many in one transaction. A case that is there already is replaced: a run that continues has later
//! scores for it.

use std::fmt::Write as _;

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::{CaseIndex, ending, itself, unspaced::as_indexed};
use crate::{
    row::Status,
    store::{CaseKey, RunKey, RunRecord, ScorerKey, StoreError},
    verdict::{CaseVerdict, Verdict},
};

/// A case as it is indexed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct IndexedCase {
    /// What names it inside its database.
    pub key: CaseKey,
    /// Its verdict and score.
    pub verdict: CaseVerdict,
    /// What its scorers say.
    pub rows: Vec<(ScorerKey, Status, Option<f64>)>,
    /// The text whose words are found.
    pub text: String,
}

impl IndexedCase {
    /// This case, of which its scorers say this.
    pub fn new(
        key: CaseKey,
        verdict: CaseVerdict,
        rows: Vec<(ScorerKey, Status, Option<f64>)>,
        text: String,
    ) -> IndexedCase {
        IndexedCase { key, verdict, rows, text }
    }
}

/// The number of a verdict in the index. A pass with regressions is one of its own.
pub(super) fn verdict_number(verdict: Verdict, is_regressed: bool) -> i64 {
    match verdict {
        Verdict::Passed if is_regressed => 1,
        Verdict::Passed => 0,
        Verdict::Failed => 2,
        Verdict::Errored => 3,
        Verdict::Skipped => 4,
        Verdict::Undecided => 5,
    }
}

/// How many numbers of verdicts there are.
pub(super) const VERDICTS: i64 = 6;

pub(super) fn status_number(status: Status) -> i64 {
    match status {
        Status::Scored => 0,
        Status::NotApplicable => 1,
        Status::Skipped => 2,
        Status::Error => 3,
    }
}

/// How many numbers of statuses there are.
pub(super) const STATUSES: i64 = 4;

impl CaseIndex {
    /// Puts these cases of a run into the index, in one transaction, and notes that the cases before `next_case` need not
    /// be indexed again. What the index holds of another run with this number goes.
    ///
    /// # Errors
    /// Troubles of writing.
    pub fn add(
        &mut self,
        run: &RunRecord,
        cases: &[IndexedCase],
        next_case: CaseKey,
    ) -> Result<(), StoreError> {
        let add = |conn: &Connection| {
            let change = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
            let is_known = change.query_row(
                "SELECT EXISTS (SELECT 1 FROM runs WHERE run = ?1 AND id = ?2 AND created_at_ms = ?3)",
                params![run.key, run.spec.id, run.spec.created_at_ms],
                |row| row.get::<_, bool>(0),
            )?;
            if !is_known {
                forget(&change, run.key)?;
            }
            for case in cases {
                insert(&change, run.key, case, is_known)?;
            }
            change.execute(
                "INSERT INTO runs (run, id, created_at_ms, next_case) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (run) DO UPDATE SET next_case = excluded.next_case, ended = NULL",
                params![run.key, run.spec.id, run.spec.created_at_ms, next_case],
            )?;
            change.commit()
        };
        self.explained(add(&self.conn))
    }

    /// Notes that all of a run is indexed, as it ended.
    ///
    /// # Errors
    /// Troubles of writing.
    pub fn complete(&mut self, run: &RunRecord) -> Result<(), StoreError> {
        let sql = "UPDATE runs SET ended = ?2 WHERE run = ?1";
        self.explained(self.conn.execute(sql, params![run.key, ending(run)])).map(drop)
    }

    /// Keeps what the scores of a run say together, as JSON.
    ///
    /// # Errors
    /// Troubles of writing.
    pub fn keep_figures(&mut self, run: &RunRecord, json: &str) -> Result<(), StoreError> {
        let kept = self.conn.execute(
            "INSERT INTO runs (run, id, created_at_ms, next_case, figures_json)
             VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (run) DO UPDATE SET figures_json = excluded.figures_json",
            params![run.key, run.spec.id, run.spec.created_at_ms, CaseKey::bounds(run.key).0, json],
        );
        self.explained(kept).map(drop)
    }

    /// Forgets what the index holds of the run with this number.
    ///
    /// # Errors
    /// Troubles of writing.
    pub fn forget(&mut self, run: RunKey) -> Result<(), StoreError> {
        let go = |conn: &Connection| {
            let change = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
            forget(&change, run)?;
            change.commit()
        };
        self.explained(go(&self.conn))
    }
}

fn forget(conn: &Connection, run: RunKey) -> rusqlite::Result<()> {
    let (first, last) = CaseKey::bounds(run);
    conn.execute("DELETE FROM entries WHERE case_key BETWEEN ?1 AND ?2", [first, last])?;
    conn.execute("DELETE FROM words WHERE rowid BETWEEN ?1 AND ?2", [first, last])?;
    conn.execute("DELETE FROM runs WHERE run = ?1", [run])?;
    Ok(())
}

fn insert(
    conn: &Connection,
    run: RunKey,
    case: &IndexedCase,
    may_be_there: bool,
) -> rusqlite::Result<()> {
    let CaseVerdict { verdict, regressions, score, .. } = case.verdict;
    let verdict = verdict_number(verdict, regressions > 0);
    let rows = case.rows.iter().map(|(scorer, status, score)| (scorer.0, *status, *score));
    let entries: Vec<(i64, Status, Option<f64>)> =
        [(itself(run), Status::Scored, score)].into_iter().chain(rows).collect();
    if may_be_there {
        remove(conn, case.key, &entries)?;
    }
    let mut marks = format!("v{verdict}");
    let mut insert = conn.prepare_cached(
        "INSERT INTO entries (scorer, verdict, status, case_key, score) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for (scorer, status, score) in &entries {
        let status = status_number(*status);
        insert.execute(params![scorer, verdict, status, case.key, score])?;
        if *scorer > 0 {
            // Writing to a string cannot fail.
            let _ = write!(marks, " s{scorer} s{scorer}t{status} t{status}");
        }
    }
    let mut insert =
        conn.prepare_cached("INSERT INTO words (rowid, said, marks) VALUES (?1, ?2, ?3)")?;
    insert.execute(params![case.key, as_indexed(&case.text), marks])?;
    Ok(())
}

/// Removes what an earlier state of the case left, under whichever verdict and status that was.
fn remove(
    conn: &Connection,
    case: CaseKey,
    entries: &[(i64, Status, Option<f64>)],
) -> rusqlite::Result<()> {
    let mut words = conn.prepare_cached("DELETE FROM words WHERE rowid = ?1")?;
    if words.execute([case])? == 0 {
        return Ok(());
    }
    let mut delete =
        conn.prepare_cached("DELETE FROM entries WHERE scorer = ?1 AND case_key = ?2")?;
    for (scorer, _, _) in entries {
        delete.execute(params![scorer, case])?;
    }
    Ok(())
}
