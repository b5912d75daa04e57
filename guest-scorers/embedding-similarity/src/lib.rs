//! embedding-similarity: how close in meaning the output is to the expected text, by the cosine of their embeddings. It
//! asks an embedding model, but no judge. For similarity in letters see levenshtein.
//!
//! score = (cosine - expectedMin) / (1 - expectedMin), at least 0
//!
//! The formula is that of autoevals' `EmbeddingSimilarity` (commit edfa259), whose `expectedMin` is 0.7;
//! with 0, the default here, it is RAGAS' `SemanticSimilarity` (0.4.3).

use scorebox_sdk::{
    Accepted, Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Part,
    Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_judges::{similarity, with_meaning};
use serde::Deserialize;
use serde_json::json;

/// Scores how close in meaning the output is to the expected text: the cosine of their embeddings, at least
/// 0.
///
/// The expected text is the case's ground truth or the configured `value`; if there are several, the closest
/// one counts. A value that is not a string is compared as its compact JSON text. An empty text, whatever its
/// `prefix`, has no meaning to compare and is `invalid-input`. Needs a model for embeddings; if that gives a
/// vector of zeros, which is a fault, the result is an error.
///
/// Equals RAGAS' semantic similarity, and with `expectedMin` 0.7 autoevals' `EmbeddingSimilarity`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The cosine that scores 0, from 0 to less than 1; above it the score rises to 1.
    #[serde(default)]
    expected_min: f64,
    /// A prefix for both texts.
    #[serde(default)]
    prefix: String,
    /// The model for embeddings, in place of the suite's.
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    value: ExpectedValue,
    #[serde(default)]
    values: ExpectedValues,
}

/// The scorer, made from its [`Config`].
pub struct EmbeddingSimilarity {
    expected_min: f64,
    prefix: String,
    model: Option<String>,
    accepted: Option<Accepted<'static>>,
}

impl Scorer for EmbeddingSimilarity {
    type Config = Config;

    const INFO: Info =
        Info::new("embedding-similarity", "Embedding Similarity", env!("CARGO_PKG_VERSION"))
            .reads(Fields::GROUND_TRUTH);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { expected_min, prefix, model, value, values } = config;
        if !(0.0..1.0).contains(&expected_min) {
            let message = format!("should be 0 or more and less than 1, found {expected_min}");
            return Err(ConfigError::new("expectedMin", message));
        }
        Ok(Self { expected_min, prefix, model, accepted: Accepted::configured(value, values)? })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let accepted = Accepted::or_ground_truth(&self.accepted, case)?;
        let with_prefix = |part: &Part<'_>| -> Result<String, ScoreError> {
            let text = with_meaning(part.text()?)?;
            Ok([self.prefix.as_str(), text.as_ref()].concat())
        };
        let output = with_prefix(&case.output())?;
        let mut texts = Vec::new();
        for part in accepted.at_least_one()? {
            texts.push(with_prefix(part)?);
        }
        let alike = similarity(&output, &texts, self.model.as_deref())?;
        let cosine = alike.into_iter().fold(-1.0, f64::max);
        let score = ((cosine - self.expected_min) / (1.0 - self.expected_min)).clamp(0.0, 1.0);
        let reason = format!("the cosine of the embeddings is {cosine:.4}");
        Ok(Score::new(score).reason(reason).meta(json!({ "cosine": cosine })))
    }
}

scorebox_sdk::export!(EmbeddingSimilarity);

#[cfg(test)]
mod tests;
