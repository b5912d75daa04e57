//! Counts what was handed over, what arrived and what was lost, and limits how much may wait. Sends nothing.

use std::{
    borrow::Cow,
    mem,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// The longest time that a run waits for room while a collector has never answered.
const FIRST_PATIENCE: Duration = Duration::from_secs(10);
/// Additional time for a collector that has answered, so that the failure of an export is known before the wait ends.
const MARGIN: Duration = Duration::from_secs(1);
/// The most bytes that are kept of a reason.
const REASON_BYTES: usize = 200;
/// The reason if part of an export was rejected. The collector's message is not repeated: it may quote what it was
/// sent.
const REJECTED: &str = "it rejected a part";

/// The outcome of the export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delivered {
    /// The number of score events of the runs.
    pub events: u64,
    /// How many of them a collector accepted.
    pub events_sent: u64,
    /// Whether the last state of the metrics was lost.
    pub metrics_lost: bool,
    /// Why something did not arrive, if that is known. Contains no address and no header.
    pub reason: Option<String>,
}

impl Delivered {
    /// The number of score events that no collector accepted.
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
    /// How many items may wait.
    room: u64,
    /// The time-out of an export.
    timeout: Duration,
    state: Mutex<State>,
    settled: Condvar,
    is_closed: Mutex<bool>,
    sent: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    offered: u64,
    waiting: u64,
    /// Whether the latest export failed, or took longer than patience allows.
    is_out_of_reach: bool,
    /// When the latest successful export arrived.
    answered: Option<Instant>,
    /// What the transport knows about the export under way that the exporter does not report.
    cause: Option<Cow<'static, str>>,
    /// How many items of the export under way a collector rejects although it answers with success.
    rejected: u64,
    /// Whether the latest export arrived only in part.
    is_partial: bool,
    reason: Option<String>,
}

impl Delivery {
    pub(crate) fn new(room: u64, timeout: Duration) -> Delivery {
        Delivery {
            room,
            timeout,
            state: Mutex::default(),
            settled: Condvar::new(),
            is_closed: Mutex::new(false),
            sent: AtomicU64::new(0),
        }
    }

