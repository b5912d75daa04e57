//! What a schema makes of a configuration, and what it refuses.

use serde_json::json;

use super::*;
use crate::{
    advice::Advice,
    contract::{Direction, Fields, Scale, Severity},
    sandbox::ErrorKind,
};

fn settled_by(schema: &Value, config: &Value) -> Result<Value, String> {
    let info = ScorerInfo {
        id: "script".into(),
        name: "Script".into(),
        description: String::new(),
        version: "1.0.0".into(),
        config_schema: Some(schema.to_string()),
        scale: Scale::Unit,
        direction: Direction::HigherIsBetter,
        reads: Fields::default(),
        severity: Severity::Soft,
        threshold: None,
    };
    let settled = settled(&info, &ScorerConfig::new(config.as_object().unwrap()));
    settled.map(|config| serde_json::from_str(config.as_str()).unwrap()).map_err(|error| {
        assert_eq!(error.kind, ErrorKind::InvalidConfig);
        error.message
    })
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "most": {"type": "integer"},
            "share": {"type": ["number", "null"]},
            "strict": {"type": "boolean"},
            "words": {"type": "array", "items": {"type": "string"}},
            "deep": {"type": "object", "properties": {"at": {"type": "number"}}, "required": ["at"]},
            "any": {},
            "style": {"type": "string", "default": "plain"}
        },
        "required": ["most", "style"]
    })
}

#[test]
fn values_are_of_the_types_that_the_schema_says() {
    let good = json!({"most": 3, "share": null, "strict": true, "words": ["a"], "deep": {"at": 0.5}, "any": [1], "style": "x"});
    assert_eq!(settled_by(&schema(), &good), Ok(good));
    for (config, message) in [
        (json!({"most": 1.5}), "`most`: invalid type: number `1.5`, expected a whole number"),
        (json!({"most": null}), "`most`: invalid type: null, expected a whole number"),
        (json!({"most": "many"}), "`most`: invalid type: string \"many\", expected a whole number"),
        (
            json!({"most": 1, "share": true}),
            "`share`: invalid type: boolean `true`, expected a number or null",
        ),
        (json!({"most": 1, "words": "a"}), "`words`: invalid type: string \"a\", expected a list"),
        (
            json!({"most": 1, "words": ["a", 2]}),
            "`words[1]`: invalid type: integer `2`, expected a text",
        ),
        (
            json!({"most": 1, "deep": {"at": []}}),
            "`deep.at`: invalid type: array, expected a number",
        ),
    ] {
        assert_eq!(settled_by(&schema(), &config), Err(message.to_owned()));
    }
}

#[test]
fn what_is_required_and_has_no_default_is_there() {
    assert_eq!(settled_by(&schema(), &json!({})), Err("`most` is required".to_owned()));
    let without = settled_by(&schema(), &json!({"most": 1, "deep": {}}));
    assert_eq!(without, Err("`deep.at` is required".to_owned()));
}

#[test]
fn texts_of_variables_are_the_numbers_and_booleans_that_they_are() {
    let texts = json!({"most": "3", "share": "0.5", "strict": "true", "words": ["1"], "any": "1"});
    let typed = json!({"most": 3, "share": 0.5, "strict": true, "words": ["1"], "any": "1", "style": "plain"});
    assert_eq!(settled_by(&schema(), &texts), Ok(typed));
}

/// The message and the suggested name.
fn refused(schema: &Value, config: &Value) -> (String, Option<String>) {
    let mut value = config.clone();
    let settled = Settling::of_a_configuration().settle(&mut value, schema, &Place::Whole);
    let error = settled.unwrap_err().of_config();
    let meant = match error.advice {
        Some(Advice::DidYouMean(names)) => names.into_iter().next(),
        _ => None,
    };
    (error.message, meant)
}

fn with(property: &Value) -> Value {
    json!({"properties": {"it": property}})
}

