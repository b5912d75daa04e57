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
use serde::{
    Deserialize, Deserializer,
    de::{self, IgnoredAny, Unexpected},
};
use serde_json::json;

/// Gives points: `successBonus` for success, plus rating × `ratingWeight`, minus seconds ×
/// `timePenalty`, minus tokens × `tokenPenalty`; never less than 0.
///
/// The case's `metadata` provides `succeeded` (true or false, or 1 or 0), `rating` (usually 0 to
/// 10), `tokens_total` and `elapsed_ms`, also written `tokensTotal` and `elapsedMs`; texts (`"true"`,
/// `"8"`), as tables have them, are read too. If the last two are absent, the case's `usage` and
/// `latencyMs` are used; a `usage` with only one of `inputTokens` and `outputTokens` is an error,
/// unless `tokenPenalty` is 0. What is absent or `null` counts as 0, but a case with none of these
/// keys is an error.
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

/// The figures of an attempt, as far as they are known.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Attempt {
    succeeded: Stated<bool>,
    rating: Stated<f64>,
    tokens_total: Stated<f64>,
    #[serde(rename = "tokensTotal")]
    tokens_in_camel_case: Stated<f64>,
    elapsed_ms: Stated<f64>,
    #[serde(rename = "elapsedMs")]
    elapsed_in_camel_case: Stated<f64>,
}

impl Attempt {
    fn states_anything(&self) -> bool {
        let Attempt { succeeded, rating, tokens_total, tokens_in_camel_case, .. } = self;
        let figures = [rating, tokens_total, tokens_in_camel_case];
        let times = [&self.elapsed_ms, &self.elapsed_in_camel_case];
        succeeded.is_there || figures.into_iter().chain(times).any(|figure| figure.is_there)
    }
}

/// The value of a key, and whether the key is present: `null` says that a value is not known.
#[derive(Clone, Copy, Default)]
struct Stated<T> {
    is_there: bool,
    value: Option<T>,
}

impl<'de> Deserialize<'de> for Stated<bool> {
    fn deserialize<D: Deserializer<'de>>(given: D) -> Result<Self, D::Error> {
        let cell: Option<Cell> = Option::deserialize(given)?;
        Ok(Stated { is_there: true, value: cell.map(Cell::flag).transpose()? })
    }
}

impl<'de> Deserialize<'de> for Stated<f64> {
    fn deserialize<D: Deserializer<'de>>(given: D) -> Result<Self, D::Error> {
        let cell: Option<Cell> = Option::deserialize(given)?;
        Ok(Stated { is_there: true, value: cell.map(Cell::number).transpose()? })
    }
}

/// A value; tables may have it as text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Cell {
    Boolean(bool),
    Number(f64),
    Text(String),
    Other(IgnoredAny),
}

impl Cell {
    /// `true` or `false`, or 1 or 0, as databases and tables write them.
    fn flag<E: de::Error>(self) -> Result<bool, E> {
        let is = |word: &str| matches!(&self, Cell::Text(text) if text.trim().eq_ignore_ascii_case(word));
        match &self {
            Cell::Boolean(flag) => return Ok(*flag),
            _ if is("true") => return Ok(true),
            _ if is("false") => return Ok(false),
            _ => {}
        }
        match self.number::<E>() {
            Ok(1.0) => Ok(true),
            Ok(0.0) => Ok(false),
            _ => Err(E::custom("should be true, false, 1 or 0")),
        }
    }

    fn number<E: de::Error>(self) -> Result<f64, E> {
        match self {
            Cell::Number(number) => Ok(number),
            Cell::Text(text) => serde_json::from_str(text.trim())
                .map_err(|_| E::invalid_type(Unexpected::Str(&text), &"a number")),
            Cell::Boolean(flag) => Err(E::invalid_type(Unexpected::Bool(flag), &"a number")),
            Cell::Other(_) => Err(E::custom("should be a number")),
        }
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
            // serde would read a list as the fields in order.
            Some(metadata) if metadata.kind() != "an object" => {
                return Err(metadata.should_be("an object"));
            }
            Some(metadata) => metadata.read()?,
            None => Attempt::default(),
        };
        let tokens = match attempt.tokens_total.value.or(attempt.tokens_in_camel_case.value) {
            Some(tokens) => Some(tokens),
            None => case.usage().map_or(Ok(None), |usage| self.tokens(usage))?,
        };
        let elapsed = attempt.elapsed_ms.value.or(attempt.elapsed_in_camel_case.value);
        let elapsed = elapsed.or_else(|| case.latency_ms());
        if !attempt.states_anything() && tokens.is_none() && elapsed.is_none() {
            return Err(ScoreError::invalid_input(
                "nothing is known about the attempt: the case should have `metadata` with `succeeded`, \
                 `rating`, `tokens_total` or `elapsed_ms`, or `usage` or `latencyMs`",
            ));
        }
        let base = if attempt.succeeded.value == Some(true) { self.success_bonus } else { 0.0 };
        let rating = attempt.rating.value.unwrap_or(0.0) * self.rating_weight;
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
    /// All tokens of a usage. If only half of them are known, the rest would be free, so that is an error unless tokens
    /// cost nothing.
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
