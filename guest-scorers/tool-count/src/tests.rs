//! tool-count, as a specification. The semantics are niceeval's.

use serde_json::Value;

use super::*;

fn score(config: Value, called: &[&str]) -> Score {
    let scorer: ToolCount = scorebox_sdk::configure(config).unwrap();
    let trace: Vec<_> = called.iter().map(|name| json!({ "tool": name })).collect();
    scorer.score(&Case::new(json!("done")).with_trace(trace.into())).unwrap()
}

#[test]
fn at_most_at_least_exactly() {
    assert_eq!(score(json!({"max": 2}), &["a", "b"]).score, Some(1.0));
    let more = score(json!({"max": 1}), &["a", "b"]);
    assert_eq!(more.score, Some(0.0));
    assert_eq!(more.reason.as_deref(), Some("2 calls, wanted: at most 1"));
    assert_eq!(score(json!({"max": 1}), &[]).score, Some(1.0));
    assert_eq!(score(json!({"min": 1}), &[]).score, Some(0.0));
    assert_eq!(
        score(json!({"count": 1}), &["a"]).reason.as_deref(),
        Some("1 call, wanted: exactly 1")
    );
}

#[test]
fn none_at_all() {
    assert_eq!(score(json!({"none": true}), &[]).score, Some(1.0));
    assert_eq!(score(json!({"none": true}), &["a"]).score, Some(0.0));
}

#[test]
fn a_result_without_its_call_was_a_call() {
    let scorer: ToolCount = scorebox_sdk::configure(json!({"none": true})).unwrap();
    let trace = json!([{"role": "tool", "tool_call_id": "1", "content": "x"}]);
    let case = Case::new(json!("done")).with_trace(trace);
    assert_eq!(scorer.score(&case).unwrap().score, Some(0.0));
}

#[test]
fn of_one_tool() {
    let config = json!({"name": "shell", "max": 1});
    assert_eq!(score(config.clone(), &["Bash", "read", "read"]).score, Some(1.0));
    let more = score(config, &["Bash", "shell"]);
    assert_eq!(more.reason.as_deref(), Some("2 calls of `shell`, wanted: at most 1"));
}

#[test]
fn some_bound_there_has_to_be() {
    let refusal = |config: Value| {
        scorebox_sdk::configure::<ToolCount>(config).err().expect("a refusal").to_string()
    };
    assert_eq!(
        refusal(json!({})),
        "nothing bounds the number of calls: set `max`, `min`, `count` or `none`"
    );
    assert!(refusal(json!({"none": true, "max": 1})).starts_with("`none`: means no calls at all"));
    assert!(refusal(json!({"min": 3, "max": 1})).starts_with("`max`: should be 3 or more"));
}
