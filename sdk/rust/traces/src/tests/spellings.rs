//! One call as many formats write it: where its arguments are, where its result is, how a failure is marked.

use serde_json::json;

use super::*;

#[test]
fn arguments_go_by_many_names() {
    let keys = [
        "args",
        "kwargs",
        "tool_input",
        "toolInput",
        "action_input",
        "tool_args",
        "toolArgs",
        "input_parameters",
        "inputParameters",
    ];
    for key in keys {
        let expected = ["call f {\"x\":1} -> nothing (unknown)"];
        assert_eq!(told(json!([{"name": "f", key: {"x": 1}}])), expected, "{key}");
        assert_eq!(told(json!([{"tool": "f", key: {"x": 1}}])), expected, "{key}");
        let step = json!([{"action": {"name": "f", key: {"x": 1}}, "observation": "y"}]);
        assert_eq!(told(step), ["call f {\"x\":1} -> \"y\" (unknown)"], "{key}");
        let truth = json!([{"name": "f", key: {"x": 1}}]);
        let case = scorebox_sdk::Case::new(json!(null)).with_ground_truth(truth);
        let expected = ExpectedCalls::from_case(&case).unwrap();
        let arguments = &expected.alternatives()[0].calls[0].arguments;
        assert_eq!(*arguments, Some(json!({"x": 1})), "{key}");
    }
    let deepeval = json!([{"name": "f", "inputParameters": {"x": 1}, "output": "y"}]);
    assert_eq!(told(deepeval), ["call f {\"x\":1} -> \"y\" (unknown)"]);
    // LangChain's own `kwargs` are the fields of an action; an action's `kwargs` are arguments.
    let pair = json!([[{"name": "f", "kwargs": {"x": 1}}, "y"]]);
    assert_eq!(told(pair), ["call f {\"x\":1} -> \"y\" (unknown)"]);
}

#[test]
fn a_call_without_arguments_may_stand_among_others() {
    let calls = json!([{"name": "login", "arguments": {}}, {"name": "list_orders"}]);
    let expected =
        ["call login {} -> nothing (unknown)", "call list_orders {} -> nothing (unknown)"];
    assert_eq!(told(calls), expected);
    assert!(Trace::read(json!([{"name": "list_orders", "colour": "red"}])).is_err());
}

#[test]
fn a_call_that_names_no_tool_is_refused_with_its_keys() {
    let refusal = |value: Value| Trace::read(value).unwrap_err().to_string();
    let message = refusal(json!([{"role": "assistant", "tool_calls": [{"id": "1", "what": "f"}]}]));
    assert!(
        message.contains("a tool call in it is an object with the keys `id`, `what`"),
        "{message}"
    );
    let nameless = [
        json!([{"type": "tool_use", "id": "1"}]),
        json!([{"type": "function_call", "call_id": "1", "arguments": "{}"}]),
        json!([{"type": "action.called", "callId": "1", "input": {}}]),
        json!([{"event": "tool", "id": "1", "arguments": {}}]),
    ];
    for call in nameless {
        assert!(refusal(call.clone()).contains("a tool call in it"), "{call}");
    }
    assert!(refusal(json!([{"action": {"what": 1}}])).contains("an action in it"));
    let expected = ["call f {\"x\":1} -> nothing (unknown)"];
    let whole = json!({"name": "f", "arguments": {"x": 1}});
    assert_eq!(told(json!([{"type": "tool_call", "content": whole}])), expected);
    let calls = json!([{"role": "assistant", "tool_calls": [{"id": "1", "tool": whole}]}]);
    assert_eq!(told(calls), expected);
}

#[test]
fn an_error_that_is_false_zero_or_empty_is_none() {
    let failed = |error: Value| {
        let call = json!({"tool": "f", "input": {}});
        let trace = json!([{"action": call, "result": {"error": error, "data": [1]}}]);
        let trace = Trace::read(trace).unwrap();
        trace.tool_calls().any(|call| call.status() == Status::Failed)
    };
    for none in [json!(null), json!(false), json!(0), json!(0.0), json!(""), json!([]), json!({})] {
        assert!(!failed(none.clone()), "{none}");
    }
    for some in [json!(true), json!(1), json!(-1), json!("no"), json!(["no"]), json!({"code": 0})] {
        assert!(failed(some.clone()), "{some}");
    }
}

