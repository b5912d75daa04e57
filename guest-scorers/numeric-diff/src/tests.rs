//! numeric-diff, as a specification. The figures were computed by hand; those of the first test are also in autoevals'
//! tests.

use serde_json::Value;

use super::*;

fn score(config: Value, output: Value, truth: Value) -> Score {
    let scorer: NumericDiff = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(output).with_ground_truth(truth)).unwrap()
}

fn failure(output: Value, truth: Value) -> String {
    let scorer: NumericDiff = scorebox_sdk::configure(json!({})).unwrap();
    let case = Case::new(output).with_ground_truth(truth);
    scorer.score(&case).unwrap_err().to_string()
}

#[test]
fn the_score_is_one_minus_the_distance_over_the_sum() {
    for (output, expected, closeness) in [
        (0.0, 0.0, 1.0),
        (0.0, 1.0, 0.0),
        (1.0, 2.0, 2.0 / 3.0),
        (-1.0, 2.0, 0.0),
        (105.0, 100.0, 200.0 / 205.0),
    ] {
        let score = score(json!({}), json!(output), json!(expected)).score.unwrap();
        assert!((score - closeness).abs() < 1e-12, "{output} {expected}");
    }
}

#[test]
fn the_largest_and_the_smallest_numbers_stay_in_range() {
    assert_eq!(of_numbers(f64::MAX, f64::MAX), 1.0);
    assert_eq!(of_numbers(f64::MAX, -f64::MAX), 0.0);
    assert_eq!(of_numbers(5e-324, 0.0), 0.0);
    assert_eq!(of_numbers(f64::MAX, 5e-324), 0.0);
}

#[test]
fn a_truth_value_is_not_a_number() {
    // autoevals reads it as 1 or 0, as Python does.
    assert!(failure(json!(true), json!(1)).starts_with("`output` should be a number"));
    assert!(failure(json!(1), json!(false)).starts_with("`groundTruth` should be a number"));
}

#[test]
fn a_distance_beyond_all_numbers_is_not_in_the_reason() {
    let far = score(json!({}), json!(-1e308), json!(1e308));
    assert_eq!(far.score, Some(0.0));
    assert_eq!(far.reason.as_deref(), Some("-1e308 is too far from 1e308 to say how far"));
}

#[test]
fn a_text_may_be_the_number() {
    assert_eq!(score(json!({}), json!(" 42\n"), json!("42.0")).score, Some(1.0));
    assert_eq!(
        failure(json!("about 42"), json!(42)),
        "`output` should be a number, or text that is one; found \"about 42\" (for a number inside a \
         text there is the scorer numeric-answer)"
    );
    assert!(failure(json!(null), json!(42)).contains("`output`"));
    assert!(failure(json!("NaN"), json!(42)).contains("`output`"));
    assert!(failure(json!(1), json!({"a": 1})).contains("`groundTruth`"));
}

#[test]
fn of_several_numbers_the_closest_counts() {
    let closest = score(json!({}), json!(3), json!([1, "4"]));
    assert!((closest.score.unwrap() - 6.0 / 7.0).abs() < 1e-12);
    assert_eq!(closest.reason.as_deref(), Some("3 is 1 away from 4"));
    assert_eq!(closest.meta_value(), Some(json!({"output": 3.0, "expected": 4.0})));
    assert_eq!(score(json!({"values": [5, 3]}), json!(3), json!(1)).score, Some(1.0));
}

#[test]
fn negate_turns_the_score_around() {
    assert_eq!(score(json!({"negate": true}), json!(0), json!(1)).score, Some(1.0));
}

#[test]
fn a_configured_value_that_is_not_a_number_is_refused() {
    let error = scorebox_sdk::configure::<NumericDiff>(json!({"values": [1, "x"]})).err().unwrap();
    assert!(error.to_string().starts_with("`values[1]` should be a number"), "{error}");
}
