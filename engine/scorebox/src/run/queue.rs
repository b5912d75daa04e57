//! Cases that a program adds to a run while it runs: a bounded queue, to which adding a case takes a moment, whatever
//! the run is doing. It scores nothing.

use std::{
    collections::VecDeque,
    mem,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::case::Case;

/// How often a run that waits for a case checks whether it should end.
const LOOK: Duration = Duration::from_millis(100);

/// What happens to a case if the queue is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhenFull {
    /// The oldest waiting case is dropped, so that the most recent cases are scored.
    #[default]
    DropOldest,
    /// The new case is refused.
    Refuse,
    /// The caller waits until there is room. This blocks its thread, so it is for threads that may be blocked, and not
    /// for asynchronous code.
    Wait,
}

/// The limits of what waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueLimits {
    /// The most cases, at least 1.
    pub(crate) cases: usize,
    /// The most bytes of their lines; a larger case waits alone.
    pub(crate) bytes: usize,
}

/// How many cases a queue got, and what happened to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueCounts {
    /// Cases that were accepted, including those that were dropped later.
    pub accepted: u64,
    /// Accepted cases that were dropped because newer ones came.
    pub dropped: u64,
    /// Cases that were not accepted: the queue was full, or the run had ended.
    pub refused: u64,
    /// Cases that wait now.
    pub waiting: u64,
}

/// The cases that wait for a run.
#[derive(Debug)]
pub(crate) struct CaseQueue {
    state: Mutex<State>,
    limits: QueueLimits,
    filled: Condvar,
    emptied: Condvar,
}

#[derive(Debug, Default)]
struct State {
    cases: VecDeque<Waiting>,
    bytes: usize,
    counts: QueueCounts,
    /// The ordinal of the next case, if no ordinals are skipped before it.
    next: u64,
    /// How many ordinals are skipped before the next case that is added.
    left_empty: u64,
    is_closed: bool,
}

/// A case that waits.
#[derive(Debug)]
struct Waiting {
    case: Case,
    /// How many ordinals are skipped before it.
    left_empty: u64,
}

impl State {
    fn pop(&mut self) -> Option<Waiting> {
        let waiting = self.cases.pop_front()?;
        self.bytes -= waiting.case.json().len();
        Some(waiting)
    }
}

impl CaseQueue {
    /// An empty queue.
    pub(crate) fn new(limits: QueueLimits) -> CaseQueue {
        let (state, filled, emptied) = (Mutex::default(), Condvar::new(), Condvar::new());
        CaseQueue { state, limits, filled, emptied }
    }

    /// A queue with these cases, which is closed.
    pub(crate) fn of(cases: impl IntoIterator<Item = Case>) -> CaseQueue {
        let queue = CaseQueue::new(QueueLimits { cases: usize::MAX, bytes: usize::MAX });
        for case in cases {
            queue.put(case, WhenFull::Refuse);
        }
        queue.close();
        queue
    }

