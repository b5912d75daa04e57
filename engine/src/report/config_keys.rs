//! The keys of a scorer's configuration, read from its JSON Schema, as a person wants them: name, what
//! may stand there, default, meaning. Validates nothing.

use serde_json::Value;

/// How deep references and alternatives are followed.
const DEPTH: usize = 8;

/// One key of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigKey {
    /// The key.
    pub name: String,
    /// What may stand there: `true or false`, `number`, `"any" | "all"`.
    pub kind: String,
    /// What is taken where it is absent; `required` where it may not be; empty where nothing is.
    pub default: String,
    /// What it means, in one paragraph.
    pub description: String,
}

/// The keys that a schema lists, in its order; none where it is no schema of an object.
pub fn config_keys(schema: &str) -> Vec<ConfigKey> {
    let Ok(root) = serde_json::from_str::<Value>(schema) else { return Vec::new() };
    let required = |name: &str| {
        let listed = root["required"].as_array();
        listed.is_some_and(|names| names.iter().any(|it| it.as_str() == Some(name)))
    };
    let properties = root["properties"].as_object();
    let key = |(name, property): (&String, &Value)| ConfigKey {
        name: name.clone(),
        kind: kind(&root, property, DEPTH),
        default: match &property["default"] {
            _ if required(name) => "required".into(),
            Value::Null => String::new(),
            default => default.to_string(),
        },
        description: description(&root, property),
    };
    properties.into_iter().flatten().map(key).collect()
}

fn description(root: &Value, property: &Value) -> String {
    let own = property["description"].as_str();
    let text = own.or_else(|| resolved(root, property)["description"].as_str());
    text.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn kind(root: &Value, schema: &Value, depth: usize) -> String {
    if depth == 0 {
        return "…".into();
    }
    let schema = resolved(root, schema);
    if let Some(only) = schema.get("const") {
        return only.to_string();
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    if let Some(choices) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
        let mut kinds: Vec<String> = Vec::new();
        for choice in choices.iter().filter(|choice| choice["type"] != "null") {
            let kind = kind(root, choice, depth - 1);
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        return kinds.join(" | ");
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let words = types.iter().filter(|name| **name != "null").map(|name| match *name {
        "boolean" => "true or false".to_owned(),
        "string" => "text".to_owned(),
        "integer" => "whole number".to_owned(),
        "array" if schema["items"].is_object() => {
            format!("list of {}", kind(root, &schema["items"], depth - 1))
        }
        "array" => "list".to_owned(),
        other => other.to_owned(),
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() { "any JSON".into() } else { words.join(" | ") }
}

/// The schema that a `$ref` into the same document points to.
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let pointer = schema["$ref"].as_str().and_then(|target| target.strip_prefix('#'));
    pointer.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_becomes_keys_with_kind_default_and_meaning() {
        let schema = r##"{
            "required": ["max"],
            "properties": {
                "max": {"type": "integer", "description": "The most\n words."},
                "mode": {"$ref": "#/$defs/Mode", "default": "any"},
                "value": {"description": "Anything.", "default": null},
                "names": {"type": ["array", "null"], "items": {"type": "string"}},
                "loose": {"anyOf": [{"type": "number"}, {"type": "null"}]}
            },
            "$defs": {"Mode": {"description": "How.", "oneOf": [{"const": "any"}, {"const": "all"}]}}
        }"##;
        let keys = config_keys(schema);
        let shown: Vec<String> = keys
            .iter()
            .map(|key| format!("{}: {} [{}] {}", key.name, key.kind, key.default, key.description))
            .collect();
        assert_eq!(
            shown,
            [
                "loose: number [] ",
                "max: whole number [required] The most words.",
                r#"mode: "any" | "all" ["any"] How."#,
                "names: list of text [] ",
                "value: any JSON [] Anything.",
            ]
        );
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = r##"{"properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]}}}"##;
        assert!(config_keys(schema)[0].kind.contains("text"));
        assert_eq!(config_keys("no schema"), []);
    }
}
