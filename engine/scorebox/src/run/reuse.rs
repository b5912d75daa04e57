//! Which scores of a case an earlier run has. Copies none; the writer does.

use crate::{
    contract::Fields,
    row::Answer,
    scoring::CaseInFlight,
    store::{Reusable, ReuseIndex, ScorerKey, StoreError},
};

/// What earlier runs have, and what the scorers of this one read.
pub(super) struct Reuse {
    index: ReuseIndex,
    reads: Vec<(usize, ScorerKey, Fields)>,
}

impl Reuse {
    pub(super) fn new(index: ReuseIndex, reads: Vec<(usize, ScorerKey, Fields)>) -> Reuse {
        Reuse { index, reads }
    }

    /// The answer of a row that is reused.
    pub(super) fn answer(&self, from: Reusable) -> Result<Option<Answer>, StoreError> {
        self.index.answer(from)
    }

    /// The scores of the case that need not be computed, among those of `missing` scorers (none: all).
    pub(super) fn find(
        &self,
        case: &CaseInFlight,
        missing: Option<&[usize]>,
    ) -> Result<Vec<(usize, Reusable)>, StoreError> {
        let mut found = Vec::new();
        for (index, scorer, reads) in &self.reads {
            if missing.is_some_and(|missing| !missing.contains(index)) {
                continue;
            }
            let reusable = self.index.find(*scorer, case.input_digest(*reads, None))?;
            found.extend(reusable.map(|reusable| (*index, reusable)));
        }
        Ok(found)
    }
}
