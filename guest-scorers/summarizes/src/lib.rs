//! summarizes: a judge compares a summary with an expert summary or, if there is none, says whether it is faithful to
//! the text. For similarity in words see rouge.
//!
//! With an expert summary: A (the expert's is better) 0, B (the output is better) 1. Without: Y (faithful to the text)
//! 1, N 0
//!
//! The choices with an expert summary and their scores are those of autoevals (its template `summary`,
//! commit edfa259); without one it is the check of niceeval's `summarizes`. The prompts are our own.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Part, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_judges::{Choice, Classifier, Model, Prompt, Reasoning, Settings, Unreadable};
use serde::Deserialize;

/// Asks a judge whether the output is a good summary of a text. If the case has a ground truth,
/// that is an expert's summary, and the output scores 1 if it describes the text better, else 0.
/// Without one it scores 1 if it gives the text's main points and adds nothing, else 0.
///
/// The text is the configured `source`, or else the input.
///
/// Equals autoevals' `Summary` with a ground truth, and, without one, serves the purpose of
/// niceeval's `judge.autoevals.summarizes`, with its own prompts.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The text that is summarized, in place of the input.
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    reasoning: Reasoning,
    #[serde(default)]
    model: Model,
    #[serde(default)]
    unreadable: Unreadable,
}

/// With an expert summary.
const JUDGE: Classifier = Classifier {
    criteria: "You compare two summaries of a text, and decide which one describes the text better. Style, grammar \
    and punctuation do not count.",
    choices: &[
        Choice { name: "A", score: 0.0, meaning: "the first summary describes the text better" },
        Choice { name: "B", score: 1.0, meaning: "the second summary describes the text better" },
    ],
};

/// Without an expert summary.
const FAITHFUL: Classifier = Classifier {
    criteria: "You decide whether a text is a good summary of another one: it gives the main points, and says \
    nothing that the text does not say. Style, grammar and punctuation do not count.",
    choices: &[
        Choice { name: "Y", score: 1.0, meaning: "it is a good summary" },
        Choice { name: "N", score: 0.0, meaning: "it is not" },
    ],
};

/// The scorer, made from its [`Config`].
pub struct Summarizes {
    source: Option<String>,
    settings: Settings,
}

impl Scorer for Summarizes {
    type Config = Config;

    const INFO: Info = Info::new("summarizes", "Summarizes", env!("CARGO_PKG_VERSION"))
        .reads(Fields::INPUT.and(Fields::GROUND_TRUTH));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let settings = Settings::new(config.model, config.reasoning, config.unreadable);
        Ok(Self { source: config.source, settings })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let mut prompt = Prompt::new();
        match &self.source {
            Some(source) => prompt.data("text", source.as_str()),
            None => prompt.part("text", &text_of(case)?)?,
        };
        if let Some(expert) = case.ground_truth() {
            prompt.part("first-summary", &expert)?.part("second-summary", &case.output())?;
            return JUDGE.score(&prompt, &self.settings);
        }
        prompt.part("summary", &case.output())?;
        FAITHFUL.score(&prompt, &self.settings)
    }
}

/// The text of a case that is to be summarized.
fn text_of(case: &Case) -> Result<Part<'_>, ScoreError> {
    case.require_input().map_err(|missing| missing.nor_configured("`source`"))
}

scorebox_sdk::export!(Summarizes);

#[cfg(test)]
mod tests;
