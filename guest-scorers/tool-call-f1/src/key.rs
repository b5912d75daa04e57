//! What makes two calls the same. Counting agreement is left to others.

use serde_json::{Value, json};

/// The identity of a call: its tool and, if they count, its arguments.
pub(crate) type Key = (String, Option<String>);

pub(crate) fn key(name: &str, arguments: Option<&Value>) -> Key {
    (name.to_owned(), arguments.map(|arguments| fold(arguments).to_string()))
}

/// Writes equal numbers alike: `1.0` as `1`. Integers stay exact, whatever double they are closest to.
fn fold(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(double) if number.is_f64() => folded(double),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(fold).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, member)| (key.clone(), fold(member))).collect()
        }
        other => other.clone(),
    }
}

/// A double as the integer that it equals, if JSON's reader supports one of that size: 64 bits, signed only if
/// negative.
fn folded(double: f64) -> Value {
    let is_whole = double.fract() == 0.0;
    match double {
        ..0.0 if is_whole && double >= i64::MIN as f64 => json!(double as i64),
        0.0.. if is_whole && double < u64::MAX as f64 => json!(double as u64),
        _ => json!(double),
    }
}
