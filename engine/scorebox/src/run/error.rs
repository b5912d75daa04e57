//! Why a run did not start, or did not end well. Why it ended before its last case is in `control`.

use std::path::Path;

use crate::{
    advice::{Advice, Advised, Form},
    case::ReadError,
    input_file::InputFileError,
    registry::{Origin, RegistryError},
    sandbox::ScoreError,
    store::{RunId, StoreError},
    suite::{Location, ScorerId},
    verdict::PolicyError,
};

use super::Stop;

/// Why a run did not start, or did not end well.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A scorer does not exist.
    #[error("{}{error}", at(location.as_ref()))]
    NotFound {
        /// Where the suite names the scorer.
        location: Option<Location>,
        /// The suite file that names it, if there is one.
        suite: Option<Box<Path>>,
        /// Why it does not exist.
        error: RegistryError,
    },
    /// A scorer cannot be used.
    #[error("{}scorer `{id}` ({origin}): {error}", at(location.as_ref()))]
    Scorer {
        /// Its name in the suite.
        id: ScorerId,
        /// Where its bytes come from.
        origin: Origin,
        /// Where the suite names it.
        location: Option<Location>,
        /// Why it cannot be used.
        error: Box<ScoreError>,
    },
    /// The `when` of a scorer is not a valid expression.
    #[error("{}`when` of the scorer `{id}`: {error}", at(location.as_ref()))]
    Condition {
        /// The scorer's name in the suite.
        id: ScorerId,
        /// Where the suite has it.
        location: Option<Location>,
        /// What is wrong with it.
        error: Box<ScoreError>,
    },
    /// A scorer's scores cannot count as the suite requires.
    #[error("{}scorer `{id}`: {error}", at(location.as_ref()))]
    Policy {
        /// Its name in the suite.
        id: ScorerId,
        /// Where the suite requires it.
        location: Option<Location>,
        /// Why they cannot.
        error: PolicyError,
    },
    /// Several of the above errors, of several scorers, or of several parts of one.
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
    /// It was stopped before there was a case, so there is no run to resume.
    #[error("the run was stopped before its first case and has stored nothing")]
    Stopped,
    /// The run to resume began with other options.
    #[error("the run `{run}` cannot be resumed like this: {reason}")]
    NotTheSame {
        /// The run.
        run: RunId,
        /// What differs.
        reason: String,
    },
    /// No database was named for the run to resume.
    #[error("the run `{run}` cannot be resumed: no database is named")]
    NothingToResume {
        /// The run.
        run: RunId,
    },
    /// The database refuses the run.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The database accepted a part of the run, but no more. The run can be resumed.
    #[error("{error}")]
    BrokeOff {
        /// The run.
        run: RunId,
        /// Why it accepted no more.
        error: StoreError,
    },
    /// The system has no more open files, memory or threads for scores.
    #[error("{message}")]
    OutOfResources {
        /// What it says.
        message: String,
        /// What to do about it.
        advice: Option<Advice>,
    },
    /// A part of the run ended by a panic, which is a bug.
    #[error("a part of the run failed: {0}")]
    Broken(String),
}

/// The same advice, for a scorer that this suite file uses.
fn in_suite(advice: Advice, suite: Option<&Path>) -> Advice {
    let suite = suite.map(Box::from);
    match advice {
        Advice::Lock { address, .. } => Advice::Lock { address, suite },
        Advice::Fetch { .. } => Advice::Fetch { suite },
        other => other,
    }
}

impl Advised for RunError {
    fn advice(&self) -> Option<Advice> {
        match self {
            RunError::NotFound {
                location: Some(_),
                error: RegistryError::Unreadable { source: InputFileError::NotFound, .. },
                ..
            } => Some(Advice::Write(Form::PathInSuite)),
            RunError::NotFound { suite, error, .. } => {
                error.advice().map(|advice| in_suite(advice, suite.as_deref()))
            }
            RunError::Scorer { error, .. } | RunError::Condition { error, .. } => error.advice(),
            RunError::Unusable(errors) => errors.first()?.advice(),
            RunError::Cases(error) => error.advice(),
            RunError::NoCases { .. } => Some(Advice::Write(Form::Case)),
            RunError::NotTheSame { .. } => Some(Advice::SameScorers),
            RunError::Stopped | RunError::NothingToResume { .. } | RunError::Policy { .. } => None,
            RunError::Store(error) | RunError::BrokeOff { error, .. } => error.advice(),
            RunError::OutOfResources { advice, .. } => advice.clone(),
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
    /// The end of a run whose rows nobody can use before all are there.
    pub(crate) fn of_stop(stop: Stop) -> RunError {
        match stop {
            Stop::OutOfResources { message, advice } => {
                RunError::OutOfResources { message, advice }
            }
            other => RunError::Broken(other.to_string()),
        }
    }

    /// These errors, of which there is at least one, as one.
    pub(super) fn of_all(mut errors: Vec<RunError>) -> RunError {
        match errors.len() {
            1 => errors.remove(0),
            _ => RunError::Unusable(errors),
        }
    }

    /// The place in the suite file, if the error is a mistake there.
    pub fn location(&self) -> Option<&Location> {
        match self {
            RunError::NotFound { location, .. }
            | RunError::Scorer { location, .. }
            | RunError::Condition { location, .. }
            | RunError::Policy { location, .. } => location.as_ref(),
            _ => None,
        }
    }
}

fn lines(errors: &[RunError]) -> String {
    errors.iter().map(RunError::to_string).collect::<Vec<_>>().join("\n")
}

fn at(location: Option<&Location>) -> String {
    location.map(|location| format!("{location}: ")).unwrap_or_default()
}
