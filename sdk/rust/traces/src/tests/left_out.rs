//! A call that is left out would look like one that was never made: which calls are read from unusual places, and what
//! is refused.

use serde_json::json;

use super::*;

fn refusal(value: Value) -> String {
    Trace::read(value).unwrap_err().to_string()
}

#[test]
fn chunks_of_a_stream_are_refused() {
    let delta = json!({"role": "assistant", "tool_calls": [{"index": 0, "id": "1", "type": "function",
        "function": {"name": "w", "arguments": ""}}]});
    let chunk =
        json!({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]});
    let end =
        json!({"object": "chat.completion.chunk", "choices": [], "usage": {"prompt_tokens": 1}});
    let unnamed = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    let lines = format!("{chunk}\n{end}");
    let expected =
        "the trace holds chunks of a stream: store the message that the client made of them";
    let traces =
        [chunk.clone(), json!([chunk]), json!([chunk, end]), end, unnamed, Value::String(lines)];
    for trace in traces {
        assert_eq!(refusal(trace.clone()), expected, "{trace}");
    }
    let whole =
        json!({"choices": [{"delta": null, "message": {"role": "assistant", "content": "x"}}]});
    assert_eq!(told(whole), ["assistant: x"]);
}

#[test]
fn an_answer_has_a_message_or_says_why_it_has_none() {
    let found = refusal(json!({"choices": [{"index": 0, "logprobs": null}]}));
    let expected = "what should be a model's answer is an object with the keys `index`, `logprobs`";
    assert!(found.contains(expected), "{found}");
}

#[test]
fn a_message_may_hold_items_of_the_responses_api() {
    let blocks = json!([
        {"type": "function_call", "id": "fc_1", "call_id": "1", "name": "w", "arguments": "{\"c\":1}",
            "status": "completed"},
        {"type": "function_call_output", "call_id": "1", "output": "Error: no", "status": "completed"}]);
    let trace = Trace::read(json!([{"role": "assistant", "content": blocks}])).unwrap();
    assert_eq!(lines(&trace), ["call w {\"c\":1} -> \"Error: no\" (unknown)"]);
    assert_eq!(trace.tool_calls().next().unwrap().status(), Status::Failed);

    let answered = json!([{"role": "assistant", "content": [blocks[0]]},
        {"role": "user", "content": [blocks[1]]}]);
    assert_eq!(told(answered), ["call w {\"c\":1} -> \"Error: no\" (unknown)"]);

    let searches = json!([{"type": "web_search_call", "id": "ws", "status": "completed",
        "action": {"query": "q"}}, {"type": "mcp_call", "id": "m", "name": "roll", "arguments": "{}",
        "output": "6"}]);
    let trace = Trace::read(json!([{"type": "ai", "content": searches}])).unwrap();
    let expected = [
        "call web_search {\"query\":\"q\"} -> null (succeeded)",
        "call roll {} -> \"6\" (succeeded)",
    ];
    assert_eq!(lines(&trace), expected);
    // They are in one turn, that of their message.
    assert_eq!((trace.turns().len(), trace.turns()[0].calls.len()), (1, 2));
}

#[test]
fn langchain_has_a_call_among_the_blocks_and_among_the_calls() {
    let block = json!({"type": "function_call", "id": "fc_1", "call_id": "1", "name": "w",
        "arguments": "{\"c\":1}"});
    let call = json!({"name": "w", "args": {"c": 1}, "id": "1", "type": "tool_call"});
    let both = json!([{"type": "ai", "content": [block], "tool_calls": [call]}]);
    assert_eq!(told(both), ["call w {\"c\":1} -> nothing (unknown)"]);
    let invalid = json!({"type": "invalid_tool_call", "name": "w", "args": "{", "id": "1",
        "error": "bad"});
    let both = json!([{"type": "ai", "content": [invalid], "invalid_tool_calls": [invalid]}]);
    let trace = Trace::read(both).unwrap();
    let errors: Vec<_> = trace.tool_calls().map(|call| call.arguments_error.as_deref()).collect();
    assert_eq!(errors, [Some("bad")]);
}

