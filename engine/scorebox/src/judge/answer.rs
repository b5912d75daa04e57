//! A model's answer, and what it consumed. It does not judge the answer.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The answer to one question.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The content of the answer.
    pub reply: Reply,
    /// The model that answered, as its provider names it.
    pub model: String,
    /// The tokens that it consumed, as far as the provider reports them. If a provider sends further requests to find
    /// out how to ask, it counts those too.
    pub usage: TokenUsage,
    /// The cost in US dollars, if the provider reports it; otherwise the judge's price decides. If a provider tried
    /// more than once, it includes the known costs of those attempts. It omits tokens that are not known for all
    /// attempts.
    pub cost_usd: Option<f64>,
    /// Whether more than that may have been consumed, by an unknown amount: by the answer, or by failed attempts before
    /// it.
    pub is_uncounted: bool,
    /// The time from the first attempt to the answer, including waits between attempts, but not the wait for a turn.
    pub latency: Duration,
    /// How many attempts were made, at least 1.
    pub attempts: u32,
}

impl Answer {
    /// This reply of this model in the first attempt. Its tokens, cost and latency are unknown.
    pub fn new(reply: Reply, model: impl Into<String>) -> Answer {
        Answer {
            reply,
            model: model.into(),
            usage: TokenUsage::default(),
            cost_usd: None,
            is_uncounted: false,
            latency: Duration::ZERO,
            attempts: 1,
        }
    }
}

/// A model's reply to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Reply {
    /// The reply to a conversation.
    Text {
        /// The text of the reply.
        text: String,
        /// Whether it ended because it reached the limit of tokens.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        truncated: bool,
    },
    /// The reply to texts: a vector for each, in their order, all of the same length and with finite numbers.
    Vectors(Vec<Vec<f32>>),
}

impl Reply {
    /// The reply to this many texts, if there is a vector for each, and all have the same length and finite numbers.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn vectors(vectors: Vec<Vec<f32>>, texts: usize) -> Result<Reply, String> {
        must_fit(&vectors, texts).map(|()| Reply::Vectors(vectors))
    }
}

/// Checks that these are the vectors of this many texts; the error describes what is wrong with them.
pub(super) fn must_fit(vectors: &[Vec<f32>], texts: usize) -> Result<(), String> {
    let length = vectors.first().map_or(0, Vec::len);
    if vectors.len() != texts {
        return Err(format!("{} vectors for {texts} texts", vectors.len()));
    }
    if length == 0 {
        return Err("a vector without numbers".to_owned());
    }
    if vectors.iter().any(|vector| vector.len() != length) {
        return Err("vectors of different lengths".to_owned());
    }
    match vectors.iter().flatten().all(|number| number.is_finite()) {
        true => Ok(()),
        false => Err("a vector with a number that is not finite".to_owned()),
    }
}

/// The tokens of a question and its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "what every provider counts")]
pub struct TokenUsage {
    /// The tokens of the question; `None` if the provider does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// The tokens of the answer; `None` if the provider does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
}

/// The most tokens of one answer that are accepted: a database cannot store a larger number.
pub(crate) const MAX_TOKENS: u64 = i64::MAX as u64;

/// The most that one answer can cost, in US dollars. A larger cost counts as unknown, because it would dominate every
/// sum.
pub const MAX_COST_USD: f64 = 1e9;

impl TokenUsage {
    /// The same without counts that a database cannot store, which cannot be right.
    pub(super) fn credible(self) -> TokenUsage {
        let credible = |tokens: Option<u64>| tokens.filter(|tokens| *tokens <= MAX_TOKENS);
        TokenUsage {
            input_tokens: credible(self.input_tokens),
            output_tokens: credible(self.output_tokens),
        }
    }

    /// The sum of both; if only one of them has a count, it is used.
    #[must_use]
    pub fn plus(self, other: TokenUsage) -> TokenUsage {
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
        TokenUsage {
            input_tokens: sum(self.input_tokens, other.input_tokens),
            output_tokens: sum(self.output_tokens, other.output_tokens),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_that_only_one_side_counts_are_not_lost() {
        let usage = |input_tokens, output_tokens| TokenUsage { input_tokens, output_tokens };
        let sum = usage(Some(1), None).plus(usage(Some(2), Some(3)));
        assert_eq!(sum, usage(Some(3), Some(3)));
        assert_eq!(TokenUsage::default().plus(TokenUsage::default()), TokenUsage::default());
        let most = usage(Some(u64::MAX), None);
        assert_eq!(most.plus(most), most);
    }
}
