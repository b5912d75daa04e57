//! For tests: word-overlap F1 of the output and the ground truth, twice the shared words divided by the words of both.
//! The same scorer in other languages is in `tests/languages`.

use std::collections::HashMap;

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, schemars, serde_json,
};
use serde::Deserialize;

/// How many words output and ground truth share: 2 * shared / (words of both).
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WordF1 {
    /// Whether A and a are the same.
    #[serde(default = "yes")]
    ignore_case: bool,
    /// The least score that is not 0.
    #[serde(default)]
    minimum: f64,
}

fn yes() -> bool {
    true
}

impl Scorer for WordF1 {
    type Config = Self;
    const INFO: Info =
        Info::new("word-f1", "Word F1", env!("CARGO_PKG_VERSION")).reads(Fields::GROUND_TRUTH);

    fn new(config: Self) -> Result<Self, ConfigError> {
        match (0.0..=1.0).contains(&config.minimum) {
            true => Ok(config),
            false => Err(ConfigError::new("minimum", "must be 0 to 1")),
        }
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let Some(truth) = case.ground_truth() else {
            return Err(ScoreError::invalid_input("the case has no groundTruth"));
        };
        let (truth, output) = (self.words(&truth.text()?), self.words(&case.output().text()?));
        let mut left: HashMap<&str, usize> = HashMap::new();
        for word in &truth {
            *left.entry(word).or_default() += 1;
        }
        let mut shared = 0;
        for word in &output {
            if let Some(count) = left.get_mut(word.as_str()).filter(|count| **count > 0) {
                *count -= 1;
                shared += 1;
            }
        }
        let total = truth.len() + output.len();
        let f1 = if total == 0 { 1.0 } else { 2.0 * f64::from(shared) / total as f64 };
        let score = if f1 < self.minimum { 0.0 } else { f1 };
        Ok(Score::new(score)
            .reason(format!(
                "{shared} words shared, of {} in the output and {} in the ground truth",
                output.len(),
                truth.len()
            ))
            .meta(serde_json::json!({
                "output": output.len(), "shared": shared, "truth": truth.len(),
            })))
    }
}

impl WordF1 {
    fn words(&self, text: &str) -> Vec<String> {
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
        let words = words.filter(|word| !word.is_empty());
        let fold = |word: &str| match self.ignore_case {
            true => word.to_ascii_lowercase(),
            false => word.to_owned(),
        };
        words.map(fold).collect()
    }
}

scorebox_sdk::export!(WordF1);
