//! What surrounds the steps: model answers with their requests, lists with one item, log records; and what looks like a
//! trace and is not one.

use serde_json::json;

use super::*;

fn refusal(value: Value) -> String {
    Trace::read(value).unwrap_err().to_string()
}

#[test]
fn an_id_or_a_number_makes_no_step() {
    let keys = "item 0 is an object with the keys";
    let whole = refusal(json!({"id": 7, "answer": "x"}));
    assert!(whole.contains(": it is an object with the keys `answer`, `id`"), "{whole}");
    assert!(refusal(json!([{"id": "1", "foo": 2}])).contains(&format!("{keys} `foo`, `id`")));
    assert!(refusal(json!([{"step": 1, "foo": 2}])).contains(&format!("{keys} `foo`, `step`")));
    assert!(refusal(json!({"id": "x", "result": {"messages": []}})).contains("`id`, `result`"));
    // A name is a step of an unknown kind.
    assert_eq!(told(json!([{"step": "plan"}, {"tool": "w"}]))[0], "other plan");
    assert!(refusal(json!([{"step": "plan"}])).contains("of the type `plan`"));
    // A step with empty fields is still a step.
    let quiet = json!([{"step": 1, "thought": "", "action": null, "observation": "start"}]);
    assert_eq!(told(quiet), ["other step"]);
    assert_eq!(told(json!([{"step": 1, "content": "x"}])), ["assistant: x"]);
    assert!(refusal(json!({"choices": ["A", "B"]})).contains("model's answer is a string"));
    let output = scorebox_sdk::Case::new(json!({"id": 7, "answer": "x"}));
    assert!(Trace::of(&output).is_err());
}

