//! context-relevancy: a judge copies the sentences from the context that are needed to answer the question.
//!
//! score = characters of the context that these sentences cover / characters of the context; 0 if nothing was
//! retrieved
//!
//! The formula is that of autoevals' `ContextRelevancy` (commit edfa259); the prompt is our own. Deliberate
//! differences: autoevals also counts sentences that are not in the context, and counts repeated or overlapping
//! sentences several times; here, each character of the context counts once, and `meta.notInContext` has the other
//! sentences.

use std::ops::Range;

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_judges::{
    List, Model, Prompt, Reasoning, Settings, Unreadable, joined_documents, reading, schema,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Asks a judge which sentences of the context are needed to answer the input: their characters / the
/// context's characters.
///
/// The context is a text, a list of texts, or a list of objects with a `text`, `content` or `pageContent`.
/// `meta.sentences` has the sentences. A character of the context that several of them have counts once. An
/// empty context, because nothing was retrieved, scores 0, and no judge is asked; a case without a context is
/// `invalid-input`.
///
/// Equals autoevals' `ContextRelevancy`, with its own prompt. Deliberate differences: a sentence
/// that is not in the context (white space apart) does not count; it is listed in
/// `meta.notInContext`. What repeats or overlaps counts once.
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
        let (input, context) = (case.require_input()?, joined_documents(&case.require_context()?)?);
        if context.is_empty() {
            let meta = json!({ "sentences": [], "notInContext": [] });
            return Ok(Score::new(0.0).reason("nothing was retrieved").meta(meta));
        }
        let mut prompt = Prompt::new();
        prompt.part("question", &input)?.data("context", context.as_str());
        let item = schema::object(&[("reason", schema::TEXT), ("sentence", schema::TEXT)]);
        let read = |item: &Value| match item {
            Value::String(sentence) => Some(sentence.clone()),
            object => reading::text(object, &["sentence"]),
        };
        let (keys, item) = (&["sentences"], item.as_str());
        let list = List { criteria: CRITERIA, form: FORM, keys, least: 0, item };
        let sentences = match list.ask(&prompt, &self.settings, read)? {
            Ok(lists) => lists.into_iter().flatten().collect::<Vec<_>>(),
            Err(unread) => return self.settings.unreadable.settle(unread),
        };
        let whole = words(&context);
        let (mut inside, mut outside, mut picked) = (Vec::new(), Vec::new(), Vec::new());
        for sentence in sentences {
            match place(&whole, &words(&sentence)) {
                Some(range) if picked.contains(&range) => {}
                Some(range) => {
                    picked.push(range);
                    inside.push(sentence);
                }
                None => outside.push(sentence),
            }
        }
        let score = covered(&whole, picked) as f64 / whole.chars().count() as f64;
        let reason = format!("sentences of the context that are needed: {}", inside.len());
        let meta = json!({ "sentences": inside, "notInContext": outside });
        Ok(Score::new(score).reason(reason).meta(meta))
    }
}

/// The first occurrence of a sentence in the context.
fn place(context: &str, sentence: &str) -> Option<Range<usize>> {
    context.find(sentence).map(|start| start..start + sentence.len())
}

/// How many characters are in at least one of the ranges.
fn covered(context: &str, mut ranges: Vec<Range<usize>>) -> usize {
    ranges.sort_unstable_by_key(|range| range.start);
    let (mut characters, mut until) = (0, 0);
    for range in ranges {
        if range.end > until {
            characters += context[range.start.max(until)..range.end].chars().count();
            until = range.end;
        }
    }
    characters
}

/// The words of a text with one space between them.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

scorebox_sdk::export!(ContextRelevancy);

#[cfg(test)]
mod tests;
