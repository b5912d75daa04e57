//! What is asked and what was said, whatever the protocol, and what may count as said. Sends nothing.

use bytes::Bytes;
use scorebox::judge::{Generation, Reply, TokenUsage};
use serde::Serialize;

use crate::form::{Form, Way};

/// The most bytes of an answer in words: many times what models write.
pub(crate) const MAX_TEXT_BYTES: usize = 4 << 20;

/// The most bytes of an answer in vectors, for each text: 8192 numbers of 32 characters.
const MAX_VECTOR_BYTES: usize = 256 << 10;

/// The most bytes of an answer in vectors.
const MAX_VECTORS_BYTES: usize = 64 << 20;

/// The most bytes of a model's name that a server gives.
const MAX_MODEL_BYTES: usize = 256;

/// A conversation as it is asked: with what is known about the model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking<'a> {
    pub(crate) generation: &'a Generation,
    pub(crate) form: Option<(Form<'a>, Way)>,
    /// Whether the limit of tokens has the name that newer models of OpenAI want.
    pub(crate) with_completion_tokens: bool,
}

/// An answer: what it says, if that counts, and what it consumed in any case.
#[derive(Debug, PartialEq)]
pub(crate) struct Heard {
    pub(crate) said: Result<Said, Unsaid>,
    pub(crate) usage: TokenUsage,
    pub(crate) cost_usd: Option<f64>,
}

impl Heard {
    /// An answer of which nothing can be read but what it consumed, if that.
    pub(crate) fn misshapen(why: impl ToString, usage: TokenUsage, cost_usd: Option<f64>) -> Heard {
        let said = Err(Unsaid::Misshapen(why.to_string()));
        Heard { said, usage, cost_usd }
    }
}

/// What a server said.
#[derive(Debug, PartialEq)]
pub(crate) struct Said {
    pub(crate) reply: Reply,
    pub(crate) model: Option<String>,
}

/// Why an answer has nothing that counts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unsaid {
    /// The model, or a filter before it, refuses: in whose words, if there are any.
    Refused(String),
    /// Whoever runs the model failed while it answered, and may not the next time: in whose words.
    Failed(String),
    /// The answer is not of the protocol: in what way.
    Misshapen(String),
}

/// A document of strings, numbers and maps with names as keys, which cannot fail to become JSON.
pub(crate) fn document(value: &impl Serialize) -> Bytes {
    serde_json::to_vec(value).unwrap_or_default().into()
}

/// The most bytes of an answer with the vectors of so many texts.
pub(crate) fn max_bytes(texts: usize) -> usize {
    MAX_VECTOR_BYTES.saturating_mul(texts).clamp(MAX_TEXT_BYTES, MAX_VECTORS_BYTES)
}

/// The name that a provider gives its model, if it is one, or else the name that it was asked by.
pub(crate) fn named(given: Option<String>, asked: &str) -> String {
    let is_name = |name: &String| {
        !name.is_empty()
            && name.len() <= MAX_MODEL_BYTES
            && !name.chars().any(scorebox::terminal::acts)
    };
    given.filter(is_name).unwrap_or_else(|| asked.to_owned())
}
