//! How many calls run at once, how many begin in a minute, and who waits for what: for places, for the rate, for a pause that
//! the server asked for, for the next attempt. Knows nothing of what is called.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use scorebox::judge::{AskError, JudgeSettings, Load, TokenUsage};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, sleep, sleep_until, timeout},
};

use crate::{
    failure::{Failure, Remedy},
    retry,
};

/// Where all calls of a provider pass.
#[derive(Debug)]
pub(crate) struct Gate {
    places: Semaphore,
    pace: Option<Pace>,
    pause: Pause,
    waiting: AtomicU64,
    running: AtomicU64,
    retried: AtomicU64,
    retries: u32,
}

impl Gate {
    pub(crate) fn new(settings: &JudgeSettings) -> Gate {
        Gate {
            places: Semaphore::new(settings.concurrency.clamp(1, Semaphore::MAX_PERMITS)),
            pace: settings.requests_per_minute.map(Pace::new),
            pause: Pause::default(),
            waiting: AtomicU64::new(0),
            running: AtomicU64::new(0),
            retried: AtomicU64::new(0),
            retries: settings.retries,
        }
    }

    pub(crate) fn load(&self) -> Load {
        Load::new(
            self.waiting.load(Relaxed),
            self.running.load(Relaxed),
            self.retried.load(Relaxed),
        )
    }

    /// A call that waits from now on.
    pub(crate) fn arrive(&self) -> Arrived<'_> {
        Arrived { gate: self, presence: Presence::new(&self.waiting) }
    }
}

/// A call that has no place yet.
#[derive(Debug)]
pub(crate) struct Arrived<'a> {
    gate: &'a Gate,
    presence: Presence<'a>,
}

impl<'a> Arrived<'a> {
    /// Waits for a place, for a call whose answer may take `within` from its first attempt on.
    pub(crate) async fn enter(self, within: Duration) -> Call<'a> {
        // Fails only if the semaphore is closed, which nothing does.
        let place = self.gate.places.acquire().await.ok();
        let Arrived { gate, presence } = self;
        Call {
            gate,
            presence,
            _place: place,
            within,
            began: None,
            excused: Duration::ZERO,
            attempts: 0,
            failures: 0,
            time_outs: 0,
            usage: TokenUsage::default(),
            cost_usd: None,
            is_uncounted: false,
        }
    }
}

/// A call that has a place, and keeps it until it is dropped: also while it waits for another attempt, so that a server in
/// trouble is asked less.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    gate: &'a Gate,
    presence: Presence<'a>,
    _place: Option<SemaphorePermit<'a>>,
    /// How long all attempts may take.
    within: Duration,
    began: Option<Instant>,
    /// How long it has waited since then because the server asked for it, or for the rate: that is nobody's answering.
    excused: Duration,
    attempts: u32,
    failures: u32,
    time_outs: u32,
    /// What all answers so far consumed.
    usage: TokenUsage,
    cost_usd: Option<f64>,
    /// Whether an attempt may have cost something, and nobody says how much.
    is_uncounted: bool,
}

impl Call<'_> {
    /// Waits until the next attempt may begin; it is running then.
    pub(crate) async fn begin(&mut self) {
        let waits = Instant::now();
        loop {
            self.gate.pause.end().await;
            if let Some(pace) = &self.gate.pace {
                pace.turn().await;
            }
            if !self.gate.pause.is_on() {
                break;
            }
        }
        if self.began.is_some() {
            self.excused += waits.elapsed();
        }
        self.attempts += 1;
        if self.attempts > 1 {
            self.gate.retried.fetch_add(1, Relaxed);
        }
        self.began.get_or_insert_with(Instant::now);
        self.presence.becomes(&self.gate.running);
    }

    /// What `attempt` gives, unless the time of all attempts is over before.
    pub(crate) async fn in_time<T>(
        &self,
        attempt: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        match timeout(self.time_left(), attempt).await {
            Ok(outcome) => outcome,
            Err(_) => Err(self.too_late()),
        }
    }

    fn time_left(&self) -> Duration {
        self.within.saturating_sub(self.latency().saturating_sub(self.excused))
    }

    fn too_late(&self) -> Failure {
        let attempts = match self.attempts {
            1 => "1 attempt".to_owned(),
            attempts => format!("{attempts} attempts"),
        };
        let message = match self.within.is_zero() {
            true => "no time is left for the question: the score has used all of it".to_owned(),
            false => {
                let seconds = self.within.as_secs_f64();
                format!(
                    "no answer in {attempts} within {seconds} s, the time that is left for the score"
                )
            }
        };
        let failure = Failure::timed_out(message, Remedy::Nothing);
        Failure { is_uncounted: !self.within.is_zero(), ..failure }
    }

    /// Takes the outcome of the attempt. `None` if another one follows, for which this has waited.
    pub(crate) async fn settle<T>(
        &mut self,
        outcome: Result<T, Failure>,
    ) -> Option<Result<T, Failure>> {
        self.presence.becomes(&self.gate.waiting);
        let Err(failure) = &outcome else { return Some(outcome) };
        self.is_uncounted |= failure.is_uncounted;
        self.failures = self.failures.saturating_add(1);
        let (no_sooner, slows_all) = match failure.remedy {
            Remedy::Nothing => return Some(outcome),
            Remedy::Again { no_sooner, slows_all } => (no_sooner, slows_all),
            Remedy::AgainOnce => {
                self.time_outs += 1;
                if self.time_outs > 1 {
                    return Some(outcome);
                }
                (Duration::ZERO, false)
            }
        };
        let delay = retry::delay(self.failures, no_sooner);
        if slows_all {
            self.gate.pause.extend(delay);
        }
        // What the server asks for takes nothing from the time in which it is to answer.
        let is_asked_for = !no_sooner.is_zero();
        if self.failures > self.gate.retries || (!is_asked_for && delay >= self.time_left()) {
            return Some(outcome);
        }
        sleep(delay).await;
        if is_asked_for {
            self.excused += delay;
        }
        None
    }

    /// Counts what an answer consumed, and cost if the provider says so. A call may have several: some answer questions that
    /// find something out about a server. An answer that says nothing costs something nevertheless.
    pub(crate) fn consume(&mut self, usage: TokenUsage, cost_usd: Option<f64>) {
        self.is_uncounted |= usage == TokenUsage::default() && cost_usd.is_none();
        self.usage = self.usage.plus(usage);
        self.cost_usd =
            cost_usd.map(|cost| cost + self.cost_usd.unwrap_or_default()).or(self.cost_usd);
    }

    /// As the caller sees the failure that ends this.
    pub(crate) fn error(&self, failure: Failure) -> AskError {
        let error = AskError::new(failure.kind, failure.message, self.attempts);
        error.with_consumed(self.usage, self.cost_usd).with_uncounted(self.is_uncounted)
    }

    pub(crate) fn attempts(&self) -> u32 {
        self.attempts
    }

    pub(crate) fn usage(&self) -> TokenUsage {
        self.usage
    }

    pub(crate) fn cost_usd(&self) -> Option<f64> {
        self.cost_usd
    }

    pub(crate) fn is_uncounted(&self) -> bool {
        self.is_uncounted
    }

    /// Since the first attempt began.
    pub(crate) fn latency(&self) -> Duration {
        self.began.map(|began| began.elapsed()).unwrap_or_default()
    }
}

