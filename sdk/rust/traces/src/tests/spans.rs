//! Variations of spans by exporters: delivered twice, without an end, with a status in other places.

use serde_json::json;

use super::*;

fn tool(trace: &str, id: &str, more: Value) -> Value {
    let mut span = json!({"name": "execute_tool w", "traceId": trace, "spanId": id,
        "startTimeUnixNano": "1", "attributes": {"gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "w"}});
    span.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    span
}

fn model(more: Value) -> Value {
    let attributes = json!({"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 40,
        "gen_ai.usage.output_tokens": 20});
    let mut span = json!({"name": "chat m", "traceId": "a", "spanId": "1", "startTimeUnixNano": "1",
        "endTimeUnixNano": "2", "attributes": attributes});
    span["attributes"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    span
}

fn count(spans: Value) -> usize {
    Trace::read(spans).unwrap().tool_calls().count()
}

/// The names of the tools that spans report, in the order of their times.
fn order(times: [(&str, Value); 2], key: &str) -> Vec<String> {
    let spans = times.map(|(name, time)| {
        json!({"name": "x", "spanId": name, key: time, "attributes": {
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}})
    });
    let trace = Trace::read(json!(spans)).unwrap();
    trace.tool_calls().map(|call| call.name.clone()).collect()
}

#[test]
fn spans_have_the_order_of_their_nanoseconds() {
    for (key, early, late) in [
        ("startTimeUnixNano", json!("1767225600000000001"), json!("1767225600000000002")),
        ("startTimeUnixNano", json!(1_767_225_600_000_000_001_u64), json!("1767225600000000002")),
        (
            "start_time",
            json!("2026-01-01T00:00:00.0000001Z"),
            json!("2026-01-01T00:00:00.0000002Z"),
        ),
        ("start_time", json!(1_767_225_600_000_000_001_u64), json!(1_767_225_600_000_000_002_u64)),
        // The key states the unit, whatever the size of the number.
        ("startTimeUnixNano", json!("99999999999900"), json!("100000000000100")),
        ("start_time_unix_nano", json!(9), json!(10)),
        ("startMs", json!(99_999_999_999.0), json!(100_000_000_000_u64)),
        // If the key states none, the size of the number shows it.
        ("startTime", json!(1_767_225_600), json!(1_767_225_600_001.0)),
    ] {
        for spans in [[("b", late.clone()), ("a", early.clone())], [("a", early), ("b", late)]] {
            assert_eq!(order(spans, key), ["a", "b"], "{key}");
        }
    }
}

#[test]
fn a_duration_has_the_unit_of_its_keys() {
    let duration = |begin: Value, end: Value| {
        let mut span = tool("a", "1", json!({"endTimeUnixNano": end}));
        span["startTimeUnixNano"] = begin;
        let trace = Trace::read(json!([span])).unwrap();
        (trace.steps()[0].start_ms, trace.steps()[0].duration_ms)
    };
    let begin = json!("1767225600123456789");
    assert_eq!(
        duration(begin.clone(), json!("1767225600123456889")),
        (Some(1_767_225_600_123.456_8), Some(0.0001))
    );
    assert_eq!(duration(json!("0"), json!("2500000")), (Some(0.0), Some(2.5)));
    assert_eq!(duration(begin, json!("1")).1, None);
}

#[test]
fn a_span_that_arrives_twice_counts_once() {
    let once = tool("a", "1", json!({"endTimeUnixNano": "2"}));
    assert_eq!(count(json!([once, once])), 1);
    let export = |span: &Value| json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]});
    assert_eq!(count(json!([export(&once), export(&once)])), 1);
    let context = |id: &str| {
        json!({"name": "w", "context": {"trace_id": "a", "span_id": id},
            "attributes": {"openinference.span.kind": "TOOL", "tool.name": "w"}})
    };
    assert_eq!(count(json!([context("1"), context("1"), context("2")])), 2);
    let usage = Trace::read(json!([model(json!({})), model(json!({}))])).unwrap().usage();
    assert_eq!(usage.unwrap().total(), Some(60));
}

#[test]
fn of_two_deliveries_the_one_with_an_end_counts() {
    let begun = tool("a", "1", json!({}));
    let ended =
        tool("a", "1", json!({"endTimeUnixNano": "2", "status": {"code": 2, "message": "boom"}}));
    let expected = ["call w {} -> \"boom\" (failed)"];
    assert_eq!(told(json!([begun, ended])), expected);
    assert_eq!(told(json!([ended, begun])), expected);
}

#[test]
fn an_id_means_one_span_of_its_trace() {
    let other = |trace: &str| tool(trace, "1", json!({"endTimeUnixNano": "2"}));
    assert_eq!(count(json!([other("a"), other("b")])), 2);
    let agent = |trace: &str, name: &str| {
        json!({"name": "invoke_agent", "traceId": trace, "spanId": "9", "startTimeUnixNano": "0",
            "endTimeUnixNano": "9", "attributes": {"gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": name}})
    };
    let inside = tool("a", "1", json!({"parentSpanId": "9", "endTimeUnixNano": "2"}));
    let trace = Trace::read(json!([agent("a", "x"), agent("b", "y"), inside])).unwrap();
    let call = trace.steps().iter().find(|step| matches!(step.kind, StepKind::ToolCall(_)));
    let parent = &trace.steps()[call.unwrap().parent.unwrap()];
    assert_eq!(line(parent), "agent x (succeeded)");
    // Without ids, nothing shows that two spans are one.
    let mut nameless = tool("a", "1", json!({}));
    nameless.as_object_mut().unwrap().remove("spanId");
    assert_eq!(count(json!([nameless, nameless])), 2);
}

#[test]
fn a_status_may_stand_beside_the_name_of_the_span() {
    let failed = ["call w {} -> \"ValueError: boom\" (failed)"];
    let said = json!({"status_code": "ERROR", "status_message": "ValueError: boom"});
    assert_eq!(told(json!([tool("a", "1", said)])), failed);
    let said = json!({"statusCode": 2, "statusMessage": "ValueError: boom"});
    assert_eq!(told(json!([tool("a", "1", said)])), failed);
    let said = json!({"status": {"code": "2", "message": "ValueError: boom"}});
    assert_eq!(told(json!([tool("a", "1", said)])), failed);
    let said = json!({"status": {}, "status_code": "STATUS_CODE_ERROR", "status_message": ""});
    assert_eq!(told(json!([tool("a", "1", said)])), ["call w {} -> \"error\" (failed)"]);
    for status in [json!({"status_code": "OK", "status_message": ""}), json!({"status_code": 500})]
    {
        assert_eq!(told(json!([tool("a", "1", status)])), ["call w {} -> nothing (succeeded)"]);
    }
}

#[test]
fn why_a_model_ended_may_stand_in_an_attribute() {
    let outcome = |spans: Value| Trace::read(spans).unwrap().outcome().cloned();
    let cut = |why: &str| Some(Outcome::Failed(Some(format!("the answer was cut off: {why}"))));
    let ended = |reasons: Value| model(json!({"gen_ai.response.finish_reasons": reasons}));
    assert_eq!(outcome(json!([ended(json!(["length"]))])), cut("length"));
    assert_eq!(outcome(json!([ended(json!("[\"content_filter\"]"))])), cut("content_filter"));
    assert_eq!(outcome(json!([ended(json!("length"))])), cut("length"));
    assert_eq!(outcome(json!([ended(json!(["stop"]))])), None);
    // A message without its own reason keeps that of its span.
    let said = json!([{"role": "assistant", "parts": [{"type": "text", "content": "Su"}]}]);
    let both = model(
        json!({"gen_ai.response.finish_reasons": ["length"], "gen_ai.output.messages": said}),
    );
    assert_eq!(outcome(json!([both])), cut("length"));
    let agent = json!({"name": "invoke_agent", "traceId": "a", "spanId": "9", "startTimeUnixNano": "0",
        "endTimeUnixNano": "9", "attributes": {"gen_ai.operation.name": "invoke_agent",
            "gen_ai.output.messages": said}});
    assert_eq!(outcome(json!([agent, ended(json!(["length"]))])), cut("length"));
    // The last answer counts.
    let mut later = ended(json!(["stop"]));
    later["spanId"] = json!("2");
    later["startTimeUnixNano"] = json!("3");
    later["endTimeUnixNano"] = json!("4");
    assert_eq!(outcome(json!([ended(json!(["length"])), later])), None);
}

#[test]
fn a_result_finds_the_call_that_a_span_has_answered() {
    let attributes = |message: usize, of: &str, role: &str| {
        let prefix = format!("gen_ai.{of}.{message}");
        json!({(format!("{prefix}.role")): role, (format!("{prefix}.tool_calls.0.id")): "c",
            (format!("{prefix}.tool_calls.0.name")): "w", (format!("{prefix}.tool_calls.0.arguments")): "{}"})
    };
    let mut again = attributes(0, "prompt", "assistant");
    again["gen_ai.prompt.1.role"] = json!("tool");
    again["gen_ai.prompt.1.tool_call_id"] = json!("c");
    again["gen_ai.prompt.1.content"] = json!("x");
    let spans = json!([
        {"spanId": "1", "name": "chat", "startTimeUnixNano": "1000000000000000000", "attributes": attributes(0, "completion", "assistant")},
        {"spanId": "2", "name": "w.tool", "startTimeUnixNano": "1000000001000000000", "attributes": {
            "traceloop.span.kind": "tool", "traceloop.entity.name": "w", "traceloop.entity.output": "x"}},
        {"spanId": "3", "name": "chat", "startTimeUnixNano": "1000000002000000000", "attributes": again}]);
    assert_eq!(told(spans), ["call w {} -> \"x\" (succeeded)"]);
}

#[test]
fn two_spans_of_one_id_are_two_calls_where_no_model_asked() {
    let span = |id: &str| {
        json!({"spanId": id, "name": "execute_tool w", "attributes": {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "w", "gen_ai.tool.call.id": "0"}})
    };
    assert_eq!(told(json!([span("1"), span("2")])).len(), 2);
}

#[test]
fn the_schema_of_a_tool_is_not_its_arguments() {
    let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}}}"#;
    let tool = |input: Value| {
        let mut attributes =
            json!({"openinference.span.kind": "TOOL", "tool.name": "w", "tool.parameters": schema});
        attributes.as_object_mut().unwrap().extend(input.as_object().cloned().unwrap_or_default());
        told(json!([{"spanId": "1", "name": "w", "attributes": attributes}]))
    };
    assert_eq!(
        tool(json!({"input.value": "{\"a\":1}"})),
        ["call w {\"a\":1} -> nothing (succeeded)"]
    );
    assert_eq!(tool(json!({})), ["call w {} -> nothing (succeeded)"]);
    assert_eq!(
        tool(json!({"tool.parameters": "{\"a\":1}"})),
        ["call w {\"a\":1} -> nothing (succeeded)"]
    );
}

