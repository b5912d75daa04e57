//! Lines that are not cases: the messages about them, and their positions.

use crate::advice::{Advice, Advised as _, Conversion, Form};

use super::*;

/// The message about `line`, and what to do about it.
fn said(line: &str) -> (String, Option<Advice>) {
    let bad = bad(line);
    (bad.to_string(), bad.advice())
}

#[test]
fn what_is_not_json_is_placed_at_its_character() {
    assert_eq!(
        said(r#"{"output":1 "id":2}"#).0,
        "cases.jsonl:7:13: not valid JSON: expected `,` or `}`"
    );
    assert_eq!(said(r#"{"é":"é" 1}"#).0, "cases.jsonl:7:10: not valid JSON: expected `,` or `}`");
    assert_eq!(said(r#"{"output":1}}"#).0, "cases.jsonl:7:13: not valid JSON: trailing characters");
    assert_eq!(said("{\"output\":1,}").0, "cases.jsonl:7:13: not valid JSON: trailing comma");
    assert_eq!(said("hello").0, "cases.jsonl:7:1: not valid JSON: expected value");
    for line in [
        "{\"output\":01}",
        "{\"output\":+1}",
        "{\"output\":\"\t\"}",
        "{\"output\":\"\\x\"}",
        "{output:1}",
    ] {
        assert!(matches!(bad(line).reason, BadCaseReason::NotJson { .. }), "{line}");
    }
}

#[test]
fn a_document_of_many_lines_is_placed_in_its_own_line() {
    assert_eq!(
        said("{\n  \"output\": 1,\n  \"id\" 2\n}").0,
        "cases.jsonl:9:8: not valid JSON: expected `:`"
    );
    assert_eq!(case("{\n  \"output\":\n 1\n}").output(), "1");
}

#[test]
fn the_usual_causes_have_advice() {
    for (line, advice) in [
        ("{", Advice::Convert(Conversion::DocumentToLine)),
        ("[{\"output\":1}]", Advice::Convert(Conversion::ArrayToLines)),
        ("{\"output\":NaN}", Advice::Write(Form::NullForNan)),
        ("{\"output\":Infinity}", Advice::Write(Form::NullForNan)),
        ("{\"output\":None}", Advice::Convert(Conversion::PythonToJson)),
        ("{'output':1}", Advice::Write(Form::DoubleQuotes)),
        ("\u{feff}{\"output\":1}", Advice::Convert(Conversion::WithoutMarks)),
    ] {
        assert_eq!(said(line).1, Some(advice), "{line}");
    }
}

#[test]
fn a_mark_that_cannot_be_seen_is_named() {
    assert_eq!(
        said("\u{feff}{\"output\":1}").0,
        "cases.jsonl:7:1: not valid JSON: there is a byte order mark (U+FEFF)"
    );
}

#[test]
fn what_is_json_but_not_an_object_is_named() {
    for (line, found) in [
        ("[1]", "an array"),
        ("1.5", "the number 1.5"),
        ("\"text\"", "the string \"text\""),
        ("null", "null"),
        ("true", "true"),
    ] {
        let message = format!("cases.jsonl:7:1: a case must be a JSON object; found {found}");
        assert_eq!(said(line).0, message);
    }
}

#[test]
fn a_missing_output_lists_the_keys_and_how_to_map_one() {
    assert_eq!(said("{}").0, "cases.jsonl:7: no `output`; the object is empty");
    let map = |member: Option<&str>| {
        Some(Advice::Map { part: "output".to_owned(), member: member.map(str::to_owned) })
    };
    let (message, advice) = said(r#"{"prompt":1,"completion":2,"\u001b[2J":3}"#);
    assert_eq!(
        message,
        "cases.jsonl:7: no `output`; found the keys `prompt`, `completion`, `\\u{1b}[2J`"
    );
    assert_eq!(advice, map(Some("completion")));
    assert_eq!(said(r#"{"question":1,"Output":1}"#).1, map(Some("Output")));
    assert_eq!(said(r#"{"question":1}"#).1, map(None));
    let many: Vec<String> = (0..1000).map(|key| format!("\"k{key}\":0")).collect();
    let message = said(&format!("{{{}}}", many.join(","))).0;
    assert!(message.ends_with("`k10`, `k11`, `…`"), "{message}");
}

#[test]
fn the_same_key_twice_is_an_error_known_or_not_escaped_or_not() {
    for (line, key, column) in [
        (r#"{"output":1,"output":2}"#, "output", 14),
        (r#"{"output":1,"expected":1,"expected":1}"#, "expected", 27),
        (r#"{"output":1,"target":null,"target":null}"#, "target", 28),
        (r#"{"output":1,"x":1,"x":1}"#, "x", 20),
        (r#"{"output":1,"\u006futput":2}"#, "output", 27),
        (r#"{"x":1,"\u0078":2,"output":1}"#, "x", 17),
    ] {
        let message = format!("cases.jsonl:7:{column}: the key `{key}` appears twice");
        assert_eq!(said(line).0, message);
    }
}

#[test]
fn many_keys_do_not_make_the_search_for_duplicates_slow() {
    let keys: Vec<String> = (0..50_000).map(|key| format!("\"k{key}\":0")).collect();
    let keys = keys.join(",");
    let start = std::time::Instant::now();
    assert_eq!(case(&format!("{{\"output\":0,{keys}}}")).output(), "0");
    for again in ["k3", "k49999"] {
        let reason = bad(&format!("{{\"output\":0,{keys},\"{again}\":0}}")).reason;
        assert_eq!(reason, BadCaseReason::DuplicateKey { key: again.to_owned() });
    }
    assert!(start.elapsed().as_secs() < 20);
}

#[test]
fn a_key_that_is_not_unicode_is_an_error_and_a_value_is_not() {
    let message = said(r#"{"output":1,"\ud800":2}"#).0;
    assert!(message.contains("not valid JSON"), "{message}");
    assert_eq!(case(r#"{"output":"\ud800"}"#).output(), r#""\ud800""#);
}

#[test]
fn hostile_nesting_is_an_error_and_no_overflow() {
    const DEEP: usize = 100_000;
    let closed = |open: &str, close: &str| open.repeat(DEEP) + "0" + &close.repeat(DEEP);
    let arrays = closed("[", "]");
    let objects = closed("{\"a\":", "}");
    for line in [
        arrays.clone(),
        "[".repeat(DEEP),
        "{\"a\":".repeat(DEEP),
        format!("{{\"output\":{}", "[".repeat(DEEP)),
    ] {
        let reason = bad(&line).reason;
        let expected =
            matches!(reason, BadCaseReason::NotJson { .. } | BadCaseReason::NotAnObject { .. });
        assert!(expected, "{reason}");
    }
    for line in [format!("{{\"output\":{arrays}}}"), format!("{{\"x\":{objects},\"output\":0}}")] {
        assert_eq!(bad(&line).reason, BadCaseReason::TooDeep { limit: MAX_DEPTH });
    }
    let mapping =
        Mapping::parse([format!("output={}", "/a".repeat(20)), "input=/a/0/1".to_owned()]);
    let location = Location::new("cases.jsonl", 1);
    assert!(Case::parse(objects, 0, &mapping.unwrap(), location).is_err());
}

#[test]
fn nesting_is_allowed_up_to_the_limit() {
    let line = |depth: usize| format!("{{\"output\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    assert!(case(&line(MAX_DEPTH - 1)).output().starts_with("[["));
    assert_eq!(
        bad(&line(MAX_DEPTH)).to_string(),
        format!("cases.jsonl:7:{}: nested deeper than 127 levels", 11 + MAX_DEPTH - 1)
    );
}
