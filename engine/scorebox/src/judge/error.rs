//! Why a question has no answer that a scorer could use. `sandbox` decides what that means for the score.

use crate::advice::Advice;

use super::{AskErrorKind, Spent};

/// The judge's name, and the scorer's, if it has one.
pub(super) type Names<'a> = (&'a str, Option<&'a str>);

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct JudgeError {
    /// The kind, for programs.
    pub kind: JudgeErrorKind,
    /// What happened: which judge, and its message.
    pub message: String,
    /// What to do about it, if that depends on more than the kind.
    pub advice: Option<Advice>,
}

/// The kind of a [`JudgeError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JudgeErrorKind {
    /// The question is not valid, which is the scorer's mistake.
    InvalidQuestion,
    /// The scorer names a model that its entry does not allow.
    ModelNotAllowed,
    /// A budget is spent.
    OverBudget(BudgetOf),
    /// It is unknown how much of a budget in US dollars is left.
    CostUnknown(BudgetOf),
    /// The provider refuses the question.
    Refused,
    /// The provider cannot be reached, or fails.
    Unavailable,
    /// There was no answer in time.
    TimedOut,
    /// The provider has asked to wait for so long, without answering any call, that further questions are of no use
    /// now.
    Limited,
    /// It was stopped before the question was sent.
    Stopped,
    /// Only recorded answers are allowed, and this one is not recorded.
    NotRecorded,
    /// Recordings cannot be read or written.
    Recordings,
}

/// Whose budget it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BudgetOf {
    /// The budget of the whole run.
    Run,
    /// The budget of a judge.
    Judge,
    /// The budget of a scorer.
    Scorer,
}

impl JudgeError {
    pub(super) fn new(kind: JudgeErrorKind, message: impl Into<String>) -> JudgeError {
        JudgeError { kind, message: message.into(), advice: None }
    }

    pub(super) fn spent(whose: BudgetOf, (judge, scorer): Names<'_>, spent: &Spent) -> JudgeError {
        let whose_words = match (whose, scorer) {
            (BudgetOf::Run, _) => "the run".to_owned(),
            (BudgetOf::Judge, _) => format!("judge `{judge}`"),
            (BudgetOf::Scorer, Some(scorer)) => format!("scorer `{scorer}`"),
            (BudgetOf::Scorer, None) => "the scorer".to_owned(),
        };
        let kind = match spent {
            Spent::CostUnknown(_) => JudgeErrorKind::CostUnknown(whose),
            Spent::Calls(_) | Spent::Cost { .. } => JudgeErrorKind::OverBudget(whose),
        };
        JudgeError::new(kind, format!("{whose_words}: {spent}"))
    }

    /// The call was stopped while it waited to be sent.
    pub(super) fn stopped(judge: &str) -> JudgeError {
        let message = format!("judge `{judge}`: stopped before the question was sent");
        JudgeError::new(JudgeErrorKind::Stopped, message)
    }
}

impl From<AskErrorKind> for JudgeErrorKind {
    fn from(kind: AskErrorKind) -> JudgeErrorKind {
        match kind {
            AskErrorKind::Refused => JudgeErrorKind::Refused,
            AskErrorKind::Unavailable => JudgeErrorKind::Unavailable,
            AskErrorKind::TimedOut => JudgeErrorKind::TimedOut,
            AskErrorKind::Limited => JudgeErrorKind::Limited,
            AskErrorKind::Stopped => JudgeErrorKind::Stopped,
        }
    }
}
