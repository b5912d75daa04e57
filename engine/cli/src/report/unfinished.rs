//! What is said of a run that has not finished, before its figures are believed.

use scorebox::store::{RunRecord, RunState};

/// `run r was stopped, and only what is stored of it counts: …`; `None` if the run has finished.
pub(crate) fn unfinished(run: &RunRecord) -> Option<String> {
    let ended = match run.state {
        RunState::Finished => return None,
        RunState::Running => "is still running or was killed",
        RunState::Interrupted => "was interrupted",
        RunState::Stopped => "was stopped",
    };
    let mut words = format!("run {} {ended}, and only what is stored of it counts", run.spec.id);
    if let Some(why) = &run.state_reason {
        words.push_str(&format!(": {why}"));
    }
    Some(words)
}
