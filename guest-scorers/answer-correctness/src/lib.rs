//! answer-correctness: a judge sorts the statements of the output and the expected answer into those that both have,
//! those only in the output, and those missing from it; embeddings measure how close in meaning the two texts are.
//!
//! score = (w * F1 + v * cosine) / (w + v); F1 = shared / (shared + (extra + missing) / 2); w = 0.75, v =
//! 0.25
//!
//! The formula is that of RAGAS' `AnswerCorrectness` (0.4.3) and autoevals' `AnswerCorrectness`; the prompt
//! is our own and asks once, as in autoevals. autoevals stretches the cosine from 0.7 up.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_judges::{
    List, Model, Prompt, Reasoning, Settings, Unreadable, schema, similarity, with_meaning,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Asks a judge which statements the output shares with the expected answer, which it adds and
/// which it lacks: their F1, weighted with the similarity in meaning of the two texts.
///
/// The expected answer is the ground truth. Needs a model for embeddings, and two texts that are not empty,
/// unless `similarityWeight` is 0: an empty text has no meaning to compare and is `invalid-input`. If the judge
/// finds no statements at all, its answer counts as unreadable (`judge-unreadable`). `meta` has the statements.
///
/// Equals RAGAS' answer correctness with its default `beta` of 1, with a single prompt of its own. Deliberate
/// differences: a cosine below 0 counts as 0, and two texts without statements, whose F1 is 1 in RAGAS, are
/// unreadable.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The weight of the statements' F1; 0 or more.
    #[serde(default = "three_quarters")]
    factuality_weight: f64,
    /// The weight of the similarity in meaning; 0 or more.
    #[serde(default = "one_quarter")]
    similarity_weight: f64,
    /// The model for embeddings, in place of the suite's.
    #[serde(default)]
    embedding_model: Option<String>,
    #[serde(default)]
    model: Model,
    #[serde(default)]
    unreadable: Unreadable,
}

fn three_quarters() -> f64 {
    0.75
}

fn one_quarter() -> f64 {
    0.25
}

const CRITERIA: &str = "You compare an answer with the expected answer, statement by statement. Break both into statements, \
    one fact each, and put each statement into exactly one list: shared, if both make it; extra, if only \
    the answer makes it; missing, if only the expected answer makes it. Do not interpret: only compare \
    what is stated.";
const FORM: &str = "Answer with one JSON object and nothing else: {\"shared\": [\"a statement\"], \"extra\": [\"a statement\"], \
    \"missing\": [\"a statement\"]}";

/// The scorer, made from its [`Config`].
pub struct AnswerCorrectness {
    weights: (f64, f64),
    embedding_model: Option<String>,
    settings: Settings,
}

impl Scorer for AnswerCorrectness {
    type Config = Config;

    const INFO: Info =
        Info::new("answer-correctness", "Answer Correctness", env!("CARGO_PKG_VERSION"))
            .reads(Fields::INPUT.and(Fields::GROUND_TRUTH));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let weights = (config.factuality_weight, config.similarity_weight);
        for (key, weight) in [("factualityWeight", weights.0), ("similarityWeight", weights.1)] {
            if weight < 0.0 {
                return Err(ConfigError::new(key, format!("should be 0 or more, found {weight}")));
            }
        }
        let sum = weights.0 + weights.1;
        if sum <= 0.0 {
            return Err(ConfigError::whole("both weights are 0; one of them must be more"));
        }
        if sum.is_infinite() {
            return Err(ConfigError::whole("the weights are too large to be added"));
        }
        let settings = Settings::new(config.model, Reasoning(true), config.unreadable);
        Ok(Self { weights, embedding_model: config.embedding_model, settings })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let (truth, output) = (case.require_ground_truth()?, case.output());
        let (weight, other) = self.weights;
        if other > 0.0 {
            with_meaning(truth.text()?)?;
            with_meaning(output.text()?)?;
        }
        let mut prompt = Prompt::new();
        if let Some(input) = case.input() {
            prompt.part("question", &input)?;
        }
        prompt.part("expected-answer", &truth)?.part("answer", &output)?;
        let (keys, item) = (&["shared", "extra", "missing"], schema::TEXT);
        let list = List { criteria: CRITERIA, form: FORM, keys, least: 1, item };
        let read = |item: &Value| item.as_str().map(str::to_owned);
        let lists = match list.ask(&prompt, &self.settings, read)? {
            Ok(lists) => lists,
            Err(unread) => return self.settings.unreadable.settle(unread),
        };
        let [shared, extra, missing] = [lists[0].len(), lists[1].len(), lists[2].len()];
        let f1 = shared as f64 / (shared as f64 + 0.5 * (extra + missing) as f64);
        let alike = match other > 0.0 {
            true => {
                let texts = [output.text()?.into_owned()];
                let model = self.embedding_model.as_deref();
                let alike = similarity(&truth.text()?, &texts, model)?;
                Some(alike.first().copied().unwrap_or(0.0).max(0.0))
            }
            false => None,
        };
        let score = (weight * f1 + other * alike.unwrap_or(0.0)) / (weight + other);
        let reason = format!("statements: {shared} shared, {extra} extra, {missing} missing");
        let meta = json!({
            "shared": lists[0], "extra": lists[1], "missing": lists[2], "f1": f1,
            "similarity": alike,
        });
        Ok(Score::new(score.clamp(0.0, 1.0)).reason(reason).meta(meta))
    }
}

scorebox_sdk::export!(AnswerCorrectness);

#[cfg(test)]
mod tests;
