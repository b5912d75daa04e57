//! answer-correctness, as a specification. What a judge's answers may look like is specified in the SDK.

use scorebox_sdk_judges::testing;
use serde_json::json;

use super::*;

fn score(config: serde_json::Value, answer: &'static str) -> Result<Score, ScoreError> {
    let judge = testing::answering(move |_| answer.into());
    let _judge =
        judge.embedding(|text| if text == "truth" { vec![1.0, 0.0] } else { vec![0.6, 0.8] });
    let scorer: AnswerCorrectness =
        scorebox_sdk::configure(config).map_err(|error| ScoreError::failed(error.to_string()))?;
    scorer.score(&Case::new(json!("output")).with_ground_truth(json!("truth")))
}

const ANSWER: &str = r#"{"shared": ["a", "b"], "extra": ["c"], "missing": ["d"]}"#;

#[test]
fn it_is_the_weighted_mean_of_f1_and_similarity() {
    let scored = score(json!({}), ANSWER).unwrap();
    let f1 = 2.0 / 3.0;
    assert!((scored.score.unwrap() - (0.75 * f1 + 0.25 * 0.6)).abs() < 1e-6);
    assert_eq!(scored.reason.as_deref(), Some("statements: 2 shared, 1 extra, 1 missing"));
    let alone = score(json!({"similarityWeight": 0}), ANSWER).unwrap();
    assert!((alone.score.unwrap() - f1).abs() < 1e-12);
    assert_eq!(alone.meta_value().unwrap()["similarity"], json!(null));
    assert_eq!(
        score(json!({"factualityWeight": 0}), ANSWER).unwrap().meta_value().unwrap()["f1"],
        json!(f1)
    );
}

#[test]
fn a_blank_statement_does_not_count() {
    let config = json!({"similarityWeight": 0});
    let scored = score(config, r#"{"shared":["a",""," "],"extra":[],"missing":["c"]}"#).unwrap();
    assert_eq!(scored.score, Some(1.0 / 1.5));
    assert_eq!(scored.reason.as_deref(), Some("statements: 1 shared, 0 extra, 1 missing"));
    assert_eq!(scored.meta_value().unwrap()["shared"], json!(["a"]));
}

#[test]
fn an_answer_without_statements_or_without_a_list_is_unreadable() {
    for answer in [
        "{\"shared\": [\" \"], \"extra\": [], \"missing\": []}",
        "{\"shared\": [], \"extra\": [], \"missing\": []}",
        "{\"shared\": []}",
    ] {
        assert!(score(json!({}), answer).unwrap_err().message().contains("cannot be read"));
    }
}

#[test]
fn weights_are_0_or_more_and_not_both_0() {
    for (config, expected) in [
        (json!({"factualityWeight": -1}), "`factualityWeight`: should be 0 or more, found -1"),
        (json!({"similarityWeight": -0.5}), "`similarityWeight`: should be 0 or more, found -0.5"),
        (
            json!({"factualityWeight": 0, "similarityWeight": 0}),
            "both weights are 0; one of them must be more",
        ),
    ] {
        let error = scorebox_sdk::configure::<AnswerCorrectness>(config).err().unwrap();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn an_empty_text_has_no_meaning_to_compare_and_no_judge_is_asked() {
    let judge = testing::answering(|_| ANSWER.into()).embedding(|_| vec![1.0]);
    let scorer = |config| scorebox_sdk::configure::<AnswerCorrectness>(config).unwrap();
    for (output, truth) in [("", "truth"), ("output", " ")] {
        let case = Case::new(json!(output)).with_ground_truth(json!(truth));
        let error = scorer(json!({})).score(&case).unwrap_err();
        let why = "an empty text cannot be compared by its meaning";
        assert_eq!(error, ScoreError::invalid_input(why));
        assert!(judge.questions().is_empty());
    }
    let case = Case::new(json!("")).with_ground_truth(json!("truth"));
    let alone = scorer(json!({"similarityWeight": 0})).score(&case).unwrap();
    assert_eq!(alone.score, Some(2.0 / 3.0));
}

#[test]
fn the_judge_lists_what_is_shared_first() {
    let judge = testing::answering(|_| ANSWER.into()).embedding(|_| vec![1.0]);
    let scorer: AnswerCorrectness = scorebox_sdk::configure(json!({})).unwrap();
    scorer.score(&Case::new(json!("output")).with_ground_truth(json!("truth"))).unwrap();
    let schema = judge.questions()[0].schema.clone().unwrap();
    let order = ["\"shared\":", "\"extra\":", "\"missing\":"].map(|key| schema.find(key));
    assert!(order.is_sorted() && order[0].is_some(), "{schema}");
    assert!(schema.contains(r#""required":["shared","extra","missing"]"#), "{schema}");
}