#[test]
fn steps_keep_the_results_of_their_actions() {
    let action = json!({"tool": "f", "input": {}});
    let failed = |trace: Value| {
        let trace = Trace::read(trace).unwrap();
        assert_eq!(trace.orphan_results().count(), 0);
        trace.tool_calls().map(|call| call.status() == Status::Failed).collect::<Vec<_>>()
    };
    assert_eq!(failed(json!([{"action": action, "result": {"success": false}}])), [true]);
    assert_eq!(failed(json!([{"action": action, "error": "boom"}])), [true]);
    assert_eq!(failed(json!([{"action": action, "output": "fine"}])), [false]);
    let call = json!({"name": "f", "arguments": {}});
    let lists = json!({"tool_calls": [call, call], "tool_results": ["fine", {"error": "bad"}]});
    assert_eq!(failed(lists.clone()), [false, true]);
    assert_eq!(failed(json!([lists])), [false, true]);
    let whole = json!({"thought": "So.", "actions": [action], "observation": "Error: no"});
    assert_eq!(failed(whole), [true]);
    let named = json!({"tool_calls": [{"id": "1", "name": "f"}, {"id": "2", "name": "g"}],
        "toolResults": [{"callId": "2", "tool": "g", "result": "Error: no"}]});
    assert_eq!(failed(named), [false, true]);
    let two = |kind: &str| {
        json!([{"type": "action", "tool": "f"},
            {kind: "observation", "content": "Error: y"}, {"type": "message", "role": "user", "content": "Hm"}])
    };
    assert_eq!(failed(two("type")), [true]);
    assert_eq!(
        failed(json!([{"event": "tool_call", "tool": "f", "args": {}},
            {"event": "tool_result", "tool": "f", "result": {"error": "y"}}])),
        [true]
    );
    let bash = json!([{"tool": "bash", "args": {"command": "x"}, "exit_code": 1, "output": "x"}]);
    assert_eq!(failed(bash), [true]);
    let both = json!([{"type": "tool", "name": "f", "args": {"x": 1}, "content": "y"}]);
    assert_eq!(told(both), ["call f {\"x\":1} -> \"y\" (unknown)"]);
}

#[test]
fn results_find_their_calls_by_every_spelling_of_an_id() {
    for key in ["call_id", "callId", "tool_call_id", "toolCallId"] {
        let trace = json!([{"role": "assistant", "content": [
                {"type": "tool_use", "id": "1", "name": "a", "input": {}},
                {"type": "tool_use", "id": "2", "name": "b", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", key: "2", "content": "x"}]}]);
        let expected = ["call a {} -> nothing (unknown)", "call b {} -> \"x\" (succeeded)"];
        assert_eq!(told(trace), expected, "{key}");
    }
    for key in ["tool", "tool_name", "toolName", "name"] {
        let trace = json!([{"type": "tool_call", "name": "a"}, {"type": "tool_call", "name": "b"},
            {"type": "tool_result", key: "b", "content": "x"}]);
        let expected = ["call a {} -> nothing (unknown)", "call b {} -> \"x\" (succeeded)"];
        assert_eq!(told(trace), expected, "{key}");
    }
}

#[test]
fn of_several_commands_one_that_failed_is_a_failure() {
    let call = |outcomes: Value| {
        let trace = json!([{"type": "shell_call", "call_id": "s", "action": {"commands": ["a", "b"]}},
            {"type": "shell_call_output", "call_id": "s", "output": outcomes}]);
        Trace::read(trace).unwrap().tool_calls().next().unwrap().clone()
    };
    let exit = |code: i64| json!({"stdout": "", "outcome": {"type": "exit", "exit_code": code}});
    let second = call(json!([exit(0), exit(1)]));
    assert_eq!((second.exit_code(), second.status()), (Some(1), Status::Failed));
    let none = call(json!([exit(0), exit(0)]));
    assert_eq!((none.exit_code(), none.status()), (Some(0), Status::Succeeded));
    let late = call(json!([exit(0), {"stdout": "", "outcome": {"type": "timeout"}}]));
    assert_eq!(late.status(), Status::Failed);
}

#[test]
fn a_failure_is_one_in_capitals_too() {
    let call = |result: Value| ToolCall { result: Some(result), ..ToolCall::default() };
    assert_eq!(call(json!({"status": "ERROR"})).status(), Status::Failed);
    // A cancelled order is the expected result.
    assert_eq!(call(json!({"status": "cancelled"})).status(), Status::Succeeded);
}

#[test]
fn anthropics_servers_run_commands_too() {
    let trace = json!([{"role": "assistant", "content": [
        {"type": "server_tool_use", "id": "1", "name": "bash_code_execution", "input": {"command": "x"}},
        {"type": "bash_code_execution_tool_result", "tool_use_id": "1", "content":
            {"type": "bash_code_execution_result", "stdout": "", "stderr": "no", "return_code": 1}}]}]);
    let trace = Trace::read(trace).unwrap();
    let call = trace.tool_calls().next().unwrap();
    assert_eq!((call.stated_status, call.exit_code()), (Status::Failed, Some(1)));
    assert!(call.is("shell"));
}

#[test]
fn the_end_of_react_is_not_a_call() {
    let end = json!([{"thought": "Enough.", "action": "Final Answer", "action_input": "42"}]);
    assert_eq!(told(end), ["thinks: Enough.", "assistant: 42"]);
    let bare = json!([{"action": "final_answer", "action_input": {"answer": "42"}}]);
    assert_eq!(told(bare), ["assistant: 42"]);
}

#[test]
fn tools_of_the_user_are_not_the_agents() {
    let trace = json!([
        {"role": "user", "content": "", "tool_calls": [
            {"id": "1", "name": "reboot", "arguments": {}, "requestor": "user"}]},
        {"role": "tool", "id": "1", "content": "Error: no", "requestor": "user"},
        {"role": "assistant", "content": "Well?"},
    ]);
    let trace = Trace::read(trace).unwrap();
    assert_eq!(lines(&trace), ["assistant: Well?"]);
    assert_eq!(trace.orphan_results().count(), 0);
}
