//! The texts that keywords are from and looked for in. It extracts no keywords.

use std::borrow::Cow;
use std::collections::BTreeSet;

use scorebox_sdk::{Part, ScoreError};
use serde_json::{Map, Value};

use crate::keywords::words;

/// An output in which keywords are looked for.
pub(crate) struct Text<'t> {
    text: &'t str,
    words: BTreeSet<&'t str>,
    /// All words, with a line break before and after each.
    joined: String,
}

impl<'t> Text<'t> {
    pub(crate) fn new(text: &'t str, words: &'t [String]) -> Self {
        let joined = format!("\n{}\n", words.join("\n"));
        Self { text, words: words.iter().map(String::as_str).collect(), joined }
    }

    /// Whether the words of `keyword` follow each other somewhere.
    pub(crate) fn has(&self, keyword: &str) -> bool {
        match words(keyword).as_slice() {
            [] => self.text.contains(keyword.trim()),
            [word] => self.words.contains(word.as_str()),
            several => self.joined.contains(&format!("\n{}\n", several.join("\n"))),
        }
    }
}

/// A text, what chat messages say, or all texts inside another list or object, with commas between them; any other value as
/// its JSON text.
pub(crate) fn said<'p>(part: &'p Part<'_>) -> Result<Cow<'p, str>, ScoreError> {
    match part.value()? {
        value @ (Value::Array(_) | Value::Object(_)) => {
            let mut texts = Vec::new();
            collect(value, &mut texts);
            Ok(Cow::Owned(texts.join(", ")))
        }
        _ => part.text(),
    }
}

/// The texts in a value, from first to last; of a message only its content.
fn collect(value: Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.into_iter().for_each(|item| collect(item, texts)),
        Value::Object(mut members) => match content(&mut members) {
            Some(content) => collect(content, texts),
            None => members.into_iter().for_each(|(_, member)| collect(member, texts)),
        },
        _ => {}
    }
}

/// What a chat message says, or a part of one; nothing of another object.
fn content(object: &mut Map<String, Value>) -> Option<Value> {
    let is_message =
        object.contains_key("role") || object.get("content").is_some_and(Value::is_string);
    let is_text = object.get("type").is_some_and(|kind| kind == "text");
    let key = if is_message { "content" } else { "text" };
    if is_message || is_text { object.remove(key) } else { None }
}
