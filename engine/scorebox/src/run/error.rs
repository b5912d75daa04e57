//! Why a run did not start, or did not end well.

use crate::{
    advice::{Advice, Advised, Form},
    case::ReadError,
    registry::{Origin, RegistryError},
    sandbox::ScoreError,
    store::{RunId, RunRecord, ScorerRecord, StoreError},
    suite::{Place, Sampling, ScorerId},
    verdict::PolicyError,
};

use super::{ReadyCondition, ReadyScorer, json};

/// Why a run did not start, or did not end well.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A scorer does not exist.
    #[error("{}{error}", at(place.as_ref()))]
    NotFound {
        /// Where the suite names it.
        place: Option<Place>,
        /// Why not.
        error: RegistryError,
    },
    /// A scorer cannot be used.
    #[error("{}scorer `{id}` ({origin}): {error}", at(place.as_ref()))]
    Scorer {
        /// Its name in the suite.
        id: ScorerId,
        /// Where its bytes are from.
        origin: Origin,
        /// Where the suite names it.
        place: Option<Place>,
        /// Why not.
        error: Box<ScoreError>,
    },
    /// The `when` of a scorer is not an expression.
    #[error("{}`when` of the scorer `{id}`: {error}", at(place.as_ref()))]
    Condition {
        /// The scorer's name in the suite.
        id: ScorerId,
        /// Where the suite says so.
        place: Option<Place>,
        /// Why not.
        error: Box<ScoreError>,
    },
    /// A scorer's scores cannot count as the suite says.
    #[error("{}scorer `{id}`: {error}", at(place.as_ref()))]
    Policy {
        /// Its name in the suite.
        id: ScorerId,
        /// Where the suite says so.
        place: Option<Place>,
        /// Why not.
        error: PolicyError,
    },
    /// Several of the above: of several scorers, or of several parts of one.
    #[error("{}", lines(.0))]
    Unusable(Vec<RunError>),
    /// The first case cannot be read; nothing was scored.
    #[error(transparent)]
    Cases(#[from] ReadError),
    /// There are no cases.
    #[error("there are no cases to score: {}", .first_bad.as_deref().map_or_else(
        || "what was read is empty".to_owned(),
        |bad| format!("no line is a valid case; the first: {bad}"),
    ))]
    NoCases {
        /// What is wrong with the first invalid line, if there are lines.
        first_bad: Option<String>,
    },
    /// It was stopped before there was a case; there is no run to resume.
    #[error("the run was stopped before its first case and has stored nothing")]
    Stopped,
    /// The run that is to be resumed was another one.
    #[error("the run `{run}` cannot be resumed like this: {reason}")]
    NotTheSame {
        /// The run.
        run: RunId,
        /// What differs.
        reason: String,
    },
    /// No database has the run that is to be resumed.
    #[error("the run `{run}` cannot be resumed: no database is named")]
    NothingToResume {
        /// The run.
        run: RunId,
    },
    /// The database refuses it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The database took a part of the run, and no more. The run can be resumed.
    #[error("{error}")]
    BrokeOff {
        /// The run.
        run: RunId,
        /// Why no more.
        error: StoreError,
    },
    /// A part of the run ended by a panic, which is a bug.
    #[error("a part of the run failed: {0}")]
    Broken(String),
}

impl Advised for RunError {
    fn advice(&self) -> Option<Advice> {
        match self {
            RunError::NotFound { error, .. } => error.advice(),
            RunError::Scorer { error, .. } | RunError::Condition { error, .. } => error.advice(),
            RunError::Unusable(errors) => errors.first()?.advice(),
            RunError::Cases(error) => error.advice(),
            RunError::NoCases { .. } => Some(Advice::Write(Form::Case)),
            RunError::NotTheSame { .. } => Some(Advice::SameScorers),
            RunError::Stopped | RunError::NothingToResume { .. } | RunError::Policy { .. } => None,
            RunError::Store(error) | RunError::BrokeOff { error, .. } => error.advice(),
            RunError::Broken(_) => Some(Advice::Report),
        }
    }

