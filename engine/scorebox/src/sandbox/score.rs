//! One score: an instance that shares no state with another score, one call, and no state that remains.

use std::{
    mem,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use wasmtime::Store;

use crate::{
    contract::{LogLine, ScoreResult, ScorerInput},
    digest::Digest,
    judge::{Asker, Asking, Jury, Recording, ScoreCall},
};

use super::{
    ErrorKind, Limits, LoadedScorer, ScoreError,
    capabilities::Granted,
    clock::Clock,
    core_call::{CoreCall, Missed},
    fault,
    guest_call::{self, Cost, Guest, GuestCall},
    image::Fault,
    jury::{self, Vote},
    result,
    state::{LogBuffer, State},
    wasi::Seed,
};

/// The outcome of one score, and what it cost.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The result, within its limits, or why there is none.
    pub result: Result<ScoreResult, ScoreError>,
    /// The fuel used, instantiation included, by the scorer's run that had all answers of judges, or by those of all
    /// jurors together; `None` if the time-out ended the score, because wasmtime does not report it then.
    pub fuel: Option<u64>,
    /// The most bytes of memories and tables in use at once.
    pub memory_bytes: u64,
    /// How long it took, including the time that it waited for judges.
    pub duration: Duration,
    /// What the scorer logged, within its limits.
    pub log: Vec<LogLine>,
    /// The digest of the files that the scorer could read; `None` if there were none. With it, [`ScorerInput::digest`]
    /// identifies the scorer's whole input.
    pub files: Option<Digest>,
    /// The calls of judges that it is based on, in the order in which they were asked.
    pub calls: Vec<ScoreCall>,
}

impl Outcome {
    /// The outcome for a case whose task failed, for this reason: nothing ran.
    pub fn of_failed_task(why: &str) -> Outcome {
        let message = format!("the task failed: {why}");
        Outcome::of_nothing(Err(ScoreError::new(ErrorKind::TaskFailed, message)))
    }

    /// The outcome for a case without input that the scorer needs, for this reason: nothing ran.
    #[cfg(feature = "store")]
    pub(crate) fn of_no_input(why: String) -> Outcome {
        Outcome::of_nothing(Err(ScoreError::new(ErrorKind::InvalidInput, why)))
    }

    /// The outcome of a score for which nothing ran.
    fn of_nothing(result: Result<ScoreResult, ScoreError>) -> Outcome {
        Outcome {
            result,
            fuel: Some(0),
            memory_bytes: 0,
            duration: Duration::ZERO,
            log: Vec::new(),
            files: None,
            calls: Vec::new(),
        }
    }
}

impl LoadedScorer {
    /// Scores one case in a separate sandbox, with the parts of the case that the scorer declares to read, and with the
    /// files if it imports them. It reads the files and waits for its share of the budget first. Nothing runs if the
    /// files cannot be read: the error is `invalid-input`, or `timed-out` if reading takes too long. Nothing runs
    /// either in a process that was forked from the one that made the sandbox: the error is `failed`.
    pub fn score(&self, input: ScorerInput<'_>) -> impl Future<Output = Outcome> + Send {
        self.score_knowing(input, Vec::new())
    }

    /// The same, with answers of judges that need not be asked for.
    pub async fn score_knowing(
        &self,
        input: ScorerInput<'_>,
        answers: Vec<Arc<Recording>>,
    ) -> Outcome {
        match self.of_another_process() {
            Some(outcome) => outcome,
            None => self.score_asking(input, answers, &Asking::default()).await,
        }
    }

    /// The outcome of every score in a process that was forked from the one that made the sandbox; `None` in that one.
    pub(crate) fn of_another_process(&self) -> Option<Outcome> {
        self.sandbox.must_be_of_this_process().err().map(|error| Outcome::of_nothing(Err(error)))
    }

