//! no-failed-actions, as a specification. The semantics are niceeval's.

use serde_json::Value;

use super::*;

fn score_with(config: Value, trace: Value) -> Score {
    let scorer: NoFailedActions = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(json!("done")).with_trace(trace)).unwrap()
}

fn score(trace: Value) -> Score {
    score_with(json!({}), trace)
}

#[test]
fn a_failed_tool_call_fails() {
    let trace = json!([
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "a", "input": {}},
            {"type": "tool_use", "id": "2", "name": "b", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "ok"},
            {"type": "tool_result", "tool_use_id": "2", "content": "no such file", "is_error": true}]},
    ]);
    let score = score(trace);
    assert_eq!(score.score, Some(0.0));
    assert_eq!(score.reason.as_deref(), Some("1 of 2 actions failed, `b` (2): no such file"));
    assert_eq!(score.meta_value(), Some(json!({"failed": 1, "actions": 2})));
    let assertion = Assertion::pass("`b` (2) does not fail", false).reason("failed: no such file");
    assert_eq!(score.assertions, [assertion]);
}

#[test]
fn so_does_a_failed_sub_agent() {
    let events = json!([
        {"type": "subagent.called", "callId": "1", "name": "researcher"},
        {"type": "subagent.completed", "callId": "1", "status": "failed", "error": "lost"},
    ]);
    let score = score(events);
    assert_eq!(score.reason.as_deref(), Some("1 of 1 action failed, agent `researcher` (1): lost"));
}

#[test]
fn a_sub_agent_behind_a_tool_call_fails_once() {
    let trace = json!([
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "1", "name": "Task", "input": {"subagent_type": "explore"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "1", "content": "no", "is_error": true}]},
    ]);
    assert_eq!(score(trace).meta_value(), Some(json!({"failed": 1, "actions": 1})));
}

#[test]
fn a_sub_agent_that_an_event_says_has_failed_fails_although_its_tool_call_did_not() {
    let call = json!({"type": "action.called", "callId": "1", "name": "Task", "input": {"subagent_type": "explore"}});
    let agent = json!({"type": "subagent.called", "callId": "1", "name": "explore"});
    let ended =
        json!({"type": "subagent.completed", "callId": "1", "status": "failed", "error": "lost"});
    let answer = |status: &str| json!({"type": "action.result", "callId": "1", "status": status});
    for events in [
        json!([call, agent, ended, answer("completed")]),
        json!([call, agent, answer("completed"), ended]),
    ] {
        let reason = "1 of 2 actions failed, agent `explore` (2): lost";
        assert_eq!(score(events).reason.as_deref(), Some(reason));
    }
    let both = json!([call, agent, ended, answer("failed")]);
    assert_eq!(score(both).meta_value(), Some(json!({"failed": 1, "actions": 1})));
}

#[test]
fn refused_and_unanswered_calls_did_not_fail() {
    let events = json!([
        {"type": "action.called", "callId": "1", "name": "pay", "input": {}},
        {"type": "action.result", "callId": "1", "status": "rejected"},
        {"type": "action.called", "callId": "2", "name": "look", "input": {}},
    ]);
    let score = score(events);
    assert_eq!(score.score, Some(1.0));
    assert_eq!(score.reason.as_deref(), Some("no action failed (2 in all)"));
    assert!(score.assertions.is_empty());
}

#[test]
fn where_a_format_marks_no_failures_results_tell() {
    let trace = json!([
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "book", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "Error: not enough seats on flight HAT290"},
    ]);
    assert_eq!(score(trace.clone()).score, Some(0.0));
    assert_eq!(score_with(json!({"trustResults": false}), trace).score, Some(1.0));
    for (result, fails) in [
        ("Exit code: 1\n2 failed", true),
        ("Exit code: 0\nno errors", false),
        ("{\"exit_code\": 1}", true),
        ("Error executing tool", true),
        ("ERROR", true),
        ("Error 404", false),
        ("error-free", false),
    ] {
        let trace = json!([{"tool": "bash", "args": {"command": "npm test"}, "result": result}]);
        assert_eq!(score(trace).score, Some(if fails { 0.0 } else { 1.0 }), "{result}");
    }
}

#[test]
fn a_run_without_actions_has_none_that_failed() {
    assert_eq!(score(json!([{"role": "user", "content": "Hi"}])).score, Some(1.0));
}
