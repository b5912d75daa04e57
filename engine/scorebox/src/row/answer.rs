//! What a scorer says about a case, and what that cost. Where it comes from is not known here.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Json;
use crate::{
    advice::Advice,
    contract::{Assertion, LogLine},
    judge::ScoreCall,
};

/// The outcome of one scorer on one case, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "who decides by it must decide about each")]
pub enum Status {
    /// There is a score.
    Scored,
    /// The scorer does not apply to the case.
    NotApplicable,
    /// The scorer skips the case: by sampling, by its nodes, or because the case is to be skipped.
    Skipped,
    /// There is no score, although there should be.
    Error,
}

impl Status {
    /// The word that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Scored => "scored",
            Status::NotApplicable => "not-applicable",
            Status::Skipped => "skipped",
            Status::Error => "error",
        }
    }
}

/// A time as rows have it: whole nanoseconds in milliseconds, without what computing in seconds adds (`0.399026`, not
/// `0.39902600000000005`).
pub fn milliseconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e6
}

/// What a scorer says about a case, and what that cost. JSON is kept as the text that it was.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Answer {
    /// The outcome.
    pub status: Status,
    /// In every scored answer and in no other.
    pub score: Option<f64>,
    /// A category that goes with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Why, for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The scorer's own JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta: Option<Json>,
    /// The checks that the score is made of: an array of [`Assertion`]s, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assertions: Option<Json>,
    /// What went wrong; in every error and in no other answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<AnswerError>,
    /// Wasm fuel that it used, if known.
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
    /// The word of a [`sandbox::ErrorKind`](crate::sandbox::ErrorKind); another scorebox may have others.
    pub kind: String,
    /// What happened; may have several lines.
    pub message: String,
    /// What to do about it. Not stored, so a row that was read has none; not in JSON, if a front end puts its
    /// own words.
    #[serde(skip)]
    pub advice: Option<Advice>,
}

impl AnswerError {
    /// The error of this kind and message, without advice.
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> AnswerError {
        AnswerError { kind: kind.into(), message: message.into(), advice: None }
    }
}

impl Answer {
    /// An answer that says nothing but its status.
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

    /// An answer that is missing because of this.
    pub fn of_error(error: AnswerError) -> Answer {
        Answer { error: Some(error), ..Answer::new(Status::Error) }
    }

    /// What the scorer says, as the output of a case for a scorer of results: `score` and `reason`, each of them also
    /// `null`, and `label`, `meta` and `assertions` where there are any. `None` if there is no result.
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

    /// The checks that the score is made of.
    ///
    /// # Errors
    /// The database was tampered with, and what it holds is not a list of assertions.
    pub fn assertions(&self) -> Result<Vec<Assertion>, serde_json::Error> {
        list(&self.assertions)
    }

    /// What the scorer logged.
    ///
    /// # Errors
    /// The database was tampered with, and what it holds is not a list of messages.
    pub fn log(&self) -> Result<Vec<LogLine>, serde_json::Error> {
        list(&self.log)
    }

    /// Bytes of all its texts and lists.
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

/// What a scorer says about a case that belongs to no run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "front ends make it")]
pub struct ScorerAnswer<'a> {
    /// The name by which the scorer was called.
    pub scorer_id: &'a str,
    /// What it says, and what that cost.
    #[serde(flatten)]
    pub answer: &'a Answer,
}
