//! context-relevancy: a judge copies out of the context the sentences that are needed to answer the
//! question.
//!
//! score = characters of these sentences / characters of the context, at most 1
//!
//! The formula is that of autoevals' `ContextRelevancy` (commit edfa259); the prompt is our own. Deliberate
//! difference: autoevals also counts sentences that are not in the context; here only what the context says
//! counts, and `meta.notInContext` has the others.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_judges::{
    List, Model, Prompt, Reasoning, Settings, Unreadable, joined_documents, reading,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Asks a judge which sentences of the context are needed to answer the input: their characters / the
/// context's characters.
///
/// The context is a text, a list of texts, or a list of objects with a `text`, `content` or `pageContent`.
/// `meta.sentences` has the sentences.
///
/// Equals autoevals' `ContextRelevancy`, with its own prompt. Deliberate difference: a sentence
/// that is not in the context (white space apart) does not count; it is listed in
/// `meta.notInContext`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    #[serde(default)]
    model: Model,
    #[serde(default)]
    unreadable: Unreadable,
}

const CRITERIA: &str = "You pick the sentences of a context that are needed to answer a question. Copy each one exactly as \
    it is written, and each only once. If the context does not help to answer the question, pick none.";
const FORM: &str = "Answer with one JSON object and nothing else: {\"sentences\": [{\"reason\": \"why it is needed\", \
    \"sentence\": \"the sentence, copied from the context\"}]}";

/// The scorer, made from its [`Config`].
pub struct ContextRelevancy {
    settings: Settings,
}

impl Scorer for ContextRelevancy {
    type Config = Config;

    const INFO: Info =
        Info::new("context-relevancy", "Context Relevancy", env!("CARGO_PKG_VERSION"))
            .reads(Fields::INPUT.and(Fields::CONTEXT));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let settings = Settings::new(config.model, Reasoning(true), config.unreadable);
        Ok(Self { settings })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let context = joined_documents(&case.require_context()?)?;
        let mut prompt = Prompt::new();
        prompt.part("question", &case.require_input()?)?.data("context", context.as_str());
        let item = json!({
            "type": "object", "required": ["reason", "sentence"],
            "properties": {"reason": {"type": "string"}, "sentence": {"type": "string"}},
            "additionalProperties": false,
        });
        let read = |item: &Value| match item {
            Value::String(sentence) => Some(sentence.clone()),
            object => reading::text(object, &["sentence"]),
        };
        let list = List { criteria: CRITERIA, form: FORM, keys: &["sentences"], least: 0, item };
        let sentences = match list.ask(&prompt, &self.settings, read)? {
            Ok(lists) => lists.into_iter().flatten().collect::<Vec<_>>(),
            Err(unread) => return self.settings.unreadable.settle(unread),
        };
        let whole = words(&context);
        let (inside, outside): (Vec<String>, Vec<String>) =
            sentences.into_iter().partition(|sentence| whole.contains(&words(sentence)));
        let picked: usize = inside.iter().map(|sentence| words(sentence).chars().count()).sum();
        let score = (picked as f64 / whole.chars().count() as f64).min(1.0);
        let reason = format!("sentences of the context that are needed: {}", inside.len());
        let meta = json!({ "sentences": inside, "notInContext": outside });
        Ok(Score::new(score).reason(reason).meta(meta))
    }
}

/// The words of a text with one space between them.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

scorebox_sdk::export!(ContextRelevancy);

#[cfg(test)]
mod tests;
