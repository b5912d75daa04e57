//! Errors of the library as Python's exception `scorebox.ScoreboxError`: a kind for programs, a message for people, and
//! advice. The text of the advice is in `advice`.

use pyo3::{PyErr, Python, prelude::*, sync::PyOnceLock, types::PyType};
use scorebox::{
    advice::{Advice, Advised},
    case::BadCase,
    engine::EngineError,
    row::AnswerError,
    run::RunError,
    sandbox::ScoreError,
    suite::SuiteError,
};

use crate::advice::words;

/// Kinds in addition to those of `scorebox::sandbox::ErrorKind`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A caller passed a value that a function does not accept.
    InvalidArgument,
    /// A case is not valid.
    InvalidCase,
    /// A suite is not valid.
    InvalidSuite,
    /// There is no such scorer.
    UnknownScorer,
    /// A scorer differs from what it was when it was loaded.
    Changed,
    /// A file is not a shard, is damaged, or is of another run than the others; or there are not as many as expected.
    InvalidShard,
    /// Shards have different results for one case.
    Different,
    /// A file cannot be read.
    Unreadable,
    /// The database cannot store something, or lacks something that it should have.
    Database,
    /// Anything else.
    Failed,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Kind::InvalidArgument => "invalid-argument",
            Kind::InvalidCase => "invalid-case",
            Kind::InvalidSuite => "invalid-suite",
            Kind::UnknownScorer => "unknown-scorer",
            Kind::Changed => "changed",
            Kind::InvalidShard => "invalid-shard",
            Kind::Different => "different",
            Kind::Unreadable => "unreadable",
            Kind::Database => "database",
            Kind::Failed => "failed",
        }
    }
}

/// The exception's class, which is written in Python so that it can be pickled.
fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "scorebox._errors", "ScoreboxError")
}

fn exception(py: Python<'_>, kind: &str, message: &str, advice: Option<&str>) -> PyErr {
    match class(py).and_then(|class| class.call1((kind, message, advice))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// An error of this kind.
pub(crate) fn new(py: Python<'_>, kind: Kind, message: String) -> PyErr {
    exception(py, kind.as_str(), &message, None)
}

/// An error of this kind with advice, as text.
pub(crate) fn advised(
    py: Python<'_>,
    kind: Kind,
    message: String,
    advice: Option<String>,
) -> PyErr {
    exception(py, kind.as_str(), &message, advice.as_deref())
}

/// The exception with another message, if it is an exception of this package.
pub(crate) fn within(py: Python<'_>, error: PyErr, message: impl FnOnce(&str) -> String) -> PyErr {
    let text = |name: &str| error.value(py).getattr(name).and_then(|text| text.extract::<String>());
    match (text("kind"), text("message")) {
        (Ok(kind), Ok(said)) => {
            exception(py, &kind, &message(&said), text("advice").ok().as_deref())
        }
        _ => error,
    }
}

/// The exception for published scorers that cannot be used as they are locked.
pub(crate) fn of_lock(py: Python<'_>, error: scorebox_cli::NotAsLocked) -> PyErr {
    advised(py, Kind::InvalidSuite, error.message, error.hint)
}

/// The exception for a bundle that cannot be used.
pub(crate) fn of_bundle(py: Python<'_>, error: scorebox_cli::UnusableBundle) -> PyErr {
    advised(py, Kind::InvalidSuite, error.message, error.hint)
}

/// The exception of this kind for an error of the library. Several errors that were found at once become one exception,
/// a line each.
pub(crate) fn of(py: Python<'_>, kind: Kind, error: &dyn Advised) -> PyErr {
    of_word(py, kind.as_str(), error)
}

fn of_word(py: Python<'_>, kind: &str, error: &dyn Advised) -> PyErr {
    let (mut messages, mut advice) = (Vec::new(), Vec::<String>::new());
    for (message, to_do) in error.each() {
        messages.push(message);
        advice.extend(to_do.as_ref().and_then(words).filter(|words| !advice.contains(words)));
    }
    let advice = (!advice.is_empty()).then(|| advice.join("\n"));
    exception(py, kind, &messages.join("\n"), advice.as_deref())
}

/// The exception for a missing score.
pub(crate) fn of_score(py: Python<'_>, error: &ScoreError) -> PyErr {
    let advice = error.advice.as_ref().and_then(words);
    exception(py, error.kind.as_str(), &error.message, advice.as_deref())
}

/// The exception for a row without a score.
pub(crate) fn of_answer(py: Python<'_>, error: &AnswerError) -> PyErr {
    of_row(py, error, error.advice.as_ref().and_then(words).as_deref())
}

/// The same, with the advice as text.
pub(crate) fn of_row(py: Python<'_>, error: &AnswerError, advice: Option<&str>) -> PyErr {
    exception(py, &error.kind, &error.message, advice)
}

/// The exception for a case that is not valid.
pub(crate) fn of_case(py: Python<'_>, error: &BadCase) -> PyErr {
    of(py, Kind::InvalidCase, error)
}

/// The exception for a suite that cannot be used.
pub(crate) fn of_suite(py: Python<'_>, error: &SuiteError) -> PyErr {
    let kind = match error {
        SuiteError::Unreadable { .. } => Kind::Unreadable,
        SuiteError::NoSuchScorer { .. } => Kind::UnknownScorer,
        _ => Kind::InvalidSuite,
    };
    of(py, kind, error)
}

/// The exception for a run that did not start, or did not end well.
pub(crate) fn of_run(py: Python<'_>, error: &RunError) -> PyErr {
    let kind = match error {
        RunError::NotFound { .. } => Kind::UnknownScorer,
        RunError::Scorer { error: inner, .. } | RunError::Condition { error: inner, .. } => {
            return of_word(py, inner.kind.as_str(), error);
        }
        RunError::Policy { .. } => Kind::InvalidSuite,
        RunError::Cases(_) | RunError::NoCases { first_bad: None } => Kind::Unreadable,
        RunError::NoCases { first_bad: Some(_) } => Kind::InvalidCase,
        RunError::Store(_) | RunError::BrokeOff { .. } => Kind::Database,
        RunError::NotTheSame { .. } | RunError::NothingToResume { .. } => Kind::InvalidArgument,
        _ => Kind::Failed,
    };
    of(py, kind, error)
}

/// The exception for an engine, a scorer or a run that cannot be started.
pub(crate) fn of_engine(py: Python<'_>, error: &EngineError) -> PyErr {
    match error {
        EngineError::Sandbox(error) => of_score(py, error),
        EngineError::Suite(error) => of_suite(py, error),
        EngineError::Scorer(error) => of_run(py, error),
        EngineError::Workspace(error) => of(py, Kind::Unreadable, error),
        other => of(py, Kind::InvalidArgument, other),
    }
}

/// The advice as text.
pub(crate) fn in_words(advice: Option<&Advice>) -> Option<String> {
    advice.and_then(words)
}
