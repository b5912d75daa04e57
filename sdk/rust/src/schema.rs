//! The JSON Schema of a scorer's configuration. It only describes; checking is done elsewhere.

use serde_json::{Map, Value};

use crate::JsonSchema;

/// The schema of `T`, which also says that no other keys are allowed.
pub(crate) fn config_schema<T: JsonSchema>() -> Value {
    let mut schema = schemars::schema_for!(T).to_value();
    if let Some(root) = schema.as_object_mut() {
        close(root);
    }
    schema
}

/// Unknown keys are refused; saying so in the schema lets editors say it first. A schema that is put
/// together from others is left open, since `additionalProperties` sees only its own.
fn close(schema: &mut Map<String, Value>) {
    let composed = ["$ref", "allOf", "anyOf", "oneOf", "additionalProperties"];
    if !composed.iter().any(|keyword| schema.contains_key(*keyword)) {
        schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}

/// The type's doc comment, as the schema carries it.
pub(crate) fn description(schema: &Value) -> Option<&str> {
    schema.get("description")?.as_str()
}
