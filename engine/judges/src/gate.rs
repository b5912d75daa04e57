//! Controls how many calls run at once, how many begin in a minute, and what each call waits for: a slot, the rate, a
//! pause that the server asked for, or the next attempt. It does not know what the calls do.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use scorebox::judge::{
    Answer, AskError, AskErrorKind, Halt, JudgeSettings, Load, Price, Reply, TokenUsage,
};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, sleep, sleep_until, timeout},
};

use crate::{
    bill::Bill,
    failure::{Failure, Remedy},
    pause::Pause,
    retry,
};

/// The gate that all calls of a provider pass through.
#[derive(Debug)]
pub(crate) struct Gate {
    places: Semaphore,
    pace: Option<Pace>,
    pause: Pause,
    waiting: AtomicU64,
    running: AtomicU64,
    retried: AtomicU64,
    retries: u32,
    endurance: Duration,
    price: Option<Price>,
}

impl Gate {
    pub(crate) fn new(settings: &JudgeSettings) -> Gate {
        Gate {
            places: Semaphore::new(settings.concurrency.clamp(1, Semaphore::MAX_PERMITS)),
            pace: settings.requests_per_minute.map(Pace::new),
            pause: Pause::new(settings.retries, settings.endurance),
            waiting: AtomicU64::new(0),
            running: AtomicU64::new(0),
            retried: AtomicU64::new(0),
            retries: settings.retries,
            endurance: settings.endurance,
            price: settings.price,
        }
    }

    pub(crate) fn load(&self) -> Load {
        Load::new(
            self.waiting.load(Relaxed),
            self.running.load(Relaxed),
            self.retried.load(Relaxed),
        )
    }

    /// Registers a call, which waits from now on until `stop` is ordered.
    pub(crate) fn arrive(&self, stop: Halt) -> Arrived<'_> {
        Arrived { gate: self, presence: Presence::new(&self.waiting), stop }
    }

    /// Waits until an attempt may begin. Returns the number of the last pause, which is over.
    ///
    /// # Errors
    /// The server keeps asking to wait, and answers no call.
    async fn turn(&self) -> Result<u32, Failure> {
        let mut first = None;
        loop {
            self.pause.end(&mut first).await?;
            if let Some(pace) = &self.pace {
                pace.turn().await;
            }
            if !self.pause.is_on() {
                return Ok(self.pause.number());
            }
        }
    }
}

/// A call that has no slot yet.
#[derive(Debug)]
pub(crate) struct Arrived<'a> {
    gate: &'a Gate,
    presence: Presence<'a>,
    stop: Halt,
}

impl<'a> Arrived<'a> {
    /// Waits for a slot, for a call that may take `within` from its first attempt on.
    ///
    /// # Errors
    /// The call was stopped before it had a slot.
    pub(crate) async fn enter(self, within: Duration) -> Result<Call<'a>, AskError> {
        let Arrived { gate, presence, stop } = self;
        let Some(place) = stop.unless_ordered(gate.places.acquire()).await else {
            let stopped = Failure::stopped();
            return Err(AskError::new(stopped.kind, stopped.message, 0));
        };
        Ok(Call {
            gate,
            presence,
            // This fails only if the semaphore is closed, and nothing closes it.
            _place: place.ok(),
            stop,
            within,
            began: None,
            after_pause: 0,
            excused: Duration::ZERO,
            attempts: 0,
            failures: 0,
            time_outs: 0,
            refusals: 0,
            refused_since: None,
            bill: Bill::default(),
            is_uncounted: false,
        })
    }
}

/// A call that has a slot, and keeps it until it is dropped, even while it waits for another attempt, so that fewer
/// calls reach a server in trouble.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    gate: &'a Gate,
    presence: Presence<'a>,
    _place: Option<SemaphorePermit<'a>>,
    stop: Halt,
    /// How long all attempts may take.
    within: Duration,
    began: Option<Instant>,
    /// The number of the last pause before the latest attempt.
    after_pause: u32,
    /// How long the call has waited since then for the server's pause or for the rate. This does not count as time to
    /// answer.
    excused: Duration,
    attempts: u32,
    /// The number of failed attempts, except those after which the server asked all calls to wait.
    failures: u32,
    time_outs: u32,
    /// How often the server asked all calls to wait in answer to this call, and since when.
    refusals: u32,
    refused_since: Option<Instant>,
    bill: Bill,
    /// Whether an attempt without an answer may have cost something.
    is_uncounted: bool,
}

