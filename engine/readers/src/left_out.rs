//! Counts what of a file is not part of a case, by reason. Decides nothing.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// What a reader has left out so far, by reason; clones share their counts.
#[derive(Clone, Debug, Default)]
pub struct LeftOut(Arc<Mutex<BTreeMap<&'static str, u64>>>);

impl LeftOut {
    /// Counts one more thing that is left out; `why` describes it in the plural: `events of no sample`.
    pub(crate) fn note(&self, why: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(why).or_default() += 1;
    }

    /// How many things were left out, by reason, in alphabetical order.
    pub fn counts(&self) -> Vec<(&'static str, u64)> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.iter().map(|(why, count)| (*why, *count)).collect()
    }
}
