//! Logs of runs: OpenTelemetry spans, ATIF trajectories, Inspect samples.

use serde_json::json;

use super::*;

fn span(name: &str, id: &str, parent: Option<&str>, times: (u32, u32), attributes: Value) -> Value {
    json!({"name": name, "context": {"span_id": id}, "parent_id": parent, "status": {"status_code": "UNSET"},
        "start_time": format!("2026-01-01T00:00:0{}Z", times.0),
        "end_time": format!("2026-01-01T00:00:0{}Z", times.1), "attributes": attributes})
}

/// As OpenTelemetry's SDK for Python writes spans: in the order of their ends.
fn spans() -> Vec<Value> {
    let user = json!({"role": "user", "parts": [{"type": "text", "content": "Weather?"}]});
    let asks = json!({"role": "assistant", "parts": [
        {"type": "tool_call", "id": "c1", "name": "weather", "arguments": {"city": "Rome"}}]});
    let mut asks_now = asks.clone();
    asks_now["finish_reason"] = json!("tool_call");
    let told = json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "sun"}]});
    let says = json!({"role": "assistant", "parts": [{"type": "text", "content": "Sun."}]});
    let text = |messages: Value| messages.to_string();
    let mut failed = span(
        "execute_tool search",
        "5",
        Some("4"),
        (4, 5),
        json!({
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search",
        "gen_ai.tool.call.arguments": "{\"q\": \"x\"}"}),
    );
    failed["status"] = json!({"status_code": "ERROR", "description": "boom"});
    vec![
        span(
            "chat m",
            "2",
            Some("1"),
            (1, 2),
            json!({"gen_ai.operation.name": "chat",
            "gen_ai.input.messages": text(json!([user])), "gen_ai.output.messages": text(json!([asks_now])),
            "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5}),
        ),
        span(
            "execute_tool weather",
            "3",
            Some("1"),
            (2, 3),
            json!({"gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "weather", "gen_ai.tool.call.id": "c1"}),
        ),
        failed,
        span(
            "invoke_agent helper",
            "4",
            Some("1"),
            (4, 6),
            json!({"gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "helper", "server.address": "agents.example", "server.port": 443}),
        ),
        span(
            "chat m",
            "6",
            Some("1"),
            (6, 7),
            json!({"gen_ai.operation.name": "chat",
            "gen_ai.input.messages": text(json!([user, asks, told])),
            "gen_ai.output.messages": text(json!([says]))}),
        ),
        span(
            "invoke_agent planner",
            "1",
            None,
            (0, 8),
            json!({"gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "planner", "gen_ai.output.messages": text(json!([says]))}),
        ),
    ]
}

const TOLD: [&str; 6] = [
    "agent planner (succeeded)",
    "user: Weather?",
    "call weather {\"city\":\"Rome\"} -> \"sun\" (succeeded)",
    "agent helper (succeeded)",
    "call search {\"q\":\"x\"} -> \"boom\" (failed)",
    "assistant: Sun.",
];

#[test]
fn spans_are_read_by_their_times_and_every_message_once() {
    let trace = Trace::read(Value::Array(spans())).unwrap();
    assert_eq!(lines(&trace), TOLD);
    assert_eq!(trace.usage().unwrap().total(), Some(15));
    // The run's own agent is not an agent that it called.
    let agents: Vec<_> = trace.sub_agents().collect();
    assert_eq!(agents[0].remote_url.as_deref(), Some("agents.example:443"));
    assert_eq!(agents.len(), 1);
    let search = &trace.steps()[4];
    assert_eq!((search.parent, search.duration_ms), (Some(3), Some(1000.0)));
    assert_eq!(trace.steps()[3].parent, Some(0));
}

#[test]
fn the_protocols_json_says_the_same() {
    let value = |value: &Value| match value {
        Value::String(text) => json!({"stringValue": text}),
        number => json!({"intValue": number.to_string()}),
    };
    let spans: Vec<Value> = (spans().iter())
        .map(|span| {
            let attributes = span["attributes"].as_object().unwrap();
            let pairs: Vec<_> = attributes
                .iter()
                .map(|(key, found)| json!({"key": key, "value": value(found)}))
                .collect();
            let second = |key: &str| {
                let text = span[key].as_str().unwrap();
                format!("176722560{}000000000", &text[18..19])
            };
            let failed = span["status"]["status_code"] == "ERROR";
            json!({"name": span["name"], "spanId": span["context"]["span_id"],
                "parentSpanId": span["parent_id"], "attributes": pairs,
                "startTimeUnixNano": second("start_time"), "endTimeUnixNano": second("end_time"),
                "status": if failed { json!({"code": 2, "message": "boom"}) } else { json!({}) }})
        })
        .collect();
    let document =
        json!({"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": spans}]}]});
    assert_eq!(told(document), TOLD);
}

#[test]
fn without_recorded_messages_the_tools_spans_are_the_calls() {
    let trace = json!([
        span("chat m", "1", None, (1, 2), json!({"gen_ai.operation.name": "chat"})),
        span(
            "t",
            "2",
            None,
            (2, 3),
            json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "w",
            "gen_ai.tool.call.arguments": {"c": 1}, "gen_ai.tool.call.result": "{\"a\": 2}"})
        ),
    ]);
    assert_eq!(told(trace), ["call w {\"c\":1} -> {\"a\":2} (succeeded)"]);
}

#[test]
fn attributes_alone_are_a_trace_too() {
    let trace = json!({"gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}],
        "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "Hello"},
            {"type": "tool_call", "name": "w", "arguments": null}]}]});
    assert_eq!(told(trace), ["user: Hi", "assistant: Hello", "call w {} -> nothing (unknown)"]);
}

