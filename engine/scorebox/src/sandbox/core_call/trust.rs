//! [`Trust`]: whether a scorer is still called directly. A scorer that often misses, because its scores take long or
//! fail, would do most of its work twice.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The cost of a miss; a call that succeeds pays one back.
const A_MISS: u32 = 4;
/// A scorer that owes this much is not called directly: more than every fifth of its last scores missed.
const TOO_MUCH: u32 = 32;
/// One in this many scores of such a scorer is tried directly nevertheless; if it succeeds, the scorer is trusted
/// again.
const TRIED_AGAIN: u32 = 1000;

/// What a scorer owes. Only the speed of scores depends on it, so threads need not agree.
#[derive(Debug, Default)]
pub(in super::super) struct Trust {
    owed: AtomicU32,
    /// The number of scores that were not tried directly.
    passed_over: AtomicU32,
}

impl Trust {
    /// Whether to call directly.
    pub(in super::super) fn is_there(&self) -> bool {
        self.owed.load(Relaxed) < TOO_MUCH
            || self.passed_over.fetch_add(1, Relaxed) % TRIED_AGAIN == TRIED_AGAIN - 1
    }

    /// Records that a call succeeded. Almost all calls do, and then this writes nothing that other threads read.
    pub(in super::super) fn met(&self) {
        let owed = self.owed.load(Relaxed);
        if owed > 0 {
            let _ = self.owed.compare_exchange(owed, owed - 1, Relaxed, Relaxed);
        }
    }

    /// Records that a call missed.
    pub(in super::super) fn missed(&self) {
        let more = |owed: u32| Some((owed + A_MISS).min(TOO_MUCH));
        let _ = self.owed.fetch_update(Relaxed, Relaxed, more);
    }

    /// How much it owes.
    #[cfg(test)]
    pub(in super::super) fn owed(&self) -> u32 {
        self.owed.load(Relaxed)
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
            let is_there = often.is_there();
            if is_there {
                often.met();
            }
            is_there
        });
        assert!((8..=11).contains(&misses.count()));
    }

    #[test]
    fn a_scorer_that_lost_trust_can_win_it_again() {
        let trust = Trust::default();
        (0..100).for_each(|_| trust.missed());
        let tries = |count: u32| (0..count).filter(|_| trust.is_there()).count();
        assert_eq!(tries(10 * TRIED_AGAIN), 10);
        trust.missed();
        assert_eq!(tries(TRIED_AGAIN), 1);
        trust.met();
        assert_eq!(tries(TRIED_AGAIN), TRIED_AGAIN as usize);
    }
}
