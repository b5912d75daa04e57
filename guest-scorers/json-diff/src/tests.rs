//! json-diff, as a specification. The figures are from `JSONDiff` of autoevals 0.4.1.

use super::*;

fn score(config: Value, output: Value, truth: Value) -> Score {
    let scorer: JsonDiff = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(output).with_ground_truth(truth)).unwrap()
}

fn check(output: Value, truth: Value, expected: f64) {
    let found = score(json!({}), output.clone(), truth.clone()).score.unwrap();
    assert!((found - expected).abs() < 1e-12, "{output} {truth}: {found}, not {expected}");
}

#[test]
fn objects_are_the_mean_over_the_keys_of_either() {
    check(json!({}), json!({}), 1.0);
    check(json!({"a": 1}), json!({"a": 2}), 2.0 / 3.0);
    check(json!({"a": 1}), json!({"b": {"a": 1}}), 0.0);
    check(
        json!({"mapping": {"a": "foo", "b": "bar"}}),
        json!({"mapping": {"a": "Foo", "b": "Bar"}, "Extra": 5}),
        1.0 / 3.0,
    );
    check(
        json!({"name": "John Smith", "age": 30, "skills": ["python", "javascript"]}),
        json!({"name": "John A. Smith", "age": 31, "skills": ["python", "typescript"]}),
        0.850_945_775_535_939_4,
    );
}

#[test]
fn lists_are_compared_place_by_place() {
    check(json!([]), json!([]), 1.0);
    check(json!([1, 2, 3]), json!([1]), 1.0 / 3.0);
    check(json!([1]), json!([1, 2, 3, 4]), 0.25);
    check(json!("[1, 2]"), json!("[2, 1]"), 2.0 / 3.0);
}

#[test]
fn null_equals_null_and_a_missing_key() {
    check(json!({"a": null}), json!({}), 1.0);
    check(json!({"a": 1}), json!({"a": null}), 0.0);
    check(json!(null), json!(""), 0.0);
    assert_eq!(score(json!({"values": [null]}), json!(null), json!(1)).score, Some(1.0));
}

#[test]
fn truth_values_count_as_numbers() {
    check(json!(true), json!(1), 1.0);
    check(json!(true), json!(false), 0.0);
    check(json!(false), json!(0), 1.0);
}

#[test]
fn texts_that_hold_json_are_compared_as_that() {
    check(json!({"x": "{\"y\": 1}"}), json!({"x": {"y": 1}}), 1.0);
    let preserved = json!({"preserveStrings": true});
    let preserved = score(preserved, json!({"x": "{\"y\": 1}"}), json!({"x": {"y": 1}}));
    assert!((preserved.score.unwrap() - 0.583_333_333_333_333_3).abs() < 1e-12);
    // A number in a text stays text.
    check(json!("1"), json!("1.0"), 1.0 / 3.0);
    check(json!("["), json!("[]"), 1.0 / 3.0);
    // Of a repeated key, the last one counts.
    check(json!("{\"a\": 1, \"a\": 2}"), json!({"a": 2}), 1.0);
    // Python reads these as JSON, and autoevals gives 0.625; here they are texts.
    check(json!("[NaN]"), json!("[NaN]x"), 5.0 / 6.0);
}

#[test]
fn values_of_two_kinds_are_compared_as_compact_json() {
    check(json!({"a": 1}), json!("a"), 1.0 / 7.0 * 3.0);
    check(json!("5"), json!(5), 1.0 / 3.0);
    check(json!(true), json!("true"), 2.0 / 3.0);
    check(json!(1.0), json!("1.0"), 0.6);
    check(json!({"é": 1}), json!("{é"), 0.583_333_333_333_333_3);
    check(json!([1e16]), json!({"a": 1e-5}), 0.181_818_181_818_181_77);
    check(json!([]), json!({}), 0.0);
}

#[test]
fn a_list_is_the_expected_list_and_its_items_of_the_outputs_kind_count_too() {
    // No item is an object, so the whole list is the expected value.
    check(json!({"a": 1}), json!(["a", 1]), 0.571_428_571_428_571_4);
    check(json!({"a": 1}), json!([{"a": 2}, {"a": 1}]), 1.0);
    check(json!("abc"), json!(["xyz", "abd"]), 2.0 / 3.0);
    // The items are texts but the output is a list, so they are not alternatives.
    check(json!(["abcdefghij"]), json!(["abcdefghij", "b", "c", "d"]), 0.25);
    check(json!([1, 2]), json!([[1, 2], [3]]), 1.0);
    let value = score(json!({"value": ["xyz", "abd"]}), json!("abc"), json!(1));
    assert!(value.score.unwrap() < 0.5);
}

#[test]
fn the_least_alike_part_is_named() {
    let one =
        score(json!({}), json!({"a": 1, "b": "x", "c": 3}), json!({"a": 1, "b": "y", "c": 1}));
    assert_eq!(one.reason.as_deref(), Some("2 of 3 parts differ, most of all `b` (0.00)"));
    assert_eq!(one.meta_value(), Some(json!({"parts": [["a", 1.0], ["b", 0.0], ["c", 0.5]]})));
    assert_eq!(
        score(json!({}), json!([1]), json!([1.0])).reason.as_deref(),
        Some("equal to the expected value")
    );
    assert_eq!(
        score(json!({}), json!("ab"), json!("ac")).reason.as_deref(),
        Some("similarity 0.50")
    );
    let many: serde_json::Map<_, _> = (0..500).map(|n| (n.to_string(), json!(n))).collect();
    let many = score(json!({}), json!(many), json!({})).meta_value().unwrap();
    assert_eq!(many["parts"].as_array().unwrap().len(), 100);
}

#[test]
fn negate_turns_the_score_around() {
    assert_eq!(score(json!({"negate": true}), json!("ab"), json!("ac")).score, Some(0.5));
}

#[test]
fn texts_inside_texts_are_read_to_a_bounded_depth() {
    // Each level is a list with a text that contains the next one.
    let nest = |inner: Value| (0..100).fold(json!(inner.to_string()), |value, _| json!([value]));
    let deep = nest(nest(nest(nest(nest(json!([1]))))));
    check(deep.clone(), deep, 1.0);
}

#[test]
fn without_an_expected_value_there_is_no_score() {
    let scorer: JsonDiff = scorebox_sdk::configure(json!({})).unwrap();
    let error = scorer.score(&Case::new(json!("a"))).unwrap_err();
    assert_eq!(
        error,
        ScoreError::invalid_input(
            "the case has no `groundTruth`, which this scorer needs, and the configuration has no `value` in its place"
        )
    );
}
