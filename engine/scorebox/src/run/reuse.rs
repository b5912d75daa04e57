//! Finds the scores of a case that an earlier run has computed. It copies none; the writer does.

use crate::{
    case::CasePointer,
    contract::Fields,
    row::Answer,
    scoring::CaseInFlight,
    store::{Reusable, ReuseIndex, ScorerKey, StoreError},
};

/// The scores of earlier runs, and what this run's scorers read.
pub(super) struct Reuse {
    index: ReuseIndex,
    given: Vec<Given>,
}

/// The part of a case that a scorer of the run gets.
pub(super) struct Given {
    /// The scorer's index.
    pub(super) index: usize,
    pub(super) scorer: ScorerKey,
    /// Where the value is that the scorer gets as its output; `None` for the case's output.
    pub(super) output_from: Option<CasePointer>,
    pub(super) reads: Fields,
}

impl Reuse {
    pub(super) fn new(index: ReuseIndex, given: Vec<Given>) -> Reuse {
        Reuse { index, given }
    }

    /// The answer of a row that is reused.
    pub(super) fn answer(&self, from: Reusable) -> Result<Option<Answer>, StoreError> {
        self.index.answer(from)
    }

    /// The scores of the case that need not be computed, among those of the scorers in `missing` (`None` means all).
    pub(super) fn find(
        &self,
        case: &CaseInFlight,
        missing: Option<&[usize]>,
    ) -> Result<Vec<(usize, Reusable)>, StoreError> {
        let mut found = Vec::new();
        for Given { index, scorer, output_from, reads } in &self.given {
            if missing.is_some_and(|missing| !missing.contains(index)) {
                continue;
            }
            let digest = match output_from {
                None => case.input_digest(*reads, None),
                Some(pointer) => match case.value_at(pointer) {
                    Ok(output) => case.input_digest_of(output, *reads, None),
                    Err(_) => continue,
                },
            };
            let reusable = self.index.find(*scorer, digest)?;
            found.extend(reusable.map(|reusable| (*index, reusable)));
        }
        Ok(found)
    }
}
