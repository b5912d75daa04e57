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
fn references_are_followed_as_far_as_they_count() {
    let chain = |links: usize| {
        let link = |at: usize| (at.to_string(), json!({"$ref": format!("#/$defs/{}", at + 1)}));
        let definitions: Schema = (1..links).map(link).collect();
        json!({"$ref": "#/$defs/1", "$defs": definitions})
    };
    assert!(Described::by(&chain(MAX_PARTS)).is_whole());
    // So many that a function that recurses for each would overflow the stack.
    for links in [MAX_PARTS + 1, 100_000] {
        let chain = chain(links);
        let described = Described::by(&chain);
        assert!(!described.is_whole());
        assert_eq!(described.schemas().len(), MAX_PARTS);
    }
}

#[test]
fn alternatives_count_in_their_order_up_to_a_bound() {
    let part = |at: usize| json!({"properties": {format!("k{at:06}"): {}}});
    let parts: Vec<Value> = (0..300_000).map(part).collect();
    let schema = json!({"anyOf": parts});
    let described = Described::by(&schema);
    assert!(!described.is_whole());
    assert!(!Described::by(&json!({"anyOf": vec![true; MAX_PARTS]})).is_whole());
    assert_eq!(described.names().len(), MAX_PARTS - 1, "with the whole");
    assert!(described.member("k003998").is_some() && described.member("k003999").is_none());
    let properties: Schema = (0..2 * MAX_PARTS).map(|at| (at.to_string(), json!({}))).collect();
    let schema = json!({"properties": properties});
    let described = Described::by(&schema);
    assert!(described.is_whole() && described.member("7999").is_some());
    assert_eq!(described.names().len(), MAX_PARTS);
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
        (json!({"patternProperties": {"^\\d+$": {}}, "additionalProperties": false}), true),
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

#[test]
fn the_values_of_a_map_are_described_by_what_it_says_of_all() {
    let rule = json!({"properties": {"min": {}}});
    let names = |schema: Value, key: &str| {
        let described = Described::by(&schema);
        let member = described.member(key)?;
        Some(member.names().into_iter().map(str::to_owned).collect::<Vec<_>>())
    };
    let of_rules = Some(vec!["min".to_owned()]);
    let map = json!({"type": "object", "additionalProperties": rule});
    assert_eq!(names(map.clone(), "any"), of_rules);
    let by_number = json!({"patternProperties": {"^\\d+$": rule}, "additionalProperties": false});
    assert_eq!(names(by_number, "1"), of_rules);
    let beside = json!({"properties": {"max": {}}, "additionalProperties": rule});
    assert_eq!(names(beside.clone(), "any"), of_rules);
    assert_eq!(names(beside, "max"), Some(vec![]));
    // One of the alternatives allows everything.
    let free = Some(vec![]);
    assert_eq!(names(json!({"anyOf": [map, {"type": "object"}]}), "any"), free);
    assert_eq!(names(json!({"patternProperties": {"^a$": rule}}), "b"), free);
    assert_eq!(names(json!({"additionalProperties": true}), "any"), free);
    assert_eq!(names(json!({"properties": {"a": {}}}), "b"), None);
}

#[test]
fn a_key_has_another_name_only_if_that_alone_is_listed() {
    let schema = json!({
        "properties": {"minWords": {}, "as_is": {}, "asIs": {}},
        "additionalProperties": {"type": "number"},
    });
    let described = Described::by(&schema);
    assert_eq!(described.renamed("min_words").as_deref(), Some("minWords"));
    for key in ["minWords", "as_is", "other_key"] {
        assert_eq!(described.renamed(key), None);
    }
}
