//! Which keys a line may have, how they are spelled, and which spelling wins.

use crate::advice::{Advice, Advised as _, Form};

use super::*;
use crate::contract::{Field, Fields};

/// A JSON value that `key` may have.
fn value_of(key: Key) -> &'static str {
    match key {
        Key::Id | Key::NodeId | Key::Workspace | Key::Skip | Key::Error => "\"a\"",
        Key::Iteration | Key::Attempt => "3",
        Key::LatencyMs => "1.0e2",
        Key::Usage => "{\"inputTokens\": 1}",
        _ => "[1,  2]",
    }
}

#[test]
fn every_spelling_of_every_key_is_read() {
    for key in Key::ALL {
        for spelling in key.spellings() {
            let value = value_of(key);
            let output = if key == Key::Output { "" } else { ",\"output\":0" };
            let case = case(&format!("{{\"{spelling}\": {value} {output}}}"));
            assert_eq!(case.raw(key), Some(value), "{spelling}");
            assert_eq!(case.other_json(), None, "{spelling}");
        }
    }
}

#[test]
fn the_spellings_are_these_and_in_this_order() {
    let spellings = |key: Key| key.spellings().join(" ");
    assert_eq!(
        spellings(Key::GroundTruth),
        "groundTruth ground_truth expected expectedOutput expected_output reference target"
    );
    assert_eq!(spellings(Key::LatencyMs), "latencyMs latency_ms");
    assert_eq!(spellings(Key::OutputSchema), "outputSchema output_schema");
    assert_eq!(spellings(Key::Trace), "trace messages");
    assert_eq!(spellings(Key::Metadata), "metadata meta");
    assert_eq!(spellings(Key::NodeId), "nodeId node_id");
}

#[test]
fn the_strongest_spelling_wins_wherever_it_stands() {
    for key in Key::ALL {
        for (strong, weak) in key.spellings().iter().zip(&key.spellings()[1..]) {
            let (value, output) = (value_of(key), "\"output\":0");
            for line in [
                format!("{{\"{strong}\":{value},\"{weak}\":\"x\",{output}}}"),
                format!("{{\"{weak}\":\"x\",{output},\"{strong}\":{value}}}"),
            ] {
                let case = case(&line);
                assert_eq!(case.raw(key), Some(value), "{line}");
                assert_eq!(case.other_json().unwrap(), format!("{{\"{weak}\":\"x\"}}"));
            }
        }
    }
}

#[test]
fn other_keys_are_kept_as_they_were_read_and_fed_to_no_one() {
    let case = case(r#"{"label": 1.0e2, "output": 0, "a\"\u00e9": {"b" : [ ]}, "target": null}"#);
    assert_eq!(case.other_json().unwrap(), r#"{"label":1.0e2,"a\"é":{"b" : [ ]}}"#);
    assert_eq!(case.fields(), Fields::NONE);
}

#[test]
fn an_escaped_key_is_the_key_that_it_spells() {
    let case = case(r#"{"\u006futput": 1, "ground\u005ftruth": 2}"#);
    assert_eq!(case.output(), "1");
    assert_eq!(case.field(Field::GroundTruth), Some("2"));
}

#[test]
fn null_is_absent_except_as_output() {
    for key in Key::ALL {
        let case = case(&format!(
            "{{\"{key}\":null{}}}",
            match key {
                Key::Output => "",
                _ => ",\"output\":null",
            }
        ));
        assert_eq!(case.output(), "null");
        assert_eq!(case.raw(key), (key == Key::Output).then_some("null"), "{key}");
        assert_eq!(case.other_json(), None, "{key}");
    }
}

#[test]
fn a_null_leaves_the_place_to_a_weaker_spelling() {
    let case = case(r#"{"output": 0, "groundTruth": null, "target": "t", "expected": null}"#);
    assert_eq!(case.field(Field::GroundTruth), Some("\"t\""));
}

#[test]
fn fields_are_the_bytes_that_were_read() {
    let values = [
        "1.0e2",
        "-0.0",
        "18446744073709551616",
        "1E+400",
        "{ \"a\" :\t1 , \"a\": 2 }",
        r#""\u0041\/\ud800""#,
        "\"é🦀\u{7f}\"",
        "[1 ,2]",
    ];
    for value in values {
        for field in [Field::Input, Field::GroundTruth, Field::Trace, Field::Metadata] {
            let line = format!("{{ \"{}\" :  {value} \t, \"output\":\t{value} }} ", field.key());
            let case = case(&line);
            assert_eq!((case.field(field), case.output()), (Some(value), value));
            assert_eq!(case.json(), line);
            let range = case.json().as_bytes().as_ptr_range();
            assert!(range.contains(&case.output().as_ptr()), "a slice, not a copy");
        }
    }
}

#[test]
fn a_scorer_sees_only_what_it_reads() {
    let line = r#"{"output":0,"input":1,"groundTruth":2,"context":3,"latencyMs":4,"outputSchema":5,
        "trace":6,"usage":{"inputTokens":7},"metadata":8,"baseline":9,"id":"i"}"#;
    let case = case(line);
    assert_eq!(case.fields(), Fields::ALL);
    let nothing = case.scorer_input(Fields::NONE);
    assert_eq!(nothing, crate::contract::ScorerInput::of("0"));

    let everything = case.scorer_input(Fields::ALL);
    let parts: Vec<&str> = everything.parts.iter().map(|(_, json)| *json).collect();
    assert_eq!(parts, ["1", "2", "3", "4", "5", "6", r#"{"inputTokens":7}"#, "8", "9"]);
    assert_eq!(everything.latency_ms, Some(4.0));
    assert_eq!(everything.usage.and_then(|usage| usage.input_tokens), Some(7));

    for field in Field::ALL {
        let input = case.scorer_input(Fields::NONE.with(field));
        let parts: Vec<Field> = input.parts.iter().map(|(field, _)| field).collect();
        assert_eq!(parts, [field]);
        assert_eq!(input.latency_ms.is_some(), field == Field::Latency);
        assert_eq!(input.usage.is_some(), field == Field::Usage);
    }
}

#[test]
fn cases_cross_threads() {
    fn crosses<T: Send + Sync>() {}
    crosses::<Case>();
    fn moves<T: Send>() {}
    moves::<CaseReader>();
}

#[test]
fn the_builder_makes_the_case_that_the_line_would_be() {
    let built = Case::builder()
        .json(Key::Output, " [1.0, 2] ")
        .text(Key::GroundTruth, "say \"Paris\"\n")
        .text(Key::Id, "seven")
        .json(Key::Usage, r#"{"costUsd": 0.5}"#)
        .ordinal(6)
        .build()
        .unwrap();
    assert_eq!(built.output(), "[1.0, 2]");
    assert_eq!(built.field(Field::GroundTruth), Some(r#""say \"Paris\"\n""#));
    assert_eq!((built.id(), built.ordinal(), built.line()), ("seven", 6, 0));
    assert_eq!(built.usage().unwrap().cost_usd, Some(0.5));
}

#[test]
fn the_builder_takes_only_whole_documents() {
    for json in ["Paris", "1,\"id\":2", "", "1}", "\"a"] {
        let bad = Case::builder().json(Key::Output, json).build().unwrap_err();
        assert_eq!(
            bad.to_string(),
            format!("<case>: `output` must be one JSON document; found the text {json}")
        );
        assert_eq!(bad.advice(), Some(Advice::Write(Form::QuotedText)));
    }
    let empty = Case::builder().build().unwrap_err();
    assert_eq!(empty.to_string(), "<case>: no `output`; the object is empty");
}
