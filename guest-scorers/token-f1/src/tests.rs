//! token-f1, as a specification. The figures were computed by hand, or are from Inspect 0.3.285 if a test says so.

use serde_json::Value;

use super::*;

fn score(config: Value, output: Value, truth: Value) -> Score {
    let scorer: TokenF1 = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(output).with_ground_truth(truth)).unwrap()
}

fn value(config: Value, output: &str, truth: Value) -> f64 {
    score(config, json!(output), truth).score.unwrap()
}

fn close(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-12, "{left} {right}");
}

#[test]
fn the_score_is_the_harmonic_mean_of_precision_and_recall() {
    // The fractions are 1 of 1 word and 1 of 2 words.
    let paris = score(json!({}), json!("Paris"), json!("Paris, Texas"));
    close(paris.score.unwrap(), 2.0 / 3.0);
    assert_eq!(paris.meta_value(), Some(json!({"precision": 1.0, "recall": 0.5})));
    let reason = "words in common: 1 (output 1, expected answer 2)";
    assert_eq!(paris.reason.as_deref(), Some(reason));
    close(value(json!({}), "foo1", json!("foo")), 0.0);
}

#[test]
fn a_word_counts_as_often_as_it_stands_there() {
    // 2 of 3, and 2 of 2.
    close(value(json!({}), "no no no", json!("no, no!")), 0.8);
}

#[test]
fn case_punctuation_and_articles_do_not_count() {
    close(value(json!({}), "The  U.S. Senate", json!("a US senate.")), 1.0);
    // "answer is 3.14" against "3.14": 1 of 3, 1 of 1.
    close(value(json!({}), "The answer is 3.14.", json!("3.14")), 0.5);
    close(value(json!({}), "3,000", json!(3000)), 1.0);
}

#[test]
fn stop_words_do_not_count_either() {
    close(value(json!({"stopWords": ["Texas"]}), "Paris", json!("Paris, Texas")), 1.0);
    close(value(json!({"stopWords": ["Paris"]}), "Paris", json!("Paris, Texas")), 0.0);
}

#[test]
fn of_several_answers_the_best_match_counts() {
    close(value(json!({}), "Paris", json!(["Paris, Texas", "Paris"])), 1.0);
    close(value(json!({"values": ["x", "y"]}), "y", json!("Paris")), 1.0);
    // An answer without words is skipped if there is another.
    close(value(json!({}), "", json!(["the", "Paris"])), 0.0);
}

#[test]
fn where_neither_side_has_a_word_the_score_is_1() {
    close(value(json!({}), "the", json!("")), 1.0);
    close(value(json!({}), "hello", json!("")), 0.0);
    close(value(json!({}), "", json!("hello")), 0.0);
}

#[test]
fn negate_turns_the_score_around() {
    close(value(json!({"negate": true}), "Paris", json!("Paris, Texas")), 1.0 / 3.0);
}

#[test]
fn without_an_expected_answer_there_is_no_score() {
    let scorer: TokenF1 = scorebox_sdk::configure(json!({})).unwrap();
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
fn a_long_text_costs_no_more_than_its_length() {
    let text = "a-the .5 _ 'x' ".repeat(100_000);
    close(value(json!({}), &text, json!(text)), 1.0);
}
