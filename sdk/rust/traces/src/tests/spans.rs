//! What exporters make of spans: delivered twice, without an end, with a status in other places.

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
    // Without ids, nothing says that two spans are one.
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
    // Without a reason of its own, a message keeps the one of its span.
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
