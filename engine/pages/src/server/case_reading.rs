//! Reads the cases of a run into the index, in parts. It does not know when a run is read or who waits for it.

use std::mem;

use scorebox::{
    aggregate::{DecidedCase, verdicts_from},
    store::{CaseIndex, CaseKey, IndexedCase, RunRecord, Store, StoreError},
};

/// The most cases of one transaction, and the number of bytes of their texts after which it ends.
const BATCH_CASES: usize = 2000;
const BATCH_BYTES: usize = 8 << 20;

/// Reads the cases of a run into the index.
pub(super) struct Reading<'r> {
    store: &'r Store,
    index: &'r mut CaseIndex,
    run: &'r RunRecord,
    /// The number of scores of a complete case.
    scorers: usize,
    /// Where this reading continues.
    from: CaseKey,
    /// Where the next reading begins: at the first case that lacks a score.
    next: CaseKey,
    /// Whether every case so far has all its scores, and does not need to be read again.
    is_whole: bool,
    cases: u64,
    is_different: bool,
    batch: Batch,
}

/// The cases that are not yet in the index.
#[derive(Default)]
struct Batch {
    cases: Vec<IndexedCase>,
    /// The number of bytes of their texts.
    bytes: usize,
}

impl<'r> Reading<'r> {
    /// Reads from the case `from` on, or all cases.
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

    /// How many cases were read.
    pub(super) fn cases(&self) -> u64 {
        self.cases
    }

    /// Whether the index lacked some of what was read.
    pub(super) fn is_different(&self) -> bool {
        self.is_different
    }

    /// Whether the index contains cases that no longer exist, if all cases were to be read.
    pub(super) fn has_fewer_than_the_index(&self) -> Result<bool, StoreError> {
        Ok(self.index.case_count(self.run.key)? > self.cases)
    }

    /// Removes the run from the index, and reads all of it from now on.
    pub(super) fn begin_anew(&mut self) -> Result<(), StoreError> {
        self.index.forget(self.run.key)?;
        let first = CaseKey::first_of(self.run.key);
        (self.from, self.next, self.is_whole) = (first, first, true);
        (self.cases, self.is_different, self.batch) = (0, false, Batch::default());
        Ok(())
    }

    /// Reads this many more cases, and indexes them; returns whether these were the last.
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

    /// Writes the batch into the index, in one transaction.
    fn add(&mut self) -> Result<(), StoreError> {
        let Batch { cases, .. } = mem::take(&mut self.batch);
        if !cases.is_empty() {
            self.is_different |= self.index.add(self.run, &cases, self.next)?;
        }
        Ok(())
    }
}
