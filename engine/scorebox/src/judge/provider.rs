//! Who answers questions, as the rest of the library sees it. What speaks HTTP or starts programs is elsewhere.

use std::{fmt, future::Future, pin::Pin, time::Duration};

use super::{Answer, Question};

/// A future in a box, which other threads may poll.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Who answers questions: a server, a program, a file of recordings.
///
/// It keeps its own limits of concurrency and rate, tries again where that helps, and ends what takes too long. Dropping
/// the future ends the call.
pub trait Provider: fmt::Debug + Send + Sync {
    /// Its kind, as suites name it: `openai`, `anthropic`, `command`, `recorded`. Part of a call's digest.
    fn kind(&self) -> &'static str;

    /// Where it is: the base URL, or the command. Part of a call's digest; never holds a secret.
    fn place(&self) -> &str;

    /// Asks once, as far as the caller sees. The answer may take `within` from when the question is first sent; waiting for
    /// a place before that does not count.
    fn ask<'a>(
        &'a self,
        question: &'a Question,
        within: Duration,
    ) -> BoxFuture<'a, Result<Answer, AskError>>;

    /// What it is doing at this moment.
    fn load(&self) -> Load {
        Load::default()
    }
}

/// The calls that a provider has in hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Load {
    /// Calls that wait for a place, for the rate, or for another attempt.
    pub waiting: u64,
    /// Calls that were sent and have no answer yet.
    pub running: u64,
    /// Attempts beyond the first of each call, so far.
    pub retries: u64,
}

impl Load {
    /// So many that wait, run, and were tried again.
    pub fn new(waiting: u64, running: u64, retries: u64) -> Load {
        Load { waiting, running, retries }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct AskError {
    /// What kind of trouble it is.
    pub kind: AskErrorKind,
    /// What happened, in at most some hundred bytes: who said what. Never holds a key.
    pub message: String,
    /// How often the provider was asked; 0 if it was not.
    pub attempts: u32,
}

impl AskError {
    /// An error of this kind after so many attempts.
    pub fn new(kind: AskErrorKind, message: impl Into<String>, attempts: u32) -> AskError {
        AskError { kind, message: message.into(), attempts }
    }
}

/// What kind of trouble it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AskErrorKind {
    /// The provider does not take the question: the key, the model, a parameter, the content.
    Refused,
    /// The provider cannot be reached, or fails.
    Unavailable,
    /// No answer within the time-out.
    TimedOut,
}
