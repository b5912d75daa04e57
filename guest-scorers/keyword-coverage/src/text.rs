//! The texts that keywords come from and are searched in. It extracts no keywords.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;

use scorebox_sdk::{Part, ScoreError};
use serde_json::{Map, Value};

use crate::bare::{is_unspaced, number_inside, words};

/// An output that is searched for keywords.
pub(crate) struct Text<'t> {
    text: &'t str,
    all: &'t [String],
    words: BTreeSet<&'t str>,
    /// All words, with a line break before and after each; built on demand.
    joined: OnceCell<String>,
}

impl<'t> Text<'t> {
    pub(crate) fn new(text: &'t str, all: &'t [String]) -> Self {
        let words = all.iter().map(String::as_str);
        let numbers = all.iter().filter_map(|word| number_inside(word));
        Self { text, all, words: words.chain(numbers).collect(), joined: OnceCell::new() }
    }

    /// Whether the words of `keyword` occur in succession.
    pub(crate) fn has(&self, keyword: &str) -> bool {
        match words(keyword).as_slice() {
            [] => self.text.contains(keyword.trim()),
            [word] => self.has_word(word),
            several => {
                let several = several.join("\n");
                match is_unspaced(&several) {
                    true => self.joined().contains(&several),
                    false => self.joined().contains(&format!("\n{several}\n")),
                }
            }
        }
    }

    /// Whether a word occurs, even inside other words if its script has no spaces between words.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        self.words.contains(word) || is_unspaced(word) && self.joined().contains(word)
    }

    fn joined(&self) -> &str {
        self.joined.get_or_init(|| format!("\n{}\n", self.all.join("\n")))
    }
}

/// A text, the content of chat messages, or all texts inside another list or object; any other value as its JSON text.
pub(crate) fn said<'p>(part: &'p Part<'_>) -> Result<Cow<'p, str>, ScoreError> {
    match part.value()? {
        value @ (Value::Array(_) | Value::Object(_)) => {
            let mut texts = Vec::new();
            collect(value, &mut texts);
            Ok(Cow::Owned(texts.join("\n")))
        }
        _ => part.text(),
    }
}

/// The texts in a value, from first to last; for a message, only its content.
fn collect(value: Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.into_iter().for_each(|item| collect(item, texts)),
        Value::Object(mut members) => match content(&mut members) {
            Some(Value::Array(parts)) => {
                parts.into_iter().for_each(|part| collect_part(part, texts))
            }
            Some(content) => collect(content, texts),
            None => members.into_iter().for_each(|(_, member)| collect(member, texts)),
        },
        _ => {}
    }
}

/// The text of a part of a message; an image or a call has none.
fn collect_part(part: Value, texts: &mut Vec<String>) {
    match part {
        Value::Object(mut part) => texts.extend(match part.remove("text") {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }),
        part => collect(part, texts),
    }
}

/// The content of a chat message; `None` for another object.
fn content(object: &mut Map<String, Value>) -> Option<Value> {
    let is_message = object.contains_key("role") || object.len() == 1;
    let key = ["content", "parts"].into_iter().find(|key| object.contains_key(*key))?;
    if is_message { object.remove(key) } else { None }
}
