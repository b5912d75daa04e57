//! schema-adherence, as a specification.

use super::*;

fn scorer(config: Value) -> SchemaAdherence {
    scorebox_sdk::configure(config).unwrap()
}

fn score(config: Value, output: Value) -> Score {
    scorer(config).score(&Case::new(output)).unwrap()
}

fn refusal(config: Value) -> String {
    let error = scorebox_sdk::configure::<SchemaAdherence>(config).err();
    error.expect("a refusal").to_string()
}

fn person() -> Value {
    json!({
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}, "ages": {"items": {"type": "integer"}}},
    })
}

#[test]
fn a_matching_output_scores_1() {
    let score = score(json!({"schema": person()}), json!({"name": "Ada", "ages": [36, 1.0]}));
    assert_eq!(score.score, Some(1.0));
    assert_eq!(score.reason.as_deref(), Some("Output matches schema"));
    assert_eq!(score.meta_value(), None);
}

#[test]
fn every_issue_has_a_path_a_message_and_a_keyword() {
    let score = score(json!({"schema": person()}), json!({"name": 1, "ages": [1, "two"]}));
    assert_eq!(score.score, Some(0.0));
    let reason = score.reason.unwrap();
    assert!(reason.starts_with("Schema validation failed: "), "{reason}");
    assert!(reason.contains("name: want string, but got number"), "{reason}");
    assert!(reason.contains("ages.1: want integer, but got string"), "{reason}");
    let issues = score.meta.unwrap().value()["issues"].as_array().unwrap().clone();
    assert!(issues.contains(&json!({
        "path": ["ages", 1], "message": "want integer, but got string", "keyword": "type"
    })));
}

#[test]
fn alternatives_are_one_issue() {
    let schema = json!({"anyOf": [{"type": "string"}, {"minimum": 5}]});
    let score = score(json!({"schema": schema}), json!(3));
    assert_eq!(
        score.reason.as_deref(),
        Some(
            "Schema validation failed: anyOf failed: want string, but got number, or must be >=5, \
             but got 3"
        )
    );
}

#[test]
fn the_number_and_the_length_of_issues_are_bounded() {
    let config = json!({"schema": {"items": {"enum": ["x".repeat(9000)]}}});
    let score = score(config, json!(vec![0; 500]));
    assert_eq!(score.meta_value().unwrap()["issues"].as_array().unwrap().len(), 20);
    assert!(score.reason.unwrap().len() <= 4096);
}

#[test]
fn without_a_schema_the_score_is_1_and_marked_as_skipped() {
    let score = score(json!({}), json!("anything"));
    assert_eq!(score.score, Some(1.0));
    assert_eq!(score.reason.as_deref(), Some("No output schema defined; skipping validation"));
    assert_eq!(score.meta_value(), Some(json!({"skipped": true})));
}

#[test]
fn the_cases_schema_stands_in_for_a_configured_one() {
    let case = Case::new(json!(1)).with_output_schema(json!({"type": "string"}));
    assert_eq!(scorer(json!({})).score(&case).unwrap().score, Some(0.0));
    assert_eq!(scorer(json!({"schema": true})).score(&case).unwrap().score, Some(1.0));
    let bad = Case::new(json!(1)).with_output_schema(json!({"type": "strnig"}));
    let error = scorer(json!({})).score(&bad).unwrap_err();
    assert!(matches!(error, ScoreError::InvalidInput(_)));
    assert!(error.message().starts_with("`outputSchema` is not a usable JSON Schema"));
}

#[test]
fn json_inside_a_string_counts_as_asked() {
    let config = |parse| json!({"schema": person(), "parse": parse});
    let text = || json!("{\"name\": \"Ada\"}");
    let auto = score(config("auto"), text());
    assert_eq!(auto.score, Some(1.0));
    assert_eq!(auto.meta_value(), Some(json!({"parsed": true})));
    assert_eq!(score(config("always"), text()).score, Some(1.0));
    assert_eq!(score(config("never"), text()).score, Some(0.0));
    let broken = score(config("always"), json!("{name}"));
    assert!(broken.reason.unwrap().starts_with("Schema validation failed: not JSON: "));
    let inside = score(config("auto"), json!("{\"name\": 1}"));
    assert!(inside.reason.unwrap().contains("name: want string"));
    let string = json!({"schema": {"type": "string"}});
    assert_eq!(score(string, json!("{}")).meta_value(), None);
}

