//! The hot path: writes the cases and scores of one run in batches, each score once. Decides neither
//! what is scored nor when a batch is full.

#![expect(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "who stores a new column must be shown by the compiler where it is to be filled in"
)]

use rusqlite::{
    ToSql, params_from_iter,
    types::{ToSqlOutput, Value, ValueRef},
};

use super::{
    CaseAdded, CaseKey, NewCase, NewSummary, OnlyWriter, Reusable, RunHandle, RunState, ScorerKey,
    SessionKey, Store, StoreError,
    alone::{Alone, Stored},
    calls,
    column::{integer, json_array, optional},
    reuse,
    root::{self, ROW_VALUES, bound},
    run::Begun,
    session, size,
    tree::GrowingTree,
};
use crate::{
    contract::{Assertion, LogLine},
    digest::Digest,
    judge::ScoreCall,
    row::Status,
};

/// The outcome of one scorer on one case.
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
    /// The scorer does not apply to this case.
    NotApplicable {
        /// A category that goes with it.
        label: Option<&'a str>,
        /// Why, for a person.
        reason: Option<&'a str>,
        /// The scorer's own JSON.
        meta: Option<&'a str>,
    },
    /// It was left out; nothing ran.
    Skipped {
        /// Why, for a person.
        reason: Option<&'a str>,
    },
    /// There is no score, although there should be.
    Error {
        /// The engine's word for what went wrong, such as `out-of-fuel`.
        kind: &'a str,
        /// The message for the user.
        message: &'a str,
        /// What the scorer said nevertheless.
        reason: Option<&'a str>,
    },
}

/// One score row to write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewScore<'a> {
    /// The outcome.
    pub outcome: Outcome<'a>,
    /// Wasm fuel that it used; `None` if nothing ran.
    pub fuel: Option<u64>,
    /// The sandbox's peak linear memory, in bytes; `None` if nothing ran.
    pub memory_bytes: Option<u64>,
    /// How long the scorer took, in milliseconds; finite, 0 or more.
    pub duration_ms: f64,
    /// When, in milliseconds since 1970 UTC.
    pub scored_at_ms: i64,
    /// What the scorer logged.
    pub log: &'a [LogLine],
    /// The digest of what the scorer was given; `None` if nothing ran.
    pub input_digest: Option<Digest>,
    /// The calls of judges that it is based on.
    pub calls: &'a [ScoreCall],
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
    session: Option<SessionKey>,
    session_digest: Digest,
    /// The tree over the run's cases, if this session began with the first of them.
    tree: Option<GrowingTree>,
    /// The bytes of what this session wrote, as long as there is a tree.
    bytes_written: u64,
    /// Rows of the run before this session wrote.
    rows_before: u64,
    /// What this session wrote.
    written: Stored,
    /// Whether all of the run is what this session wrote.
    alone: Alone,
    /// Whether a batch was begun that was not committed. SQLite ends one by itself when the disk fails.
    in_a_batch: bool,
    /// What was counted in the open batch, and what this session had written then.
    counted: Option<(Stored, Stored)>,
    /// Whether a run that another session finished is written.
    reopens: bool,
    /// After the store, so that all is committed when another process may write.
    _only: Option<OnlyWriter>,
}

impl RunWriter {
    /// A writer for a run that was just created or resumed in `store`.
    pub fn new(store: Store, run: RunHandle) -> RunWriter {
        let (session, tree) = match run.begun {
            Begun::WithItsRun(session) => {
                (Some(session), Some(GrowingTree::new(run.scorers.len())))
            }
            Begun::WithItsFirstWrite => (None, None),
        };
        let session_digest = root::session_digest(&run.session);
        RunWriter {
            store,
            run,
            session,
            session_digest,
            bytes_written: 0,
            rows_before: 0,
            written: Stored::default(),
            // What a resumed session finds has to be read for the root anyway.
            alone: if tree.is_some() { Alone::NotKnown } else { Alone::No },
            in_a_batch: false,
            counted: None,
            tree,
            reopens: true,
            _only: None,
        }
    }

    /// The same, and no other process writes the run as long as this writer is there.
    #[must_use]
    pub(crate) fn alone(mut self, only: Option<OnlyWriter>) -> RunWriter {
        self._only = only;
        self
    }

    /// The same, for a run that is whole once a session has finished it: what begins a batch is refused then with
    /// [`StoreError::Finished`], so that the root with which the run was finished stays the stored one.
    #[must_use]
    pub fn until_finished(mut self) -> RunWriter {
        self.reopens = false;
        self
    }

    /// Whether this session has stored anything, be it that it began with a new run.
    pub fn has_written(&self) -> bool {
        self.session.is_some()
    }

    /// The store, to read what was written, uncommitted rows included.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The run that is written.
    pub fn run(&self) -> &RunHandle {
        &self.run
    }

