//! closed-qa: a judge says whether an answer meets a criterion. For grades between yes and no see rubric.
//!
//! Y 1, N 0
//!
//! The choices and their scores are those of autoevals (its template `closed_q_a`, commit edfa259); the
//! prompt is our own.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_judges::{Choice, Classifier, Model, Prompt, Reasoning, Settings, Unreadable};
use serde::Deserialize;

/// Asks a judge whether the output meets the criterion: yes scores 1, no 0.
///
/// The input, if there is one, is the task that the output answers.
///
/// Equals autoevals' `ClosedQA` and niceeval's `judge.autoevals.closedQA`, with its own prompt.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The criterion, such as `Is the tone professional?`.
    criteria: String,
    #[serde(default)]
    reasoning: Reasoning,
    #[serde(default)]
    model: Model,
    #[serde(default)]
    unreadable: Unreadable,
}

const JUDGE: Classifier = Classifier {
    criteria: "You decide whether an answer meets a criterion. The person who asks you states the criterion. Apply \
    it as it is written, and do not add requirements of your own.",
    choices: &[
        Choice { name: "Y", score: 1.0, meaning: "the answer meets the criterion" },
        Choice { name: "N", score: 0.0, meaning: "it does not" },
    ],
};

/// The scorer, made from its [`Config`].
pub struct ClosedQa {
    criteria: String,
    settings: Settings,
}

impl Scorer for ClosedQa {
    type Config = Config;

    const INFO: Info =
        Info::new("closed-qa", "Closed QA", env!("CARGO_PKG_VERSION")).reads(Fields::INPUT);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let settings = Settings::new(config.model, config.reasoning, config.unreadable);
        if config.criteria.trim().is_empty() {
            return Err(ConfigError::new("criteria", "is empty; say what the output must meet"));
        }
        Ok(Self { criteria: config.criteria, settings })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let mut prompt = Prompt::new();
        if let Some(input) = case.input() {
            prompt.part("task", &input)?;
        }
        prompt.part("answer", &case.output())?;
        prompt.say(format!("The criterion: {}", self.criteria));
        JUDGE.score(&prompt, &self.settings)
    }
}

scorebox_sdk::export!(ClosedQa);

#[cfg(test)]
mod tests;