    /// Counts an item; returns whether there is room for it. If the caller waits, it waits as long as exports arrive
    /// within their time-out. For a collector that has never answered it waits [`FIRST_PATIENCE`], and after a failure
    /// not at all.
    pub(crate) fn offer(&self, waits: bool) -> bool {
        let mut state = self.lock();
        state.offered += 1;
        let begun = Instant::now();
        while waits && state.waiting >= self.room && !state.is_out_of_reach {
            let patience = self.patience(&state);
            let since = state.answered.map_or(begun, |answered| answered.max(begun));
            let left = patience.saturating_sub(since.elapsed());
            if left.is_zero() {
                state.is_out_of_reach = true;
                state.reason = Some(format!("no answer within {} s", patience.as_secs()));
                break;
            }
            let waited = self.settled.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let has_room = state.waiting < self.room;
        state.waiting += u64::from(has_room);
        has_room
    }

    /// How long an export may take before it counts as lost.
    fn patience(&self, state: &State) -> Duration {
        let patience = self.timeout.saturating_add(MARGIN);
        if state.answered.is_some() { patience } else { patience.min(FIRST_PATIENCE) }
    }

    /// Whether the collector answered the latest export, and the next one may still arrive. `since` is
    /// when the sending of the remaining items began.
    pub(crate) fn is_answering(&self, since: Instant) -> bool {
        let state = self.lock();
        let answered = state.answered.filter(|_| !state.is_out_of_reach);
        answered.is_some_and(|it| it.max(since).elapsed() < self.patience(&state))
    }

    /// Whether an export has ever arrived.
    pub(crate) fn has_answered(&self) -> bool {
        self.lock().answered.is_some()
    }

    /// Records why the export under way does not arrive, or not yet: it may be retried.
    pub(crate) fn note_cause(&self, cause: impl Into<Cow<'static, str>>) {
        self.lock().cause = Some(cause.into());
    }

    /// Records that the collector rejects this many items of the export under way, but answers with success.
    pub(crate) fn note_rejected(&self, items: u64) {
        self.lock().rejected = items;
    }

    /// Records that this many items have arrived or are lost.
    pub(crate) fn settle(&self, items: u64, outcome: Result<(), String>) {
        let mut state = self.lock();
        state.waiting = state.waiting.saturating_sub(items);
        state.is_out_of_reach = outcome.is_err();
        let cause = state.cause.take();
        let rejected = mem::take(&mut state.rejected);
        state.is_partial = outcome.is_ok() && rejected > 0;
        if state.is_partial {
            state.reason = Some(REJECTED.to_owned());
        }
        match outcome {
            Ok(()) => {
                state.answered = Some(Instant::now());
                self.sent.fetch_add(items.saturating_sub(rejected), Ordering::Relaxed);
            }
            Err(reason) => {
                let mut reason = cause.map_or(reason, Cow::into_owned);
                reason.truncate(reason.floor_char_boundary(REASON_BYTES));
                state.reason = Some(reason);
            }
        }
        drop(state);
        self.settled.notify_all();
    }

    /// Ends all sending: from now on [`unless_closed`](Delivery::unless_closed) does nothing. Waits for what it is
    /// doing at the moment.
    pub(crate) fn close(&self) {
        *self.closing() = true;
    }

    /// Calls `act`, unless the delivery is closed. `act` must not block, because it delays [`close`](Delivery::close).
    pub(crate) fn unless_closed<T>(&self, act: impl FnOnce() -> T) -> Option<T> {
        let is_closed = self.closing();
        (!*is_closed).then(act)
    }

    fn closing(&self) -> MutexGuard<'_, bool> {
        self.is_closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many items were offered, and how many arrived.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.lock().offered, self.sent.load(Ordering::Relaxed))
    }

    /// Whether the latest export failed.
    pub(crate) fn is_out_of_reach(&self) -> bool {
        self.lock().is_out_of_reach
    }

    /// Whether the latest export arrived only in part.
    pub(crate) fn is_partial(&self) -> bool {
        self.lock().is_partial
    }

    /// Why the export under way does not arrive, or why the latest failed one did not.
    pub(crate) fn reason(&self) -> Option<String> {
        let state = self.lock();
        state.cause.clone().map(Cow::into_owned).or_else(|| state.reason.clone())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The data behind the lock is consistent after every statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(600);

    #[test]
    fn what_finds_no_room_is_lost_and_counted() {
        let delivery = Delivery::new(2, TIMEOUT);
        assert_eq!([(); 3].map(|()| delivery.offer(false)), [true, true, false]);
        delivery.settle(2, Ok(()));
        assert!(delivery.offer(false));
        assert_eq!(delivery.counts(), (4, 2));
    }

    #[test]
    fn what_is_rejected_did_not_arrive() {
        let delivery = Delivery::new(4, TIMEOUT);
        assert_eq!([(); 4].map(|()| delivery.offer(false)), [true; 4]);
        delivery.note_rejected(1);
        delivery.settle(3, Ok(()));
        assert_eq!((delivery.counts(), delivery.is_partial()), ((4, 2), true));
        assert_eq!(delivery.reason().unwrap(), REJECTED);
        delivery.settle(1, Ok(()));
        assert_eq!((delivery.counts(), delivery.is_partial()), ((4, 3), false));
    }

    #[test]
    fn nothing_is_done_once_it_is_closed() {
        let delivery = Delivery::new(1, TIMEOUT);
        assert_eq!(delivery.unless_closed(|| 1), Some(1));
        delivery.close();
        assert_eq!(delivery.unless_closed(|| 1), None);
    }

    #[test]
    fn a_collector_that_is_out_of_reach_is_not_waited_for() {
        let delivery = Delivery::new(1, TIMEOUT);
        assert!(delivery.offer(true));
        delivery.settle(1, Err("x".repeat(500)));
        assert_eq!(delivery.reason().unwrap().len(), REASON_BYTES);
        assert!(delivery.offer(true));
        assert!(!delivery.offer(true));
        assert!(delivery.is_out_of_reach());
    }

    #[test]
    fn a_collector_that_answers_is_waited_for() {
        let delivery = Delivery::new(1, TIMEOUT);
        assert!(delivery.offer(true));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| delivery.offer(true));
            delivery.settle(1, Ok(()));
            assert!(waiting.join().unwrap());
        });
        assert_eq!(delivery.counts(), (2, 1));
    }

    #[test]
    fn one_that_answered_has_the_time_out_of_an_export() {
        let (delivery, begun) = (Delivery::new(2, TIMEOUT), Instant::now());
        assert!(!delivery.is_answering(begun) && !delivery.has_answered());
        delivery.settle(1, Ok(()));
        assert!(delivery.is_answering(begun) && delivery.has_answered());
        delivery.settle(1, Err("busy".to_owned()));
        assert!(!delivery.is_answering(begun));
        delivery.settle(1, Ok(()));
        assert!(delivery.is_answering(begun));
    }

    #[test]
    fn one_that_never_answers_is_waited_for_once() {
        let delivery = Delivery::new(1, Duration::ZERO);
        assert!(delivery.offer(true));
        assert!(!delivery.offer(true) && delivery.is_out_of_reach());
        assert_eq!(delivery.reason().unwrap(), "no answer within 1 s");
        delivery.settle(1, Ok(()));
        assert!(delivery.offer(true) && !delivery.is_out_of_reach());
    }

    #[test]
    fn why_an_export_is_retried_is_known_before_it_fails() {
        let delivery = Delivery::new(1, TIMEOUT);
        delivery.note_cause("it answered with status 429");
        assert_eq!(delivery.reason().unwrap(), "it answered with status 429");
        delivery.settle(1, Ok(()));
        assert_eq!(delivery.reason(), None);
    }
}
