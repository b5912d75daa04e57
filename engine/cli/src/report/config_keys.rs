//! The keys of a scorer's configuration, read from its JSON Schema, for people: name, allowed values, default, meaning.
//! It validates nothing.

use std::{cell::Cell, io};

use serde_json::Value;

/// The most levels of references and alternatives that are followed.
const DEPTH: usize = 8;

/// The most levels of nested keys that are listed.
const KEY_DEPTH: usize = 3;

/// The most keys that are listed.
const MAX_KEYS: usize = 500;

/// The most schemas that are visited, and choices that are listed, for all keys together: schemas that refer to each
/// other would never end.
const MAX_STEPS: usize = 5000;

/// The most bytes of a key's kind, of its name, and of each value. Many keys may have the same long text.
const MAX_KIND: usize = 2000;
/// The most bytes of the description of a key or a value.
const MAX_MEANING: usize = 4000;

/// One key of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigKey {
    /// The key.
    pub name: String,
    /// The allowed values: `true or false`, `number`, `"any" | "all"`, `{regex: text}`; `one of` and `list of` where
    /// the choices say the rest.
    pub kind: String,
    /// The range of the value, or of its length, if the schema limits it: `0 to 1`, `at least 1`, `at most 10 items`.
    pub range: String,
    /// The default value; `required` if the key is required; empty if there is no default.
    pub default: String,
    /// What it means, in one paragraph.
    pub description: String,
    /// Each allowed value, if only some are allowed and the schema describes them.
    pub choices: Vec<Choice>,
}

/// One of the values that a key may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The value, as JSON.
    pub value: String,
    /// What it means, in one paragraph.
    pub meaning: String,
}

/// The keys that a schema lists, in its order, each followed by those inside it (`prices.*.input`, where
/// `*` is a key of the user's own); `None` if it is not the schema of an object.
pub(crate) fn config_keys(schema: &str) -> Vec<ConfigKey> {
    let Ok(root) = serde_json::from_str::<Value>(schema) else { return Vec::new() };
    let mut keys = Vec::new();
    let steps = Cell::new(MAX_STEPS);
    collect(&Schema { root: &root, steps: &steps }, &root, "", KEY_DEPTH, &mut keys);
    keys
}

/// A whole schema, and how many more of its parts may be visited.
struct Schema<'a> {
    root: &'a Value,
    steps: &'a Cell<usize>,
}

/// Appends the keys of an object's schema, whose names begin with `before`.
fn collect(
    whole: &Schema<'_>,
    object: &Value,
    before: &str,
    depth: usize,
    keys: &mut Vec<ConfigKey>,
) {
    let root = whole.root;
    let Some(deeper) = depth.checked_sub(1) else { return };
    let required = object["required"].as_array();
    let required =
        |name: &str| required.is_some_and(|all| all.iter().any(|it| it.as_str() == Some(name)));
    for (key, property) in object["properties"].as_object().into_iter().flatten() {
        if keys.len() >= MAX_KEYS {
            return;
        }
        let name = format!("{before}{key}");
        let name = shortened(name, MAX_KIND);
        let (kind, choices) = kind_and_choices(whole, property);
        keys.push(ConfigKey {
            kind,
            range: range(root, property, DEPTH),
            default: match &property["default"] {
                _ if required(key) => "required".into(),
                Value::Null => String::new(),
                default => value_text(default),
            },
            description: description(root, property),
            choices,
            name: name.clone(),
        });
        let inside = resolved(root, property);
        collect(whole, inside, &format!("{name}."), deeper, keys);
        let each = resolved(root, &inside["additionalProperties"]);
        collect(whole, each, &format!("{name}.*."), deeper, keys);
    }
}

fn kind_and_choices(whole: &Schema<'_>, property: &Value) -> (String, Vec<Choice>) {
    let root = whole.root;
    let own = choices(whole, property, DEPTH);
    if !own.is_empty() {
        return ("one of".to_owned(), own);
    }
    let of_items = choices(whole, &resolved(root, property)["items"], DEPTH);
    if !of_items.is_empty() {
        return ("list of".to_owned(), of_items);
    }
    (kind(whole, property, DEPTH), Vec::new())
}

