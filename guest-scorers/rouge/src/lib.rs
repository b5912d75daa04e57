//! rouge: how many words, word pairs or words in the same order the output shares with a reference text. It compares
//! English letters and digits only: every other character separates words.
//!
//! ROUGE-N counts shared runs of N words, ROUGE-L the longest common subsequence of words;
//! precision = shared / those of the output, recall = shared / those of the reference,
//! f1 = 2 · precision · recall / (precision + recall)
//!
//! Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries". The same numbers as rouge-score of Google
//! Research. `overlap` counts what two texts share, `porter` reduces words to their stems.

mod overlap;
mod porter;

use std::collections::HashMap;

use overlap::{Overlap, longest_sequence, shared_runs};
use scorebox_sdk::{
    Accepted, Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate,
    Score, ScoreError, Scorer, schemars,
};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Value, json};

/// Scores how much of a reference text is in the output, by ROUGE: shared words (`1`), pairs of
/// words (`2`), or the longest common subsequence of words (`L`).
///
/// Precision is the shared part of the output, recall the shared part of the reference, f1 their
/// harmonic mean. Words are runs of the letters a to z and digits, ignoring case; a text in another
/// script has none. ROUGE-L treats the text as one sentence. The reference is the case's ground
/// truth or the configured `value`; if there are several, the one with the best f1 counts. Lin
/// 2004.
///
/// Equals rouge-score's `rouge1`, `rouge2` and `rougeL`, and with a list its `score_multi`;
/// `stemmer` `porter` is its `use_stemmer`. The names of its variants are accepted too.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// What is shared. `rouge1`, `rouge2` and `rougeL` mean the same, and so do the numbers 1 and
    /// 2.
    #[serde(default, deserialize_with = "by_name")]
    variant: Variant,
    /// Which figure is the score. `fmeasure` is `f1`.
    #[serde(default)]
    measure: Measure,
    /// What makes the forms of a word equal. `true` is `porter`, and `false` is `none`.
    #[serde(default, deserialize_with = "by_name")]
    stemmer: Stemmer,
    #[serde(default)]
    negate: Negate,
    #[serde(default)]
    value: ExpectedValue,
    #[serde(default)]
    values: ExpectedValues,
}

/// What is shared.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
enum Variant {
    /// Words.
    #[serde(rename = "1", alias = "rouge1")]
    Words,
    /// Pairs of successive words.
    #[serde(rename = "2", alias = "rouge2")]
    Pairs,
    /// The longest sequence of words that both have in the same order, with any others between
    /// them.
    #[default]
    #[serde(rename = "L", alias = "rougeL")]
    Sequence,
}

/// Which figure is the score.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Measure {
    /// How much of the output is in the reference.
    Precision,
    /// How much of the reference is in the output.
    Recall,
    /// The harmonic mean of the two.
    #[default]
    #[serde(alias = "fmeasure")]
    F1,
}

/// What makes the forms of a word equal.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Stemmer {
    /// Nothing: `cat` and `cats` are two words.
    #[default]
    #[serde(alias = "false")]
    None,
    /// M. Porter's suffix stripping for English (1980), as NLTK extends it; for words of more than
    /// three characters.
    #[serde(alias = "true")]
    Porter,
}

/// Reads a choice by its name, even if it is written as a number or a boolean instead of a text.
fn by_name<'de, D: Deserializer<'de>, T: de::DeserializeOwned>(given: D) -> Result<T, D::Error> {
    let name = match Value::deserialize(given)? {
        given @ (Value::Number(_) | Value::Bool(_)) => Value::String(given.to_string()),
        given => given,
    };
    T::deserialize(name).map_err(de::Error::custom)
}

/// The scorer, made from its [`Config`].
pub struct Rouge {
    variant: Variant,
    measure: Measure,
    stemmer: Stemmer,
    negate: Negate,
    accepted: Option<Accepted<'static>>,
}

impl Scorer for Rouge {
    type Config = Config;

    const INFO: Info =
        Info::new("rouge", "ROUGE", env!("CARGO_PKG_VERSION")).reads(Fields::GROUND_TRUTH);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { variant, measure, stemmer, negate, value, values } = config;
        Ok(Self {
            variant,
            measure,
            stemmer,
            negate,
            accepted: Accepted::configured(value, values)?,
        })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let accepted = Accepted::or_ground_truth(&self.accepted, case)?;
        let mut numbers = HashMap::new();
        let output = self.words(&case.output().text()?, &mut numbers);
        let mut best: Option<Overlap> = None;
        for part in accepted.at_least_one()? {
            let reference = self.words(&part.text()?, &mut numbers);
            let overlap = self.overlap(&output, &reference);
            best = match best {
                Some(best) if best.f1() >= overlap.f1() => Some(best),
                _ => Some(overlap),
            };
        }
        let overlap = best.unwrap_or_default();
        let score = match self.measure {
            Measure::Precision => overlap.precision(),
            Measure::Recall => overlap.recall(),
            Measure::F1 => overlap.f1(),
        };
        Ok(self.negate.score(score).reason(self.reason(overlap)).meta(json!({
            "precision": overlap.precision(),
            "recall": overlap.recall(),
            "f1": overlap.f1(),
        })))
    }
}

impl Rouge {
    /// The words of a text, each replaced by a number.
    fn words(&self, text: &str, numbers: &mut HashMap<String, u32>) -> Vec<u32> {
        let lower = text.to_lowercase();
        let words =
            lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        words
            .map(|word| {
                let stems = self.stemmer == Stemmer::Porter && word.len() > 3;
                let word = if stems { porter::stem(word) } else { word.to_owned() };
                let next = numbers.len() as u32;
                *numbers.entry(word).or_insert(next)
            })
            .collect()
    }

    fn overlap(&self, output: &[u32], reference: &[u32]) -> Overlap {
        match self.variant {
            Variant::Words => shared_runs(output, reference, 1),
            Variant::Pairs => shared_runs(output, reference, 2),
            Variant::Sequence => longest_sequence(output, reference),
        }
    }

    fn reason(&self, overlap: Overlap) -> String {
        let things = match self.variant {
            Variant::Words => "words in common",
            Variant::Pairs => "pairs of words in common",
            Variant::Sequence => "longest common word sequence",
        };
        let Overlap { shared, output, reference } = overlap;
        format!("{things}: {shared} (output {output}, reference {reference})")
    }
}

scorebox_sdk::export!(Rouge);

#[cfg(test)]
mod tests;