#[test]
fn an_unknown_part_that_looks_like_a_call_is_refused() {
    let said = json!({"type": "text", "text": "x"});
    for key in ["arguments", "input", "args"] {
        let part = json!({"type": "call_of_tomorrow", "name": "w", key: {}});
        let found = refusal(json!([{"role": "assistant", "content": [said, part]}]));
        assert!(found.contains("a part of a message in it is an object with the keys"), "{found}");
        let untyped = json!({"name": "w", key: {}});
        let found = refusal(json!([{"role": "assistant", "content": [said, untyped]}]));
        assert!(found.contains("a part of a message in it is an object with the keys"), "{found}");
    }
    let picture = json!({"type": "picture_of_tomorrow", "name": "x.png"});
    assert_eq!(told(json!([{"role": "user", "content": [said, picture]}])), ["user: x"]);
}

#[test]
fn calls_may_be_the_text_of_a_list() {
    let calls = json!([{"id": "1", "type": "function",
        "function": {"name": "w", "arguments": "{\"c\":1}"}}]);
    let expected = ["call w {\"c\":1} -> nothing (unknown)"];
    let message = |calls: Value| json!([{"role": "assistant", "content": "", "tool_calls": calls}]);
    assert_eq!(told(message(calls.to_string().into())), expected);
    assert_eq!(told(message(calls[0].to_string().into())), expected);
    assert_eq!(told(message(json!([calls[0].to_string()]))), expected);
    assert_eq!(told(json!([{"thought": "", "tool_calls": calls.to_string()}])), expected);
    let first_way =
        json!([{"role": "assistant", "function_call": "{\"name\":\"w\",\"arguments\":{\"c\":1}}"}]);
    assert_eq!(told(first_way), expected);
    for nothing in [json!(null), json!(""), json!("null"), json!("[]")] {
        assert_eq!(told(message(nothing)), [""; 0]);
    }
    let found = refusal(message(json!("[{'id': '1'}]")));
    assert!(found.contains("a tool call in it is a string"), "{found}");
    assert!(refusal(message(json!(true))).contains("a tool call in it is a boolean"));
    assert!(refusal(json!([{"thought": "x", "tool_calls": 2}])).contains("a number"));
}

#[test]
fn a_message_without_known_content_is_refused_if_it_has_other() {
    let items =
        json!([{"content_type": "function_call", "id": "1", "name": "w", "arguments": "{}"}]);
    let kernel = json!([{"role": "assistant", "items": items}]);
    let expected = "a message in it is an object with the keys `items`, `role`";
    assert!(refusal(kernel).contains(expected));
    assert!(
        refusal(json!([{"role": "assistant", "content": null, "items": items}]))
            .contains("`items`")
    );
    assert!(refusal(json!([{"role": "assistant", "call": {"name": "w"}}])).contains("`call`"));

    let empty = [
        json!({"role": "model"}),
        json!({"role": "assistant", "id": "m", "finish_reason": "stop", "index": 0}),
        json!({"role": "assistant", "usage": {"input_tokens": 1}, "metadata": {"a": 1}}),
        json!({"role": "assistant", "content": null, "audio": {"id": "a"}, "annotations": []}),
        json!({"role": "assistant", "content": null, "provider_specific_fields": {"refusal": null}}),
    ];
    for message in empty {
        assert_eq!(told(json!([message])), [""; 0], "{message}");
    }
    let answer = json!([{"role": "tool", "name": "w", "result": {"c": 3}}]);
    assert_eq!(told(answer), ["call w {} -> {\"c\":3} (unknown)"]);
}

