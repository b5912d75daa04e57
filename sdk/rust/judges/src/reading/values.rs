//! The JSON in a text, and where it is. What it means is decided elsewhere.
//!
//! A judge that quotes JSON does so within or between its sentences, so only JSON that is set apart counts as its own.

use std::ops::Range;

use serde_json::Value;

use super::labels::is_label;

/// How many positions of a text are tried as the beginning of JSON.
const MAX_STARTS: usize = 64;
/// The language of JSON in a code fence.
const JSON: &str = "json";

/// The JSON in a text.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// The outermost objects and lists, or the whole text, in order.
    pub(super) found: Vec<Found>,
    /// Whether a bracket is open at the end: what follows it may be part of a value that is cut off.
    pub(super) is_open: bool,
}

/// A value in a text.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) value: Value,
    /// Its position in the text.
    pub(super) bytes: Range<usize>,
    /// Whether it is set apart, and not within or between sentences.
    pub(super) stands_apart: bool,
    /// Whether the text contains nothing else, except a code fence.
    pub(super) is_alone: bool,
    /// Whether an object in it has a key twice, in any case: it is unclear which of the two counts.
    pub(super) has_key_twice: bool,
}

impl Values {
    /// The whole text if it is JSON; else the outermost objects and lists in it, up to one that is not closed. A number
    /// or a text that is cut off is JSON too, so these count only if the text is complete.
    pub(super) fn of(text: &str, is_whole: bool) -> Self {
        let whole = parsed(text).filter(|value| is_whole || value.is_object() || value.is_array());
        if let Some(value) = whole {
            let found = Found::of(value, text, 0..text.len());
            return Self { found: vec![found], is_open: false };
        }
        let mut values = Self::default();
        let mut at = 0;
        for _ in 0..MAX_STARTS {
            let Some(start) = text[at..].find(['{', '[']).map(|offset| at + offset) else {
                return values;
            };
            let Some(json) = balanced(&text[start..]) else {
                values.is_open |= text[start..].starts_with('{');
                if begins_json(&text[start..]) {
                    return values;
                }
                at = start + 1;
                continue;
            };
            at = match parsed(json) {
                Some(value) => {
                    let bytes = start..start + json.len();
                    values.found.push(Found::of(value, text, bytes.clone()));
                    bytes.end
                }
                None => start + 1,
            };
        }
        values.is_open |= text[at..].contains('{');
        values
    }

    /// The text with `{}` in place of its values; brackets around a word, such as `[1]`, stay.
    pub(super) fn left_out(&self, text: &str) -> String {
        let mut words = String::with_capacity(text.len());
        let mut at = 0;
        for Found { bytes, .. } in &self.found {
            if text[bytes.clone()].contains(['{', '"']) {
                words.push_str(&text[at..bytes.start]);
                words.push_str("{}");
                at = bytes.end;
            }
        }
        words.push_str(&text[at..]);
        words
    }
}

impl Found {
    /// The value at these bytes of the text.
    fn of(value: Value, text: &str, bytes: Range<usize>) -> Self {
        let has_key_twice = keys(&value) != keys_written(&text[bytes.clone()]);
        let (before, after) = (&text[..bytes.start], &text[bytes.end..]);
        Self {
            value,
            stands_apart: stands_apart(before, after),
            is_alone: before_fence(before).is_empty() && after.trim_matches(is_mark).is_empty(),
            has_key_twice,
            bytes,
        }
    }
}

/// The number of keys in the objects of a value, in any case.
fn keys(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(keys).sum(),
        Value::Object(members) => {
            let mut names: Vec<_> = members.keys().map(|key| key.to_ascii_lowercase()).collect();
            names.sort_unstable();
            names.dedup();
            names.len() + members.values().map(keys).sum::<usize>()
        }
        _ => 0,
    }
}

/// The number of keys that JSON contains as written: the colons outside its texts.
fn keys_written(json: &str) -> usize {
    let (mut keys, mut in_text, mut escaped) = (0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            b':' if !in_text => keys += 1,
            _ => {}
        }
    }
    keys
}

/// Whether a value with these words before and after it ends the text, or is on separate lines and begins the text or
/// follows a label. Between other words it may be a quotation that they introduce and comment on.
fn stands_apart(before: &str, after: &str) -> bool {
    if after.trim_matches(|letter: char| letter.is_whitespace() || "*_".contains(letter)).is_empty()
    {
        return true;
    }
    let line = before.rsplit('\n').next().unwrap_or_default().trim_matches(is_mark);
    let begins_line = line.is_empty() || line.eq_ignore_ascii_case(JSON) || ends_in_label(line);
    let ends_line = after.split('\n').next().unwrap_or_default().trim_matches(is_mark).is_empty();
    let words = before_fence(before);
    let is_own = words.is_empty() || ends_in_label(words) || after.trim_matches(is_mark).is_empty();
    begins_line && ends_line && is_own
}

/// The words before a value, without those of a code fence.
fn before_fence(before: &str) -> &str {
    let words = before.trim_end_matches(is_mark);
    let at = words.len().saturating_sub(JSON.len());
    match words.split_at_checked(at) {
        Some((words, fence)) if fence.eq_ignore_ascii_case(JSON) && words.ends_with('`') => {
            words.trim_end_matches(is_mark)
        }
        _ => words.trim_start_matches(is_mark),
    }
}

/// Whether the last line of words is the label of a verdict.
fn ends_in_label(words: &str) -> bool {
    let line = words.rsplit('\n').next().unwrap_or_default();
    line.trim_matches(is_mark).strip_suffix(':').is_some_and(is_label)
}

/// What may surround JSON: spaces, Markdown's marks of emphasis, and the end of a sentence.
fn is_mark(letter: char) -> bool {
    letter.is_whitespace() || "*_`#-.".contains(letter)
}

/// Whether a text begins as JSON with content does; brackets in prose do not.
fn begins_json(text: &str) -> bool {
    let (bracket, inside) = text.split_at(1);
    let inside = inside.trim_start();
    inside.starts_with('"') || (bracket == "[" && inside.starts_with(['{', '[']))
}

/// The text from the opening bracket to the one that closes it.
fn balanced(text: &str) -> Option<&str> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(&text[..=at]);
                }
            }
            _ => {}
        }
    }
    None
}

/// The text as JSON; models often write line breaks inside strings, where JSON requires `
/// `.
fn parsed(text: &str) -> Option<Value> {
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    if !text.contains(['\n', '\r', '\t']) {
        return None;
    }
    let (mut in_text, mut escaped) = (false, false);
    let mut escaping = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = in_text,
            '"' => in_text = !in_text,
            '\n' | '\r' | '\t' if in_text => {
                escaping.push_str(match letter {
                    '\n' => "\\n",
                    '\r' => "\\r",
                    _ => "\\t",
                });
                continue;
            }
            _ => {}
        }
        escaping.push(letter);
    }
    serde_json::from_str(&escaping).ok()
}