#[test]
fn messages_in_events_and_under_numbered_keys_as_in_the_first_conventions() {
    let events = json!([{"name": "chat", "span_id": "1", "attributes": {}, "events": [
        {"name": "gen_ai.user.message", "attributes": {"content": "Hi"}},
        {"name": "gen_ai.choice", "body": {"message": {"role": "assistant", "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "w", "arguments": "{}"}}]}}}]}]);
    assert_eq!(told(events), ["user: Hi", "call w {} -> nothing (unknown)"]);
    let numbered = json!([{"name": "openai.chat", "spanId": "1", "attributes": {
        "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Hi",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.tool_calls.0.name": "w", "gen_ai.completion.0.tool_calls.0.arguments": "{\"c\":1}"}}]);
    assert_eq!(told(numbered), ["user: Hi", "call w {\"c\":1} -> nothing (unknown)"]);
}

#[test]
fn nested_spans_keep_who_called_whom() {
    let trace =
        Trace::read(json!({"name": "planner", "type": "agent", "input": "go", "children": [
        {"name": "think", "type": "llm", "output": "I search."},
        {"name": "search", "type": "tool", "input": {"q": 1}, "output": "found"},
        {"name": "planner", "type": "agent", "input": "go", "children": []}]}))
        .unwrap();
    assert_eq!(
        lines(&trace),
        [
            "agent planner (succeeded)",
            "assistant: I search.",
            "call search {\"q\":1} -> \"found\" (succeeded)",
            "agent planner (succeeded)",
        ]
    );
    assert_eq!(trace.steps()[3].parent, Some(0));
}

#[test]
fn spans_of_something_else_are_refused_by_name() {
    let error =
        Trace::read(json!([span("GET /", "1", None, (1, 2), json!({"http.method": "GET"}))]));
    let message = error.unwrap_err().to_string();
    assert!(
        message.contains("a model's, a tool's or an agent's; the first are called GET /"),
        "{message}"
    );
}

#[test]
fn atif_trajectories() {
    let trace = Trace::read(json!({"schema_version": "ATIF-v1.7", "session_id": "s",
        "agent": {"name": "a", "version": "1", "tool_definitions": [{"type": "function", "function": {"name": "w"}}]},
        "steps": [
            {"step_id": 1, "source": "user", "message": "Weather?", "timestamp": "2025-10-16T14:30:00Z"},
            {"step_id": 2, "source": "agent", "message": "I look.", "reasoning_content": "Ask.",
                "tool_calls": [{"tool_call_id": "c1", "function_name": "w", "arguments": {"c": 1}},
                    {"tool_call_id": "c2", "function_name": "delegate", "arguments": {}}],
                "observation": {"results": [{"source_call_id": "c1", "content": "sun"},
                    {"source_call_id": "c2", "subagent_trajectory_ref": [{"trajectory_id": "t2"}]}]},
                "metrics": {"prompt_tokens": 100, "completion_tokens": 20, "cost_usd": 0.5}},
            {"step_id": 3, "source": "agent", "message": "old", "is_copied_context": true},
            {"step_id": 4, "source": "agent", "message": [{"type": "text", "text": "Sun."}]},
        ],
        "subagent_trajectories": [{"trajectory_id": "t2", "agent": {"name": "helper"}, "steps": []}]}))
    .unwrap();
    assert_eq!(
        lines(&trace),
        [
            "user: Weather?",
            "thinks: Ask.",
            "assistant: I look.",
            "call w {\"c\":1} -> \"sun\" (unknown)",
            "call delegate {} -> null (unknown)",
            "agent helper (unknown)",
            "assistant: Sun.",
        ]
    );
    assert_eq!(trace.tools().len(), 1);
    assert_eq!(trace.usage().unwrap().cost_usd, Some(0.5));
}

#[test]
fn atif_of_another_major_version_is_refused() {
    let read = |version: &str| {
        Trace::read(json!({"schema_version": version, "agent": {"name": "a"}, "steps": [
            {"step_id": 1, "source": "user", "message": "Hi"}]}))
    };
    for version in ["ATIF-v1.0", "ATIF-v1.8", "ATIF-v1.99", "ATIF-v1"] {
        assert_eq!(lines(&read(version).unwrap()), ["user: Hi"], "{version}");
    }
    for version in ["ATIF-v9.9", "ATIF-v10.0", "ATIF-v2"] {
        let error = read(version).unwrap_err().to_string();
        let expected = format!("its `schema_version` is `{version}`, and not 1.x");
        assert!(error.contains(&expected), "{error}");
    }
}

fn inspect_sample() -> Value {
    json!({"id": 1, "epoch": 1, "input": "1+2?", "target": "3", "scores": {},
        "messages": [
            {"id": "a", "content": "1+2?", "source": "input", "role": "user"},
            {"id": "b", "content": "I add.", "role": "assistant", "tool_calls": [
                {"id": "t1", "function": "add", "arguments": {"x": 1, "y": 2}, "type": "function"},
                {"id": "t2", "function": "broken", "arguments": {"path": "/x"}, "type": "function"},
                {"id": "t3", "function": "rm", "arguments": {}, "type": "function"}]},
            {"content": "3", "role": "tool", "tool_call_id": "t1", "function": "add"},
            {"content": "", "role": "tool", "tool_call_id": "t2", "function": "broken",
                "error": {"type": "unknown", "message": "no such file"}},
            {"content": "", "role": "tool", "tool_call_id": "t3", "function": "rm",
                "error": {"type": "approval", "message": "no"}},
            {"id": "d", "content": [{"type": "reasoning", "reasoning": "So."}, {"type": "text", "text": "3"}], "role": "assistant"}],
        "events": [{"event": "tool", "id": "t1", "function": "add", "arguments": {}, "result": "3",
            "timestamp": "2026-01-01T00:00:00.5+01:00", "working_time": 0.05}]})
}

#[test]
fn inspect_samples() {
    let trace = Trace::read(inspect_sample()).unwrap();
    assert_eq!(
        lines(&trace),
        [
            "user: 1+2?",
            "assistant: I add.",
            "call add {\"x\":1,\"y\":2} -> \"3\" (succeeded)",
            "call broken {\"path\":\"/x\"} -> \"\" (failed)",
            "call rm {} -> \"\" (rejected)",
            "thinks: So.",
            "assistant: 3",
        ]
    );
    let add = &trace.steps()[2];
    assert_eq!((add.start_ms, add.duration_ms), (Some(1_767_222_000_500.0), Some(50.0)));
}

#[test]
fn inspect_events_without_messages() {
    let message = |index: usize| inspect_sample()["messages"][index].clone();
    let model = |input: Value, output: Value| {
        json!({"event": "model", "span_id": "s", "input": input,
        "output": {"choices": [{"message": output}], "usage": {"input_tokens": 5, "output_tokens": 1}}})
    };
    let trace = Trace::read(json!({"epoch": 1, "messages": [], "error": {"message": "limit"}, "events": [
        {"event": "sample_init"},
        model(json!([message(0)]), message(1)),
        {"event": "tool", "id": "t1", "function": "add", "arguments": {"x": 1, "y": 2}, "result": "3", "agent": "adder"},
        {"event": "tool", "id": "t2", "function": "broken", "arguments": {}, "result": "", "error": {"type": "unknown", "message": "no"}},
        model(json!([message(0), message(1), message(2), message(3)]), message(5)),
        {"event": "score"},
    ]}))
    .unwrap();
    assert_eq!(
        lines(&trace),
        [
            "user: 1+2?",
            "assistant: I add.",
            "call add {\"x\":1,\"y\":2} -> \"3\" (succeeded)",
            "call broken {\"path\":\"/x\"} -> \"\" (failed)",
            "call rm {} -> nothing (unknown)",
            "agent adder (succeeded)",
            "thinks: So.",
            "assistant: 3",
            "error limit",
        ]
    );
    assert_eq!(trace.outcome(), Some(&Outcome::Failed(Some("limit".into()))));
    assert_eq!(trace.usage().unwrap().total(), Some(12));
    assert!(trace.events().iter().any(|event| event.is("score")));
}

#[test]
fn a_log_of_several_samples_is_not_a_case() {
    let error = Trace::read(json!({"eval": {}, "samples": [inspect_sample(), inspect_sample()]}));
    assert_eq!(
        error.unwrap_err().to_string(),
        "the trace is a log of 2 samples; a case is one of them"
    );
    assert_eq!(told(json!({"eval": {}, "samples": [inspect_sample()]})).len(), 7);
}

/// The next span leaves out the thoughts, writes arguments as text and drops an empty text.
#[test]
fn a_conversation_that_is_repeated_in_other_words_counts_once() {
    let chat = |id: &str, times: (u32, u32), asked: Value, said: Value| {
        span(
            "chat m",
            id,
            None,
            times,
            json!({"gen_ai.operation.name": "chat",
            "gen_ai.input.messages": asked, "gen_ai.output.messages": said}),
        )
    };
    let user = json!({"role": "user", "parts": [{"type": "text", "content": "Weather?"}]});
    let call = |arguments: Value, more: Vec<Value>| {
        let call = json!({"type": "tool_call", "id": "c1", "name": "w", "arguments": arguments});
        let parts: Value = more.into_iter().chain([call]).collect();
        json!({"role": "assistant", "parts": parts})
    };
    let thought = json!({"type": "reasoning", "content": "Ask."});
    let empty = json!({"type": "text", "content": ""});
    let result = json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "sun"}]});
    let trace = |again: Value| {
        json!([
            chat(
                "1",
                (1, 2),
                json!([user]),
                json!([call(json!({"c": 1}), vec![thought.clone(), empty.clone()])])
            ),
            chat(
                "2",
                (3, 4),
                json!([user, again, result]),
                json!([{"role": "assistant", "parts": [{"type": "text", "content": "Sun."}]}])
            ),
        ])
    };
    let expected = [
        "user: Weather?",
        "thinks: Ask.",
        "call w {\"c\":1} -> \"sun\" (unknown)",
        "assistant: Sun.",
    ];
    assert_eq!(told(trace(call(json!("{\"c\":1}"), vec![]))), expected);
    // Whatever else differs, the id shows that it is the same call.
    let more = told(trace(call(json!({}), vec![json!({"type": "text", "content": "So."})])));
    assert_eq!(more.iter().filter(|line| line.starts_with("call w")).count(), 1);
}

#[test]
fn inspects_models_may_be_asked_without_their_thoughts() {
    let user = json!({"role": "user", "content": "1+2?"});
    let call = json!([{"id": "t", "function": "add", "arguments": {"x": 1}, "type": "function"}]);
    let text = json!({"type": "text", "text": "I add."});
    let thought = json!({"type": "reasoning", "reasoning": "So."});
    let said = json!({"role": "assistant", "content": [thought, text], "tool_calls": call});
    let again = json!({"role": "assistant", "content": "I add.", "tool_calls": call});
    let answer = json!({"role": "tool", "tool_call_id": "t", "function": "add", "content": "3"});
    let model = |input: Value, output: Value| json!({"event": "model", "input": input, "output": {"choices": [{"message": output}]}});
    let done = json!({"role": "assistant", "content": "3"});
    let events = json!([model(json!([user]), said), model(json!([user, again, answer]), done)]);
    let expected = [
        "user: 1+2?",
        "thinks: So.",
        "assistant: I add.",
        "call add {\"x\":1} -> \"3\" (succeeded)",
        "assistant: 3",
    ];
    assert_eq!(told(events), expected);
}

#[test]
fn inspects_hand_offs_are_calls_of_agents() {
    let messages = json!([{"role": "assistant", "content": "", "tool_calls": [
            {"id": "t", "function": "transfer_to_r", "arguments": {}, "type": "function"}]},
        {"role": "tool", "tool_call_id": "t", "function": "transfer_to_r", "content": "done"}]);
    let events = json!([
        {"event": "tool", "id": "t", "function": "transfer_to_r", "arguments": {}, "result": "done",
            "agent": "r", "agent_span_id": "s"},
        {"event": "span_begin", "id": "s", "type": "agent", "name": "r", "parent_id": "p"}]);
    let agents = |sample: Value| {
        let trace = Trace::read(sample).unwrap();
        trace.sub_agents().map(|agent| (agent.name.clone(), agent.status)).collect::<Vec<_>>()
    };
    let once = [("r".to_owned(), Status::Succeeded)];
    assert_eq!(agents(json!({"epoch": 1, "messages": messages, "events": events})), once);
    assert_eq!(agents(json!({"epoch": 1, "messages": [], "events": events})), once);
    assert_eq!(agents(events.clone()), once);
    // An agent that no tool call hands over to is reported by its span only.
    let alone = json!({"epoch": 1, "messages": messages, "events": [events[1]]});
    assert_eq!(agents(alone), [("r".to_owned(), Status::Unknown)]);
}

#[test]
fn inspects_own_agent_is_inside_no_other_and_no_tool() {
    let span = |id: &str, parent: Option<&str>, kind: &str, name: &str| json!({"event": "span_begin", "id": id, "parent_id": parent, "type": kind, "name": name});
    let events = json!([
        span("1", None, "solvers", "solvers"),
        span("2", Some("1"), "solver", "react"),
        span("3", Some("2"), "agent", "react"),
        span("4", Some("3"), "agent", "planner"),
        span("5", Some("2"), "tool", "search"),
        span("6", Some("5"), "agent", "searcher"),
        span("7", Some("6"), "fork", "inner"),
        span("8", Some("7"), "agent", "reader"),
    ]);
    let trace = Trace::read(events).unwrap();
    let called: Vec<_> = trace.sub_agents().map(|agent| agent.name.as_str()).collect();
    assert_eq!(called, ["planner", "searcher", "reader"]);
}

#[test]
fn an_inspect_sample_at_its_limit_broke_off() {
    let mut sample = inspect_sample();
    sample["limit"] = json!({"type": "token", "limit": 100});
    let trace = Trace::read(sample).unwrap();
    let why = "it reached its token limit".to_owned();
    assert_eq!(trace.outcome(), Some(&Outcome::Failed(Some(why))));
}

#[test]
fn an_atif_reference_may_have_a_session_alone() {
    let trace = json!({"schema_version": "ATIF-v1.7", "agent": {"name": "a"}, "steps": [
        {"step_id": 1, "source": "agent", "message": "", "observation": {"results": [
            {"content": "x", "subagent_trajectory_ref": [{"session_id": "researcher-1"}]}]}}]});
    assert_eq!(told(trace), ["agent researcher-1 (unknown)"]);
}

#[test]
fn what_an_agent_hands_over_is_not_a_second_answer() {
    let agent = |children: Value| json!({"name": "helper", "type": "agent", "output": "It is: sun", "children": children});
    let model = json!({"name": "think", "type": "llm", "output": "sun"});
    assert_eq!(told(agent(json!([model]))), ["agent helper (succeeded)", "assistant: sun"]);
    // If there is no model span, it is the only record.
    assert_eq!(told(agent(json!([]))), ["agent helper (succeeded)", "assistant: It is: sun"]);
}

#[test]
fn integers_within_attributes_are_numbers() {
    let value = |arguments: Value| {
        json!([{"name": "execute_tool w", "traceId": "a", "spanId": "1", "startTimeUnixNano": "1",
            "endTimeUnixNano": "2", "attributes": [
                {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
                {"key": "gen_ai.tool.name", "value": {"stringValue": "w"}},
                {"key": "gen_ai.tool.call.arguments", "value": {"kvlistValue": {"values": [
                    {"key": "n", "value": arguments}]}}}]}])
    };
    let one = |text: &str| vec![format!("call w {{\"n\":{text}}} -> nothing (succeeded)")];
    assert_eq!(told(value(json!({"intValue": "3"}))), one("3"));
    assert_eq!(told(value(json!({"intValue": -9}))), one("-9"));
    assert_eq!(told(value(json!({"intValue": "9223372036854775807"}))), one("9223372036854775807"));
    assert_eq!(told(value(json!({"intValue": "3a"}))), one("\"3a\""));
    assert_eq!(told(value(json!({"stringValue": "3"}))), one("\"3\""));
    let list = json!({"arrayValue": {"values": [{"int_value": "1"}, {"doubleValue": 0.5}]}});
    assert_eq!(told(value(list)), one("[1,0.5]"));
}
