//! [`Trust`]: whether a scorer is still called directly. One that often misses, because its scores take long or fail,
//! would do most of its work twice.

use std::sync::atomic::{AtomicU32, Ordering};

/// What a miss costs; a call that succeeds gives one back.
const A_MISS: u32 = 4;
/// Who owes so much is never called directly again: more than every fifth call missed.
const TOO_MUCH: u32 = 32;

/// What a scorer owes. Only how fast scores are depends on it, so that threads need not agree.
#[derive(Debug, Default)]
pub(in super::super) struct Trust(AtomicU32);

impl Trust {
    /// Whether to call directly.
    pub(in super::super) fn is_there(&self) -> bool {
        self.0.load(Ordering::Relaxed) < TOO_MUCH
    }

    /// A call succeeded. Almost all do, and then nothing is written that other threads read.
    pub(in super::super) fn met(&self) {
        let owed = self.0.load(Ordering::Relaxed);
        if owed > 0 && owed < TOO_MUCH {
            self.0.store(owed - 1, Ordering::Relaxed);
        }
    }

    /// What it owes.
    #[cfg(test)]
    pub(in super::super) fn owed(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// A call missed.
    pub(in super::super) fn missed(&self) {
        self.0.fetch_add(A_MISS, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rare_miss_is_forgiven_and_a_habit_is_not() {
        let rare = Trust::default();
        for _ in 0..1000 {
            rare.missed();
            (0..10).for_each(|_| rare.met());
            assert!(rare.is_there());
        }
        let often = Trust::default();
        let misses = (0..1000).take_while(|_| {
            often.missed();
            often.met();
            often.is_there()
        });
        assert_eq!(misses.count(), 10);
        // Whatever was under way succeeds.
        (0..100).for_each(|_| often.met());
        assert!(!often.is_there());
    }
}
