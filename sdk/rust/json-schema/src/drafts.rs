//! Adjusts schemas of drafts 6 and 7 where the validator interprets them differently: keywords next to `$ref`, and an
//! `enum` that is empty or repeats a value. It does not walk the schema.

use std::collections::BTreeSet;

use boon::Draft;
use serde_json::{Map, Value, json};

/// Keywords that the validator enforces next to `$ref`, although nothing next to it has a meaning before draft 2019-09.
/// Schemas that a reference may lead to, such as `definitions`, stay.
const BESIDE_REFERENCE: [&str; 8] = [
    "const",
    "contains",
    "propertyNames",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "if",
    "then",
    "else",
];

/// Changes the members of a schema so that the validator interprets them as the draft does.
pub(super) fn fit(members: &mut Map<String, Value>, draft: Draft) {
    if matches!(draft, Draft::V6 | Draft::V7) && members.get("$ref").is_some_and(Value::is_string) {
        members.retain(|key, _| !BESIDE_REFERENCE.contains(&key.as_str()));
    }
    // Draft 6 and older forbid it.
    if draft == Draft::V7 {
        let is_empty =
            members.get_mut("enum").and_then(Value::as_array_mut).is_some_and(|values| {
                without_repeats(values);
                values.is_empty()
            });
        if is_empty {
            match_nothing(members);
        }
    }
}

/// Keeps the first of equal values.
fn without_repeats(values: &mut Vec<Value>) {
    let mut seen = BTreeSet::new();
    values.retain(|value| seen.insert(spelled_once(value).to_string()));
}

/// A value in which equal numbers are written the same way: 1 as 1.0.
fn spelled_once(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(double) if double.fract() == 0.0 && double.abs() < 9e15 => json!(double as i64),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(spelled_once).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, member)| (key.clone(), spelled_once(member))).collect()
        }
        other => other.clone(),
    }
}

/// Replaces an empty `enum` with a schema that no value matches.
fn match_nothing(members: &mut Map<String, Value>) {
    let parts = members.entry("allOf").or_insert_with(|| json!([]));
    if let Some(parts) = parts.as_array_mut() {
        parts.push(json!(false));
        members.remove("enum");
    }
}
