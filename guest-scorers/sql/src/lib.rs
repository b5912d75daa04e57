//! sql: a judge says whether a SQL query gives the same result as the expected one. It runs no query; sql-valid checks
//! the syntax without a judge.
//!
//! Correct 1, Incorrect 0
//!
//! The choices and their scores are those of autoevals (its template `sql`, commit edfa259); the prompt is
//! our own.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_judges::{Choice, Classifier, Model, Prompt, Reasoning, Settings, Unreadable};
use serde::Deserialize;

/// Asks a judge whether the SQL in the output gives the same result as the expected query: yes scores 1, no
/// 0.
///
/// White space, style and the names and order of the result's columns do not count. The expected query is
/// the ground truth; the input, if there is one, is the question.
///
/// Equals autoevals' `Sql`, with its own prompt.
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
    criteria: "You compare a submitted SQL query with one by an expert, and decide whether both give the same \
    result on any database that the question could mean. White space, style and the names and order of \
    the result's columns do not count. A query that fails when it runs is incorrect.",
    choices: &[
        Choice { name: "Correct", score: 1.0, meaning: "both queries give the same result" },
        Choice {
            name: "Incorrect",
            score: 0.0,
            meaning: "they do not, or the submitted one fails",
        },
    ],
};

/// The scorer, made from its [`Config`].
pub struct Sql {
    settings: Settings,
}

impl Scorer for Sql {
    type Config = Config;

    const INFO: Info = Info::new("sql", "SQL", env!("CARGO_PKG_VERSION"))
        .reads(Fields::INPUT.and(Fields::GROUND_TRUTH));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let settings = Settings::new(config.model, config.reasoning, config.unreadable);
        Ok(Self { settings })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let mut prompt = Prompt::new();
        if let Some(input) = case.input() {
            prompt.part("question", &input)?;
        }
        prompt.part("expert", &case.require_ground_truth()?)?;
        prompt.part("submission", &case.output())?;
        JUDGE.score(&prompt, &self.settings)
    }
}

scorebox_sdk::export!(Sql);

#[cfg(test)]
mod tests;