    /// The same, with questions that are asked like this. Who scores many cases asks once for many whether they are
    /// [`of_another_process`](LoadedScorer::of_another_process): it is a call of the system.
    pub(crate) async fn score_asking(
        &self,
        input: ScorerInput<'_>,
        answers: Vec<Arc<Recording>>,
        asking: &Asking,
    ) -> Outcome {
        let input = input.only(self.info.reads);
        let asker = self.asker.as_ref().map(|asker| asker.asking(asking.clone()));
        let asker = asker.as_ref();
        match asker.and_then(Asker::jury) {
            Some(choice) => self.score_by_jury(input, (asker, choice), &answers).await,
            None => self.score_once(input, asker, &answers).await,
        }
    }

    /// Scores with each juror, all at the same time, and combines the scores.
    async fn score_by_jury(
        &self,
        input: ScorerInput<'_>,
        (asker, choice): (Option<&Asker>, &Jury),
        answers: &[Arc<Recording>],
    ) -> Outcome {
        let began = Instant::now();
        let jurors = asker.into_iter().flat_map(Asker::jurors);
        let scored = join_all(jurors.map(|(seat, asker)| async move {
            (seat, self.score_once(input, Some(&asker), answers).await)
        }));
        let (mut votes, mut outcomes) = (Vec::new(), Vec::new());
        for (seat, mut outcome) in scored.await {
            let not_taken = Ok(ScoreResult::default());
            votes.push(Vote { seat, result: mem::replace(&mut outcome.result, not_taken) });
            outcomes.push(outcome);
        }
        let result = jury::combined(choice, votes, &self.limits);
        Outcome { result, duration: began.elapsed(), ..cost_of_all(outcomes, &self.limits) }
    }

    /// Scores with the answers of one judge.
    async fn score_once(
        &self,
        input: ScorerInput<'_>,
        asker: Option<&Asker>,
        answers: &[Arc<Recording>],
    ) -> Outcome {
        let shared = self.sandbox.shared();
        let granted = shared.capabilities.for_score((self.needs, asker), &input, &self.limits);
        let granted = match granted.await {
            Ok(granted) => granted.knowing(answers),
            Err(error) => return Outcome::of_nothing(Err(error)),
        };
        let files = granted.files_digest();
        let seed = if self.seeded { Seed::of(input.digest(files)) } else { Seed::OF_LOADING };
        let clock = Clock::start(self.limits.timeout);
        let mut run = self.run(input, (seed, clock.clone()), granted).await;
        let mut duration = run.cost.duration;
        // A guest that waits for a judge does not exist meanwhile, and runs again with the answers.
        while let Some(calls) = run.cost.granted.calls().filter(|calls| calls.waits()) {
            let asked = Instant::now();
            let answered = clock.stopped(calls.ask()).await;
            duration += asked.elapsed();
            if let Err(error) = answered {
                run.result = Err(fault::no_answer(&error, &self.limits));
                break;
            }
            let granted = mem::take(&mut run.cost.granted);
            run = self.run(input, (seed, clock.clone()), granted).await;
            duration += run.cost.duration;
        }
        let Run { result, cost: Cost { fuel, memory_bytes, log, mut granted, .. } } = run;
        let calls = granted.calls().map(|calls| calls.answered()).unwrap_or_default();
        Outcome { result, fuel, memory_bytes, duration, log, files, calls }
    }

    /// Whether `score` may be called without the component around it.
    pub(super) fn goes_without_component(&self) -> bool {
        self.configure_each_time.is_none()
            && self.limits.timeout > guest_call::BRIEF_TIME
            && self.trust.is_there()
    }

