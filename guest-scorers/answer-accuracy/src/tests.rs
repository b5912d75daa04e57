//! answer-accuracy, as a specification. What a judge's answers may look like is specified in the SDK.

use scorebox_sdk_judges::testing;
use serde_json::{Value, json};

use super::*;

fn case() -> Case {
    Case::new(json!("The answer is 4."))
        .with_input(json!({"question": "What is 2+2?", "answer": "4"}))
}

#[test]
fn the_score_is_the_judges_number_with_its_reason() {
    let judge = testing::answering(|_| "{\"reason\": \"mostly\", \"score\": 0.8}".into());
    let scorer: AnswerAccuracy = scorebox_sdk::configure(json!({"model": "large"})).unwrap();
    let scored = scorer.score(&case()).unwrap();
    assert_eq!((scored.score, scored.reason.as_deref()), (Some(0.8), Some("mostly")));
    let question = &judge.questions()[0];
    assert_eq!(question.model.as_deref(), Some("large"));
    let text = &question.messages[0].text;
    assert!(text.contains("What is 2+2?"), "{text}");
    assert!(text.contains("4\n</correct-answer"), "{text}");
    assert!(text.contains("The answer is 4."), "{text}");
}

#[test]
fn an_answer_that_is_not_readable_is_an_error_or_smithers_zero() {
    let _judge = testing::answering(|_| "I cannot say.".into());
    let score = |config: Value| {
        let scorer: AnswerAccuracy = scorebox_sdk::configure(config).unwrap();
        scorer.score(&case())
    };
    let why =
        "the judge's answer cannot be read: it has no JSON in it; the answer is \"I cannot say.\"";
    assert_eq!(score(json!({})).unwrap_err().message(), why);
    let zero = score(json!({"unreadable": "zero"})).unwrap();
    assert_eq!((zero.score, zero.reason.as_deref()), (Some(0.0), Some(why)));
}

#[test]
fn orbiters_explanation_is_the_reason() {
    let answer = json!({"score": 0.9, "explanation": "Correct with minor omissions."}).to_string();
    let _judge = testing::answering(move |_| answer.clone());
    let scorer: AnswerAccuracy = scorebox_sdk::configure(json!({})).unwrap();
    let scored = scorer.score(&case()).unwrap();
    assert_eq!(scored.score, Some(0.9));
    assert_eq!(scored.reason.as_deref(), Some("Correct with minor omissions."));
}

#[test]
fn keys_may_be_others_and_the_answer_may_be_the_ground_truth() {
    let judge = testing::answering(|_| "{\"score\": 1}".into());
    let config = json!({"question_key": "q", "answerKey": "a"});
    let scorer: AnswerAccuracy = scorebox_sdk::configure(config).unwrap();
    let score = |input: Value, truth: Value| {
        scorer.score(&Case::new(json!("x")).with_input(input).with_ground_truth(truth))
    };
    score(json!({"q": "why?", "a": ["b"]}), json!(null)).unwrap();
    score(json!("how?"), json!("so")).unwrap();
    let texts: Vec<_> = judge.questions().iter().map(|it| it.messages[0].text.clone()).collect();
    assert!(texts[0].contains("why?") && texts[0].contains("[\"b\"]"));
    assert!(texts[1].contains("how?") && texts[1].contains("so\n</correct-answer"));
    let error = score(json!({"q": "why?"}), json!(null)).unwrap_err();
    assert_eq!(
        error.message(),
        "there is no correct answer: `input` has nothing under `a`, and the case has no `groundTruth`"
    );
    let error = score(json!({"a": "b"}), json!(null)).unwrap_err();
    assert_eq!(error.message(), "there is no question: `input` has nothing under `q`");
    let error = score(json!("how?"), json!(null)).unwrap_err();
    assert_eq!(
        error.message(),
        "there is no correct answer: `input` is the question, and the case has no `groundTruth`"
    );
}

#[test]
fn null_in_the_input_is_neither_a_question_nor_an_answer() {
    let judge = testing::answering(|_| "{\"score\": 1}".into());
    let scorer: AnswerAccuracy = scorebox_sdk::configure(json!({})).unwrap();
    let score = |input: Value| {
        let case = Case::new(json!("x")).with_input(input).with_ground_truth(json!("Paris"));
        scorer.score(&case)
    };
    score(json!({"question": "Capital?", "answer": null})).unwrap();
    let text = &judge.questions()[0].messages[0].text;
    assert!(text.contains("Paris\n</correct-answer") && !text.contains("null"), "{text}");
    let error = score(json!({"question": null, "answer": "Paris"})).unwrap_err();
    assert_eq!(error.message(), "there is no question: `input` has nothing under `question`");
}
