//! Limits the time that a guest may compute. Its clock stops while the host does something slow for it, such as waiting
//! for a share. It knows no wasmtime: the running guest checks its clock every tick (`guest_call`).

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, ready},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep_until};

/// The time that a guest may compute has run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the time-out is over")]
pub(super) struct TimeIsUp;

/// The clock of one guest: when its time runs out. Clones share the clock.
#[derive(Clone)]
pub(super) struct Clock(Arc<Mutex<Instant>>);

/// A time that is too long for a clock never runs out.
fn after(now: Instant, time: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);
    now.checked_add(time).unwrap_or(now + FAR)
}

impl Clock {
    /// Starts a clock that runs out after `timeout`.
    pub(super) fn start(timeout: Duration) -> Clock {
        Clock(Arc::new(Mutex::new(after(Instant::now(), timeout))))
    }

    /// Nobody panics while holding the lock, and a time is complete in any case.
    fn until(&self) -> MutexGuard<'_, Instant> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks whether the time has run out.
    ///
    /// # Errors
    /// If it has.
    pub(super) fn check(&self) -> Result<(), TimeIsUp> {
        if Instant::now() >= *self.until() { Err(TimeIsUp) } else { Ok(()) }
    }

    /// The result of `call`, unless the time runs out first.
    ///
    /// The caller pins it: a future that is passed by value is copied, and a call is large.
    pub(super) async fn within<T>(
        &self,
        mut call: Pin<&mut impl Future<Output = T>>,
    ) -> Result<T, TimeIsUp> {
        // Most calls finish before their first wait, and need no alarm.
        let mut alarm = pin!(None::<Sleep>);
        poll_fn(|context| {
            if let Poll::Ready(answer) = call.as_mut().poll(context) {
                return Poll::Ready(Ok(answer));
            }
            loop {
                self.check()?;
                let until = *self.until();
                match alarm.as_mut().as_pin_mut() {
                    Some(set) if set.deadline() == until => ready!(set.poll(context)),
                    Some(set) => set.reset(until),
                    None => alarm.set(Some(sleep_until(until))),
                }
            }
        })
        .await
    }

    /// The result of `work`, during which the clock is stopped.
    pub(super) async fn stopped<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        // Most work is done at once, and takes too little time to be worth reading the clock.
        if let Some(done) = done_at_once(work.as_mut()).await {
            return done;
        }
        let left = self.until().saturating_duration_since(Instant::now());
        let done = work.await;
        *self.until() = after(Instant::now(), left);
        done
    }
}

/// The result of `work`, if it need not wait.
async fn done_at_once<T>(mut work: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    #[tokio::test]
    async fn a_call_ends_with_its_clock() {
        let call = Clock::start(Duration::from_millis(1)).within(pin!(pending::<()>())).await;
        assert_eq!(call, Err(TimeIsUp));
    }

    #[tokio::test]
    async fn a_time_without_end_is_one() {
        assert_eq!(Clock::start(Duration::MAX).check(), Ok(()));
    }

    #[tokio::test]
    async fn what_is_done_while_the_clock_stands_takes_nothing_from_its_time() {
        let (clock, a_while) = (Clock::start(LONG), Duration::from_millis(2));
        let before = *clock.until();
        clock.stopped(tokio::time::sleep(a_while)).await;
        assert!(*clock.until() >= before + a_while);
    }

    #[tokio::test]
    async fn what_is_there_at_once_is_taken_even_without_time() {
        assert_eq!(Clock::start(Duration::ZERO).within(pin!(ready(1))).await, Ok(1));
    }
}
