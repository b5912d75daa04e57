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
