//! The AI SDK's streams, steps and refusals; its messages are tested with those of all providers.

use serde_json::json;

use super::*;

fn calls(value: Value) -> Vec<String> {
    let trace = Trace::read(value).unwrap();
    assert_eq!(trace.orphan_results().count(), 0);
    let is_call = |step: &&Step| matches!(step.kind, StepKind::ToolCall(_));
    trace.steps().iter().filter(is_call).map(line).collect()
}

#[test]
fn the_pieces_of_a_call_are_no_calls() {
    let call = json!({"type": "tool-call", "toolCallId": "1", "toolName": "w", "input": {"c": 1}});
    let result = json!({"type": "tool-result", "toolCallId": "1", "toolName": "w",
        "input": {"c": 1}, "output": "sun"});
    let stream = json!([
        {"type": "start"},
        {"type": "start-step", "request": {}},
        {"type": "tool-input-start", "id": "1", "toolName": "w"},
        {"type": "tool-input-delta", "id": "1", "delta": "{\"c\":1}"},
        {"type": "tool-input-end", "id": "1"},
        call, result,
        {"type": "finish-step", "finishReason": "tool-calls"},
        {"type": "finish", "finishReason": "tool-calls"}]);
    let expected = ["call w {\"c\":1} -> \"sun\" (succeeded)"];
    assert_eq!(calls(stream), expected);
    let of_version_4 = json!([
        {"type": "tool-call-streaming-start", "toolCallId": "1", "toolName": "w"},
        {"type": "tool-call-delta", "toolCallId": "1", "toolName": "w", "argsTextDelta": "{"},
        call, result]);
    assert_eq!(calls(of_version_4), expected);
    let denied = json!([call, {"type": "tool-output-denied", "toolCallId": "1", "toolName": "w"}]);
    assert_eq!(calls(denied), ["call w {\"c\":1} -> null (rejected)"]);
}

#[test]
fn a_stream_for_pages_has_a_call_once_for_each_id() {
    let input = |id: &str| {
        json!({"type": "tool-input-available", "toolCallId": id, "toolName": "w",
        "input": {"c": 1}})
    };
    let stream = json!([
        {"type": "start", "messageId": "m"},
        {"type": "tool-input-start", "toolCallId": "1", "toolName": "w"},
        {"type": "tool-input-delta", "toolCallId": "1", "inputTextDelta": "{\"c\":1}"},
        input("1"), input("2"), input("3"), input("1"),
        {"type": "tool-output-available", "toolCallId": "1", "output": "s", "preliminary": true},
        {"type": "tool-output-available", "toolCallId": "1", "output": "sun"},
        {"type": "tool-output-error", "toolCallId": "2", "errorText": "no"},
        {"type": "tool-output-denied", "toolCallId": "3"},
        {"type": "tool-input-error", "toolCallId": "4", "toolName": "v", "input": {}, "errorText": "bad"},
        {"type": "finish"}]);
    let expected = [
        "call w {\"c\":1} -> \"sun\" (succeeded)",
        "call w {\"c\":1} -> \"no\" (failed)",
        "call w {\"c\":1} -> null (rejected)",
        "call v {} -> \"bad\" (failed)",
    ];
    assert_eq!(calls(stream), expected);
    // The name of a tool may begin like the type of a piece.
    let page = json!([{"role": "assistant", "parts": [{"type": "tool-input-check", "toolCallId": "1",
        "state": "output-available", "input": {}, "output": "ok"}]}]);
    assert_eq!(calls(page), ["call input-check {} -> \"ok\" (succeeded)"]);
}

#[test]
fn a_denied_call_is_rejected() {
    let messages = |output: Value| {
        json!([
            {"role": "assistant", "content": [
                {"type": "tool-call", "toolCallId": "1", "toolName": "pay", "input": {}}]},
            {"role": "tool", "content": [
                {"type": "tool-result", "toolCallId": "1", "toolName": "pay", "output": output}]}])
    };
    let denied = json!({"type": "execution-denied", "reason": "no"});
    assert_eq!(calls(messages(denied)), ["call pay {} -> \"no\" (rejected)"]);
    let denied = json!({"type": "execution-denied"});
    assert_eq!(calls(messages(denied)), ["call pay {} -> null (rejected)"]);
    let done = json!({"type": "json", "value": {"paid": true}});
    assert_eq!(calls(messages(done)), ["call pay {} -> {\"paid\":true} (succeeded)"]);
}

