//! numeric-answer, as a specification. Reading numbers and markers is specified next to their code.

use serde_json::Value;

use super::*;

fn score(config: Value, output: Value, truth: Value) -> Score {
    let scorer: NumericAnswer = scorebox_sdk::configure(config).unwrap();
    let case = Case::new(output).with_ground_truth(truth);
    scorer.score(&case).unwrap()
}

fn right(config: Value, output: &str, truth: Value) -> bool {
    score(config, json!(output), truth).score == Some(1.0)
}

#[test]
fn the_final_number_is_compared_by_value() {
    assert!(right(json!({}), "He has <<52-28=24>>24 left.\nA: 24", json!("24")));
    assert!(right(json!({}), "A: 3,000", json!("3000")));
    assert!(right(json!({}), "A: 18.0", json!(18)));
    assert!(!right(json!({}), "24 left\nA: 23", json!("24")));
    assert!(right(json!({}), "$18.", json!("18")));
    assert_eq!(score(json!({}), json!(18), json!("18")).score, Some(1.0));
}

#[test]
fn the_start_of_a_number_is_not_the_number() {
    for (answer, start, number) in
        [("3×10^5", 3, 300_000.0), ("2½", 2, 2.5), ("3 1/2", 3, 3.5), ("5 000", 5, 5000.0)]
    {
        assert!(!right(json!({}), &format!("A: {answer}"), json!(start)), "{answer}");
        assert!(right(json!({}), &format!("A: {answer}"), json!(number)), "{answer}");
    }
    for answer in ["10:30", "10^x", "10/0"] {
        assert!(!right(json!({}), &format!("A: {answer}"), json!(10)), "{answer}");
    }
}

#[test]
fn without_a_marked_answer_the_score_is_0_and_the_option_is_named() {
    let none = score(json!({}), json!("There are 18 apples"), json!(18));
    assert_eq!(none.score, Some(0.0));
    assert!(none.reason.as_ref().unwrap().contains("`fallback = \"last-number\"`"));
    assert_eq!(none.meta_value(), Some(json!({"answer": null, "expected": 18})));
    assert!(right(json!({"fallback": "last-number"}), "There are 18 apples", json!(18)));
}

#[test]
fn what_only_looks_like_a_number_hides_none() {
    let config = json!({"fallback": "last-number"});
    // A commit id that would be too large as a number.
    let commit = "commit 3e8491f fixed it, so there are 42";
    assert!(right(config.clone(), commit, json!(42)));
    assert!(right(json!({}), "A: by 3e8491f it is 42", json!(42)));
    let none = score(config.clone(), json!("see commit 3e8491f"), json!(42));
    assert_eq!(none.meta_value(), Some(json!({"answer": null, "expected": 42})));
    // No answer is infinite.
    let quotient = score(json!({"tolerance": 1}), json!("A: 1e300/1e-300"), json!(42));
    assert_eq!(quotient.meta_value(), Some(json!({"answer": null, "expected": 42})));
    assert!(!right(config.clone(), "From 5 to 10:30", json!(30)));
    assert!(right(config, "From 5 to 10:30", json!(5)));
}

#[test]
fn a_pattern_takes_the_markers_place() {
    let config = json!({"pattern": "(?i)total\\s*=\\s*(\\S+)"});
    assert!(right(config.clone(), "TOTAL = 4, Total = $18", json!(18)));
    assert!(!right(config, "A: 18", json!(18)));
    let named = json!({"pattern": "(apples|pears): (?<answer>\\d+)"});
    assert!(right(named, "pears: 18", json!(18)));
}

#[test]
fn a_text_that_is_a_number_has_its_minus() {
    assert!(right(json!({}), "- 5", json!("- 5")));
    assert!(right(json!({}), "A: -5", json!("- 5")));
    assert!(right(json!({}), "A: - 5", json!(5)));
    let config = json!({"pattern": "total (- ?\\d+)"});
    assert!(right(config, "total - 5", json!(-5)));
}

