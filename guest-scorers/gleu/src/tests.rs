//! gleu, as a specification. The figures are from `sentence_gleu` of NLTK 3.10.4; those with a fraction were also
//! counted by hand.

use serde_json::Value;

use super::*;

const GUIDE: &str =
    "It is a guide to action that ensures that the military will forever heed Party commands";

fn score(config: Value, output: &str, truth: Value) -> Score {
    let scorer: Gleu = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(json!(output)).with_ground_truth(truth)).unwrap()
}

fn value(output: &str, truth: Value) -> f64 {
    score(json!({}), output, truth).score.unwrap()
}

fn close(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-12, "{left} {right}");
}

#[test]
fn the_score_is_the_smaller_of_precision_and_recall() {
    let the = score(json!({}), "the the the the the the the", json!("the cat is on the mat"));
    close(the.score.unwrap(), 2.0 / 22.0);
    assert_eq!(the.reason.as_deref(), Some("runs of words in common: 2 (output 22, reference 18)"));
    let output = "It is a guide to action which ensures that the military always obeys the commands \
                  of the party";
    close(value(output, json!(GUIDE)), 0.439_393_939_393_939_4);
}

#[test]
fn punctuation_and_case_belong_to_words() {
    close(value("The mat.", json!("The mat")), 1.0 / 3.0);
    close(value("THE MAT", json!("the mat")), 0.0);
    close(score(json!({"ignoreCase": true}), "THE MAT", json!("the mat")).score.unwrap(), 1.0);
}

// The figures are from promptfoo's `calculateGleuScore`, which ignores case and full stops at the end of words.
#[test]
fn case_and_full_stops_can_be_left_out() {
    let config = || json!({"ignoreCase": true, "ignoreFullStops": true});
    let value = |output, truth| score(config(), output, json!(truth)).score.unwrap();
    close(value("The mat...", "the mat"), 1.0);
    close(value("v1.5. x", "V1.5 x"), 1.0);
    close(value("the the the the the the the", "The cat sat on the mat."), 2.0 / 22.0);
    let output =
        "It is to insure the troops forever hearing the activity guidebook that party direct";
    close(value(output, GUIDE), 8.0 / 58.0);
    close(value("", ""), 0.0);
}

#[test]
fn of_several_references_the_best_match_counts() {
    close(value("a b", json!(["x", "a b", "a"])), 1.0);
    close(score(json!({"values": ["x", "a"]}), "a", json!("y")).score.unwrap(), 1.0);
}

#[test]
fn the_lengths_of_runs_can_be_set() {
    close(score(json!({"maxOrder": 1}), "b a", json!("a b")).score.unwrap(), 1.0);
    close(score(json!({"minOrder": 2}), "b a", json!("a b")).score.unwrap(), 0.0);
    let refusal = |config| scorebox_sdk::configure::<Gleu>(config).err().unwrap().to_string();
    assert_eq!(refusal(json!({"minOrder": 0})), "`minOrder`: should be 1 or more, found 0");
    assert_eq!(
        refusal(json!({"minOrder": 5})),
        "`maxOrder`: should be `minOrder` (5) or more, found 4"
    );
}

#[test]
fn empty_texts_share_nothing() {
    close(value("", json!("")), 0.0);
    close(value("", json!("a")), 0.0);
}

#[test]
fn negate_turns_the_score_around() {
    close(score(json!({"negate": true}), "a", json!("a b")).score.unwrap(), 2.0 / 3.0);
}

#[test]
fn without_a_reference_there_is_no_score() {
    let scorer: Gleu = scorebox_sdk::configure(json!({})).unwrap();
    let error = scorer.score(&Case::new(json!("x"))).unwrap_err();
    assert_eq!(
        error,
        ScoreError::invalid_input(
            "the case has no `groundTruth`, which this scorer needs, and the configuration has no `value` in its place"
        )
    );
    let error = scorer.score(&Case::new(json!("x")).with_ground_truth(json!([]))).unwrap_err();
    assert_eq!(
        error,
        ScoreError::invalid_input(
            "`groundTruth` is an empty list; it should name at least one accepted answer"
        )
    );
}
