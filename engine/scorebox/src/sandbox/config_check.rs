//! Whether a configuration has only keys that a scorer's schema lists, with values of their types: what can be checked
//! without compiling the scorer. The scorer decides in the end; anything that it might accept passes.

use scorebox_config_keys::{Described, Schema, nearest};
use serde_json::{Map, Value};

use crate::contract::ScorerInfo;

use super::{
    ScoreError,
    mistake::Mistake,
    place::Place,
    schema_types::{is_closed, is_of, kinds, typed},
    scorer_config::ScorerConfig,
};

/// The most mistakes of one configuration that are reported.
const MAX_MISTAKES: usize = 100;
/// How deeply a configuration is checked.
const DEEPEST: usize = 32;
/// The most schemas that are compared with the values of one configuration: a second's work. A stranger's schema may
/// have thousands for each value.
const MAX_STEPS: usize = 20_000_000;

/// Refuses a configuration in which the scorer of `info` would find an unknown key or a value of another
/// type.
///
/// # Errors
/// `invalid-config`, with the scorer's message; for a key, with the closest known name.
pub fn check_config(info: &ScorerInfo, config: &ScorerConfig) -> Result<(), ScoreError> {
    config_mistakes(info, config).into_iter().next().map_or(Ok(()), Err)
}

/// All reasons for which [`check_config`] refuses a configuration, at most a hundred.
pub fn config_mistakes(info: &ScorerInfo, config: &ScorerConfig) -> Vec<ScoreError> {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    // What cannot be read here is left to the scorer.
    let (Some(schema), Some(config)) =
        (info.config_schema.as_deref().and_then(read), read(config.as_str()))
    else {
        return Vec::new();
    };
    let mut checking = Checking { mistakes: Vec::new(), steps: MAX_STEPS };
    checking.check(&config, &Described::by(&schema), &Place::Whole, DEEPEST);
    checking.mistakes.into_iter().map(Mistake::of_config).collect()
}

struct Checking {
    mistakes: Vec<Mistake>,
    /// How many more schemas may be compared.
    steps: usize,
}

impl Checking {
    fn check(
        &mut self,
        value: &Value,
        described: &Described<'_>,
        place: &Place<'_>,
        deepest: usize,
    ) {
        let Some(deepest) = deepest.checked_sub(1) else { return };
        if self.is_done() {
            return;
        }
        self.steps = self.steps.saturating_sub(1 + described.schemas().len());
        if self.steps == 0 {
            self.mistakes.push(Mistake::of_too_large_a_schema(place));
            return;
        }
        if let [schema] = described.schemas()
            && let Some(expected) = expected_instead(schema, value)
        {
            self.mistakes.push(Mistake::of_type(place, value, &expected));
            return;
        }
        match value {
            Value::Object(object) => self.check_object(object, described, place, deepest),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    if self.is_done() {
                        return;
                    }
                    self.check(item, &described.item(index), &place.item(index), deepest);
                }
            }
            _ => {}
        }
    }

    fn check_object(
        &mut self,
        object: &Map<String, Value>,
        described: &Described<'_>,
        place: &Place<'_>,
        deepest: usize,
    ) {
        // The omitted schemas could list a key, or forbid all others.
        if !described.is_whole() {
            self.mistakes.push(Mistake::of_too_large_a_schema(place));
            return;
        }
        let closed = |schema: &&Schema| is_closed(schema);
        let is_free = described.schemas().is_empty();
        if is_free || !described.takes_any_key() && !described.schemas().iter().any(closed) {
            return;
        }
        for (key, value) in object {
            if self.is_done() {
                return;
            }
            let name = described.renamed(key);
            if let Some(name) = name.as_deref().filter(|name| object.contains_key(*name)) {
                let (key, name) = (place.member(key), place.member(name));
                let message = format!("`{key}` and `{name}` are the same key; give it once");
                self.mistakes.push(Mistake::new(&key, &message));
                continue;
            }
            let Some(member) = described.member(name.as_deref().unwrap_or(key)) else {
                self.mistakes.push(unknown(place, key, &described.names()));
                continue;
            };
            self.check(value, &member, &place.member(key), deepest);
        }
    }

    fn is_done(&self) -> bool {
        self.mistakes.len() >= MAX_MISTAKES || self.steps == 0
    }
}

