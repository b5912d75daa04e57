//! What a user reads when a configuration is wrong.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{configure, settled_texts};
use crate::{
    Case, ConfigError, ExpectedValue, ExpectedValues, Info, JsonSchema, Negate, Score, ScoreError,
    Scorer,
};

#[derive(Debug)]
struct Sample {
    config: Config,
    doubled: u32,
}

/// A scorer with every shape of key.
#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
#[serde(rename_all = "camelCase")]
struct Config {
    max: u32,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    mode: Mode,
    #[serde(default)]
    rules: Vec<Rule>,
    #[serde(default)]
    free: Option<Value>,
    #[serde(default)]
    weights: BTreeMap<String, f64>,
    #[serde(default)]
    named_rules: BTreeMap<String, Rule>,
    #[serde(default)]
    rules_by_level: BTreeMap<u32, Rule>,
    #[serde(default)]
    pattern: Option<Pattern>,
    #[serde(default)]
    choice: Option<Choice>,
    #[serde(flatten)]
    shared: Shared,
    /// What this sample expects.
    #[serde(default)]
    value: ExpectedValue,
    #[serde(default)]
    values: ExpectedValues,
    #[serde(default)]
    negate: Negate,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    #[default]
    AtLeast,
    /// The doc comment gives the schema of the enum another form.
    AtMost,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
#[serde(rename_all = "camelCase")]
struct Rule {
    min_length: u32,
}

/// A type with its own error message.
#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
#[serde(try_from = "String")]
struct Pattern(String);

impl TryFrom<String> for Pattern {
    type Error = &'static str;

