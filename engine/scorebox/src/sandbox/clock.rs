//! The two clocks of a guest: the time that it computes, and the time that the host keeps it waiting. Each has
//! its limit and stands while the other runs, so that a slow host does not use up the guest's time. Knows no
//! wasmtime: the running guest looks at its clock every tick (`guest_call`).

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, ready},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep_until};

use super::Limits;

/// Which of the clocks is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TimeIsUp {
    /// The guest's own.
    #[error("the time-out is over")]
    Computing,
    /// The host's, while the guest waits for it.
    #[error("the time for host calls is over")]
    InHost,
}

/// Both clocks of one guest. Clones are of the same clocks.
#[derive(Clone)]
pub(super) struct Clock(Arc<Mutex<Clocks>>);

/// One runs, the other stands.
struct Clocks {
    running: TimeIsUp,
    /// When the one that runs is over.
    until: Instant,
    /// What the other has left.
    left: Duration,
}

impl Clocks {
    fn new(now: Instant, computing: Duration, host: Duration) -> Clocks {
        Clocks { running: TimeIsUp::Computing, until: after(now, computing), left: host }
    }

    /// From here on `next` runs.
    fn run(&mut self, next: TimeIsUp, now: Instant) {
        if self.running != next {
            let left = self.until.saturating_duration_since(now);
            self.until = after(now, self.left);
            (self.running, self.left) = (next, left);
        }
    }

    fn over(&self, now: Instant) -> Option<TimeIsUp> {
        (now >= self.until).then_some(self.running)
    }
}

/// A time that is too far for a clock is never over.
fn after(now: Instant, time: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);
    now.checked_add(time).unwrap_or(now + FAR)
}

impl Clock {
    /// Clocks with the times of `limits`; the guest computes.
    pub(super) fn start(limits: &Limits) -> Clock {
        let clocks = Clocks::new(Instant::now(), limits.timeout, limits.host_timeout);
        Clock(Arc::new(Mutex::new(clocks)))
    }

    /// Nobody panics while holding them, and they are whole in any case.
    fn clocks(&self) -> MutexGuard<'_, Clocks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The clock that is over, if the one that runs is.
    pub(super) fn over(&self) -> Option<TimeIsUp> {
        self.clocks().over(Instant::now())
    }

    /// What `call` gives, unless the clock that runs is over before.
    ///
    /// It is pinned by the caller: a future that is handed over is copied, and a call is large.
    pub(super) async fn within<T>(
        &self,
        mut call: Pin<&mut impl Future<Output = T>>,
    ) -> Result<T, TimeIsUp> {
        // Most calls are over before their first wait, and need none.
        let mut alarm = pin!(None::<Sleep>);
        poll_fn(|context| {
            if let Poll::Ready(answer) = call.as_mut().poll(context) {
                return Poll::Ready(Ok(answer));
            }
            loop {
                if let Some(over) = self.over() {
                    return Poll::Ready(Err(over));
                }
                // The call may have changed which of them runs.
                let until = self.clocks().until;
                match alarm.as_mut().as_pin_mut() {
                    Some(set) if set.deadline() == until => ready!(set.poll(context)),
                    Some(set) => set.reset(until),
                    None => alarm.set(Some(sleep_until(until))),
                }
            }
        })
        .await
    }

    /// What `work` gives, during which both clocks stand.
    pub(super) async fn stopped<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        // Most of it is done at once, and takes no time that would be worth a look at the clock.
        if let Some(done) = done_at_once(work.as_mut()).await {
            return done;
        }
        let left = self.clocks().until.saturating_duration_since(Instant::now());
        let done = work.await;
        self.clocks().until = after(Instant::now(), left);
        done
    }

    /// What the host's side of a call gives: meanwhile its clock runs, and the guest's stands. A caller that
    /// waits in [`within`](Clock::within) sees when its time is over.
    #[cfg_attr(not(test), expect(dead_code, reason = "no capability is asked by a host call yet"))]
    pub(super) async fn in_host<T>(&self, work: impl Future<Output = T>) -> T {
        let _back = BackToTheGuest(self);
        self.clocks().run(TimeIsUp::InHost, Instant::now());
        work.await
    }
}