/// One call in one of the counters, as long as this is not dropped.
#[derive(Debug)]
struct Presence<'a>(&'a AtomicU64);

impl<'a> Presence<'a> {
    fn new(counter: &'a AtomicU64) -> Presence<'a> {
        counter.fetch_add(1, Relaxed);
        Presence(counter)
    }

    fn becomes(&mut self, counter: &'a AtomicU64) {
        *self = Presence::new(counter);
    }
}

impl Drop for Presence<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// So many beginnings in a minute, evenly: as many at once as a second has, at least one.
#[derive(Debug)]
struct Pace {
    interval: Duration,
    /// How far the next beginning may be in the past.
    slack: Duration,
    next: Mutex<Instant>,
}

impl Pace {
    fn new(per_minute: u32) -> Pace {
        let interval = Duration::from_secs(60) / per_minute.max(1);
        let slack = interval * (per_minute / 60).max(1).saturating_sub(1);
        Pace { interval, slack, next: Mutex::new(Instant::now()) }
    }

    async fn turn(&self) {
        let turn = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let now = Instant::now();
            let turn = (*next).max(now.checked_sub(self.slack).unwrap_or(now));
            *next = turn + self.interval;
            turn
        };
        sleep_until(turn).await;
    }
}

/// A time in which nothing is sent, because the server asked for it.
#[derive(Debug, Default)]
struct Pause(Mutex<Option<Paused>>);

#[derive(Clone, Copy, Debug)]
struct Paused {
    until: Instant,
    length: Duration,
}

impl Pause {
    fn paused(&self) -> Option<Paused> {
        let paused = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        paused.filter(|paused| paused.until > Instant::now())
    }

    fn is_on(&self) -> bool {
        self.paused().is_some()
    }

    fn extend(&self, length: Duration) {
        let until = Instant::now() + length;
        let mut paused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if paused.is_none_or(|paused| paused.until < until) {
            *paused = Some(Paused { until, length });
        }
    }

    /// Waits for its end and a little longer, so that not all begin at once.
    async fn end(&self) {
        while let Some(Paused { until, length }) = self.paused() {
            sleep_until(until + retry::jittered(length).saturating_sub(length)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use scorebox::judge::ProviderSettings;

    use super::*;

    #[tokio::test]
    async fn waiting_before_the_first_attempt_takes_nothing_from_the_time() {
        let command = ProviderSettings::Command { command: Vec::new() };
        let gate = Gate::new(&JudgeSettings::new(command));
        let within = Duration::from_millis(1);
        let mut call = gate.arrive().enter(within).await;
        let entered = Instant::now();
        while entered.elapsed() <= within {
            std::hint::spin_loop();
        }
        assert_eq!(call.time_left(), within);
        call.begin().await;
        let began = Instant::now();
        while began.elapsed() <= within {
            std::hint::spin_loop();
        }
        assert_eq!(call.time_left(), Duration::ZERO);
    }

    #[tokio::test]
    async fn a_pause_that_the_server_asks_for_takes_nothing_from_the_time() {
        let command = ProviderSettings::Command { command: Vec::new() };
        let gate = Gate::new(&JudgeSettings::new(command));
        let within = Duration::from_millis(200);
        let mut call = gate.arrive().enter(within).await;
        call.begin().await;
        let no_sooner = within + Duration::from_millis(50);
        let remedy = Remedy::Again { no_sooner, slows_all: true };
        let asked = Failure { remedy, ..Failure::unavailable("429".to_owned()) };
        assert!(call.settle::<()>(Err(asked)).await.is_none());
        call.begin().await;
        assert!(call.latency() >= no_sooner);
        assert!(!call.time_left().is_zero());
    }
}
