//! Why a command ends, and its exit code; why output is incomplete. It prints nothing.

use std::{env, io};

use scorebox::{
    advice::{Advice, Advised},
    store::StoreError,
};

use crate::advice;

/// How a command ended. docs/commands.md lists these codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// All was done.
    Done = 0,
    /// All was done, and some scores are errors.
    SomeErrors = 1,
    /// Wrong usage or bad input: it did not start, or did not finish.
    BadInput = 2,
    /// All was done, and a requirement of the run is broken: a gate failed cases, or a mean, a rate or a number of
    /// errors is outside its limit.
    BrokenRequirement = 3,
    /// The user interrupted it.
    Interrupted = 130,
    /// Another program ended it: a service manager, a scheduler.
    Terminated = 143,
}

/// Why a command could not do what it was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    pub message: String,
    pub hint: Option<String>,
    /// The other errors, if several were found at once: messages and hints.
    pub others: Vec<(String, Option<String>)>,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), hint: None, others: Vec::new() }
    }

    /// Data cannot be written to standard output.
    pub(crate) fn stdout(error: &io::Error) -> Failure {
        Failure::new(format!("cannot write to standard output: {error}"))
    }

    /// There is no temporary folder to work in.
    pub(crate) fn temporary_folder(error: &io::Error) -> Failure {
        Failure::new(format!("cannot make a temporary folder: {error}"))
            .hint("name a folder that can be written in TMPDIR")
    }

    /// The temporary database of the command cannot store the scores, or cannot return them.
    pub(crate) fn temporary_database(error: &StoreError) -> Failure {
        let folder = env::temp_dir();
        Failure::new(format!(
            "cannot keep the scores in the temporary folder `{}`: {error}",
            folder.display()
        ))
        .hint("make room there, or name another folder in TMPDIR")
    }

    /// All errors in one failure, messages with their hints; `None` if there are no errors.
    pub(crate) fn of_each(
        mut each: impl Iterator<Item = (String, Option<String>)>,
    ) -> Option<Failure> {
        let (message, hint) = each.next()?;
        Some(Failure { message, hint, others: each.collect() })
    }

    /// Several failures in one, as they were found at once; `None` if there are none.
    pub(crate) fn of_all(failures: Vec<Failure>) -> Option<Failure> {
        let each = failures.into_iter().flat_map(|Failure { message, hint, others }| {
            [(message, hint)].into_iter().chain(others)
        });
        Failure::of_each(each)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }
}

/// An error of the library, with what to do about it in terms of the command line.
impl<E: Advised> From<E> for Failure {
    fn from(error: E) -> Failure {
        let words = |advice: Option<Advice>| advice.as_ref().and_then(advice::words);
        let each = error.each().into_iter().map(|(message, advice)| (message, words(advice)));
        Failure::of_each(each).unwrap_or_else(|| Failure::new(error.to_string()))
    }
}

/// Why output is incomplete.
#[derive(Debug)]
pub(crate) enum WriteError {
    /// Writing failed.
    Io(io::Error),
    /// The data to write could not be made, or not all of it.
    Failure(Failure),
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> WriteError {
        WriteError::Io(error)
    }
}

impl From<Failure> for WriteError {
    fn from(failure: Failure) -> WriteError {
        WriteError::Failure(failure)
    }
}