/// What `work` gives, if it need not wait.
async fn done_at_once<T>(mut work: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Runs the guest's clock again, even if the call was dropped before the host answered.
struct BackToTheGuest<'a>(&'a Clock);

impl Drop for BackToTheGuest<'_> {
    fn drop(&mut self) {
        self.0.clocks().run(TimeIsUp::Computing, Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    const fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    #[test]
    fn each_clock_stands_while_the_other_runs() {
        let start = Instant::now();
        let mut clocks = Clocks::new(start, ms(100), ms(1000));
        assert_eq!(clocks.over(start + ms(99)), None);
        clocks.run(TimeIsUp::InHost, start + ms(60));
        assert_eq!(clocks.over(start + ms(1059)), None);
        assert_eq!(clocks.over(start + ms(1060)), Some(TimeIsUp::InHost));
        clocks.run(TimeIsUp::Computing, start + ms(960));
        assert_eq!(clocks.over(start + ms(999)), None);
        assert_eq!(clocks.over(start + ms(1000)), Some(TimeIsUp::Computing));
        clocks.run(TimeIsUp::InHost, start + ms(990));
        assert_eq!(clocks.over(start + ms(1089)), None);
        assert_eq!(clocks.over(start + ms(1090)), Some(TimeIsUp::InHost));
    }

    #[test]
    fn a_clock_that_runs_already_is_not_started_again() {
        let start = Instant::now();
        let mut clocks = Clocks::new(start, ms(100), ms(1000));
        clocks.run(TimeIsUp::Computing, start + ms(90));
        assert_eq!(clocks.over(start + ms(100)), Some(TimeIsUp::Computing));
    }

    #[test]
    fn a_time_without_end_is_one() {
        let start = Instant::now();
        let mut clocks = Clocks::new(start, Duration::MAX, Duration::MAX);
        clocks.run(TimeIsUp::InHost, start + ms(1));
        assert_eq!(clocks.over(start + ms(1_000_000)), None);
    }

    fn clock(timeout: Duration, host_timeout: Duration) -> Clock {
        Clock::start(&Limits { timeout, host_timeout, ..Limits::default() })
    }

    const LONG: Duration = Duration::from_secs(600);

    #[tokio::test]
    async fn a_call_ends_with_the_clock_that_runs() {
        let over = clock(ms(1), LONG).within(pin!(pending::<()>())).await;
        assert_eq!(over, Err(TimeIsUp::Computing));
        let host_is_slow = clock(LONG, ms(1));
        let over = host_is_slow.within(pin!(host_is_slow.in_host(pending::<()>()))).await;
        assert_eq!(over, Err(TimeIsUp::InHost));
    }

    /// As if so much time had passed.
    fn pass(clock: &Clock, time: Duration) {
        clock.clocks().until -= time;
    }

    #[tokio::test]
    async fn a_host_that_is_slow_takes_nothing_from_the_guests_time() {
        let clock = clock(LONG, LONG);
        let nearly = LONG - ms(60_000);
        pass(&clock, nearly);
        let slow = async {
            clock.in_host(async { pass(&clock, nearly) }).await;
            clock.over()
        };
        assert_eq!(clock.within(pin!(slow)).await, Ok(None));
        pass(&clock, ms(60_000));
        assert_eq!(clock.over(), Some(TimeIsUp::Computing));
    }

    #[tokio::test]
    async fn a_guest_that_computes_on_after_a_host_call_is_ended_by_its_own_clock() {
        let clock = clock(ms(20), LONG);
        let call = async {
            clock.in_host(tokio::task::yield_now()).await;
            pending::<()>().await
        };
        assert_eq!(clock.within(pin!(call)).await, Err(TimeIsUp::Computing));
    }

    #[tokio::test]
    async fn what_is_there_at_once_is_taken_even_without_time() {
        assert_eq!(clock(Duration::ZERO, LONG).within(pin!(ready(1))).await, Ok(1));
    }
}
