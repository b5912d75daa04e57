//! battle: a judge says whether the output follows the instructions better than the expected response. It
//! asks in one order only; pairwise asks in both.
//!
//! Yes 1, No 0
//!
//! The choices and their scores are those of autoevals (its template `battle`, commit edfa259); the prompt
//! is our own.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_judges::{Choice, Classifier, Model, Prompt, Reasoning, Settings, Unreadable};
use serde::Deserialize;

/// Asks a judge whether the output is better than the expected response to the same instructions: yes scores
/// 1, no 0.
///
/// The instructions are the input, the expected response is the ground truth. The order is always
/// the same, and judges tend to favor one position: `pairwise` asks in both orders.
///
/// Equals autoevals' `Battle`, with its own prompt.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    #[serde(default)]
    reasoning: Reasoning,
    #[serde(default)]
    model: Model,
    #[serde(default)]
    unreadable: Unreadable,
}

const JUDGE: Classifier = Classifier {
    criteria: "You compare two responses to the same instructions and decide whether the first one is better than \
    the second. Judge how well each does what the instructions ask: correct, complete, clear. Length is \
    no merit.",
    choices: &[
        Choice { name: "Yes", score: 1.0, meaning: "the first response is better" },
        Choice { name: "No", score: 0.0, meaning: "it is not" },
    ],
};

/// The scorer, made from its [`Config`].
pub struct Battle {
    settings: Settings,
}

impl Scorer for Battle {
    type Config = Config;

    const INFO: Info = Info::new("battle", "Battle", env!("CARGO_PKG_VERSION"))
        .reads(Fields::INPUT.and(Fields::GROUND_TRUTH));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let settings = Settings::new(config.model, config.reasoning, config.unreadable);
        Ok(Self { settings })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let mut prompt = Prompt::new();
        prompt.part("instructions", &case.require_input()?)?;
        prompt.part("first-response", &case.output())?;
        prompt.part("second-response", &case.require_ground_truth()?)?;
        JUDGE.score(&prompt, &self.settings)
    }
}

scorebox_sdk::export!(Battle);

#[cfg(test)]
mod tests;
