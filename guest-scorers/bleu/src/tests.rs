//! bleu, as a specification. The figures are from sacrebleu 2.6.0 (`BLEU(effective_order=True)`, divided
//! by 100).

use serde_json::Value;

use super::*;

const CAT: &str = "The cat sat on the mat.";

fn score(config: Value, output: &str, truth: Value) -> Score {
    let scorer: Bleu = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(json!(output)).with_ground_truth(truth)).unwrap()
}

fn value(output: &str, truth: Value) -> f64 {
    score(json!({}), output, truth).score.unwrap()
}

fn close(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-12, "{left} {right}");
}

#[test]
fn the_score_is_the_geometric_mean_of_the_precisions() {
    let dog = score(json!({}), "The dog sat on the mat.", json!(CAT));
    close(dog.score.unwrap(), 0.643_458_884_160_761_7);
    let meta = dog.meta_value().unwrap();
    close(meta["precisions"][1].as_f64().unwrap(), 2.0 / 3.0);
    assert_eq!(meta["brevityPenalty"], json!(1.0));
    assert_eq!(
        dog.reason.as_deref(),
        Some(
            "precisions 0.86/0.67/0.60/0.50, brevity penalty 1.00; the output has 7 tokens, the \
             reference 7"
        )
    );
}

#[test]
fn the_same_text_scores_1_and_not_a_hair_more() {
    assert_eq!(value(CAT, json!(CAT)), 1.0);
}

#[test]
fn a_short_output_is_penalized() {
    close(value("The cat sat.", json!(CAT)), 0.301_815_351_550_454_7);
}

#[test]
fn lengths_that_the_output_is_too_short_for_do_not_count() {
    close(value("cat", json!("cat")), 1.0);
}

#[test]
fn a_length_without_a_shared_run_is_smoothed() {
    close(value("the the the cat", json!("the cat the")), 0.353_553_390_593_273_73);
    close(value("a b x y", json!("a b c d")), 0.319_471_552_123_136_27);
    close(value("dog", json!("cat")), 0.0);
}

#[test]
fn several_references_are_one_multi_reference_bleu() {
    let references = json!(["The cat sat on the mat", "There is a cat on the mat"]);
    close(value("The cat is on the mat", references), 0.397_635_364_383_525_37);
    // Of two lengths that are equally close, the shorter one counts.
    close(value("a b c", json!(["a b", "a b c d"])), 1.0);
    let values = score(json!({"values": ["a b", "a b c d"]}), "a b c", json!("x"));
    close(values.score.unwrap(), 1.0);
}

#[test]
fn the_longest_run_and_case_can_be_set() {
    let two = score(json!({"maxOrder": 2}), "The dog sat on the mat.", json!(CAT));
    close(two.score.unwrap(), 0.755_928_946_018_454_2);
    close(value("THE CAT", json!("the cat")), 0.0);
    close(score(json!({"ignoreCase": true}), "THE CAT", json!("the cat")).score.unwrap(), 1.0);
    let error = scorebox_sdk::configure::<Bleu>(json!({"maxOrder": 0})).err().unwrap();
    assert_eq!(error.to_string(), "`maxOrder`: should be 1 or more, found 0");
}

#[test]
fn empty_texts_share_nothing() {
    close(value("", json!("a")), 0.0);
    close(value("", json!("")), 0.0);
    close(value("a", json!("")), 0.0);
}

#[test]
fn negate_turns_the_score_around() {
    close(score(json!({"negate": true}), "dog", json!("cat")).score.unwrap(), 1.0);
}

#[test]
fn without_a_reference_there_is_no_score() {
    let scorer: Bleu = scorebox_sdk::configure(json!({})).unwrap();
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

#[test]
fn texts_that_share_little_score_something() {
    // promptfoo gives at most 0.001 here.
    let truth = json!("The cat sat on the mat.");
    let found = score(json!({"ignoreCase": true}), "Dogs run in the park.", truth).score.unwrap();
    assert!((found - 0.08).abs() < 0.005, "{found}");
}
