//! translation: a judge says whether a translation means the same as one by an expert. For similarity in words
//! see bleu and chrf.
//!
//! Y 1, N 0
//!
//! The choices and their scores are those of autoevals (its template `translation`, commit edfa259); the
//! prompt is our own.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_judges::{Choice, Classifier, Model, Prompt, Reasoning, Settings, Unreadable};
use serde::Deserialize;

/// Asks a judge whether the output means the same as the expert translation of the input: yes scores 1, no
/// 0.
///
/// Style and punctuation do not count; nouns, tenses and words that change the meaning do. The expert
/// translation is the ground truth.
///
/// Equals autoevals' `Translation` with `language`, with its own prompt; autoevals always
/// translates to English.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The language of the input, such as `German`.
    #[serde(default)]
    language: Option<String>,
    /// The language of the output.
    #[serde(default = "english")]
    to: String,
    #[serde(default)]
    reasoning: Reasoning,
    #[serde(default)]
    model: Model,
    #[serde(default)]
    unreadable: Unreadable,
}

fn english() -> String {
    "English".to_owned()
}

const JUDGE: Classifier = Classifier {
    criteria: "You compare a translation with one by an expert, and decide whether both have the same meaning. \
    Style and punctuation do not count. Nouns and tenses must be the same, and no verb or adjective may \
    change the meaning.",
    choices: &[
        Choice { name: "Y", score: 1.0, meaning: "both mean the same" },
        Choice { name: "N", score: 0.0, meaning: "they do not" },
    ],
};

/// The scorer, made from its [`Config`].
pub struct Translation {
    language: Option<String>,
    to: String,
    settings: Settings,
}

impl Scorer for Translation {
    type Config = Config;

    const INFO: Info = Info::new("translation", "Translation", env!("CARGO_PKG_VERSION"))
        .reads(Fields::INPUT.and(Fields::GROUND_TRUTH));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let settings = Settings::new(config.model, config.reasoning, config.unreadable);
        Ok(Self { language: config.language, to: config.to, settings })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let mut prompt = Prompt::new();
        let (from, to) = (self.language.as_deref().unwrap_or("the sentence's language"), &self.to);
        prompt.say(format!("A translation from {from} to {to}."));
        prompt.part("sentence", &case.require_input()?)?;
        prompt.part("expert", &case.require_ground_truth()?)?;
        prompt.part("submission", &case.output())?;
        JUDGE.score(&prompt, &self.settings)
    }
}

scorebox_sdk::export!(Translation);

#[cfg(test)]
mod tests;
