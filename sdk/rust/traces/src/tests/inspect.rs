//! What Inspect's samples have beside their messages.

use serde_json::json;

use super::*;

#[test]
fn the_calls_of_an_agent_that_a_tool_runs_count() {
    let asks = json!({"role": "assistant", "content": "", "tool_calls": [
        {"id": "1", "function": "sub", "arguments": {}}]});
    let told_so = json!({"role": "tool", "tool_call_id": "1", "function": "sub", "content": "ok"});
    let sample = json!({"epoch": 1, "scores": {}, "messages": [asks, told_so], "events": [
        {"event": "tool", "id": "2", "function": "rm", "arguments": {"p": "/"}, "result": "", "error": {"message": "no"}},
        {"event": "tool", "id": "1", "function": "sub", "arguments": {}, "result": "ok"}]});
    let expected = ["call sub {} -> \"ok\" (succeeded)", "call rm {\"p\":\"/\"} -> \"\" (failed)"];
    assert_eq!(told(sample), expected);
}

#[test]
fn a_choice_says_why_the_answer_ended() {
    let outcome = |trace: Value| Trace::read(trace).unwrap().outcome().cloned();
    let cut = Some(Outcome::Failed(Some("the answer was cut off: max_tokens".to_owned())));
    let said = json!({"role": "assistant", "content": "x"});
    let output = |why: &str| json!({"choices": [{"message": said, "stop_reason": why}]});
    let sample = |why: &str| json!({"epoch": 1, "messages": [said], "output": output(why)});
    let events = |why: &str| json!([{"event": "model", "input": [], "output": output(why)}]);
    assert_eq!((outcome(sample("max_tokens")), outcome(sample("stop"))), (cut.clone(), None));
    assert_eq!((outcome(events("max_tokens")), outcome(events("stop"))), (cut, None));
}
