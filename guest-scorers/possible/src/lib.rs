//! possible: a judge says whether an answer offers a solution, or declares the task impossible. It does not check
//! whether the solution is right.
//!
//! A (impossible) 0, B (a solution) 1
//!
//! The choices and their scores are those of autoevals (its template `possible`, commit edfa259); the prompt
//! is our own.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_judges::{Choice, Classifier, Model, Prompt, Reasoning, Settings, Unreadable};
use serde::Deserialize;

/// Asks a judge whether the output offers a solution to the task (1) or declares the task
/// impossible (0).
///
/// The task is the input. Whether the solution is right does not count.
///
/// Equals autoevals' `Possible`, with its own prompt.
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
    criteria: "You decide whether an answer declares its task impossible or offers a way to solve it: instructions, \
    a list, a result, any other solution. Whether the solution is right does not count. An answer that \
    does not say that the task is impossible is usually a solution.",
    choices: &[
        Choice {
            name: "A",
            score: 0.0,
            meaning: "the answer declares that the task is impossible",
        },
        Choice {
            name: "B",
            score: 1.0,
            meaning: "the answer is a solution, or says how to get one",
        },
    ],
};

/// The scorer, made from its [`Config`].
pub struct Possible {
    settings: Settings,
}

impl Scorer for Possible {
    type Config = Config;

    const INFO: Info =
        Info::new("possible", "Possible", env!("CARGO_PKG_VERSION")).reads(Fields::INPUT);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let settings = Settings::new(config.model, config.reasoning, config.unreadable);
        Ok(Self { settings })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let mut prompt = Prompt::new();
        prompt.part("task", &case.require_input()?)?;
        prompt.part("answer", &case.output())?;
        JUDGE.score(&prompt, &self.settings)
    }
}

scorebox_sdk::export!(Possible);

#[cfg(test)]
mod tests;
