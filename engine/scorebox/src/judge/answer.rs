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
    /// The tokens that it consumed, as far as the provider says. A provider that asks more to find out how to ask
    /// counts that too.
    pub usage: TokenUsage,
    /// What that cost in US dollars, as far as the provider says so itself; otherwise the judge's price says. Of a
    /// provider that tried more than once: what those attempts cost of which it is known. Of the tokens it leaves out
    /// what is not known of all of them.
    pub cost_usd: Option<f64>,
    /// Whether more than that may have been consumed, and nobody says how much: by the answer, or by attempts before it
    /// that failed.
    pub is_uncounted: bool,
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
            is_uncounted: false,
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

impl Reply {
    /// To so many texts, if there is a vector for each, and all are of one length and of finite numbers.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn vectors(vectors: Vec<Vec<f32>>, texts: usize) -> Result<Reply, String> {
        must_fit(&vectors, texts).map(|()| Reply::Vectors(vectors))
    }
}

/// Whether these are the vectors of so many texts; the error says what is wrong with them.
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
    /// Tokens of the question; `None` if the provider does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens of the answer; `None` if the provider does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
}

/// The most tokens of one answer that count as stated: a database holds no larger number.
pub(crate) const MAX_TOKENS: u64 = i64::MAX as u64;

/// The most that one answer can cost, in US dollars. More counts as not stated: sums of it would say nothing of the
/// others.
pub const MAX_COST_USD: f64 = 1e9;

impl TokenUsage {
    /// The same without counts that no database holds, which are not ones of tokens.
    pub(super) fn credible(self) -> TokenUsage {
        let credible = |tokens: Option<u64>| tokens.filter(|tokens| *tokens <= MAX_TOKENS);
        TokenUsage {
            input_tokens: credible(self.input_tokens),
            output_tokens: credible(self.output_tokens),
        }
    }

    /// The tokens of both; a count that only one of them has is that one's.
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
