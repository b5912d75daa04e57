//! bleu: how many runs of one to four words of the output are in the reference texts. It judges one
//! sentence or answer by itself; the BLEU of a whole corpus is not the mean of these.
//!
//! score = brevity penalty · (p1 · p2 · p3 · p4)^(1/4)
//!
//! p of n is the part of the output's runs of n tokens that a reference has too; the brevity penalty is
//! exp(1 - reference length / output length) if the output is shorter than the reference, else 1.
//! Papineni et al. 2002. Tokens, smoothing and order are those of sacrebleu (Post 2018), divided by 100.

mod formula;
mod tokens;

use std::collections::HashMap;

use formula::bleu;
use scorebox_sdk::{
    Accepted, Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate,
    Part, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_texts::python::is_space;
use serde::Deserialize;
use serde_json::json;
use tokens::tokens;

/// Scores how many runs of one to four words of the output occur in the reference texts: sentence
/// BLEU, 0 to 1.
///
/// The geometric mean of the precisions for each length of run, times a penalty if the output is
/// shorter than the reference. A length without a shared run counts as half a run, then a quarter,
/// and so on (smoothing `exp`); lengths that the output is too short for are left out (effective
/// order). Tokens are those of mteval-v13a. References are the case's ground truth or the
/// configured `value`; a list is one multi-reference BLEU, in which a run may come from any of
/// them. Papineni et al. 2002.
///
/// Equals sacrebleu's `sentence_bleu` divided by 100 (`case:mixed|eff:yes|tok:13a|smooth:exp`).
/// promptfoo's `bleu` gives other figures: its only smoothing is a constant, and it rewards short
/// outputs. Texts that share little score higher here, for example 0.08 for "Dogs run in the park."
/// against "The cat sat on the mat." with `ignoreCase`, which promptfoo scores below 0.001.
/// Choose thresholds again.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The longest run of words that counts; 1 or more.
    #[serde(default = "four")]
    max_order: usize,
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

fn four() -> usize {
    4
}

/// The scorer, made from its [`Config`].
pub struct Bleu {
    max_order: usize,
    ignore_case: bool,
    negate: Negate,
    accepted: Option<Accepted<'static>>,
}

impl Scorer for Bleu {
    type Config = Config;

    const INFO: Info =
        Info::new("bleu", "BLEU", env!("CARGO_PKG_VERSION")).reads(Fields::GROUND_TRUTH);

    fn new(config: Config) -> Result<Self, ConfigError> {
        if config.max_order == 0 {
            return Err(ConfigError::new("maxOrder", "should be 1 or more, found 0"));
        }
        let Config { max_order, ignore_case, negate, value, values } = config;
        Ok(Self { max_order, ignore_case, negate, accepted: Accepted::configured(value, values)? })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let accepted = Accepted::or_ground_truth(&self.accepted, case)?;
        let output = self.text(&case.output())?;
        let references = (accepted.at_least_one()?.iter())
            .map(|part| self.text(part))
            .collect::<Result<Vec<_>, _>>()?;
        let mut known = HashMap::new();
        let output = numbers(&output, &mut known);
        let references: Vec<_> = references.iter().map(|text| numbers(text, &mut known)).collect();
        let bleu = bleu(&output, &references, self.max_order);
        Ok(self.negate.score(bleu.score).reason(bleu.reason()).meta(json!({
            "precisions": bleu.precisions,
            "brevityPenalty": bleu.brevity_penalty,
            "outputTokens": bleu.output_tokens,
            "referenceTokens": bleu.reference_tokens,
        })))
    }
}

impl Bleu {
    fn text(&self, part: &Part<'_>) -> Result<String, ScoreError> {
        let text = part.text()?;
        Ok(if self.ignore_case { tokens(&text.to_lowercase()) } else { tokens(&text) })
    }
}

/// The tokens of a text, each replaced by a number: runs of numbers are cheaper to compare.
fn numbers<'t>(text: &'t str, known: &mut HashMap<&'t str, u32>) -> Vec<u32> {
    let tokens = text.split(is_space).filter(|token| !token.is_empty());
    tokens
        .map(|token| {
            let next = known.len() as u32;
            *known.entry(token).or_insert(next)
        })
        .collect()
}

scorebox_sdk::export!(Bleu);

#[cfg(test)]
mod tests;