    /// One run of the guest without the component around it; after a miss, nothing of it remains.
    async fn run_core(
        &self,
        core: &CoreCall,
        input: ScorerInput<'_>,
        of: (Seed, Clock),
    ) -> Result<Run, InVain> {
        let (shared, limits) = (self.sandbox.shared(), &self.limits);
        // Such a scorer has no import that needs a grant.
        let clock = of.1.clone();
        // Declared first, dropped last: the share of the budget is returned only after the memory is.
        let _admitted = clock.stopped(shared.admission.enter(limits)).await;
        let state = State::new(limits, of, Granted::default());
        let mut sandbox = core.sandbox(&shared.engine, state);
        guest_call::bound(sandbox.store(), limits, guest_call::BRIEF_TICKS);
        let started = Instant::now();
        let answer = core.score(&mut sandbox, input.into(), limits.transfer_bytes());
        let result = match answer {
            Err(Missed) => None,
            // The time-out would have ended the component.
            Ok(_) if clock.check().is_err() => None,
            Ok(Ok(answer)) => Some(result::check(answer, self.info.scale, limits)),
            Ok(Err(error)) => Some(Err(guest_call::scorers_own(error, limits))),
        };
        let cost = Cost::of(sandbox.store(), limits, started);
        let Some(result) = result else { return Err(InVain(cost.duration)) };
        if let Some(room) = &shared.room {
            core.keep(sandbox, room);
        }
        Ok(Run { result, cost })
    }

    /// One run of the guest, from its beginning to its answer, or until it waits for a judge.
    async fn run(&self, input: ScorerInput<'_>, mut of: (Seed, Clock), granted: Granted) -> Run {
        let mut in_vain = Duration::ZERO;
        if let Some(core) = self.image.core().filter(|_| self.goes_without_component()) {
            match self.run_core(core, input, of.clone()).await {
                Ok(run) => {
                    self.trust.met();
                    return run;
                }
                Err(InVain(duration)) => {
                    self.trust.missed();
                    // The score that is computed again has its full time again.
                    of.1 = Clock::start(self.limits.timeout);
                    in_vain = duration;
                }
            }
        }
        let shared = self.sandbox.shared();
        let mut guest = Guest::admit_with(shared, &self.limits, of, granted).await;
        let call = Score { scorer: self, input };
        let check = |answer| result::check(answer, self.info.scale, &self.limits);
        let result = guest.ask(call, check).await;
        let cost = guest.cost();
        Run { result, cost: Cost { duration: cost.duration + in_vain, ..cost } }
    }
}

/// What all jurors of one score used together. The memory is that of the juror with the most: each has a separate
/// instance, whenever it runs.
fn cost_of_all(outcomes: Vec<Outcome>, limits: &Limits) -> Outcome {
    let mut all = Outcome::of_nothing(Ok(ScoreResult::default()));
    let mut log = LogBuffer::new(limits);
    for (index, outcome) in outcomes.into_iter().enumerate() {
        all.fuel = all.fuel.zip(outcome.fuel).map(|(one, other)| one.saturating_add(other));
        all.memory_bytes = all.memory_bytes.max(outcome.memory_bytes);
        if index == 0 {
            all.files = outcome.files;
        }
        for call in outcome.calls {
            // Jurors that ask for vectors of the same texts share one call.
            if !all.calls.iter().any(|known| known.digest == call.digest) {
                all.calls.push(call);
            }
        }
        outcome.log.into_iter().for_each(|line| log.push(line.level, line.message));
    }
    Outcome { log: log.into_lines(), ..all }
}

/// A run without a result, and how long it took.
struct InVain(Duration);

/// The result and the cost of one run of a guest.
struct Run {
    result: Result<ScoreResult, ScoreError>,
    cost: Cost,
}

/// Calls `score` with one case.
struct Score<'a> {
    scorer: &'a LoadedScorer,
    input: ScorerInput<'a>,
}

impl GuestCall for Score<'_> {
    type Answer = ScoreResult;

    const EXPORT: Option<&'static str> = None;

    async fn ask(self, store: &mut Store<State>) -> Result<ScoreResult, Fault> {
        let LoadedScorer { image, configure_each_time, .. } = self.scorer;
        let config = configure_each_time.as_deref();
        image.score(store, config, self.input.into()).await.map(ScoreResult::from)
    }
}
