//! Programs with their own formats that no other test file covers.

use serde_json::json;

use super::*;

#[test]
fn pydantic_ai_says_of_each_part_what_it_is() {
    let messages = json!([
        {"kind": "request", "parts": [
            {"part_kind": "system-prompt", "content": "Be brief."},
            {"part_kind": "user-prompt", "content": "Weather?", "timestamp": "2026-01-01T00:00:00Z"}]},
        {"kind": "response", "usage": {"input_tokens": 5, "output_tokens": 2}, "parts": [
            {"part_kind": "thinking", "content": "Hm."},
            {"part_kind": "tool-call", "tool_name": "w", "args": "{\"city\": \"Oslo\"}", "tool_call_id": "1"},
            {"part_kind": "tool-call", "tool_name": "v", "args": {}, "tool_call_id": "2"}]},
        {"kind": "request", "parts": [
            {"part_kind": "retry-prompt", "tool_name": "v", "tool_call_id": "2", "content": "no such city"},
            {"part_kind": "tool-return", "tool_name": "w", "tool_call_id": "1", "content": {"c": 3}}]},
        {"kind": "response", "parts": [{"part_kind": "text", "content": "3 degrees"}]}]);
    let trace = Trace::read(messages).unwrap();
    let expected = [
        "system: Be brief.",
        "user: Weather?",
        "thinks: Hm.",
        "call w {\"city\":\"Oslo\"} -> {\"c\":3} (succeeded)",
        "call v {} -> \"no such city\" (failed)",
        "assistant: 3 degrees",
    ];
    assert_eq!(lines(&trace), expected);
    assert_eq!(trace.usage().unwrap().input_tokens, Some(5));
}

#[test]
fn openhands_observations_name_the_actions_that_they_answer() {
    let events = json!([
        {"id": 0, "source": "user", "action": "message", "args": {"content": "Clean up."}, "message": "Clean up."},
        {"id": 1, "source": "agent", "action": "run", "args": {"command": "rm x", "thought": "Away."}, "message": "Running"},
        {"id": 2, "source": "agent", "action": "read", "args": {"path": "y"}},
        {"id": 3, "cause": 2, "source": "agent", "observation": "read", "content": "text", "extras": {}},
        {"id": 4, "cause": 1, "source": "agent", "observation": "run", "content": "no x",
            "extras": {"metadata": {"exit_code": 1}}, "message": "failed"},
        {"id": 5, "source": "environment", "observation": "agent_state_changed", "content": "", "extras": {}},
        {"id": 6, "source": "agent", "action": "finish", "args": {"final_thought": "Done."}}]);
    let trace = Trace::read(events).unwrap();
    let expected = [
        "user: Clean up.",
        "thinks: Away.",
        "call run {\"command\":\"rm x\"} -> \"no x\" (failed)",
        "call read {\"path\":\"y\"} -> \"text\" (succeeded)",
        "assistant: Done.",
    ];
    assert_eq!(lines(&trace), expected);
    assert_eq!(trace.tool_calls().next().unwrap().canonical_name(), Some("shell"));
}

#[test]
fn codex_writes_lines() {
    let lines_of_exec = json!([
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.started", "item": {"id": "1", "type": "command_execution", "command": "ls", "status": "in_progress"}},
        {"type": "item.completed", "item": {"id": "1", "type": "command_execution", "command": "ls",
            "aggregated_output": "no", "exit_code": 2, "status": "failed"}},
        {"type": "item.completed", "item": {"id": "2", "type": "mcp_tool_call", "server": "s", "tool": "find",
            "arguments": {"q": 1}, "result": {"content": []}, "status": "completed"}},
        {"type": "item.completed", "item": {"id": "3", "type": "reasoning", "text": "Hm."}},
        {"type": "item.completed", "item": {"id": "4", "type": "agent_message", "text": "Done."}},
        {"type": "turn.completed", "usage": {"input_tokens": 7, "output_tokens": 3}}]);
    let trace = Trace::read(lines_of_exec).unwrap();
    let expected = [
        "call shell {\"command\":\"ls\"} -> \"no\" (failed)",
        "call find {\"q\":1} -> {\"content\":[]} (succeeded)",
        "thinks: Hm.",
        "assistant: Done.",
    ];
    assert_eq!(lines(&trace), expected);
    assert_eq!(trace.outcome(), Some(&Outcome::Completed));
    assert_eq!(trace.usage().unwrap().output_tokens, Some(3));

    let session = concat!(
        r#"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s"}}"#,
        "\n",
        r#"{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c"}}"#,
        "\n",
        r#"{"timestamp":"2026-01-01T00:00:02Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"Exit code: 1\nno"}}"#,
        "\n",
    );
    let trace = Trace::read(json!(session)).unwrap();
    assert_eq!(trace.tool_calls().next().unwrap().exit_code(), Some(1));
    let failed = json!([{"type": "turn.failed", "error": {"message": "lost"}}]);
    let trace = Trace::read(failed).unwrap();
    assert_eq!(trace.outcome(), Some(&Outcome::Failed(Some("lost".to_owned()))));
}

