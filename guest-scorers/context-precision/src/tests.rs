//! context-precision, as a specification. What a judge's answers may look like is specified in the SDK.

use scorebox_sdk_judges::testing;
use serde_json::json;

use super::*;

fn score(verdicts: &'static [&'static str], truth: serde_json::Value) -> Score {
    let judge = testing::answering(|question| {
        let text = &question.messages[0].text;
        let useful = if text.contains("useful one") { "Yes" } else { "No" };
        json!({"reason": "read", "choice": useful}).to_string()
    });
    let scorer: ContextPrecision = scorebox_sdk::configure(json!({})).unwrap();
    let case =
        Case::new(json!("the output")).with_input(json!("Where?")).with_context(json!(verdicts));
    let score = scorer.score(&case.with_ground_truth(truth.clone())).unwrap();
    let seen = truth.as_str().unwrap_or("the output").to_owned();
    assert!(judge.questions().iter().all(|it| it.messages[0].text.contains(&seen)));
    score
}

#[test]
fn useful_documents_count_more_the_earlier_they_come() {
    let third = score(&["other", "other", "useful one", "useful one", "other"], json!("truth"));
    assert!((third.score.unwrap() - (1.0 / 3.0 + 2.0 / 4.0) / 2.0).abs() < 1e-12);
    assert_eq!(third.reason.as_deref(), Some("2 of 5 documents are useful"));
    assert_eq!(third.meta_value().unwrap()["useful"], json!([false, false, true, true, false]));
    assert_eq!(score(&["useful one", "other"], json!("truth")).score, Some(1.0));
    assert_eq!(score(&["other"], json!("truth")).score, Some(0.0));
}

#[test]
fn without_a_ground_truth_the_output_is_the_answer() {
    assert_eq!(score(&["useful one"], json!(null)).score, Some(1.0));
}

#[test]
fn nothing_that_was_retrieved_scores_0_without_a_judge() {
    for context in [json!([]), json!(["", {"text": " "}]), json!(" ")] {
        let scorer: ContextPrecision = scorebox_sdk::configure(json!({})).unwrap();
        let case = Case::new(json!("the output")).with_input(json!("Where?"));
        let scored = scorer.score(&case.with_context(context)).unwrap();
        assert_eq!(scored.score, Some(0.0));
        assert_eq!(scored.reason.as_deref(), Some("nothing was retrieved"));
        assert_eq!(scored.meta_value(), Some(json!({"useful": [], "reasons": []})));
    }
}

#[test]
fn a_case_without_a_context_is_an_error() {
    let scorer: ContextPrecision = scorebox_sdk::configure(json!({})).unwrap();
    let case = Case::new(json!("the output")).with_input(json!("Where?"));
    assert!(matches!(scorer.score(&case), Err(ScoreError::InvalidInput(_))));
}
