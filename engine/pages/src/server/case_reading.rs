//! One reading of a run's cases into the index, in parts. Knows neither when a run is read nor who waits for it.

use std::mem;

use scorebox::{
    aggregate::{DecidedCase, verdicts_from},
    store::{CaseIndex, CaseKey, IndexedCase, RunRecord, Store, StoreError},
};

/// Cases of one transaction, and the bytes of their texts after which it ends.
const BATCH_CASES: usize = 2000;
const BATCH_BYTES: usize = 8 << 20;

/// The cases of a run on their way into the index.
pub(super) struct Reading<'r> {
    store: &'r Store,
    index: &'r mut CaseIndex,
    run: &'r RunRecord,
    /// The scores of a case that has all of them.
    scorers: usize,
    /// Where this reading continues.
    from: CaseKey,
    /// Where the next one begins: at the first case that lacks a score.
    next: CaseKey,
    /// Whether every case so far has all its scores, and need not be read again.
    is_whole: bool,
    cases: u64,
    is_different: bool,
    batch: Batch,
}

/// What is not in the index yet.
#[derive(Default)]
struct Batch {
    cases: Vec<IndexedCase>,
    /// Those of their texts.
    bytes: usize,
}

impl<'r> Reading<'r> {
    /// From `from` on, or of all cases.
    pub(super) fn new(
        store: &'r Store,
        index: &'r mut CaseIndex,
        run: &'r RunRecord,
        from: Option<CaseKey>,
    ) -> Result<Reading<'r>, StoreError> {
        let scorers = store.scorers(run.key)?.len();
        let from = from.unwrap_or(CaseKey::first_of(run.key));
        let batch = Batch::default();
        Ok(Reading {
            store,
            index,
            run,
            scorers,
            from,
            next: from,
            is_whole: true,
            cases: 0,
            is_different: false,
            batch,
        })
    }

    /// How many were read.
    pub(super) fn cases(&self) -> u64 {
        self.cases
    }

    /// Whether the index had not all of what was read.
    pub(super) fn is_different(&self) -> bool {
        self.is_different
    }

    /// Whether the index has cases that are not there any more, if all were to be read.
    pub(super) fn has_fewer_than_the_index(&self) -> Result<bool, StoreError> {
        Ok(self.index.case_count(self.run.key)? > self.cases)
    }

    /// Forgets what the index has of the run, and reads all of it from now on.
    pub(super) fn begin_anew(&mut self) -> Result<(), StoreError> {
        self.index.forget(self.run.key)?;
        let first = CaseKey::first_of(self.run.key);
        (self.from, self.next, self.is_whole) = (first, first, true);
        (self.cases, self.is_different, self.batch) = (0, false, Batch::default());
        Ok(())
    }

    /// Reads so many cases more, and indexes them; answers whether these were the last.
    pub(super) fn go_on(&mut self, most: usize) -> Result<bool, StoreError> {
        let (store, id, from) = (self.store, self.run.spec.id.as_str(), self.from);
        let (mut read, mut taken) = (0, Ok(()));
        verdicts_from(store, id, from, |decided| {
            read += 1;
            taken = self.take(&decided);
            taken.is_ok() && read < most
        })?;
        taken?;
        self.add()?;
        self.cases += read as u64;
        Ok(read < most)
    }

    fn take(&mut self, decided: &DecidedCase<'_>) -> Result<(), StoreError> {
        let case = decided.case;
        self.is_whole &= case.rows.len() >= self.scorers;
        self.from = case.key.following();
        if self.is_whole {
            self.next = self.from;
        }
        let text = self.store.case_text(case.key)?;
        self.batch.bytes += text.len();
        let rows = case.rows.iter().map(|row| (row.scorer, row.status, row.score)).collect();
        self.batch.cases.push(IndexedCase::new(case.key, decided.verdict, rows, text));
        match self.batch.cases.len() < BATCH_CASES && self.batch.bytes < BATCH_BYTES {
            true => Ok(()),
            false => self.add(),
        }
    }

    /// Puts what was taken into the index, in one transaction.
    fn add(&mut self) -> Result<(), StoreError> {
        let Batch { cases, .. } = mem::take(&mut self.batch);
        if !cases.is_empty() {
            self.is_different |= self.index.add(self.run, &cases, self.next)?;
        }
        Ok(())
    }
}