#[test]
fn what_codex_began_and_never_ended_was_called() {
    let begun = |id: &str, command: &str| {
        json!({"type": "item.started", "item": {"id": id, "type": "command_execution", "command": command,
            "aggregated_output": "", "exit_code": null, "status": "in_progress"}})
    };
    let done = |id: &str, command: &str| {
        json!({"type": "item.completed", "item": {"id": id, "type": "command_execution", "command": command,
            "aggregated_output": "a", "exit_code": 0, "status": "completed"}})
    };
    let thread = json!({"type": "thread.started", "thread_id": "t"});
    let thought =
        json!({"type": "item.started", "item": {"id": "r", "type": "reasoning", "text": "H"}});
    let killed = json!([thread, begun("0", "ls"), done("0", "ls"), thought, begun("1", "rm x")]);
    let expected = [
        "call shell {\"command\":\"ls\"} -> \"a\" (succeeded)",
        "call shell {\"command\":\"rm x\"} -> nothing (unknown)",
    ];
    let trace = Trace::read(killed).unwrap();
    assert_eq!(lines(&trace), expected);
    assert_eq!(trace.tool_calls().last().unwrap().status(), Status::Unknown);
    // A later thread may reuse the id.
    let resumed = json!([thread, begun("0", "rm x"), thread, begun("0", "ls"), done("0", "ls")]);
    assert_eq!(told(resumed), [expected[1], expected[0]]);
}

