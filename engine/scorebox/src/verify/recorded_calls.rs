//! Findings about the recorded answers of a judge that a score is based on. It reads none of them.

use crate::{
    digest::Digest,
    sandbox::{ErrorKind, Outcome},
    store::{Altered, Part, Unrecorded},
};

use super::{Difference, Verdict};

/// How many missing answers are listed.
const NAMED: usize = 3;

/// The verdict on a score whose recordings are not available: changed ones are a difference, missing ones make it not
/// verifiable.
pub(super) fn verdict(unrecorded: &Unrecorded) -> Verdict {
    match unrecorded.altered.as_slice() {
        [] => Verdict::not_verifiable(missing(&unrecorded.missing)),
        altered => Verdict::of(altered.iter().map(difference).collect()),
    }
}

/// The difference in a recording that was changed.
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

/// The verdict on a score that is based on `stored` answers, and was computed again from more or fewer of them.
pub(super) fn asked_otherwise(stored: usize, computed: &Outcome) -> Option<Verdict> {
    // The error itself is more informative.
    let ended_early = computed.result.as_ref().is_err_and(|error| {
        matches!(error.kind, ErrorKind::TimedOut | ErrorKind::JudgeNotRecorded)
    });
    let asked = computed.calls.len();
    (!ended_early && asked != stored)
        .then(|| Verdict::different("calls of a judge", stored.to_string(), asked.to_string()))
}
