//! factuality, as a specification. What a judge's answers may look like is specified in the SDK.

use scorebox_sdk_judges::testing;
use serde_json::json;

use super::*;

fn scorer() -> Factuality {
    scorebox_sdk::configure(json!({})).unwrap()
}

fn case() -> Case {
    Case::new(json!("In Paris."))
        .with_input(json!("Where is it?"))
        .with_ground_truth(json!("It is in Paris, France."))
}

#[test]
fn each_choice_has_the_score_of_autoevals() {
    for (choice, score) in [("A", 0.4), ("B", 0.6), ("C", 1.0), ("D", 0.0), ("E", 1.0)] {
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
    assert!(text.contains("Where is it?"), "{text}");
    assert!(text.contains("It is in Paris, France."), "{text}");
    assert!(text.contains("In Paris."), "{text}");
}

#[test]
fn a_configured_value_takes_the_ground_truths_place() {
    let judge = testing::answering(|_| "{\"choice\": \"C\"}".into());
    let scorer: Factuality = scorebox_sdk::configure(json!({"value": "Lyon"})).unwrap();
    assert_eq!(scorer.score(&Case::new(json!("Lyon"))).unwrap().score, Some(1.0));
    assert!(!judge.questions()[0].messages[0].text.contains("question"));
}

#[test]
fn a_case_without_what_it_needs_is_an_error() {
    let error = scorer().score(&Case::new(json!("x"))).unwrap_err();
    assert_eq!(
        error.message(),
        "the case has no `groundTruth`, which this scorer needs, and the configuration has no `value` in its place"
    );
}

#[test]
fn a_value_of_null_is_refused_and_does_not_mean_the_ground_truth() {
    let refused = scorebox_sdk::configure::<Factuality>(json!({"value": null})).err().unwrap();
    assert_eq!(refused.to_string(), "`value` is null; to use the ground truth, leave the key out");
}