#[test]
fn openinference_has_the_first_function_calls_too() {
    let name = "llm.output_messages.0.message.function_call_name";
    let said = |called: &str| {
        told(json!([{"spanId": "1", "name": "LLM", "attributes": {"openinference.span.kind": "LLM",
            "llm.output_messages.0.message.role": "assistant", name: called,
            "llm.output_messages.0.message.function_call_arguments_json": "{\"a\":1}"}}]))
    };
    assert_eq!(said("w"), ["call w {\"a\":1} -> nothing (unknown)"]);
    assert_eq!(said(""), [""; 0]);
}

#[test]
fn openllmetry_wraps_arguments() {
    let tool = |input: &str| {
        told(json!([{"spanId": "1", "name": "w.tool", "attributes": {"traceloop.span.kind": "tool",
            "traceloop.entity.name": "w", "traceloop.entity.input": input}}]))
    };
    let expected = ["call w {\"a\":1} -> nothing (succeeded)"];
    assert_eq!(tool(r#"{"args": [], "kwargs": {"a": 1}}"#), expected);
    assert_eq!(
        tool(r#"{"input_str": "x", "tags": [], "inputs": {"a": 1}, "kwargs": {}}"#),
        expected
    );
    assert_eq!(tool(r#"{"a": 1}"#), expected);
    let by_place = ["call w {\"args\":[1],\"kwargs\":{}} -> nothing (succeeded)"];
    assert_eq!(tool(r#"{"args": [1], "kwargs": {}}"#), by_place);
}

#[test]
fn a_choice_says_why_it_ended() {
    let outcome = |trace: Value| Trace::read(trace).unwrap().outcome().cloned();
    let cut = Some(Outcome::Failed(Some("the answer was cut off: length".to_owned())));
    let attributes =
        json!({"finish_reason": "length", "message": "{\"role\":\"assistant\",\"content\":\"x\"}"});
    let span = json!([{"spanId": "1", "name": "chat", "attributes": {"gen_ai.operation.name": "chat"},
        "events": [{"name": "gen_ai.choice", "attributes": attributes}]}]);
    assert_eq!(outcome(span), cut);
    let record = |reason: &str| json!([{"eventName": "gen_ai.choice", "body": {"finish_reason": reason, "message": {"content": "x"}}}]);
    assert_eq!((outcome(record("length")), outcome(record("stop"))), (cut, None));
}

#[test]
fn a_client_and_its_server_report_one_call() {
    let span = |id: &str, parent: &str, attributes: Value| {
        let mut span = json!({"spanId": id, "parentSpanId": parent, "name": "tools/call w", "attributes": {
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "w"}});
        let found = span["attributes"].as_object_mut().unwrap();
        found.extend(attributes.as_object().cloned().unwrap_or_default());
        span
    };
    let asked = json!({"spanId": "0", "name": "chat", "attributes": {"gen_ai.operation.name": "chat",
        "gen_ai.output.messages": [{"role": "assistant", "parts": [
            {"type": "tool_call", "id": "a", "name": "w", "arguments": {}},
            {"type": "tool_call", "id": "b", "name": "w", "arguments": {}}]}]}});
    let outer = span("1", "", json!({"gen_ai.tool.call.id": "a", "gen_ai.tool.call.result": "A"}));
    let inner = span("2", "1", json!({}));
    let expected = ["call w {} -> \"A\" (succeeded)", "call w {} -> nothing (unknown)"];
    assert_eq!(told(json!([asked, outer, inner])), expected);
    // A tool that calls itself gives its calls ids.
    let other = span("2", "1", json!({"gen_ai.tool.call.id": "z"}));
    assert_eq!(told(json!([outer, other])).len(), 2);
}