#[test]
fn steps_of_version_5_have_parts() {
    let call = |id: &str| json!({"type": "tool-call", "toolCallId": id, "toolName": "w", "input": {"c": 1}});
    let steps = json!({"steps": [
        {"content": [
            {"type": "text", "text": "I look."}, call("1"), call("2"),
            {"type": "tool-result", "toolCallId": "1", "toolName": "w", "input": {"c": 1}, "output": "sun"},
            {"type": "tool-error", "toolCallId": "2", "toolName": "w", "input": {"c": 1}}],
         "finishReason": "tool-calls", "usage": {"inputTokens": 5, "outputTokens": 2},
         "response": {"messages": [{"role": "assistant", "content": [call("1"), call("2")]}]}},
        {"content": [{"type": "text", "text": "Sun."}], "finishReason": "length",
         "usage": {"inputTokens": 9, "outputTokens": 1},
         "response": {"messages": [{"role": "assistant", "content": [call("1"), call("2")]}]}}]});
    let trace = Trace::read(steps.clone()).unwrap();
    let expected = [
        "assistant: I look.",
        "call w {\"c\":1} -> \"sun\" (succeeded)",
        "call w {\"c\":1} -> null (failed)",
        "assistant: Sun.",
    ];
    assert_eq!(lines(&trace), expected);
    assert_eq!(trace.usage().unwrap().total(), Some(17));
    let cut = "the answer was cut off: length".to_owned();
    assert_eq!(trace.outcome(), Some(&Outcome::Failed(Some(cut))));
    assert_eq!(told(steps["steps"].clone()), expected);
    assert_eq!(told(steps["steps"][0].clone()), expected[..3]);
}

#[test]
fn what_the_sdk_returns_has_all_steps_beside_the_last() {
    let result = json!({"text": "Sun.", "finishReason": "stop", "toolCalls": [], "toolResults": [],
        "content": [], "steps": [
            {"text": "", "toolCalls": [{"toolCallId": "1", "toolName": "w", "args": {"c": 1}}],
                "toolResults": [{"toolCallId": "1", "toolName": "w", "result": "sun"}]},
            {"text": "Sun.", "toolCalls": [], "toolResults": []}]});
    assert_eq!(told(result), ["call w {\"c\":1} -> \"sun\" (unknown)", "assistant: Sun."]);
}

fn step_of_version_4(more: Value) -> Value {
    let call = json!({"type": "tool-call", "toolCallId": "1", "toolName": "w", "args": {"c": 1}});
    let result = json!({"type": "tool-result", "toolCallId": "1", "toolName": "w", "args": {"c": 1},
        "result": "Error: boom"});
    let mut step = json!({"stepType": "initial", "text": "", "toolCalls": [call], "toolResults": [result],
        "finishReason": "tool-calls", "response": {"id": "r", "modelId": "m"}});
    step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    step
}

#[test]
fn what_the_provider_answered_is_not_a_result_of_a_call() {
    let said = json!([
        {"role": "assistant", "content": [
            {"type": "tool-call", "toolCallId": "1", "toolName": "w", "args": {"c": 1}}]},
        {"role": "tool", "content": [
            {"type": "tool-result", "toolCallId": "1", "toolName": "w", "result": "Error: boom"}]}]);
    let answered = ["call w {\"c\":1} -> \"Error: boom\" (unknown)"];
    let beside = [
        json!({}),
        json!({"response": {"id": "r", "messages": said}}),
        json!({"response": {"id": "r", "error": "x"}}),
        json!({"output": {"answer": 1}, "result": "x"}),
    ];
    for beside in beside {
        let trace = Trace::read(json!([step_of_version_4(beside.clone())])).unwrap();
        assert_eq!(lines(&trace), answered, "{beside}");
        assert_eq!(trace.tool_calls().next().unwrap().status(), Status::Failed);
    }
    // A call without a result has none.
    let open = step_of_version_4(json!({"toolResults": [], "response": {"messages": said}}));
    assert_eq!(calls(json!([open])), ["call w {\"c\":1} -> nothing (unknown)"]);
}

#[test]
fn an_error_beside_calls_that_have_results_is_one_of_the_step() {
    let step = step_of_version_4(json!({"error": "lost"}));
    assert_eq!(
        told(json!([step])),
        ["call w {\"c\":1} -> \"Error: boom\" (unknown)", "error lost"]
    );
}

#[test]
fn a_step_that_was_cut_off_cuts_off_the_run() {
    let outcome = |trace: Value| Trace::read(trace).unwrap().outcome().cloned();
    let cut = Some(Outcome::Failed(Some("the answer was cut off: length".to_owned())));
    let last = |reason: &str| {
        json!({"stepType": "tool-result", "text": "Su", "toolCalls": [], "toolResults": [],
            "finishReason": reason, "response": {"id": "s"}})
    };
    let first = |reason: &str| step_of_version_4(json!({"finishReason": reason}));
    assert_eq!(outcome(json!([first("tool-calls"), last("length")])), cut);
    assert_eq!(outcome(json!([first("length"), last("stop")])), None);
    // What the SDK returns says this about its last step.
    let steps = json!([{"text": "Su", "toolCalls": [], "toolResults": []}]);
    assert_eq!(outcome(json!({"text": "Su", "finishReason": "length", "steps": steps})), cut);
}

