//! choice, as a specification. Reading marks is specified next to its code.

use super::*;

fn score(config: Value, output: &str, truth: Value) -> Score {
    let scorer: Choice = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(json!(output)).with_ground_truth(truth)).unwrap()
}

fn right(output: &str, truth: Value) -> bool {
    score(json!({"choices": 3}), output, truth).score == Some(1.0)
}

#[test]
fn all_right_choices_have_to_be_marked_and_no_other() {
    assert!(right("ANSWER: A", json!("A")));
    assert!(right("ANSWER: B, A", json!(["A", "B"])));
    assert!(!right("ANSWER: A", json!(["A", "B"])));
    assert!(!right("ANSWER: A, B", json!("A")));
    assert!(!right("It is A", json!("A")));
}

#[test]
fn the_right_choices_are_written_in_many_ways() {
    for truth in [json!("AB"), json!("A,B"), json!("A, B"), json!("b a"), json!(["B", "A"])] {
        assert!(right("ANSWER: A, B", truth));
    }
    let config = json!({"values": ["A", "C"]});
    assert_eq!(score(config, "ANSWER: A, C", json!("B")).score, Some(1.0));
    assert_eq!(score(json!({"choices": 30}), "ANSWER: 3", json!(3)).score, Some(1.0));
}

#[test]
fn a_number_too_large_to_have_a_place_marks_nothing() {
    // On 32 bits and on 64, the numbers whose index would wrap around to that of A.
    for number in [4_294_967_271, 18_446_744_073_709_551_591_u64] {
        assert!(!right(&format!("ANSWER: {number}"), json!("A")), "{number}");
    }
    assert!(!right(&format!("ANSWER: {}", "9".repeat(400)), json!("A")));
}

#[test]
fn perhaps_nothing_is_right() {
    assert!(right("ANSWER: ", json!("")));
    assert!(right("None of them.", json!([])));
    assert!(!right("ANSWER: A", json!("")));
    let none = score(json!({}), "None of them.", json!([]));
    assert_eq!(none.reason.as_deref(), Some("nothing is marked, and nothing should be"));
}

#[test]
fn negate_turns_the_score_around() {
    let config = json!({"negate": true});
    assert_eq!(score(config.clone(), "ANSWER: A", json!("A")).score, Some(0.0));
    assert_eq!(score(config, "ANSWER: A", json!("B")).score, Some(1.0));
}

#[test]
fn the_marks_are_the_label_and_the_reason_names_both() {
    let wrong = score(json!({"choices": ["Rome", "Oslo"]}), "ANSWER: A", json!(["A", "B"]));
    assert_eq!(wrong.label.as_deref(), Some("A"));
    assert_eq!(wrong.reason.as_deref(), Some("marked A, right is A, B"));
    assert_eq!(wrong.meta_value(), Some(json!({"marked": ["A"], "right": ["A", "B"]})));
    let none = score(json!({}), "Rome", json!("A"));
    assert_eq!(none.label, None);
    assert_eq!(none.reason.as_deref(), Some("no choice found after `ANSWER:`; right is A"));
}

#[test]
fn a_right_choice_that_does_not_exist_is_an_error() {
    let scorer: Choice = scorebox_sdk::configure(json!({"choices": 3})).unwrap();
    let case = Case::new(json!("ANSWER: A")).with_ground_truth(json!("D"));
    assert_eq!(
        scorer.score(&case).unwrap_err().message(),
        "`groundTruth` should name choices from A to C, found \"D\""
    );
    let refusal = |config| scorebox_sdk::configure::<Choice>(config).err().unwrap().to_string();
    assert_eq!(
        refusal(json!({"choices": 3, "value": "?"})),
        "`value`: should name choices from A to C, found \"?\""
    );
    assert_eq!(refusal(json!({"choices": []})), "`choices`: should be at least one, found none");
    assert_eq!(
        refusal(json!({"choices": "ABC"})),
        "`choices`: should be a list of choices, or how many there are"
    );
}
