//! What a model said, and what that consumed. Judges nothing.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The answer to one question.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What the model said.
    pub reply: Reply,
    /// The model that answered, as its provider names it.
    pub model: String,
    /// The tokens that it consumed, as far as the provider says.
    pub usage: TokenUsage,
    /// What it cost in US dollars, if the provider says so itself; otherwise the judge's price tells.
    pub cost_usd: Option<f64>,
    /// From the first attempt to the answer, waiting between attempts included, waiting for a place not.
    pub latency: Duration,
    /// How often the provider was asked, at least 1.
    pub attempts: u32,
}

impl Answer {
    /// This reply of this model to the first attempt. Its tokens, cost and latency are not known.
    pub fn new(reply: Reply, model: impl Into<String>) -> Answer {
        Answer {
            reply,
            model: model.into(),
            usage: TokenUsage::default(),
            cost_usd: None,
            latency: Duration::ZERO,
            attempts: 1,
        }
    }
}

/// What a model says to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Reply {
    /// To a conversation.
    Text {
        /// What it says.
        text: String,
        /// Whether it ended because it had no more tokens.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        truncated: bool,
    },
    /// To texts: a vector each, in their order, all of one length and of finite numbers.
    Vectors(Vec<Vec<f32>>),
}

/// The tokens of a question and its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "what every provider counts")]
pub struct TokenUsage {
    /// Tokens of the question; `None` if the provider does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens of the answer; `None` if the provider does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
}