impl Call<'_> {
    /// Waits until the next attempt may begin, and begins it.
    ///
    /// # Errors
    /// The call was stopped before, or the server keeps asking to wait.
    pub(crate) async fn begin(&mut self) -> Result<(), Failure> {
        if self.attempts > 0 && self.stop.is_ordered() {
            return Err(Failure::stopped());
        }
        let waits = Instant::now();
        let turn = self.stop.unless_ordered(self.gate.turn()).await;
        self.after_pause = turn.ok_or_else(Failure::stopped)??;
        if self.began.is_some() {
            self.excused += waits.elapsed();
        }
        self.attempts += 1;
        if self.attempts > 1 {
            self.gate.retried.fetch_add(1, Relaxed);
        }
        self.began.get_or_insert_with(Instant::now);
        self.presence.becomes(&self.gate.running);
        Ok(())
    }

    /// Runs `attempt`, unless the time for all attempts ends first.
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

    /// Takes the outcome of the attempt. Returns `None` if another attempt follows; the wait for it is then over.
    pub(crate) async fn settle<T>(
        &mut self,
        outcome: Result<T, Failure>,
    ) -> Option<Result<T, Failure>> {
        self.presence.becomes(&self.gate.waiting);
        if outcome.as_ref().map_or_else(|failure| failure.kind == AskErrorKind::Refused, |_| true) {
            self.gate.pause.note_answer();
        }
        let failure = match outcome {
            Ok(said) => return Some(Ok(said)),
            Err(failure) => failure,
        };
        self.is_uncounted |= failure.is_uncounted;
        let Wait { delay, is_asked_for } = match self.wait_after(failure) {
            Ok(wait) => wait,
            Err(failure) => return Some(Err(failure)),
        };
        if self.stop.unless_ordered(sleep(delay)).await.is_none() {
            return Some(Err(Failure::stopped()));
        }
        if is_asked_for {
            self.excused += delay;
        }
        None
    }

    /// How long to wait for another attempt.
    ///
    /// # Errors
    /// No attempt follows: returns the failure that ends the call.
    fn wait_after(&mut self, failure: Failure) -> Result<Wait, Failure> {
        let no_sooner = match failure.remedy {
            Remedy::Nothing => return Err(failure),
            Remedy::Again { no_sooner, slows_all: true } => {
                return self.wait_with_all(failure, no_sooner);
            }
            Remedy::Again { no_sooner, slows_all: false } => no_sooner,
            Remedy::AgainOnce => {
                self.time_outs += 1;
                if self.time_outs > 1 {
                    return Err(failure);
                }
                Duration::ZERO
            }
        };
        self.failures = self.failures.saturating_add(1);
        let delay = retry::delay(self.failures, no_sooner);
        let is_asked_for = !no_sooner.is_zero();
        let is_too_late = !is_asked_for && delay >= self.time_left();
        match self.failures > self.gate.retries || is_too_late {
            true => Err(failure),
            false => Ok(Wait { delay, is_asked_for }),
        }
    }

    /// The same if the server asks all calls to wait. This does not count as a failure of this call: the call ends when
    /// no call can expect an answer, or when other calls are answered and this one has not been for as long.
    fn wait_with_all(&mut self, failure: Failure, no_sooner: Duration) -> Result<Wait, Failure> {
        self.refusals = self.refusals.saturating_add(1);
        let since = *self.refused_since.get_or_insert_with(Instant::now);
        let hope = self.gate.pause.extend(no_sooner, self.after_pause, &failure.message);
        if self.gate.retries == 0 {
            return Err(failure);
        }
        hope?;
        if self.refusals > self.gate.retries && since.elapsed() >= self.gate.endurance {
            return Err(failure);
        }
        Ok(Wait { delay: retry::delay(self.refusals, no_sooner), is_asked_for: true })
    }

    /// Counts what an answer consumed. Its cost is computed from the price, or else taken from the provider. A call may
    /// have several answers: some answer questions that find out something about a server, others are followed by
    /// another attempt.
    pub(crate) fn consume(&mut self, usage: TokenUsage, stated_usd: Option<f64>) {
        let cost_usd = self.gate.price.and_then(|price| price.of(usage)).or(stated_usd);
        // An answer that reports nothing costs something nevertheless.
        self.is_uncounted |= usage == TokenUsage::default() && cost_usd.is_none();
        self.bill.add(usage, cost_usd);
    }

    /// Turns the failure that ends the call into the caller's error.
    pub(crate) fn error(&self, failure: Failure) -> AskError {
        let error = AskError::new(failure.kind, failure.message, self.attempts);
        let Bill { usage, known_usd, .. } = self.bill;
        let is_uncounted = self.is_uncounted || self.bill.lacks_some();
        error.with_consumed(usage, known_usd).with_uncounted(is_uncounted)
    }

    /// Turns the provider's reply into the caller's answer.
    pub(crate) fn answer(&self, reply: Reply, model: String) -> Answer {
        Answer {
            reply,
            model,
            usage: self.bill.usage,
            cost_usd: self.bill.known_usd,
            is_uncounted: self.is_uncounted || self.bill.lacks_some(),
            latency: self.latency(),
            attempts: self.attempts,
        }
    }

    /// The time since the first attempt began.
    pub(crate) fn latency(&self) -> Duration {
        self.began.map(|began| began.elapsed()).unwrap_or_default()
    }
}

