//! What was handed over, what arrived and what was lost, and how much may wait. Sends nothing.

use std::{
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// How long a run waits for room while a collector is not known to be out of reach.
const PATIENCE: Duration = Duration::from_secs(1);
/// Bytes of a reason that are kept.
const REASON_BYTES: usize = 200;

/// How the export went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delivered {
    /// Score events that the run had.
    pub events: u64,
    /// Those among them that a collector took.
    pub events_sent: u64,
    /// Whether the last state of the metrics did not arrive.
    pub metrics_lost: bool,
    /// Why something did not arrive, if that is known. Has neither an address nor a header in it.
    pub reason: Option<String>,
}

impl Delivered {
    /// Score events that no collector took.
    pub fn events_lost(&self) -> u64 {
        self.events.saturating_sub(self.events_sent)
    }

    /// Whether everything arrived.
    pub fn is_complete(&self) -> bool {
        self.events_lost() == 0 && !self.metrics_lost
    }
}

/// The items of one signal on their way.
#[derive(Debug)]
pub(crate) struct Delivery {
    /// Items that may wait.
    room: u64,
    state: Mutex<State>,
    settled: Condvar,
    is_closed: AtomicBool,
    sent: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    offered: u64,
    waiting: u64,
    /// The latest export failed, or took longer than patience lasts.
    is_out_of_reach: bool,
    /// What the transport knows about a failure that the exporter does not say.
    cause: Option<&'static str>,
    reason: Option<String>,
}

impl Delivery {
    pub(crate) fn new(room: u64) -> Delivery {
        Delivery {
            room,
            state: Mutex::default(),
            settled: Condvar::new(),
            is_closed: AtomicBool::new(false),
            sent: AtomicU64::new(0),
        }
    }

    /// Counts an item; answers whether there is room for it. If the caller waits, it does so for a collector that answers,
    /// and for one of which nothing is known for [`PATIENCE`], once.
    pub(crate) fn offer(&self, waits: bool) -> bool {
        let mut state = self.lock();
        state.offered += 1;
        let deadline = Instant::now() + PATIENCE;
        while waits && state.waiting >= self.room && !state.is_out_of_reach {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                state.is_out_of_reach = true;
                break;
            }
            let waited = self.settled.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let has_room = state.waiting < self.room;
        state.waiting += u64::from(has_room);
        has_room
    }

    /// The transport knows why the export under way fails.
    pub(crate) fn note_cause(&self, cause: &'static str) {
        self.lock().cause = Some(cause);
    }

    /// So many items are not on their way any more: they arrived, or they are lost.
    pub(crate) fn settle(&self, items: u64, outcome: Result<(), String>) {
        let mut state = self.lock();
        state.waiting = state.waiting.saturating_sub(items);
        state.is_out_of_reach = outcome.is_err();
        let cause = state.cause.take();
        match outcome {
            Ok(()) => {
                self.sent.fetch_add(items, Ordering::Relaxed);
            }
            Err(reason) => {
                let mut reason = cause.map_or(reason, str::to_owned);
                reason.truncate(reason.floor_char_boundary(REASON_BYTES));
                state.reason = Some(reason);
            }
        }
        drop(state);
        self.settled.notify_all();
    }

    /// From now on nothing is sent any more.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Items that were offered, and those that arrived.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.lock().offered, self.sent.load(Ordering::Relaxed))
    }

    /// Whether the latest attempt failed.
    pub(crate) fn is_out_of_reach(&self) -> bool {
        self.lock().is_out_of_reach
    }

    /// Why the latest failure was one.
    pub(crate) fn reason(&self) -> Option<String> {
        self.lock().reason.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // What is behind the lock is consistent after every statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_room_is_lost_and_counted() {
        let delivery = Delivery::new(2);
        assert_eq!([(); 3].map(|()| delivery.offer(false)), [true, true, false]);
        delivery.settle(2, Ok(()));
        assert!(delivery.offer(false));
        assert_eq!(delivery.counts(), (4, 2));
    }

    #[test]
    fn a_collector_that_is_out_of_reach_is_not_waited_for() {
        let delivery = Delivery::new(1);
        assert!(delivery.offer(true));
        delivery.settle(1, Err("x".repeat(500)));
        assert_eq!(delivery.reason().unwrap().len(), REASON_BYTES);
        assert!(delivery.offer(true));
        assert!(!delivery.offer(true));
        assert!(delivery.is_out_of_reach());
    }

    #[test]
    fn a_collector_that_answers_is_waited_for() {
        let delivery = Delivery::new(1);
        assert!(delivery.offer(true));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| delivery.offer(true));
            delivery.settle(1, Ok(()));
            assert!(waiting.join().unwrap());
        });
        assert_eq!(delivery.counts(), (2, 1));
    }
}
