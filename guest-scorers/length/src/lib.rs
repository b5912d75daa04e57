//! length: whether the length of the output is within bounds, and how far it is outside. It counts words, characters,
//! sentences or lines, but not a model's tokens.
//!
//! score = 1 from `min` to `max`, count / min below, max / count above
//!
//! With `outside: zero` the rule is that of promptfoo's `word-count`.

use scorebox_sdk::{
    Case, ConfigError, Info, JsonObject, JsonSchema, Negate, Score, ScoreError, Scorer, excerpt,
    push_count, schemars,
};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation;

/// The initial capacity of a reason, in bytes: enough for most.
const USUAL_REASON: usize = 64;

/// Scores whether the length of the output is within bounds: 1 from `min` to `max`, count / `min`
/// below, `max` / count above.
///
/// Half the minimum scores 0.5, and so does twice the maximum. An output that is not a string is
/// measured as its compact JSON text. For an exact length, give it as both `min` and `max`.
///
/// With `outside: zero`, equals promptfoo's `word-count`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Length {
    /// What is counted.
    #[serde(default)]
    unit: Unit,
    /// The minimum length: a whole number, or its text.
    #[serde(default, deserialize_with = "whole_number")]
    min: Option<usize>,
    /// The maximum length: a whole number, or its text.
    #[serde(default, deserialize_with = "whole_number")]
    max: Option<usize>,
    /// The score of a length out of bounds.
    #[serde(default)]
    outside: Outside,
    #[serde(default)]
    negate: Negate,
}

/// What is counted.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    /// Anything between white space.
    #[default]
    Words,
    /// Unicode code points.
    Characters,
    /// Sentences by the rules of Unicode (UAX 29): they end at `!`, `?`, a full stop that no
    /// lower-case letter follows, and at the end of a line.
    Sentences,
    /// Lines; a line break at the end does not start another one.
    Lines,
}

/// What a length out of bounds scores.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Outside {
    /// The less, the farther out of bounds it is.
    #[default]
    Proportional,
    /// 0.
    Zero,
}

/// Reads a whole number, or its text, which promptfoo's `word-count` accepts too.
fn whole_number<'de, D: Deserializer<'de>>(given: D) -> Result<Option<usize>, D::Error> {
    match Value::deserialize(given)? {
        Value::Null => Ok(None),
        Value::String(text) => text.trim().parse().map(Some).map_err(|_| {
            let found = excerpt(&text, 40);
            de::Error::custom(format!("should be a whole number, 0 or more; found \"{found}\""))
        }),
        number => usize::deserialize(number).map(Some).map_err(de::Error::custom),
    }
}

impl Scorer for Length {
    type Config = Self;

    const INFO: Info = Info::new("length", "Length", env!("CARGO_PKG_VERSION"));

    fn new(config: Self) -> Result<Self, ConfigError> {
        match (config.min, config.max) {
            (None, None) => Err(ConfigError::whole("needs `min` or `max`, or both")),
            (Some(min), Some(max)) if max < min => {
                let message = format!("should be `min` ({min}) or more, found {max}");
                Err(ConfigError::new("max", message))
            }
            _ => Ok(config),
        }
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let output = case.output();
        let count = self.unit.count(&output.text()?);
        let fraction = fraction(count, self.min, self.max);
        let score = match self.outside {
            Outside::Zero if fraction < 1.0 => 0.0,
            _ => fraction,
        };
        let reason = self.reason(count);
        Ok(self
            .negate
            .score(score)
            .reason(reason)
            .meta(JsonObject::new().count("count", count as u64)))
    }
}

impl Length {
    /// Written piece by piece, because the formatting machinery would take longer than counting.
    fn reason(&self, count: usize) -> String {
        let mut reason = String::with_capacity(USUAL_REASON);
        push_count(&mut reason, count as u64);
        for words in [" ", self.unit.name(count), "; "] {
            reason.push_str(words);
        }
        let (before, first, last) = match (self.min, self.max) {
            (Some(min), Some(max)) if min == max => ("", min, None),
            (Some(min), max @ Some(_)) => ("", min, max),
            (Some(min), None) => ("at least ", min, None),
            (None, max) => ("at most ", max.unwrap_or_default(), None),
        };
        reason.push_str(before);
        push_count(&mut reason, first as u64);
        if let Some(last) = last {
            reason.push_str(" to ");
            push_count(&mut reason, last as u64);
        }
        reason.push_str(" allowed");
        reason
    }
}

impl Unit {
    fn count(self, text: &str) -> usize {
        match self {
            Unit::Words => text.split_whitespace().count(),
            Unit::Characters => text.chars().count(),
            Unit::Sentences => text.unicode_sentences().count(),
            Unit::Lines => text.lines().count(),
        }
    }

    fn name(self, count: usize) -> &'static str {
        let (one, many) = match self {
            Unit::Words => ("word", "words"),
            Unit::Characters => ("character", "characters"),
            Unit::Sentences => ("sentence", "sentences"),
            Unit::Lines => ("line", "lines"),
        };
        if count == 1 { one } else { many }
    }
}

/// The score of a length: 1 from `min` to `max`, and lower the farther it is outside.
#[must_use]
pub fn fraction(count: usize, min: Option<usize>, max: Option<usize>) -> f64 {
    match (min, max) {
        (Some(min), _) if count < min => count as f64 / min as f64,
        (_, Some(max)) if count > max => max as f64 / count as f64,
        _ => 1.0,
    }
}

scorebox_sdk::export!(Length);

#[cfg(test)]
mod tests;
