//! The contract's types as the engine's own. They do not depend on wasmtime; `bindings` converts what is generated from
//! `wit/` to these.

#![expect(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "a version of the contract has these and no others"
)]

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};

use super::{Field, Fields, Parts};
use crate::{digest::Digest, workspace::TaskFolder};

/// What the task consumed, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Tokens of the prompt.
    pub input_tokens: Option<u64>,
    /// Tokens of the answer.
    pub output_tokens: Option<u64>,
    /// All tokens.
    pub total_tokens: Option<u64>,
    /// Cost in US dollars; finite, 0 or more.
    pub cost_usd: Option<f64>,
}

/// Which iteration and attempt of a case it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "what a case says about repeats")]
pub struct Repeat {
    /// The iteration of the task.
    pub iteration: u32,
    /// The attempt of the iteration.
    pub attempt: u32,
}

/// A scorer's input for one case: JSON documents as the bytes that were read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScorerInput<'a> {
    /// What the task produced, as JSON.
    pub output: &'a str,
    /// The optional parts, as JSON. A scorer gets [`Field::Latency`] and [`Field::Usage`] as the numbers below,
    /// whatever this contains.
    pub parts: Parts<&'a str>,
    /// How long the task took, in milliseconds; finite, 0 or more.
    pub latency_ms: Option<f64>,
    /// What the task consumed.
    pub usage: Option<Usage>,
    /// The folder with the files that the task left, only for scorers that import `workspace`.
    pub workspace: Option<&'a TaskFolder>,
    /// The iteration and the attempt. No scorer sees them; a judge is asked again for each.
    pub repeat: Repeat,
}

impl<'a> ScorerInput<'a> {
    /// An output without anything else.
    pub const fn of(output: &'a str) -> ScorerInput<'a> {
        let parts = Parts::NONE;
        ScorerInput {
            output,
            parts,
            latency_ms: None,
            usage: None,
            workspace: None,
            repeat: Repeat { iteration: 0, attempt: 0 },
        }
    }

    /// This input with `field`, as JSON.
    #[must_use]
    pub const fn with(self, field: Field, json: &'a str) -> ScorerInput<'a> {
        ScorerInput { parts: self.parts.with(field, json), ..self }
    }

    /// The value of `field`, as JSON.
    pub const fn json(&self, field: Field) -> Option<&'a str> {
        match self.parts.get(field) {
            Some(json) => Some(*json),
            None => None,
        }
    }

    /// The output, the files and the parts in `fields`, without the rest.
    #[must_use]
    pub fn only(self, fields: Fields) -> ScorerInput<'a> {
        ScorerInput {
            output: self.output,
            parts: self.parts.only(fields),
            latency_ms: self.latency_ms.filter(|_| fields.contains(Field::Latency)),
            usage: self.usage.filter(|_| fields.contains(Field::Usage)),
            workspace: self.workspace,
            repeat: self.repeat,
        }
    }

    /// The digest of a scorer's input: for each part, its canonical key and its content. JSON counts as the bytes that
    /// were read; latency and usage count as numbers. `files` is the digest of the files that the scorer can read
    /// ([`Outcome::files`](crate::sandbox::Outcome::files)), `None` if there are none; the folder's name does not
    /// count.
    pub fn digest(&self, files: Option<Digest>) -> Digest {
        let mut parts: Vec<(&str, Cow<'_, [u8]>)> =
            vec![("output", Cow::Borrowed(self.output.as_bytes()))];
        for field in Field::ALL {
            match field {
                Field::Latency => {
                    let bytes = self.latency_ms.map(|latency| latency.to_le_bytes());
                    parts.extend(bytes.map(|bytes| (field.key(), bytes.to_vec().into())));
                }
                Field::Usage => parts.extend(self.usage.iter().flat_map(usage_parts)),
                _ => {
                    let json = self.parts.get(field).map(|json| Cow::Borrowed(json.as_bytes()));
                    parts.extend(json.map(|json| (field.key(), json)));
                }
            }
        }
        let files = files.map(|files| files.as_bytes().to_vec());
        parts.extend(files.map(|digest| ("workspace", digest.into())));
        let parts = parts.iter().flat_map(|(key, content)| [key.as_bytes(), content.as_ref()]);
        Digest::of_parts(std::iter::once(&b"scorebox case 1"[..]).chain(parts))
    }
}

/// The parts of a digest for `usage`; a usage without numbers is still one part.
fn usage_parts<'a>(usage: &Usage) -> Vec<(&'a str, Cow<'a, [u8]>)> {
    let number = |key, bytes: Option<[u8; 8]>| bytes.map(|bytes| (key, bytes.to_vec().into()));
    let numbers = [
        number("usage.inputTokens", usage.input_tokens.map(u64::to_le_bytes)),
        number("usage.outputTokens", usage.output_tokens.map(u64::to_le_bytes)),
        number("usage.totalTokens", usage.total_tokens.map(u64::to_le_bytes)),
        number("usage.costUsd", usage.cost_usd.map(f64::to_le_bytes)),
    ];
    let mut parts = vec![("usage", Cow::Borrowed(&[][..]))];
    parts.extend(numbers.into_iter().flatten());
    parts
}

