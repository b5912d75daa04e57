//! humor: a judge says whether a text is funny. It reads the output alone.
//!
//! Yes 1, No 0, Unsure 0.5
//!
//! The choices and their scores are those of autoevals (its template `humor`, commit edfa259); the prompt is
//! our own.

use scorebox_sdk::{Case, ConfigError, Info, JsonSchema, Score, ScoreError, Scorer, schemars};
use scorebox_sdk_judges::{Choice, Classifier, Model, Prompt, Reasoning, Settings, Unreadable};
use serde::Deserialize;

/// Asks a judge whether the output is funny: yes scores 1, unsure 0.5, no 0.
///
/// Equals autoevals' `Humor`, with its own prompt.
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
    criteria: "You decide whether a text is funny to a general audience.",
    choices: &[
        Choice { name: "Yes", score: 1.0, meaning: "it is funny" },
        Choice { name: "No", score: 0.0, meaning: "it is not" },
        Choice { name: "Unsure", score: 0.5, meaning: "it cannot be said" },
    ],
};

/// The scorer, made from its [`Config`].
pub struct Humor {
    settings: Settings,
}

impl Scorer for Humor {
    type Config = Config;

    const INFO: Info = Info::new("humor", "Humor", env!("CARGO_PKG_VERSION"));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let settings = Settings::new(config.model, config.reasoning, config.unreadable);
        Ok(Self { settings })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let mut prompt = Prompt::new();
        prompt.part("text", &case.output())?;
        JUDGE.score(&prompt, &self.settings)
    }
}

scorebox_sdk::export!(Humor);

#[cfg(test)]
mod tests;
