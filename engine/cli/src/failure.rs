//! Why a command ends, and its exit code. Prints nothing.

use std::process::ExitCode;

use scorebox::{
    build::BuildError,
    case::{BadCase, MappingError, SourceError},
    registry::RegistryError,
    run::RunError,
    sandbox::ScoreError,
    store::StoreError,
    suite::{BadLimit, SuiteError},
    verify::ReceiptError,
    workspace::WorkspaceError,
};

/// How a command ended. README.md lists these codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// All was done.
    Done = 0,
    /// All was done, and some scores are errors.
    SomeErrors = 1,
    /// Nothing, or not all, was done: usage or bad input.
    BadInput = 2,
    /// The user interrupted it.
    Interrupted = 130,
    /// Whoever started it ended it: a service manager, a scheduler.
    Terminated = 143,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Why a command could not do what it was asked.
#[derive(Debug)]
pub struct Failure {
    pub message: String,
    pub hint: Option<String>,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), hint: None }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }
}

/// An error of a room, with that room's hint.
macro_rules! from_error {
    ($($error:ty, $hint:expr;)*) => { $(
        impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                let hint: fn(&$error) -> Option<String> = $hint;
                Failure { message: error.to_string(), hint: hint(&error) }
            }
        }
    )* };
}

from_error! {
    BuildError, |error| error.hint().map(str::to_owned);
    BadLimit, |_| Some("for instance `--limit meta=4MiB`".into());
    BadCase, |error| error.hint().map(str::to_owned);
    MappingError, MappingError::hint;
    SourceError, SourceError::hint;
    ReceiptError, ReceiptError::hint;
    RegistryError, RegistryError::hint;
    RunError, RunError::hint;
    ScoreError, |error| error.hint.clone();
    StoreError, |error| Some(error.hint());
    SuiteError, SuiteError::hint;
    WorkspaceError, |error| Some(error.hint().to_owned());
    serde_json::Error, |_| None;
}
