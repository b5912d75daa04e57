//! Defines questions and answers, whatever the protocol, and which answers count. Sends nothing.

use bytes::Bytes;
use scorebox::judge::{Generation, Reply, TokenUsage};
use serde::Serialize;

use crate::form::{Form, Way};

/// The most bytes of a text answer: many times what models write.
pub(crate) const MAX_TEXT_BYTES: usize = 4 << 20;

/// The most bytes of a vector answer for each text: 8192 numbers of 32 characters.
const MAX_VECTOR_BYTES: usize = 256 << 10;

/// The most bytes of a vector answer.
const MAX_VECTORS_BYTES: usize = 64 << 20;

/// The most bytes of a model's name that a server gives.
const MAX_MODEL_BYTES: usize = 256;

/// A conversation to ask, with what is known about the model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking<'a> {
    pub(crate) generation: &'a Generation,
    pub(crate) form: Option<(Form<'a>, Way)>,
    /// Whether the token limit has the name that newer models of OpenAI require.
    pub(crate) with_completion_tokens: bool,
}

/// An answer: its content, if that counts, and what it consumed in any case.
#[derive(Debug, PartialEq)]
pub(crate) struct Heard {
    pub(crate) said: Result<Said, Unsaid>,
    pub(crate) usage: TokenUsage,
    pub(crate) cost_usd: Option<f64>,
}

impl Heard {
    /// An answer of which at most the consumption can be read.
    pub(crate) fn misshapen(why: impl ToString, usage: TokenUsage, cost_usd: Option<f64>) -> Heard {
        let said = Err(Unsaid::Misshapen(why.to_string()));
        Heard { said, usage, cost_usd }
    }
}

/// What a server answered.
#[derive(Debug, PartialEq)]
pub(crate) struct Said {
    pub(crate) reply: Reply,
    pub(crate) model: Option<String>,
}

/// Why an answer has no content that counts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unsaid {
    /// The model, or a filter before it, refused: its message, if there is one.
    Refused(String),
    /// The model's server failed while it answered, but another attempt may succeed: its message.
    Failed(String),
    /// The answer does not follow the protocol: in what way.
    Misshapen(String),
}

/// Serializes strings, numbers and maps with string keys, which cannot fail.
pub(crate) fn document(value: &impl Serialize) -> Bytes {
    serde_json::to_vec(value).unwrap_or_default().into()
}

/// The most bytes of an answer with the vectors of this many texts.
pub(crate) fn max_bytes(texts: usize) -> usize {
    MAX_VECTOR_BYTES.saturating_mul(texts).clamp(MAX_TEXT_BYTES, MAX_VECTORS_BYTES)
}

/// The name that a provider reports for its model, if it is a valid one, or else the name that was asked for.
pub(crate) fn named(given: Option<String>, asked: &str) -> String {
    let is_name = |name: &String| {
        !name.is_empty()
            && name.len() <= MAX_MODEL_BYTES
            && !name.chars().any(scorebox::terminal::acts)
    };
    given.filter(is_name).unwrap_or_else(|| asked.to_owned())
}
