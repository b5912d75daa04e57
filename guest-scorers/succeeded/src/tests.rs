//! succeeded, as a specification. The semantics are those of niceeval's documentation.

use serde_json::{Value, json};

use super::*;

fn score_with(config: Value, trace: Value) -> Score {
    let scorer: Succeeded = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(json!("done")).with_trace(trace)).unwrap()
}

fn score(trace: Value) -> Score {
    score_with(json!({}), trace)
}

fn said() -> Value {
    json!({"type": "message", "role": "assistant", "text": "Done"})
}

#[test]
fn a_run_to_its_end_succeeds() {
    let score = score(json!([said()]));
    assert_eq!(score.score, Some(1.0));
    assert_eq!(score.reason.as_deref(), Some("all 3 checks passed"));
    assert_eq!(score.assertions.len(), 3);
}

#[test]
fn a_run_that_broke_off_does_not() {
    let stated = score(json!({"status": "failed", "events": [said()]}));
    assert_eq!(stated.score, Some(0.0));
    assert_eq!(stated.reason.as_deref(), Some("1 of 3 checks failed: the run broke off: failed"));
    let error = score(json!([said(), {"type": "error", "message": "out of tokens"}]));
    assert_eq!(error.score, Some(0.0));
    // An error that the run recovered from is not how it ended.
    let got_over = score(json!([{"type": "error", "message": "retry"}, said()]));
    assert_eq!(got_over.score, Some(1.0));
    let end = json!({"status": "completed", "events": [{"type": "error", "message": "retry"}]});
    assert_eq!(score(end).score, Some(1.0));
}

#[test]
fn a_status_must_be_one_of_success() {
    let with = |status: &str| json!({"status": status, "events": [said()]});
    for status in ["completed", "SUCCESS", "finished", "unset"] {
        assert_eq!(score(with(status)).score, Some(1.0), "{status}");
    }
    for status in ["expired", "TimedOut", "max_turns", "budget_exceeded", "rejected", "blocked"] {
        let reason = format!("1 of 3 checks failed: the run broke off: its status is `{status}`");
        assert_eq!(score(with(status)).reason, Some(reason));
    }
    for status in ["running", "queued", "in_progress"] {
        let reason =
            format!("1 of 3 checks failed: the run has not ended: its status is `{status}`");
        assert_eq!(score(with(status)).reason, Some(reason));
    }
    let scorer: Succeeded = scorebox_sdk::configure(json!({})).unwrap();
    let unknown = scorer.score(&Case::new(json!("done")).with_trace(with("blue")));
    assert_eq!(
        unknown.unwrap_err().to_string(),
        "`trace` has the status `blue`, which does not say whether the run succeeded; write `completed`, `failed`, \
         `waiting` or `running` in its place, or leave it out"
    );
}

#[test]
fn a_failed_action_counts_unless_configured() {
    let trace = json!([
        {"type": "action.called", "callId": "1", "name": "search", "input": {}},
        {"type": "action.result", "callId": "1", "status": "failed"},
        said(),
    ]);
    let score = score(trace.clone());
    assert_eq!(score.reason.as_deref(), Some("1 of 3 checks failed: `search` failed"));
    assert_eq!(score_with(json!({"allowFailedActions": true}), trace).score, Some(1.0));
}

#[test]
fn an_open_question_is_not_a_success() {
    let score = score(json!([said(), {"type": "input.requested", "request": {"prompt": "Sure?"}}]));
    assert_eq!(score.score, Some(0.0));
    assert_eq!(score.reason.as_deref(), Some("1 of 3 checks failed: the run waits for a person"));
}

#[test]
fn a_sample_that_was_halted_by_a_limit_broke_off() {
    let sample = json!({"epoch": 1, "scores": {}, "limit": {"type": "token", "limit": 100},
        "messages": [{"role": "assistant", "content": "I am just"}]});
    let score = score(sample);
    assert_eq!(score.score, Some(0.0));
    let reason = "1 of 3 checks failed: the run broke off: it reached its token limit";
    assert_eq!(score.reason.as_deref(), Some(reason));
}

#[test]
fn an_answer_with_an_id_is_not_a_run() {
    let scorer: Succeeded = scorebox_sdk::configure(json!({})).unwrap();
    assert!(scorer.score(&Case::new(json!({"id": 7, "answer": "x"}))).is_err());
}

#[test]
fn a_run_that_langgraph_interrupted_waits_for_a_person() {
    let state = json!({
        "messages": [
            {"type": "human", "content": "Refund order 7."},
            {"type": "ai", "content": "", "tool_calls": [
                {"name": "refund", "args": {"order": 7}, "id": "call_1", "type": "tool_call"}]},
        ],
        "__interrupt__": [{"id": "ec5a9a4f", "value": {"question": "Refund order 7?"}}],
    });
    let score = score(state);
    assert_eq!(score.score, Some(0.0));
    assert_eq!(score.reason.as_deref(), Some("1 of 3 checks failed: the run waits for a person"));
}
