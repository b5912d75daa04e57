//! Which keys a schema lists, and which name is meant.

use serde_json::json;

use super::*;

#[test]
fn alternatives_and_references_count_together() {
    let schema = json!({
        "allOf": [{"$ref": "#/$defs/Base"}],
        "oneOf": [{"properties": {"a": {"properties": {"x": {}}}}}, {"properties": {"a": {}, "b": {}}}],
        "$defs": {"Base": {"properties": {"negate": {}}}},
    });
    let whole = Described::by(&schema);
    assert_eq!(whole.names(), ["a", "b", "negate"]);
    assert_eq!(whole.member("a").unwrap().schemas().len(), 2);
    assert_eq!(whole.member("a").unwrap().names(), ["x"]);
    assert!(whole.member("c").is_none());
}

#[test]
fn a_schema_that_refers_to_itself_is_read_once() {
    let schema = json!({"$ref": "#", "properties": {"inner": {"$ref": "#"}}});
    let mut described = Described::by(&schema);
    for _ in 0..3 {
        assert_eq!(described.names(), ["inner"]);
        described = described.member("inner").unwrap();
    }
}

#[test]
fn items_are_described_by_their_place_or_else_all_alike() {
    let schema = json!({
        "prefixItems": [{"properties": {"first": {}}}],
        "items": {"properties": {"other": {}}},
    });
    let list = Described::by(&schema);
    assert_eq!(list.item(0).names(), ["first"]);
    assert_eq!(list.item(1).names(), ["other"]);
}

#[test]
fn only_an_object_whose_keys_are_listed_is_closed() {
    for (schema, open) in [
        (json!({"type": "object"}), true),
        (json!({}), true),
        (json!(true), true),
        (json!({"type": ["object", "null"]}), true),
        (json!({"properties": {}, "additionalProperties": true}), true),
        (json!({"properties": {}, "additionalProperties": {"type": "number"}}), true),
        (json!({"properties": {}, "patternProperties": {}}), true),
        (json!({"type": "string"}), false),
        (json!({"properties": {}}), false),
        (json!({"type": "object", "additionalProperties": false}), false),
        (json!({"enum": ["a"]}), false),
    ] {
        assert_eq!(Described::by(&schema).takes_any_key(), open, "{schema}");
    }
}

#[test]
fn the_name_that_was_meant_differs_in_few_letters() {
    let meant = |given| nearest(given, ["ignoreCase", "max", "min", "targetMs"]);
    assert_eq!(meant("ignore-case"), Some("ignoreCase"));
    assert_eq!(meant("ingoreCase"), Some("ignoreCase"));
    assert_eq!(meant("mxa"), Some("max"));
    assert_eq!(meant("target"), Some("targetMs"));
    assert_eq!(meant("colour"), None);
    assert_eq!(meant(""), None);
    assert_eq!(meant(&"max".repeat(1_000_000)), None);
}

#[test]
fn edits_count_a_swap_once() {
    assert_eq!(edits(b"abc", b"acb"), 1);
    assert_eq!(edits(b"", b"ab"), 2);
    assert_eq!(edits(b"sitting", b"kitten"), 3);
}

#[test]
fn snake_case_becomes_camel_case() {
    assert_eq!(camel_case("ignore_case"), "ignoreCase");
    assert_eq!(camel_case("max"), "max");
    assert_eq!(camel_case("_x"), "X");
}
