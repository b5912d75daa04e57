//! levenshtein: how similar the output and the expected text are, letter by letter. It knows nothing of words or
//! meaning.
//!
//! score = 1 - distance / max(length of output, length of expected)
//!
//! Distance is V. Levenshtein's (1966): the fewest insertions, deletions and substitutions, each of one
//! Unicode code point. The same number as `Levenshtein.normalized_similarity` of rapidfuzz.

use std::borrow::Cow;

use rapidfuzz::distance::levenshtein;
use scorebox_sdk::{
    Accepted, Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonObject,
    JsonSchema, Negate, Score, ScoreError, Scorer, push_count, schemars,
};
use scorebox_sdk_texts::similarity::of_edits;
use serde::Deserialize;

/// The initial capacity of a reason, in bytes: enough for most.
const USUAL_REASON: usize = 64;

/// Scores how similar the output and the expected text are: 1 - edit distance / length of the
/// longer one.
///
/// Distance and length count Unicode code points, and nothing is normalized; two empty texts have
/// the score 1. The expected text is the case's ground truth or the configured `value`; if there are
/// several, the most similar one counts. A value that is not a string is compared as its compact JSON text.
/// Levenshtein 1966.
///
/// Equals rapidfuzz's `Levenshtein.normalized_similarity` and, for texts (it writes other values as
/// Python does), autoevals' `Levenshtein`. niceeval's `similarity` has the same formula. With
/// `maxDistance` it passes or fails, as promptfoo's `levenshtein` does (whose default is 5). niceeval
/// and promptfoo count UTF-16 units, so an emoji counts as two there.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// Ignores upper and lower case.
    #[serde(default)]
    ignore_case: bool,
    /// The maximum number of edits that passes: the score is then 1 up to it, and 0 beyond.
    #[serde(default)]
    max_distance: Option<usize>,
    #[serde(default)]
    negate: Negate,
    #[serde(default)]
    value: ExpectedValue,
    #[serde(default)]
    values: ExpectedValues,
}

/// The scorer, made from its [`Config`].
pub struct Levenshtein {
    ignore_case: bool,
    max_distance: Option<usize>,
    negate: Negate,
    accepted: Option<Accepted<'static>>,
}

impl Scorer for Levenshtein {
    type Config = Config;

    const INFO: Info = Info::new("levenshtein", "Levenshtein", env!("CARGO_PKG_VERSION"))
        .reads(Fields::GROUND_TRUTH);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { ignore_case, max_distance, negate, value, values } = config;
        Ok(Self {
            ignore_case,
            max_distance,
            negate,
            accepted: Accepted::configured(value, values)?,
        })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let accepted = Accepted::or_ground_truth(&self.accepted, case)?;
        let output = case.output();
        if accepted.is_whole(&output)? {
            return Ok(self.result(Similarity::EQUAL));
        }
        let output = self.fold(output.text()?);
        let mut best: Option<Similarity> = None;
        for part in accepted.at_least_one()? {
            let expected = self.fold(part.text()?);
            let similarity = similarity(&output, &expected);
            best = match best {
                Some(best) if !self.is_better(similarity, best) => Some(best),
                _ => Some(similarity),
            };
        }
        Ok(self.result(best.unwrap_or(Similarity::EQUAL)))
    }
}

impl Levenshtein {
    fn fold<'t>(&self, text: Cow<'t, str>) -> Cow<'t, str> {
        if self.ignore_case { Cow::Owned(text.to_lowercase()) } else { text }
    }

    fn is_better(&self, one: Similarity, other: Similarity) -> bool {
        match self.max_distance {
            Some(_) => one.distance < other.distance,
            None => one.score > other.score,
        }
    }

    fn result(&self, similarity: Similarity) -> Score {
        let distance = similarity.distance;
        // Built without the formatting machinery, which would take longer than comparing.
        let mut reason = String::with_capacity(USUAL_REASON);
        match distance {
            0 => reason.push_str("equal to"),
            1 => reason.push_str("1 edit away from"),
            _ => {
                push_count(&mut reason, distance as u64);
                reason.push_str(" edits away from");
            }
        }
        reason.push_str(" the expected text");
        let mut score = similarity.score;
        if let Some(max) = self.max_distance {
            score = if distance <= max { 1.0 } else { 0.0 };
            reason.push_str("; at most ");
            push_count(&mut reason, max as u64);
            reason.push_str(" allowed");
        }
        self.negate
            .score(score)
            .reason(reason)
            .meta(JsonObject::new().count("distance", distance as u64))
    }
}

/// The similarity of two texts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Similarity {
    /// 0 (nothing in common) to 1 (equal).
    pub score: f64,
    /// The smallest number of edits, of one code point each, that turn one text into the other.
    pub distance: usize,
}

impl Similarity {
    const EQUAL: Self = Self { score: 1.0, distance: 0 };
}

/// The normalized similarity of two texts; two empty texts are equal.
#[must_use]
pub fn similarity(left: &str, right: &str) -> Similarity {
    let distance = levenshtein::distance(left.chars(), right.chars());
    Similarity { score: of_edits(distance, left, right), distance }
}

scorebox_sdk::export!(Levenshtein);

#[cfg(test)]
mod tests;
