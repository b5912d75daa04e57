//! JSON that is kept as its original text. It builds no tree.

use std::{borrow::Cow, iter::Peekable, str::Chars};

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// One JSON document as its original text. Two are equal if their texts are equal.
///
/// In a database that was tampered with, it may not be valid JSON; then it is written as a JSON string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(Box<str>);

impl Json {
    /// The text.
    pub fn get(&self) -> &str {
        &self.0
    }

    /// The text as JSON.
    ///
    /// # Errors
    /// Why it is not JSON.
    pub fn raw(&self) -> Result<&RawValue, serde_json::Error> {
        serde_json::from_str(&self.0)
    }

    /// The list as JSON; `None` if it is empty, as in rows.
    pub(crate) fn of_list<T: Serialize>(items: &[T]) -> Option<Json> {
        let written = (!items.is_empty()).then(|| serde_json::to_string(items).ok()).flatten();
        written.map(Json::from)
    }

    /// Whether both are the same document; space between tokens and escapes in strings may differ. Numbers, order and
    /// repeated keys count as they are written.
    pub fn is_same_document_as(&self, other: &Json) -> bool {
        self == other || plain(&self.0) == plain(&other.0)
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json(text.into())
    }
}

impl From<&RawValue> for Json {
    fn from(json: &RawValue) -> Json {
        Json(json.get().into())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.raw() {
            Ok(json) => json.serialize(serializer),
            Err(_) => serializer.serialize_str(&self.0),
        }
    }
}

/// The text without space between tokens, and with the characters of its strings instead of their escapes. Only a
/// quotation mark, a backslash and half a surrogate pair stay escaped, so that different documents stay different.
fn plain(json: &str) -> Cow<'_, str> {
    if !json.contains(['\\', ' ', '\t', '\n', '\r']) {
        return Cow::Borrowed(json);
    }
    let mut plain = String::with_capacity(json.len());
    let mut characters = json.chars().peekable();
    let mut in_string = false;
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                in_string = !in_string;
                plain.push('"');
            }
            '\\' if in_string => push_escaped(&mut plain, &mut characters),
            ' ' | '\t' | '\n' | '\r' if !in_string => {}
            _ => plain.push(character),
        }
    }
    Cow::Owned(plain)
}

/// Writes the character of the escape whose backslash was just read.
fn push_escaped(plain: &mut String, characters: &mut Peekable<Chars<'_>>) {
    let character = match characters.next() {
        Some('u') => return push_code_unit(plain, characters),
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('/') => '/',
        // A quotation mark, a backslash, and anything that is not an escape.
        Some(other) => {
            plain.push('\\');
            other
        }
        None => '\\',
    };
    plain.push(character);
}

/// Writes the character for `\u`, together with the escape after it if the two are a surrogate pair.
fn push_code_unit(plain: &mut String, characters: &mut Peekable<Chars<'_>>) {
    let Some(unit) = code_unit(characters) else { return plain.push_str("\\u") };
    let mut after = characters.clone();
    let low = matches!(unit, 0xd800..0xdc00)
        .then(|| (after.next() == Some('\\') && after.next() == Some('u')).then_some(()))
        .flatten()
        .and_then(|()| code_unit(&mut after))
        .filter(|low| matches!(low, 0xdc00..0xe000));
    let point = match low {
        Some(low) => {
            *characters = after;
            0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
        }
        None => unit,
    };
    match char::from_u32(point) {
        Some(character @ ('"' | '\\')) => plain.extend(['\\', character]),
        Some(character) => plain.push(character),
        None => plain.push_str(&format!("\\u{point:04x}")),
    }
}

/// The number in four hexadecimal digits; consumes nothing if there are none.
fn code_unit(characters: &mut Peekable<Chars<'_>>) -> Option<u32> {
    let mut after = characters.clone();
    let mut unit = 0;
    for _ in 0..4 {
        unit = unit * 16 + after.next()?.to_digit(16)?;
    }
    *characters = after;
    Some(unit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn same(one: &str, other: &str) -> bool {
        Json::from(one.to_owned()).is_same_document_as(&Json::from(other.to_owned()))
    }

    #[test]
    fn space_and_escapes_do_not_make_another_document() {
        assert!(same(r#"{"a":["é\n",1.0]}"#, "{ \"a\" :\t[\"\\u00E9\\u000a\",\r\n1.0 ] }"));
        assert!(same(r#""/\"\\ \ud83d\ude00""#, "\"\\/\\u0022\\u005c 😀\""));
        assert!(same(r#""\b\f\n\r\t""#, r#""\u0008\u000c\u000a\u000d\u0009""#));
    }

    #[test]
    fn what_is_written_differently_otherwise_is_another_document() {
        for (one, other) in [
            ("1.0", "1"),
            ("1e2", "100"),
            (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#),
            (r#"{"a":1}"#, r#"{"a":1,"a":1}"#),
            (r#""a b""#, r#""ab""#),
            (r#""\\n""#, r#""\n""#),
            (r#""\\u0041""#, r#""A""#),
            (r#""\ud800""#, r#""\\ud800""#),
            (r#""\ud800""#, r#""\udc00""#),
            (r#"["a","b"]"#, r#"["a\",\"b"]"#),
        ] {
            assert!(!same(one, other), "{one} {other}");
        }
    }

    #[test]
    fn text_that_is_not_json_is_written_as_a_string_and_compared_without_panic() {
        let broken = Json::from("{\"a\": ".to_owned());
        assert_eq!(serde_json::to_string(&broken).unwrap(), r#""{\"a\": ""#);
        for text in ["\"\\", "\"\\u", "\"\\u12", "\"\\ud83d\\u", "\"\\ud83d\\ud83d", "\\"] {
            assert!(same(text, text));
            assert!(!same(text, "\"\""), "{text}");
        }
    }

    proptest! {
        /// Any string, with any of its characters written as escapes, in a list with space around it.
        #[test]
        fn a_document_is_the_same_however_its_strings_are_escaped(
            characters in prop::collection::vec((any::<char>(), any::<bool>()), 0..40),
            space in "[ \t\r\n]{0,3}",
        ) {
            let text: String = characters.iter().map(|(character, _)| *character).collect();
            let mut escaped = String::new();
            for (character, escape) in &characters {
                if *escape || matches!(character, '"' | '\\') || *character < ' ' {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        escaped.push_str(&format!("\\u{unit:04X}"));
                    }
                } else {
                    escaped.push(*character);
                }
            }
            let one = serde_json::to_string(&[&text]).unwrap();
            let other = format!("[{space}\"{escaped}\"{space}]");
            prop_assert!(same(&one, &other), "{} {}", one, other);
            let longer = format!("{text}.");
            prop_assert!(!same(&one, &serde_json::to_string(&[&longer]).unwrap()));
        }
    }
}
