//! factuality: a judge compares the facts of an answer with those of an expert answer, and picks one of five
//! relations. It does not check facts by itself.
//!
//! A (a subset) 0.4, B (a superset) 0.6, C (the same) 1, D (a contradiction) 0, E (differences that do not
//! matter) 1
//!
//! The choices and their scores are those of autoevals (its template `factuality`, commit edfa259); the
//! prompt is our own.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Part, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_judges::{Choice, Classifier, Model, Prompt, Reasoning, Settings, Unreadable};
use serde::Deserialize;
use serde_json::Value;

/// Asks a judge how the facts of the output relate to those of the expected answer: a subset scores 0.4, a
/// superset 0.6, the same facts 1, a contradiction 0, differences that do not matter 1.
///
/// Style, grammar and punctuation do not count. The expected answer is the case's ground truth or the
/// configured `value`; the input, if there is one, is the question.
///
/// Equals autoevals' `Factuality` and niceeval's `judge.autoevals.factuality`, with its own prompt.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The expert's answer, in place of the ground truth; not `null`.
    #[serde(default, deserialize_with = "scorebox_sdk::not_null")]
    value: Option<Value>,
    #[serde(default)]
    reasoning: Reasoning,
    #[serde(default)]
    model: Model,
    #[serde(default)]
    unreadable: Unreadable,
}

const JUDGE: Classifier = Classifier {
    criteria: "You compare the facts in an answer with those in an answer by an expert. Style, wording, grammar and \
    punctuation do not count; only what is claimed does. Take the expert's answer as true. Find out \
    which relation holds between the two.",
    choices: &[
        Choice {
            name: "A",
            score: 0.4,
            meaning: "the answer leaves out facts of the expert's answer, and all that it says agrees with it",
        },
        Choice {
            name: "B",
            score: 0.6,
            meaning: "the answer has further facts in addition to all of the expert's, and agrees with it",
        },
        Choice { name: "C", score: 1.0, meaning: "the answer has the same facts as the expert's" },
        Choice { name: "D", score: 0.0, meaning: "the answer contradicts the expert's" },
        Choice {
            name: "E",
            score: 1.0,
            meaning: "the answers differ in ways that do not matter for the facts",
        },
    ],
};

/// The scorer, made from its [`Config`].
pub struct Factuality {
    /// The expert's answer, as JSON.
    value: Option<String>,
    settings: Settings,
}

impl Scorer for Factuality {
    type Config = Config;

    const INFO: Info = Info::new("factuality", "Factuality", env!("CARGO_PKG_VERSION"))
        .reads(Fields::INPUT.and(Fields::GROUND_TRUTH));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let settings = Settings::new(config.model, config.reasoning, config.unreadable);
        Ok(Self { value: config.value.map(|value| value.to_string()), settings })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let mut prompt = Prompt::new();
        if let Some(input) = case.input() {
            prompt.part("question", &input)?;
        }
        match &self.value {
            Some(value) => prompt.part("expert", &Part::new("value", value.as_str()))?,
            None => prompt.part("expert", &of_expert(case)?)?,
        };
        prompt.part("answer", &case.output())?;
        JUDGE.score(&prompt, &self.settings)
    }
}

fn of_expert(case: &Case) -> Result<Part<'_>, ScoreError> {
    case.require_ground_truth().map_err(|missing| missing.nor_configured("`value`"))
}

scorebox_sdk::export!(Factuality);

#[cfg(test)]
mod tests;
