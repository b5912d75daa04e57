//! humor, as a specification. What a judge's answers may look like is specified in the SDK.

use scorebox_sdk_judges::testing;
use serde_json::json;

use super::*;

fn scorer() -> Humor {
    scorebox_sdk::configure(json!({})).unwrap()
}

fn case() -> Case {
    Case::new(json!("A horse walks into a bar."))
}

#[test]
fn each_choice_has_the_score_of_autoevals() {
    for (choice, score) in [("Yes", 1.0), ("No", 0.0), ("Unsure", 0.5)] {
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
    let judge = testing::answering(|_| json!({"choice": "Yes"}).to_string());
    scorer().score(&case()).unwrap();
    let text = judge.questions()[0].messages[0].text.clone();
    assert!(text.contains("A horse walks"), "{text}");
}
