//! What every scorer that takes a schema promises.

use serde_json::json;

use super::*;

fn refusal(schema: Value) -> String {
    CompiledSchema::compile(&schema, Options::default()).expect_err("a refusal")
}

#[test]
fn a_problem_is_told_with_its_place() {
    let schema = json!({
        "required": ["name"],
        "properties": {"name": {}, "ages": {"items": {"type": "integer"}}},
    });
    let schema = CompiledSchema::prepare(&schema, Options::default()).unwrap();
    assert_eq!(schema.problem(&json!({"name": "Ada", "ages": [36]})), None);
    let problem = schema.problem(&json!({"ages": [1, "two"]})).unwrap();
    assert_eq!(problem, "missing properties 'name'; ages.1: want integer, but got string");
}

#[test]
fn a_problem_is_bounded_whatever_the_value() {
    let schema = json!({"additionalProperties": {"enum": ["x".repeat(9000)]}});
    let schema = CompiledSchema::compile(&schema, Options::default()).unwrap();
    let keys = (0..500).map(|index| (format!("{index:9000}"), json!(index)));
    let value = Value::Object(keys.collect());
    assert_eq!(schema.issues(&value).len(), 20);
    assert!(schema.problem(&value).unwrap().chars().count() <= 5 * (PROBLEM_LENGTH + 3));
}

#[test]
fn a_schema_that_is_none_is_refused_in_one_line() {
    let error = refusal(json!({"properties": {"a": {"type": "strnig"}}, "required": 7}));
    assert!(error.starts_with("is no usable JSON Schema: "), "{error}");
    assert!(!error.contains('\n') && !error.contains(ROOT), "{error}");
}

#[test]
fn a_reference_leads_only_to_what_was_given() {
    let schema = json!({"$ref": "name.json"});
    assert!(refusal(schema.clone()).ends_with("remote schemas are not fetched: \"name.json\""));
    let mut documents = BTreeMap::new();
    let compile = |documents: &BTreeMap<String, Value>| {
        CompiledSchema::compile(&schema, Options { formats: false, documents: Some(documents) })
    };
    let error = compile(&documents).unwrap_err();
    assert!(error.ends_with("give it under `documents`, as \"name.json\""), "{error}");
    documents.insert("name.json".to_owned(), json!({"type": "string"}));
    assert!(compile(&documents).unwrap().problem(&json!(1)).is_some());
}

#[test]
fn a_text_that_cannot_be_read_does_not_match() {
    let any = CompiledSchema::prepare(&json!(true), Options::default()).unwrap();
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(any.problem_of_text(&nested(127)), None);
    let problem = any.problem_of_text(&nested(128)).unwrap();
    assert_eq!(problem, "cannot be read: nested deeper than 127 levels");
    for text in ["{", "[1e999]", "[\"\\ud83d\"]"] {
        assert!(any.problem_of_text(text).unwrap().starts_with("cannot be read: "), "{text}");
    }
}

#[test]
fn a_configured_schema_is_refused_by_the_name_of_its_key() {
    let prepared = |schema: Value| CompiledSchema::from_config(Some(&schema), false);
    assert!(CompiledSchema::from_config(None, false).unwrap().is_none());
    assert!(prepared(json!({"type": "string"})).unwrap().unwrap().problem(&json!(1)).is_some());
    assert_eq!(
        prepared(json!("{}")).unwrap_err().to_string(),
        "`schema`: should be a JSON Schema: an object, or `true` or `false`"
    );
    let unusable = prepared(json!({"type": "strnig"})).unwrap_err().to_string();
    assert!(unusable.starts_with("`schema`: is no usable JSON Schema"), "{unusable}");
}
