//! The part of a score that programs read: a JSON document, kept as the text that the engine stores. What the document
//! contains is up to the scorer.

use std::mem::ManuallyDrop;

use serde_json::Value;

use crate::part::json_text;
use crate::push_count;

/// The initial capacity of an object, in bytes: enough for most.
const USUAL_LENGTH: usize = 128;

/// A JSON document for programs: from whatever a `serde_json::Value` is made of, or from a [`JsonObject`].
#[derive(Debug, Clone)]
pub struct Meta(String);

impl Meta {
    /// The document as a tree.
    #[must_use]
    pub fn value(&self) -> Value {
        // It cannot fail in practice: both ways to make a document write valid JSON.
        serde_json::from_str(&self.0).unwrap_or_default()
    }

    /// The document's text.
    #[must_use]
    pub fn into_json(self) -> String {
        self.0
    }
}

/// Compares the values, not how they are written.
impl PartialEq for Meta {
    fn eq(&self, other: &Self) -> bool {
        self.value() == other.value()
    }
}

impl<T: Into<Value>> From<T> for Meta {
    fn from(value: T) -> Self {
        // The sandbox ends with this score, so freeing the value would be wasted work.
        Self(json_text(&ManuallyDrop::new(value.into())))
    }
}

impl From<JsonObject> for Meta {
    fn from(object: JsonObject) -> Self {
        Self(object.into_json())
    }
}

/// A JSON object that is written member by member, for scores that cost only a few thousand instructions: building and
/// writing a `serde_json::Value` takes longer than finding one text in another.
///
/// ```
/// # use scorebox_sdk::{JsonObject, Score};
/// let meta = JsonObject::new().texts("found", ["a \"b\""]).count("total", 1);
/// let score = Score::pass(true).meta(meta);
/// assert_eq!(score.meta.unwrap().into_json(), r#"{"found":["a \"b\""],"total":1}"#);
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct JsonObject {
    /// The text so far, without the closing brace.
    text: String,
}

impl JsonObject {
    /// An object without members.
    // Not `Default`: a derived one would lack the opening brace.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let mut text = String::with_capacity(USUAL_LENGTH);
        text.push('{');
        Self { text }
    }

    /// Adds a list of texts. Add each key once and in alphabetical order, as other documents of scores have them, and
    /// use no quotes or line breaks in it.
    pub fn texts(mut self, key: &str, texts: impl IntoIterator<Item: AsRef<str>>) -> Self {
        self.push_key(key);
        let mut before = '[';
        for each in texts {
            self.text.push(before);
            self.push_text(each.as_ref());
            before = ',';
        }
        self.text.push_str(if before == '[' { "[]" } else { "]" });
        self
    }

    /// Adds a whole number.
    pub fn count(mut self, key: &str, count: u64) -> Self {
        self.push_key(key);
        push_count(&mut self.text, count);
        self
    }

    fn into_json(mut self) -> String {
        self.text.push('}');
        self.text
    }

    fn push_key(&mut self, key: &str) {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        debug_assert!(is_plain(key), "a key with characters that JSON escapes");
        self.text.push('"');
        self.text.push_str(key);
        self.text.push_str("\":");
    }

    fn push_text(&mut self, text: &str) {
        if is_plain(text) {
            self.text.push('"');
            self.text.push_str(text);
            self.text.push('"');
        } else {
            self.text.push_str(&json_text(&Value::from(text)));
        }
    }
}

/// Whether the text needs no escapes in JSON.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\')
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{JsonObject, Meta};

    #[test]
    fn an_object_is_what_the_same_value_is() {
        let texts = ["", "plain", "é", "\"", "\\", "\n", "\u{1f}", "\u{7f}"];
        let object = JsonObject::new().count("a", 0).texts("b", texts).texts("c", [""; 0]);
        let value = json!({ "a": 0, "b": texts, "c": [], });
        assert_eq!(Meta::from(object.clone()).into_json(), value.to_string());
        assert_eq!(Meta::from(object), Meta::from(value));
    }

    #[test]
    fn an_object_without_members_is_empty() {
        assert_eq!(Meta::from(JsonObject::new()).into_json(), "{}");
        assert_eq!(Meta::from(Value::Null).into_json(), "null");
    }

    #[test]
    fn documents_are_equal_by_what_they_say() {
        let object = JsonObject::new().count("b", 1).count("a", 2);
        assert_eq!(Meta::from(object), Meta::from(json!({ "a": 2, "b": 1 })));
        assert_ne!(Meta::from(JsonObject::new()), Meta::from(json!({ "a": 2 })));
    }
}