#[test]
fn bounds_of_numbers_hold_and_include_what_they_say() {
    for (property, good, bad, message) in [
        (json!({"minimum": 1}), json!(1), json!(0), "integer `0`, expected at least 1"),
        (json!({"minimum": 1}), json!("x"), json!(0.5), "number `0.5`, expected at least 1"),
        (json!({"maximum": 9}), json!(9.0), json!(50), "integer `50`, expected at most 9"),
        (json!({"exclusiveMinimum": 0}), json!(0.1), json!(0), "integer `0`, expected more than 0"),
        (
            json!({"exclusiveMaximum": 1.5}),
            json!(1),
            json!(1.5),
            "number `1.5`, expected less than 1.5",
        ),
        (json!({"multipleOf": 5}), json!(-15), json!(7), "integer `7`, expected a multiple of 5"),
        (
            json!({"multipleOf": 0.1}),
            json!(0.3),
            json!(0.25),
            "number `0.25`, expected a multiple of 0.1",
        ),
        (
            json!({"maximum": 9_007_199_254_740_992_i64}),
            json!(9_007_199_254_740_992_i64),
            json!(9_007_199_254_740_993_i64),
            "integer `9007199254740993`, expected at most 9007199254740992",
        ),
    ] {
        let schema = with(&property);
        let good = json!({ "it": good });
        assert_eq!(settled_by(&schema, &good), Ok(good.clone()), "{property}");
        let refused = settled_by(&schema, &json!({ "it": bad }));
        assert_eq!(refused, Err(format!("`it`: invalid value: {message}")));
    }
    // A text that is read as a number has the number's bounds.
    let schema = with(&json!({"type": "integer", "minimum": 1}));
    let refused = settled_by(&schema, &json!({"it": "0"}));
    assert_eq!(refused, Err("`it`: invalid value: integer `0`, expected at least 1".to_owned()));
}

#[test]
fn lengths_are_characters_and_items() {
    for (property, good, bad, message) in [
        (json!({"minLength": 2}), json!("éé"), json!("é"), "1, expected at least 2 characters"),
        (json!({"maxLength": 1}), json!("é"), json!("ab"), "2, expected at most 1 character"),
        (json!({"minItems": 1.0}), json!([0]), json!([]), "0, expected at least 1 item"),
        (json!({"maxItems": 2}), json!([0, 0]), json!([0, 0, 0]), "3, expected at most 2 items"),
    ] {
        let schema = with(&property);
        let good = json!({ "it": good });
        assert_eq!(settled_by(&schema, &good), Ok(good.clone()), "{property}");
        let refused = settled_by(&schema, &json!({ "it": bad }));
        assert_eq!(refused, Err(format!("`it`: invalid length {message}")));
    }
}

#[test]
fn what_is_listed_is_all_that_is_taken() {
    let schema = with(&json!({"enum": ["strict", "loose", 1, null, {"a": [1]}]}));
    for good in [json!("loose"), json!(1.0), json!(null), json!({"a": [1.0]})] {
        let good = json!({ "it": good });
        assert_eq!(settled_by(&schema, &good), Ok(good.clone()));
    }
    let (message, meant) = refused(&schema, &json!({"it": "strikt"}));
    let listed = r#"expected one of "strict", "loose", 1, null, {"a":[1]}"#;
    assert_eq!(message, format!("`it`: invalid value: string \"strikt\", {listed}"));
    assert_eq!(meant.as_deref(), Some("strict"));
    for bad in [json!({"a": [2]}), json!({"a": [1], "b": 1}), json!(false)] {
        assert!(settled_by(&schema, &json!({ "it": bad })).is_err(), "{bad}");
    }
    let (message, _) = refused(&with(&json!({"const": 3})), &json!({"it": 4}));
    assert_eq!(message, "`it`: invalid value: integer `4`, expected 3");
    let many: Vec<u32> = (0..30).collect();
    let (message, _) = refused(&with(&json!({ "enum": many })), &json!({"it": "x".repeat(9999)}));
    assert!(message.ends_with(", 18, 19 and 10 more"), "{message}");
}

#[test]
fn defaults_are_filled_in_wherever_there_is_an_object_for_them() {
    let rule = json!({"type": "object", "properties": {"most": {"default": 3, "minimum": 1}}, "required": ["most"]});
    let schema = json!({"properties": {
        "rule": rule, "other": rule, "rules": {"items": rule, "default": [{}]}, "by": {"additionalProperties": rule},
    }});
    let config = json!({"rule": {}, "by": {"x": {}, "y": {"most": 1}}});
    let all = json!({
        "rule": {"most": 3}, "rules": [{"most": 3}], "by": {"x": {"most": 3}, "y": {"most": 1}},
    });
    assert_eq!(settled_by(&schema, &config), Ok(all));
    let refused = settled_by(&schema, &json!({"by": {"x": {"most": 0}}}));
    let message = "`by.x.most`: invalid value: integer `0`, expected at least 1";
    assert_eq!(refused, Err(message.to_owned()));
}

