//! faithfulness: a judge says how far a context supports what an output claims or, without a context, whether the
//! output agrees with itself. Whether the claims are true is up to factuality.
//!
//! score = the judge's number, 0 (entirely fabricated) to 1 (completely faithful)
//!
//! The criteria are those of Smithers' `faithfulnessScorer`; the prompts are our own.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_judges::{
    Grade, Model, Prompt, Reasoning, Settings, Unreadable, joined_documents,
};
use serde::Deserialize;
use serde_json::json;

/// Asks a judge how faithful the output is to the context, from 0 (entirely fabricated) to 1 (completely
/// faithful): every claim of the output should be supported by the context.
///
/// If the case has no context, or one with nothing in it because nothing was found (`[]`, `{}`,
/// `{"documents": []}`), the judge rates how consistent the output is in itself, and `meta.basis` is
/// `consistency` in place of `context`. The context is a text, a list of texts, or a list of objects
/// with a `text`, `content` or `pageContent`.
///
/// Same purpose and scale as Smithers' `faithfulnessScorer`, with its own prompts; docs/coming-from.md says which
/// answers are read differently.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    #[serde(default)]
    model: Model,
    #[serde(default)]
    unreadable: Unreadable,
}

const TO_CONTEXT: Grade = Grade {
    criteria: "You judge how faithful an answer is to the context that it was given: whether each claim of the \
    answer is supported by the context. Go through the claims one by one. What the context does not say \
    is not supported, even if it is true.",
    scale: (0.0, 1.0),
    meaning: "0: entirely fabricated. 1: every claim is supported by the context.",
};

const TO_ITSELF: Grade = Grade {
    criteria: "You judge how consistent an answer is in itself: whether its claims agree with each other, and what \
    it concludes follows from what it says. Whether the claims are true does not count.",
    scale: (0.0, 1.0),
    meaning: "0: it contradicts itself throughout. 1: it is consistent.",
};

/// The scorer, made from its [`Config`].
pub struct Faithfulness {
    settings: Settings,
}

impl Scorer for Faithfulness {
    type Config = Config;

    const INFO: Info = Info::new("faithfulness", "Faithfulness", env!("CARGO_PKG_VERSION"))
        .reads(Fields::INPUT.and(Fields::CONTEXT));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let settings = Settings::new(config.model, Reasoning(true), config.unreadable);
        Ok(Self { settings })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let mut prompt = Prompt::new();
        if let Some(input) = case.input() {
            prompt.part("question", &input)?;
        }
        let context = case.context().map(|context| joined_documents(&context)).transpose()?;
        let (judge, basis) = match context.filter(|context| !context.is_empty()) {
            Some(context) => {
                prompt.data("context", context);
                (TO_CONTEXT, "context")
            }
            None => (TO_ITSELF, "consistency"),
        };
        prompt.part("answer", &case.output())?;
        let score = judge.score(&prompt, &self.settings)?;
        let mut meta = score.meta_value().unwrap_or_else(|| json!({}));
        meta["basis"] = json!(basis);
        Ok(score.meta(meta))
    }
}

scorebox_sdk::export!(Faithfulness);

#[cfg(test)]
mod tests;
