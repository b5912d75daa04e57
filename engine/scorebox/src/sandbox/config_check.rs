//! Whether a configuration has only keys that a scorer's schema lists, and values of their types: what can
//! be checked without compiling the scorer. The scorer has the last word; what it would accept passes.

use scorebox_config_keys::{Described, Schema, camel_case, nearest};
use serde_json::{Map, Value};

use crate::contract::ScorerInfo;

use super::{ScoreError, mistake::Mistake, place::Place, scorer_config::ScorerConfig};

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
    check(&config, &Described::by(&schema), &Place::Whole, DEEPEST, &mut mistakes);
    mistakes.into_iter().map(Mistake::of_config).collect()
}

fn check(
    value: &Value,
    described: &Described<'_>,
    place: &Place<'_>,
    deepest: usize,
    mistakes: &mut Vec<Mistake>,
) {
    let Some(deepest) = deepest.checked_sub(1) else { return };
    if mistakes.len() >= MOST_MISTAKES {
        return;
    }
    if let [schema] = described.schemas()
        && let Some(expected) = expected_instead(schema, value)
    {
        mistakes.push(Mistake::of_type(place, value, expected));
        return;
    }
    match value {
        Value::Object(object) => check_object(object, described, place, deepest, mistakes),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                check(item, &described.item(index), &place.item(index), deepest, mistakes);
            }
        }
        _ => {}
    }
}

fn check_object(
    object: &Map<String, Value>,
    described: &Described<'_>,
    place: &Place<'_>,
    deepest: usize,
    mistakes: &mut Vec<Mistake>,
) {
    let closed = |schema: &&Schema| is_closed(schema);
    if described.takes_any_key() || !described.schemas().iter().any(closed) {
        return;
    }
    for (key, value) in object {
        if mistakes.len() >= MOST_MISTAKES {
            return;
        }
        let member = described.member(key).or_else(|| described.member(&camel_case(key)));
        let Some(member) = member else {
            mistakes.push(unknown(place, key, &described.names()));
            continue;
        };
        check(value, &member, &place.member(key), deepest, mistakes);
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

/// Whether an object has no keys but those that the schema lists: only one that says so.
pub(super) fn is_closed(schema: &Schema) -> bool {
    schema.get("additionalProperties") == Some(&Value::Bool(false))
        && !schema.contains_key("patternProperties")
}

/// The mistake of a key of the object at `place` that is not among `names`.
pub(super) fn unknown(place: &Place<'_>, key: &str, names: &[&str]) -> Mistake {
    let whole = place.member(key);
    if let Some(name) = nearest(key, names.iter().copied()) {
        return Mistake::new(&format!("unknown key `{whole}`")).meaning(Some(name));
    }
    if names.is_empty() {
        return Mistake::new(&format!("unknown key `{whole}`; no keys are known here"));
    }
    let known: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    Mistake::new(&format!("unknown key `{whole}`; known here: {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        advice::Advice,
        contract::Example,
        registry::Registry,
        sandbox::{Anatomy, ErrorKind},
    };

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
