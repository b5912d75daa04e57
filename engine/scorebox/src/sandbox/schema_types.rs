//! Reads what a schema states about one value: its types, and whether an object takes other keys. It does not look at a
//! configuration as a whole.

use serde_json::{Map, Number, Value};

/// The types that a schema allows; empty if it allows all.
pub(super) fn kinds(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// A text as the number or the boolean that the schema expects, unless it allows a text.
pub(super) fn typed(text: &str, kinds: &[&str]) -> Option<Value> {
    let wants = |kind: &str| kinds.contains(&kind);
    match text {
        _ if wants("string") => None,
        "true" | "false" if wants("boolean") => Some(Value::Bool(text == "true")),
        _ if wants("number") || wants("integer") => {
            serde_json::from_str::<Number>(text).ok().map(Value::Number)
        }
        _ => None,
    }
}

/// Whether a value has a type of JSON Schema; a whole number is an integer, even if it is written with a decimal point.
pub(super) fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        // A schema with any other type is refused.
        _ => true,
    }
}

/// Whether an object may have only the keys that the schema lists, which the schema must state itself.
pub(super) fn is_closed(schema: &Map<String, Value>) -> bool {
    schema.get("additionalProperties") == Some(&Value::Bool(false))
        && !schema.contains_key("patternProperties")
}