/// How long a call waits for another attempt.
#[derive(Clone, Copy, Debug)]
struct Wait {
    delay: Duration,
    /// Whether the server asks for the wait: if it does, the wait does not count as time to answer.
    is_asked_for: bool,
}

/// Counts one call in one of the counters until it is dropped.
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

/// Limits how many attempts begin in a minute, evenly: at most one second's share at once, and at least one.
#[derive(Debug)]
struct Pace {
    interval: Duration,
    /// How far in the past the next beginning may be.
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

#[cfg(test)]
mod tests {
    use scorebox::judge::ProviderSettings;

    use super::*;

    #[tokio::test]
    async fn waiting_before_the_first_attempt_takes_nothing_from_the_time() {
        let command = ProviderSettings::Command { command: Vec::new() };
        let gate = Gate::new(&JudgeSettings::new(command));
        let within = Duration::from_millis(1);
        let mut call = gate.arrive(Halt::default()).enter(within).await.unwrap();
        let entered = Instant::now();
        while entered.elapsed() <= within {
            std::hint::spin_loop();
        }
        assert_eq!(call.time_left(), within);
        call.begin().await.unwrap();
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
        // A server may ask to wait without a time.
        for no_sooner in [within + Duration::from_millis(50), Duration::ZERO] {
            let mut call = gate.arrive(Halt::default()).enter(within).await.unwrap();
            call.begin().await.unwrap();
            let remedy = Remedy::Again { no_sooner, slows_all: true };
            let asked = Failure { remedy, ..Failure::unavailable("429".to_owned()) };
            assert!(call.settle::<()>(Err(asked)).await.is_none());
            call.begin().await.unwrap();
            assert!(call.latency() >= within);
            assert!(!call.time_left().is_zero());
        }
    }

    #[tokio::test]
    async fn a_question_that_is_refused_while_others_are_answered_has_no_answer_and_the_others_have_hope()
     {
        let command = ProviderSettings::Command { command: Vec::new() };
        let mut settings = JudgeSettings::new(command);
        (settings.retries, settings.endurance) = (1, Duration::ZERO);
        let gate = Gate::new(&settings);
        let remedy = Remedy::Again { no_sooner: Duration::ZERO, slows_all: true };
        let refused = Failure { remedy, ..Failure::unavailable("429".to_owned()) };
        for (is_other_answered, kind) in
            [(true, AskErrorKind::Unavailable), (false, AskErrorKind::Limited)]
        {
            let mut call = gate.arrive(Halt::default()).enter(Duration::MAX).await.unwrap();
            call.begin().await.unwrap();
            assert!(call.settle::<()>(Err(refused.clone())).await.is_none());
            if is_other_answered {
                gate.pause.note_answer();
            }
            call.begin().await.unwrap();
            let failure = call.settle::<()>(Err(refused.clone())).await.unwrap().unwrap_err();
            assert_eq!((failure.kind, call.attempts), (kind, 2));
            gate.pause.note_answer();
        }
    }
}
