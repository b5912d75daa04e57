//! Lines of another shape, read through a mapping.

use crate::advice::{Advice, Advised as _, Form};

use super::*;
use crate::contract::Field;

/// Reads `line` with `rules`.
fn mapped(rules: &[&str], line: &str) -> Result<Case, BadCase> {
    Case::parse(line, 0, &Mapping::parse(rules).unwrap(), Location::new("cases.jsonl", 7))
}

#[test]
fn values_are_found_where_the_pointers_say_and_are_the_bytes_that_were_read() {
    let line = r#"{"response": {"choices": [ {"text" : [1.0,  2]} ], "ms": 1e1}, "q/a": {"~": "x"},
        "run": {"n": 3, "id": 18446744073709551615}}"#;
    let rules = [
        "output=/response/choices/0/text",
        "latencyMs=/response/ms",
        "groundTruth=/q~1a/~0",
        "iteration=/run/n",
        "id=/run/id",
    ];
    let case = mapped(&rules, line).unwrap();
    assert_eq!(case.output(), "[1.0,  2]");
    assert_eq!(case.latency_ms(), Some(10.0));
    assert_eq!(case.field(Field::GroundTruth), Some("\"x\""));
    assert_eq!((case.iteration(), case.id()), (3, "18446744073709551615"));
}

#[test]
fn a_mapped_key_wins_over_members_that_spell_it() {
    for line in [
        r#"{"groundTruth": "named", "target": "alias", "gold": "mapped", "output": 0}"#,
        r#"{"gold": "mapped", "output": 0, "groundTruth": "named", "target": "alias"}"#,
    ] {
        let case = mapped(&["groundTruth=/gold"], line).unwrap();
        assert_eq!(case.field(Field::GroundTruth), Some("\"mapped\""));
        assert_eq!(case.other_json().unwrap(), r#"{"groundTruth":"named","target":"alias"}"#);
    }
}

#[test]
fn a_pointer_to_nothing_leaves_the_key_absent() {
    let case = mapped(&["input=/a/b"], r#"{"a": {}, "input": "named", "output": 0}"#).unwrap();
    assert_eq!(case.field(Field::Input), None);
    let null = mapped(&["input=/a"], r#"{"a": null, "output": 0}"#).unwrap();
    assert_eq!(null.field(Field::Input), None);
    let output = mapped(&["output=/a"], r#"{"a": null}"#).unwrap();
    assert_eq!(output.output(), "null");
}

#[test]
fn an_output_that_the_pointer_misses_is_named() {
    let bad = mapped(&["output=/response/text"], r#"{"response": {}, "output": 1}"#).unwrap_err();
    assert_eq!(
        bad.to_string(),
        "cases.jsonl:7: no output: nothing at `/response/text`; found the keys `response`, `output`"
    );
    assert_eq!(bad.advice(), Some(Advice::Write(Form::PointerFromLine)));
}

#[test]
fn a_member_that_is_only_partly_used_stays_among_the_others() {
    let line = r#"{"whole": 1, "part": {"x": 2, "y": 3}}"#;
    let case = mapped(&["output=/whole", "input=/part/x"], line).unwrap();
    assert_eq!(case.other_json().unwrap(), r#"{"part":{"x": 2, "y": 3}}"#);
}

#[test]
fn two_keys_may_share_a_value_and_the_empty_pointer_is_the_whole_line() {
    let line = " {\"a\": 1} ";
    let case = mapped(&["output=/a", "baseline=/a", "metadata="], line).unwrap();
    assert_eq!((case.output(), case.field(Field::Baseline)), ("1", Some("1")));
    assert_eq!(case.field(Field::Metadata), Some("{\"a\": 1}"));
}

#[test]
fn escaped_keys_are_found_on_the_way() {
    let case = mapped(&["output=/abc/d"], r#"{"\u0061bc": {"\u0064": 1}}"#).unwrap();
    assert_eq!(case.output(), "1");
}

#[test]
fn a_key_that_is_twice_on_the_way_is_an_error_at_its_place() {
    let bad = mapped(&["output=/a/b"], r#"{"a": {"b": 1, "b": 2}}"#).unwrap_err();
    assert_eq!(bad.to_string(), "cases.jsonl:7:21: the key `b` appears twice");
    let deeper =
        mapped(&["output=/a/1/b/c"], r#"{"a": [0, {"b": {"c": 1, "c": 2}}]}"#).unwrap_err();
    assert_eq!(deeper.column, Some(31));
    let surrogate = mapped(&["output=/a/b"], r#"{"a": {"\ud800": 1, "b": 2}}"#).unwrap_err();
    assert!(surrogate.to_string().starts_with("cases.jsonl:7:15: not valid JSON: "), "{surrogate}");
}

#[test]
fn types_are_checked_as_for_named_keys() {
    let bad = mapped(&["latencyMs=/t/ms"], r#"{"output": 0, "t": {"ms": "fast"}}"#).unwrap_err();
    assert_eq!(
        bad.to_string(),
        "cases.jsonl:7:27: `latencyMs` must be a finite number of 0 or more; found the string \"fast\""
    );
}
