//! length: whether the output is as long as it may be, and how far it is outside. It counts words,
//! characters, sentences or lines, and no tokens of a model.
//!
//! score = 1 from `min` to `max`, count / min below, max / count above
//!
//! With `outside: zero` the rule is that of promptfoo's `word-count` and `character-count`.

use scorebox_sdk::{Case, ConfigError, Info, JsonSchema, Score, ScoreError, Scorer, schemars};
use serde::{Deserialize, Serialize};
use serde_json::json;
use unicode_segmentation::UnicodeSegmentation;

/// Scores whether the output is as long as it may be: 1 from `min` to `max`, count / `min` below,
/// `max` / count above.
///
/// So half of the fewest words scores 0.5, and twice the most as well. An output that is no string is
/// counted as its JSON text. For an exact length, give it as `min` and `max`.
///
/// Equals promptfoo's `word-count` and `character-count` with `outside: zero`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Length {
    /// What is counted.
    #[serde(default)]
    unit: Unit,
    /// The fewest that are allowed.
    #[serde(default)]
    min: Option<usize>,
    /// The most that are allowed.
    #[serde(default)]
    max: Option<usize>,
    /// What a length outside scores.
    #[serde(default)]
    outside: Outside,
    /// Turns the score around: 1 - score.
    #[serde(default)]
    negate: bool,
}

/// What is counted.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    /// What stands between white space.
    #[default]
    Words,
    /// Unicode code points.
    Characters,
    /// Sentences by the rules of Unicode (UAX 29): they end at `!`, `?`, a full stop with no small letter
    /// after it, and at the end of a line.
    Sentences,
    /// Lines; a line break at the end begins no new one.
    Lines,
}

/// What a length outside scores.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Outside {
    /// The less, the farther it is outside.
    #[default]
    Proportional,
    /// 0.
    Zero,
}

impl Scorer for Length {
    const INFO: Info = Info::new("length", "Length", env!("CARGO_PKG_VERSION"));

    fn prepare(&mut self) -> Result<(), ConfigError> {
        match (self.min, self.max) {
            (None, None) => Err(ConfigError::whole("needs `min` or `max`, or both")),
            (Some(min), Some(max)) if max < min => {
                let message = format!("should be `min` ({min}) or more, found {max}");
                Err(ConfigError::new("max", message))
            }
            _ => Ok(()),
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
        let allowed = match (self.min, self.max) {
            (Some(min), Some(max)) if min == max => format!("{min}"),
            (Some(min), Some(max)) => format!("{min} to {max}"),
            (Some(min), None) => format!("at least {min}"),
            (None, max) => format!("at most {}", max.unwrap_or_default()),
        };
        Ok(Score::new(if self.negate { 1.0 - score } else { score })
            .reason(format!("{count} {}; {allowed} allowed", self.unit.name(count)))
            .meta(json!({ "count": count })))
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

/// The part of a length that is allowed: 1 from `min` to `max`, and less the farther it is outside.
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
