//! Whether a configuration has only keys that a scorer's schema names, and values of their types: what can
//! be said of it without compiling the scorer. The scorer has the last word; what it would accept passes.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::{advice::Advice, contract::ScorerInfo};

use super::{ErrorKind, ScoreError, ScorerConfig, cut};

/// How alike a key and a name have to be for the name to be suggested (Damerau-Levenshtein), as scorers have it.
const ALIKE: f64 = 0.6;
/// The longest key that is compared; no name comes near.
const LONGEST_KEY: usize = 100;
/// Bytes of what is said of a configuration, which may have long keys and texts.
const MESSAGE_BYTES: usize = 4 << 10;
/// How deep a configuration is looked into.
const DEEPEST: usize = 32;

/// Refuses a configuration in which the scorer of `info` would find an unknown key or a value of another
/// type.
///
/// # Errors
/// `invalid-config`, in the scorer's words; for a key, with the name that was meant.
pub fn check_config(info: &ScorerInfo, config: &ScorerConfig) -> Result<(), ScoreError> {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    // What cannot be read here is for the scorer to judge.
    let (Some(schema), Some(config)) =
        (info.config_schema.as_deref().and_then(read), read(config.as_str()))
    else {
        return Ok(());
    };
    let search = Search { root: &schema };
    search.check(&config, &[&schema], "", DEEPEST)
}

fn wrong(message: &str) -> ScoreError {
    ScoreError::new(ErrorKind::InvalidConfig, cut(message, MESSAGE_BYTES))
}

type Schema = Map<String, Value>;

struct Search<'s> {
    root: &'s Value,
}

impl<'s> Search<'s> {
    /// `schemas` are all that describe `value`: alternatives count together.
    fn check(
        &self,
        value: &Value,
        schemas: &[&'s Value],
        path: &str,
        deepest: usize,
    ) -> Result<(), ScoreError> {
        let Some(deepest) = deepest.checked_sub(1) else { return Ok(()) };
        let mut flat = Vec::new();
        schemas.iter().for_each(|schema| self.flatten(schema, &mut flat));
        if let [schema] = flat.as_slice()
            && let Some(expected) = expected_instead(schema, value)
        {
            let found = found(value);
            return Err(wrong(&format!("`{path}`: invalid type: {found}, expected {expected}")));
        }
        match value {
            Value::Object(object) => self.check_object(object, &flat, path, deepest),
            Value::Array(items) => items.iter().enumerate().try_for_each(|(index, item)| {
                let schemas = item_schemas(&flat, index);
                self.check(item, &schemas, &format!("{path}[{index}]"), deepest)
            }),
            _ => Ok(()),
        }
    }

    fn check_object(
        &self,
        object: &Schema,
        schemas: &[&'s Schema],
        path: &str,
        deepest: usize,
    ) -> Result<(), ScoreError> {
        // Only what says that it has no further keys is believed.
        let closed = |schema: &&&Schema| schema.get("additionalProperties") == Some(&false.into());
        if schemas.is_empty()
            || schemas.iter().any(|schema| takes_any_key(schema))
            || !schemas.iter().any(|schema| closed(&schema))
        {
            return Ok(());
        }
        let names = names(schemas);
        for (key, value) in object {
            // As scorers have it: a key may be written in snake_case too.
            let camel = camel_case(key);
            let spellings = [key.as_str(), camel.as_str()];
            let Some(name) = spellings.iter().find_map(|spelling| names.get(spelling)) else {
                return Err(unknown(key, path, &names));
            };
            let known: Vec<&Value> =
                schemas.iter().filter_map(|schema| schema.get("properties")?.get(*name)).collect();
            let place = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            self.check(value, &known, &place, deepest)?;
        }
        Ok(())
    }

    /// The schema objects that a schema is put together from, references followed.
    fn flatten(&self, schema: &'s Value, into: &mut Vec<&'s Schema>) {
        let Some(object) = schema.as_object() else { return };
        // A recursive type refers to itself.
        if into.iter().any(|seen| std::ptr::eq(*seen, object)) {
            return;
        }
        into.push(object);
        if let Some(reference) = object.get("$ref").and_then(Value::as_str)
            && let Some(target) = self.root.pointer(reference.trim_start_matches('#'))
        {
            self.flatten(target, into);
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for part in object.get(keyword).and_then(Value::as_array).into_iter().flatten() {
                self.flatten(part, into);
            }
        }
    }
}

/// What a schema expects in place of `value`, where no scorer would make the one of the other. Text may be
/// read as a number, and a single value as a list.
fn expected_instead(schema: &Schema, value: &Value) -> Option<&'static str> {
    match (schema.get("type")?.as_str()?, value) {
        ("boolean", Value::Number(_) | Value::Array(_) | Value::Object(_)) => Some("a boolean"),
        ("number", Value::Bool(_) | Value::Array(_) | Value::Object(_)) => Some("a number"),
        _ => None,
    }
}

fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("boolean `{value}`"),
        Value::Number(number) if number.is_f64() => format!("number `{number}`"),
        Value::Number(number) => format!("integer `{number}`"),
        Value::String(text) => format!("string {text:?}"),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
    }
}

/// Maps and free values have keys that no schema can list.
fn takes_any_key(schema: &Schema) -> bool {
    let describes_an_object = schema.get("type").is_none_or(|kind| match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "object"),
        kind => kind == "object",
    });
    let composed = ["$ref", "allOf", "anyOf", "oneOf", "enum", "const", "properties"];
    match schema.get("additionalProperties") {
        Some(Value::Bool(allowed)) => *allowed,
        Some(_) => true,
        None => {
            schema.contains_key("patternProperties")
                || describes_an_object
                    && !composed.iter().any(|keyword| schema.contains_key(*keyword))
        }
    }
}

