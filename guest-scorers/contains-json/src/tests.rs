//! contains-json, as a specification. The texts of the first two tests are from promptfoo's tests of
//! `contains-json`.

use super::*;

fn score(config: Value, output: &str) -> Score {
    let scorer: ContainsJson = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(json!(output))).unwrap()
}

fn contains(config: Value, output: &str) -> bool {
    score(config, output).score == Some(1.0)
}

fn place() -> Value {
    json!({
        "required": ["latitude", "longitude"],
        "type": "object",
        "properties": {
            "latitude": {"type": "number", "minimum": -90, "maximum": 90},
            "longitude": {"type": "number", "minimum": -180, "maximum": 180},
        },
    })
}

#[test]
fn an_object_counts_whatever_stands_around_it() {
    let text = "this is some other stuff \n\n {\"key\": \"value\", \"key2\": {\"key3\": [\"x\"]}} \n\n blah";
    assert!(contains(json!({}), text));
    assert!(contains(json!({}), "```json\n{\"a\": 1}\n```"));
    assert!(!contains(json!({}), "Not valid JSON"));
    assert!(!contains(json!({}), ""));
}

#[test]
fn one_of_them_has_to_match_the_schema() {
    let config = || json!({"schema": place()});
    assert!(contains(
        config(),
        "here is the answer\n\n```{\"latitude\": 80.123, \"longitude\": -1}```"
    ));
    let wrong = score(config(), "here: ```{\"latitude\": \"medium\", \"longitude\": -1}```");
    assert_eq!(wrong.score, Some(0.0));
    assert_eq!(
        wrong.reason.as_deref(),
        Some("no JSON matches the schema: latitude: want number, but got string")
    );
    assert!(contains(config(), "{} and {\"latitude\": 1, \"longitude\": 2}"));
    assert!(!contains(config(), "nothing"));
}

#[test]
fn a_schema_is_not_a_text() {
    let config = json!({"schema": "{\"type\": \"object\"}"});
    let error = scorebox_sdk::configure::<ContainsJson>(config).err().unwrap();
    assert_eq!(
        error.to_string(),
        "`schema`: should be a JSON Schema: an object, or `true` or `false`"
    );
}

#[test]
fn a_schema_may_be_of_an_older_draft() {
    // In draft-07 `items` may be a list, one schema for each place; in 2020-12 that is `prefixItems`.
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "items": [{"type": "string"}],
    });
    assert!(contains(json!({"schema": schema}), "[\"a\", 1]"));
    assert!(!contains(json!({"schema": schema}), "[1]"));
}

#[test]
fn prose_in_braces_is_not_json() {
    assert!(!contains(json!({}), "a set {x, y}, code { return 1; } and {'a': 1}"));
    assert!(contains(json!({}), "see {x}: {\"a\": \"{\"}"));
    assert!(contains(json!({}), "a {\"b {\"a\": 1}"));
    assert!(!contains(json!({}), "cut off: {\"a\": 1, \"b"));
}

#[test]
fn a_list_counts_only_with_a_schema() {
    assert!(!contains(json!({}), "as shown in [1]"));
    assert!(contains(json!({"schema": {"type": "array"}}), "as shown in [1]"));
    // An object inside a list counts, even in the middle of a text.
    assert!(contains(json!({}), "[{\"a\": 1}]"));
    assert!(contains(json!({}), "[\"{}\"]"));
    assert!(contains(json!({"schema": place()}), "[[{\"latitude\": 1, \"longitude\": 2}]]"));
    // The inside of an object is not searched.
    let inner = "{\"place\": {\"latitude\": 1, \"longitude\": 2}}";
    assert!(!contains(json!({"schema": place()}), inner));
}

#[test]
fn json_that_cannot_be_read_matches_no_schema_and_hides_no_other() {
    let object = || json!({"schema": {"type": "object"}});
    for text in [r#"note {"a":"\ud83d"} and {"ok":1}"#, r#"[1e999] and {"ok":1}"#] {
        assert!(contains(object(), text), "{text}");
    }
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    assert!(contains(object(), &format!("{deep} and {{}}")));
    assert!(contains(json!({}), r#"{"a":"\ud83d"}"#));
    let unreadable = score(object(), r#"{"a": 1e999}"#);
    assert_eq!(unreadable.score, Some(0.0));
    assert_eq!(
        unreadable.reason.as_deref(),
        Some("no JSON matches the schema: cannot be read: number out of range at line 1 column 11")
    );
}

#[test]
fn the_place_is_reported() {
    let found = score(json!({}), "né {\"a\": \"ñ\"}!");
    assert_eq!(found.reason.as_deref(), Some("JSON at character 4"));
    assert_eq!(found.meta_value(), Some(json!({"at": 3, "length": 10})));
}

#[test]
fn an_output_that_is_not_a_text_is_searched_as_json() {
    let scorer: ContainsJson = scorebox_sdk::configure(json!({})).unwrap();
    assert_eq!(scorer.score(&Case::new(json!({"a": 1}))).unwrap().score, Some(1.0));
    assert_eq!(scorer.score(&Case::new(json!(7))).unwrap().score, Some(0.0));
}

#[test]
fn negate_turns_the_score_around() {
    let negated = score(json!({"negate": true}), "prose");
    assert_eq!(negated.score, Some(1.0));
    assert_eq!(negated.reason.as_deref(), Some("no JSON object found"));
    assert!(!contains(json!({"negate": true}), "{}"));
}

#[test]
fn braces_that_never_close_cost_a_bounded_amount() {
    assert!(!contains(json!({}), &"{\"a\":".repeat(1000)));
    let scorer: ContainsJson = scorebox_sdk::configure(json!({})).unwrap();
    let error = scorer.score(&Case::new(json!("{\"a\":".repeat(1 << 16)))).unwrap_err();
    assert!(error.message().contains("too many unclosed braces"), "{error}");
    // Closed ones are fine, however deep.
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(contains(json!({}), &deep));
}
