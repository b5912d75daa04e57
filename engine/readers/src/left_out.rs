//! What of a file is no case, counted by reason. Decides nothing.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// What a reader has left out so far, by reason; clones count together.
#[derive(Clone, Debug, Default)]
pub struct LeftOut(Arc<Mutex<BTreeMap<&'static str, u64>>>);

impl LeftOut {
    /// One more thing is left out; `why` says what it is, in the plural: `events of no sample`.
    pub(crate) fn note(&self, why: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(why).or_default() += 1;
    }

    /// How many of which things were left out, in the order of their names.
    pub fn counts(&self) -> Vec<(&'static str, u64)> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.iter().map(|(why, count)| (*why, *count)).collect()
    }
}
