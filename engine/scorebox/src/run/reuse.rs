//! Which scores of a case an earlier run has. Copies none; the writer does.

use crate::{
    case::CasePointer,
    contract::Fields,
    row::Answer,
    scoring::CaseInFlight,
    store::{Reusable, ReuseIndex, ScorerKey, StoreError},
};

/// What earlier runs have, and what the scorers of this one read.
pub(super) struct Reuse {
    index: ReuseIndex,
    given: Vec<Given>,
}

/// What a scorer of the run is given of a case.
pub(super) struct Given {
    /// The scorer's index.
    pub(super) index: usize,
    pub(super) scorer: ScorerKey,
    /// Where the value is that it is given as the output; `None`: the case's output.
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

    /// The scores of the case that need not be computed, among those of `missing` scorers (none: all).
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