#[test]
fn a_step_in_parts_may_have_its_calls_in_lists_too() {
    let call = |id: &str| json!({"type": "tool-call", "toolCallId": id, "toolName": "w", "input": {"c": 1}});
    let result = json!({"type": "tool-result", "toolCallId": "1", "toolName": "w", "input": {"c": 1}, "output": "sun"});
    let error = json!({"type": "tool-error", "toolCallId": "2", "toolName": "w", "error": "no"});
    let said = json!([{"role": "assistant", "content": [call("1"), call("2")]}]);
    let step = json!({"content": [call("1"), call("2"), result, error], "text": "",
        "toolCalls": [call("1"), call("2")], "toolResults": [result], "finishReason": "tool-calls",
        "response": {"messages": said}});
    let expected =
        ["call w {\"c\":1} -> \"sun\" (succeeded)", "call w {\"c\":1} -> \"no\" (failed)"];
    assert_eq!(calls(json!([step])), expected);
    assert_eq!(calls(json!({"steps": [step]})), expected);
}

#[test]
fn what_a_person_said_about_a_call_is_not_a_result() {
    let asks = json!({"role": "assistant", "content": [
        {"type": "tool-call", "toolCallId": "c", "toolName": "rm", "input": {"p": "/"}},
        {"type": "tool-approval-request", "approvalId": "a", "toolCallId": "c"}]});
    let says = |approved: bool| json!({"role": "tool", "content": [{"type": "tool-approval-response", "approvalId": "a", "approved": approved}]});
    let denied = json!({"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c",
        "toolName": "rm", "output": {"type": "execution-denied"}}]});
    let failed = json!({"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c",
        "toolName": "rm", "output": {"type": "error-text", "value": "no"}}]});
    let nothing = ["call rm {\"p\":\"/\"} -> nothing (unknown)"];
    let refused = ["call rm {\"p\":\"/\"} -> nothing (rejected)"];
    assert_eq!(calls(json!([asks, says(true)])), nothing);
    assert_eq!(calls(json!([asks, says(false)])), refused);
    assert_eq!(
        calls(json!([asks, says(false), denied])),
        ["call rm {\"p\":\"/\"} -> null (rejected)"]
    );
    assert_eq!(
        calls(json!([asks, says(true), failed])),
        ["call rm {\"p\":\"/\"} -> \"no\" (failed)"]
    );
    assert!(Trace::read(json!([asks])).unwrap().is_parked());
    assert!(!Trace::read(json!([asks, says(true)])).unwrap().is_parked());

    let page = |approved: bool| {
        json!([{"role": "assistant", "parts": [{"type": "tool-rm", "toolCallId": "c",
        "state": "approval-responded", "input": {"p": "/"}, "approval": {"id": "a", "approved": approved}}]}])
    };
    assert_eq!(calls(page(true)), nothing);
    assert_eq!(calls(page(false)), refused);
    // The steps of a run contain the whole call in the approval request.
    let call =
        json!({"type": "tool-call", "toolCallId": "c", "toolName": "rm", "input": {"p": "/"}});
    let step = json!({"content": [call, {"type": "tool-approval-request", "approvalId": "a", "toolCall": call}],
        "finishReason": "tool-calls"});
    assert_eq!(calls(json!([step, says(false)])), refused);
}

#[test]
fn an_invalid_call_and_its_error_are_one_call() {
    let call = json!({"type": "tool-call", "toolCallId": "c", "toolName": "w", "input": {}, "invalid": true,
        "error": {"message": "no such tool"}});
    let error = json!({"type": "tool-error", "toolCallId": "c", "toolName": "w", "input": {}, "error": "no"});
    let expected = ["call w {} -> \"no\" (failed)"];
    assert_eq!(calls(json!([{"role": "assistant", "content": [call, error]}])), expected);
    let stream = json!([{"type": "tool-input-error", "toolCallId": "c", "toolName": "w", "input": {}, "errorText": "no"},
        {"type": "tool-output-error", "toolCallId": "c", "errorText": "no"}]);
    assert_eq!(calls(stream), expected);
}

#[test]
fn an_input_that_could_not_be_read_is_shown_as_it_came() {
    let part = json!({"type": "tool-w", "toolCallId": "1", "state": "output-error", "rawInput": {"c": "x"},
        "errorText": "no"});
    let expected = ["call w {\"c\":\"x\"} -> \"no\" (failed)"];
    assert_eq!(calls(json!([{"role": "assistant", "parts": [part]}])), expected);
}

#[test]
fn the_last_part_of_a_stream_says_why_it_ended() {
    let stream = |reason: &str| {
        json!([{"type": "start"}, {"type": "tool-call", "toolCallId": "1", "toolName": "w", "input": {}},
            {"type": "finish", "finishReason": reason}])
    };
    let outcome = |reason: &str| Trace::read(stream(reason)).unwrap().outcome().cloned();
    assert_eq!(
        outcome("length"),
        Some(Outcome::Failed(Some("the answer was cut off: length".into())))
    );
    assert_eq!(outcome("stop"), None);
}
