//! One JSON document of a case, parsed only when it is read. It keeps no parsed copy.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{ScoreError, compact::compact, excerpt};

/// One part of a case: its JSON text, and its name in errors.
#[derive(Debug, Clone)]
pub struct Part<'a> {
    name: Cow<'a, str>,
    json: Cow<'a, str>,
}

impl<'a> Part<'a> {
    /// A JSON document with this name in errors.
    #[must_use]
    pub fn new(name: impl Into<Cow<'a, str>>, json: impl Into<Cow<'a, str>>) -> Self {
        Self { name: name.into(), json: json.into() }
    }

    /// The name that the user knows it by: the key in the case (`groundTruth`) or in the configuration.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The JSON text as it was read.
    #[must_use]
    pub fn json(&self) -> &str {
        let json: &str = &self.json;
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        // It is called often, and white space around the value is rare.
        match (json.as_bytes().first(), json.as_bytes().last()) {
            (Some(first), Some(last)) if is_space(first) || is_space(last) => {
                json.trim_matches([' ', '\t', '\n', '\r'])
            }
            _ => json,
        }
    }

    /// The content of a string; for any other value, its compact JSON text, which does not depend on how the value was
    /// written: `{"a": 1.0}` becomes `{"a":1}`. The order of keys stays.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if the string contains an escape that is not a valid character.
    pub fn text(&self) -> Result<Cow<'_, str>, ScoreError> {
        let json = self.json();
        match without_escapes(json) {
            Some(content) => Ok(Cow::Borrowed(content)),
            None if json.starts_with('"') => self.string(),
            None => Ok(compact(json)),
        }
    }

    /// A string's content.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if the value is not a string.
    pub fn string(&self) -> Result<Cow<'_, str>, ScoreError> {
        let json = self.json();
        if let Some(content) = without_escapes(json) {
            return Ok(Cow::Borrowed(content));
        }
        if !json.starts_with('"') {
            return Err(self.should_be("a string"));
        }
        // Read as a `Value`, because the code for that is in the component anyway.
        match serde_json::from_str(json) {
            Ok(Value::String(text)) => Ok(Cow::Owned(text)),
            Ok(_) => Err(self.should_be("a string")),
            Err(error) => Err(self.unreadable("", plain_message(&error.to_string()))),
        }
    }

    /// The value as a tree.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if the text cannot be read (nested more than 127 deep, or with more text after
    /// the value).
    pub fn value(&self) -> Result<Value, ScoreError> {
        if let Some(content) = without_escapes(self.json()) {
            return Ok(Value::String(content.to_owned()));
        }
        // Tracking paths costs more than reading, so the value is read again only if an error needs its path.
        serde_json::from_str(self.json()).or_else(|_| self.read())
    }

    /// The value as a `T`.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] that names the part, the path inside it and what was found.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ScoreError> {
        let mut deserializer = serde_json::Deserializer::from_str(self.json());
        let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            let path = error.path().to_string();
            let path = if path == "." { "" } else { &path };
            let message = error.inner().to_string();
            self.unreadable(path, &in_words(plain_message(&message)))
        })?;
        match deserializer.end() {
            Ok(()) => Ok(value),
            // The parts of a case have no text after the value, but a text that a scorer reads as JSON may.
            Err(_) => Err(self.unreadable("", "more text follows the value")),
        }
    }

    /// The error for JSON that cannot be read as requested, at a path inside the part.
    pub(crate) fn unreadable(&self, path: &str, message: &str) -> ScoreError {
        let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
        let place = [self.name(), dot, path].concat();
        let place = excerpt(&place, 80);
        ScoreError::InvalidInput(format!("`{place}` cannot be read: {message}"))
    }

    /// Whether the value is a JSON string.
    #[must_use]
    pub fn is_string(&self) -> bool {
        self.json().starts_with('"')
    }

    /// Whether the value is a JSON array.
    #[must_use]
    pub fn is_array(&self) -> bool {
        self.json().starts_with('[')
    }

    /// Whether the value is JSON `null`; only an output can be `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.json() == "null"
    }

    /// What kind of value it is, with its article: "a string", "an array", "null".
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.json().bytes().next() {
            Some(b'"') => "a string",
            Some(b'[') => "an array",
            Some(b'{') => "an object",
            Some(b't' | b'f') => "a boolean",
            Some(b'n') => "null",
            _ => "a number",
        }
    }

    /// The error for a value of the wrong kind: "`groundTruth` should be a string, found an array".
    #[must_use]
    pub fn should_be(&self, what: &str) -> ScoreError {
        ScoreError::InvalidInput(format!("`{}` should be {what}, found {}", self.name, self.kind()))
    }

    /// The JSON text, cut to 80 characters on one line: for reasons.
    #[must_use]
    pub fn excerpt(&self) -> Cow<'_, str> {
        excerpt(self.json(), 80)
    }
}

