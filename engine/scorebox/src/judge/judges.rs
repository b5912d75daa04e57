//! The judges of a program, and the steps of each call: look it up in the recordings, check the budgets, ask, record.
//! It knows no provider's protocol and no database.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::sync::Semaphore;

use super::{
    Answer, AskError, AskErrorKind, AskedBy, Asking, Budget, BudgetOf, Call, Consumed, JudgeError,
    JudgeErrorKind, JudgeSettings, Load, MAX_COST_USD, Meter, Provider, Recording, Recordings,
    TokenUsage,
    budget::Beyond,
    expected::Size,
    in_flight::{Ended, InFlight},
    permit::Permit,
    provider::answer_of,
};
use crate::{digest::Digest, now::now_ms};

/// How recordings are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordingUse {
    /// A recorded answer is used; other questions are asked and recorded.
    #[default]
    Use,
    /// Every question is asked again, once, and replaces the recorded answer.
    Refresh,
    /// Only recorded answers are used; nothing is asked.
    Only,
    /// Every question is asked, and nothing is recorded.
    Off,
}

impl RecordingUse {
    /// All ways to use recordings.
    pub const ALL: [RecordingUse; 4] =
        [RecordingUse::Use, RecordingUse::Refresh, RecordingUse::Only, RecordingUse::Off];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            RecordingUse::Use => "use",
            RecordingUse::Refresh => "refresh",
            RecordingUse::Only => "only",
            RecordingUse::Off => "off",
        }
    }
}

/// One judge: who answers, and with which settings. Without a provider, only recorded answers are available.
#[derive(Debug)]
pub(super) struct Judge {
    pub(super) settings: JudgeSettings,
    pub(super) provider: Option<Arc<dyn Provider>>,
    /// Answers that replace a provider.
    pub(super) recorded: Option<Arc<dyn Recordings>>,
    meter: Meter,
    /// As many permits as the calls that it takes at the same time.
    places: Semaphore,
}

impl Judge {
    pub(super) fn new(settings: JudgeSettings) -> Judge {
        let places = Semaphore::new(settings.concurrency.clamp(1, Semaphore::MAX_PERMITS));
        let meter = Meter::new(settings.budget);
        Judge { settings, provider: None, recorded: None, meter, places }
    }
}

/// Who asks a judge, and within which limits.
#[derive(Clone, Copy)]
pub(super) struct Behalf<'a> {
    /// The scorer's name, if it has one.
    pub(super) scorer: Option<&'a str>,
    /// Counts what the scorer consumes.
    pub(super) meter: &'a Meter,
    /// How long the answer may take from the moment when the question is sent.
    pub(super) within: Duration,
    /// For which run, and what ends the waiting until the question is sent.
    pub(super) asking: &'a Asking,
}

impl Behalf<'_> {
    /// Who had the question answered, if that is a scorer of a run.
    fn asked_by(&self, is_asked_now: bool) -> Option<AskedBy> {
        let (run, scorer) = (self.asking.run.as_ref()?, self.scorer?);
        Some(AskedBy { is_asked_now, ..AskedBy::new(Arc::clone(run), scorer) })
    }
}

/// The judges of a program, by name. Cheap to clone.
#[derive(Clone, Default)]
pub struct Judges(pub(super) Arc<Shared>);

#[derive(Default)]
pub(super) struct Shared {
    pub(super) judges: BTreeMap<String, Judge>,
    pub(super) recordings: Option<Arc<dyn Recordings>>,
    pub(super) recording_use: RecordingUse,
    pub(super) meter: Option<Meter>,
    pub(super) in_flight: InFlight,
    pub(super) counts: Counts,
    /// While recordings are refreshed, those from before this time do not count, nor do those from a clock that is
    /// ahead.
    pub(super) began_at_ms: i64,
}

#[derive(Default)]
pub(super) struct Counts {
    answered: AtomicU64,
    recorded: AtomicU64,
    failed: AtomicU64,
    /// Calls that wait for a turn or for room in a budget.
    waiting: AtomicU64,
    /// What calls without an answer consumed.
    unanswered: Mutex<Consumed>,
    /// How many attempts were made for them.
    attempts: AtomicU64,
    /// What calls consumed whose answers are not recorded.
    unrecorded: Mutex<Consumed>,
}

/// Locks the content, which is consistent after every statement.
fn locked(consumed: &Mutex<Consumed>) -> MutexGuard<'_, Consumed> {
    consumed.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds what one call consumed.
