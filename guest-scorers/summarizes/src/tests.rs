//! summarizes, as a specification. What a judge's answers may look like is specified in the SDK.

use scorebox_sdk_judges::testing;
use serde_json::json;

use super::*;

fn scorer() -> Summarizes {
    scorebox_sdk::configure(json!({})).unwrap()
}

fn case() -> Case {
    Case::new(json!("short"))
        .with_input(json!("a long text"))
        .with_ground_truth(json!("an abstract"))
}

#[test]
fn each_choice_has_the_score_of_autoevals() {
    for (choice, score) in [("A", 0.0), ("B", 1.0)] {
        let answer = json!({"reason": "so it is", "choice": choice}).to_string();
        let _judge = testing::answering(move |_| answer.clone());
        let scored = scorer().score(&case()).unwrap();
        assert_eq!((scored.score, scored.label.as_deref()), (Some(score), Some(choice)));
        assert_eq!(scored.reason.as_deref(), Some("so it is"));
        assert_eq!(scored.meta_value(), Some(json!({"choice": choice})));
    }
}

#[test]
fn the_judge_sees_what_it_needs() {
    let judge = testing::answering(|_| json!({"choice": "A"}).to_string());
    scorer().score(&case()).unwrap();
    let text = judge.questions()[0].messages[0].text.clone();
    assert!(text.contains("a long text"), "{text}");
    assert!(text.contains("an abstract"), "{text}");
    assert!(text.contains("short"), "{text}");
}

#[test]
fn without_an_expert_summary_it_must_be_true_to_the_text() {
    for (choice, score) in [("Y", 1.0), ("N", 0.0)] {
        let judge = testing::answering(move |_| json!({"choice": choice}).to_string());
        let scorer: Summarizes = scorebox_sdk::configure(json!({"source": "the text"})).unwrap();
        let scored = scorer.score(&Case::new(json!("short"))).unwrap();
        assert_eq!((scored.score, scored.label.as_deref()), (Some(score), Some(choice)));
        assert!(judge.questions()[0].messages[0].text.contains("the text"));
    }
}

#[test]
fn a_case_without_what_it_needs_is_an_error() {
    let error = scorer().score(&Case::new(json!("x"))).unwrap_err();
    assert_eq!(
        error.message(),
        "the case has no `input`, which this scorer needs, and the configuration has no `source` in its place"
    );
}
