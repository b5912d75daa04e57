//! chrf: how many runs of one to six characters the output and the reference text share, recall counting more than
//! precision. It needs no words, so it suits languages with many inflections or without spaces.
//!
//! score = (1 + β²) · precision · recall / (β² · precision + recall), where precision and recall are the
//! means over all lengths of run that both texts have
//!
//! chrF, Popović 2015 (W15-3049); with `wordOrder` 2 it is chrF++, Popović 2017 (W17-4770). The same
//! numbers as sacrebleu, divided by 100.

mod runs;

use runs::{Runs, RunsOf};
use scorebox_sdk::{
    Accepted, Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate,
    Part, Score, ScoreError, Scorer, schemars,
};
use serde::Deserialize;
use serde_json::json;

/// Scores how many runs of one to six characters the output shares with the reference text: chrF, 0
/// to 1.
///
/// Precision is the shared part of the output's runs, recall the shared part of the reference's.
/// Both are means over the lengths of run that both texts have, and recall counts `beta` times as
/// much as precision. White space is left out. The reference is the case's ground truth or the
/// configured `value`; if there are several, the best match counts. Popović 2015.
///
/// Equals sacrebleu's `CHRF().sentence_score` divided by 100 (`eff:yes|nc:6|nw:0|space:no`), and
/// with `wordOrder` 2 its chrF++.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The longest run of characters that counts; 1 or more.
    #[serde(default = "six")]
    char_order: u8,
    /// The longest run of words that also counts; 0 is chrF, 2 is chrF++.
    #[serde(default)]
    word_order: u8,
    /// How much more recall counts than precision; 0 to 1000.
    #[serde(default = "two")]
    beta: f64,
    /// Counts white space as characters.
    #[serde(default)]
    whitespace: bool,
    /// Ignores upper and lower case.
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    negate: Negate,
    #[serde(default)]
    value: ExpectedValue,
    #[serde(default)]
    values: ExpectedValues,
}

/// Above it, practically only recall counts, and the arithmetic would overflow.
const MAX_BETA: f64 = 1000.0;

fn six() -> u8 {
    6
}

fn two() -> f64 {
    2.0
}

/// The scorer, made from its [`Config`].
pub struct Chrf {
    char_order: u8,
    word_order: u8,
    beta: f64,
    whitespace: bool,
    ignore_case: bool,
    negate: Negate,
    accepted: Option<Accepted<'static>>,
}

impl Scorer for Chrf {
    type Config = Config;

    const INFO: Info =
        Info::new("chrf", "chrF", env!("CARGO_PKG_VERSION")).reads(Fields::GROUND_TRUTH);

    fn new(config: Config) -> Result<Self, ConfigError> {
        if config.char_order == 0 {
            return Err(ConfigError::new("charOrder", "should be 1 or more, found 0"));
        }
        if !(0.0..=MAX_BETA).contains(&config.beta) {
            let message = format!("should be 0 to {MAX_BETA}, found {}", config.beta);
            return Err(ConfigError::new("beta", message));
        }
        let Config { char_order, word_order, beta, whitespace, ignore_case, negate, value, values } =
            config;
        Ok(Self {
            char_order,
            word_order,
            beta,
            whitespace,
            ignore_case,
            negate,
            accepted: Accepted::configured(value, values)?,
        })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let accepted = Accepted::or_ground_truth(&self.accepted, case)?;
        let output = self.text(&case.output())?;
        let output = RunsOf::new(&output, self.whitespace);
        let mut best: Option<Overlap> = None;
        for part in accepted.at_least_one()? {
            let reference = self.text(part)?;
            let overlap = self.overlap(&output, &RunsOf::new(&reference, self.whitespace));
            best = match best {
                Some(best) if best.f >= overlap.f => Some(best),
                _ => Some(overlap),
            };
        }
        let Overlap { precision, recall, f } = best.unwrap_or_default();
        Ok(self
            .negate
            .score(f)
            .reason(format!(
                "shares runs of characters: precision {precision:.2}, recall {recall:.2}"
            ))
            .meta(json!({ "precision": precision, "recall": recall })))
    }
}

impl Chrf {
    fn text(&self, part: &Part<'_>) -> Result<String, ScoreError> {
        let text = part.text()?;
        Ok(if self.ignore_case { text.to_lowercase() } else { text.into_owned() })
    }

    fn overlap(&self, output: &RunsOf<'_>, reference: &RunsOf<'_>) -> Overlap {
        let characters = (1..=self.char_order).map(|order| {
            let order = usize::from(order);
            runs::compare(&output.characters(order), &reference.characters(order))
        });
        let words = (1..=self.word_order).map(|order| {
            let order = usize::from(order);
            runs::compare(&output.words(order), &reference.words(order))
        });
        let (mut precision, mut recall, mut lengths) = (0.0, 0.0, 0.0);
        for Runs { shared, output, reference } in characters.chain(words) {
            if output > 0 && reference > 0 {
                precision += shared as f64 / output as f64;
                recall += shared as f64 / reference as f64;
                lengths += 1.0;
            }
        }
        if precision + recall == 0.0 {
            return Overlap::default();
        }
        let (precision, recall) = (precision / lengths, recall / lengths);
        let factor = self.beta * self.beta;
        let f = (1.0 + factor) * precision * recall / (factor * precision + recall);
        Overlap { precision, recall, f: f.min(1.0) }
    }
}

/// Precision, recall, and their weighted mean.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Overlap {
    precision: f64,
    recall: f64,
    f: f64,
}

scorebox_sdk::export!(Chrf);

#[cfg(test)]
mod tests;
