//! relevancy: a judge says how well an output addresses its input. Whether it is true is up to factuality and
//! faithfulness.
//!
//! score = the judge's number, 0 (irrelevant) to 1 (perfectly relevant)
//!
//! The criteria are those of Smithers' `relevancyScorer`; the prompt is our own.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_judges::{Grade, Model, Prompt, Reasoning, Settings, Unreadable};
use serde::Deserialize;

/// Asks a judge how relevant the output is to the input, from 0 (completely irrelevant) to 1 (perfectly
/// relevant).
///
/// Direct answers and related context both count; whether the output is true does not.
///
/// Same purpose and scale as Smithers' `relevancyScorer`, with its own prompt; docs/coming-from.md says which answers
/// are read differently.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    #[serde(default)]
    model: Model,
    #[serde(default)]
    unreadable: Unreadable,
}

const JUDGE: Grade = Grade {
    criteria: "You judge how relevant an answer is to a request: whether it addresses what was asked. A direct \
    answer counts, and so does related context that helps. What has nothing to do with the request \
    lowers the score. Whether the answer is true does not count.",
    scale: (0.0, 1.0),
    meaning: "0: completely irrelevant. 1: perfectly relevant.",
};

/// The scorer, made from its [`Config`].
pub struct Relevancy {
    settings: Settings,
}

impl Scorer for Relevancy {
    type Config = Config;

    const INFO: Info =
        Info::new("relevancy", "Relevancy", env!("CARGO_PKG_VERSION")).reads(Fields::INPUT);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let settings = Settings::new(config.model, Reasoning(true), config.unreadable);
        Ok(Self { settings })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let mut prompt = Prompt::new();
        prompt.part("request", &case.require_input()?)?.part("answer", &case.output())?;
        JUDGE.score(&prompt, &self.settings)
    }
}

scorebox_sdk::export!(Relevancy);

#[cfg(test)]
mod tests;
