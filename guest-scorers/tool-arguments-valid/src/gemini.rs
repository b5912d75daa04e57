//! Converts Gemini's `Schema`, the form of OpenAPI 3.0 in its function declarations, to JSON Schema: types in capitals,
//! `nullable`, and whole numbers as texts. It checks nothing.

use serde_json::{Map, Value, json};

/// Gemini's names of types: those of JSON Schema in capitals.
const TYPES: [&str; 7] = ["OBJECT", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "NULL"];

/// Keywords whose whole number may be a text, as in protobuf's JSON.
const COUNTS: [&str; 6] =
    ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];

/// Whether a schema is Gemini's, by its type.
pub(crate) fn is_gemini(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str).is_some_and(|kind| TYPES.contains(&kind))
}

/// Converts a schema and those inside it; JSON Schema stays unchanged.
pub(crate) fn to_json_schema(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else { return };
    if let Some(Value::String(kind)) = members.get_mut("type")
        && TYPES.contains(&kind.as_str())
    {
        kind.make_ascii_lowercase();
    }
    for key in COUNTS {
        let count = members.get(key).and_then(|count| count.as_str()?.parse::<u64>().ok());
        if let Some(count) = count {
            members.insert(key.to_owned(), count.into());
        }
    }
    if let Some(properties) = members.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(to_json_schema);
    }
    members.get_mut("items").into_iter().for_each(to_json_schema);
    if let Some(parts) = members.get_mut("anyOf").and_then(Value::as_array_mut) {
        parts.iter_mut().for_each(to_json_schema);
    }
    if members.remove("nullable") == Some(json!(true)) {
        allow_null(members);
    }
}

fn allow_null(members: &mut Map<String, Value>) {
    if let Some(kind) = members.get_mut("type")
        && kind.is_string()
    {
        *kind = json!([kind.take(), "null"]);
    }
    if let Some(values) = members.get_mut("enum").and_then(Value::as_array_mut) {
        values.push(Value::Null);
    }
    if let Some(parts) = members.get_mut("anyOf").and_then(Value::as_array_mut) {
        parts.push(json!({ "type": "null" }));
    }
}