#[test]
fn llamaindex_has_parts_in_blocks() {
    let trace = json!([
        {"role": "user", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": "Weather?"}]},
        {"role": "assistant", "additional_kwargs": {}, "blocks": [{"block_type": "tool_call",
            "tool_call_id": "1", "tool_name": "w", "tool_kwargs": {"c": 1}}]}]);
    assert_eq!(told(trace), ["user: Weather?", "call w {\"c\":1} -> nothing (unknown)"]);
}

#[test]
fn a_call_without_the_name_of_its_tool_is_refused() {
    let expected = "a tool call in it does not name its tool";
    let function = json!({"id": "1", "function": {"name": "", "arguments": "{}"}});
    let traces = [
        json!([{"role": "assistant", "tool_calls": [function]}]),
        json!([{"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": " ", "input": {}}]}]),
        json!([{"tool": "", "args": {"path": "/"}}]),
        json!([{"name": "execute_tool", "spanId": "1", "attributes": {"gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.call.arguments": "{\"path\":\"/\"}"}}]),
        json!([{"name": "", "spanId": "1", "attributes": {"openinference.span.kind": "TOOL", "tool.name": ""}}]),
    ];
    for trace in traces {
        let refusal = refusal(trace);
        assert!(refusal.contains(expected), "{refusal}");
    }
    // The model that asked for a call may name its tool.
    let asked = json!([{"role": "assistant", "parts": [
        {"type": "tool_call", "id": "c", "name": "w", "arguments": {}}]}]);
    let spans = json!([
        {"name": "chat", "spanId": "1", "attributes": {"gen_ai.operation.name": "chat",
            "gen_ai.output.messages": asked}},
        {"name": "execute_tool", "spanId": "2", "attributes": {"gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.call.id": "c", "gen_ai.tool.call.result": "x"}}]);
    assert_eq!(told(spans), ["call w {} -> \"x\" (succeeded)"]);
    // A step that calls nothing may have an empty name.
    let thought = json!([{"step": 1, "thought": "Hm.", "action": "", "action_input": {}}]);
    assert_eq!(told(thought), ["thinks: Hm."]);
}

#[test]
fn a_result_without_its_call_was_a_call() {
    let trace = json!([{"tool": "a", "result": 1}, {"role": "tool", "name": "b", "content": "x"},
        {"role": "tool", "name": "", "tool_call_id": "9", "content": "y"}]);
    let trace = Trace::read(trace).unwrap();
    let names: Vec<_> = trace.calls_and_results().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "unknown"]);
    assert_eq!(trace.tool_calls().count(), 1);
}

