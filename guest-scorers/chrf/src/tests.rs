//! chrf, as a specification. The figures are from `CHRF` of sacrebleu 2.6.0, divided by 100.

use serde_json::Value;

use super::*;

const CAT: &str = "The cat sat.";
const DOG: &str = "The dog sat.";

fn score(config: Value, output: &str, truth: Value) -> Score {
    let scorer: Chrf = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(json!(output)).with_ground_truth(truth)).unwrap()
}

fn value(config: Value, output: &str, truth: &str) -> f64 {
    score(config, output, json!(truth)).score.unwrap()
}

fn close(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-12, "{left} {right}");
}

#[test]
fn the_score_is_the_mean_over_all_lengths_of_run() {
    close(value(json!({}), DOG, CAT), 0.295_568_783_068_783_04);
    assert_eq!(value(json!({}), "cat", "cat"), 1.0);
    close(value(json!({}), "abc", "xyz"), 0.0);
    close(value(json!({}), "naïve 日本", "naive 日本語"), 0.318_475_441_782_821_56);
}

#[test]
fn recall_counts_more_than_precision() {
    let short = score(json!({}), "ab", json!("abcd"));
    close(short.score.unwrap(), 0.471_698_113_207_547_07);
    assert_eq!(
        short.reason.as_deref(),
        Some("shares runs of characters: precision 1.00, recall 0.42")
    );
    close(value(json!({}), "abcd", "ab"), 0.781_249_999_999_999_9);
    // With beta 1 both count the same.
    let even = json!({"beta": 1});
    close(value(even.clone(), "ab", "abcd"), value(even, "abcd", "ab"));
}

#[test]
fn the_lengths_of_runs_can_be_set() {
    close(value(json!({"charOrder": 3}), DOG, CAT), 0.543_518_518_518_518_5);
    close(value(json!({"charOrder": 1}), "a b", "b a"), 1.0);
    // chrF++.
    close(value(json!({"wordOrder": 2}), DOG, CAT), 0.357_093_253_968_253_9);
    close(value(json!({"wordOrder": 1}), "(hi) there!", "(hi there"), 0.471_415_039_072_536_9);
}

#[test]
fn white_space_and_case_count_only_as_configured() {
    close(value(json!({}), "T h e", "The"), 1.0);
    close(value(json!({"whitespace": true}), "T h e", "The"), 0.294_117_647_058_823_5);
    close(value(json!({}), "THE", "the"), 0.0);
    close(value(json!({"ignoreCase": true}), "THE", "the"), 1.0);
}

#[test]
fn of_several_references_the_best_match_counts() {
    close(score(json!({}), "cats", json!(["dogs", "cat"])).score.unwrap(), 0.898_437_5);
    close(value(json!({"values": ["dogs", "cats"]}), "cats", "x"), 1.0);
}

#[test]
fn empty_texts_share_nothing() {
    for (output, truth) in [("", ""), ("", "a"), ("a", "")] {
        close(value(json!({}), output, truth), 0.0);
    }
}

#[test]
fn negate_turns_the_score_around() {
    close(value(json!({"negate": true}), "ab", "ba"), 0.5);
}

#[test]
fn wrong_options_are_refused_by_name() {
    let refusal = |config| scorebox_sdk::configure::<Chrf>(config).err().unwrap().to_string();
    assert_eq!(refusal(json!({"charOrder": 0})), "`charOrder`: should be 1 or more, found 0");
    assert_eq!(refusal(json!({"beta": -1})), "`beta`: should be 0 to 1000, found -1");
}

#[test]
fn without_a_reference_there_is_no_score() {
    let scorer: Chrf = scorebox_sdk::configure(json!({})).unwrap();
    let error = scorer.score(&Case::new(json!("x"))).unwrap_err();
    assert_eq!(
        error,
        ScoreError::invalid_input(
            "the case has no `groundTruth`, which this scorer needs, and the configuration has no `value` in its place"
        )
    );
}
