//! relevancy, as a specification. What a judge's answers may look like is specified in the SDK.

use scorebox_sdk_judges::testing;
use serde_json::{Value, json};

use super::*;

fn case() -> Case {
    Case::new(json!("In Paris.")).with_input(json!("Where?"))
}

#[test]
fn the_score_is_the_judges_number_with_its_reason() {
    let judge = testing::answering(|_| "{\"reason\": \"mostly\", \"score\": 0.8}".into());
    let scorer: Relevancy = scorebox_sdk::configure(json!({"model": "large"})).unwrap();
    let scored = scorer.score(&case()).unwrap();
    assert_eq!((scored.score, scored.reason.as_deref()), (Some(0.8), Some("mostly")));
    let question = &judge.questions()[0];
    assert_eq!(question.model.as_deref(), Some("large"));
    let text = &question.messages[0].text;
    assert!(text.contains("In Paris."), "{text}");
    assert!(text.contains("Where?"), "{text}");
}

#[test]
fn an_answer_that_is_not_readable_is_an_error_or_smithers_zero() {
    let _judge = testing::answering(|_| "I cannot say.".into());
    let score = |config: Value| {
        let scorer: Relevancy = scorebox_sdk::configure(config).unwrap();
        scorer.score(&case())
    };
    let why =
        "the judge's answer cannot be read: it has no JSON in it; the answer is \"I cannot say.\"";
    assert_eq!(score(json!({})).unwrap_err().message(), why);
    let zero = score(json!({"unreadable": "zero"})).unwrap();
    assert_eq!((zero.score, zero.reason.as_deref()), (Some(0.0), Some(why)));
}

#[test]
fn a_case_without_an_input_is_an_error() {
    let scorer: Relevancy = scorebox_sdk::configure(json!({})).unwrap();
    let error = scorer.score(&Case::new(json!("x"))).unwrap_err();
    assert_eq!(
        error,
        ScoreError::invalid_input("the case has no `input`, which this scorer needs")
    );
}
