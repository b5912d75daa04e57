//! A scorer's answer about a case, and what that cost. It does not know where it comes from.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Json;
use crate::{
    advice::Advice,
    contract::{Assertion, LogLine},
    judge::ScoreCall,
};

/// The kind of a scorer's outcome for a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "who decides by it must decide about each")]
pub enum Status {
    /// There is a score.
    Scored,
    /// The scorer does not apply to the case.
    NotApplicable,
    /// The scorer skips the case: by sampling, by its nodes, by its condition, because its subject has no result, or
    /// because the case itself is skipped.
    Skipped,
    /// There is no score, although there should be.
    Error,
}

impl Status {
    /// The name that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Scored => "scored",
            Status::NotApplicable => "not-applicable",
            Status::Skipped => "skipped",
            Status::Error => "error",
        }
    }
}

/// A time in the form of rows: whole nanoseconds as milliseconds, without the rounding errors of seconds (`0.399026`,
/// not `0.39902600000000005`).
pub fn milliseconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e6
}

/// A scorer's answer about a case, and what that cost. JSON is kept as its original text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Answer {
    /// The outcome.
    pub status: Status,
    /// The score; every scored answer has it, and no other.
    pub score: Option<f64>,
    /// A category in addition to the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Why, for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The scorer's own JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta: Option<Json>,
    /// The checks that make up the score: an array of [`Assertion`]s, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assertions: Option<Json>,
    /// What went wrong; every error has it, and no other answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<AnswerError>,
    /// The Wasm fuel that it used, if known.
    pub fuel: Option<u64>,
    /// The sandbox's peak memory, in bytes; `None` if nothing ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// How long the scorer took, in milliseconds, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// What the scorer logged: an array of [`LogLine`]s, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<Json>,
    /// The calls of judges that it is based on, in the order in which they were asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ScoreCall>,
}

/// Why there is no score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AnswerError {
    /// The name of a [`sandbox::ErrorKind`](crate::sandbox::ErrorKind); another version of scorebox may have others.
    pub kind: String,
    /// What happened; may have several lines.
    pub message: String,
    /// What to do about it. It is not stored, so a row that was read has none; it is not in JSON, because a front end
    /// words it.
    #[serde(skip)]
    pub advice: Option<Advice>,
}

impl AnswerError {
    /// The error with this kind and message, without advice.
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> AnswerError {
        AnswerError { kind: kind.into(), message: message.into(), advice: None }
    }
}

impl Answer {
    /// An answer with only a status.
    pub const fn new(status: Status) -> Answer {
        Answer {
            status,
            score: None,
            label: None,
            reason: None,
            meta: None,
            assertions: None,
            error: None,
            fuel: None,
            memory_bytes: None,
            duration_ms: None,
            log: None,
            calls: Vec::new(),
        }
    }

    /// An answer that is missing because of this error.
    pub fn of_error(error: AnswerError) -> Answer {
        Answer { error: Some(error), ..Answer::new(Status::Error) }
    }

    /// The answer as the output of a case for a scorer of results: `score` and `reason`, which may be `null`, and
    /// `label`, `meta` and `assertions` if there are any. `None` if there is no result.
    pub fn as_output(&self) -> Option<Json> {
        #[derive(Serialize)]
        struct Output<'a> {
            score: Option<f64>,
            reason: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            label: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            meta: Option<&'a Json>,
            #[serde(skip_serializing_if = "Option::is_none")]
            assertions: Option<&'a Json>,
        }
        matches!(self.status, Status::Scored | Status::NotApplicable).then_some(())?;
        let output = Output {
            score: self.score,
            reason: self.reason.as_deref(),
            label: self.label.as_deref(),
            meta: self.meta.as_ref(),
            assertions: self.assertions.as_ref(),
        };
        serde_json::to_string(&output).ok().map(Json::from)
    }

    /// The checks that make up the score.
    ///
    /// # Errors
    /// The database was tampered with, and the content is not a list of assertions.
    pub fn assertions(&self) -> Result<Vec<Assertion>, serde_json::Error> {
        list(&self.assertions)
    }

    /// What the scorer logged.
    ///
    /// # Errors
    /// The database was tampered with, and the content is not a list of messages.
    pub fn log(&self) -> Result<Vec<LogLine>, serde_json::Error> {
        list(&self.log)
    }

    /// The size of all its texts and lists, in bytes.
    pub(super) fn text_bytes(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let json = |json: &Option<Json>| json.as_ref().map_or(0, |json| json.get().len());
        let error = self.error.as_ref();
        let error = error.map_or(0, |error| error.kind.len() + error.message.len());
        let said = text(&self.label) + text(&self.reason) + json(&self.meta);
        let calls = self.calls.len() * size_of::<ScoreCall>();
        said + json(&self.assertions) + json(&self.log) + error + calls
    }
}

fn list<T: serde::de::DeserializeOwned>(json: &Option<Json>) -> Result<Vec<T>, serde_json::Error> {
    json.as_ref().map_or(Ok(Vec::new()), |json| serde_json::from_str(json.get()))
}

/// A scorer's answer about a case that does not belong to a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "front ends make it")]
pub struct ScorerAnswer<'a> {
    /// The name under which the scorer was called.
    pub scorer_id: &'a str,
    /// Its answer, and what that cost.
    #[serde(flatten)]
    pub answer: &'a Answer,
}
