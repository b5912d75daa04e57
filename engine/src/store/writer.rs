//! The hot path: writes the cases and scores of one run in batches, each score once. Decides neither
//! what is scored nor when a batch is full.

use rusqlite::params;
use serde::Serialize;

use super::{
    CaseAdded, CaseKey, NewCase, NewSummary, Reusable, RunHandle, RunState, ScorerKey, SessionKey,
    Status, Store, StoreError, column::integer, reuse,
};
use crate::{
    contract::{Assertion, LogLine},
    digest::Digest,
};

/// What came of one scorer on one case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome<'a> {
    /// A score.
    Scored {
        /// Finite, 0 or more.
        score: f64,
        /// A category that goes with it.
        label: Option<&'a str>,
        /// Why, for a person.
        reason: Option<&'a str>,
        /// The scorer's own JSON.
        meta: Option<&'a str>,
        /// The checks that it is made of.
        assertions: &'a [Assertion],
    },
    /// The scorer says that this case is none of its.
    NotApplicable {
        /// A category that goes with it.
        label: Option<&'a str>,
        /// Why, for a person.
        reason: Option<&'a str>,
        /// The scorer's own JSON.
        meta: Option<&'a str>,
    },
    /// Sampling left it out; nothing ran.
    Skipped {
        /// Why, for a person.
        reason: Option<&'a str>,
    },
    /// There is no score, and there should be one.
    Error {
        /// The engine's word for what went wrong, such as `out-of-fuel`.
        kind: &'a str,
        /// What the user is told.
        message: &'a str,
        /// What the scorer said nevertheless.
        reason: Option<&'a str>,
    },
}

/// One score row to write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewScore<'a> {
    /// What came of it.
    pub outcome: Outcome<'a>,
    /// Wasm fuel that it used; none where nothing ran.
    pub fuel: Option<u64>,
    /// The sandbox's peak linear memory, in bytes; none where nothing ran.
    pub memory_bytes: Option<u64>,
    /// How long the scorer took, in milliseconds; finite, 0 or more.
    pub duration_ms: f64,
    /// When, in milliseconds since 1970 UTC.
    pub scored_at_ms: i64,
    /// What the scorer logged.
    pub log: &'a [LogLine],
    /// The digest of what the scorer was fed; none where nothing ran.
    pub input_digest: Option<Digest>,
}

/// Writes one run.
///
/// The first write after a commit begins a batch and takes the file's write lock; [`commit`] ends
/// it. Other writers of the file wait meanwhile, for ten seconds at most, so commit every few
/// thousand rows and at least once a second. What is not committed when the process dies is lost,
/// and nothing else. Dropping the writer commits what is open.
///
/// [`commit`]: RunWriter::commit
#[derive(Debug)]
pub struct RunWriter {
    store: Store,
    run: RunHandle,
}

impl RunWriter {
    /// A writer for a run that was just created or resumed in `store`.
    pub fn new(store: Store, run: RunHandle) -> RunWriter {
        RunWriter { store, run }
    }

    /// The store, to read what was written, uncommitted rows included.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The run that is written.
    pub fn run(&self) -> &RunHandle {
        &self.run
    }

    /// Stores a case, once per run. Scores are added to the key in the answer.
    ///
    /// # Errors
    /// [`StoreError::Rejected`] for an empty id or an ordinal of 2^40 or more; troubles of writing.
    pub fn add_case(&mut self, case: &NewCase<'_>) -> Result<CaseAdded, StoreError> {
        self.begin()?;
        self.store.add_case(self.run.key, case)
    }

    /// Stores one score row, and answers whether it was written: a row that is already there stays
    /// as it is.
    ///
    /// # Errors
    /// [`StoreError::Rejected`] for a case or a scorer of another run and for numbers out of range;
    /// troubles of writing.
    pub fn add_score(
        &mut self,
        case: CaseKey,
        scorer: ScorerKey,
        score: &NewScore<'_>,
    ) -> Result<bool, StoreError> {
        self.must_be_of_this_run(case, scorer)?;
        self.begin()?;
        let written = insert(&self.store, self.run.session, case, scorer, score);
        self.store.told(written)
    }

    /// Stores a copy of an earlier row as the score of this case, and answers whether it was written.
    ///
    /// # Errors
    /// As [`RunWriter::add_score`].
    pub fn reuse_score(
        &mut self,
        case: CaseKey,
        scorer: ScorerKey,
        from: Reusable,
    ) -> Result<bool, StoreError> {
        self.must_be_of_this_run(case, scorer)?;
        self.begin()?;
        let written = reuse::copy(&self.store, case, scorer, from);
        self.store.told(written)
    }

    /// Stores what a scorer says of the run as a whole.
    ///
    /// # Errors
    /// Troubles of writing.
    pub fn put_summary(
        &mut self,
        scorer: ScorerKey,
        summary: &NewSummary<'_>,
    ) -> Result<(), StoreError> {
        self.begin()?;
        self.store.put_summary(scorer, summary)
    }

