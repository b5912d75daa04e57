//! Writes a JSON value as the same text however it was written: without white space or unnecessary escapes, and with
//! numbers in their shortest form. It keeps the order of keys, and checks nothing: the engine has checked that the text
//! is JSON.
//!
//! The text is that of JavaScript's `JSON.stringify`, except that numbers with more than 15 digits, and very large and
//! very small ones, stay as they are written.

use std::borrow::Cow;

use serde_json::Value;

use crate::push_whole;

/// With up to this many digits, and up to an exponent of this size, a number is read as exactly its closest double.
const EXACT_DIGITS: usize = 15;
const EXACT_EXPONENT: u32 = 7;
/// From this value on, a number is written without an exponent.
const WRITTEN_IN_DIGITS: f64 = 1e-5;
/// Up to this value, a double can hold every whole number.
const EXACT: f64 = (1_u64 << 53) as f64;

/// The compact text of a JSON document; borrowed if it is compact already.
pub(crate) fn compact(json: &str) -> Cow<'_, str> {
    match is_compact(json) {
        true => Cow::Borrowed(json),
        false => Cow::Owned(written_compactly(json)),
    }
}

/// Whether the text contains nothing that could be written differently.
fn is_compact(json: &str) -> bool {
    let (mut in_text, mut escaped, mut before) = (false, false, b' ');
    for byte in json.bytes() {
        let last = std::mem::replace(&mut before, byte);
        match byte {
            b'u' | b'/' if escaped => return false,
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b' ' | b'\t' | b'\n' | b'\r' | b'.' => return false,
            // Literals such as `true` contain an e too, so only one after a digit is an exponent.
            b'e' | b'E' if last.is_ascii_digit() => return false,
            b'0' if last == b'-' => return false,
            _ => {}
        }
    }
    true
}

fn written_compactly(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(first) = rest.as_bytes().first() {
        let length = match first {
            b'"' => length_of_string(rest),
            b'-' | b'0'..=b'9' => rest.bytes().take_while(is_of_number).count(),
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        let (token, after) = rest.split_at(length);
        match first {
            b'"' => push_string(&mut text, token),
            b'-' | b'0'..=b'9' => push_number(&mut text, token),
            b' ' | b'\t' | b'\n' | b'\r' => {}
            _ => text.push_str(token),
        }
        rest = after;
    }
    text
}

/// The length in bytes of the string at the start of `rest`, including its quotes.
fn length_of_string(rest: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn is_of_number(byte: &u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}

/// Appends a string; one whose escapes are not valid characters stays as it is.
fn push_string(text: &mut String, token: &str) {
    let unescaped = token.contains('\\').then(|| serde_json::from_str::<Value>(token).ok());
    match unescaped.flatten().and_then(|value| serde_json::to_string(&value).ok()) {
        Some(again) => text.push_str(&again),
        None => text.push_str(token),
    }
}

fn push_number(text: &mut String, token: &str) {
    let number = serde_json::from_str::<Value>(token).ok().filter(|_| is_exact(token));
    match number.and_then(|number| number.as_f64()) {
        Some(0.0) => text.push('0'),
        Some(whole) if whole.fract() == 0.0 && whole.abs() < EXACT => push_whole(text, whole),
        Some(number) if number.abs() < EXACT && number.abs() >= WRITTEN_IN_DIGITS => {
            text.push_str(&serde_json::to_string(&Value::from(number)).unwrap_or_default());
        }
        _ => text.push_str(token),
    }
}

fn is_exact(token: &str) -> bool {
    let (digits, exponent) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
    let exponent = exponent.trim_start_matches(['+', '-']).parse::<u32>();
    exponent.is_ok_and(|exponent| exponent <= EXACT_EXPONENT)
        && digits.bytes().filter(u8::is_ascii_digit).count() <= EXACT_DIGITS
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::compact;

    #[test]
    fn one_value_has_one_text_however_it_is_written() {
        for written in [
            r#"{"city":"Zürich","n":[1,2.5]}"#,
            r#"{"city": "Z\u00fcrich", "n": [1, 2.50]}"#,
            "{\n  \"city\" : \"Zürich\",\r\n\t\"n\": [ 1.0, 25e-1 ]\n}",
        ] {
            assert_eq!(compact(written), r#"{"city":"Zürich","n":[1,2.5]}"#);
        }
        assert_eq!(
            compact(r#"["\ud83d\ude42","a\/b","\u000a\u001f\"\\"]"#),
            r#"["🙂","a/b","\n\u001f\"\\"]"#
        );
    }

    #[test]
    fn what_is_compact_is_borrowed() {
        for written in [r#"{"b":[null,true,-12,"a b\n"],"a":{}}"#, "12345678901234567890123", "[]"]
        {
            assert!(matches!(compact(written), Cow::Borrowed(text) if text == written));
        }
    }

    #[test]
    fn values_and_the_order_of_keys_stay_as_they_are() {
        let written = r#"{"b": true, "a": false, "a": null, "t": "1.0  e5"}"#;
        assert_eq!(compact(written), r#"{"b":true,"a":false,"a":null,"t":"1.0  e5"}"#);
    }

    #[test]
    fn numbers_are_as_short_as_javascript_writes_them() {
        for (written, expected) in [
            ("1.0", "1"),
            ("-1.50", "-1.5"),
            ("1e3", "1000"),
            ("-0.0", "0"),
            ("-0", "0"),
            ("1e-7", "1e-7"),
            ("0.000001", "0.000001"),
            ("2.50e-5", "0.000025"),
            ("123456789012345e6", "123456789012345e6"),
            ("12345678901234567890123", "12345678901234567890123"),
            ("1234567890123.0", "1234567890123"),
            ("12345678901234567.0", "12345678901234567.0"),
            ("1.50e20", "1.50e20"),
            ("[-0, 1E2]", "[0,100]"),
        ] {
            assert_eq!(compact(written), expected);
        }
    }

    #[test]
    fn what_is_not_json_is_left_alone() {
        for written in [r#""\ud800""#, "\"open\\", "1e999", "é"] {
            assert_eq!(compact(written), written);
        }
    }
}