fn add(consumed: &Mutex<Consumed>, cost_usd: Option<f64>, usage: TokenUsage) {
    let mut consumed = locked(consumed);
    consumed.calls += 1;
    consumed.add(cost_usd, usage);
}

/// Counts a call as waiting, until it is dropped.
struct Waiting<'a>(&'a AtomicU64);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicU64) -> Waiting<'a> {
        count.fetch_add(1, Ordering::Relaxed);
        Waiting(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What the judges have done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct JudgeCounts {
    /// What calls have consumed.
    pub consumed: Consumed,
    /// Answers that were requested and received.
    pub answered: u64,
    /// Answers that came from recordings.
    pub recorded: u64,
    /// Calls without an answer.
    pub failed: u64,
    /// What calls without an answer consumed nevertheless; it is part of `consumed`.
    pub unanswered: Consumed,
    /// How many attempts were made for calls without an answer.
    pub unanswered_attempts: u64,
    /// What calls consumed whose answers are not recorded, so that no database knows it; it is part of `consumed`.
    pub unrecorded: Consumed,
    /// The current load of the providers.
    pub load: Load,
    /// What the run may consume.
    pub budget: Budget,
}

/// A call's answer, and where it came from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Asked {
    /// The call and its answer.
    pub recording: Arc<Recording>,
    /// Whether it was recorded before, in a database or a file, or requested by another score at the same moment.
    pub is_recorded: bool,
}

impl Asked {
    /// An answer that was recorded before.
    pub(crate) fn recorded(recording: Arc<Recording>) -> Asked {
        Asked { recording, is_recorded: true }
    }
}