    /// The root that the run had when it last ended; `None` if it has not.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn stored_root(&self) -> Result<Option<Digest>, StoreError> {
        self.store.stored_root(self.run.key)
    }

    /// Stores a case, once per run. Scores are added to the key in the answer.
    ///
    /// # Errors
    /// [`StoreError::Rejected`] for an empty id or an ordinal of 2^40 or more; troubles of writing.
    pub fn add_case(&mut self, case: &NewCase<'_>) -> Result<CaseAdded, StoreError> {
        if !self.has_written()
            && let Some(there) = self.store.already_there(self.run.key, case)?
        {
            return Ok(there);
        }
        self.begin()?;
        let (added, row) = self.store.add_case(self.run.key, case)?;
        self.written.cases += u64::from(matches!(added, CaseAdded::New(_)));
        if let (CaseAdded::New(key), Some(tree), Some((digest, bytes))) =
            (&added, &mut self.tree, row)
        {
            tree.add_case(*key, digest);
            self.bytes_written += bytes;
        }
        Ok(added)
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
        let place = self.place_in_this_run(case, scorer)?;
        let session = self.begin()?;
        let values = self.store.explained(values(score))?;
        let written = insert(&self.store, session, case, scorer, &values);
        if !self.store.explained(written)? {
            return Ok(false);
        }
        let kept = calls::keep(&self.store.conn, case, scorer, score.calls);
        self.store.explained(kept)?;
        self.written.rows += 1;
        if let Some(tree) = &mut self.tree {
            let (values, session) = (values.iter().map(bound), Some(self.session_digest));
            self.bytes_written += size::of_values(values.clone());
            tree.add_row(
                case,
                place,
                root::row_digest(values, session, [ValueRef::Null; 2], score.calls),
            );
        }
        Ok(true)
    }

    /// Stores a copy of an earlier row as the score of this case, and answers whether it was written.
    ///
    /// # Errors
    /// [`StoreError::Rejected`] for a case or a scorer of another run; [`StoreError::Corrupt`] if the earlier row is
    /// out of range itself; troubles of writing.
    pub fn reuse_score(
        &mut self,
        case: CaseKey,
        scorer: ScorerKey,
        from: Reusable,
    ) -> Result<bool, StoreError> {
        let place = self.place_in_this_run(case, scorer)?;
        self.begin()?;
        let copied = reuse::copy(&self.store, case, scorer, from);
        if !self.store.explained(copied).map_err(reuse::copy_error)? {
            return Ok(false);
        }
        self.written.rows += 1;
        if let Some(tree) = &mut self.tree {
            let copied = self.store.row_digest_of(case, scorer);
            if let Some(digest) = self.store.explained(copied)? {
                tree.add_row(case, place, digest);
            }
            let bytes = self.store.row_size(case, scorer);
            self.bytes_written += self.store.explained(bytes)?;
        }
        Ok(true)
    }

    /// Stores a scorer's summary of the run.
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

    /// The scorer's place in the run's order.
    fn place_in_this_run(&self, case: CaseKey, scorer: ScorerKey) -> Result<usize, StoreError> {
        let (first, last) = CaseKey::bounds(self.run.key);
        let place = self.run.scorers.iter().position(|other| *other == scorer);
        if let Some(place) = place
            && (first..=last).contains(&case.0)
        {
            return Ok(place);
        }
        let what = format!("{case:?} and {scorer:?} are not both of {:?}", self.run.key);
        Err(StoreError::Rejected { path: self.store.path.clone(), what })
    }

    /// Begins a batch, unless one is open: until it is committed, no other session writes, so that what is read
    /// is what the run is finished with.
    ///
    /// # Errors
    /// [`StoreError::Finished`] after [`RunWriter::until_finished`]; troubles of writing.
    pub fn hold(&mut self) -> Result<(), StoreError> {
        self.begin().map(drop)
    }

    /// Makes everything written so far survive the process. Does nothing if nothing is open.
    ///
    /// # Errors
    /// Troubles of writing; the batch stays open if it can be tried again.
    pub fn commit(&mut self) -> Result<(), StoreError> {
        if self.store.conn.is_autocommit() {
            return Ok(());
        }
        self.counted = None;
        self.store.explained(self.store.conn.execute_batch("COMMIT"))?;
        self.in_a_batch = false;
        Ok(())
    }

    /// How much of the run is stored. Takes a pass over it if another connection may have written, but for what was counted
    /// since a batch is open: no other process can write until it is committed.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(crate) fn stored(&mut self) -> Result<Stored, StoreError> {
        self.miss_a_lost_batch();
        if self.alone.is_certain(&self.store)? {
            return Ok(self.written);
        }
        if let Some((stored, _)) =
            self.counted.filter(|(_, written)| self.in_a_batch && *written == self.written)
        {
            return Ok(stored);
        }
        let stored = self.store.stored(self.run.key)?;
        self.counted = self.in_a_batch.then_some((stored, self.written));
        Ok(stored)
    }

    /// Notices that SQLite has taken back the open batch.
    fn miss_a_lost_batch(&mut self) {
        if self.in_a_batch && self.store.conn.is_autocommit() {
            (self.alone, self.in_a_batch, self.counted) = (Alone::No, false, None);
        }
    }

    /// Stores how the run ended, with everything written so far, the root of the run and its size, and commits;
    /// answers with the root. `ended_at_ms` is in milliseconds since 1970 UTC.
    ///
    /// # Errors
    /// [`StoreError::Rejected`] for [`RunState::Running`], which is not an end;
    /// [`StoreError::RowsLost`] if the database does not have every row that was written;
    /// [`StoreError::Finished`] after [`RunWriter::until_finished`]; troubles of writing.
    pub fn finish(
        &mut self,
        state: RunState,
        reason: Option<&str>,
        ended_at_ms: i64,
    ) -> Result<Digest, StoreError> {
        self.begin()?;
        let run = self.run.key;
        let stored = self.stored()?;
        self.must_be_all_rows(stored.rows)?;
        // Another session may have finished the run meanwhile; that is not taken back.
        let (state, reason) = match self.store.state(run)? {
            RunState::Finished => (RunState::Finished, None),
            _ => (state, reason),
        };
        self.store.set_state(run, state, reason, Some(ended_at_ms))?;
        let (tree, size) = match self.grown(stored) {
            Some(grown) => (grown, self.bytes_written),
            None => {
                let tree = self.store.cases_root(run, root::VERSION, |_, stored| Ok(stored))?;
                (tree, self.store.size_of_run(run)?)
            }
        };
        let root = self.store.root_over(run, root::VERSION, stored.rows, tree)?;
        self.store.put_root(run, root, size)?;
        self.commit()?;
        Ok(root)
    }

    /// The tree that grew with this session's rows, if it is of all that is stored: another session may have
    /// written too.
    fn grown(&mut self, stored: Stored) -> Option<(u64, Digest)> {
        let (cases, tree) = self.tree.take()?.finish();
        let all = stored == Stored { cases, ..self.written };
        tree.filter(|_| all).map(|tree| (cases, tree))
    }

    /// More rows than there should be are another session's.
    fn must_be_all_rows(&self, stored: u64) -> Result<(), StoreError> {
        let expected = self.rows_before + self.written.rows;
        match stored < expected {
            true => Err(StoreError::RowsLost { path: self.store.path.clone(), stored, expected }),
            false => Ok(()),
        }
    }

    /// Begins a batch unless one is open, and the session unless it has begun.
    fn begin(&mut self) -> Result<SessionKey, StoreError> {
        self.miss_a_lost_batch();
        if !self.in_a_batch {
            let begun = self.store.conn.execute_batch("BEGIN IMMEDIATE");
            self.store.explained(begun)?;
            if let Err(error) = self.must_be_unfinished() {
                self.store.explained(self.store.conn.execute_batch("ROLLBACK"))?;
                return Err(error);
            }
            self.in_a_batch = true;
            self.alone.begin(&self.store, self.run.key)?;
        }
        if let Some(session) = self.session {
            return Ok(session);
        }
        self.rows_before = self.store.row_count(self.run.key)?;
        self.store.set_state(self.run.key, RunState::Running, None, None)?;
        let session = session::begin(&self.store.conn, self.run.key, &self.run.session);
        let session = self.store.explained(session)?;
        self.session = Some(session);
        Ok(session)
    }

    fn must_be_unfinished(&self) -> Result<(), StoreError> {
        if self.reopens || self.store.state(self.run.key)? != RunState::Finished {
            return Ok(());
        }
        let (path, id) = (self.store.path.clone(), self.store.run_id(self.run.key)?);
        Err(StoreError::Finished { path, id })
    }
}

