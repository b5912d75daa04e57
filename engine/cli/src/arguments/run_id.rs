//! The id of a run as it is typed. Knows no run.

use scorebox::{advice::Advised as _, store::RunId};

use crate::advice;

/// A run's id, or why the text is not valid, with what an id may be: what is wrong with an argument has no hint beside
/// it.
pub(crate) fn run_id(written: &str) -> Result<RunId, String> {
    written.parse::<RunId>().map_err(|error| {
        let hint = error.advice().as_ref().and_then(advice::words).unwrap_or_default();
        format!("{error}; {hint}")
    })
}
