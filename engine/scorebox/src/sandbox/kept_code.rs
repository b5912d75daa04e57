//! Keeps the code of recent loads for loads that want it again. It neither compiles nor reads code: see `wanted_code`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

use crate::digest::Digest;

use super::{ScoreError, code::Code};

/// How many codes are kept for the next configuration of the same scorer, some megabytes each: as many as the scorers
/// in a suite that differ in more than their configuration.
const KEPT_CODES: usize = 16;

/// Where code is stored once it is compiled, or why it does not compile.
pub(super) type Slot = Arc<OnceCell<Result<Found, Refused>>>;

/// Compiled code, and the digest of the component that it belongs to.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) of: Digest,
    pub(super) code: Arc<Code>,
}

/// Why a component does not compile, which may be because of its data, and the digest of that component.
#[derive(Clone)]
pub(super) struct Refused {
    pub(super) of: Digest,
    pub(super) error: ScoreError,
}

/// The latest code that configurations share.
#[derive(Default)]
pub(super) struct KeptCodes(Mutex<Vec<(Digest, Slot)>>);

impl KeptCodes {
    /// The slot for the code under `key`, which is filled once. If there are too many slots, this removes the oldest
    /// ones that no load waits for.
    pub(super) fn slot(&self, key: Digest) -> Slot {
        let mut kept = self.kept();
        if let Some((_, slot)) = kept.iter().find(|(kept, _)| *kept == key) {
            return Arc::clone(slot);
        }
        let mut too_many = (kept.len() + 1).saturating_sub(KEPT_CODES);
        // The oldest slots come first.
        kept.retain(|(_, slot)| {
            let goes = too_many > 0 && Arc::strong_count(slot) == 1;
            too_many -= usize::from(goes);
            !goes
        });
        let slot = Slot::default();
        kept.push((key, Arc::clone(&slot)));
        slot
    }

    /// No code panics while it holds the lock, and the content is consistent in any case.
    fn kept(&self) -> MutexGuard<'_, Vec<(Digest, Slot)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_someone_waits_for_stays_at_hand_and_of_the_rest_the_latest() {
        let codes = KeptCodes::default();
        let key = |number: usize| Digest::of(&number.to_le_bytes());
        let waited_for = codes.slot(key(0));
        for number in 1..100 {
            codes.slot(key(number));
        }
        assert!(Arc::ptr_eq(&waited_for, &codes.slot(key(0))));
        let latest: Vec<Digest> = (100 - (KEPT_CODES - 1)..100).map(key).collect();
        let kept: Vec<Digest> = codes.kept().iter().map(|(key, _)| *key).collect();
        assert_eq!(kept, [[key(0)].as_slice(), &latest].concat());
    }
}
