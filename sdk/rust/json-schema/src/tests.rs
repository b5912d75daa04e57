//! What every scorer that accepts a schema promises.

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
    let types = "'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'";
    let of_type = format!("value must be one of {types}, or want array, but got string");
    let mut expected = [
        format!("at `/properties/a/type`: {of_type}"),
        "at `/required`: want array, but got number".to_owned(),
    ];
    let words = error.strip_prefix("is not a usable JSON Schema: ").unwrap();
    let mut found: Vec<_> = words.split("; ").collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(
        refusal(json!(7)),
        "is not a usable JSON Schema: want boolean or object, but got number"
    );
}

#[test]
fn an_invalid_document_is_named() {
    let mut documents = BTreeMap::new();
    documents.insert("name.json".to_owned(), json!({"minLength": "1"}));
    let options = Options { formats: false, documents: Some(&documents) };
    assert_eq!(
        CompiledSchema::compile(&json!({"$ref": "name.json"}), options).unwrap_err(),
        "is not a usable JSON Schema: in \"name.json\" at `/minLength`: want integer, but got string"
    );
}

#[test]
fn the_message_of_an_invalid_schema_is_bounded() {
    let bad = (0..500).map(|index| (format!("{index:9000}"), json!({"type": index})));
    let bad: Value = Value::Object(bad.collect());
    let error = refusal(json!({"properties": bad}));
    assert!(error.chars().count() <= 60 + 5 * (PROBLEM_LENGTH + 3), "{}", error.len());
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
    // From the official suite, location-independent identifier: draft 7 names a place with `$id`.
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

#[test]
fn numbers_are_compared_and_divided_in_decimals() {
    let rows = [
        (json!({"multipleOf": 0.01}), "19.99", true),
        (json!({"multipleOf": 0.01}), "19.995", false),
        (json!({"multipleOf": 2}), "9007199254740993", false),
        (json!({"maximum": 9007199254740992_u64}), "9007199254740993", false),
        (json!({"maximum": 9007199254740992_u64}), "9007199254740992", true),
        (json!({"exclusiveMaximum": 9007199254740993_u64}), "9007199254740992", true),
        (json!({"minimum": -9007199254740992_i64}), "-9007199254740993", false),
        (json!({"not": {"multipleOf": 0.1}}), "0.3", false),
        (json!({"anyOf": [{"multipleOf": 3}, {"multipleOf": 0.7}]}), "2.1", true),
        (json!({"properties": {"format": {"multipleOf": 0.1}}}), "{\"format\": 0.25}", false),
        (json!({"format": "date", "multipleOf": 0.1}), "\"no date\"", true),
        (json!({"unevaluatedProperties": false, "multipleOf": 2}), "{\"a\": 1}", false),
    ];
    for (schema, text, valid) in rows {
        let compiled = CompiledSchema::compile(&schema, Options::default()).unwrap();
        assert_eq!(compiled.problem_of_text(text).is_none(), valid, "{schema} {text}");
    }
}

#[test]
fn a_number_is_reported_with_the_keyword_that_excludes_it() {
    let schema = json!({"properties": {"price": {"type": "number", "multipleOf": 0.01}}});
    let schema = CompiledSchema::compile(&schema, Options::default()).unwrap();
    let issues = serde_json::to_value(schema.issues(&json!({"price": 1.005}))).unwrap();
    let message = "1.005 is not multipleOf 0.01";
    assert_eq!(issues, json!([{"path": ["price"], "message": message, "keyword": "multipleOf"}]));
}

#[test]
fn the_keywords_of_numbers_are_refused_as_ever_where_they_are_not_valid() {
    let four = "http://json-schema.org/draft-04/schema#";
    for schema in [
        json!({"multipleOf": 0}),
        json!({"multipleOf": -1}),
        json!({"exclusiveMaximum": true}),
        json!({"$schema": four, "exclusiveMaximum": 9007199254740993_u64}),
    ] {
        refusal(schema);
    }
    let bounds =
        json!({"$schema": four, "maximum": 9007199254740992_u64, "exclusiveMaximum": true});
    let bounds = CompiledSchema::compile(&bounds, Options::default()).unwrap();
    assert!(bounds.problem(&json!(9007199254740992_u64)).is_some());
}

#[test]
fn more_rules_than_there_are_formats_leave_the_rest_to_the_validator() {
    let parts: Vec<_> = (1..=100).map(|n| json!({"multipleOf": n})).collect();
    let compiled = CompiledSchema::compile(&json!({"anyOf": parts}), Options::default()).unwrap();
    assert_eq!(compiled.problem(&json!(97)), None);
    assert!(compiled.problem(&json!(0.5)).is_some());
}

#[test]
fn a_metaschema_of_the_users_own_may_leave_keywords_out() {
    let vocabulary = json!({"https://json-schema.org/draft/2020-12/vocab/core": true});
    let meta = json!({"$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "http://example.com/meta", "$vocabulary": vocabulary});
    let documents = BTreeMap::from([("http://example.com/meta".to_owned(), meta)]);
    let options = Options { formats: false, documents: Some(&documents) };
    let schema = json!({"$schema": "http://example.com/meta", "multipleOf": 2});
    assert_eq!(CompiledSchema::compile(&schema, options).unwrap().problem(&json!(3)), None);
}

#[test]
fn a_pattern_is_ecma_262s_and_said_as_it_was_written() {
    let schema = json!({"properties": {"a": {"pattern": r"^\s\d+$"}}, "patternProperties": {r"^\S$": true},
        "additionalProperties": false});
    let schema = CompiledSchema::compile(&schema, Options::default()).unwrap();
    assert_eq!(schema.problem(&json!({"a": "\u{3000}1", "\u{85}": 1})), None);
    let problem = schema.problem(&json!({"a": "x", "\u{feff}": 1})).unwrap();
    assert!(problem.contains(r"a: 'x' does not match pattern '^\\s\\d+$'"), "{problem}");
    assert!(problem.contains(r"additionalProperties '\u{feff}' not allowed"), "{problem}");
}

#[test]
fn a_pattern_that_cannot_be_used_is_named() {
    let rows = [
        ("(?i)abc", "is not valid: flags that are not those of a group"),
        ("a++", "is not valid: nothing to repeat before `+`"),
        ("^(?=a)b", "cannot be used: look-around is not supported"),
        (r"(\w{1000}){1000}", "is too large"),
        (r"\p{Nothing}", "cannot be used: Unicode property not found"),
    ];
    for (pattern, why) in rows {
        let as_key = json!({"patternProperties": {pattern: {}}});
        let schema = json!({"pattern": "ok", "properties": {"pattern": as_key}});
        let expected = format!("is not a usable JSON Schema: the regex \"{pattern}\" {why}");
        assert_eq!(refusal(schema), expected);
    }
    // Without optimisation, boon panics on a `pattern` that only the engine refuses.
    for (pattern, why) in &rows[..3] {
        let error = refusal(json!({"properties": {"a": {"pattern": pattern}}}));
        assert!(error.ends_with(why), "{error}");
    }
    let value = json!({"pattern": "(?i)abc"});
    let values = json!({"const": value, "x-value": value, "properties": {"pattern": true}});
    let schema = CompiledSchema::compile(&values, Options::default()).unwrap();
    assert_eq!(schema.problem(&value), None);
}

#[test]
fn a_pattern_that_is_nested_too_deep_is_cut_short_and_named() {
    let deep = format!("{}{}", "(".repeat(300), ")".repeat(300));
    let error = refusal(json!({"pattern": deep}));
    assert!(error.starts_with("is not a usable JSON Schema: the regex \"(((("), "{error}");
    assert!(error.contains("cannot be used: exceed") && error.len() < 250, "{error}");
}

#[test]
fn patterns_that_are_the_same_and_pointers_to_them_keep_their_schemas() {
    let same =
        json!({"patternProperties": {r"^\d$": {"type": "string"}, "^[0-9]$": {"minLength": 2}}});
    let same = CompiledSchema::compile(&same, Options::default()).unwrap();
    assert_eq!(same.problem(&json!({"1": "ab"})), None);
    assert!(same.problem(&json!({"1": "a"})).is_some() && same.problem(&json!({"1": 1})).is_some());
    let pointed = json!({"properties": {"a": {"$ref": "#/patternProperties/%5Eb-"}},
        "patternProperties": {"^b-": {"type": "string"}}});
    let pointed = CompiledSchema::compile(&pointed, Options::default()).unwrap();
    assert!(pointed.problem(&json!({"a": 1})).is_some());
}

#[test]
fn an_item_after_the_first_ones_has_its_own_index() {
    let seven = "http://json-schema.org/draft-07/schema#";
    let first = json!([{"type": "integer"}, {"type": "integer"}]);
    let items = json!({"prefixItems": first, "items": {"properties": {"b c": {"items": false}}}});
    let rows = [
        (json!({"prefixItems": first, "items": false}), json!([1, 2, "a"]), json!([2]), "items"),
        (
            json!({"$schema": seven, "items": first, "additionalItems": {"type": "string"}}),
            json!([1, 2, "a", 4]),
            json!([3]),
            "type",
        ),
        (json!({"items": false}), json!([1]), json!([0]), "items"),
        (
            json!({"items": items}),
            json!([[1, 2, {}, {"b c": [0]}]]),
            json!([0, 3, "b c", 0]),
            "items",
        ),
        (
            json!({"$defs": {"a/b": items}, "properties": {"x": {"$ref": "#/$defs/a~1b"}}}),
            json!({"x": [1, 2, {"b c": [0]}]}),
            json!(["x", 2, "b c", 0]),
            "items",
        ),
        (
            json!({"prefixItems": [true], "items": {"anyOf": [false, {"type": "null"}]}}),
            json!([1, 2]),
            json!([1]),
            "anyOf",
        ),
        (json!({"prefixItems": [true, false]}), json!([1, 2]), json!([1]), "prefixItems"),
        (
            json!({"prefixItems": [true], "unevaluatedItems": false}),
            json!([1, 2]),
            json!([1]),
            "unevaluatedItems",
        ),
    ];
    for (schema, value, path, keyword) in rows {
        let compiled = CompiledSchema::compile(&schema, Options::default()).unwrap();
        let issues = serde_json::to_value(compiled.issues(&value)).unwrap();
        let found = (&issues[0]["path"], issues[0]["keyword"].as_str().unwrap());
        assert_eq!(found, (&path, keyword), "{schema}: {issues}");
    }
}

#[test]
fn an_item_of_a_document_has_its_own_index() {
    let rest = json!({"$id": "http://example.com/rest", "prefixItems": [true], "items": false});
    for name in ["http://example.com/rest", "rest"] {
        let documents = BTreeMap::from([(name.to_owned(), rest.clone())]);
        let options = Options { formats: false, documents: Some(&documents) };
        let schema = json!({"$ref": "http://example.com/rest"});
        let compiled = CompiledSchema::compile(&schema, options).unwrap();
        let issues = serde_json::to_value(compiled.issues(&json!([1, 2]))).unwrap();
        assert_eq!(issues[0]["path"], json!([1]), "{name}: {issues}");
    }
}

#[test]
fn the_keyword_of_an_issue_is_the_one_in_the_schema() {
    let reference = json!({"$ref": "#/$defs/no", "$defs": {"no": false}});
    let rows = [
        (json!({"additionalProperties": false}), json!({"a": 1}), "additionalProperties"),
        (json!({"unevaluatedProperties": false}), json!({"a": 1}), "unevaluatedProperties"),
        (json!({"properties": {"a": false}}), json!({"a": 1}), "properties"),
        (json!({"properties": {"items": false}}), json!({"items": 1}), "properties"),
        (json!({"propertyNames": false}), json!({"a": 1}), "propertyNames"),
        (json!({"if": true, "then": false}), json!(1), "then"),
        (reference, json!(1), "$ref"),
        (json!(false), json!(1), ""),
    ];
    for (schema, value, keyword) in rows {
        let compiled = CompiledSchema::compile(&schema, Options::default()).unwrap();
        let issues = serde_json::to_value(compiled.issues(&value)).unwrap();
        assert_eq!(issues[0]["keyword"], keyword, "{schema}: {issues}");
    }
}

#[test]
fn a_schema_that_only_refers_to_itself_is_refused() {
    let endless = "is not a usable JSON Schema: it refers to itself without end";
    for schema in [
        json!({"$ref": "#"}),
        json!({"type": "object", "allOf": [{"$ref": "#"}]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
    ] {
        assert_eq!(refusal(schema), endless);
    }
    let tree = json!({"type": "object", "properties": {"left": {"$ref": "#"}}});
    let tree = CompiledSchema::compile(&tree, Options::default()).unwrap();
    assert!(tree.problem(&json!({"left": {"left": 1}})).is_some());
}

#[test]
fn before_2019_nothing_counts_beside_a_reference() {
    let draft = |number: &str| format!("http://json-schema.org/draft-0{number}/schema#");
    let schema = |draft: &str| {
        let beside = json!({
            "$schema": draft, "$ref": "#/definitions/any", "definitions": {"any": {}},
            "const": 1, "contains": false, "propertyNames": false, "exclusiveMaximum": 0,
            "exclusiveMinimum": 9, "if": true, "then": false,
        });
        CompiledSchema::compile(&beside, Options::default()).unwrap()
    };
    for number in ["6", "7"] {
        let schema = schema(&draft(number));
        for value in [json!(2), json!([]), json!({"a": 1})] {
            assert_eq!(schema.problem(&value), None, "draft {number}: {value}");
        }
    }
    assert!(schema("https://json-schema.org/draft/2019-09/schema").problem(&json!(2)).is_some());
}

#[test]
fn an_enum_of_draft_7_may_repeat_a_value_or_name_none() {
    let seven = |schema: Value| {
        let schema = json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": schema});
        CompiledSchema::compile(&schema, Options::default()).unwrap()
    };
    let repeated = seven(json!({"enum": ["a", 1, "a", 1.0, {"b": 1}, {"b": 1.0}]}));
    assert_eq!(repeated.problem(&json!(["a", 1, {"b": 1}])), None);
    assert!(repeated.problem(&json!(["c"])).is_some());
    let empty = seven(json!({"enum": [], "allOf": [{}]}));
    assert_eq!(empty.problem(&json!([])), None);
    assert!(empty.problem(&json!([1])).is_some());
}
