//! Adds cases to an index, many in one transaction. A case that is already indexed is replaced if anything in it is
//! new: a run that is resumed has later scores for it.

use std::{
    collections::{BTreeSet, HashMap},
    fmt::Write as _,
    io::Write as _,
};

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};

use super::{CaseIndex, ending, itself, unspaced::as_indexed};
use crate::{
    digest::Digesting,
    row::Status,
    store::{CaseKey, RunKey, RunRecord, ScorerKey, StoreError},
    verdict::{CaseVerdict, Verdict},
};

/// A case to index.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct IndexedCase {
    /// Its key in its database.
    pub key: CaseKey,
    /// Its verdict and score.
    pub verdict: CaseVerdict,
    /// The answers of its scorers.
    pub rows: Vec<(ScorerKey, Status, Option<f64>)>,
    /// The text that is searched for words.
    pub text: String,
}

impl IndexedCase {
    /// This case, with the answers of its scorers.
    pub fn new(
        key: CaseKey,
        verdict: CaseVerdict,
        rows: Vec<(ScorerKey, Status, Option<f64>)>,
        text: String,
    ) -> IndexedCase {
        IndexedCase { key, verdict, rows, text }
    }

    /// The first half of a digest of everything that the index has of the case; nobody can make two cases that share
    /// it.
    fn said(&self) -> Said {
        let CaseVerdict { verdict, regressions, score, .. } = self.verdict;
        let score_bytes =
            |score: Option<f64>| score.map_or([0xff; 8], |it| it.to_bits().to_le_bytes());
        let mut bytes = Vec::with_capacity(32 + 24 * self.rows.len());
        bytes.extend(verdict_number(verdict, regressions > 0).to_le_bytes());
        bytes.extend(score_bytes(score));
        bytes.extend((self.rows.len() as u64).to_le_bytes());
        for (scorer, status, score) in &self.rows {
            bytes.extend(scorer.0.to_le_bytes());
            bytes.extend(status_number(*status).to_le_bytes());
            bytes.extend(score_bytes(*score));
        }
        let mut digesting = Digesting::default();
        // Writing to it never fails.
        let _ =
            digesting.write_all(&bytes).and_then(|()| digesting.write_all(self.text.as_bytes()));
        let mut said = Said::default();
        said.copy_from_slice(&digesting.finish().as_bytes()[..16]);
        said
    }
}

/// Stored with a case to detect changes.
type Said = [u8; 16];

/// The number of a verdict in the index. A pass with regressions has a separate number.
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
    /// Adds these cases of a run to the index, in one transaction, and stores that the cases before `next_case` need
    /// not be indexed again. For cases that are indexed and unchanged, it only compares a digest; returns whether any
    /// case was new or changed. Entries of another run with this number are deleted.
    ///
    /// # Errors
    /// Write errors.
    pub fn add(
        &mut self,
        run: &RunRecord,
        cases: &[IndexedCase],
        next_case: CaseKey,
    ) -> Result<bool, StoreError> {
        let said: Vec<Said> = cases.iter().map(IndexedCase::said).collect();
        let add = |conn: &Connection| {
            let is_known = known(conn, run)?.is_some_and(|known| known >= next_case);
            if is_known && !are_new(conn, cases, &said)?.contains(&true) {
                return Ok(false);
            }
            // Another process may have changed something meanwhile.
            let change = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
            let is_known = known(&change, run)?.is_some();
            if !is_known {
                forget(&change, run.key)?;
            }
            let are_new = are_new(&change, cases, &said)?;
            let scorers = scorers(&change, run.key, cases)?;
            for ((case, said), _) in cases.iter().zip(&said).zip(&are_new).filter(|(_, new)| **new)
            {
                insert(&change, run.key, case, said, is_known.then_some(&scorers))?;
            }
            change.execute(
                "INSERT INTO runs (run, id, created_at_ms, next_case) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (run) DO UPDATE SET next_case = excluded.next_case, ended = NULL",
                params![run.key, run.spec.id, run.spec.created_at_ms, next_case],
            )?;
            change.commit()?;
            Ok(are_new.contains(&true))
        };
        self.explained(add(&self.conn))
    }

    /// Stores that all of a run is indexed, in the state in which it ended.
    ///
    /// # Errors
    /// Write errors.
    pub fn complete(&mut self, run: &RunRecord) -> Result<(), StoreError> {
        let sql = "UPDATE runs SET ended = ?2 WHERE run = ?1";
        self.explained(self.conn.execute(sql, params![run.key, ending(run)])).map(drop)
    }

    /// Stores the figures over all scores of a run, as JSON.
    ///
    /// # Errors
    /// Write errors.
    pub fn keep_figures(&mut self, run: &RunRecord, json: &str) -> Result<(), StoreError> {
        let kept = self.conn.execute(
            "INSERT INTO runs (run, id, created_at_ms, next_case, figures_json)
             VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (run) DO UPDATE SET figures_json = excluded.figures_json",
            params![run.key, run.spec.id, run.spec.created_at_ms, CaseKey::bounds(run.key).0, json],
        );
        self.explained(kept).map(drop)
    }

    /// Stores the state of the database's file of which all runs are indexed; `None` if it is not known.
    ///
    /// # Errors
    /// Write errors.
    pub fn note_file(&mut self, state: Option<&str>) -> Result<(), StoreError> {
        let note = |conn: &Connection| {
            let change = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
            change.execute("DELETE FROM file", [])?;
            if let Some(state) = state {
                change.execute("INSERT INTO file (state) VALUES (?1)", [state])?;
            }
            change.commit()
        };
        self.explained(note(&self.conn))
    }

    /// Deletes the entries of the run with this number.
    ///
    /// # Errors
    /// Write errors.
    pub fn forget(&mut self, run: RunKey) -> Result<(), StoreError> {
        let go = |conn: &Connection| {
            let change = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
            forget(&change, run)?;
            change.commit()
        };
        self.explained(go(&self.conn))
    }
}

