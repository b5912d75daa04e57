//! What is to be said about the recorded answers of a judge that a score is based on. Reads none.

use crate::{
    digest::Digest,
    sandbox::{ErrorKind, Outcome},
    store::{Altered, Part, Unrecorded},
};

use super::{Difference, Verdict};

/// Missing answers that are named one by one.
const NAMED: usize = 3;

/// The verdict on a score whose recordings are not there: changed ones are a difference, missing ones leave it unknown.
pub(super) fn verdict(unrecorded: &Unrecorded) -> Verdict {
    match unrecorded.altered.as_slice() {
        [] => Verdict::not_verifiable(missing(&unrecorded.missing)),
        altered => Verdict::of(altered.iter().map(difference).collect()),
    }
}

/// What is different about a recording that was changed.
pub(super) fn difference(altered: &Altered) -> Difference {
    let what = match altered.part {
        Part::Question => format!("{}{}", Difference::QUESTION, altered.call),
        Part::Answer => format!("{}{}", Difference::ANSWER, altered.call),
    };
    let actual = altered.actual.map(|digest| digest.to_string());
    Difference::of(what, Some(altered.stored.to_string()), actual)
}

/// Why a score cannot be computed again: the answers to these calls, at least one, are missing.
pub(super) fn missing(missing: &[Digest]) -> String {
    let named: Vec<String> = missing.iter().take(NAMED).map(Digest::to_string).collect();
    let named = named.join(", ");
    match (missing.len(), missing.len().saturating_sub(NAMED)) {
        (1, _) => format!("the answer to call {named} is not among the recordings"),
        (_, 0) => format!("the answers to calls {named} are not among the recordings"),
        (_, more) => {
            format!("the answers to calls {named} and {more} more are not among the recordings")
        }
    }
}

/// The verdict on a score that is based on so many answers and was computed again from more or fewer of them.
pub(super) fn asked_otherwise(stored: usize, computed: &Outcome) -> Option<Verdict> {
    // The error itself says more.
    let ended_early = computed.result.as_ref().is_err_and(|error| {
        matches!(error.kind, ErrorKind::TimedOut | ErrorKind::JudgeNotRecorded)
    });
    let asked = computed.calls.len();
    (!ended_early && asked != stored)
        .then(|| Verdict::different("calls of a judge", stored.to_string(), asked.to_string()))
}
