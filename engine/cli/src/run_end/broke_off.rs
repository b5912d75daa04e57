//! That the database took no more of a run, and the exit code of that. What is left to score is each command's own.

use scorebox::{advice::Advised as _, store::StoreError};

use crate::{failure::Exit, signals::Signalled, words};

/// Says why the database took no more. A signal ends the waiting for one that is locked.
pub(crate) fn say(error: &StoreError, signalled: &Signalled) -> Exit {
    words::error_with(&error.to_string(), error.advice().as_ref());
    match error {
        StoreError::Locked { .. } if signalled.came() => signalled.exit(),
        _ => Exit::BadInput,
    }
}
