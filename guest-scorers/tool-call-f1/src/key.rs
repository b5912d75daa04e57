//! What makes two calls the same. Pairing them is left to others.

use serde_json::{Value, json};

/// What makes a call the same as another: its tool, and its arguments if these count.
pub(crate) type Key = (String, Option<String>);

pub(crate) fn key(name: &str, arguments: Option<&Value>) -> Key {
    (name.to_owned(), arguments.map(|arguments| fold(arguments).to_string()))
}

/// Numbers that are equal in one spelling: `1.0` as `1`.
fn fold(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(double) if double.fract() == 0.0 && double.abs() < 9e15 => json!(double as i64),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(fold).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, member)| (key.clone(), fold(member))).collect()
        }
        other => other.clone(),
    }
}