/// A value as compact JSON. Its own `to_string` uses the formatting machinery, which is slower, and large in a
/// component.
pub(crate) fn json_text(value: &Value) -> String {
    // It fails only for a key that is not a string, which a `Value` cannot have.
    serde_json::to_string(value).unwrap_or_default()
}

/// The content of a JSON string that contains no escapes.
fn without_escapes(json: &str) -> Option<&str> {
    match json.as_bytes() {
        [b'"', content @ .., b'"'] if !content.contains(&b'\\') => json.get(1..=content.len()),
        _ => None,
    }
}

/// serde_json's message, without the position, which is in a text that the user never sees.
#[must_use]
pub fn plain_message(message: &str) -> &str {
    message.rfind(" at line ").map_or(message, |index| &message[..index])
}

/// serde's message, with plain words instead of Rust's type names.
pub(crate) fn in_words(message: &str) -> String {
    // serde_json says this of a value that is not an enum.
    if message == "expected value" {
        return "expected one of its names".to_owned();
    }
    let Some((found, expected)) = message.rsplit_once(", expected ") else {
        return message.to_owned();
    };
    if !found.starts_with("invalid ") {
        return message.to_owned();
    }
    let is_too_large = found.starts_with("invalid value: integer") && !found.contains('-');
    let expected = expected_in_words(expected, is_too_large);
    format!("{}, expected {expected}", found_in_words(found))
}

/// Describes what serde found, in JSON's terms.
fn found_in_words(found: &str) -> String {
    match found {
        "invalid type: map" => "invalid type: object".to_owned(),
        "invalid type: sequence" => "invalid type: array".to_owned(),
        found => found.replacen("floating point `", "number `", 1),
    }
}

/// Describes what serde expected; a scorer's own words stay as they are.
fn expected_in_words(expected: &str, is_too_large: bool) -> &str {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" if is_too_large => "a smaller whole number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "string or map" | "map with a single key" => "one of its names",
        "a sequence" => "an array",
        "a map" => "an object",
        words if words.starts_with("a nonzero u") => "a whole number, 1 or more",
        words if words.starts_with("struct ") || words.contains("tagged enum ") => "an object",
        words => words,
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::{Part, in_words, plain_message};

    #[test]
    fn messages_have_no_names_of_rust() {
        let cases = [
            ("string \"a\", expected usize", "string \"a\", expected a whole number, 0 or more"),
            ("integer `1`, expected string or map", "integer `1`, expected one of its names"),
            ("string \"a\", expected struct Attempt", "string \"a\", expected an object"),
            ("floating point `1.5`, expected i64", "number `1.5`, expected a whole number"),
            ("map, expected a sequence", "object, expected an array"),
            ("sequence, expected a map", "array, expected an object"),
            ("boolean `true`, expected a string", "boolean `true`, expected a string"),
        ];
        for (message, expected) in cases {
            let message = format!("invalid type: {message} at line 1 column 7");
            assert_eq!(in_words(plain_message(&message)), format!("invalid type: {expected}"));
        }
        assert_eq!(
            in_words("invalid value: integer `5000000000`, expected u32"),
            "invalid value: integer `5000000000`, expected a smaller whole number"
        );
        assert_eq!(
            in_words("invalid value: integer `0`, expected a nonzero u32"),
            "invalid value: integer `0`, expected a whole number, 1 or more"
        );
    }

    #[test]
    fn the_text_of_a_value_is_the_same_however_it_is_written() {
        let text = |json| Part::new("output", json).text().map(Cow::into_owned).unwrap();
        assert_eq!(text(r#"{"a": [1.0, "\u00e9"]}"#), r#"{"a":[1,"é"]}"#);
        assert_eq!(text(r#" "a: 1.0" "#), "a: 1.0");
    }

    #[test]
    fn text_after_the_value_is_an_error() {
        for json in ["42 or maybe 43", "{} x", "[1]]", "{}{}", "1.2.3", "\"a\" b"] {
            let message = "`output` cannot be read: more text follows the value";
            assert_eq!(Part::new("output", json).value().unwrap_err().message(), message, "{json}");
        }
        assert_eq!(Part::new("output", " {} \n").read(), Ok(serde_json::json!({})));
        let error = Part::new("output", "1 2").read::<u8>().unwrap_err();
        assert_eq!(error.message(), "`output` cannot be read: more text follows the value");
    }

    #[test]
    fn other_words_stay_as_they_are() {
        for message in [
            "unknown variant `a`, expected `b` or `c`",
            "should be a list of texts, or one text with commas between them",
            "invalid type: string \", expected u8\", expected something else",
        ] {
            assert_eq!(in_words(message), message);
        }
    }
}
