//! A score in the form that `pickle` stores, for pools of processes. `score` defines what a score has.

use scorebox::{
    digest::Digest,
    judge::ScoreCall,
    row::{Answer, AnswerError, Json, Status},
};
use serde::{Deserialize, Serialize};

/// Everything of a score that Python sees. It is written and read by the same version of the package.
#[derive(Serialize, Deserialize)]
pub(crate) struct Pickled {
    /// The case and the scorer, if it is a row.
    of: Option<(String, String)>,
    status: String,
    score: Option<f64>,
    label: Option<String>,
    reason: Option<String>,
    meta: Option<String>,
    assertions: Option<String>,
    log: Option<String>,
    /// Kind and message.
    error: Option<(String, String)>,
    /// Advice about the error, as text.
    advice: Option<String>,
    fuel: Option<u64>,
    memory_bytes: Option<u64>,
    duration_ms: Option<f64>,
    /// For each call of a judge: its digest, the digest of the answer, and whether it was recorded.
    calls: Vec<(Digest, Digest, bool)>,
}

/// A score, the advice about its error, and the case and the scorer.
type Parts = (Answer, Option<String>, Option<(String, String)>);

impl Pickled {
    pub(crate) fn new(
        answer: &Answer,
        advice: Option<&String>,
        of: Option<&(String, String)>,
    ) -> Pickled {
        let text = |json: &Option<Json>| json.as_ref().map(|json| json.get().to_owned());
        let error = answer.error.as_ref();
        let call = |call: &ScoreCall| (call.digest, call.reply_digest, call.is_recorded);
        Pickled {
            of: of.cloned(),
            status: answer.status.as_str().to_owned(),
            score: answer.score,
            label: answer.label.clone(),
            reason: answer.reason.clone(),
            meta: text(&answer.meta),
            assertions: text(&answer.assertions),
            log: text(&answer.log),
            error: error.map(|error| (error.kind.clone(), error.message.clone())),
            advice: advice.cloned(),
            fuel: answer.fuel,
            memory_bytes: answer.memory_bytes,
            duration_ms: answer.duration_ms,
            calls: answer.calls.iter().map(call).collect(),
        }
    }

    /// Restores the score; `None` if another version wrote it.
    pub(crate) fn unpickled(self) -> Option<Parts> {
        let all = [Status::Scored, Status::NotApplicable, Status::Skipped, Status::Error];
        let status = all.into_iter().find(|status| status.as_str() == self.status)?;
        let mut answer = Answer::new(status);
        answer.score = self.score;
        answer.label = self.label;
        answer.reason = self.reason;
        answer.meta = self.meta.map(Json::from);
        answer.assertions = self.assertions.map(Json::from);
        answer.log = self.log.map(Json::from);
        answer.error = self.error.map(|(kind, message)| AnswerError::new(kind, message));
        answer.fuel = self.fuel;
        answer.memory_bytes = self.memory_bytes;
        answer.duration_ms = self.duration_ms;
        let calls = self.calls.into_iter();
        answer.calls = calls.map(|(call, reply, old)| ScoreCall::new(call, reply, old)).collect();
        Some((answer, self.advice, self.of))
    }
}
