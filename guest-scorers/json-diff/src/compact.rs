//! Writes a JSON value as Python's `json.dumps` does with sorted keys, without spaces and in ASCII. autoevals compares
//! values of different kinds by this text.

use serde_json::{Number, Value};

/// The compact text of a value.
pub(crate) fn compact(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, into: &mut String) {
    match value {
        Value::Number(number) => into.push_str(&number_text(number)),
        Value::String(text) => string(text, into),
        Value::Array(items) => {
            into.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    into.push(',');
                }
                write(item, into);
            }
            into.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            into.push('{');
            for (index, (key, member)) in members.into_iter().enumerate() {
                if index > 0 {
                    into.push(',');
                }
                string(key, into);
                into.push(':');
                write(member, into);
            }
            into.push('}');
        }
        other => into.push_str(&other.to_string()),
    }
}

/// Escapes everything except the printable characters of ASCII.
fn string(text: &str, into: &mut String) {
    into.push('"');
    for c in text.chars() {
        match c {
            '"' => into.push_str("\\\""),
            '\\' => into.push_str("\\\\"),
            '\n' => into.push_str("\\n"),
            '\r' => into.push_str("\\r"),
            '\t' => into.push_str("\\t"),
            '\u{8}' => into.push_str("\\b"),
            '\u{c}' => into.push_str("\\f"),
            ' '..='~' => into.push(c),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    into.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    into.push('"');
}

/// The shortest digits, and exponents such as `1e+16` and `1e-05`.
fn number_text(number: &Number) -> String {
    let (Some(double), true) = (number.as_f64(), number.is_f64()) else {
        return number.to_string();
    };
    let text = format!("{double:?}");
    match text.split_once('e') {
        Some((digits, exponent)) => match exponent.strip_prefix('-') {
            Some(exponent) => format!("{digits}e-{exponent:0>2}"),
            None => format!("{digits}e+{exponent:0>2}"),
        },
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::compact;

    // From `json.dumps(value, separators=(",", ":"), sort_keys=True)` of Python 3.11.
    #[test]
    fn values_are_written_as_python_writes_them() {
        assert_eq!(compact(&json!({"b": [1, null], "a": true})), "{\"a\":true,\"b\":[1,null]}");
        assert_eq!(
            compact(&json!("é😀\"\\\n\u{7f}\u{1}/")),
            "\"\\u00e9\\ud83d\\ude00\\\"\\\\\\n\\u007f\\u0001/\""
        );
        let numbers =
            json!([1.0, 0.1, 1e16, 123456789012345680.0, 1e-5, 1.5e-7, 0.0001, 1e300, -2.5]);
        assert_eq!(
            compact(&numbers),
            "[1.0,0.1,1e+16,1.2345678901234568e+17,1e-05,1.5e-07,0.0001,1e+300,-2.5]"
        );
    }
}
