//! Reports that the database stored no more of a run, and its exit code. Each command reports what is left to score.

use scorebox::{advice::Advised as _, store::StoreError};

use crate::{failure::Exit, signals::Signalled, words};

/// Reports why the database stored no more. A signal ends the wait for a locked database.
pub(crate) fn say(error: &StoreError, signalled: &Signalled) -> Exit {
    words::error_with(&error.to_string(), error.advice().as_ref());
    match error {
        StoreError::Locked { .. } if signalled.came() => signalled.exit(),
        _ => Exit::BadInput,
    }
}