impl Judges {
    /// The names of the judges.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.judges.keys().map(String::as_str)
    }

    /// Whether there are no judges.
    pub fn is_empty(&self) -> bool {
        self.0.judges.is_empty()
    }

    /// How many calls all of them take at the same time.
    pub fn concurrency(&self) -> usize {
        self.0.judges.values().map(|judge| judge.settings.concurrency).sum()
    }

    /// What the judges have done so far.
    pub fn counts(&self) -> JudgeCounts {
        let providers = self.0.judges.values().filter_map(|judge| judge.provider.as_ref());
        let load = providers.map(|provider| provider.load()).fold(Load::default(), |all, it| {
            Load::new(all.waiting + it.waiting, all.running + it.running, all.retries + it.retries)
        });
        let (meter, counts) = (self.0.meter.as_ref(), &self.0.counts);
        let waiting = counts.waiting.load(Ordering::Relaxed);
        JudgeCounts {
            consumed: meter.map(Meter::consumed).unwrap_or_default(),
            answered: counts.answered.load(Ordering::Relaxed),
            recorded: counts.recorded.load(Ordering::Relaxed),
            failed: counts.failed.load(Ordering::Relaxed),
            unanswered: *locked(&counts.unanswered),
            unanswered_attempts: counts.attempts.load(Ordering::Relaxed),
            unrecorded: *locked(&counts.unrecorded),
            load: Load { waiting: load.waiting + waiting, ..load },
            budget: meter.map(Meter::budget).unwrap_or_default(),
        }
    }

    pub(super) fn judge(&self, name: &str) -> Option<&Judge> {
        self.0.judges.get(name)
    }

    /// The answer of the judge `name` to `call`: the recorded one, or a new one.
    pub(super) async fn answer(
        &self,
        name: &str,
        call: &Call,
        behalf: Behalf<'_>,
    ) -> Result<Asked, JudgeError> {
        let digest = call.digest();
        let file = self.judge(name).and_then(|judge| judge.recorded.as_ref());
        let (recording, is_asked_now) = match file {
            Some(file) => (self.of_file(name, &**file, call, behalf).await, false),
            None => match self.recorded(digest)? {
                Some(recording) => (Ok(recording), false),
                None if self.0.recording_use == RecordingUse::Only => {
                    return Err(not_recorded(name, call, digest));
                }
                None => self.asked_once(name, call, behalf).await,
            },
        };
        if recording.is_err() {
            self.0.counts.failed.fetch_add(1, Ordering::Relaxed);
        } else if !is_asked_now {
            self.0.counts.recorded.fetch_add(1, Ordering::Relaxed);
        }
        Ok(Asked { recording: recording?, is_recorded: !is_asked_now })
    }

    /// The answer of a judge that is a file of recordings: the file's answer, whatever else is recorded. An answer that
    /// is missing in the file may come from other recordings if no judge is asked anyway.
    async fn of_file(
        &self,
        name: &str,
        file: &dyn Recordings,
        call: &Call,
        behalf: Behalf<'_>,
    ) -> Result<Arc<Recording>, JudgeError> {
        let digest = call.digest();
        let Some(recording) = file.find(digest).map_err(unreadable)? else {
            let replayed = match self.0.recording_use {
                RecordingUse::Only => self.recorded(digest)?,
                _ => None,
            };
            return replayed.ok_or_else(|| not_recorded(name, call, digest));
        };
        let stored = self.0.recordings.as_ref().filter(|_| self.records());
        let stored = stored.map(|stored| stored.find(digest)).transpose().map_err(unreadable)?;
        // Most of the time it is recorded already.
        if stored.flatten().is_none_or(|stored| stored.reply != recording.reply) {
            self.keep(&recording, behalf.asked_by(false)).await?;
        }
        Ok(recording)
    }

    /// The new answer to a call, which is asked once, however many callers ask it at the moment; also returns whether
    /// this caller asked it.
    async fn asked_once(
        &self,
        name: &str,
        call: &Call,
        behalf: Behalf<'_>,
    ) -> (Result<Arc<Recording>, JudgeError>, bool) {
        let (digest, in_flight) = (call.digest(), &self.0.in_flight);
        loop {
            let (mut is_first, mut is_asked) = (false, false);
            let slot = in_flight.slot(digest);
            let ask = async || {
                is_first = true;
                // It may have been recorded while this call waited for the slot of another one that is gone.
                let outcome = match self.recorded(digest) {
                    Ok(None) => {
                        is_asked = true;
                        self.ask(name, call, behalf).await
                    }
                    Ok(Some(recording)) => Ok(recording),
                    Err(error) => Err(error),
                };
                Ended { outcome, judge: name.to_owned(), within: behalf.within }
            };
            let ended = slot.get_or_init(ask).await;
            if is_first || !ended.is_of_another(name, behalf.within) {
                return (ended.outcome.clone(), is_asked);
            }
            in_flight.forget(digest, &slot);
        }
    }

    fn recorded(&self, call: Digest) -> Result<Option<Arc<Recording>>, JudgeError> {
        let Some(recordings) = &self.0.recordings else { return Ok(None) };
        let found = match self.0.recording_use {
            RecordingUse::Off => None,
            RecordingUse::Use | RecordingUse::Only => recordings.find(call).map_err(unreadable)?,
            RecordingUse::Refresh => recordings
                .find(call)
                .map_err(unreadable)?
                .filter(|it| (self.0.began_at_ms..=now_ms()).contains(&it.answered_at_ms)),
        };
        Ok(found)
    }

    /// Asks the provider, within all budgets, and records the answer.
    async fn ask(
        &self,
        name: &str,
        call: &Call,
        behalf: Behalf<'_>,
    ) -> Result<Arc<Recording>, JudgeError> {
        let unavailable = |why: String| {
            JudgeError::new(JudgeErrorKind::Unavailable, format!("judge `{name}`: {why}"))
        };
        let judge =
            self.judge(name).ok_or_else(|| unavailable("there is no such judge".to_owned()))?;
        let provider = judge
            .provider
            .as_ref()
            .ok_or_else(|| unavailable("it answers from recordings only".to_owned()))?;
        let meters: Vec<(BudgetOf, &Meter)> = self
            .0
            .meter
            .iter()
            .map(|meter| (BudgetOf::Run, meter))
            .chain([(BudgetOf::Judge, &judge.meter), (BudgetOf::Scorer, behalf.meter)])
            .collect();
        let stop = &behalf.asking.stop;
        let permit = {
            let _waiting = Waiting::new(&self.0.counts.waiting);
            let size = Size::of(name, &call.question);
            Permit::wait(&judge.places, size, &meters, (name, behalf.scorer), stop).await?
        };
        let answered = answer_of(&**provider, &call.question, behalf.within, stop.clone());
        let answer = match answered.await {
            Ok(answer) => Answer { usage: answer.usage.credible(), ..answer },
            Err(error) => {
                let error = AskError { usage: error.usage.credible(), ..error };
                self.give_up(permit, &error, &judge.settings);
                let message = format!("judge `{name}`: {error}");
                return Err(JudgeError::new(error.kind.into(), message));
            }
        };
        let cost_usd = self.count(permit, &answer, &judge.settings);
        let recording = Arc::new(recording_of(call, answer, cost_usd));
        self.keep(&recording, behalf.asked_by(true)).await?;
        Ok(recording)
    }

    /// Counts what an answer consumed; returns its cost, if the cost of the answer alone is known.
    fn count(&self, permit: Permit<'_>, answer: &Answer, settings: &JudgeSettings) -> Option<f64> {
        let cost_usd = cost(answer.cost_usd, answer.usage, settings);
        let is_uncounted = answer.is_uncounted && !is_free(settings);
        let beyond = match cost_usd {
            _ if is_free(settings) => Beyond::Nothing,
            Some(_) if is_uncounted => Beyond::Unanswered,
            Some(_) => Beyond::Nothing,
            None => Beyond::Unknown,
        };
        permit.ended(cost_usd, answer.usage, beyond);
        self.0.counts.answered.fetch_add(1, Ordering::Relaxed);
        if !self.records() {
            add(&self.0.counts.unrecorded, cost_usd, answer.usage);
        }
        // This includes the cost of attempts without an answer.
        cost_usd.filter(|_| !is_uncounted)
    }

    /// Counts what a call without an answer consumed.
    fn give_up(&self, permit: Permit<'_>, error: &AskError, settings: &JudgeSettings) {
        if error.attempts == 0 {
            return permit.not_sent();
        }
        let cost_usd = cost(error.cost_usd, error.usage, settings);
        let is_said = cost_usd.is_some() || error.usage == TokenUsage::default();
        let beyond = match error.kind {
            _ if is_free(settings) || (is_said && !error.is_uncounted) => Beyond::Nothing,
            // A model's refusal is an answer: if its cost is not reported, no answer's is.
            AskErrorKind::Refused if cost_usd.is_none() => Beyond::Unknown,
            _ if is_said => Beyond::Unanswered,
            _ => Beyond::Unknown,
        };
        permit.ended(cost_usd, error.usage, beyond);
        self.0.counts.attempts.fetch_add(error.attempts.into(), Ordering::Relaxed);
        add(&self.0.counts.unanswered, cost_usd, error.usage);
    }

    /// Whether answers are recorded.
    fn records(&self) -> bool {
        self.0.recordings.is_some() && self.0.recording_use != RecordingUse::Off
    }

    async fn keep(
        &self,
        recording: &Arc<Recording>,
        by: Option<AskedBy>,
    ) -> Result<(), JudgeError> {
        let Some(recordings) = self.0.recordings.as_ref().filter(|_| self.records()) else {
            return Ok(());
        };
        let recording = Arc::clone(recording);
        let kept = match by {
            Some(by) => recordings.keep_for(recording, by),
            None => recordings.keep(recording),
        };
        kept.await.map_err(unreadable)
    }
}

