//! What every scorer that takes a schema promises.

use serde_json::json;

use super::*;

fn refusal(schema: Value) -> String {
    CompiledSchema::compile(&schema, Options::default()).expect_err("a refusal")
}

#[test]
fn a_problem_is_reported_with_its_place() {
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
fn an_invalid_schema_is_refused_in_one_line() {
    let error = refusal(json!({"properties": {"a": {"type": "strnig"}}, "required": 7}));
    assert!(error.starts_with("is not a usable JSON Schema: "), "{error}");
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
    assert!(unusable.starts_with("`schema` is not a usable JSON Schema"), "{unusable}");
}

#[test]
fn a_document_without_a_draft_is_of_the_schemas_draft() {
    // The official suite's location-independent identifier: draft 7 names a place by `$id`.
    let name = "http://localhost:1234/ids.json";
    let document = json!({"definitions": {"whole": {"$id": "#foo", "type": "integer"}}});
    let documents = BTreeMap::from([(name.to_owned(), document)]);
    let options = Options { formats: false, documents: Some(&documents) };
    let reference = format!("{name}#foo");
    let compile = |draft: &str| {
        CompiledSchema::compile(&json!({"$schema": draft, "allOf": [{"$ref": reference}]}), options)
    };
    let seven = compile("http://json-schema.org/draft-07/schema#").unwrap();
    assert_eq!(seven.problem(&json!(1)), None);
    assert!(seven.problem(&json!("foo")).is_some());
    assert!(compile("https://json-schema.org/draft/2020-12/schema").is_err());
}

#[test]
fn a_draft_may_be_named_by_the_metaschema() {
    let seven = json!({"$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "http://example.com/meta", "allOf": [{"$ref": "http://json-schema.org/draft-07/schema#"}]});
    let round = json!({"$schema": "http://example.com/round"});
    let documents = BTreeMap::from([
        ("http://example.com/meta".to_owned(), seven),
        ("http://example.com/round".to_owned(), round),
    ]);
    let draft = |url: &str| {
        let schema = json!({"$schema": url});
        Documents::new(Some(&documents), &schema).draft(&schema)
    };
    assert!(matches!(draft("http://example.com/meta"), Draft::V7));
    assert!(matches!(draft("http://example.com/round"), Draft::V2020_12));
    assert!(matches!(draft("http://example.com/other"), Draft::V2020_12));
}

#[test]
fn a_reference_starts_from_the_schemas_id() {
    let schema = json!({"$id": "http://example.com/schemas/root.json", "$ref": "parts/name.json"});
    for (name, id) in [
        ("http://example.com/schemas/parts/name.json", None),
        ("parts/name.json", None),
        ("name", Some("http://example.com/schemas/parts/name.json")),
    ] {
        let document = match id {
            Some(id) => json!({"$id": id, "type": "string"}),
            None => json!({"type": "string"}),
        };
        let documents = BTreeMap::from([(name.to_owned(), document)]);
        let options = Options { formats: false, documents: Some(&documents) };
        let compiled = CompiledSchema::compile(&schema, options).unwrap();
        assert_eq!(compiled.problem(&json!("x")), None, "{name}");
        assert!(compiled.problem(&json!(1)).is_some(), "{name}");
    }
}

#[test]
fn formats_are_as_strict_as_the_official_tests() {
    let rows = [
        ("hostname", "www.example.com", true),
        ("hostname", "example.", false),
        ("hostname", "host_name", false),
        ("hostname", "xn--X", false),
        ("hostname", "xn--ll-0ea", true),
        ("hostname", "xn--al-0ea", false),
        ("hostname", "XN--aa---o47jg78q", false),
        ("email", "\"joe bloggs\"@example.com", true),
        ("email", "joe@[IPv6:::1]", true),
        ("email", "@example.com", false),
        ("email", "joe@example.com.", false),
        ("duration", "P1Y2M3DT4H5M6S", true),
        ("duration", "P2W", true),
        ("duration", "P1Y2D", false),
        ("duration", "PT1H2S", false),
        ("duration", "P0Y1W", false),
        ("uri-template", "http://example.com/{?a,b*}{/c:30}", true),
        ("uri-template", "{a..b}", false),
        ("uri-template", "{v:10000}", false),
        ("uri-template", "a b", false),
        ("uri-template", "{=x}", false),
        ("uri-template", "{a", false),
        ("regex", "(?<year>[0-9]{4})\\k<year>", true),
        ("regex", "(?P<year>x)", false),
    ];
    for draft in
        ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"]
    {
        for (format, text, valid) in rows {
            let schema = json!({"$schema": draft, "format": format});
            let compile = |formats| {
                let options = Options { formats, documents: None };
                CompiledSchema::compile(&schema, options).unwrap()
            };
            assert_eq!(compile(true).problem(&json!(text)).is_none(), valid, "{format}: {text}");
            assert_eq!(compile(false).problem(&json!(text)), None, "{format} describes: {text}");
        }
    }
}

#[test]
fn a_format_is_called_by_its_own_name() {
    let same = json!({"format": "regex"});
    let schema = json!({"properties": {"p": {"format": "regex"}, "same": {"const": same}}});
    let options = Options { formats: true, documents: None };
    let compiled = CompiledSchema::compile(&schema, options).unwrap();
    let problem = compiled.problem(&json!({"p": "(", "same": same})).unwrap();
    assert!(problem.contains("is not valid regex: a `(` without its `)`"), "{problem}");
    assert_eq!(compiled.problem(&json!({"p": "a", "same": same})), None);
}
