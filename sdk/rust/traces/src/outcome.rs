//! How a run ended, as stated around its steps: a status, an error, questions to a person. How a call ended is read
//! elsewhere.

use crate::builder::Builder;
use crate::fields::{self, Object, word};
use crate::step::{Outcome, Status};
use scorebox_sdk::excerpt;

/// Reads how the run ended, if the wrapper states it. Of two wrappers, one that states an end other than success takes
/// precedence.
pub(super) fn read(builder: &mut Builder, object: &Object) {
    let stated = stated(object);
    if matches!(builder.outcome, None | Some(Outcome::Completed)) {
        builder.outcome = stated.or(builder.outcome.take());
    }
}

fn stated(object: &Object) -> Option<Outcome> {
    let error = object.get("error").cloned();
    let reason = fields::error_text(error);
    let status = word(object, "status").and_then(|status| meant(object, status));
    // Objects other than runs use their own words for a state.
    let state = || word(object, "state").and_then(|state| meant(object, state));
    let status = status.or_else(|| state().filter(|state| !matches!(state, Outcome::Unknown(_))));
    match (status, reason) {
        _ if is_interrupted(object) => Some(Outcome::Waiting),
        (Some(Outcome::Waiting), _) => Some(Outcome::Waiting),
        (_, Some(reason)) => Some(Outcome::Failed(Some(reason))),
        (status, None) => status,
    }
}

/// Whether LangGraph interrupted the run to ask a person: the state that it returns has the questions next to the
/// messages.
fn is_interrupted(state: &Object) -> bool {
    state.get("__interrupt__").is_some_and(|questions| !fields::is_blank(questions))
}

/// What a status means; `None` if it says nothing.
fn meant(object: &Object, status: &str) -> Option<Outcome> {
    let mut word = status.to_ascii_lowercase();
    word.retain(|letter| letter.is_ascii_alphanumeric());
    let word = word.strip_prefix("taskstate").unwrap_or(&word);
    let quoted = || excerpt(status, 40).into_owned();
    let failed = || Some(Outcome::Failed(Some(format!("its status is `{}`", quoted()))));
    match word {
        "" | "unset" | "unknown" | "unspecified" | "undefined" | "none" | "null" => None,
        "failed" | "failure" | "fail" | "error" | "errored" => Some(Outcome::Failed(None)),
        "incomplete" => {
            let details = object.get("incomplete_details").and_then(|all| all.as_object());
            let why = details.and_then(|details| fields::word(details, "reason"));
            Some(Outcome::Failed(why.map(str::to_owned)))
        }
        _ if waits(word) => Some(Outcome::Waiting),
        _ if is_under_way(word) => Some(Outcome::Unfinished(quoted())),
        "successful" | "passed" | "finished" | "ended" | "idle" => Some(Outcome::Completed),
        _ => match fields::status(word) {
            Status::Succeeded => Some(Outcome::Completed),
            Status::Failed | Status::Rejected => failed(),
            Status::Unknown if broke_off(word) => failed(),
            Status::Unknown => Some(Outcome::Unknown(quoted())),
        },
    }
}

/// Whether a word says that a run waits for a person.
fn waits(word: &str) -> bool {
    let starts = ["waiting", "awaiting"];
    matches!(
        word,
        "parked" | "inputrequired" | "requiresaction" | "authrequired" | "needsinput" | "suspended"
    ) || starts.iter().any(|start| word.starts_with(start))
}

/// Whether a word says that a run has not ended.
fn is_under_way(word: &str) -> bool {
    matches!(
        word,
        "running"
            | "pending"
            | "queued"
            | "inprogress"
            | "started"
            | "starting"
            | "notstarted"
            | "created"
            | "submitted"
            | "scheduled"
            | "working"
            | "processing"
            | "busy"
            | "active"
            | "ongoing"
            | "paused"
            | "cancelling"
            | "canceling"
            | "retrying"
    )
}

/// Whether a word says that a run ended early. A `no` before it may mean the opposite.
fn broke_off(word: &str) -> bool {
    let parts = ["error", "fail", "exceed", "timeout", "timedout", "limit", "cancel", "abort"];
    let is_whole = matches!(
        word,
        "terminated" | "stopped" | "blocked" | "stuck" | "refused" | "halted" | "tripwire"
    );
    let is_part = || parts.iter().any(|part| word.contains(part)) || word.starts_with("max");
    is_whole || !word.starts_with("no") && is_part()
}
