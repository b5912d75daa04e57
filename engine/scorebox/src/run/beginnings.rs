//! When the scorers of a case began, for the sinks of a run. The tasks that score record it, and the thread that
//! delivers reads it, without a message between them. This creates no events.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::now::now_ms;

/// This bit is set once the beginning was reported.
const REPORTED: u64 = 1;

/// When each scorer of a case began: milliseconds since 1970, and whether that was reported.
#[derive(Debug)]
pub(super) struct Beginnings(Box<[AtomicU64]>);

impl Beginnings {
    /// Room for this many scorers; others are not recorded.
    pub(super) fn new(scorers: usize) -> Beginnings {
        Beginnings((0..scorers).map(|_| AtomicU64::new(0)).collect())
    }

    /// Records that the scorer at this index begins now.
    pub(super) fn note(&self, index: usize) {
        if let Some(beginning) = self.0.get(index) {
            // At least 1, because 0 means that there is no beginning.
            let ms = u64::try_from(now_ms()).unwrap_or(0).max(1);
            beginning.store(ms << 1, Ordering::Release);
        }
    }

    /// When the scorer at this index began, in milliseconds since 1970 UTC, if it began and this was not reported
    /// before.
    pub(super) fn report(&self, index: usize) -> Option<i64> {
        let beginning = self.0.get(index)?;
        let noted = beginning.load(Ordering::Acquire);
        if noted == 0 || noted & REPORTED != 0 {
            return None;
        }
        // Each scorer records its beginning only once, so this does not overwrite it.
        beginning.store(noted | REPORTED, Ordering::Release);
        i64::try_from(noted >> 1).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_is_reported_once() {
        let beginnings = Beginnings::new(2);
        assert_eq!(beginnings.report(0), None);
        beginnings.note(0);
        assert!(beginnings.report(0).is_some_and(|ms| ms > 0));
        assert_eq!((beginnings.report(0), beginnings.report(1)), (None, None));
    }

    #[test]
    fn nothing_is_kept_if_no_one_wants_to_know() {
        let beginnings = Beginnings::new(0);
        beginnings.note(1);
        assert_eq!(beginnings.report(1), None);
    }
}