#[test]
fn the_wider_tolerance_counts() {
    assert!(!right(json!({}), "A: 2.7", json!(2.71)));
    assert!(right(json!({"tolerance": 0.02}), "A: 2.7", json!(2.71)));
    assert!(right(json!({"relativeTolerance": 0.01}), "A: 101", json!(100)));
    assert!(!right(json!({"relativeTolerance": 0.01}), "A: 102", json!(100)));
}

#[test]
fn an_answer_on_the_boundary_of_the_tolerance_counts() {
    let tolerance = json!({"tolerance": 0.1});
    assert!(right(tolerance.clone(), "A: 1.1", json!(1)));
    assert!(right(tolerance.clone(), "A: 0.9", json!(1)));
    assert!(!right(tolerance, "A: 1.10000000000001", json!(1)));
    assert!(right(json!({"relativeTolerance": 0.1}), "A: 3.3", json!(3)));
    // Without a tolerance numbers are equal or not.
    assert!(!right(json!({}), "A: 0.30000000000000004", json!(0.3)));
}

#[test]
fn any_expected_number_will_do() {
    let several = score(json!({}), json!("A: 2"), json!(["1", 2]));
    assert_eq!(several.score, Some(1.0));
    assert_eq!(several.meta_value(), Some(json!({"answer": 2, "expected": 2})));
    assert!(right(json!({"values": [1, "2,000"]}), "A: 2000", json!("unread")));
}

#[test]
fn the_expected_number_may_be_a_worked_solution() {
    assert!(right(json!({}), "A: 72", json!("48+24 = 72\n#### 72")));
}

#[test]
fn negate_turns_the_score_around() {
    let config = json!({"negate": true});
    assert!(!right(config.clone(), "A: 4", json!(4)));
    assert!(right(config.clone(), "A: 5", json!(4)));
    assert!(right(config, "no number", json!(4)));
}

#[test]
fn an_unreadable_ground_truth_gives_no_score() {
    let scorer: NumericAnswer = scorebox_sdk::configure(json!({})).unwrap();
    let case = Case::new(json!("A: 1")).with_ground_truth(json!("many"));
    assert_eq!(
        scorer.score(&case).unwrap_err(),
        ScoreError::invalid_input(
            "`groundTruth` should be a number, or text that states one; found \"many\""
        )
    );
}

#[test]
fn wrong_options_are_refused_by_name() {
    let refusal = |config| {
        let error = scorebox_sdk::configure::<NumericAnswer>(config).err();
        error.expect("a refusal").to_string()
    };
    assert!(
        refusal(json!({"pattern": "("})).starts_with("`pattern` is not a valid regular expression")
    );
    assert!(refusal(json!({"tolerance": -1})).starts_with("`tolerance`: should be 0 or more"));
    assert_eq!(
        refusal(json!({"value": "x"})),
        "`value`: should be a number, or text that states one; found \"x\""
    );
}

#[test]
fn whole_numbers_are_compared_exactly_without_a_tolerance() {
    let (near, large) = ("A: 9007199254740993", 9_007_199_254_740_992_u64);
    let apart = score(json!({}), json!(near), json!(large));
    assert_eq!(apart.score, Some(0.0));
    let reason = "the answer is 9007199254740993, expected 9007199254740992";
    assert_eq!(apart.reason.as_deref(), Some(reason));
    let meta = json!({"answer": 9_007_199_254_740_993_u64, "expected": large});
    assert_eq!(apart.meta_value(), Some(meta));
    assert!(right(json!({}), "A: 9,007,199,254,740,992", json!("9007199254740992")));
    assert!(right(json!({"tolerance": 1}), near, json!(large)));
}

#[test]
fn a_ground_truth_with_another_comma_is_refused() {
    let scorer: NumericAnswer = scorebox_sdk::configure(json!({})).unwrap();
    let case = Case::new(json!("A: 25")).with_ground_truth(json!("2,5"));
    assert!(scorer.score(&case).unwrap_err().message().contains("found \"2,5\""));
}