    fn try_from(_: String) -> Result<Pattern, &'static str> {
        Err("unclosed bracket at line 3 of the pattern")
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Choice {
    Fixed { size: u32 },
    Open,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
#[serde(rename_all = "camelCase")]
struct Shared {
    #[serde(default)]
    trim_ends: bool,
}

impl Scorer for Sample {
    type Config = Config;
    const INFO: Info = Info::new("sample", "Sample", "0.0.0");

    fn new(config: Config) -> Result<Self, ConfigError> {
        if config.max == 0 {
            return Err(ConfigError::new("max", "should be 1 or more, found 0"));
        }
        Ok(Sample { doubled: 2 * config.max, config })
    }

    fn score(&self, _: &Case) -> Result<Score, ScoreError> {
        Ok(Score::pass(true))
    }
}

fn refusal(config: Value) -> String {
    configure::<Sample>(config).unwrap_err().to_string()
}

#[test]
fn a_good_configuration_is_prepared() {
    let scorer: Sample = configure(json!({
        "max": 3, "ignoreCase": true, "mode": "at-most", "rules": [{"minLength": 1}],
        "free": {"any": {"thing": 1}}, "weights": {"a": 1}, "trimEnds": true,
        "choice": {"kind": "fixed", "size": 2},
    }))
    .unwrap();
    assert_eq!(scorer.doubled, 6);
    assert!(scorer.config.ignore_case && matches!(scorer.config.mode, Mode::AtMost));
    assert!(configure::<Sample>(json!({"max": 1, "choice": {"kind": "open"}})).is_ok());
}

#[test]
fn an_unknown_key_comes_with_the_name_that_was_meant() {
    assert_eq!(
        refusal(json!({"max": 1, "ignorecase": true})),
        "unknown key `ignorecase`; did you mean `ignoreCase`?"
    );
    assert_eq!(
        refusal(json!({"max": 1, "trimend": true})),
        "unknown key `trimend`; did you mean `trimEnds`?"
    );
    assert!(
        refusal(json!({"max": 1, "colour": 1}))
            .starts_with("unknown key `colour`; known here: `choice`, ")
    );
}

#[test]
fn keys_may_be_written_in_snake_case_at_any_depth() {
    let scorer: Sample = configure(json!({
        "max": 1, "ignore_case": true, "trim_ends": true, "rules": [{"min_length": 3}],
        "weights": {"a_b": 1.0}, "free": {"as_it_is": 1},
    }))
    .unwrap();
    assert!(scorer.config.ignore_case && scorer.config.shared.trim_ends);
    assert_eq!(scorer.config.rules[0].min_length, 3);
    assert!(scorer.config.weights.contains_key("a_b"));
    assert_eq!(scorer.config.free, Some(json!({"as_it_is": 1})));
    assert_eq!(
        refusal(json!({"max": 1, "ignore_case": true, "ignoreCase": true})),
        "`ignore_case` and `ignoreCase` are the same key; give it once"
    );
    assert_eq!(
        refusal(json!({"max": 1, "rules": [{"min_length": "x"}]})),
        "`rules[0].minLength`: invalid type: string \"x\", expected a whole number, 0 or more"
    );
}

#[test]
fn shared_keys_are_named_when_their_type_is_wrong() {
    assert_eq!(
        refusal(json!({"max": 1, "negate": "yes"})),
        "`negate`: invalid type: string \"yes\", expected a boolean"
    );
    assert_eq!(
        refusal(json!({"max": 1, "values": "a"})),
        "`values`: invalid type: string \"a\", expected an array"
    );
    assert_eq!(
        refusal(json!({"max": 1, "negat": true})),
        "unknown key `negat`; did you mean `negate`?"
    );
}

#[test]
fn an_unknown_key_is_found_at_any_depth() {
    assert_eq!(
        refusal(json!({"max": 1, "rules": [{"minLength": 1}, {"minLenght": 1}]})),
        "unknown key `rules[1].minLenght`; did you mean `minLength`?"
    );
    assert_eq!(
        refusal(json!({"max": 1, "choice": {"kind": "fixed", "siez": 1}})),
        "unknown key `choice.siez`; did you mean `size`?"
    );
}

#[test]
fn the_values_of_a_map_have_their_keys_checked_too() {
    let scorer: Sample = configure(json!({
        "max": 1, "namedRules": {"a_b": {"min_length": 3}}, "rulesByLevel": {"7": {"minLength": 4}},
    }))
    .unwrap();
    assert_eq!(scorer.config.named_rules["a_b"].min_length, 3);
    assert_eq!(scorer.config.rules_by_level[&7].min_length, 4);
    assert_eq!(
        refusal(json!({"max": 1, "namedRules": {"a": {"minLength": 1, "minLenght": 1}}})),
        "unknown key `namedRules.a.minLenght`; did you mean `minLength`?"
    );
    assert_eq!(
        refusal(json!({"max": 1, "rulesByLevel": {"a": {"minLength": 1}}})),
        "`rulesByLevel.a`: invalid value: a key, expected key to be a number in quotes"
    );
}

#[test]
fn a_listed_key_in_snake_case_does_not_fall_into_a_map_beside_it() {
    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    struct WithRest {
        #[serde(default)]
        min_words: Option<u8>,
        #[serde(flatten)]
        rest: BTreeMap<String, f64>,
    }
    let config = json!({"min_words": 3, "other_key": 0.5});
    let settled = super::settled(config, &crate::schema::config_schema::<WithRest>()).unwrap();
    let read: WithRest = super::typed::read(&settled).unwrap();
    assert_eq!(read.min_words, Some(3));
    assert_eq!(read.rest, BTreeMap::from([("other_key".to_owned(), 0.5)]));
}

#[test]
fn a_struct_is_not_read_from_a_list() {
    assert_eq!(
        refusal(json!({"max": 1, "rules": [[1]]})),
        "`rules[0]`: invalid type: array, expected an object"
    );
}

#[test]
fn the_words_of_a_type_of_its_own_are_kept_whole() {
    assert_eq!(
        refusal(json!({"max": 1, "pattern": "[a-z"})),
        "`pattern`: unclosed bracket at line 3 of the pattern"
    );
}

#[test]
fn a_wrong_type_names_its_path() {
    assert_eq!(
        refusal(json!({"max": "three"})),
        "`max`: invalid type: string \"three\", expected a whole number, 0 or more"
    );
    assert_eq!(
        refusal(json!({"max": 1, "rules": [{"minLength": -1}]})),
        "`rules[0].minLength`: invalid value: integer `-1`, expected a whole number, 0 or more"
    );
    assert_eq!(
        refusal(json!({"max": 1, "mode": "at_most"})),
        "`mode`: unknown variant `at_most`, expected `at-least` or `at-most`; did you mean `at-most`?"
    );
}

#[test]
fn a_wrong_type_is_reported_without_the_names_of_rust() {
    let refused = |key: &str, value: Value| refusal(json!({"max": 1, key: value}));
    assert_eq!(
        refused("max", json!(1.5)),
        "`max`: invalid type: number `1.5`, expected a whole number, 0 or more"
    );
    assert_eq!(
        refused("max", json!(5_000_000_000_u64)),
        "`max`: invalid value: integer `5000000000`, expected a smaller whole number"
    );
    assert_eq!(
        refused("weights", json!({"a": "b"})),
        "`weights.a`: invalid type: string \"b\", expected a number"
    );
    assert_eq!(
        refused("mode", json!(1)),
        "`mode`: invalid type: integer `1`, expected one of its names"
    );
    assert_eq!(refused("rules", json!({})), "`rules`: invalid type: object, expected an array");
    assert_eq!(
        refused("rules", json!(["a"])),
        "`rules[0]`: invalid type: string \"a\", expected an object"
    );
    assert_eq!(
        refused("choice", json!("open")),
        "`choice`: invalid type: string \"open\", expected an object"
    );
}

#[test]
fn a_missing_key_is_named() {
    assert_eq!(refusal(json!({})), "`max` is required");
    assert_eq!(refusal(json!({"max": 1, "rules": [{}]})), "`rules[0].minLength` is required");
}

#[test]
fn the_scorer_has_the_last_word() {
    assert_eq!(refusal(json!({"max": 0})), "`max`: should be 1 or more, found 0");
}

#[test]
fn only_a_json_object_is_a_configuration() {
    assert_eq!(refusal(json!([1])), "the configuration should be a JSON object, found an array");
    let error = settled_texts("{max: 1}", "{}").unwrap_err().to_string();
    assert!(error.starts_with("the configuration is not JSON: key must be a string"), "{error}");
}

#[test]
fn the_schema_lists_the_keys_and_allows_no_others() {
    let schema = crate::schema::config_schema::<Config>();
    assert_eq!(schema["additionalProperties"], json!(false));
    assert_eq!(schema["required"], json!(["max"]));
    assert_eq!(schema.get("title"), None);
    assert_eq!(
        schema["properties"]["negate"],
        json!({
            "default": false, "type": "boolean",
            "description":
                "Inverts the score s: 1 - s. Assertions, if there are any, then require the opposite.",
        })
    );
    let list = "The expected values, in place of the ground truth.";
    assert_eq!(
        schema["properties"]["values"],
        json!({"default": null, "items": true, "type": ["array", "null"], "description": list})
    );
    // If the field has its own message, that is used.
    assert_eq!(
        schema["properties"]["value"],
        json!({"default": null, "description": "What this sample expects."})
    );
    assert_eq!(
        crate::schema::description(&schema.to_string()),
        "A scorer with every shape of key."
    );
}