    fn each(&self) -> Vec<(String, Option<Advice>)> {
        match self {
            RunError::Unusable(errors) => errors.iter().flat_map(RunError::each).collect(),
            one => vec![(one.to_string(), one.advice())],
        }
    }
}

impl RunError {
    /// These errors, of which there is at least one, as one.
    pub(super) fn of_all(mut errors: Vec<RunError>) -> RunError {
        match errors.len() {
            1 => errors.remove(0),
            _ => RunError::Unusable(errors),
        }
    }

    /// Where the suite says what is wrong, if it is a mistake of a suite file.
    pub fn place(&self) -> Option<&Place> {
        match self {
            RunError::NotFound { place, .. }
            | RunError::Scorer { place, .. }
            | RunError::Condition { place, .. }
            | RunError::Policy { place, .. } => place.as_ref(),
            _ => None,
        }
    }
}

fn lines(errors: &[RunError]) -> String {
    errors.iter().map(RunError::to_string).collect::<Vec<_>>().join("\n")
}

fn at(place: Option<&Place>) -> String {
    place.map(|place| format!("{place}: ")).unwrap_or_default()
}

/// Refuses to mix the scores of two different suites in one run.
pub(super) fn must_be_the_same(
    run: &RunRecord,
    stored: &[ScorerRecord],
    seed: &str,
    scorers: &[ReadyScorer],
) -> Result<(), RunError> {
    let differs = |reason: String| Err(RunError::NotTheSame { run: run.spec.id.clone(), reason });
    let names = |names: &mut dyn Iterator<Item = &str>| names.collect::<Vec<_>>().join(", ");
    let before = names(&mut stored.iter().map(|scorer| scorer.spec.scorer_id.as_str()));
    let now = names(&mut scorers.iter().map(|scorer| scorer.id.as_str()));
    if before != now {
        return differs(format!("its scorers are {before}; now they are {now}"));
    }
    for (before, now) in stored.iter().zip(scorers) {
        if before.spec.component_digest != now.scorer.digest() {
            return differs(format!("the component of `{}` has changed", now.id));
        }
        if before.spec.config_digest != now.scorer.config().digest() {
            return differs(format!("the configuration of `{}` has changed", now.id));
        }
        if before.spec.limits_json != json(now.scorer.limits()) {
            return differs(format!("the limits of `{}` have changed", now.id));
        }
        if before.spec.grants_json != json(&now.grants.iter().collect::<Vec<_>>()) {
            return differs(format!("the grants of `{}` have changed", now.id));
        }
        let (selection, spec) = (&now.selection, &before.spec);
        if spec.sampling_json != selection.sampling_json() {
            return differs(format!("the sampling of `{}` has changed", now.id));
        }
        if spec.nodes_json != selection.nodes_json() {
            return differs(format!("the nodes of `{}` have changed", now.id));
        }
        let asked = |ready: &ReadyCondition| {
            (ready.scorer.digest(), ready.scorer.config().as_str().to_owned())
        };
        let before =
            spec.condition.as_ref().map(|it| (it.component_digest, it.config_json.clone()));
        if before != now.condition.as_ref().map(asked) {
            return differs(format!("`when` of `{}` has changed", now.id));
        }
        if spec.subject.as_deref() != now.subject.as_ref().map(ScorerId::as_str) {
            return differs(format!("whose results `{}` scores has changed", now.id));
        }
        if !spec.policy().counts_as(&now.policy) {
            let reason = "severity, threshold, weight or `required` of";
            return differs(format!("{reason} `{}` have changed", now.id));
        }
    }
    let draws = |ready: &ReadyScorer| matches!(ready.selection.sampling, Sampling::Ratio { .. });
    let before = run.spec.seed.as_deref();
    match before.filter(|before| *before != seed && scorers.iter().any(draws)) {
        Some(before) => differs(format!("its seed is `{before}`; now it is `{seed}`")),
        None => Ok(()),
    }
}
