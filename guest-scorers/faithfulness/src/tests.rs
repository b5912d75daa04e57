//! faithfulness, as a specification. What a judge's answers may look like is specified in the SDK.

use scorebox_sdk_judges::testing;
use serde_json::{Value, json};

use super::*;

fn case() -> Case {
    Case::new(json!("In Paris.")).with_context(json!(["Rome", {"text": "Paris"}]))
}

#[test]
fn the_score_is_the_judges_number_with_its_reason() {
    let judge = testing::answering(|_| "{\"reason\": \"mostly\", \"score\": 0.8}".into());
    let scorer: Faithfulness = scorebox_sdk::configure(json!({"model": "large"})).unwrap();
    let scored = scorer.score(&case()).unwrap();
    assert_eq!((scored.score, scored.reason.as_deref()), (Some(0.8), Some("mostly")));
    let question = &judge.questions()[0];
    assert_eq!(question.model.as_deref(), Some("large"));
    let text = &question.messages[0].text;
    assert!(text.contains("Rome\nParis"), "{text}");
    assert!(text.contains("In Paris."), "{text}");
}

#[test]
fn an_answer_that_is_not_readable_is_an_error_or_smithers_zero() {
    let _judge = testing::answering(|_| "I cannot say.".into());
    let score = |config: Value| {
        let scorer: Faithfulness = scorebox_sdk::configure(config).unwrap();
        scorer.score(&case())
    };
    let why =
        "the judge's answer cannot be read: it has no JSON in it; the answer is \"I cannot say.\"";
    assert_eq!(score(json!({})).unwrap_err().message(), why);
    let zero = score(json!({"unreadable": "zero"})).unwrap();
    assert_eq!((zero.score, zero.reason.as_deref()), (Some(0.0), Some(why)));
}

#[test]
fn without_a_context_the_output_must_agree_with_itself() {
    let judge = testing::answering(|_| "{\"score\": 1}".into());
    let scorer: Faithfulness = scorebox_sdk::configure(json!({})).unwrap();
    let basis = |case: &Case| scorer.score(case).unwrap().meta_value().unwrap()["basis"].clone();
    assert_eq!(basis(&Case::new(json!("It is. It is not."))), "consistency");
    assert!(judge.questions()[0].system.as_ref().unwrap().contains("claims agree with each other"));
    let nothing = [json!([]), json!(["", " "]), json!({}), json!({"documents": []})];
    for nothing_found in nothing {
        assert_eq!(basis(&Case::new(json!("It is.")).with_context(nothing_found)), "consistency");
    }
    assert_eq!(basis(&case()), "context");
    assert!(judge.questions()[5].system.as_ref().unwrap().contains("supported by the context"));
}

#[test]
fn the_basis_stands_beside_what_else_meta_says() {
    let _judge = testing::answering(|_| "{\"score\": 8}".into());
    let config = json!({"unreadable": "zero"});
    let scorer: Faithfulness = scorebox_sdk::configure(config).unwrap();
    let scored = scorer.score(&case()).unwrap();
    let meta = json!({"basis": "context", "clamped": true, "grade": 8.0});
    assert_eq!((scored.score, scored.meta_value()), (Some(1.0), Some(meta)));
}
