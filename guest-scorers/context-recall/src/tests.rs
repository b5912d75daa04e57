//! context-recall, as a specification. What a judge's answers may look like is specified in the SDK.

use scorebox_sdk_judges::testing;
use serde_json::json;

use super::*;

fn score(answer: &'static str) -> Result<Score, ScoreError> {
    let judge = testing::answering(move |_| answer.into());
    let scorer: ContextRecall = scorebox_sdk::configure(json!({})).unwrap();
    let case =
        Case::new(json!("x")).with_context(json!(["one", "two"])).with_ground_truth(json!("truth"));
    let score = scorer.score(&case);
    let text = &judge.questions()[0].messages[0].text;
    assert!(text.contains("one\ntwo") && text.contains("truth"), "{text}");
    score
}

#[test]
fn it_is_the_share_of_supported_statements() {
    let scored = score(
        r#"{"statements": [{"statement": "a", "reason": "r", "supported": true},
            {"statement": "b", "supported": false}, {"statement": "c", "attributed": 1}]}"#,
    );
    let scored = scored.unwrap();
    assert_eq!(scored.score, Some(2.0 / 3.0));
    assert_eq!(scored.reason.as_deref(), Some("the context supports 2 of 3 statements"));
    let meta = &scored.meta_value().unwrap()["statements"];
    assert_eq!(meta[0], json!({"statement": "a", "supported": true, "reason": "r"}));
}

#[test]
fn an_answer_without_statements_or_verdicts_is_unreadable() {
    for answer in ["{\"statements\": []}", "{\"statements\": [{\"statement\": \"a\"}]}", "{}"] {
        assert!(score(answer).unwrap_err().message().contains("cannot be read"), "{answer}");
    }
}

#[test]
fn nothing_that_was_retrieved_scores_0_without_a_judge() {
    let scorer: ContextRecall = scorebox_sdk::configure(json!({})).unwrap();
    for context in [json!([]), json!([" "]), json!("")] {
        let case = Case::new(json!("x")).with_context(context);
        let scored = scorer.score(&case.clone().with_ground_truth(json!("truth"))).unwrap();
        assert_eq!(scored.score, Some(0.0));
        assert_eq!(scored.reason.as_deref(), Some("nothing was retrieved"));
        assert_eq!(scored.meta_value(), Some(json!({"statements": []})));
        assert!(scorer.score(&case).is_err());
    }
    let case = Case::new(json!("x")).with_ground_truth(json!("truth"));
    assert!(matches!(scorer.score(&case), Err(ScoreError::InvalidInput(_))));
}

#[test]
fn the_judge_names_the_statement_before_its_reason_and_its_verdict() {
    let judge =
        testing::answering(|_| r#"[{"statement": "a", "reason": "r", "supported": true}]"#.into());
    let scorer: ContextRecall = scorebox_sdk::configure(json!({})).unwrap();
    let case = Case::new(json!("x")).with_context(json!("c")).with_ground_truth(json!("t"));
    scorer.score(&case).unwrap();
    let schema = judge.questions()[0].schema.clone().unwrap();
    let properties = r#""properties":{"statement":{"type":"string"},"reason":{"type":"string"},"supported":{"type":"boolean"}}"#;
    assert!(schema.contains(properties), "{schema}");
    assert!(schema.contains(r#""required":["statement","reason","supported"]"#), "{schema}");
}
