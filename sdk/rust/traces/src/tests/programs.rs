//! What programs write that have shapes of their own, as far as no other file has them.

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
    // A later thread may use the id again.
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