impl fmt::Debug for Judges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judges")
            .field("judges", &self.0.judges)
            .field("recording_use", &self.0.recording_use)
            .finish_non_exhaustive()
    }
}

fn recording_of(call: &Call, answer: Answer, cost_usd: Option<f64>) -> Recording {
    let Answer { reply, model, usage, latency, attempts, .. } = answer;
    Recording {
        call: call.clone(),
        reply,
        model,
        usage,
        cost_usd,
        latency_ms: latency.as_secs_f64() * 1000.0,
        attempts,
        answered_at_ms: now_ms(),
    }
}

/// The cost in US dollars: by the judge's price, or otherwise as the provider reports it. So a gateway that reports 0,
/// because the model's own server is paid elsewhere, does not disable a budget.
fn cost(stated: Option<f64>, usage: TokenUsage, settings: &JudgeSettings) -> Option<f64> {
    let is_credible = |cost: &f64| (0.0..=MAX_COST_USD).contains(cost);
    let priced = settings.price.and_then(|price| price.of(usage));
    priced.or(stated).filter(is_credible)
}

/// Whether its tokens cost nothing, however many there are.
fn is_free(settings: &JudgeSettings) -> bool {
    settings.price.is_some_and(|price| price.of(TokenUsage::default()).is_some())
}

fn not_recorded(name: &str, call: &Call, digest: Digest) -> JudgeError {
    let model = call.question.model();
    JudgeError::new(
        JudgeErrorKind::NotRecorded,
        format!(
            "judge `{name}`: the answer of `{model}` to call {} is not recorded",
            digest.short()
        ),
    )
}

fn unreadable(error: super::RecordingsError) -> JudgeError {
    JudgeError::new(JudgeErrorKind::Recordings, format!("recordings of judges: {error}"))
}
