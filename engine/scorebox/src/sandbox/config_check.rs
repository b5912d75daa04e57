//! Whether a configuration has only keys that a scorer's schema lists, and values of their types: what can
//! be checked without compiling the scorer. The scorer has the last word; what it would accept passes.

use scorebox_config_keys::{Described, Schema, camel_case, nearest};
use serde_json::{Map, Value};

use crate::{advice::Advice, contract::ScorerInfo};

use super::{ErrorKind, ScoreError, cut, scorer_config::ScorerConfig};

/// Bytes of an error of a configuration, which may have long keys and texts.
const MESSAGE_BYTES: usize = 4 << 10;
/// Mistakes of one configuration that are reported.
const MOST_MISTAKES: usize = 100;
/// How deep a configuration is checked.
const DEEPEST: usize = 32;

/// Refuses a configuration in which the scorer of `info` would find an unknown key or a value of another
/// type.
///
/// # Errors
/// `invalid-config`, in the scorer's words; for a key, with the name that was meant.
pub fn check_config(info: &ScorerInfo, config: &ScorerConfig) -> Result<(), ScoreError> {
    config_mistakes(info, config).into_iter().next().map_or(Ok(()), Err)
}

/// All for which [`check_config`] refuses a configuration, at most a hundred of them.
pub fn config_mistakes(info: &ScorerInfo, config: &ScorerConfig) -> Vec<ScoreError> {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    // What cannot be read here is for the scorer to judge.
    let (Some(schema), Some(config)) =
        (info.config_schema.as_deref().and_then(read), read(config.as_str()))
    else {
        return Vec::new();
    };
    let mut mistakes = Vec::new();
    check(&config, &Described::by(&schema), "", DEEPEST, &mut mistakes);
    mistakes.truncate(MOST_MISTAKES);
    mistakes
}

pub(super) fn wrong(message: &str) -> ScoreError {
    ScoreError::new(ErrorKind::InvalidConfig, cut(message, MESSAGE_BYTES))
}

fn check(
    value: &Value,
    described: &Described<'_>,
    path: &str,
    deepest: usize,
    mistakes: &mut Vec<ScoreError>,
) {
    let Some(deepest) = deepest.checked_sub(1) else { return };
    if let [schema] = described.schemas()
        && let Some(expected) = expected_instead(schema, value)
    {
        let found = found(value);
        mistakes.push(wrong(&format!("`{path}`: invalid type: {found}, expected {expected}")));
        return;
    }
    match value {
        Value::Object(object) => check_object(object, described, path, deepest, mistakes),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let place = format!("{path}[{index}]");
                check(item, &described.item(index), &place, deepest, mistakes);
            }
        }
        _ => {}
    }
}

fn check_object(
    object: &Map<String, Value>,
    described: &Described<'_>,
    path: &str,
    deepest: usize,
    mistakes: &mut Vec<ScoreError>,
) {
    // Only a schema that says so has no further keys.
    let closed = |schema: &&Schema| schema.get("additionalProperties") == Some(&false.into());
    if described.takes_any_key() || !described.schemas().iter().any(closed) {
        return;
    }
    for (key, value) in object {
        let member = described.member(key).or_else(|| described.member(&camel_case(key)));
        let Some(member) = member else {
            mistakes.push(unknown(key, path, &described.names()));
            continue;
        };
        let place = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        check(value, &member, &place, deepest, mistakes);
    }
}

/// What a schema expects in place of `value`, if no scorer would convert it. Text may be read as a number, and
/// a single value as a list.
fn expected_instead(schema: &Schema, value: &Value) -> Option<&'static str> {
    match (schema.get("type")?.as_str()?, value) {
        ("boolean", Value::Number(_) | Value::Array(_) | Value::Object(_)) => Some("a boolean"),
        ("number", Value::Bool(_) | Value::Array(_) | Value::Object(_)) => Some("a number"),
        _ => None,
    }
}

/// What a value is, as errors say it.
pub(super) fn found(value: &Value) -> String {
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

fn unknown(key: &str, path: &str, names: &[&str]) -> ScoreError {
    let whole = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    if let Some(name) = nearest(key, names.iter().copied()) {
        let meant = Advice::DidYouMean(vec![name.to_owned()]);
        return wrong(&format!("unknown key `{whole}`")).with(meant);
    }
    if names.is_empty() {
        return wrong(&format!("unknown key `{whole}`; no keys are known here"));
    }
    let known: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    wrong(&format!("unknown key `{whole}`; known here: {}", known.join(", ")))
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
    fn every_wrong_key_and_type_is_found() {
        let info = Registry::with_builtins().listing("json-diff").unwrap().unwrap().info;
        let config = json!({ "preserveString": true, "negate": [], "other": { "deep": true } });
        let config = ScorerConfig::new(config.as_object().unwrap());
        let mistakes = config_mistakes(&info, &config);
        assert_eq!(mistakes.len(), 3, "{mistakes:?}");
        assert_eq!(check_config(&info, &config).unwrap_err(), mistakes[0]);
    }

    #[test]
    fn the_configurations_of_all_examples_pass_in_both_spellings() {
        let registry = Registry::with_builtins();
        let mut checked_keys = 0;
        for name in registry.list() {
            let component = registry.get(name).unwrap().component;
            let anatomy = Anatomy::read(component.bytes().unwrap()).unwrap();
            // One that asks a judge has no example.
            let Some(example) = &anatomy.example else { continue };
            let config = Example::parse(example).unwrap().config;
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
