//! Every reason why a score is missing: a kind for programs, a message for people, and advice about what to do.

use serde::Serialize;

use crate::{
    advice::{Advice, Advised, Limit},
    component_bytes::DamagedComponent,
};

/// Why a component could not be loaded, or a case could not be scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// Not a component, or not a component of this contract.
    InvalidComponent,
    /// It imports something that the user did not grant.
    MissingGrant,
    /// The configuration is not valid: a check before, or the scorer's `configure`, refuses it.
    InvalidConfig,
    /// The scorer is a script that cannot be run, because of its syntax, an exception at its top level, or its exports.
    InvalidScript,
    /// The scorer cannot read the case.
    InvalidInput,
    /// The scorer reports that it failed.
    Failed,
    /// The scorer crashed.
    Trap,
    /// It used up its fuel.
    OutOfFuel,
    /// It requested more memory than its limit.
    OutOfMemory,
    /// It took too long.
    TimedOut,
    /// Its result is outside the contract: NaN, infinite, off the scale.
    InvalidScore,
    /// Its result is larger than the limit.
    OutputTooLarge,
    /// A judge's budget is spent.
    JudgeOverBudget,
    /// A judge's provider refuses the question.
    JudgeRefused,
    /// A judge's provider cannot be reached, or fails.
    JudgeUnavailable,
    /// A judge did not answer in time.
    JudgeTimedOut,
    /// The scorer cannot read the judge's answer.
    JudgeUnreadable,
    /// Only recorded answers are allowed, and the answer to the scorer's question is not recorded.
    JudgeNotRecorded,
    /// A judge's provider has asked to wait for so long, without answering anybody, that further questions are of no
    /// use now.
    JudgeLimited,
    /// The run was stopped before the question was sent.
    JudgeStopped,
    /// The system had no more open files, memory or threads for it.
    OutOfResources,
    /// The case says that the task failed, so there is nothing to score, and the scorer was not run.
    TaskFailed,
}

impl ErrorKind {
    /// All kinds.
    pub const ALL: [ErrorKind; 22] = [
        ErrorKind::InvalidComponent,
        ErrorKind::MissingGrant,
        ErrorKind::InvalidConfig,
        ErrorKind::InvalidScript,
        ErrorKind::InvalidInput,
        ErrorKind::Failed,
        ErrorKind::Trap,
        ErrorKind::OutOfFuel,
        ErrorKind::OutOfMemory,
        ErrorKind::TimedOut,
        ErrorKind::InvalidScore,
        ErrorKind::OutputTooLarge,
        ErrorKind::JudgeOverBudget,
        ErrorKind::JudgeRefused,
        ErrorKind::JudgeUnavailable,
        ErrorKind::JudgeTimedOut,
        ErrorKind::JudgeUnreadable,
        ErrorKind::JudgeNotRecorded,
        ErrorKind::JudgeLimited,
        ErrorKind::JudgeStopped,
        ErrorKind::OutOfResources,
        ErrorKind::TaskFailed,
    ];

    /// The name that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            ErrorKind::InvalidComponent => "invalid-component",
            ErrorKind::MissingGrant => "missing-grant",
            ErrorKind::InvalidConfig => "invalid-config",
            ErrorKind::InvalidScript => "invalid-script",
            ErrorKind::InvalidInput => "invalid-input",
            ErrorKind::Failed => "failed",
            ErrorKind::Trap => "trap",
            ErrorKind::OutOfFuel => "out-of-fuel",
            ErrorKind::OutOfMemory => "out-of-memory",
            ErrorKind::TimedOut => "timed-out",
            ErrorKind::InvalidScore => "invalid-score",
            ErrorKind::OutputTooLarge => "output-too-large",
            ErrorKind::JudgeOverBudget => "judge-over-budget",
            ErrorKind::JudgeRefused => "judge-refused",
            ErrorKind::JudgeUnavailable => "judge-unavailable",
            ErrorKind::JudgeTimedOut => "judge-timed-out",
            ErrorKind::JudgeUnreadable => "judge-unreadable",
            ErrorKind::JudgeNotRecorded => "judge-not-recorded",
            ErrorKind::JudgeLimited => "judge-limited",
            ErrorKind::JudgeStopped => "judge-stopped",
            ErrorKind::OutOfResources => "out-of-resources",
            ErrorKind::TaskFailed => "task-failed",
        }
    }

    /// Whether it says nothing about the case, but that the run cannot go on: no more questions are asked, or the machine
    /// has no room. No row is stored, and the score is computed when the run is resumed.
    pub(crate) const fn ends_the_run(self) -> bool {
        matches!(
            self,
            ErrorKind::JudgeOverBudget
                | ErrorKind::JudgeLimited
                | ErrorKind::JudgeStopped
                | ErrorKind::OutOfResources
        )
    }

    /// The kind with this name; `None` if no kind has it.
    pub fn from_word(word: &str) -> Option<ErrorKind> {
        ErrorKind::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// What to do about an error if only its kind is known, as for a stored error. `None` if the kind alone allows no
    /// advice.
    pub fn advice(self) -> Option<Advice> {
        match self {
            ErrorKind::OutOfFuel => Some(Advice::Raise(Limit::Fuel)),
            ErrorKind::OutOfMemory => Some(Advice::Raise(Limit::Memory)),
            ErrorKind::TimedOut => Some(Advice::Raise(Limit::Timeout)),
            ErrorKind::OutputTooLarge => Some(Advice::Shorten(Limit::OF_OUTPUT.to_vec())),
            ErrorKind::JudgeOverBudget => Some(Advice::Raise(Limit::JudgeBudget)),
            ErrorKind::JudgeTimedOut => Some(Advice::Raise(Limit::JudgeTimeout)),
            ErrorKind::JudgeUnreadable => Some(Advice::AskAgain),
            ErrorKind::JudgeNotRecorded => Some(Advice::Record),
            _ => None,
        }
    }
}

impl std::fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why there is no score.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{kind}: {message}")]
#[non_exhaustive]
pub struct ScoreError {
    /// The kind, for programs.
    pub kind: ErrorKind,
    /// What happened, in full sentences; may have several lines (a trap's backtrace).
    pub message: String,
    /// What to do about it.
    pub advice: Option<Advice>,
    /// The key of the configuration that is wrong, or that contains the mistake, if that is known before the scorer
    /// runs.
    pub config_key: Option<String>,
}

impl ScoreError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> ScoreError {
        ScoreError { kind, message: message.into(), advice: None, config_key: None }
    }

    pub(crate) fn with(mut self, advice: Advice) -> ScoreError {
        self.advice = Some(advice);
        self
    }
}

impl From<DamagedComponent> for ScoreError {
    fn from(damaged: DamagedComponent) -> ScoreError {
        ScoreError::new(ErrorKind::InvalidComponent, damaged.to_string())
    }
}

impl Advised for ScoreError {
    fn advice(&self) -> Option<Advice> {
        self.advice.clone()
    }
}
