//! json-valid, as a specification.

use serde_json::json;

use super::*;

fn score(config: Value, output: Value) -> Score {
    let scorer: JsonValid = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(output)).unwrap()
}

fn valid(config: Value, output: Value) -> bool {
    score(config, output).score == Some(1.0)
}

fn person() -> Value {
    json!({
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "number"}},
        "required": ["a"],
    })
}

#[test]
fn objects_and_lists_count() {
    // The cases of autoevals' tests of `ValidJSON`.
    for text in [
        "{ \"a\": 1, \"b\": \"hello\" }",
        "[{ \"a\": 1 }]",
        "{ \"m\": { \"a\": \"foo\" }, \"x\": 4 }",
    ] {
        assert!(valid(json!({}), json!(text)), "{text}");
    }
    for text in
        ["1", "[{ \"a\": 1 }", "{ m: { \"a\": \"foo\" }, \"x\": 4 }", "", "{}}", "{'a': 1}", "[1,]"]
    {
        assert!(!valid(json!({}), json!(text)), "{text}");
    }
    assert!(valid(json!({}), json!({"a": "1"})));
    assert!(!valid(json!({}), json!(null)));
}

#[test]
fn other_values_count_where_they_are_allowed() {
    let scalars = || json!({"scalars": true});
    assert!(valid(scalars(), json!(" 1 ")));
    assert!(valid(scalars(), json!("\"text\"")));
    assert!(valid(scalars(), json!(null)));
    assert!(!valid(scalars(), json!("text")));
    assert!(!valid(scalars(), json!("NaN")));
}

#[test]
fn a_schema_decides_alone() {
    let config = || json!({"schema": person()});
    assert!(valid(config(), json!("{ \"a\": \"1\" }")));
    assert!(!valid(config(), json!("{\"a\": \"1\", \"b\": \"1\"}")));
    assert!(!valid(config(), json!("[]")));
    assert!(valid(json!({"schema": {"type": "integer"}}), json!("1")));
    let list = json!({"type": "array", "items": person(), "uniqueItems": true});
    assert!(valid(json!({"schema": list}), json!("[{\"a\": \"1\"}, {\"a\": \"1\", \"b\": 22}]")));
}

#[test]
fn formats_are_checked_only_where_asked() {
    for draft in
        ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"]
    {
        let schema = json!({"$schema": draft, "properties": {"date": {"format": "date"}}});
        let output = json!("{\"date\": \"not a date\"}");
        assert!(valid(json!({"schema": schema}), output.clone()));
        assert!(!valid(json!({"schema": schema, "formats": true}), output));
    }
}

#[test]
fn the_reason_says_what_is_wrong() {
    let reason = |config, output| score(config, output).reason.unwrap();
    assert_eq!(reason(json!({}), json!("{\"a\": 1}")), "JSON");
    assert_eq!(reason(json!({}), json!("{\"a\" 1}")), "not JSON: expected `:` at line 1 column 6");
    assert_eq!(
        reason(json!({}), json!("1")),
        "JSON, but neither an object nor a list; `scalars` would let it count"
    );
    assert_eq!(
        reason(json!({"schema": person()}), json!("{\"b\": \"x\"}")),
        "JSON that does not match the schema: missing properties 'a'; b: want number, but got string"
    );
    let long = json!({"schema": {"items": {"const": "x".repeat(9000)}}});
    assert!(reason(long, json!(vec![0; 500])).len() < 2000);
}

#[test]
fn negate_turns_the_score_around() {
    let negated = score(json!({"negate": true}), json!("prose"));
    assert_eq!(negated.score, Some(1.0));
    assert!(negated.reason.unwrap().starts_with("not JSON"));
}

#[test]
fn depth_matters_only_to_a_schema() {
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    assert!(valid(json!({}), json!(deep)));
    let nested = |depth: usize| json!(format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    assert!(valid(json!({"schema": true}), nested(127)));
    let deeper = score(json!({"schema": true}), nested(200));
    assert_eq!(deeper.score, Some(0.0));
    assert_eq!(
        deeper.reason.as_deref(),
        Some("JSON that does not match the schema: cannot be read: nested deeper than 127 levels")
    );
}

#[test]
fn json_that_cannot_be_read_matches_no_schema() {
    for text in ["[1e999]", r#"["\ud83d"]"#] {
        assert!(valid(json!({}), json!(text)), "{text}");
        assert!(!valid(json!({"schema": true}), json!(text)), "{text}");
        assert!(valid(json!({"schema": true, "negate": true}), json!(text)), "{text}");
    }
}

#[test]
fn an_invalid_schema_is_refused() {
    let refusal = |schema: Value| {
        let error = scorebox_sdk::configure::<JsonValid>(json!({ "schema": schema })).err();
        error.expect("a refusal").to_string()
    };
    assert!(refusal(json!({"type": "strnig"})).starts_with("`schema` is not a usable JSON Schema"));
    for schema in [json!("{\"type\": \"object\"}"), json!([{}]), json!(7)] {
        assert_eq!(
            refusal(schema),
            "`schema`: should be a JSON Schema: an object, or `true` or `false`"
        );
    }
    let remote = refusal(json!({"$ref": "https://example.com/x.json"}));
    assert!(remote.contains("remote schemas are not fetched"), "{remote}");
}
