//! exact-match, as a specification.

use serde_json::{Value, json};

use super::*;

fn score(config: Value, output: Value, ground_truth: Value) -> Score {
    let scorer: ExactMatch = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(output).with_ground_truth(ground_truth)).unwrap()
}

fn matches(config: Value, output: Value, ground_truth: Value) -> bool {
    score(config, output, ground_truth).score == Some(1.0)
}

#[test]
fn values_are_equal_as_json() {
    assert!(matches(json!({}), json!("hello"), json!("hello")));
    assert!(matches(json!({}), json!(1), json!(1.0)));
    assert!(matches(json!({}), json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1.0})));
    assert!(!matches(json!({}), json!("hello"), json!("Hello")));
    assert!(!matches(json!({}), json!("hello"), json!("hello ")));
    assert!(!matches(json!({}), json!("1"), json!(1)));
    assert!(!matches(json!({}), json!({"a": 1}), json!("{\"a\": 1}")));
}

#[test]
fn unicode_is_not_normalized() {
    assert!(!matches(json!({}), json!("é"), json!("e\u{301}")));
    assert!(matches(json!({"ignoreCase": true}), json!("STRASSE Ä"), json!("strasse ä")));
}

#[test]
fn options_reach_every_string_but_no_key() {
    let config = json!({"ignoreCase": true, "trim": true});
    assert!(matches(config.clone(), json!({"a": [" Yes\n"]}), json!({"a": ["yes"]})));
    assert!(!matches(config, json!({"A": 1}), json!({"a": 1})));
}

#[test]
fn a_list_means_any_one_or_the_whole_list() {
    assert!(matches(json!({}), json!("b"), json!(["a", "b"])));
    assert!(matches(json!({}), json!(["a", "b"]), json!(["a", "b"])));
    assert!(matches(json!({"ignoreCase": true}), json!(["A", "b"]), json!(["a", "B"])));
    assert!(matches(json!({}), json!([]), json!([])));
    assert!(!matches(json!({}), json!(["a"]), json!(["a", "b"])));
}

#[test]
fn configured_answers_come_before_the_ground_truth() {
    assert!(matches(json!({"value": "x"}), json!("x"), json!("y")));
    assert!(!matches(json!({"values": ["x", null]}), json!("y"), json!("y")));
    assert!(matches(json!({"values": ["x", null]}), json!(null), json!("y")));
    assert!(!matches(json!({"value": ["x", "y"]}), json!("x"), json!("x")));
}

#[test]
fn negate_turns_the_score_around() {
    assert!(!matches(json!({"negate": true}), json!("a"), json!("a")));
    assert!(matches(json!({"negate": true}), json!("a"), json!("b")));
}

#[test]
fn normalized_leaves_out_case_punctuation_articles_and_spaces() {
    let config = json!({"mode": "normalized"});
    assert!(matches(config.clone(), json!("The  Eiffel Tower."), json!("eiffel tower")));
    assert!(matches(config.clone(), json!("an answer"), json!(["other", "Answer!"])));
    assert!(!matches(config.clone(), json!("the tower of Paris"), json!("tower Paris")));
    assert!(matches(config.clone(), json!(42), json!("42.")));
    assert!(matches(config.clone(), json!({"a": "The cat"}), json!({"a": "cat"})));
    // As in SQuAD, an empty answer equals an empty one, and a decimal point is punctuation.
    assert!(matches(config.clone(), json!("the"), json!("")));
    assert!(matches(config, json!("3.14"), json!("314")));
}

#[test]
fn words_part_at_hyphens_and_know_numbers() {
    let config = json!({"mode": "words"});
    assert!(matches(config.clone(), json!("(3.14)"), json!("3.14")));
    assert!(!matches(config.clone(), json!("3.14"), json!("314")));
    assert!(matches(config.clone(), json!("10.0 cats"), json!("the 10 Cats")));
    assert!(matches(config.clone(), json!("well known"), json!("well-known")));
    assert!(!matches(config.clone(), json!("foo1"), json!("foo")));
    assert!(matches(config, json!("foo"), json!(["foobar", "boofar", "foo"])));
}