/// One row of a run, as a summarizing scorer gets it.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredRow {
    /// The case's id.
    pub case_id: String,
    /// `None` if the scorer did not apply.
    pub score: Option<f64>,
    /// The label, if it gave one.
    pub label: Option<String>,
    /// The meta document, as text.
    pub meta: Option<String>,
}

/// How a value below its threshold counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// A hard requirement.
    Gate,
    /// A quality signal.
    Soft,
}

impl Severity {
    /// The name that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Gate => "gate",
            Severity::Soft => "soft",
        }
    }
}

/// The range of a scorer's scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// 0 to 1.
    Unit,
    /// Any finite number from 0 up.
    Points,
}

impl Scale {
    /// Whether `score` is on this scale.
    pub fn contains(self, score: f64) -> bool {
        match self {
            Scale::Unit => (0.0..=1.0).contains(&score),
            Scale::Points => score >= 0.0 && score.is_finite(),
        }
    }

    /// The name that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Scale::Unit => "unit",
            Scale::Points => "points",
        }
    }
}

/// Which end of the scale is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// 1 is best.
    HigherIsBetter,
    /// 0 is best.
    LowerIsBetter,
}

impl Direction {
    /// The name that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Direction::HigherIsBetter => "higher-is-better",
            Direction::LowerIsBetter => "lower-is-better",
        }
    }
}

/// What a scorer reports about itself, checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScorerInfo {
    /// 1 to 64 of `a-z`, `0-9`, `-`.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// What it scores, how, and where the formula comes from.
    pub description: String,
    /// The scorer's own version.
    pub version: String,
    /// A JSON Schema of its configuration, as text.
    pub config_schema: Option<String>,
    /// The range of its scores.
    pub scale: Scale,
    /// Which end of the scale is good.
    pub direction: Direction,
    /// The parts of a case that it gets.
    pub reads: Fields,
    /// How a score below the threshold counts.
    pub severity: Severity,
    /// The lowest score that passes.
    pub threshold: Option<f64>,
}

/// One named check inside a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assertion {
    /// What was checked.
    pub name: String,
    /// 0 to 1.
    pub score: f64,
    /// If absent, the scorer's own severity applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// The lowest score that passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Why, for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A scorer's result for a case, as the guest returned it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoreResult {
    /// `None` if the scorer does not apply to this case.
    pub score: Option<f64>,
    /// A category in addition to the score.
    pub label: Option<String>,
    /// Why, for a person.
    pub reason: Option<String>,
    /// One JSON document, as text.
    pub meta: Option<String>,
    /// The checks that make up the score.
    pub assertions: Vec<Assertion>,
}

/// A scorer's own error.
#[derive(Clone, Debug, PartialEq)]
pub enum ScorerError {
    /// The case lacks something that the scorer needs, or has it in a form that the scorer cannot read.
    InvalidInput(String),
    /// Anything else.
    Failed(String),
}

/// The level of a log message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// For the scorer's author.
    Debug,
    /// Useful to know.
    Info,
    /// Probably unintended.
    Warn,
    /// What went wrong.
    Error,
}

impl LogLevel {
    /// The name that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warn => "warn",
            LogLevel::Error => "error",
        }
    }
}

/// One message of a scorer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// Its level.
    pub level: LogLevel,
    /// The message of the scorer, cut at the log limit.
    pub message: String,
}

impl fmt::Display for LogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.level.as_str(), self.message)
    }
}
