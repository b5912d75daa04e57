//! answer-relevancy, as a specification. What a judge's answers may look like is specified in the SDK.

use scorebox_sdk_judges::testing;
use serde_json::json;

use super::*;

fn score(config: serde_json::Value, evasive: &'static [bool]) -> Score {
    let judge = testing::answering(move |question| {
        let evades = evasive[question.sample as usize % evasive.len()];
        json!({"question": format!("q{}", question.sample), "noncommittal": evades}).to_string()
    });
    let judge = judge.embedding(|text| match text {
        "Where?" | "q0" => vec![1.0, 0.0],
        "q1" => vec![0.0, 1.0],
        _ => vec![-1.0, 0.0],
    });
    let scorer: AnswerRelevancy = scorebox_sdk::configure(config).unwrap();
    let score = scorer.score(&Case::new(json!("In Paris.")).with_input(json!("Where?"))).unwrap();
    assert!(
        judge.questions().iter().all(|question| question.messages[0].text.contains("In Paris."))
    );
    score
}

#[test]
fn it_is_the_mean_cosine_of_the_questions_with_the_input() {
    assert_eq!(score(json!({"strictness": 1}), &[false]).score, Some(1.0));
    let two = score(json!({"strictness": 2}), &[false]);
    assert_eq!((two.score, two.reason.as_deref()), (Some(0.5), Some("the output answers: q0")));
    assert_eq!(two.meta_value().unwrap()["questions"][1], json!({"question": "q1", "cosine": 0.0}));
    // The cosines are 1, 0 and -1.
    assert_eq!(score(json!({}), &[false]).score, Some(0.0));
}

#[test]
fn an_output_that_is_noncommittal_each_time_scores_0() {
    let evades = score(json!({"strictness": 1}), &[true]);
    assert_eq!(
        (evades.score, evades.reason.as_deref()),
        (Some(0.0), Some("the output is noncommittal"))
    );
    assert_eq!(score(json!({"strictness": 2}), &[true, false]).score, Some(0.5));
}

#[test]
fn strictness_has_bounds() {
    for strictness in [0, 21] {
        let config = json!({"strictness": strictness});
        let error = scorebox_sdk::configure::<AnswerRelevancy>(config).err().unwrap();
        assert_eq!(error.key(), Some("strictness"));
    }
}

#[test]
fn the_judge_writes_the_question_before_it_says_whether_the_output_is_noncommittal() {
    let answer = r#"{"question": "q", "noncommittal": false}"#;
    let judge = testing::answering(|_| answer.into()).embedding(|_| vec![1.0]);
    let scorer: AnswerRelevancy = scorebox_sdk::configure(json!({})).unwrap();
    scorer.score(&Case::new(json!("In Paris.")).with_input(json!("Where?"))).unwrap();
    assert_eq!(
        judge.questions()[0].schema.as_deref(),
        Some(
            r#"{"type":"object","properties":{"question":{"type":"string"},"noncommittal":{"type":"boolean"}},"required":["question","noncommittal"],"additionalProperties":false}"#
        )
    );
}

#[test]
fn an_empty_input_has_no_meaning_to_compare_and_no_judge_is_asked() {
    let scorer: AnswerRelevancy = scorebox_sdk::configure(json!({})).unwrap();
    let error = scorer.score(&Case::new(json!("In Paris.")).with_input(json!(" "))).unwrap_err();
    assert_eq!(error.message(), "an empty text cannot be compared by its meaning");
}
