//! Parses the id of a run as the user types it. It does not check whether the run exists.

use scorebox::{advice::Advised as _, store::RunId};

use crate::advice;

/// A run's id, or why the text is not valid, with what an id may be: clap's errors of arguments have no separate hint.
pub(crate) fn run_id(written: &str) -> Result<RunId, String> {
    written.parse::<RunId>().map_err(|error| {
        let hint = error.advice().as_ref().and_then(advice::words).unwrap_or_default();
        format!("{error}; {hint}")
    })
}
