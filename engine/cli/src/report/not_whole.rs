//! The warnings that a part of a run is missing, so that its figures are incomplete. It prints nothing.

use scorebox::{
    reports::skipped_lines,
    store::{RunRecord, RunState},
};

/// A line for each reason why the run may not have all of its cases: it has not finished, or lines of the input were
/// skipped.
pub(crate) fn not_whole(run: &RunRecord) -> Vec<String> {
    unfinished(run).into_iter().chain(without_lines(run)).collect()
}

/// The warning that lines of the run's cases were skipped, for a command that reports the end of the run in another
/// way.
pub(crate) fn without_lines(run: &RunRecord) -> Option<String> {
    skipped_lines(run).map(|skipped| format!("run {}: {skipped}", run.spec.id))
}

/// `run r was stopped, and only its stored scores count: …`; `None` if the run has finished.
fn unfinished(run: &RunRecord) -> Option<String> {
    let ended = match run.state {
        RunState::Finished => return None,
        RunState::Running => "is still running or was killed",
        RunState::Interrupted => "was interrupted",
        RunState::Stopped => "was stopped",
    };
    let mut words = format!("run {} {ended}, and only its stored scores count", run.spec.id);
    if let Some(why) = &run.state_reason {
        words.push_str(&format!(": {why}"));
    }
    Some(words)
}