#[test]
fn openinference_numbers_messages_and_calls() {
    let model = json!({"name": "ChatCompletion", "span_id": "1", "attributes": {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Weather?",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.contents.0.message_content.type": "text",
        "llm.output_messages.0.message.contents.0.message_content.text": "Let me see.",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "w",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": "{\"city\":\"Oslo\"}"}});
    let tool = json!({"name": "w", "span_id": "2", "attributes": {"openinference.span.kind": "TOOL",
        "tool.name": "w", "input.value": "{\"city\":\"Oslo\"}", "output.value": "3"}});
    let expected = [
        "user: Weather?",
        "assistant: Let me see.",
        "call w {\"city\":\"Oslo\"} -> \"3\" (succeeded)",
    ];
    assert_eq!(told(json!([model, tool])), expected);
}

#[test]
fn a_call_that_langchain_could_not_read_is_one() {
    let message = json!([{"type": "ai", "content": "", "tool_calls": [], "invalid_tool_calls": [
        {"name": "a", "args": "{\"x\":", "id": "1", "error": "bad", "type": "invalid_tool_call"}]}]);
    let trace = Trace::read(message).unwrap();
    let call = trace.tool_calls().next().unwrap();
    assert_eq!((call.name.as_str(), call.arguments_error.as_deref()), ("a", Some("bad")));
}

#[test]
fn an_answer_that_was_cut_off_failed() {
    let outcome = |trace: Value| Trace::read(trace).unwrap().outcome().cloned();
    let cut = |why: &str| Some(Outcome::Failed(Some(format!("the answer was cut off: {why}"))));
    let said = json!({"role": "assistant", "content": "x"});
    let openai = |reason: &str| json!({"choices": [{"finish_reason": reason, "message": said}]});
    assert_eq!(outcome(openai("length")), cut("length"));
    assert_eq!(outcome(openai("stop")), None);
    let anthropic =
        |reason: &str| json!({"role": "assistant", "content": "x", "stop_reason": reason});
    assert_eq!(outcome(json!([anthropic("max_tokens")])), cut("max_tokens"));
    assert_eq!(outcome(json!([anthropic("max_tokens"), anthropic("end_turn")])), None);
    let google = json!({"candidates": [{"finishReason": "SAFETY"}]});
    assert_eq!(outcome(google), cut("SAFETY"));
    let adk =
        json!([{"author": "root", "errorCode": "SAFETY", "errorMessage": "blocked", "id": "1"}]);
    assert_eq!(told(adk), ["error blocked"]);
}

#[test]
fn the_answers_of_a_conversation_may_stand_in_a_list() {
    let answer =
        |text: &str| json!({"choices": [{"message": {"role": "assistant", "content": text}}]});
    assert_eq!(told(json!([answer("a"), answer("b")])), ["assistant: a", "assistant: b"]);
    let response = json!({"object": "response", "status": "completed", "output": [
        {"type": "function_call", "call_id": "c", "name": "w", "arguments": "{}"}]});
    assert_eq!(told(json!([response, response])).len(), 2);
}

#[test]
fn smolagents_observe_in_the_plural() {
    let step = json!([{"step_number": 1, "tool_calls": [{"id": "1", "type": "function",
        "function": {"name": "web_search", "arguments": {"q": "x"}}}], "observations": "found"}]);
    assert_eq!(told(step), ["call web_search {\"q\":\"x\"} -> \"found\" (unknown)"]);
}

#[test]
fn what_a_model_says_in_parts_is_one_text() {
    let parts = json!([{"type": "text", "text": "the sky "}, {"type": "text", "text": "is blue"}]);
    assert_eq!(
        told(json!([{"role": "assistant", "content": parts}])),
        ["assistant: the sky is blue"]
    );
    assert_eq!(told(json!([{"role": "user", "content": parts}])), ["user: the sky \nis blue"]);
}

#[test]
fn a_message_of_unknown_parts_is_refused() {
    let error = Trace::read(json!([{"role": "assistant", "parts": [{"kind": "x"}]}])).unwrap_err();
    assert!(
        error.to_string().contains("a part of a message in it is an object with the keys `kind`")
    );
    let picture = json!([{"role": "user", "parts": [{"inlineData": {"data": ""}}]}]);
    assert!(Trace::read(picture).is_ok());
    let one_call = json!([{"role": "assistant", "tool_calls": {"id": "1", "function": {"name": "f", "arguments": "{}"}}}]);
    assert_eq!(Trace::read(one_call).unwrap().tool_calls().count(), 1);
}

#[test]
fn pydantic_ai_says_of_a_result_how_the_call_ended() {
    let ended = |outcome: &str| {
        told(json!([
            {"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name": "w", "args": {}, "tool_call_id": "1"}]},
            {"kind": "request", "parts": [{"part_kind": "tool-return", "tool_name": "w", "content": "x",
                "tool_call_id": "1", "outcome": outcome}]}]))
    };
    let statuses = [
        ("success", "succeeded"),
        ("failed", "failed"),
        ("retried", "failed"),
        ("interrupted", "failed"),
        ("denied", "rejected"),
    ];
    for (outcome, status) in statuses {
        assert_eq!(ended(outcome), [format!("call w {{}} -> \"x\" ({status})")], "{outcome}");
    }
}

#[test]
fn codex_writes_an_exit_code_below_other_lines() {
    let output = |code: &str| {
        let output = format!(
            "Chunk ID: 1a\nWall time: 0.1 seconds\n{code}Output:\nProcess exited with code 9"
        );
        let item = |payload: Value| json!({"type": "response_item", "payload": payload});
        let trace = Trace::read(json!([
            item(
                json!({"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": "c"})
            ),
            item(json!({"type": "function_call_output", "call_id": "c", "output": output}))
        ]));
        let trace = trace.unwrap();
        let call = trace.tool_calls().next().unwrap();
        (call.exit_code(), call.status())
    };
    assert_eq!(output("Process exited with code 101\n"), (Some(101), Status::Failed));
    assert_eq!(output("Process exited with code 0\n"), (Some(0), Status::Succeeded));
    assert_eq!(output("Process running with session ID 7\n"), (None, Status::Succeeded));
}