impl Drop for RunWriter {
    /// Rows in an open batch are whole and true, so they are kept, also when a panic or an early
    /// return drops the writer. An error cannot be reported there.
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
    values: &[ToSqlOutput<'_>; ROW_VALUES],
) -> rusqlite::Result<bool> {
    let mut statement = store.conn.prepare_cached(INSERT)?;
    let keys: [&dyn ToSql; 2] = [&case, &scorer];
    let values = values.iter().map(|value| value as &dyn ToSql);
    let session: [&dyn ToSql; 1] = [&session];
    let row = keys.into_iter().chain(values).chain(session);
    Ok(statement.execute(params_from_iter(row))? == 1)
}

/// The values of a row in the order of its table, from `status` to `input_digest`.
fn values<'a>(new: &'a NewScore<'_>) -> rusqlite::Result<[ToSqlOutput<'a>; ROW_VALUES]> {
    let row = Columns::of(&new.outcome)?;
    let owned = |text: Option<String>| ToSqlOutput::Owned(text.map_or(Value::Null, Value::Text));
    Ok([
        row.status.as_str().into(),
        optional(row.score),
        optional(new.fuel.map(integer)),
        optional(new.memory_bytes.map(integer)),
        new.duration_ms.into(),
        new.scored_at_ms.into(),
        optional(row.error_kind),
        optional(row.error_message),
        optional(row.label),
        optional(row.reason),
        optional(row.meta),
        owned(row.assertions),
        owned(json_array(new.log)?),
        optional(new.input_digest.as_ref().map(|digest| digest.as_bytes().as_slice())),
    ])
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

#[cfg(test)]
mod tests;
