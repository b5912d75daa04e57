//! One score: a fresh store, a fresh instance, one call, and everything is thrown away.

use std::time::Duration;

use wasmtime::Store;

use crate::{
    contract::{LogLine, ScoreResult, ScorerInput},
    digest::Digest,
};

use super::{
    LoadedScorer, ScoreError,
    guest_call::{Cost, Fault, Guest, GuestCall},
    result,
    state::State,
    wasi::Seed,
};

/// The outcome of one score, and what it cost.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The result, within its limits, or why it is missing.
    pub result: Result<ScoreResult, ScoreError>,
    /// Fuel used, instantiation included; `None` if the time-out ended the score, for then wasmtime
    /// does not tell.
    pub fuel: Option<u64>,
    /// The most bytes of memories and tables in use at once.
    pub memory_bytes: u64,
    /// How long it took.
    pub duration: Duration,
    /// What the scorer logged, within its limits.
    pub log: Vec<LogLine>,
    /// The digest of the files that it was shown; `None` if it was shown none. With it,
    /// [`ScorerInput::digest`] names all that the scorer was given.
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
    /// Scores one case in its own sandbox, with the parts of it that the scorer says it reads, and
    /// the files where it imports them. Reads these and waits for a place first. Nothing runs where the files
    /// cannot be read: that is an `invalid-input`, or a `timed-out` if it takes longer than the score may.
    pub async fn score(&self, input: ScorerInput<'_>) -> Outcome {
        let shared = self.sandbox.shared();
        let input = input.only(self.info.reads);
        let granted = shared.capabilities.for_score(self.needs, &input, &self.limits).await;
        let granted = match granted {
            Ok(granted) => granted,
            Err(error) => return Outcome::not_begun(error),
        };
        let files = granted.files_digest();
        let seed = if self.seeded { Seed::of(input.digest(files)) } else { Seed::OF_LOADING };
        let mut guest = Guest::admit_with(shared, &self.limits, seed, granted).await;
        let call = Score { scorer: self, input };
        let check = |answer| result::check(answer, self.info.scale, &self.limits);
        let result = guest.ask(call, check).await;
        let Cost { fuel, memory_bytes, duration, log } = guest.cost();
        Outcome { result, fuel, memory_bytes, duration, log, files }
    }
}

/// What the scorer says about one case.
struct Score<'a> {
    scorer: &'a LoadedScorer,
    input: ScorerInput<'a>,
}

impl GuestCall for Score<'_> {
    type Answer = ScoreResult;

    const EXPORT: Option<&'static str> = None;

    async fn ask(self, store: &mut Store<State>) -> Result<ScoreResult, Fault> {
        let LoadedScorer { image, configure_each_time, .. } = self.scorer;
        let (_, scorer) = image.start(store, configure_each_time.as_deref()).await?;
        let scoring = scorer.scorebox_scorer_scoring();
        let answer = scoring.call_score(store, self.input.into()).await?;
        answer.map(ScoreResult::from).map_err(|error| Fault::Scorer(error.into()))
    }
}