#[test]
fn codex_breaks_off_turns_and_has_other_agents() {
    let event = |payload: Value| json!({"type": "event_msg", "payload": payload});
    let aborted = event(json!({"type": "turn_aborted", "reason": "interrupted"}));
    let outcome = |trace: Value| Trace::read(trace).unwrap().outcome().cloned();
    let said = json!({"type": "response_item", "payload": {"type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": "x"}]}});
    let broke_off = Some(Outcome::Failed(Some("interrupted".to_owned())));
    assert_eq!(outcome(json!([said, aborted])), broke_off);
    assert_eq!(outcome(json!([aborted, event(json!({"type": "task_started"})), said])), None);
    let spawn = json!([{"type": "item.completed", "item": {"id": "1", "type": "collab_tool_call",
        "tool": "spawn_agent", "receiver_thread_ids": ["b"], "prompt": "do", "status": "failed"}}]);
    let expected =
        ["call spawn_agent {\"prompt\":\"do\",\"receiver_thread_ids\":[\"b\"]} -> null (failed)"];
    assert_eq!(told(spawn), expected);
}

#[test]
fn why_an_answer_ended_may_stand_beside_it() {
    let outcome = |trace: Value| Trace::read(trace).unwrap().outcome().cloned();
    let cut = |why: &str| Some(Outcome::Failed(Some(format!("the answer was cut off: {why}"))));
    let langchain = |key: &str, why: &str| {
        outcome(json!([{"type": "ai", "content": "x", "response_metadata": {key: why}}]))
    };
    assert_eq!(langchain("finish_reason", "length"), cut("length"));
    assert_eq!(langchain("stop_reason", "max_tokens"), cut("max_tokens"));
    assert_eq!(langchain("finish_reason", "stop"), None);
    let pydantic = |why: &str| {
        let parts = json!([{"part_kind": "text", "content": "x"}]);
        outcome(json!([{"kind": "response", "parts": parts, "finish_reason": why}]))
    };
    assert_eq!((pydantic("length"), pydantic("stop")), (cut("length"), None));
}

#[test]
fn smolagents_keep_the_task_and_the_calls_that_failed() {
    let call =
        json!({"id": "2", "type": "function", "function": {"name": "w", "arguments": {"c": 2}}});
    let steps = json!([
        {"task": "Weather?", "task_images": null},
        {"plan": "Ask.", "model_output_message": {"role": "assistant", "content": "Ask."}},
        {"step_number": 1, "tool_calls": [call], "error": null, "observations": "sun",
            "model_output_message": {"role": "assistant", "content": "", "tool_calls": [call]}},
        {"step_number": 2, "tool_calls": [], "error": {"message": "no"}, "observations": null,
            "model_output_message": {"role": "assistant", "content": "", "tool_calls": [call]}}]);
    let expected = [
        "user: Weather?",
        "thinks: Ask.",
        "call w {\"c\":2} -> \"sun\" (unknown)",
        "call w {\"c\":2} -> \"no\" (failed)",
    ];
    assert_eq!(told(steps), expected);
}

#[test]
fn gemini_cli_names_calls_by_the_ids_of_tools() {
    let call = |id: &str| json!({"type": "tool_use", "tool_name": "read", "tool_id": id, "parameters": {"p": id}});
    let lines_of_stream = json!([call("a"), call("b"),
        {"type": "tool_result", "tool_id": "b", "status": "success", "output": "B"},
        {"type": "tool_result", "tool_id": "a", "status": "error", "output": "A"},
        {"type": "result", "status": "error", "error": {"message": "max turns"}}]);
    let trace = Trace::read(lines_of_stream).unwrap();
    let expected = [
        "call read {\"p\":\"a\"} -> \"A\" (failed)",
        "call read {\"p\":\"b\"} -> \"B\" (succeeded)",
    ];
    assert_eq!(lines(&trace), expected);
    assert_eq!(trace.outcome(), Some(&Outcome::Failed(Some("max turns".to_owned()))));
    let done =
        json!([call("a"), {"type": "result", "status": "success", "stats": {"input_tokens": 3}}]);
    let trace = Trace::read(done).unwrap();
    assert_eq!(trace.outcome(), Some(&Outcome::Completed));
    assert_eq!(trace.usage().unwrap().input_tokens, Some(3));
}

