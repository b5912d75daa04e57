//! The judge calls in a receipt, and the recorded answers to them. It asks no judge, and computes nothing.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    advice::{Advice, Thing},
    digest::Digest,
    judge::{Recording, Recordings, ScoreCall},
};

use super::{Difference, Verdict, recorded_calls};

/// How many bytes the recordings for one receipt may have; a score has at most half of that.
const MAX_BYTES: usize = 64 << 20;

/// A judge call that a score is based on, by digests: a receipt contains neither the question nor the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct ReceiptCall {
    /// The digest of the call: [`Call::digest`](crate::judge::Call::digest).
    pub digest: Digest,
    /// The digest of its answer: [`Recording::reply_digest`].
    pub reply_digest: Digest,
}

impl From<&ScoreCall> for ReceiptCall {
    fn from(call: &ScoreCall) -> ReceiptCall {
        ReceiptCall { digest: call.digest, reply_digest: call.reply_digest }
    }
}

/// The answers to `calls`, in their order.
///
/// # Errors
/// The finding for the score without them: answers are missing, or differ.
pub(super) fn answers(
    calls: &[ReceiptCall],
    recordings: Option<&dyn Recordings>,
) -> Result<Vec<Arc<Recording>>, Verdict> {
    if calls.is_empty() {
        return Ok(Vec::new());
    }
    let Some(recordings) = recordings else {
        let answers = if calls.len() == 1 { "answer" } else { "answers" };
        return Err(without(format!(
            "it is based on {} recorded {answers} of a judge, and no recordings are at hand",
            calls.len()
        )));
    };
    let (mut answers, mut bytes) = (Vec::new(), 0);
    let (mut missing, mut others) = (Vec::new(), Vec::new());
    for call in calls {
        let found = recordings
            .find_reply(call.digest, call.reply_digest)
            .map_err(|error| without(format!("the recordings cannot be read: {error}")))?;
        // A recording is trusted only if its own digests match.
        let Some(found) = found.filter(|found| found.call.digest() == call.digest) else {
            missing.push(call.digest);
            continue;
        };
        let reply = found.reply_digest();
        if reply != call.reply_digest {
            let what = format!("{}{}", Difference::ANSWER, call.digest);
            others.push(Difference::new(what, call.reply_digest.to_string(), reply.to_string()));
            continue;
        }
        bytes += found.bytes();
        if bytes > MAX_BYTES {
            let reason =
                format!("the answers that it is based on have more than {MAX_BYTES} bytes");
            return Err(Verdict::not_verifiable(reason));
        }
        answers.push(found);
    }
    match (others.is_empty(), missing.as_slice()) {
        (false, _) => Err(Verdict::of(others)),
        (true, []) => Ok(answers),
        (true, missing) => Err(without(recorded_calls::missing(missing))),
    }
}

fn without(reason: String) -> Verdict {
    Verdict::NotVerifiable { reason, advice: Some(Advice::Name(Thing::Recordings)) }
}
