//! What a user reads when a configuration is wrong.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{configure, configure_text};
use crate::{Case, ConfigError, Info, JsonSchema, Score, ScoreError, Scorer};

/// A scorer with every shape of key.
#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
#[serde(rename_all = "camelCase")]
struct Sample {
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
    choice: Option<Choice>,
    #[serde(flatten)]
    shared: Shared,
    #[serde(skip)]
    doubled: u32,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    #[default]
    AtLeast,
    /// With a doc comment, which gives the schema another form.
    AtMost,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
#[serde(rename_all = "camelCase")]
struct Rule {
    min_length: u32,
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
    const INFO: Info = Info::new("sample", "Sample", "0.0.0");

    fn prepare(&mut self) -> Result<(), ConfigError> {
        if self.max == 0 {
            return Err(ConfigError::new("max", "should be 1 or more, found 0"));
        }
        self.doubled = 2 * self.max;
        Ok(())
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
    assert!(scorer.ignore_case && matches!(scorer.mode, Mode::AtMost));
    assert!(configure::<Sample>(json!({"max": 1, "choice": {"kind": "open"}})).is_ok());
}

#[test]
fn an_unknown_key_comes_with_the_name_that_was_meant() {
    assert_eq!(
        refusal(json!({"max": 1, "ignorecase": true})),
        "unknown key `ignorecase`; did you mean `ignoreCase`?"
    );
    assert_eq!(
        refusal(json!({"max": 1, "trim_ends": true})),
        "unknown key `trim_ends`; did you mean `trimEnds`?"
    );
    assert!(
        refusal(json!({"max": 1, "colour": 1}))
            .starts_with("unknown key `colour`; known here: `choice`, ")
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
fn a_wrong_type_is_told_without_the_names_of_rust() {
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
    assert_eq!(refusal(json!({})), "`max`: is missing, and has no default");
    assert_eq!(
        refusal(json!({"max": 1, "rules": [{}]})),
        "`rules[0].minLength`: is missing, and has no default"
    );
}

#[test]
fn prepare_has_the_last_word() {
    assert_eq!(refusal(json!({"max": 0})), "`max`: should be 1 or more, found 0");
}

#[test]
fn only_a_json_object_is_a_configuration() {
    assert_eq!(refusal(json!([1])), "the configuration should be a JSON object, found an array");
    let error = configure_text::<Sample>("{max: 1}").unwrap_err().to_string();
    assert!(error.starts_with("the configuration is not JSON: key must be a string"), "{error}");
}

#[test]
fn the_schema_lists_the_keys_and_allows_no_others() {
    let schema = crate::schema::config_schema::<Sample>();
    assert_eq!(schema["additionalProperties"], json!(false));
    assert_eq!(schema["required"], json!(["max"]));
    assert_eq!(crate::schema::description(&schema), Some("A scorer with every shape of key."));
}
