//! gleu: how many runs of one to four words the output and the expected text share, as a fraction of the text that has
//! more of them. It splits texts at white space only: `mat.` and `mat` are different words.
//!
//! score = min(precision, recall) = shared runs / runs of the text that has more
//!
//! Google-BLEU, Wu et al. 2016, arXiv:1609.08144. The same number as `sentence_gleu` of NLTK.

mod overlap;

use std::collections::HashMap;

use overlap::Overlap;
use scorebox_sdk::{
    Accepted, Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate,
    Part, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_texts::python::is_space;
use serde::Deserialize;
use serde_json::json;

/// Scores how many runs of one to four words the output shares with the reference text: the smaller
/// of precision and recall.
///
/// Words are separated by white space and keep their punctuation. The reference is the case's
/// ground truth or the configured `value`; if there are several, the best match counts. If neither
/// text has a word the score is 0, as in NLTK. Wu et al. 2016.
///
/// Equals NLTK's `sentence_gleu` on `text.split()`, and with `ignoreCase` and `ignoreFullStops`
/// promptfoo's `gleu`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The shortest run of words that counts; 1 or more.
    #[serde(default = "one")]
    min_order: usize,
    /// The longest run of words that counts; `minOrder` or more.
    #[serde(default = "four")]
    max_order: usize,
    /// Ignores upper and lower case.
    #[serde(default)]
    ignore_case: bool,
    /// Ignores full stops at the end of words.
    #[serde(default)]
    ignore_full_stops: bool,
    #[serde(default)]
    negate: Negate,
    #[serde(default)]
    value: ExpectedValue,
    #[serde(default)]
    values: ExpectedValues,
}

fn one() -> usize {
    1
}

fn four() -> usize {
    4
}

/// The scorer, made from its [`Config`].
pub struct Gleu {
    min_order: usize,
    max_order: usize,
    ignore_case: bool,
    ignore_full_stops: bool,
    negate: Negate,
    accepted: Option<Accepted<'static>>,
}

impl Scorer for Gleu {
    type Config = Config;

    const INFO: Info =
        Info::new("gleu", "GLEU", env!("CARGO_PKG_VERSION")).reads(Fields::GROUND_TRUTH);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let (least, most) = (config.min_order, config.max_order);
        if least == 0 {
            return Err(ConfigError::new("minOrder", "should be 1 or more, found 0"));
        }
        if most < least {
            let message = format!("should be `minOrder` ({least}) or more, found {most}");
            return Err(ConfigError::new("maxOrder", message));
        }
        let Config { min_order, max_order, ignore_case, ignore_full_stops, negate, value, values } =
            config;
        Ok(Self {
            min_order,
            max_order,
            ignore_case,
            ignore_full_stops,
            negate,
            accepted: Accepted::configured(value, values)?,
        })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let accepted = Accepted::or_ground_truth(&self.accepted, case)?;
        let mut known = HashMap::new();
        let output = self.words(&case.output(), &mut known)?;
        let mut best: Option<Overlap> = None;
        for part in accepted.at_least_one()? {
            let reference = self.words(part, &mut known)?;
            let overlap = Overlap::of(&output, &reference, self.min_order..=self.max_order);
            best = match best {
                Some(best) if best.gleu() >= overlap.gleu() => Some(best),
                _ => Some(overlap),
            };
        }
        let best = best.unwrap_or_default();
        let Overlap { shared, output, reference } = best;
        let gleu = best.gleu();
        Ok(self
            .negate
            .score(gleu)
            .reason(format!(
                "runs of words in common: {shared} (output {output}, reference {reference})"
            ))
            .meta(json!({ "shared": shared, "output": output, "reference": reference })))
    }
}

impl Gleu {
    /// The words of a text, each replaced by a number.
    fn words(
        &self,
        part: &Part<'_>,
        known: &mut HashMap<String, u32>,
    ) -> Result<Vec<u32>, ScoreError> {
        let text = part.text()?;
        let text = if self.ignore_case { text.to_lowercase().into() } else { text };
        let words = text.split(is_space).filter(|word| !word.is_empty());
        let number = |word: &str| {
            let word = if self.ignore_full_stops { word.trim_end_matches('.') } else { word };
            let next = known.len() as u32;
            *known.entry(word.to_owned()).or_insert(next)
        };
        Ok(words.map(number).collect())
    }
}

scorebox_sdk::export!(Gleu);

#[cfg(test)]
mod tests;