#[test]
fn a_closed_object_has_the_keys_of_its_properties_in_either_spelling() {
    let closed =
        json!({"properties": {"mostWords": {"type": "integer"}}, "additionalProperties": false});
    let schema = with(&closed);
    let taken = settled_by(&schema, &json!({"it": {"most_words": 1}}));
    assert_eq!(taken, Ok(json!({"it": {"mostWords": 1}})));
    let (message, meant) = refused(&schema, &json!({"it": {"mostWord": 1}}));
    assert_eq!(
        (message.as_str(), meant.as_deref()),
        ("unknown key `it.mostWord`", Some("mostWords"))
    );
    let (message, _) = refused(&schema, &json!({"it": {"x": 1}}));
    assert_eq!(message, "unknown key `it.x`; known here: `mostWords`");
    let (message, _) = refused(&schema, &json!({"it": {"most_words": 1, "mostWords": 2}}));
    assert_eq!(message, "`it.most_words` and `it.mostWords` are the same key; give it once");
    // An open object keeps its keys.
    let open = with(&json!({"properties": {"mostWords": {}}}));
    let config = json!({"it": {"most_words": 1}});
    assert_eq!(settled_by(&open, &config), Ok(config.clone()));
    let patterns = with(&json!({"patternProperties": {"^x": {}}, "additionalProperties": false}));
    let config = json!({"it": {"x1": 1}});
    assert_eq!(settled_by(&patterns, &config), Ok(config.clone()));
}

#[test]
fn items_are_described_by_their_place_or_else_all_alike() {
    let schema = with(&json!({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}));
    let good = json!({"it": ["a", 1, 2]});
    assert_eq!(settled_by(&schema, &good), Ok(good.clone()));
    let (message, _) = refused(&schema, &json!({"it": ["a", 1, "b"]}));
    assert_eq!(message, "`it[2]`: invalid type: string \"b\", expected a whole number");
    let (message, _) = refused(&with(&json!({"items": false})), &json!({"it": [1]}));
    assert_eq!(message, "`it[0]`: invalid value: integer `1`, expected nothing");
}

#[test]
fn what_is_not_looked_at_says_nothing() {
    for schema in [
        json!(true),
        json!({}),
        with(&json!({"pattern": "^a", "format": "date", "anyOf": [{"type": "null"}], "not": {}})),
        with(&json!({"uniqueItems": true, "minProperties": 9, "$ref": "#/$defs/X"})),
    ] {
        assert_eq!(settled_by(&schema, &json!({"it": "x"})), Ok(json!({"it": "x"})));
    }
}

#[test]
fn the_work_and_the_defaults_of_a_hostile_schema_have_an_end() {
    let many: Vec<usize> = (0..50_000).collect();
    let schema = json!({"properties": {"it": {"items": {"enum": many}}}});
    let (message, _) = refused(&schema, &json!({"it": vec![49_999; 10_000]}));
    assert!(message.ends_with("the schema has more to check than can be checked"), "{message}");
    let kinds = json!({"items": {"type": vec!["integer"; 50_000]}});
    let (message, _) = refused(&with(&kinds), &json!({"it": vec![1; 10_000]}));
    assert_eq!(message, "`it[399]`: the schema has more to check than can be checked");
    let long = "x".repeat(100_000);
    let schema = with(&json!({"items": {"properties": {"long": {"default": long}}}}));
    let (message, _) = refused(&schema, &json!({"it": vec![json!({}); 1000]}));
    assert_eq!(message, "`it[41].long`: the schema's defaults are more than 4 MiB here");
    let (key, mut deep, mut schema) = ("k".repeat(99), json!(0), json!({"maximum": -1}));
    for _ in 0..100 {
        (deep, schema) = (json!({ &key: deep }), json!({"properties": { &key: schema }}));
    }
    let (message, _) = refused(&schema, &deep);
    assert!(message.ends_with("… (cut)") && message.len() < 5000, "{message}");
}