#[test]
fn words_of_nothing_but_articles_and_punctuation_are_compared_as_they_are() {
    let config = json!({"mode": "words"});
    for answer in ["A", "the", "+", "(a) an"] {
        assert!(matches(config.clone(), json!(answer), json!(answer)), "{answer}");
    }
    assert!(matches(config.clone(), json!(" a\n"), json!("A")));
    assert!(!matches(config.clone(), json!("the"), json!("A")));
    assert!(!matches(config.clone(), json!("+"), json!("-")));
    assert!(!matches(config.clone(), json!("B"), json!("A")));
    assert!(!matches(config.clone(), json!("the cat"), json!("the")));
    // As in Inspect, an empty expected answer equals no output.
    assert!(!matches(config.clone(), json!("cat"), json!("")));
    assert!(!matches(config.clone(), json!("A"), json!(" ")));
    assert!(!matches(config, json!(" "), json!("")));
}

// The values are from `ExactMatch` of autoevals 0.4.1.
#[test]
fn a_string_may_be_read_as_the_json_that_it_holds() {
    let config = json!({"parseJson": true});
    assert!(matches(config.clone(), json!({"a": 1, "b": 2}), json!("{\"a\":1, \"b\":2}")));
    assert!(matches(config.clone(), json!("[1,2]"), json!([1, 2])));
    assert!(!matches(config.clone(), json!("[1,2]"), json!("[1, 2]")));
    assert!(matches(config.clone(), json!("123"), json!(123)));
    assert!(matches(config.clone(), json!(0.5), json!("0.5")));
    assert!(!matches(config.clone(), json!("124"), json!(123)));
    assert!(!matches(config.clone(), json!(true), json!("True")));
    assert!(!matches(config.clone(), json!("{\"a\": "), json!({"a": 1})));
    let folded = json!({"parseJson": true, "ignoreCase": true});
    assert!(matches(folded, json!("{\"K\": \"YES\"}"), json!({"K": "yes"})));
    // Deliberately unlike autoevals: numbers compare by value, and no boolean is a string.
    assert!(matches(config.clone(), json!("1.0"), json!(1)));
    assert!(!matches(config.clone(), json!("true"), json!(true)));
    assert!(!matches(config, json!("[\"1\"]"), json!([1])));
}

#[test]
fn a_string_that_holds_more_than_json_holds_none() {
    let config = json!({"parseJson": true});
    let rows = [
        ("42 or maybe 43", json!(42)),
        ("5 apples", json!(5)),
        ("4 is wrong, the answer is 5", json!(4)),
        ("2026-01-01", json!(2026)),
        ("1.2.3", json!(1.2)),
        ("1,234", json!(1)),
        ("42%", json!(42)),
        ("01", json!(0)),
        ("{} x", json!({})),
        ("{},", json!({})),
        ("[]]", json!([[]])),
        ("{\"a\":1}}", json!({"a": 1})),
        ("{\"a\":1}\n\nActually no: {\"a\":2}", json!({"a": 1})),
    ];
    for (output, truth) in rows {
        assert!(!matches(config.clone(), json!(output), truth.clone()), "{output}");
        assert!(!matches(config.clone(), truth, json!(output)), "{output}");
    }
    assert!(matches(config.clone(), json!("  42\n"), json!(42)));
    assert!(matches(config, json!("{ } \r\n"), json!({})));
}

#[test]
fn null_is_an_expected_answer_only_among_values() {
    let scorer: ExactMatch = scorebox_sdk::configure(json!({"values": [null]})).unwrap();
    assert_eq!(scorer.score(&Case::new(json!(null))).unwrap().score, Some(1.0));
    assert_eq!(scorer.score(&Case::new(json!("null"))).unwrap().score, Some(0.0));
}

#[test]
fn reasons_are_short() {
    let reason = |output, truth| score(json!({}), output, truth).reason.unwrap();
    assert_eq!(reason(json!("a"), json!("a")), "\"a\" equals the expected answer");
    assert_eq!(reason(json!("a"), json!("b")), "\"a\" does not equal \"b\"");
    assert_eq!(reason(json!(1), json!([2, 3])), "1 equals none of 2, 3");
    assert!(reason(json!("a".repeat(5000)), json!("b".repeat(5000))).chars().count() < 200);
}

#[test]
fn without_an_expected_answer_there_is_no_score() {
    let scorer: ExactMatch = scorebox_sdk::configure(json!({})).unwrap();
    let error = scorer.score(&Case::new(json!("a"))).unwrap_err();
    assert_eq!(
        error.message(),
        "the case has no `groundTruth`, which this scorer needs, and the configuration has no `value` in its place"
    );
}
