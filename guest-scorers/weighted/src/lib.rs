//! weighted: leaderboard points from success, rating, time and tokens. Points rank attempts at one challenge;
//! they are not a fraction of anything, and have no upper bound.
//!
//! score = success bonus + rating · rating weight - seconds · time penalty - tokens · token penalty, and
//! never below 0
//!
//! The rule is that of the `WeightedScorer` of dify's challenges.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Scale, Score, ScoreError, Scorer, Usage, schemars,
};
use serde::{Deserialize, Deserializer, de};
use serde_json::json;

/// Gives points: `successBonus` for success, plus rating × `ratingWeight`, minus seconds ×
/// `timePenalty`, minus tokens × `tokenPenalty`; never less than 0.
///
/// The case's `metadata` provides `succeeded` (true or false, or 1 or 0), `rating` (usually 0 to
/// 10), `tokens_total` and `elapsed_ms`, also written `tokensTotal` and `elapsedMs`. If the last two
/// are absent, the case's `usage` and `latencyMs` are used; a `usage` with only one of `inputTokens`
/// and `outputTokens` is an error, unless `tokenPenalty` is 0. Anything unknown counts as 0. A case without `metadata`, `usage`
/// and `latencyMs` gets no score.
///
/// Equals dify's `WeightedScorer`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Weighted {
    /// Points for an attempt that succeeded.
    #[serde(default = "hundred")]
    success_bonus: f64,
    /// Points for each point of the rating.
    #[serde(default = "ten")]
    rating_weight: f64,
    /// Points that each second costs.
    #[serde(default = "one")]
    time_penalty: f64,
    /// Points that each token costs.
    #[serde(default = "hundredth")]
    token_penalty: f64,
}

fn hundred() -> f64 {
    100.0
}

fn ten() -> f64 {
    10.0
}

fn one() -> f64 {
    1.0
}

fn hundredth() -> f64 {
    0.01
}

/// What is known of an attempt.
#[derive(Default, Deserialize)]
struct Attempt {
    #[serde(default, deserialize_with = "flag")]
    succeeded: bool,
    rating: Option<f64>,
    tokens_total: Option<f64>,
    #[serde(rename = "tokensTotal")]
    tokens_in_camel_case: Option<f64>,
    elapsed_ms: Option<f64>,
    #[serde(rename = "elapsedMs")]
    elapsed_in_camel_case: Option<f64>,
}

/// `true` or `false`, or 1 or 0 as databases write them; `null` is `false`.
fn flag<'de, D: Deserializer<'de>>(given: D) -> Result<bool, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "should be true, false, 1 or 0")]
    enum Flag {
        Boolean(bool),
        Number(u8),
    }
    match Option::deserialize(given)? {
        None => Ok(false),
        Some(Flag::Boolean(flag)) => Ok(flag),
        Some(Flag::Number(number @ (0 | 1))) => Ok(number == 1),
        Some(Flag::Number(_)) => Err(de::Error::custom("should be true, false, 1 or 0")),
    }
}

impl Scorer for Weighted {
    type Config = Self;

    const INFO: Info = Info::new("weighted", "Weighted", env!("CARGO_PKG_VERSION"))
        .reads(Fields::METADATA.and(Fields::USAGE).and(Fields::LATENCY))
        .scale(Scale::Points);

    fn new(config: Self) -> Result<Self, ConfigError> {
        let weights = [
            ("successBonus", config.success_bonus),
            ("ratingWeight", config.rating_weight),
            ("timePenalty", config.time_penalty),
            ("tokenPenalty", config.token_penalty),
        ];
        for (key, weight) in weights {
            if !weight.is_finite() {
                return Err(ConfigError::new(key, format!("should be a number, found {weight}")));
            }
        }
        Ok(config)
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let attempt = match case.metadata() {
            // A list would be read by position.
            Some(metadata) if metadata.kind() != "an object" => {
                return Err(metadata.should_be("an object"));
            }
            Some(metadata) => metadata.read()?,
            None => Attempt::default(),
        };
        let tokens = match attempt.tokens_total.or(attempt.tokens_in_camel_case) {
            Some(tokens) => Some(tokens),
            None => case.usage().map_or(Ok(None), |usage| self.tokens(usage))?,
        };
        let elapsed = attempt.elapsed_ms.or(attempt.elapsed_in_camel_case);
        let elapsed = elapsed.or_else(|| case.latency_ms());
        if (case.metadata().is_none(), tokens, elapsed) == (true, None, None) {
            return Err(ScoreError::invalid_input(
                "nothing is known about the attempt: the case should have `metadata` with `succeeded`, \
                 `rating`, `tokens_total` or `elapsed_ms`, or `usage` or `latencyMs`",
            ));
        }
        let base = if attempt.succeeded { self.success_bonus } else { 0.0 };
        let rating = attempt.rating.unwrap_or(0.0) * self.rating_weight;
        let time = elapsed.unwrap_or(0.0) / 1000.0 * self.time_penalty;
        let tokens = tokens.unwrap_or(0.0) * self.token_penalty;
        let points = base + rating - time - tokens;
        if !points.is_finite() {
            return Err(ScoreError::invalid_input(
                "the numbers of the attempt are too large to add",
            ));
        }
        Ok(Score::new(points.max(0.0)).reason(reason(base, rating, time, tokens)).meta(json!({
            "base": base,
            "ratingContribution": rating,
            "timePenalty": time,
            "tokenPenalty": tokens,
        })))
    }
}

impl Weighted {
    /// All tokens of a usage: half of them would make the rest free, unless tokens cost nothing anyway.
    fn tokens(&self, usage: &Usage) -> Result<Option<f64>, ScoreError> {
        let missing = match (usage.total(), usage.input_tokens, usage.output_tokens) {
            (None, Some(tokens), _) | (None, _, Some(tokens)) if self.token_penalty == 0.0 => {
                return Ok(Some(tokens as f64));
            }
            (None, Some(_), _) => "outputTokens",
            (None, _, Some(_)) => "inputTokens",
            (total, ..) => return Ok(total.map(|tokens| tokens as f64)),
        };
        Err(ScoreError::invalid_input(format!(
            "the usage should have `totalTokens`, or `inputTokens` and `outputTokens`; it has no `{missing}`"
        )))
    }
}

/// The sum in words.
fn reason(base: f64, rating: f64, time: f64, tokens: f64) -> String {
    let plus = |points: f64| format!("{} {}", if points < 0.0 { "-" } else { "+" }, points.abs());
    let minus = |points: f64| format!("{} {}", if points < 0.0 { "+" } else { "-" }, points.abs());
    let (rating, time, tokens) = (plus(rating), minus(time), minus(tokens));
    format!("{base} for success {rating} for rating {time} for time {tokens} for tokens")
}

scorebox_sdk::export!(Weighted);

#[cfg(test)]
mod tests;
