//! trajectory-judge, as a specification. What a judge's answers may look like is specified in the SDK.

use scorebox_sdk_judges::testing;
use serde_json::json;

use super::*;

fn case() -> Case {
    Case::new(json!("Sunny.")).with_trace(json!([
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": "Sunny."}
    ]))
}

#[test]
fn it_is_yes_or_no_or_a_number() {
    let judge = testing::answering(|question| {
        let is_grade = question.messages[0].text.contains("from 0 to 1");
        if is_grade { "{\"score\": 0.6}".into() } else { "{\"choice\": \"Yes\"}".into() }
    });
    let score = |config| {
        let scorer: TrajectoryJudge = scorebox_sdk::configure(config).unwrap();
        scorer.score(&case().with_ground_truth(json!(["ask", "answer"]))).unwrap()
    };
    assert_eq!(score(json!({})).label.as_deref(), Some("Yes"));
    assert_eq!(score(json!({"continuous": true})).score, Some(0.6));
    let text = &judge.questions()[0].messages[0].text;
    assert!(text.contains("[user]\n    Weather?") && text.contains("<reference-path-"), "{text}");
}

#[test]
fn a_case_without_a_trace_is_an_error() {
    let scorer: TrajectoryJudge = scorebox_sdk::configure(json!({})).unwrap();
    let error = scorer.score(&Case::new(json!("Sunny."))).unwrap_err();
    let expected = "the case has no `trace`, which this scorer needs; its `output` (a string) is not a trace either";
    assert_eq!(error, ScoreError::invalid_input(expected));
}
