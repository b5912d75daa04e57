//! context-precision: a judge says for each retrieved document whether it is useful for the answer; useful documents
//! count more if they come early.
//!
//! score = sum over useful documents of (useful documents up to its rank / its rank) / useful documents; 0
//! if none is useful, or nothing was retrieved
//!
//! The formula is RAGAS' `LLMContextPrecisionWithReference` (0.4.3), and without a ground truth its
//! `LLMContextPrecisionWithoutReference`; the prompt is our own. autoevals' `ContextPrecision` asks once
//! about the whole context.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_judges::{
    Choice, Classifier, Model, Prompt, Reasoning, Settings, Unreadable, decide_all, documents,
};
use serde::Deserialize;
use serde_json::json;

/// Asks a judge which documents of the context are useful for the answer, and scores how early
/// these come: their average precision.
///
/// The answer is the ground truth or, if the case has none, the output. The context is a list of
/// texts, or of objects with a `text`, `content` or `pageContent`, best first. Each document is a
/// separate question; all are asked at the same time. `meta.useful` has the verdicts. An empty
/// context, because nothing was retrieved, scores 0, and no judge is asked; a case without a context
/// or with more than 128 documents is `invalid-input`.
///
/// Equals RAGAS' context precision with and without reference, with its own prompt.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    #[serde(default)]
    model: Model,
    #[serde(default)]
    unreadable: Unreadable,
}

const JUDGE: Classifier = Classifier {
    criteria: "You decide whether a retrieved document is useful for an answer to a question: whether the answer \
    could be found with its help. A document that is only about the same subject is not useful.",
    choices: &[
        Choice { name: "Yes", score: 1.0, meaning: "the document is useful for the answer" },
        Choice { name: "No", score: 0.0, meaning: "it is not" },
    ],
};

/// The scorer, made from its [`Config`].
pub struct ContextPrecision {
    settings: Settings,
}

impl Scorer for ContextPrecision {
    type Config = Config;

    const INFO: Info =
        Info::new("context-precision", "Context Precision", env!("CARGO_PKG_VERSION"))
            .reads(Fields::INPUT.and(Fields::GROUND_TRUTH).and(Fields::CONTEXT));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let settings = Settings::new(config.model, Reasoning(true), config.unreadable);
        Ok(Self { settings })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let (input, context) = (case.require_input()?, case.require_context()?);
        let documents = documents(&context)?;
        if documents.is_empty() {
            let meta = json!({ "useful": [], "reasons": [] });
            return Ok(Score::new(0.0).reason("nothing was retrieved").meta(meta));
        }
        let mut questions = Vec::new();
        for document in documents {
            let mut prompt = Prompt::new();
            prompt.part("question", &input)?.data("document", document);
            match case.ground_truth() {
                Some(truth) => prompt.part("answer", &truth)?,
                None => prompt.part("answer", &case.output())?,
            };
            questions.push(JUDGE.question(&prompt, &self.settings)?);
        }
        let decisions = match decide_all(&questions, &JUDGE.names()) {
            Ok(decisions) => decisions,
            Err(unread) => return self.settings.unreadable.settle(unread),
        };
        let useful: Vec<bool> = decisions.iter().map(|decision| decision.place == 0).collect();
        let count = useful.iter().filter(|useful| **useful).count();
        let reason = format!("{count} of {} documents are useful", useful.len());
        let reasons: Vec<_> = decisions.iter().map(|decision| &decision.reason).collect();
        let meta = json!({ "useful": useful, "reasons": reasons });
        Ok(Score::new(average_precision(&useful)).reason(reason).meta(meta))
    }
}

fn average_precision(useful: &[bool]) -> f64 {
    let (mut found, mut sum) = (0.0, 0.0);
    for (place, _) in useful.iter().enumerate().filter(|(_, useful)| **useful) {
        found += 1.0;
        sum += found / (place + 1) as f64;
    }
    if found > 0.0 { sum / found } else { 0.0 }
}

scorebox_sdk::export!(ContextPrecision);

#[cfg(test)]
mod tests;