/// What a schema expects instead of `value`, worded as in Rust's SDK, if no type that the schema allows fits. A text
/// may spell a number or a boolean, which the scorer then gets instead. A scorer may read a text in another way, such
/// as the name of a choice, and a single value as a list.
fn expected_instead(schema: &Schema, value: &Value) -> Option<String> {
    let kinds = kinds(schema);
    let spelled = value.as_str().and_then(|text| typed(text, &kinds));
    let value = spelled.as_ref().unwrap_or(value);
    let fits = |kind: &&str| match *kind {
        "string" => true,
        "array" => !value.is_null(),
        kind => is_of(value, kind),
    };
    if kinds.is_empty() || kinds.iter().any(fits) {
        return None;
    }
    let but_null = kinds.iter().filter(|kind| **kind != "null" || kinds.len() == 1);
    Some(but_null.map(|kind| in_words(kind, schema)).collect::<Vec<_>>().join(" or "))
}

fn in_words<'k>(kind: &'k str, schema: &Schema) -> &'k str {
    match kind {
        "integer" => match schema.get("minimum").and_then(Value::as_u64) {
            Some(0) => "a whole number, 0 or more",
            Some(1) => "a whole number, 1 or more",
            _ => "a whole number",
        },
        "number" => "a number",
        "boolean" => "a boolean",
        "array" => "an array",
        "object" => "an object",
        kind => kind,
    }
}

