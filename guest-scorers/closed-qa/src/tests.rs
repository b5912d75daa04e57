//! closed-qa, as a specification. What a judge's answers may look like is specified in the SDK.

use scorebox_sdk_judges::testing;
use serde_json::json;

use super::*;

fn scorer() -> ClosedQa {
    scorebox_sdk::configure(json!({"criteria": "Is it friendly?"})).unwrap()
}

fn case() -> Case {
    Case::new(json!("Hi there!")).with_input(json!("Greet me."))
}

#[test]
fn each_choice_has_the_score_of_autoevals() {
    for (choice, score) in [("Y", 1.0), ("N", 0.0)] {
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
    let judge = testing::answering(|_| json!({"choice": "Y"}).to_string());
    scorer().score(&case()).unwrap();
    let text = judge.questions()[0].messages[0].text.clone();
    assert!(text.contains("Greet me."), "{text}");
    assert!(text.contains("Hi there!"), "{text}");
    assert!(text.contains("The criterion: Is it friendly?"), "{text}");
}

#[test]
fn a_criterion_is_required() {
    let refusal = |config| scorebox_sdk::configure::<ClosedQa>(config).err().unwrap().to_string();
    assert!(refusal(json!({})).starts_with("`criteria`"));
    assert!(refusal(json!({"criteria": " "})).starts_with("`criteria`"));
}