#[test]
fn a_code_fence_that_is_the_whole_string_is_read_as_a_judges_answer_is() {
    let scored = |parse: &str, text: &str| {
        score(json!({"schema": person(), "parse": parse}), json!(text)).score
    };
    for fenced in [
        "```json\n{\"name\": \"Ada\"}\n```",
        "\n```JSON\r\n{\"name\": \"Ada\"}\r\n```\n",
        "```\n{\"name\": \"Ada\"}\n```",
        "```json {\"name\": \"Ada\"}```",
        "````json\n{\"name\": \"```\"}\n````",
    ] {
        for (parse, expected) in [("auto", 1.0), ("always", 1.0), ("never", 0.0)] {
            assert_eq!(scored(parse, fenced), Some(expected), "{parse}: {fenced}");
        }
    }
    for other in [
        "Here it is:\n```json\n{\"name\": \"Ada\"}\n```",
        "```json\n{\"name\": \"Ada\"}\n```\nIs it right?",
        "```python\n{\"name\": \"Ada\"}\n```",
        "```json\n{\"name\": 1}\n```",
        "``` ```",
        "```",
    ] {
        for parse in ["auto", "always"] {
            assert_eq!(scored(parse, other), Some(0.0), "{parse}: {other}");
        }
    }
    let inside = score(json!({"schema": person()}), json!("```json\n{\"name\": 1}\n```"));
    assert!(inside.reason.unwrap().contains("name: want string"));
}

#[test]
fn formats_are_checked_only_where_asked() {
    for draft in
        ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"]
    {
        let schema = json!({"$schema": draft, "format": "ipv4"});
        assert_eq!(score(json!({"schema": schema}), json!("no")).score, Some(1.0));
        let formats = json!({"schema": schema, "formats": true});
        assert_eq!(score(formats, json!("no")).score, Some(0.0));
    }
}

#[test]
fn references_resolve_only_to_given_documents() {
    let schema = json!({"$ref": "https://example.com/name.json"});
    let documents = json!({"https://example.com/name.json": {"type": "string"}});
    let config = json!({"schema": schema, "documents": documents});
    assert_eq!(score(config, json!(1)).score, Some(0.0));
    let relative = json!({"schema": {"$ref": "name.json"}, "documents": {"name.json": false}});
    assert_eq!(score(relative, json!(1)).score, Some(0.0));
    assert_eq!(
        refusal(json!({"schema": schema})),
        "`schema` is not a usable JSON Schema: error loading https://example.com/name.json: remote \
         schemas are not fetched; give it under `documents`, as \"https://example.com/name.json\""
    );
}

#[test]
fn an_invalid_schema_is_refused() {
    let error = refusal(json!({"schema": {"type": "strnig"}}));
    assert_eq!(
        error,
        "`schema` is not a usable JSON Schema: at `/type`: value must be one of 'array', 'boolean', 'integer', \
         'null', 'number', 'object', 'string', or want array, but got string"
    );
    assert!(refusal(json!({"schema": {"pattern": "("}})).contains("regex"));
}

#[test]
fn a_schema_that_only_refers_to_itself_is_an_error_and_no_score() {
    let endless = json!({"$ref": "#"});
    assert_eq!(
        refusal(json!({"schema": endless})),
        "`schema` is not a usable JSON Schema: it refers to itself without end"
    );
    let case = Case::new(json!(1)).with_output_schema(endless);
    let error = scorer(json!({})).score(&case).unwrap_err();
    assert!(matches!(error, ScoreError::InvalidInput(_)));
    assert!(error.message().ends_with("it refers to itself without end"), "{}", error.message());
}

#[test]
fn a_schema_that_refers_to_itself_in_many_places_is_prepared_in_bounded_work() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let properties: serde_json::Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), json!({"$ref": "#"}))).collect();
    let config = json!({"schema": {"type": "object", "properties": properties}});
    assert_eq!(score(config, json!({"a": {"h": {}}})).score, Some(1.0));
}
