//! token-f1: how many words the output shares with the expected answer, in any order. It knows nothing
//! of word order or meaning.
//!
//! precision = shared words / words of the output, recall = shared words / words of the expected answer,
//! score = 2 · precision · recall / (precision + recall)
//!
//! The measure of SQuAD (Rajpurkar et al. 2016, arXiv:1606.05250): words count as often as they occur. Words are
//! normalized as in Inspect's `f1`; see `words`.

mod words;

use scorebox_sdk::{
    Accepted, Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate,
    Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_texts::similarity::shared;
use serde::Deserialize;
use serde_json::json;
use words::{normalize_token, words};

/// Scores how many words the output shares with the expected answer: the harmonic mean of precision
/// and recall (SQuAD's F1), in which a word counts as often as it occurs.
///
/// Words are compared without case, punctuation and the articles a, an, the; a hyphen separates
/// words; numbers are compared by value (`3,000` is `3000.0`). The expected answer is the case's
/// ground truth or the configured `value`; if there are several, the best match counts, and those
/// without any word are skipped. If neither side has a word the score is 1, as in SQuAD 2.0.
/// Rajpurkar et al. 2016.
///
/// Equals Inspect's `compute_f1`, and its scorer `f1` except that `f1` rounds to two decimals, and
/// gives 0 if the expected answer has no word.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// Words that do not count, in addition to the articles.
    #[serde(default)]
    stop_words: Vec<String>,
    #[serde(default)]
    negate: Negate,
    #[serde(default)]
    value: ExpectedValue,
    #[serde(default)]
    values: ExpectedValues,
}

/// The scorer, made from its [`Config`].
pub struct TokenF1 {
    stop_words: Vec<String>,
    negate: Negate,
    accepted: Option<Accepted<'static>>,
}

impl Scorer for TokenF1 {
    type Config = Config;

    const INFO: Info =
        Info::new("token-f1", "Token F1", env!("CARGO_PKG_VERSION")).reads(Fields::GROUND_TRUTH);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { stop_words, negate, value, values } = config;
        let stop_words = stop_words.iter().map(|word| normalize_token(word)).collect();
        Ok(Self { stop_words, negate, accepted: Accepted::configured(value, values)? })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let accepted = Accepted::or_ground_truth(&self.accepted, case)?;
        let output = words(&case.output().text()?, &self.stop_words);
        let mut best: Option<Overlap> = None;
        for part in accepted.at_least_one()? {
            let expected = words(&part.text()?, &self.stop_words);
            if !expected.is_empty() {
                let overlap = Overlap::of(&output, &expected);
                best = match best {
                    Some(best) if best.f1() >= overlap.f1() => Some(best),
                    _ => Some(overlap),
                };
            }
        }
        let overlap = best.unwrap_or(Overlap { shared: 0, output: output.len(), expected: 0 });
        let f1 = overlap.f1();
        Ok(self
            .negate
            .score(f1)
            .reason(overlap.reason())
            .meta(json!({ "precision": overlap.precision(), "recall": overlap.recall() })))
    }
}

/// How many words two texts have, and how many they share.
#[derive(Debug, Clone, Copy)]
struct Overlap {
    shared: usize,
    output: usize,
    expected: usize,
}

impl Overlap {
    fn of(output: &[String], expected: &[String]) -> Self {
        Self { shared: shared(output, expected), output: output.len(), expected: expected.len() }
    }

    fn precision(self) -> f64 {
        share(self.shared, self.output)
    }

    fn recall(self) -> f64 {
        share(self.shared, self.expected)
    }

    fn f1(self) -> f64 {
        let (precision, recall) = (self.precision(), self.recall());
        if precision + recall == 0.0 {
            0.0
        } else {
            2.0 * precision * recall / (precision + recall)
        }
    }

    fn reason(self) -> String {
        let Self { shared, output, expected } = self;
        format!("words in common: {shared} (output {output}, expected answer {expected})")
    }
}

/// A text without words lacks nothing.
fn share(shared: usize, all: usize) -> f64 {
    if all == 0 { 1.0 } else { shared as f64 / all as f64 }
}

scorebox_sdk::export!(TokenF1);

#[cfg(test)]
mod tests;