/// The mistake of an unknown key, one that is not among `names`, in the object at `place`.
pub(super) fn unknown(place: &Place<'_>, key: &str, names: &[&str]) -> Mistake {
    let whole = place.member(key);
    if let Some(name) = nearest(key, names.iter().copied()) {
        return Mistake::new(&whole, &format!("unknown key `{whole}`")).meaning(Some(name));
    }
    if names.is_empty() {
        return Mistake::new(&whole, &format!("unknown key `{whole}`; no keys are known here"));
    }
    let known: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    Mistake::new(&whole, &format!("unknown key `{whole}`; known here: {}", known.join(", ")))
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
    fn a_value_whose_schema_is_too_large_is_refused() {
        let info = Registry::with_builtins().listing("json-diff").unwrap().unwrap().info;
        let parts = |most: usize| {
            let part = |at: usize| json!({"properties": {at.to_string(): {}}, "additionalProperties": false});
            (0..most).map(part).collect::<Vec<_>>()
        };
        let schema = |most: usize| {
            let of = json!({"anyOf": parts(most)});
            json!({"additionalProperties": false, "properties": {"a": &of, "b": {"items": of}}})
        };
        let said = |most: usize, config: &Value| {
            let info = ScorerInfo { config_schema: Some(schema(most).to_string()), ..info.clone() };
            let config = ScorerConfig::new(config.as_object().unwrap());
            let mistakes = config_mistakes(&info, &config).into_iter();
            mistakes.map(|mistake| mistake.message).collect::<Vec<_>>()
        };
        let nothing: [&str; 0] = [];
        assert_eq!(said(3000, &json!({"a": {"7": 1}, "b": [{}]})), nothing);
        assert_eq!(
            said(5000, &json!({"a": {"7": 1}, "b": [1]})),
            ["`a`: the schema has more to check than can be checked"]
        );
        // Each value is one step, and there are more values than steps.
        let mistakes = said(3000, &json!({"b": vec![1; 10_000]}));
        assert_eq!(mistakes, ["`b[6662]`: the schema has more to check than can be checked"]);
    }

    #[test]
    fn the_values_of_a_map_are_checked_and_a_listed_key_beside_them_has_two_spellings() {
        let info = Registry::with_builtins().listing("json-diff").unwrap().unwrap().info;
        let rule =
            json!({"properties": {"min": {"type": "number"}}, "additionalProperties": false});
        let schema = json!({
            "properties": {"isStrict": {"type": "boolean"}}, "additionalProperties": rule,
        });
        let info = ScorerInfo { config_schema: Some(schema.to_string()), ..info };
        let said = |config: Value| {
            let config = ScorerConfig::new(config.as_object().unwrap());
            let mistakes = config_mistakes(&info, &config).into_iter();
            let mut said: Vec<_> = mistakes.map(|mistake| mistake.message).collect();
            said.sort();
            said
        };
        let nothing: [&str; 0] = [];
        assert_eq!(said(json!({"is_strict": true, "any": {"min": 1}})), nothing);
        assert_eq!(
            said(json!({"is_strict": 1, "any": {"mni": 1}})),
            ["`is_strict`: invalid type: integer `1`, expected a boolean", "unknown key `any.mni`"]
        );
    }

    #[test]
    fn a_value_is_of_one_of_the_types_that_its_schema_lists() {
        let info = Registry::with_builtins().listing("json-diff").unwrap().unwrap().info;
        let said = |schema: Value, value: Value| {
            let schema = json!({"properties": {"it": schema}, "additionalProperties": false});
            let info = ScorerInfo { config_schema: Some(schema.to_string()), ..info.clone() };
            let config = ScorerConfig::new(json!({ "it": value }).as_object().unwrap());
            check_config(&info, &config).map_err(|mistake| mistake.message)
        };
        let integer = json!({"type": "integer"});
        let count = json!({"type": "integer", "minimum": 0});
        let optional = json!({"type": ["number", "null"]});
        let several = json!({"type": ["number", "boolean"]});
        for (schema, good, bad, words) in [
            (&integer, json!(3), json!(true), "boolean `true`, expected a whole number"),
            (&integer, json!(3.0), json!(1.5), "number `1.5`, expected a whole number"),
            (&integer, json!("3"), json!("1.5"), "string \"1.5\", expected a whole number"),
            (&count, json!(0), json!([1]), "array, expected a whole number, 0 or more"),
            (&optional, json!(null), json!("x"), "string \"x\", expected a number"),
            (&several, json!(true), json!({}), "object, expected a number or a boolean"),
            (&json!({"type": "array"}), json!([]), json!(null), "null, expected an array"),
            (&json!({"type": "object"}), json!({}), json!(1), "integer `1`, expected an object"),
        ] {
            assert_eq!(said(schema.clone(), good.clone()), Ok(()), "{schema} {good}");
            assert_eq!(said(schema.clone(), bad), Err(format!("`it`: invalid type: {words}")));
        }
        // The scorer decides about values that may be a text or a list of one, and about alternatives.
        for kind in ["string", "array"] {
            assert_eq!(said(json!({ "type": kind }), json!(1)), Ok(()));
        }
        let several = json!({"anyOf": [{"type": "boolean"}, {"type": "number"}]});
        assert_eq!(said(several, json!("x")), Ok(()));
    }

    #[test]
    fn the_configurations_of_all_examples_pass_in_both_spellings() {
        let registry = Registry::with_builtins();
        let mut checked_keys = 0;
        for name in registry.list() {
            let component = registry.get(name).unwrap().component;
            let anatomy = Anatomy::read(component.bytes().unwrap()).unwrap();
            // A scorer that asks a judge has no example.
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
            ("contains", json!({"ignoreCase": "false"})),
            ("rouge", json!({"stemmer": true})),
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
            let ScoreError { kind, message, advice, config_key } =
                checked(name, &config).unwrap_err();
            assert_eq!(kind, ErrorKind::InvalidConfig);
            assert!(config.get(config_key.unwrap()).is_some());
            (message, advice)
        };
        let is = |message: &str| (message.to_owned(), None);
        for key in ["ignorCase", "ignorecase", "ignore-case", "IgnoreCase"] {
            let (message, advice) = refused("contains", json!({ key: true }));
            assert_eq!(message, format!("unknown key `{key}`"));
            assert_eq!(advice, Some(Advice::DidYouMean(vec!["ignoreCase".to_owned()])));
        }
        let other = refused("latency", json!({"x": 1}));
        assert_eq!(other, is("unknown key `x`; known here: `maxMs`, `missing`, `targetMs`"));
        let other = refused("contains", json!({"ignoreCase": 1}));
        assert_eq!(other, is("`ignoreCase`: invalid type: integer `1`, expected a boolean"));
        let other = refused("latency", json!({"targetMs": [3], "maxMs": 9}));
        assert_eq!(other, is("`targetMs`: invalid type: array, expected a number"));
        for (key, value, message) in [
            ("ignoreCase", json!("yes"), "string \"yes\", expected a boolean"),
            ("negate", json!(null), "null, expected a boolean"),
        ] {
            let said = refused("contains", json!({ key: value }));
            assert_eq!(said, is(&format!("`{key}`: invalid type: {message}")));
        }
        let twice = refused("contains", json!({"ignoreCase": true, "ignore_case": false}));
        assert_eq!(twice, is("`ignore_case` and `ignoreCase` are the same key; give it once"));
        let (message, _) = refused("contains", json!({ "k".repeat(10_000): 1 }));
        assert!(message.ends_with("… (cut)") && message.len() < 5000, "{message}");
    }
}
