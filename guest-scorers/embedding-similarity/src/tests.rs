//! embedding-similarity, as a specification.

use scorebox_sdk_judges::testing;
use serde_json::{Value, json};

use super::*;

fn score(config: Value, truth: Value) -> Result<Score, ScoreError> {
    let judge = testing::answering(|_| String::new());
    let _judge = judge.embedding(|text| match text {
        "near" | "en: near" => vec![0.8, 0.6],
        "far" => vec![-1.0, 0.0],
        "broken" => vec![0.0, -0.0],
        _ => vec![1.0, 0.0],
    });
    let scorer: EmbeddingSimilarity =
        scorebox_sdk::configure(config).map_err(|error| ScoreError::failed(error.to_string()))?;
    scorer.score(&Case::new(json!("output")).with_ground_truth(truth))
}

#[test]
fn the_score_is_the_cosine_above_the_least_that_counts() {
    let near = score(json!({}), json!("near")).unwrap();
    assert!((near.score.unwrap() - 0.8).abs() < 1e-6);
    assert_eq!(near.reason.as_deref(), Some("the cosine of the embeddings is 0.8000"));
    let stretched = score(json!({"expectedMin": 0.7}), json!("near")).unwrap();
    assert!((stretched.score.unwrap() - 1.0 / 3.0).abs() < 1e-6);
    assert_eq!(score(json!({}), json!("far")).unwrap().score, Some(0.0));
    assert_eq!(score(json!({}), json!(["far", "same"])).unwrap().score, Some(1.0));
    let prefixed = score(json!({"prefix": "en: ", "value": "near"}), json!(null)).unwrap();
    assert!((prefixed.score.unwrap() - 0.8).abs() < 1e-6);
}

#[test]
fn what_cannot_be_compared_is_an_error() {
    assert!(score(json!({"expectedMin": 1}), json!("near")).is_err());
    assert!(score(json!({}), json!(null)).is_err());
    let error = score(json!({}), json!(" ")).unwrap_err();
    assert_eq!(error.message(), "an empty text cannot be compared by its meaning");
    let error = score(json!({}), json!(["near", "broken"])).unwrap_err();
    let zeros = "the model for embeddings gave a vector of zeros, which is close to nothing";
    assert_eq!(error, ScoreError::failed(zeros));
}

#[test]
fn a_prefix_gives_an_empty_text_no_meaning() {
    let judge = testing::answering(|_| String::new());
    let _judge = judge.embedding(|_| vec![1.0, 0.0]);
    let scorer: EmbeddingSimilarity =
        scorebox_sdk::configure(json!({"prefix": "query: "})).unwrap();
    for (output, truth) in [("", "Paris"), ("Paris", "\n"), ("", "")] {
        let case = Case::new(json!(output)).with_ground_truth(json!(truth));
        let why = "an empty text cannot be compared by its meaning";
        assert_eq!(scorer.score(&case).unwrap_err(), ScoreError::invalid_input(why));
    }
}