    fn must_be_of_this_run(&self, case: CaseKey, scorer: ScorerKey) -> Result<(), StoreError> {
        let (first, last) = CaseKey::bounds(self.run.key);
        if (first..=last).contains(&case.0) && self.run.scorers.contains(&scorer) {
            return Ok(());
        }
        let what = format!("{case:?} and {scorer:?} are not both of {:?}", self.run.key);
        Err(StoreError::Rejected { path: self.store.path.clone(), what })
    }

    /// Makes everything written so far survive the process. Does nothing where nothing is open.
    ///
    /// # Errors
    /// Troubles of writing; the batch stays open where it can be tried again.
    pub fn commit(&mut self) -> Result<(), StoreError> {
        if self.store.conn.is_autocommit() {
            return Ok(());
        }
        self.store.told(self.store.conn.execute_batch("COMMIT"))
    }

    /// Stores how the run ended, with everything written so far, and commits.
    /// `ended_at_ms` is in milliseconds since 1970 UTC.
    ///
    /// # Errors
    /// [`StoreError::Rejected`] for [`RunState::Running`], which is no end; troubles of writing.
    pub fn finish(
        &mut self,
        state: RunState,
        reason: Option<&str>,
        ended_at_ms: i64,
    ) -> Result<(), StoreError> {
        self.begin()?;
        self.store.set_state(self.run.key, state, reason, Some(ended_at_ms))?;
        self.commit()
    }

    /// Begins a batch unless one is open. SQLite is asked, for it ends a batch by itself when the
    /// disk fails.
    fn begin(&mut self) -> Result<(), StoreError> {
        if !self.store.conn.is_autocommit() {
            return Ok(());
        }
        let begun = self.store.conn.execute_batch("BEGIN IMMEDIATE");
        self.store.told(begun)
    }
}

impl Drop for RunWriter {
    /// Rows in an open batch are whole and true, so they are kept, also when a panic or an early
    /// return drops the writer. There is nobody to tell of an error.
    fn drop(&mut self) {
        let _ = self.commit();
    }
}

/// `ON CONFLICT` on the key alone: `INSERT OR IGNORE` would also swallow rows that break a rule.
const INSERT: &str = "
    INSERT INTO score_rows (case_key, scorer, status, score, fuel, memory_bytes, duration_ms,
        scored_at_ms, error_kind, error_message, label, reason, meta_json, assertions_json, log_json,
        input_digest, session)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
    ON CONFLICT (case_key, scorer) DO NOTHING";

fn insert(
    store: &Store,
    session: SessionKey,
    case: CaseKey,
    scorer: ScorerKey,
    new: &NewScore<'_>,
) -> rusqlite::Result<bool> {
    let row = Columns::of(&new.outcome)?;
    let mut statement = store.conn.prepare_cached(INSERT)?;
    let written = statement.execute(params![
        case,
        scorer,
        row.status,
        row.score,
        new.fuel.map(integer),
        new.memory_bytes.map(integer),
        new.duration_ms,
        new.scored_at_ms,
        row.error_kind,
        row.error_message,
        row.label,
        row.reason,
        row.meta,
        row.assertions,
        json_array(new.log)?,
        new.input_digest,
        session,
    ])?;
    Ok(written == 1)
}

/// An outcome laid out in columns; what it lacks is NULL.
struct Columns<'a> {
    status: Status,
    score: Option<f64>,
    error_kind: Option<&'a str>,
    error_message: Option<&'a str>,
    label: Option<&'a str>,
    reason: Option<&'a str>,
    meta: Option<&'a str>,
    assertions: Option<String>,
}

impl<'a> Columns<'a> {
    fn of(outcome: &Outcome<'a>) -> rusqlite::Result<Columns<'a>> {
        let none = Columns {
            status: Status::Skipped,
            score: None,
            error_kind: None,
            error_message: None,
            label: None,
            reason: None,
            meta: None,
            assertions: None,
        };
        Ok(match *outcome {
            Outcome::Scored { score, label, reason, meta, assertions } => Columns {
                status: Status::Scored,
                score: Some(score),
                assertions: json_array(assertions)?,
                label,
                reason,
                meta,
                ..none
            },
            Outcome::NotApplicable { label, reason, meta } => {
                Columns { status: Status::NotApplicable, label, reason, meta, ..none }
            }
            Outcome::Skipped { reason } => Columns { reason, ..none },
            Outcome::Error { kind, message, reason } => Columns {
                status: Status::Error,
                error_kind: Some(kind),
                error_message: Some(message),
                reason,
                ..none
            },
        })
    }
}

pub(super) fn json_array<T: Serialize>(items: &[T]) -> rusqlite::Result<Option<String>> {
    if items.is_empty() {
        return Ok(None);
    }
    serde_json::to_string(items)
        .map(Some)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

#[cfg(test)]
mod tests;