/// The values that a schema allows, if it allows no others (except `null`), describes each of them, and does not have
/// too many to list.
fn choices(whole: &Schema<'_>, schema: &Value, depth: usize) -> Vec<Choice> {
    let Some(deeper) = depth.checked_sub(1) else { return Vec::new() };
    let (root, steps) = (whole.root, whole.steps.get());
    let schema = resolved(root, schema);
    let Some(alternatives) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) else {
        return Vec::new();
    };
    if alternatives.len() > steps {
        return Vec::new();
    }
    let alternatives: Vec<_> = alternatives.iter().filter(|it| it["type"] != "null").collect();
    if let [only] = alternatives.as_slice()
        && only.get("$ref").is_some()
    {
        // An optional value: `null`, or a schema that is defined elsewhere.
        return choices(whole, only, deeper);
    }
    let choice = |alternative: &&Value| {
        alternative["description"].as_str()?;
        let value = value_text(alternative.get("const")?);
        Some(Choice { value, meaning: description(root, alternative) })
    };
    let choices: Vec<Choice> =
        alternatives.iter().map(choice).collect::<Option<_>>().unwrap_or_default();
    whole.steps.set(steps - choices.len());
    choices
}

fn description(root: &Value, property: &Value) -> String {
    let own = property["description"].as_str();
    let text = own.or_else(|| resolved(root, property)["description"].as_str());
    let text = text.unwrap_or_default();
    let cut = &text[..text.floor_char_boundary(MAX_MEANING)];
    let mut line = cut.split_whitespace().collect::<Vec<_>>().join(" ");
    if cut.len() < text.len() {
        line.push('…');
    }
    line
}

/// The text, or its first bytes.
fn shortened(mut text: String, most: usize) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push('…');
    }
    text
}