fn item_schemas<'s>(schemas: &[&'s Schema], index: usize) -> Vec<&'s Value> {
    let item = |schema: &&'s Schema| {
        let prefix = schema.get("prefixItems").and_then(|prefix| prefix.get(index));
        prefix.or_else(|| schema.get("items"))
    };
    schemas.iter().filter_map(item).collect()
}

fn names<'s>(schemas: &[&'s Schema]) -> BTreeSet<&'s str> {
    let properties = schemas.iter().filter_map(|schema| schema.get("properties")?.as_object());
    properties.flat_map(Map::keys).map(String::as_str).collect()
}

fn unknown(key: &str, path: &str, names: &BTreeSet<&str>) -> ScoreError {
    let whole = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    if let Some(name) = nearest(key, names) {
        let meant = Advice::DidYouMean(vec![name.to_owned()]);
        return wrong(&format!("unknown key `{whole}`")).with(meant);
    }
    if names.is_empty() {
        return wrong(&format!("unknown key `{whole}`; no keys are known here"));
    }
    let known: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    wrong(&format!("unknown key `{whole}`; known here: {}", known.join(", ")))
}

fn nearest<'n>(key: &str, names: &BTreeSet<&'n str>) -> Option<&'n str> {
    if key.len() > LONGEST_KEY {
        return None;
    }
    let key = bare(key);
    names
        .iter()
        .map(|name| (strsim::normalized_damerau_levenshtein(&key, &bare(name)), *name))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, name)| name)
}

/// `ignore_case` as `ignoreCase`.
fn camel_case(key: &str) -> String {
    let mut words = key.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let mut letters = word.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name.push_str(letters.as_str());
        name
    })
}

/// A name without its case and its separators.
fn bare(name: &str) -> String {
    name.to_lowercase().replace(['_', '-', ' '], "")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{contract::Example, registry::Registry, sandbox::Anatomy};

    fn checked(name: &str, config: &Value) -> Result<(), ScoreError> {
        let info = Registry::with_builtins().listing(name).unwrap().unwrap().info;
        check_config(&info, &ScorerConfig::new(config.as_object().unwrap()))
    }

    fn snake_case(name: &str) -> String {
        name.chars().fold(String::new(), |mut snake, letter| {
            if letter.is_uppercase() {
                snake.push('_');
            }
            snake.extend(letter.to_lowercase());
            snake
        })
    }

    #[test]
    fn the_configurations_of_all_examples_pass_in_both_spellings() {
        let registry = Registry::with_builtins();
        let mut checked_keys = 0;
        for name in registry.list() {
            let anatomy = Anatomy::read(&registry.get(name).unwrap().bytes).unwrap();
            let config = Example::parse(&anatomy.example.unwrap()).unwrap().config;
            checked_keys += config.len();
            let snake: Map<String, Value> =
                config.iter().map(|(key, value)| (snake_case(key), value.clone())).collect();
            for config in [config, snake] {
                let checked = checked(name, &Value::Object(config));
                assert_eq!(checked, Ok(()), "{name}");
            }
        }
        assert!(checked_keys > 40, "{checked_keys}");
    }

    #[test]
    fn what_a_scorer_may_read_in_another_way_is_left_to_it() {
        for (name, config) in [
            ("latency", json!({"targetMs": "3", "maxMs": "9"})),
            ("latency", json!({})),
            ("contains", json!({"values": "red, blue", "mode": "al"})),
            ("contains", json!({"ignoreCase": "yes", "negate": null})),
            ("contains", json!({"ignore_case": true, "value": {"any": {"thing": 1}}})),
            ("tool-correctness", json!({"compare": "name"})),
            ("schema-adherence", json!({"documents": {"any": {"unknown": true}}})),
        ] {
            assert_eq!(checked(name, &config), Ok(()), "{name} {config}");
        }
    }

    #[test]
    fn unknown_keys_and_other_types_are_refused_in_words() {
        let refused = |name, config| {
            let ScoreError { kind, message, advice } = checked(name, &config).unwrap_err();
            assert_eq!(kind, ErrorKind::InvalidConfig);
            (message, advice)
        };
        let is = |message: &str| (message.to_owned(), None);
        for key in ["ignorCase", "ignorecase", "ignore-case", "IgnoreCase"] {
            let (message, advice) = refused("contains", json!({ key: true }));
            assert_eq!(message, format!("unknown key `{key}`"));
            assert_eq!(advice, Some(Advice::DidYouMean(vec!["ignoreCase".to_owned()])));
        }
        let other = refused("latency", json!({"x": 1}));
        assert_eq!(other, is("unknown key `x`; known here: `maxMs`, `targetMs`"));
        let other = refused("contains", json!({"ignoreCase": 1}));
        assert_eq!(other, is("`ignoreCase`: invalid type: integer `1`, expected a boolean"));
        let other = refused("latency", json!({"targetMs": [3], "maxMs": 9}));
        assert_eq!(other, is("`targetMs`: invalid type: array, expected a number"));
        let (message, _) = refused("contains", json!({ "k".repeat(10_000): 1 }));
        assert!(message.ends_with("… (cut)") && message.len() < 5000, "{message}");
    }
}
