//! context-relevancy, as a specification. What a judge's answers may look like is specified in the SDK.

use scorebox_sdk_judges::testing;
use serde_json::json;

use super::*;

fn score(answer: &'static str) -> Score {
    let _judge = testing::answering(move |_| answer.into());
    let scorer: ContextRelevancy = scorebox_sdk::configure(json!({})).unwrap();
    let case = Case::new(json!("x")).with_input(json!("Which color?"));
    scorer.score(&case.with_context(json!(["It is red.", "It is big."]))).unwrap()
}

#[test]
fn it_is_the_share_of_the_context_that_is_needed() {
    let scored = score("{\"sentences\": [{\"reason\": \"color\", \"sentence\": \"It  is red.\"}]}");
    assert!((scored.score.unwrap() - 10.0 / 21.0).abs() < 1e-12);
    assert_eq!(scored.reason.as_deref(), Some("sentences of the context that are needed: 1"));
    assert_eq!(score("{\"sentences\": [\"It is red. It is big.\"]}").score, Some(1.0));
    assert_eq!(score("{\"sentences\": []}").score, Some(0.0));
}

#[test]
fn what_the_judge_repeats_or_what_overlaps_counts_once() {
    let scored = score("{\"sentences\": [\"It is red.\", \" It is  red.\", \"It is red.\", \"\"]}");
    assert_eq!(scored.score, Some(10.0 / 21.0));
    assert_eq!(scored.reason.as_deref(), Some("sentences of the context that are needed: 1"));
    assert_eq!(scored.meta_value(), Some(json!({"sentences": ["It is red."], "notInContext": []})));
    let overlapping = "{\"sentences\": [\"red. It is big.\", \"It is red. It\", \"is red\"]}";
    assert_eq!(score(overlapping).score, Some(1.0));
    assert_eq!(score("{\"sentences\": [\"It is big.\", \"It is red.\"]}").score, Some(20.0 / 21.0));
}

#[test]
fn a_sentence_that_the_context_does_not_have_does_not_count() {
    let scored = score("{\"sentences\": [\"It is blue.\"]}");
    assert_eq!(scored.score, Some(0.0));
    assert_eq!(
        scored.meta_value(),
        Some(json!({"sentences": [], "notInContext": ["It is blue."]}))
    );
}

#[test]
fn nothing_that_was_retrieved_scores_0_without_a_judge() {
    let scorer: ContextRelevancy = scorebox_sdk::configure(json!({})).unwrap();
    let case = Case::new(json!("x")).with_input(json!("Which color?"));
    for context in [json!([]), json!([" "]), json!("")] {
        let scored = scorer.score(&case.clone().with_context(context)).unwrap();
        assert_eq!(scored.score, Some(0.0));
        assert_eq!(scored.reason.as_deref(), Some("nothing was retrieved"));
        assert_eq!(scored.meta_value(), Some(json!({"sentences": [], "notInContext": []})));
    }
    assert!(matches!(scorer.score(&case), Err(ScoreError::InvalidInput(_))));
}