/// A value as JSON, written only as far as it is shown.
fn value_text(value: &Value) -> String {
    struct Beginning(Vec<u8>);
    impl io::Write for Beginning {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0.len() > MAX_KIND {
                return Err(io::ErrorKind::WriteZero.into());
            }
            let taken = bytes.len().min(MAX_KIND + 1);
            self.0.extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut beginning = Beginning(Vec::new());
    // Writing fails on purpose once the limit is reached.
    let _ = serde_json::to_writer(&mut beginning, value);
    shortened(String::from_utf8_lossy(&beginning.0).into_owned(), MAX_KIND)
}

/// The allowed values, or the beginning of their description.
fn kind(whole: &Schema<'_>, schema: &Value, depth: usize) -> String {
    let steps = whole.steps.get();
    if depth == 0 || steps == 0 {
        return "…".into();
    }
    whole.steps.set(steps - 1);
    shortened(whole_kind(whole, resolved(whole.root, schema), depth - 1), MAX_KIND)
}

/// The first texts, joined, as far as they are shown.
fn joined(texts: impl IntoIterator<Item = String>, between: &str) -> String {
    let mut all = String::new();
    for (index, text) in texts.into_iter().enumerate() {
        if index > 0 {
            all.push_str(between);
        }
        all.push_str(&text);
        if all.len() > MAX_KIND {
            break;
        }
    }
    all
}

fn whole_kind(whole: &Schema<'_>, schema: &Value, depth: usize) -> String {
    if let Some(only) = schema.get("const") {
        return value_text(only);
    }
    if let Some(values) = schema["enum"].as_array() {
        return joined(values.iter().map(value_text), " | ");
    }
    if let Some(choices) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
        let mut kinds: Vec<String> = Vec::new();
        for choice in choices.iter().filter(|choice| choice["type"] != "null") {
            let kind = kind(whole, choice, depth);
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
            if whole.steps.get() == 0 {
                break;
            }
        }
        return joined(kinds, " | ");
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let words = types.iter().filter(|name| **name != "null").map(|name| match *name {
        "object" => object_kind(whole, schema, depth),
        "boolean" => "true or false".to_owned(),
        "string" => "text".to_owned(),
        "integer" => "whole number".to_owned(),
        "array" if schema["items"].is_object() => {
            format!("list of {}", kind(whole, &schema["items"], depth))
        }
        "array" => "list".to_owned(),
        other => other.to_owned(),
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() { "any JSON".into() } else { words.join(" | ") }
}

/// The limits on the values of a schema, or on their length.
fn range(root: &Value, schema: &Value, depth: usize) -> String {
    let Some(deeper) = depth.checked_sub(1) else { return String::new() };
    let schema = resolved(root, schema);
    if let Some(choices) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
        // An optional value: `null`, or the schema with the limits.
        let mut choices = choices.iter().filter(|choice| choice["type"] != "null");
        return match (choices.next(), choices.next()) {
            (Some(only), None) => range(root, only, deeper),
            _ => String::new(),
        };
    }
    let number = |key: &str| schema[key].as_number().map(ToString::to_string);
    let bounds = |least: &str, most: &str, of: &str| match (number(least), number(most)) {
        (Some(least), Some(most)) => Some(format!("{least} to {most}{of}")),
        (Some(least), None) => Some(format!("at least {least}{of}")),
        (None, Some(most)) => Some(format!("at most {most}{of}")),
        (None, None) => None,
    };
    let all = [
        bounds("minimum", "maximum", ""),
        number("exclusiveMinimum").map(|bound| format!("more than {bound}")),
        number("exclusiveMaximum").map(|bound| format!("less than {bound}")),
        number("multipleOf").map(|step| format!("a multiple of {step}")),
        bounds("minLength", "maxLength", " characters"),
        bounds("minItems", "maxItems", " items"),
    ];
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `{input: number, output: number}`, or `object of` the kind of its members.
fn object_kind(whole: &Schema<'_>, schema: &Value, depth: usize) -> String {
    if let Some(properties) = schema["properties"].as_object() {
        let members =
            properties.iter().map(|(name, of)| format!("{name}: {}", kind(whole, of, depth)));
        return format!("{{{}}}", joined(members, ", "));
    }
    match &schema["additionalProperties"] {
        Value::Object(_) => {
            format!("object of {}", kind(whole, &schema["additionalProperties"], depth))
        }
        _ => "object".to_owned(),
    }
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
                "loose": {"anyOf": [{"type": "number"}, {"$ref": "#/$defs/Regex"}, {"type": "null"}]},
                "prices": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Price"}}
            },
            "$defs": {
                "Mode": {"description": "How.", "oneOf": [{"const": "any"}, {"const": "all"}]},
                "Regex": {"type": "object", "properties": {"regex": {"type": "string"}}},
                "Price": {
                    "type": "object",
                    "required": ["input"],
                    "properties": {"input": {"type": "number", "description": "Dollars."}}
                }
            }
        }"##;
        let keys = config_keys(schema);
        let shown: Vec<String> = keys
            .iter()
            .map(|key| format!("{}: {} [{}] {}", key.name, key.kind, key.default, key.description))
            .collect();
        assert_eq!(
            shown,
            [
                "loose: number | {regex: text} [] ",
                "max: whole number [required] The most words.",
                r#"mode: "any" | "all" ["any"] How."#,
                "names: list of text [] ",
                "prices: object of {input: number} [] ",
                "prices.*.input: number [required] Dollars.",
                "value: any JSON [] Anything.",
            ]
        );
    }

    #[test]
    fn bounds_are_said_in_words() {
        let schema = r##"{"properties": {
            "a": {"type": "integer", "minimum": 0},
            "b": {"type": "number", "minimum": 0.5, "maximum": 1},
            "c": {"anyOf": [{"$ref": "#/$defs/C"}, {"type": "null"}]},
            "d": {"type": "array", "minItems": 1, "maxItems": 9},
            "e": {"anyOf": [{"minimum": 1}, {"type": "string"}]},
            "f": {"type": "string", "maxLength": 7},
            "g": {"$ref": "#/$defs/G"}
        }, "$defs": {"C": {"exclusiveMinimum": 0, "exclusiveMaximum": 2, "multipleOf": 0.1},
            "G": {"anyOf": [{"$ref": "#/$defs/G"}]}}}"##;
        let ranges: Vec<String> = config_keys(schema).into_iter().map(|key| key.range).collect();
        assert_eq!(
            ranges,
            [
                "at least 0",
                "0.5 to 1",
                "more than 0, less than 2, a multiple of 0.1",
                "1 to 9 items",
                "",
                "at most 7 characters",
                ""
            ]
        );
    }

    #[test]
    fn choices_are_shown_with_their_meanings() {
        let schema = r##"{"properties": {
            "mode": {"anyOf": [{"$ref": "#/$defs/Mode"}, {"type": "null"}]},
            "modes": {"type": "array", "items": {"$ref": "#/$defs/Mode"}},
            "plain": {"enum": ["a", "b"]}
        }, "$defs": {"Mode": {"oneOf": [
            {"const": "any", "description": "One will\n do."},
            {"const": "all", "description": "All of them."}
        ]}}}"##;
        let told = |key: &ConfigKey| {
            let told =
                key.choices.iter().map(|choice| format!("{}: {}", choice.value, choice.meaning));
            told.collect::<Vec<_>>()
        };
        let keys = config_keys(schema);
        assert_eq!(told(&keys[0]), [r#""any": One will do."#, r#""all": All of them."#]);
        assert_eq!(told(&keys[1]), told(&keys[0]));
        assert!(keys[2].choices.is_empty());
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = r##"{"properties": {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#/$defs/B"}},
            "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]},
                "B": {"anyOf": [{"$ref": "#/$defs/B"}]}}}"##;
        assert!(config_keys(schema)[0].kind.contains("text"));
        let properties: Vec<_> =
            (0..100).map(|n| format!(r##""k{n}": {{"$ref": "#"}}"##)).collect();
        let many = format!(r#"{{"properties": {{{}}}}}"#, properties.join(", "));
        assert_eq!(config_keys(&many).len(), MAX_KEYS);
        assert_eq!(config_keys("no schema"), []);
        // Each of these has a hundred times as many as the one before.
        let branches = vec![r##"{"$ref": "#/$defs/A"}"##; 100].join(", ");
        let members: Vec<String> =
            (0..100).map(|n| format!(r##""m{n}": {{"$ref": "#/$defs/B"}}"##)).collect();
        let endless = format!(
            r##"{{"properties": {{"a": {{"$ref": "#/$defs/A"}}, "b": {{"$ref": "#/$defs/B"}}, "c": {{"type": "number"}}}},
                "$defs": {{"A": {{"anyOf": [{branches}]}}, "B": {{"type": "object", "properties": {{{}}}}}}}}}"##,
            members.join(", ")
        );
        let keys = config_keys(&endless);
        assert!(keys.iter().all(|key| key.kind.len() <= MAX_KIND + "…".len()));
        assert_eq!(keys.len(), MAX_KEYS, "with those inside `b`");
    }

    #[test]
    fn what_many_keys_refer_to_is_cut_and_counted() {
        let long = "x".repeat(300_000);
        let choices: Vec<_> = (0..1000)
            .map(|at| serde_json::json!({"const": at, "description": "y".repeat(500)}))
            .collect();
        let mut properties: serde_json::Map<String, Value> = (0..400)
            .map(|at| (format!("k{at}"), serde_json::json!({"$ref": "#/$defs/Choices"})))
            .collect();
        let value = serde_json::json!({"default": &long, "description": &long, "$ref": "#"});
        properties.insert(long, value);
        let schema = serde_json::json!({
            "properties": properties,
            "$defs": {"Choices": {"oneOf": choices}},
        });
        let keys = config_keys(&schema.to_string());
        assert_eq!(keys.len(), MAX_KEYS);
        assert_eq!(keys.iter().map(|key| key.choices.len()).sum::<usize>(), MAX_STEPS);
        let bytes = |key: &ConfigKey| {
            let choices = key.choices.iter().map(|it| it.value.len() + it.meaning.len());
            let own = [&key.name, &key.kind, &key.default, &key.description];
            own.map(String::len).iter().sum::<usize>() + choices.sum::<usize>()
        };
        let bytes: usize = keys.iter().map(bytes).sum();
        assert!(bytes < 5_000_000, "{bytes}");
        assert!(keys.iter().any(|key| key.name.ends_with('…') && key.description.ends_with('…')));
    }
}