    /// Adds a case; returns whether it was accepted.
    pub(crate) fn put(&self, case: Case, when_full: WhenFull) -> bool {
        let mut state = self.lock();
        let bytes = case.json().len();
        let is_full = |state: &State| {
            let too_large = state.bytes.saturating_add(bytes) > self.limits.bytes;
            state.cases.len() >= self.limits.cases || (too_large && !state.cases.is_empty())
        };
        while !state.is_closed && is_full(&state) {
            match when_full {
                WhenFull::Refuse => break,
                WhenFull::DropOldest => {
                    state.pop();
                    state.counts.dropped += 1;
                }
                WhenFull::Wait => {
                    state = self.emptied.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
        if state.is_closed || is_full(&state) {
            state.counts.refused += 1;
            return false;
        }
        state.bytes += bytes;
        let left_empty = mem::take(&mut state.left_empty);
        state.cases.push_back(Waiting { case, left_empty });
        state.counts.accepted += 1;
        drop(state);
        self.filled.notify_one();
        true
    }

    /// Skips an ordinal, for an item that was not a case.
    pub(crate) fn leave_empty(&self) {
        self.lock().left_empty += 1;
    }

    /// The next case with its ordinal; waits for it. `None` if the queue is closed and empty, or if `is_to_end` returns
    /// true.
    pub(crate) fn take(&self, is_to_end: impl Fn() -> bool) -> Option<Case> {
        let mut state = self.lock();
        loop {
            if is_to_end() {
                return None;
            }
            if let Some(Waiting { case, left_empty }) = state.pop() {
                let ordinal = state.next + left_empty;
                state.next = ordinal + 1;
                drop(state);
                self.emptied.notify_one();
                return Some(case.handed_over(ordinal));
            }
            if state.is_closed {
                return None;
            }
            let waited = self.filled.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Whether a case waits.
    pub(crate) fn has_some(&self) -> bool {
        !self.lock().cases.is_empty()
    }

    /// The ordinal that the next case would have, if none of those that wait were dropped.
    pub(crate) fn next_ordinal(&self) -> u64 {
        let state = self.lock();
        state.next + state.cases.iter().map(|waiting| waiting.left_empty + 1).sum::<u64>()
    }

    /// Accepts no more cases; those that wait are still scored.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.filled.notify_all();
        self.emptied.notify_all();
    }

    /// How many cases were added, and what happened to them.
    pub(crate) fn counts(&self) -> QueueCounts {
        let state = self.lock();
        QueueCounts { waiting: state.cases.len() as u64, ..state.counts }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state behind the lock is consistent after every statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, thread};

    use super::*;

    fn case(output: u64) -> Case {
        format!("{{\"output\": {output}}}").parse().unwrap()
    }

    fn queue(cases: usize) -> CaseQueue {
        CaseQueue::new(QueueLimits { cases, bytes: 1000 })
    }

    fn outputs(queue: &CaseQueue) -> Vec<String> {
        queue.close();
        std::iter::from_fn(|| queue.take(|| false)).map(|case| case.output().to_owned()).collect()
    }

    #[test]
    fn cases_come_in_their_order_and_get_names_by_it() {
        let queue = queue(10);
        assert!((5..8).all(|number| queue.put(case(number), WhenFull::Refuse)));
        assert_eq!(queue.next_ordinal(), 3);
        let first = queue.take(|| false).unwrap();
        assert_eq!((first.id(), first.ordinal(), first.source()), ("case-1", 0, "<program>"));
        let second = queue.take(|| false).unwrap();
        assert_eq!((second.id(), second.ordinal()), ("case-2", 1));
        assert_eq!(outputs(&queue), ["7"]);
    }

    #[test]
    fn a_place_that_is_left_empty_counts() {
        let queue = queue(10);
        queue.put(case(5), WhenFull::Refuse);
        queue.leave_empty();
        queue.leave_empty();
        assert_eq!(queue.next_ordinal(), 1);
        queue.put(case(6), WhenFull::Refuse);
        queue.put(case(7), WhenFull::Refuse);
        assert_eq!(queue.next_ordinal(), 5);
        let taken = [0; 3].map(|_| queue.take(|| false).unwrap());
        assert_eq!(taken.each_ref().map(Case::id), ["case-1", "case-4", "case-5"]);
        assert_eq!(taken.each_ref().map(Case::ordinal), [0, 3, 4]);
    }

    #[test]
    fn a_full_queue_refuses_the_newest_or_drops_the_oldest_and_counts_it() {
        for (when_full, left, dropped, refused) in
            [(WhenFull::Refuse, ["0", "1"], 0, 3), (WhenFull::DropOldest, ["3", "4"], 3, 0)]
        {
            let queue = queue(2);
            for number in 0..5 {
                queue.put(case(number), when_full);
            }
            let counts = queue.counts();
            assert_eq!((counts.dropped, counts.refused, counts.waiting), (dropped, refused, 2));
            assert_eq!(counts.accepted, counts.dropped + counts.waiting);
            assert_eq!(outputs(&queue), left);
        }
    }

    #[test]
    fn a_case_that_is_larger_than_all_room_waits_alone() {
        let queue = queue(10);
        let large: Case = format!("{{\"output\": \"{}\"}}", "x".repeat(2000)).parse().unwrap();
        assert!(queue.put(large.clone(), WhenFull::Refuse));
        assert!(!queue.put(case(1), WhenFull::Refuse));
        assert!(queue.put(case(2), WhenFull::DropOldest));
        assert_eq!(outputs(&queue), ["2"]);
    }

    #[test]
    fn a_caller_that_waits_continues_when_there_is_room_or_the_queue_is_closed() {
        let queue = Arc::new(queue(1));
        queue.put(case(0), WhenFull::Wait);
        let caller = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || [1, 2].map(|number| queue.put(case(number), WhenFull::Wait)))
        };
        assert_eq!(queue.take(|| false).unwrap().output(), "0");
        while queue.counts().accepted < 2 {
            thread::yield_now();
        }
        queue.close();
        assert_eq!(caller.join().unwrap(), [true, false]);
        assert_eq!(outputs(&queue), ["1"]);
    }
}