/// The first case of a run that must be indexed; `None` if the index does not know the run.
fn known(conn: &Connection, run: &RunRecord) -> rusqlite::Result<Option<CaseKey>> {
    let mut known = conn.prepare_cached(
        "SELECT next_case FROM runs WHERE run = ?1 AND id = ?2 AND created_at_ms = ?3",
    )?;
    let of = params![run.key, run.spec.id, run.spec.created_at_ms];
    known.query_row(of, |row| row.get(0)).optional()
}

/// For each case, whether it is not indexed, or has changed.
fn are_new(conn: &Connection, cases: &[IndexedCase], said: &[Said]) -> rusqlite::Result<Vec<bool>> {
    let keys = || cases.iter().map(|case| case.key);
    let (Some(first), Some(last)) = (keys().min(), keys().max()) else { return Ok(Vec::new()) };
    let mut query =
        conn.prepare_cached("SELECT case_key, said FROM cases WHERE case_key BETWEEN ?1 AND ?2")?;
    let there = query.query_map([first, last], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let there: HashMap<CaseKey, Said> = there.collect::<rusqlite::Result<_>>()?;
    Ok(cases.iter().zip(said).map(|(case, said)| there.get(&case.key) != Some(said)).collect())
}

/// The numbers of a run's scorers in the index, including those of these cases.
fn scorers(conn: &Connection, run: RunKey, cases: &[IndexedCase]) -> rusqlite::Result<Vec<i64>> {
    let of_cases = cases.iter().flat_map(|case| case.rows.iter().map(|(scorer, ..)| scorer.0));
    let of_cases: BTreeSet<i64> = of_cases.chain([itself(run)]).collect();
    let mut note = conn.prepare_cached("INSERT OR IGNORE INTO scorers VALUES (?1, ?2)")?;
    for scorer in of_cases {
        note.execute(params![run, scorer])?;
    }
    let mut all = conn.prepare_cached("SELECT scorer FROM scorers WHERE run = ?1")?;
    all.query_map([run], |row| row.get(0))?.collect()
}

fn forget(conn: &Connection, run: RunKey) -> rusqlite::Result<()> {
    let (first, last) = CaseKey::bounds(run);
    conn.execute("DELETE FROM entries WHERE case_key BETWEEN ?1 AND ?2", [first, last])?;
    conn.execute("DELETE FROM cases WHERE case_key BETWEEN ?1 AND ?2", [first, last])?;
    conn.execute("DELETE FROM words WHERE rowid BETWEEN ?1 AND ?2", [first, last])?;
    conn.execute("DELETE FROM scorers WHERE run = ?1", [run])?;
    conn.execute("DELETE FROM runs WHERE run = ?1", [run])?;
    Ok(())
}

fn insert(
    conn: &Connection,
    run: RunKey,
    case: &IndexedCase,
    said: &Said,
    may_be_under: Option<&Vec<i64>>,
) -> rusqlite::Result<()> {
    let CaseVerdict { verdict, regressions, score, .. } = case.verdict;
    let verdict = verdict_number(verdict, regressions > 0);
    let rows = case.rows.iter().map(|(scorer, status, score)| (scorer.0, *status, *score));
    let entries: Vec<(i64, Status, Option<f64>)> =
        [(itself(run), Status::Scored, score)].into_iter().chain(rows).collect();
    if let Some(scorers) = may_be_under {
        remove(conn, case.key, scorers)?;
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
    let mut note =
        conn.prepare_cached("INSERT OR REPLACE INTO cases (case_key, said) VALUES (?1, ?2)")?;
    note.execute(params![case.key, said])?;
    Ok(())
}

/// Deletes the entries of an earlier state of the case, for every verdict and status.
fn remove(conn: &Connection, case: CaseKey, scorers: &[i64]) -> rusqlite::Result<()> {
    let mut words = conn.prepare_cached("DELETE FROM words WHERE rowid = ?1")?;
    if words.execute([case])? == 0 {
        return Ok(());
    }
    let mut delete =
        conn.prepare_cached("DELETE FROM entries WHERE scorer = ?1 AND case_key = ?2")?;
    for scorer in scorers {
        delete.execute(params![scorer, case])?;
    }
    Ok(())
}
