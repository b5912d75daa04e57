//! word-count: 1 where the answer has between `min` and `max` words, else 0. A first own scorer, to be
//! copied. It reads the output and nothing else.

use std::ops::RangeInclusive;

use scorebox_sdk::{Case, ConfigError, Info, JsonSchema, Score, ScoreError, Scorer, schemars};
use serde::Deserialize;

/// Scores 1 if the answer has between `min` and `max` words, else 0.
///
/// A word is what stands between white space.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The fewest words that pass.
    #[serde(default)]
    min: usize,
    /// The most words that pass.
    max: usize,
}

/// The scorer: what it keeps of its configuration.
pub struct WordCount {
    passing: RangeInclusive<usize>,
}

impl Scorer for WordCount {
    type Config = Config;
    const INFO: Info = Info::new("word-count", "Word Count", env!("CARGO_PKG_VERSION"));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { min, max } = config;
        if max < min {
            let message = format!("should be `min` ({min}) or more, found {max}");
            return Err(ConfigError::new("max", message));
        }
        Ok(WordCount { passing: min..=max })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let words = case.output().text()?.split_whitespace().count();
        Ok(Score::pass(self.passing.contains(&words)).reason(format!("{words} words")))
    }
}

scorebox_sdk::export!(WordCount);

#[cfg(test)]
mod tests {
    use scorebox_sdk::serde_json::{Value, json};

    use super::*;

    fn score(config: Value, output: Value) -> Score {
        let scorer: WordCount = scorebox_sdk::configure(config).unwrap();
        scorer.score(&Case::new(output)).unwrap()
    }

    #[test]
    fn an_answer_passes_from_min_to_max_words() {
        let config = json!({ "min": 1, "max": 2 });
        for (output, expected) in [("", 0.0), ("yes", 1.0), ("forty two", 1.0), ("a b c", 0.0)] {
            assert_eq!(score(config.clone(), json!(output)).score, Some(expected), "{output:?}");
        }
    }

    #[test]
    fn the_reason_states_the_count() {
        let score = score(json!({ "max": 9 }), json!(" so it  is\n"));
        assert_eq!(score.reason.as_deref(), Some("3 words"));
    }

    #[test]
    fn a_range_without_numbers_is_refused() {
        let refused = scorebox_sdk::configure::<WordCount>(json!({ "min": 3, "max": 2 })).err();
        assert_eq!(
            refused.expect("a refusal").to_string(),
            "`max`: should be `min` (3) or more, found 2"
        );
    }
}
