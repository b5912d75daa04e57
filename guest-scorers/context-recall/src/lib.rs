//! context-recall: a judge breaks the expected answer into statements, and says for each whether the context supports
//! it.
//!
//! score = supported statements / statements; 0 if nothing was retrieved
//!
//! The formula is that of RAGAS' `LLMContextRecall` (0.4.3) and autoevals' `ContextRecall`; the prompt is our own. An
//! answer without statements is unreadable here; in that case, RAGAS gives no number, and autoevals gives 0.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_judges::{
    List, Model, Prompt, Reasoning, Settings, Unreadable, joined_documents, reading, schema,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Asks a judge how much of the expected answer the context supports: statements of the ground truth that
/// can be attributed to the context / all of its statements.
///
/// The context is a text, a list of texts, or a list of objects with a `text`, `content` or `pageContent`.
/// `meta.statements` has the statements with their verdicts. An empty context, because nothing was retrieved,
/// scores 0, and no judge is asked; a case without a context is `invalid-input`. If the judge finds no
/// statements in the ground truth, its answer counts as unreadable (`judge-unreadable`).
///
/// Equals RAGAS' and autoevals' context recall, with its own prompt.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    #[serde(default)]
    model: Model,
    #[serde(default)]
    unreadable: Unreadable,
}

const CRITERIA: &str = "You check whether an answer can be traced back to a context. Break the answer into its statements, \
    one fact each, without leaving out any. Decide of each whether the context supports it.";
const FORM: &str = "Answer with one JSON object and nothing else: {\"statements\": [{\"statement\": \"a statement of the \
    answer\", \"reason\": \"why the context supports it or not\", \"supported\": true or false}]}";

/// The scorer, made from its [`Config`].
pub struct ContextRecall {
    settings: Settings,
}

impl Scorer for ContextRecall {
    type Config = Config;

    const INFO: Info = Info::new("context-recall", "Context Recall", env!("CARGO_PKG_VERSION"))
        .reads(Fields::INPUT.and(Fields::GROUND_TRUTH).and(Fields::CONTEXT));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let settings = Settings::new(config.model, Reasoning(true), config.unreadable);
        Ok(Self { settings })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let context = joined_documents(&case.require_context()?)?;
        let truth = case.require_ground_truth()?;
        if context.is_empty() {
            let score = Score::new(0.0).reason("nothing was retrieved");
            return Ok(score.meta(json!({ "statements": [] })));
        }
        let mut prompt = Prompt::new();
        if let Some(input) = case.input() {
            prompt.part("question", &input)?;
        }
        prompt.data("context", context).part("answer", &truth)?;
        let item = schema::object(&[
            ("statement", schema::TEXT),
            ("reason", schema::TEXT),
            ("supported", schema::FLAG),
        ]);
        let read = |item: &Value| {
            let supported = reading::flag(item, &["supported", "attributed", "verdict"])?;
            let statement = reading::text(item, &["statement"])?;
            Some((statement, supported, reading::text(item, &["reason"])))
        };
        let (keys, item) = (&["statements"], item.as_str());
        let list = List { criteria: CRITERIA, form: FORM, keys, least: 1, item };
        let statements = match list.ask(&prompt, &self.settings, read)? {
            Ok(lists) => lists.into_iter().flatten().collect::<Vec<_>>(),
            Err(unread) => return self.settings.unreadable.settle(unread),
        };
        let count = statements.iter().filter(|(_, supported, _)| *supported).count();
        let all = statements.len();
        let listed: Vec<Value> = (statements.iter())
            .map(|(statement, supported, reason)| {
                json!({ "statement": statement, "supported": supported, "reason": reason })
            })
            .collect();
        let score = Score::new(count as f64 / all as f64);
        let score = score.reason(format!("the context supports {count} of {all} statements"));
        Ok(score.meta(json!({ "statements": listed })))
    }
}

scorebox_sdk::export!(ContextRecall);

#[cfg(test)]
mod tests;
