//! One score: a fresh store, a fresh instance, one call, and everything is thrown away.

use std::time::{Duration, Instant};

use wasmtime::{Store, UpdateDeadline};

use crate::{
    contract::{LogLine, ScoreResult, ScorerError, ScorerInput, bindings::Scorer},
    digest::Digest,
};

use super::{
    ErrorKind, Limits, LoadedScorer, ScoreError,
    capabilities::Granted,
    fault::{self, TimeIsUp},
    host::Shared,
    result,
    state::State,
    wasi::Seed,
};

/// Handles to host resources (streams, polls) that an instance may hold.
pub(super) const COMPONENT_HANDLES: usize = 1000;

/// What came of one score, and what it cost.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The result, within its limits, or why there is none.
    pub result: Result<ScoreResult, ScoreError>,
    /// Fuel used, instantiation included; none where the time-out ended the score, for then wasmtime
    /// does not tell.
    pub fuel: Option<u64>,
    /// The most bytes of memories and tables in use at once.
    pub memory_bytes: u64,
    /// How long it took.
    pub duration: Duration,
    /// What the scorer logged, within its limits.
    pub log: Vec<LogLine>,
    /// The digest of the files that it was shown; none where it was shown none. With it,
    /// [`ScorerInput::digest`] names all that the scorer was fed.
    pub files: Option<Digest>,
}

impl Outcome {
    /// That of a score for which there was no input, so that nothing ran.
    fn not_begun(error: ScoreError) -> Outcome {
        Outcome {
            result: Err(error),
            fuel: Some(0),
            memory_bytes: 0,
            duration: Duration::ZERO,
            log: Vec::new(),
            files: None,
        }
    }
}

impl LoadedScorer {
    /// Scores one case in a sandbox of its own, with the parts of it that the scorer says it reads, and
    /// the files where it imports them. Reads these and waits for a place first. Nothing runs where the files
    /// cannot be read: that is an `invalid-input`, or a `timed-out` where it takes longer than the score may.
    pub async fn score(&self, input: ScorerInput<'_>) -> Outcome {
        let shared = self.sandbox.shared();
        let input = input.only(self.info.reads);
        let granted = shared.capabilities.for_score(self.needs, &input, &self.limits).await;
        let granted = match granted {
            Ok(granted) => granted,
            Err(error) => return Outcome::not_begun(error),
        };
        let files = granted.files_digest();
        let _admitted = shared.admission.enter(&self.limits).await;
        let started = Instant::now();
        let seed = if self.seeded { Seed::of(input.digest(files)) } else { Seed::OF_LOADING };
        let mut store = new_store(shared, &self.limits, seed, granted);
        let called = {
            let call = self.call(&mut store, input);
            tokio::time::timeout(self.limits.timeout, call).await
        };
        store.data_mut().collect_printed();
        let result = match called {
            Err(_elapsed) => Err(fault::timed_out(&self.limits)),
            Ok(Err(Fault::Wasm(error))) => Err(fault::of_call(&error, store.data(), &self.limits)),
            Ok(Err(Fault::Configure(message))) => {
                let message = fault::cut(&message, self.limits.reason_bytes);
                Err(ScoreError::new(ErrorKind::InvalidConfig, message))
            }
            Ok(Ok(Err(error))) => Err(scorers_own(error, &self.limits)),
            Ok(Ok(Ok(answer))) => result::check(answer, self.info.scale, &self.limits),
        };
        let fuel = fuel_used(&store, &self.limits, result.as_ref().err());
        let memory_bytes = store.data().limiter.peak_bytes();
        let log = store.into_data().log.into_lines();
        Outcome { result, fuel, memory_bytes, duration: started.elapsed(), log, files }
    }

    async fn call(
        &self,
        store: &mut Store<State>,
        input: ScorerInput<'_>,
    ) -> Result<Result<ScoreResult, ScorerError>, Fault> {
        let instance: Scorer = self.image.instantiate_async(&mut *store).await?;
        let scoring = instance.scorebox_scorer_scoring();
        if let Some(config) = &self.configure_each_time {
            let configured = scoring.call_configure(&mut *store, config).await?;
            configured.map_err(Fault::Configure)?;
        }
        let answer = scoring.call_score(&mut *store, input.into()).await?;
        Ok(answer.map(ScoreResult::from).map_err(ScorerError::from))
    }
}

/// The fuel that is gone, where it is known.
pub(super) fn fuel_used(
    store: &Store<State>,
    limits: &Limits,
    error: Option<&ScoreError>,
) -> Option<u64> {
    if error.is_some_and(|error| error.kind == ErrorKind::TimedOut) {
        return None;
    }
    store.get_fuel().ok().map(|left| limits.fuel.saturating_sub(left))
}

/// Why a call has no answer.
enum Fault {
    Wasm(wasmtime::Error),
    Configure(String),
}

impl From<wasmtime::Error> for Fault {
    fn from(error: wasmtime::Error) -> Fault {
        Fault::Wasm(error)
    }
}

fn scorers_own(error: ScorerError, limits: &Limits) -> ScoreError {
    let (kind, message) = match error {
        ScorerError::InvalidInput(message) => (ErrorKind::InvalidInput, message),
        ScorerError::Failed(message) => (ErrorKind::Failed, message),
    };
    ScoreError::new(kind, fault::cut(&message, limits.reason_bytes))
}

/// A store with all limits set.
pub(super) fn new_store(
    shared: &Shared,
    limits: &Limits,
    seed: Seed,
    granted: Granted,
) -> Store<State> {
    let mut store = Store::new(&shared.engine, State::new(limits, seed, granted));
    store.limiter(|state| &mut state.limiter);
    // Fuel is on in every engine of ours, so this cannot fail; were it off, the score would trap.
    let _ = store.set_fuel(limits.fuel);
    store.set_hostcall_fuel(limits.transfer_bytes());
    store.set_max_component_handles(COMPONENT_HANDLES);
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|context| {
        if Instant::now() >= context.data().deadline {
            return Err(TimeIsUp.into());
        }
        // Others get their turn, and a time-out on this thread its chance to be seen.
        Ok(UpdateDeadline::Yield(1))
    });
    store
}