#[test]
fn opencode_keeps_a_call_in_its_state() {
    let exported = json!({"info": {"id": "s"}, "messages": [
        {"info": {"role": "user"}, "parts": [{"type": "text", "text": "q"}]},
        {"info": {"role": "assistant"}, "parts": [{"type": "step-start"}, {"type": "tool", "callID": "c", "tool": "bash",
            "state": {"status": "error", "input": {"command": "ls"}, "error": "no"}}]}]});
    let expected = ["user: q", "call bash {\"command\":\"ls\"} -> \"no\" (failed)"];
    assert_eq!(told(exported), expected);
}

#[test]
fn openais_agents_hand_over_and_tell_the_model_of_failures() {
    let call = json!({"type": "function_call", "call_id": "1", "name": "transfer_to_billing", "arguments": "{}"});
    let handed = json!([{"type": "handoff_call_item", "raw_item": call}]);
    let expected = ["call transfer_to_billing {} -> nothing (unknown)", "agent billing (unknown)"];
    assert_eq!(told(handed), expected);
    let failed = json!([call, {"type": "function_call_output", "call_id": "1",
        "output": "An error occurred while running the tool. Please try again. Error: no"}]);
    let trace = Trace::read(failed).unwrap();
    assert_eq!(trace.tool_calls().next().unwrap().status(), Status::Failed);
}

#[test]
fn a_call_that_begins_and_ends_is_one() {
    let crew = |kind: &str, a: u8| json!({"type": kind, "tool_name": "w", "tool_args": {"a": a}});
    let mut ended = [
        crew("tool_usage_finished", 1),
        crew("tool_usage_error", 2),
        crew("tool_usage_finished", 3),
    ];
    ended[0]["output"] = json!("x");
    ended[1]["error"] = json!("no");
    ended[2]["output"] = json!("z");
    let [first, second, third] = ended;
    let begins = |a: u8| crew("tool_usage_started", a);
    let events = json!([begins(1), begins(2), second, first, third]);
    let expected = [
        "call w {\"a\":1} -> \"x\" (unknown)",
        "call w {\"a\":2} -> \"no\" (failed)",
        "call w {\"a\":3} -> \"z\" (unknown)",
    ];
    assert_eq!(told(events), expected);

    let llama = json!({"tool_name": "w", "tool_kwargs": {"a": 1}, "tool_id": "t"});
    let mut done = llama.clone();
    done["tool_output"] = json!({"content": "x", "is_error": true});
    let trace = Trace::read(json!([llama, done])).unwrap();
    let statuses: Vec<_> = trace.calls_and_results().map(ToolCall::status).collect();
    assert_eq!(statuses, [Status::Failed]);
    // Without an event type that marks the end, two calls with the same arguments are two calls.
    let twice =
        json!([{"tool": "w", "args": {"a": 1}}, {"tool": "w", "args": {"a": 1}, "result": 1}]);
    assert_eq!(told(twice).len(), 2);
}

#[test]
fn googles_agent_kit_has_pieces_of_an_event_before_it() {
    let event = |partial: bool, text: &str| {
        json!({"author": "a", "partial": partial, "content": {"role": "model", "parts": [
            {"text": text}, {"functionCall": {"name": "w", "args": {}}}]}})
    };
    let expected = ["assistant: hello", "call w {} -> nothing (unknown)"];
    assert_eq!(told(json!([event(true, "he"), event(false, "hello")])), expected);
}

#[test]
fn claude_code_says_why_it_ended() {
    let ended = json!([{"type": "result", "subtype": "error_max_turns", "is_error": false}]);
    let trace = Trace::read(ended).unwrap();
    assert_eq!(trace.outcome(), Some(&Outcome::Failed(Some("error_max_turns".to_owned()))));
}