#[test]
fn googles_clients_and_servers_call_too() {
    for key in ["automatic_function_calling_history", "automaticFunctionCallingHistory"] {
        let history = json!([{"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "w", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "w", "response": {"error": "no"}}}]}]);
        let answer =
            json!({"content": {"role": "model", "parts": [{"text": "x"}]}, "finishReason": "STOP"});
        let trace = json!({"contents": [history[0]], "candidates": [answer], key: history});
        let expected = ["user: q", "call w {} -> {\"error\":\"no\"} (unknown)", "assistant: x"];
        assert_eq!(told(trace), expected);
    }
    let parts = json!([{"toolCall": {"id": "a", "toolType": "GOOGLE_SEARCH_WEB", "args": {"q": 1}}},
        {"toolResponse": {"id": "a", "toolType": "GOOGLE_SEARCH_WEB", "response": {}}}, {"text": "x"}]);
    let expected = ["call GOOGLE_SEARCH_WEB {\"q\":1} -> {} (unknown)", "assistant: x"];
    assert_eq!(told(json!([{"role": "model", "parts": parts}])), expected);
}

#[test]
fn a_part_with_a_tool_or_the_id_of_a_call_is_refused() {
    for part in [
        json!({"type": "call_of_tomorrow", "tool": "w", "input": {}}),
        json!({"type": "x", "call_id": "1"}),
    ] {
        let said = json!({"type": "text", "text": "x"});
        let found = refusal(json!([{"role": "assistant", "content": [said, part]}]));
        assert!(found.contains("a part of a message in it is an object with the keys"), "{found}");
    }
}

#[test]
fn a_call_inside_an_unknown_part_or_key_is_refused() {
    let call = json!({"tool_name": "w", "arguments": {}, "id": "1"});
    let of_haystack =
        json!([{"role": "assistant", "content": [{"text": "x"}, {"tool_call": call}]}]);
    let expected = "a part of a message in it is an object with the keys `tool_call`";
    assert!(refusal(of_haystack).contains(expected));
    let wrapped = json!([{"role": "assistant", "content": [{"type": "text", "text": "x"},
        {"type": "non_standard", "value": {"type": "tool_use", "id": "1", "name": "w", "input": {}}}]}]);
    assert!(refusal(wrapped).contains("a part of a message in it"));
    let beside = json!([{"role": "assistant", "content": "x", "toolUses": [call]}]);
    assert!(
        refusal(beside)
            .contains("a message in it is an object with the keys `content`, `role`, `toolUses`")
    );

    let data = json!([{"role": "assistant", "parts": [{"type": "data-form", "data": {"name": "x", "arguments": {}}}]}]);
    assert_eq!(told(data), [""; 0]);
    // If the call was read, its repetition is not another one.
    let twice = json!([{"role": "assistant", "content": "", "raw": [call],
        "tool_calls": [{"id": "1", "name": "w", "arguments": {}}]}]);
    assert_eq!(told(twice), ["call w {} -> nothing (unknown)"]);
}

#[test]
fn a_part_that_refers_to_a_tool_is_not_a_call() {
    let of_mistral = json!([{"type": "text", "text": "x"}, {"type": "tool_reference", "tool": "web_search", "title": "t"}]);
    assert_eq!(told(json!([{"role": "assistant", "content": of_mistral}])), ["assistant: x"]);
}

#[test]
fn a_step_may_have_calls_in_its_content() {
    let autogen =
        json!([{"thought": null, "content": [{"id": "1", "name": "w", "arguments": "{}"}]}]);
    let expected = "a part of a message in it is an object with the keys `arguments`, `id`, `name`";
    assert!(refusal(autogen).contains(expected));
    let blocks = json!([{"thought": "Hm.", "content": [{"type": "text", "text": "x"},
        {"type": "tool_use", "id": "1", "name": "w", "input": {}}]}]);
    assert_eq!(told(blocks), ["thinks: Hm.", "assistant: x", "call w {} -> nothing (unknown)"]);
    let elsewhere = json!([{"thought": "Hm.", "output": [{"type": "function_call", "call_id": "1", "name": "w"}]}, {"thought": ""}]);
    assert!(refusal(elsewhere).contains("item 0 is an object with the keys `output`, `thought`"));
    // A step of the AI SDK contains its text twice, but says it once.
    let text = json!([{"type": "text", "text": "x"}]);
    let twice = json!([{"text": "x", "content": text, "toolCalls": [], "toolResults": [], "finishReason": "stop"}]);
    assert_eq!(told(twice), ["assistant: x"]);
}

#[test]
fn an_item_of_an_unknown_type_is_refused_if_it_holds_a_call() {
    let user = json!({"role": "user", "content": "q"});
    let call = json!({"id": "1", "name": "w", "arguments": "{}"});
    let of_autogen = json!({"type": "ToolCallRequestEvent", "content": [call]});
    let alone = json!({"type": "call.began", "data": {"toolName": "w", "arguments": {}}});
    let typed = json!({"type": "added", "item": {"type": "web_search_call", "id": "1"}});
    for item in [of_autogen, alone, typed] {
        let found = refusal(json!([user, item]));
        let expected = "an item that holds a tool call is an object with the keys";
        assert!(found.contains(expected), "{found}");
        // Events are counted by their types alone.
        assert!(Trace::read_events(json!([user, item])).is_ok());
    }
    let other = json!({"type": "attachment", "attachment": {"type": "x", "name": "y"}});
    assert_eq!(told(json!([user, other])), ["user: q", "other attachment"]);
}

#[test]
fn pieces_of_streamed_answers_are_refused() {
    let user = json!({"role": "user", "content": "q"});
    let kinds = [
        "response.output_item.done",
        "response.output_text.delta",
        "message_start",
        "content_block_start",
    ];
    for kind in kinds {
        let expected =
            "the trace holds chunks of a stream: store the message that the client made of them";
        assert_eq!(refusal(json!([user, {"type": kind}])), expected);
    }
}

#[test]
fn an_empty_list_is_not_a_trace_beside_a_filled_one() {
    let run = json!({"name": "w", "run_type": "tool", "inputs": {}, "error": "no", "events": []});
    let of_langsmith = json!({"name": "a", "run_type": "chain", "events": [], "child_runs": [run]});
    assert!(refusal(of_langsmith).contains("`child_runs`, `events`"));
    assert!(
        refusal(json!({"steps": [], "toolUses": [{"name": "w", "input": {}}]}))
            .contains("`toolUses`")
    );
    let nothing =
        json!({"messages": [], "metadata": {"a": 1}, "tags": ["x"], "scores": [{"name": "s"}]});
    assert_eq!(told(nothing), [""; 0]);
}
