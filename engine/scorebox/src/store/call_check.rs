//! Whether a recording in the database is the one that its digests name. Reads no row itself.

use crate::{digest::Digest, judge::Recording};

/// Why the recordings that a score is based on are not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unrecorded {
    /// The calls of which there is no recording, or only one with another answer.
    pub missing: Vec<Digest>,
    /// Those whose recording was changed.
    pub altered: Vec<Altered>,
}

/// A recording that is not what its digests say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {part} of the recorded call {} was changed: it does not have its digest", call.short())]
#[non_exhaustive]
pub struct Altered {
    /// The call that it is stored as.
    pub call: Digest,
    /// What is not as its digest says.
    pub part: Part,
    /// The digest that is stored.
    pub stored: Digest,
    /// The digest of what there is; `None` if that cannot be read.
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

/// What is there instead of a recording that cannot be read.
pub(super) fn unreadable(call: Digest, reply: Digest, part: Part) -> Altered {
    let stored = match part {
        Part::Question => call,
        Part::Answer => reply,
    };
    Altered { call, part, stored, actual: None }
}