#[test]
fn the_only_item_of_a_list_may_be_a_wrapper() {
    let said = json!({"role": "assistant", "content": "Hi"});
    assert_eq!(told(json!([{"id": "c", "choices": [{"message": said}]}])), ["assistant: Hi"]);
    assert_eq!(told(json!([{"id": "x", "messages": [said]}])), ["assistant: Hi"]);
    let sample = json!([{"id": 1, "epoch": 1, "scores": {}, "messages": [said]}]);
    assert_eq!(told(sample), ["assistant: Hi"]);
    let atif = json!([{"schema_version": "ATIF-v1.7", "agent": {"name": "a"},
        "steps": [{"step_id": 1, "source": "agent", "message": "Hi"}]}]);
    assert_eq!(told(atif), ["assistant: Hi"]);
    let google =
        json!([{"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}}]}]);
    assert_eq!(told(google), ["assistant: Hi"]);
}

#[test]
fn a_request_stands_before_its_answer() {
    let asked = json!([{"role": "user", "content": "Hello?"}]);
    let said = json!({"role": "assistant", "content": "Hi"});
    let expected = ["user: Hello?", "assistant: Hi"];
    assert_eq!(told(json!({"messages": asked, "choices": [{"message": said}]})), expected);
    assert_eq!(told(json!({"messages": asked, "response": said})), expected);
    let response = json!({"choices": [{"message": said}]});
    assert_eq!(told(json!({"messages": asked, "response": response})), expected);
    let google = json!({"contents": [{"role": "user", "parts": [{"text": "Hello?"}]}],
        "candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}}]});
    assert_eq!(told(google), expected);
    assert_eq!(told(json!({"model": "m", "input": asked})), ["user: Hello?"]);
}

#[test]
fn a_call_in_another_list_is_not_left_out() {
    let call =
        json!({"id": "1", "type": "function", "function": {"name": "pay", "arguments": "{}"}});
    let done =
        json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Done."}]);
    let asks = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let item = json!({"type": "function_call", "call_id": "1", "name": "pay", "arguments": "{}"});
    let of_sdk = json!({"type": "tool-call", "toolCallId": "1", "toolName": "pay", "input": {}});
    let used = json!({"type": "tool_use", "id": "1", "name": "pay", "input": {}});
    let span = json!({"spanId": "1", "name": "execute_tool pay", "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "pay"}});
    for (key, found) in [
        ("tool_calls", json!([call])),
        ("toolCalls", json!([of_sdk])),
        ("steps", json!([{"toolCalls": [of_sdk], "toolResults": []}])),
        ("intermediate_steps", json!([[{"tool": "pay", "tool_input": {}, "log": ""}, "ok"]])),
        ("actions", json!([{"tool": "pay", "args": {}}])),
        ("trajectory", json!([{"step": 1, "action": "pay", "observation": "x"}])),
        ("items", json!([item])),
        ("output", json!([item])),
        ("output", json!({"choices": [{"message": asks}]})),
        ("history", json!([asks])),
        ("turns", json!([asks])),
        ("events", json!([{"type": "tool_call", "tool": "pay", "args": {}}])),
        ("spans", json!([span])),
        ("new_items", json!([item])),
        ("tool_uses", json!([used])),
        ("calls", json!([call])),
        ("result", json!([used])),
        ("message", asks.clone()),
        ("completion", json!({"choices": [{"message": asks}]})),
    ] {
        let mut trace = json!({"messages": done});
        trace[key] = found;
        // A document of spans is also either read completely or refused.
        match Trace::read(trace) {
            Ok(trace) => assert!(trace.tool_calls().any(|call| call.name == "pay"), "{key}"),
            Err(error) => {
                let error = error.to_string();
                assert!(
                    error.contains("a call of `pay` under `") && error.contains(key),
                    "{error}"
                );
                assert!(error.contains("`messages`"), "{error}");
            }
        }
    }
    // What another list repeats counts once.
    let repeated = json!({"messages": [asks], "tool_calls": [call], "steps": [{"tool": "pay", "args": {}}],
        "output": {"choices": [{"message": asks}]}, "new_items": [item]});
    assert_eq!(told(repeated), ["call pay {} -> nothing (unknown)"]);
    let run =
        json!({"input": [done[0]], "new_items": [item], "raw_responses": [{"output": [item]}]});
    assert_eq!(told(run), ["user: hi", "call pay {} -> nothing (unknown)"]);
}

#[test]
fn the_ai_sdks_steps() {
    let steps = json!({"text": "Sun.", "steps": [
        {"stepType": "initial", "text": "I look.", "finishReason": "tool-calls",
            "toolCalls": [{"type": "tool-call", "toolCallId": "1", "toolName": "w", "args": {"c": 1}}],
            "toolResults": [{"type": "tool-result", "toolCallId": "1", "toolName": "w", "args": {"c": 1},
                "result": "sun"}]},
        {"stepType": "tool-result", "text": "Sun.", "toolCalls": [], "toolResults": []}]});
    let expected =
        ["assistant: I look.", "call w {\"c\":1} -> \"sun\" (unknown)", "assistant: Sun."];
    assert_eq!(told(steps), expected);
}

#[test]
fn log_records_of_telemetry_are_messages() {
    let expected = ["user: Hi", "call w {} -> \"sun\" (unknown)", "assistant: Sun."];
    let call = json!({"role": "assistant", "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "w", "arguments": "{}"}}]});
    let bodies = [
        ("gen_ai.user.message", json!({"content": "Hi"})),
        ("gen_ai.choice", json!({"index": 0, "message": call})),
        // The second call of the model repeats the conversation.
        ("gen_ai.user.message", json!({"content": "Hi"})),
        ("gen_ai.assistant.message", call.clone()),
        ("gen_ai.tool.message", json!({"id": "1", "content": "sun"})),
        ("gen_ai.choice", json!({"index": 0, "message": {"role": "assistant", "content": "Sun."}})),
    ];
    let records = |key: &str| -> Value {
        bodies.iter().map(|(name, body)| json!({key: name, "body": body})).collect()
    };
    assert_eq!(told(records("event_name")), expected);
    assert_eq!(told(records("name")), expected);
    let values = |body: &Value| -> Value {
        let pair = |(key, found): (&String, &Value)| match found {
            Value::String(text) => json!({"key": key, "value": {"stringValue": text}}),
            other => json!({"key": key, "value": other}),
        };
        body.as_object().unwrap().iter().map(pair).collect()
    };
    let protocol: Vec<_> = (bodies.iter())
        .map(|(name, body)| {
            json!({"eventName": name, "traceId": "t", "body": {"kvlistValue": {"values": values(body)}},
                "attributes": [{"key": "gen_ai.system", "value": {"stringValue": "openai"}}]})
        })
        .collect();
    let document = json!({"resourceLogs": [{"scopeLogs": [{"logRecords": protocol}]}]});
    assert_eq!(told(document), expected);
    let span = json!({"spanId": "1", "name": "chat m", "attributes": {"gen_ai.output.messages":
        [{"role": "assistant", "parts": [{"type": "text", "content": "Sun."}]}]}});
    let both = json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}], "resourceLogs": []});
    assert_eq!(told(both), ["assistant: Sun."]);
    assert!(
        refusal(json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": 1}]}]}]}))
            .contains("none of its log records")
    );
}

#[test]
fn googles_models_may_answer_nothing() {
    let outcome = |trace: Value| {
        let trace = Trace::read(trace).unwrap();
        assert_eq!(trace.tool_calls().count(), 0);
        match trace.outcome() {
            Some(Outcome::Failed(Some(why))) => why.clone(),
            other => panic!("{other:?}"),
        }
    };
    let malformed = "the answer was cut off: MALFORMED_FUNCTION_CALL";
    let answer =
        json!({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL"}]});
    assert_eq!(outcome(answer.clone()), malformed);
    assert_eq!(outcome(json!([answer])), malformed);
    let role_alone = json!({"candidates": [{"content": {"role": "model"},
        "finishReason": "MALFORMED_FUNCTION_CALL"}]});
    assert_eq!(outcome(role_alone), malformed);
    let in_python = json!({"candidates": [{"content": null,
        "finish_reason": "MALFORMED_FUNCTION_CALL"}]});
    assert_eq!(outcome(in_python), malformed);

    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    let expected = "the prompt was blocked: SAFETY";
    assert_eq!(outcome(blocked.clone()), expected);
    assert_eq!(outcome(json!([blocked])), expected);
    assert_eq!(
        outcome(json!({"prompt_feedback": {"block_reason": "SAFETY"}, "candidates": null})),
        expected
    );
    let asked = json!({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4}});
    assert_eq!(outcome(asked.clone()), expected);
    let trace = Trace::read(asked).unwrap();
    assert_eq!(lines(&trace), ["user: Hi"]);
    assert_eq!(trace.usage().unwrap().input_tokens, Some(4));
}

#[test]
fn answers_with_what_was_asked_repeat_the_conversation() {
    let call = json!({"id": "c", "type": "function", "function": {"name": "w", "arguments": "{}"}});
    let user = json!({"role": "user", "content": "q"});
    let asks = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let told_so = json!({"role": "tool", "tool_call_id": "c", "content": "1"});
    let exchange = |asked: Value, message: Value| json!({"messages": asked, "choices": [{"message": message}]});
    let done = json!({"role": "assistant", "content": "x"});
    let chat = json!([
        exchange(json!([user]), asks.clone()),
        exchange(json!([user, asks, told_so]), done)
    ]);
    let expected = ["user: q", "call w {} -> \"1\" (unknown)", "assistant: x"];
    assert_eq!(told(chat), expected);

    let call = json!({"type": "function_call", "id": "fc", "call_id": "c", "name": "w", "arguments": "{}", "status": "completed"});
    let again = json!({"type": "function_call", "call_id": "c", "name": "w", "arguments": "{}"});
    let output = json!({"type": "function_call_output", "call_id": "c", "output": "1"});
    let says = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]});
    let response = |input: Value, output: Value| json!({"object": "response", "input": input, "output": output});
    let responses = json!([
        response(json!([user]), json!([call])),
        response(json!([user, again, output]), json!([says]))
    ]);
    assert_eq!(told(responses), expected);
    // An input that refers to an earlier answer repeats nothing.
    let mut second = response(json!([user]), json!([says]));
    second["previous_response_id"] = json!("r1");
    let responses = json!([response(json!([user]), json!([says])), second]);
    assert_eq!(told(responses), ["user: q", "assistant: x", "user: q", "assistant: x"]);
}

#[test]
fn a_list_of_tools_is_declared_by_the_item_that_has_it() {
    let listed = json!({"type": "mcp_list_tools", "server_label": "s", "tools": [{"name": "roll", "input_schema": {}}]});
    let response = json!({"object": "response", "tools": [{"type": "mcp", "server_label": "s"}], "output": [listed]});
    let trace = Trace::read(response).unwrap();
    assert_eq!(trace.tools().len(), 2);
}

#[test]
fn bedrocks_answers_to_converse() {
    let asked = json!({"role": "user", "content": [{"text": "Weather in Rome?"}]});
    let called = json!({"role": "assistant", "content": [{"text": "I look."},
        {"toolUse": {"toolUseId": "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q", "name": "weather", "input": {"city": "Rome"}}}]});
    let result = json!({"role": "user", "content": [{"toolResult": {"toolUseId": "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q",
        "content": [{"json": {"celsius": 21}}], "status": "success"}}]});
    let answer = |message: &Value, reason: &str| {
        json!({"ResponseMetadata": {"HTTPStatusCode": 200, "RetryAttempts": 0},
            "output": {"message": message}, "stopReason": reason,
            "usage": {"inputTokens": 30, "outputTokens": 8, "totalTokens": 38},
            "metrics": {"latencyMs": 1175}, "trace": {"guardrail": {"actionReason": "none"}}})
    };
    let (user, words) = ("user: Weather in Rome?", "assistant: I look.");
    let open = "call weather {\"city\":\"Rome\"} -> nothing (unknown)";
    let first = answer(&called, "tool_use");
    assert_eq!(told(first.clone()), [words, open]);
    let usage = Trace::read(first.clone()).unwrap().usage().unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(30), Some(8)));

    // The input is next to the answer, or around it.
    let with = |mut answer: Value, messages: Value| {
        answer["messages"] = messages;
        answer
    };
    assert_eq!(told(with(first.clone(), json!([asked]))), [user, words, open]);
    assert_eq!(told(json!({"messages": [asked], "response": first})), [user, words, open]);

    // The answers of a conversation, each with everything that was said before.
    let said = json!({"role": "assistant", "content": [{"text": "21 degrees."}]});
    let last = answer(&said, "end_turn");
    let all = json!([asked, called, result]);
    let done = "call weather {\"city\":\"Rome\"} -> [{\"json\":{\"celsius\":21}}] (succeeded)";
    let calls = json!([with(first, json!([asked])), with(last, all)]);
    assert_eq!(told(calls.clone()), [user, words, done, "assistant: 21 degrees."]);
    assert_eq!(Trace::read(calls).unwrap().usage().unwrap().input_tokens, Some(60));

    // A request declares its tools, and marks where the service caches its input.
    let spec =
        json!({"toolSpec": {"name": "weather", "inputSchema": {"json": {"type": "object"}}}});
    let tools = json!([spec, {"cachePoint": {"type": "default"}}]);
    let request = json!({"messages": [asked], "toolConfig": {"tools": tools}});
    assert_eq!(json!(Trace::read(request.clone()).unwrap().tools()), tools);
    let mut exchange = request;
    exchange["response"] = answer(&said, "end_turn");
    assert_eq!(json!(Trace::read(exchange).unwrap().tools()), tools);

    for reason in ["max_tokens", "guardrail_intervened", "content_filtered", "malformed_tool_use"] {
        let outcome = Trace::read(answer(&said, reason)).unwrap().outcome().cloned();
        assert_eq!(
            outcome,
            Some(Outcome::Failed(Some(format!("the answer was cut off: {reason}"))))
        );
    }
}

#[test]
fn a_run_that_langgraph_interrupted_waits_for_a_person() {
    let messages = json!([
        {"type": "human", "content": "Delete the old records.", "id": "6f0d"},
        {"type": "ai", "content": "", "id": "lc_run--8b3", "tool_calls": [{"name": "execute_sql", "id": "call_1",
            "args": {"query": "DELETE FROM records"}, "type": "tool_call"}],
            "response_metadata": {"finish_reason": "tool_calls"}},
    ]);
    // The question of the human-in-the-loop middleware, as an object and as Python's text of one.
    let question = json!({"id": "ec5a9a4f", "value": {
        "action_requests": [{"name": "execute_sql", "args": {"query": "DELETE FROM records"},
            "description": "Tool execution pending approval"}],
        "review_configs": [{"action_name": "execute_sql", "allowed_decisions": ["approve", "reject"]}]}});
    let read = |questions: Value| {
        Trace::read(json!({"messages": messages, "__interrupt__": questions})).unwrap()
    };
    for questions in [json!([question]), json!(["Interrupt(value={'question': 'Sure?'}, id='ec')"])]
    {
        let trace = read(questions);
        assert_eq!(trace.outcome(), Some(&Outcome::Waiting));
        assert!(trace.is_parked());
        assert_eq!(trace.tool_calls().count(), 1);
    }
    for none in [json!([]), Value::Null] {
        let trace = read(none);
        assert_eq!((trace.outcome(), trace.is_parked()), (None, false));
    }
}
