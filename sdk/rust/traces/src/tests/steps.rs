//! Step dictionaries, and data in no known format.

use serde_json::json;

use super::*;

#[test]
fn steps_that_name_their_tool() {
    let trace = json!([
        {"step": 1, "thought": "Look.", "action": "search", "action_input": {"q": "x"}, "observation": "found 3"},
        {"id": "s3", "action": "submit"},
        {"tool": "open", "args": {"page": 1}, "result": {"error": "gone"}, "status": "failed"},
        {"tool_name": "read", "parameters": {"page": 2}, "output": "text", "success": true},
        {"step": 5, "action": {"tool": "close", "input": {}}, "observation": "closed"},
        {"step": 6, "final_answer": "Three."},
    ]);
    assert_eq!(
        told(trace),
        [
            "thinks: Look.",
            "call search {\"q\":\"x\"} -> \"found 3\" (unknown)",
            "call submit {} -> nothing (unknown)",
            "call open {\"page\":1} -> {\"error\":\"gone\"} (failed)",
            "call read {\"page\":2} -> \"text\" (succeeded)",
            "call close {} -> \"closed\" (unknown)",
            "assistant: Three.",
        ]
    );
}

#[test]
fn langchains_actions_with_their_observations() {
    let action = json!({"tool": "w", "tool_input": "Rome", "log": "…", "type": "AgentAction"});
    assert_eq!(told(json!([action])), ["call w \"Rome\" -> nothing (unknown)"]);
    let pairs = json!({"intermediate_steps": [[action, "sun"]], "output": "Sun."});
    assert_eq!(told(pairs), ["call w \"Rome\" -> \"sun\" (unknown)"]);
    let dumped = json!([[{"lc": 1, "type": "constructor", "id": ["langchain", "schema", "agent", "AgentAction"],
        "kwargs": {"tool": "w", "tool_input": {"c": 1}}}, "sun"]]);
    assert_eq!(told(dumped), ["call w {\"c\":1} -> \"sun\" (unknown)"]);
}

#[test]
fn bare_calls() {
    let expected = ["call w {\"c\":1} -> nothing (unknown)"];
    assert_eq!(told(json!([{"name": "w", "arguments": {"c": 1}}])), expected);
    assert_eq!(told(json!([{"function": {"name": "w", "arguments": "{\"c\":1}"}}])), expected);
    assert_eq!(told(json!({"tool_calls": [{"name": "w", "args": {"c": 1}}]})), expected);
    assert_eq!(told(json!([{"type": "tool_use", "name": "w", "input": {"c": 1}}])), expected);
    assert_eq!(told(json!({"functionCall": {"name": "w", "args": {"c": 1}}})), expected);
}

#[test]
fn calls_without_arguments_are_names_alone() {
    let expected = ["call w {} -> nothing (unknown)", "call v {} -> nothing (unknown)"];
    assert_eq!(told(json!([{"name": "w"}, {"name": "v"}])), expected);
    assert_eq!(
        told(json!([{"name": "w", "type": "FUNCTION"}, {"name": "v", "type": "function"}])),
        expected
    );
    let explained =
        json!([{"name": "w", "description": "W", "reasoning": "why not"}, {"name": "v"}]);
    assert_eq!(told(explained), expected);
    assert_eq!(told(json!([{"name": "w", "output": "x"}])), ["call w {} -> \"x\" (unknown)"]);
    let found = refusal(json!([{"name": "w"}, {"name": "v", "colour": "red"}]));
    assert_eq!(found, "item 0 is an object with the keys `name`");
}

#[test]
fn wrappers_and_text_around_the_steps_are_opened() {
    let steps = json!([{"tool": "w"}]);
    let expected = ["call w {} -> nothing (unknown)"];
    assert_eq!(told(json!({"trajectory": steps})), expected);
    assert_eq!(told(json!({"trajectory": {"steps": steps}, "answer": 1})), expected);
    assert_eq!(
        told(Value::String(json!({ "messages": [], "events": steps }).to_string())),
        expected
    );
    assert_eq!(told(json!([])), [""; 0]);
    let trace =
        Trace::read(json!({"messages": [], "tools": [{"name": "w"}], "error": "broke"})).unwrap();
    assert_eq!(trace.outcome(), Some(&Outcome::Failed(Some("broke".into()))));
    assert_eq!(trace.tools().len(), 1);
}

fn refusal(value: Value) -> String {
    let message = Trace::read(value).unwrap_err().to_string();
    let (found, understood) =
        message.split_once(". Known formats are ").expect("what is understood");
    assert!(understood.contains("OpenTelemetry"));
    found.strip_prefix("the trace is in an unknown format: ").unwrap().to_owned()
}

