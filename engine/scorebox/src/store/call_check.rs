//! Checks whether a recording in the database matches its digests. It reads no row itself.

use crate::{digest::Digest, judge::Recording};

/// Why the recordings that a score is based on are not available.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unrecorded {
    /// The calls without a recording, or with a recording of another answer only.
    pub missing: Vec<Digest>,
    /// The recordings that were changed.
    pub altered: Vec<Altered>,
}

/// A recording that does not match its digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {part} of the recorded call {} was changed: it does not have its digest", call.short())]
#[non_exhaustive]
pub struct Altered {
    /// The call under which it is stored.
    pub call: Digest,
    /// The part that does not match its digest.
    pub part: Part,
    /// The stored digest.
    pub stored: Digest,
    /// The digest of the actual content; `None` if that cannot be read.
    pub actual: Option<Digest>,
}

/// A part of a recording that has a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a recording has two")]
pub enum Part {
    /// What was asked.
    Question,
    /// What was answered.
    Answer,
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Part::Question => "question",
            Part::Answer => "answer",
        })
    }
}

/// The recording, if it has these digests of its call and its answer.
pub(super) fn checked(
    recording: Recording,
    call: Digest,
    reply: Digest,
) -> Result<Recording, Altered> {
    let differs = |part, stored, actual| Err(Altered { call, part, stored, actual: Some(actual) });
    let actual = (recording.call.digest(), recording.reply_digest());
    match actual {
        (question, _) if question != call => differs(Part::Question, call, question),
        (_, answer) if answer != reply => differs(Part::Answer, reply, answer),
        _ => Ok(recording),
    }
}

/// The `Altered` of a recording that cannot be read.
pub(super) fn unreadable(call: Digest, reply: Digest, part: Part) -> Altered {
    let stored = match part {
        Part::Question => call,
        Part::Answer => reply,
    };
    Altered { call, part, stored, actual: None }
}
