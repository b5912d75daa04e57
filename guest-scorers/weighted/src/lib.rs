//! weighted: leaderboard points from success, rating, time and tokens. Points rank attempts at one challenge;
//! they are no share of anything, and have no upper end.
//!
//! score = success bonus + rating · rating weight - seconds · time penalty - tokens · token penalty, and
//! never below 0
//!
//! The rule is that of the `WeightedScorer` of dify's challenges.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Scale, Score, ScoreError, Scorer, schemars,
};
use serde::Deserialize;
use serde_json::json;

/// Gives points: `successBonus` for success, plus rating × `ratingWeight`, minus seconds × `timePenalty`,
/// minus tokens × `tokenPenalty`; never less than 0.
///
/// From the case's `metadata`: `succeeded` (true or false), `rating` (usually 0 to 10), `tokens_total` and
/// `elapsed_ms`. Where the last two are absent, the case's `usage` and `latencyMs` stand in; what is not
/// known counts as 0. A case that has neither `metadata` nor `usage` nor `latencyMs` gets no score.
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
    succeeded: Option<bool>,
    rating: Option<f64>,
    tokens_total: Option<f64>,
    elapsed_ms: Option<f64>,
}

impl Scorer for Weighted {
    const INFO: Info = Info::new("weighted", "Weighted", env!("CARGO_PKG_VERSION"))
        .reads(Fields::METADATA.and(Fields::USAGE).and(Fields::LATENCY))
        .scale(Scale::Points);

    fn prepare(&mut self) -> Result<(), ConfigError> {
        let weights = [
            ("successBonus", self.success_bonus),
            ("ratingWeight", self.rating_weight),
            ("timePenalty", self.time_penalty),
            ("tokenPenalty", self.token_penalty),
        ];
        for (key, weight) in weights {
            if !weight.is_finite() {
                return Err(ConfigError::new(key, format!("should be a number, found {weight}")));
            }
        }
        Ok(())
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
        let tokens = attempt.tokens_total.or_else(|| Some(case.usage()?.total()? as f64));
        let elapsed = attempt.elapsed_ms.or_else(|| case.latency_ms());
        if (case.metadata().is_none(), tokens, elapsed) == (true, None, None) {
            return Err(ScoreError::invalid_input(
                "nothing is known of the attempt: the case should have `metadata` with `succeeded`, \
                 `rating`, `tokens_total` or `elapsed_ms`, or `usage` or `latencyMs`",
            ));
        }
        let base = if attempt.succeeded == Some(true) { self.success_bonus } else { 0.0 };
        let rating = attempt.rating.unwrap_or(0.0) * self.rating_weight;
        let time = elapsed.unwrap_or(0.0) / 1000.0 * self.time_penalty;
        let tokens = tokens.unwrap_or(0.0) * self.token_penalty;
        let points = base + rating - time - tokens;
        if !points.is_finite() {
            return Err(ScoreError::invalid_input(
                "the numbers of the attempt are too large to add",
            ));
        }
        Ok(Score::new(points.max(0.0))
            .reason(format!("{base} for success + {rating} rating - {time} time - {tokens} tokens"))
            .meta(json!({
                "base": base,
                "ratingContribution": rating,
                "timePenalty": time,
                "tokenPenalty": tokens,
            })))
    }
}

scorebox_sdk::export!(Weighted);

#[cfg(test)]
mod tests;