#[test]
fn an_unknown_shape_says_what_was_found() {
    assert_eq!(
        refusal(json!([{"role": "user", "content": "x"}, {"speaker": "a", "words": 1}])),
        "item 1 is an object with the keys `speaker`, `words`"
    );
    assert_eq!(refusal(json!({"answer": 5})), "it is an object with the keys `answer`");
    assert_eq!(refusal(json!([1])), "item 0 is a number");
    assert_eq!(
        refusal(json!([[1, 2]])),
        "item 0 is an array, but not an action with its observation"
    );
    assert_eq!(refusal(json!(5)), "it is a number");
    assert_eq!(refusal(json!("the agent ran")), "it is a text that is not JSON: \"the agent ran\"");
    assert_eq!(refusal(json!([{"type": "foo", "a": 1}])), "its items are of the type `foo`");
}

#[test]
fn for_events_unknown_types_will_do() {
    let trace = Trace::read_events(json!([{"type": "foo"}, {"event": "bar"}])).unwrap();
    assert_eq!(events(&trace), ["foo", "bar"]);
}

#[test]
fn a_case_without_a_trace_may_have_one_in_its_output() {
    let steps = json!([{"step": 1, "action": "search"}]);
    let output = scorebox_sdk::Case::new(json!({"trajectory": steps}));
    assert_eq!(Trace::of(&output).unwrap().tool_calls().count(), 1);
    let both = scorebox_sdk::Case::new(steps.clone())
        .with_trace(json!([{"role": "user", "content": "Hi"}]));
    assert_eq!(Trace::of(&both).unwrap().tool_calls().count(), 0);
    let neither = Trace::of(&scorebox_sdk::Case::new(json!("done"))).unwrap_err();
    assert_eq!(
        neither.message(),
        "the case has no `trace`, which this scorer needs; its `output` (a string) is not a trace either"
    );
    let wrong =
        Trace::of(&scorebox_sdk::Case::new(json!("done")).with_trace(json!(["x"]))).unwrap_err();
    assert!(wrong.message().starts_with("`trace` is in an unknown format: item 0 is a string"));
}

#[test]
fn the_raw_steps_are_the_list_itself() {
    let steps = json!([{"step": 1}, "bad"]);
    assert_eq!(Trace::raw_steps(&steps), steps.as_array().map(Vec::as_slice));
    let wrapped = json!({"trajectory": {"steps": [1, 2]}});
    assert_eq!(Trace::raw_steps(&wrapped).map(<[Value]>::len), Some(2));
    assert_eq!(Trace::raw_steps(&json!("x")), None);
}

#[test]
fn a_result_shows_a_failure_where_the_trace_states_nothing() {
    let status = |result: Value| {
        let call = ToolCall { result: Some(result), ..ToolCall::default() };
        call.status()
    };
    let failures = [
        json!("Error: flight HAT030 not available on date 2024-05-13"),
        json!("Error executing tool w: boom"),
        json!("Traceback (most recent call last):\n  …"),
        json!({"error": "gone"}),
        json!("{\"error\": {\"code\": 5}}"),
        json!({"isError": true, "content": []}),
        json!({"status": "failed"}),
        json!({"metadata": {"exit_code": 1}, "output": ""}),
        json!([{"type": "text", "text": "Error: no"}]),
        json!("ERROR!"),
        json!("error\r\nno"),
        json!("Exit code: 1\n2 failed"),
        json!("Exit code 2"),
        json!({"exit_code": 1.0}),
        json!([{"type": "text", "text": "Process exited with code 1\nOutput:"}]),
    ];
    for result in failures {
        assert_eq!(status(result.clone()), Status::Failed, "{result}");
    }
    let successes = [
        json!("Errors: 0"),
        json!("Error handling for beginners"),
        json!("Error 404"),
        json!("Exit code: 0\nerror: none"),
        json!("Exit code: unknown"),
        json!("It says:\nExit code: 1"),
        json!({"error": null, "rows": []}),
        json!("{\"exit_code\": 0}"),
        json!({"exit_code": 0.0}),
        json!(""),
        json!(null),
    ];
    for result in successes {
        assert_eq!(status(result.clone()), Status::Succeeded, "{result}");
    }
    assert_eq!(ToolCall::default().status(), Status::Unknown);
    let stated = ToolCall { stated_status: Status::Succeeded, ..ToolCall::default() };
    assert_eq!(stated.status(), Status::Succeeded);
}
