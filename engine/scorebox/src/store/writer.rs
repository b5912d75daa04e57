//! The hot path: writes the cases and scores of one run in batches, each score once. It decides neither what is scored
//! nor when a batch is full.

use rusqlite::types::ValueRef;

use super::{
    CaseAdded, CaseKey, NewCase, NewScore, NewSummary, OnlyWriter, Reusable, RunHandle, RunState,
    ScorerKey, SessionKey, Store, StoreError,
    alone::{Alone, Stored},
    calls,
    new_score::{insert, values},
    place::Place,
    reuse,
    root::{self, bound},
    run::Begun,
    session, size,
    tree::GrowingTree,
};
use crate::digest::Digest;

/// Writes one run.
///
/// The first write after a commit begins a batch and takes the file's write lock; [`commit`] ends
/// it. Other writers of the file wait meanwhile, many for ten seconds at most, so commit every few
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
    /// The number of bytes that this session wrote, as long as there is a tree.
    bytes_written: u64,
    /// How many rows the run had before this session wrote.
    rows_before: u64,
    /// How much this session wrote.
    written: Stored,
    /// Whether this session wrote all of the run.
    alone: Alone,
    /// Whether there is a batch that is not committed. SQLite ends a batch by itself when the disk fails.
    in_a_batch: bool,
    /// The result of a count in the open batch, and how much this session had written then.
    counted: Option<(Stored, Stored)>,
    /// Whether it may write a run that another session finished.
    reopens: bool,
    /// The file that is written.
    place: Place,
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
            place: Place::of(&store.path),
            store,
            run,
            session,
            session_digest,
            bytes_written: 0,
            rows_before: 0,
            written: Stored::default(),
            // A resumed session must read the stored rows for the root anyway.
            alone: if tree.is_some() { Alone::NotKnown } else { Alone::No },
            in_a_batch: false,
            counted: None,
            tree,
            reopens: true,
            _only: None,
        }
    }

    /// The same, and no other process may write the run as long as this writer exists.
    #[must_use]
    pub(crate) fn alone(mut self, only: Option<OnlyWriter>) -> RunWriter {
        self._only = only;
        self
    }

    /// The same, for a run that is complete once a session has finished it: a new batch is then refused with
    /// [`StoreError::Finished`], so that the root with which the run was finished stays the stored one.
    #[must_use]
    pub fn until_finished(mut self) -> RunWriter {
        self.reopens = false;
        self
    }

    /// Whether this session has stored anything, including a new run.
    pub fn has_written(&self) -> bool {
        self.session.is_some()
    }

    /// The store, for reading what was written, including uncommitted rows.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The run that is being written.
    pub fn run(&self) -> &RunHandle {
        &self.run
    }

    /// The root that the run had when it last ended, and still has; `None` if it has not ended.
    ///
    /// # Errors
    /// [`StoreError::Changed`] if its root is now another one; the database cannot be read.
    pub fn unchanged_root(&self) -> Result<Option<Digest>, StoreError> {
        let run = self.run.key;
        let Some(root) = self.store.stored_root(run)? else { return Ok(None) };
        match self.store.root_as_stored(run)? == root {
            true => Ok(Some(root)),
            false => {
                let (path, id) = (self.store.path.clone(), self.store.run_id(run)?);
                Err(StoreError::Changed { path, id })
            }
        }
    }

    /// Stores a case, once per run. Scores are added with the key in the result.
    ///
    /// # Errors
    /// [`StoreError::Rejected`] for an empty id or an ordinal of 2^40 or more; write errors.
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

    /// Stores one score row, and returns whether it was written: a row that already exists stays unchanged.
    ///
    /// # Errors
    /// [`StoreError::Rejected`] for a case or a scorer of another run and for numbers out of range;
    /// write errors.
    pub fn add_score(
        &mut self,
        case: CaseKey,
        scorer: ScorerKey,
        score: &NewScore<'_>,
    ) -> Result<bool, StoreError> {
        let index = self.index_in_this_run(case, scorer)?;
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
                index,
                root::row_digest(values, session, [ValueRef::Null; 2], score.calls),
            );
        }
        Ok(true)
    }

    /// Stores a copy of an earlier row as the score of this case, and returns whether it was written.
    ///
    /// # Errors
    /// [`StoreError::Rejected`] for a case or a scorer of another run; [`StoreError::Corrupt`] if the earlier row
    /// itself is out of range; write errors.
    pub fn reuse_score(
        &mut self,
        case: CaseKey,
        scorer: ScorerKey,
        from: Reusable,
    ) -> Result<bool, StoreError> {
        let index = self.index_in_this_run(case, scorer)?;
        self.begin()?;
        let copied = reuse::copy(&self.store, case, scorer, from);
        if !self.store.explained(copied).map_err(reuse::copy_error)? {
            return Ok(false);
        }
        self.written.rows += 1;
        if let Some(tree) = &mut self.tree {
            let copied = self.store.row_digest_of(case, scorer);
            if let Some(digest) = self.store.explained(copied)? {
                tree.add_row(case, index, digest);
            }
            let bytes = self.store.row_size(case, scorer);
            self.bytes_written += self.store.explained(bytes)?;
        }
        Ok(true)
    }

    /// Stores a scorer's summary of the run.
    ///
    /// # Errors
    /// Write errors.
    pub fn put_summary(
        &mut self,
        scorer: ScorerKey,
        summary: &NewSummary<'_>,
    ) -> Result<(), StoreError> {
        self.begin()?;
        self.store.put_summary(scorer, summary)
    }

    /// Stores how many lines of the run are not valid cases and were skipped: the result of `count` for the stored
    /// number.
    ///
    /// # Errors
    /// Write errors.
    pub fn count_bad_cases(&mut self, count: impl FnOnce(u64) -> u64) -> Result<(), StoreError> {
        self.begin()?;
        self.store.count_bad_cases(self.run.key, count)
    }

    /// The scorer's index in the run's order.
    fn index_in_this_run(&self, case: CaseKey, scorer: ScorerKey) -> Result<usize, StoreError> {
        let (first, last) = CaseKey::bounds(self.run.key);
        let index = self.run.scorers.iter().position(|other| *other == scorer);
        if let Some(index) = index
            && (first..=last).contains(&case.0)
        {
            return Ok(index);
        }
        let what = format!("{case:?} and {scorer:?} are not both of {:?}", self.run.key);
        Err(StoreError::Rejected { path: self.store.path.clone(), what })
    }

    /// Begins a batch, unless one is open: until it is committed, no other session writes, so the run is finished in
    /// the state that is read now.
    ///
    /// # Errors
    /// [`StoreError::Finished`] after [`RunWriter::until_finished`]; write errors.
    pub fn hold(&mut self) -> Result<(), StoreError> {
        self.begin().map(drop)
    }

    /// Makes everything written so far survive the process, and looks whether the database is still where it was.
    ///
    /// # Errors
    /// Troubles of writing; the batch stays open if it can be tried again. [`StoreError::Moved`] if all was written into
    /// a file that is not at its path any more.
    pub fn commit(&mut self) -> Result<(), StoreError> {
        if !self.store.conn.is_autocommit() {
            self.counted = None;
            self.store.explained(self.store.conn.execute_batch("COMMIT"))?;
            self.in_a_batch = false;
        }
        self.place.must_have_the_file(&self.store.path)
    }

    /// How much of the run is stored. It reads the keys of the whole run if another connection may have written, unless
    /// they were counted in the open batch: no other process can write until it is committed.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(crate) fn stored(&mut self) -> Result<Stored, StoreError> {
        self.notice_a_lost_batch();
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

    /// Detects that SQLite has rolled back the open batch.
    fn notice_a_lost_batch(&mut self) {
        if self.in_a_batch && self.store.conn.is_autocommit() {
            (self.alone, self.in_a_batch, self.counted) = (Alone::No, false, None);
        }
    }

    /// Stores how the run ended, with everything written so far, the root of the run and its size, and commits; returns
    /// the root. `ended_at_ms` is in milliseconds since 1970 UTC.
    ///
    /// # Errors
    /// [`StoreError::Rejected`] for [`RunState::Running`], which is not an end; [`StoreError::RowsLost`] if the
    /// database does not have every row that was written; [`StoreError::Finished`] after [`RunWriter::until_finished`];
    /// write errors.
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
        // Another session may have finished the run meanwhile; it stays finished.
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

    /// The tree that grew with this session's rows, if it covers everything that is stored: another session may have
    /// written too.
    fn grown(&mut self, stored: Stored) -> Option<(u64, Digest)> {
        let (cases, tree) = self.tree.take()?.finish();
        let all = stored == Stored { cases, ..self.written };
        tree.filter(|_| all).map(|tree| (cases, tree))
    }

    /// Additional rows are from another session.
    fn must_be_all_rows(&self, stored: u64) -> Result<(), StoreError> {
        let expected = self.rows_before + self.written.rows;
        match stored < expected {
            true => Err(StoreError::RowsLost { path: self.store.path.clone(), stored, expected }),
            false => Ok(()),
        }
    }

    /// Begins a batch unless one is open, and the session unless it has begun.
    fn begin(&mut self) -> Result<SessionKey, StoreError> {
        self.notice_a_lost_batch();
        if !self.in_a_batch {
            self.take_the_lock()?;
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
        // A run that changed after its end must not get a new root.
        if let Err(error) = self.unchanged_root() {
            self.store.explained(self.store.conn.execute_batch("ROLLBACK"))?;
            self.in_a_batch = false;
            return Err(error);
        }
        self.rows_before = self.store.row_count(self.run.key)?;
        self.store.forget_summaries(self.run.key)?;
        self.store.set_state(self.run.key, RunState::Running, None, None)?;
        let session = session::begin(&self.store.conn, self.run.key, &self.run.session);
        let session = self.store.explained(session)?;
        self.session = Some(session);
        Ok(session)
    }

    /// Takes the file's write lock. Rows that others refer to stay as long as no other connection writes, so then
    /// SQLite need not look them up for each row.
    fn take_the_lock(&self) -> Result<(), StoreError> {
        let begin = |checks_references: bool| {
            self.store.check_references(checks_references)?;
            self.store.explained(self.store.conn.execute_batch("BEGIN IMMEDIATE"))
        };
        let was_alone = self.alone.is_certain(&self.store)?;
        begin(!was_alone)?;
        // Another connection may have written while this one waited.
        if was_alone && !self.alone.is_certain(&self.store)? {
            self.store.explained(self.store.conn.execute_batch("ROLLBACK"))?;
            begin(true)?;
        }
        Ok(())
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
    /// Rows in an open batch are complete and correct, so they are kept even if a panic or an early return drops the
    /// writer. An error cannot be reported here.
    fn drop(&mut self) {
        let _ = self.commit();
    }
}

#[cfg(test)]
mod tests;
