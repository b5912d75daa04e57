//! equals, as a specification.

use super::*;

fn score(config: Value, output: Value, truth: Value) -> Score {
    let scorer: Equals = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(output).with_ground_truth(truth)).unwrap()
}

fn equals(output: Value, truth: Value) -> bool {
    score(json!({}), output, truth).score == Some(1.0)
}

fn reason(output: Value, truth: Value) -> String {
    score(json!({}), output, truth).reason.unwrap()
}

#[test]
fn values_are_equal_as_json() {
    assert!(equals(json!({"a": [1, null]}), json!({"a": [1.0, null]})));
    assert!(equals(json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1})));
    assert!(!equals(json!({"a": 1}), json!({"a": 1, "b": null})));
    assert!(!equals(json!("é"), json!("e\u{301}")));
    assert!(!equals(json!("a "), json!("a")));
    assert!(!equals(json!(1), json!(true)));
}

#[test]
fn a_text_that_holds_an_object_or_a_list_is_compared_by_its_content() {
    // From promptfoo's tests of `equals`.
    assert!(equals(json!("{\"foo\":\"bar\"}"), json!({"foo": "bar"})));
    assert!(!equals(json!("{\"foo\":\"baz\"}"), json!({"foo": "bar"})));
    assert!(!equals(json!("hello world"), json!({"foo": "bar"})));
    // Either side may be the text.
    assert!(equals(json!({"a": 1, "b": 2}), json!("{\"b\": 2, \"a\": 1}")));
    assert!(equals(json!(" [1, 2] "), json!([[1, 2], "x"])));
    // Numbers are read exactly, even one that a fast reader would round to its neighbour.
    assert!(equals(json!(0.9452706955539223), json!("0.9452706955539223")));
    let never = score(json!({"parse": "never"}), json!("{\"a\":1}"), json!({"a": 1}));
    assert_eq!(never.score, Some(0.0));
    // Two texts are compared as texts.
    assert!(!equals(json!("{\"a\": 1}"), json!("{\"a\":1}")));
}

#[test]
fn a_text_equals_a_number_or_a_boolean_that_is_written_so() {
    // promptfoo: `String(value) === output`.
    assert!(equals(json!("42"), json!(42)));
    assert!(equals(json!("42"), json!(42.0)));
    assert!(equals(json!("-0.5"), json!(-0.5)));
    assert!(equals(json!("true"), json!(true)));
    assert!(equals(json!(false), json!(["false"])));
    assert!(!equals(json!("42.0"), json!(42)));
    assert!(!equals(json!(" 42"), json!(42)));
    assert!(!equals(json!("True"), json!(true)));
    assert!(!equals(json!("1"), json!(true)));
    assert!(!equals(json!({"a": "1"}), json!({"a": 1})));
    let never = score(json!({"parse": "never"}), json!("42"), json!(42));
    assert_eq!(never.score, Some(0.0));
}

#[test]
fn null_is_an_expected_value_only_among_values() {
    let refused = scorebox_sdk::configure::<Equals>(json!({"value": null})).err().unwrap();
    assert_eq!(
        refused.to_string(),
        "`value` is null; to expect JSON `null`, write `\"values\": [null]`; to use the ground truth, \
         leave the key out"
    );
    let scorer: Equals = scorebox_sdk::configure(json!({"values": [null]})).unwrap();
    assert_eq!(scorer.score(&Case::new(json!(null))).unwrap().score, Some(1.0));
    assert_eq!(scorer.score(&Case::new(json!("null"))).unwrap().score, Some(0.0));
}

#[test]
fn a_list_means_any_one_or_the_whole_list() {
    assert!(equals(json!({"a": 1}), json!([{"a": 2}, {"a": 1}])));
    assert!(equals(json!([1, 2]), json!([1, 2])));
    assert!(equals(json!([]), json!([])));
    assert!(!equals(json!([1]), json!([1, 2])));
    let values = score(json!({"values": [[1], null]}), json!(null), json!("x"));
    assert_eq!(values.score, Some(1.0));
    let value = score(json!({"value": [1, 2]}), json!(1), json!("x"));
    assert_eq!(value.score, Some(0.0));
}

#[test]
fn the_first_difference_is_named() {
    let differs = score(
        json!({}),
        json!({"items": [{"price": 3}, {"price": 5}]}),
        json!({"items": [{"price": 3}, {"price": 4}]}),
    );
    assert_eq!(differs.reason.as_deref(), Some("differs at items.1.price: is 5, expected 4"));
    assert_eq!(differs.meta_value(), Some(json!({"path": ["items", 1, "price"]})));
    assert_eq!(reason(json!({"a": 1}), json!({"b": 1})), "differs at a: is 1, expected nothing");
    assert_eq!(
        reason(json!({"a": [1]}), json!({"a": [1, 2]})),
        "differs at a.1: is nothing, expected 2"
    );
    assert_eq!(reason(json!(1), json!("2")), "is 1, expected \"2\"");
    assert_eq!(reason(json!(1), json!([2, 3])), "1 equals none of 2 expected values");
    assert_eq!(reason(json!(1), json!(1.0)), "1 equals the expected value");
}

#[test]
fn negate_turns_the_score_around() {
    let config = json!({"negate": true});
    assert_eq!(score(config.clone(), json!(1), json!(1)).score, Some(0.0));
    let differs = score(config, json!("hello world"), json!({"foo": "bar"}));
    assert_eq!(differs.score, Some(1.0));
    assert_eq!(differs.reason.as_deref(), Some("is \"hello world\", expected {\"foo\":\"bar\"}"));
}

#[test]
fn without_an_expected_value_there_is_no_score() {
    let scorer: Equals = scorebox_sdk::configure(json!({})).unwrap();
    let error = scorer.score(&Case::new(json!("a"))).unwrap_err();
    assert_eq!(
        error,
        ScoreError::invalid_input(
            "the case has no `groundTruth`, which this scorer needs, and the configuration has no `value` in its place"
        )
    );
}
