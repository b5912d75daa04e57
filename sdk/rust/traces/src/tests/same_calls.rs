//! One call that several spans report, and several calls that look like one.

use serde_json::json;

use super::*;

fn tool(id: &str, parent: Option<&str>, times: (u32, u32), more: Value) -> Value {
    let mut span = json!({"name": "execute_tool pay", "traceId": "a", "spanId": id, "parentSpanId": parent,
        "startTimeUnixNano": times.0.to_string(), "endTimeUnixNano": times.1.to_string(),
        "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "pay"}});
    let attributes = span["attributes"].as_object_mut().unwrap();
    attributes.extend(more.as_object().unwrap().clone());
    span
}

fn to(whom: &str) -> Value {
    json!({"gen_ai.tool.call.arguments": json!({"to": whom}).to_string()})
}

fn chat(id: &str, parent: Option<&str>, times: (u32, u32), said: Value) -> Value {
    json!({"name": "chat m", "traceId": "a", "spanId": id, "parentSpanId": parent,
        "startTimeUnixNano": times.0.to_string(), "endTimeUnixNano": times.1.to_string(),
        "attributes": {"gen_ai.operation.name": "chat", "gen_ai.output.messages": said}})
}

fn asks(id: Option<&str>, whom: &str) -> Value {
    let call = json!({"type": "tool_call", "id": id, "name": "pay", "arguments": {"to": whom}});
    json!([{"role": "assistant", "parts": [call]}])
}

/// Whom the calls pay.
fn paid(spans: Value) -> Vec<String> {
    let trace = Trace::read(spans).unwrap();
    trace.tool_calls().map(|call| call.arguments["to"].as_str().unwrap_or("?").to_owned()).collect()
}

#[test]
fn a_tool_inside_itself_is_another_call_unless_it_can_be_the_same() {
    let inside = |outer: Value, inner: Value| {
        paid(json!([tool("1", None, (1, 9), outer), tool("2", Some("1"), (2, 3), inner)]))
    };
    assert_eq!(inside(to("a"), to("mallory")), ["a", "mallory"]);
    assert_eq!(inside(to("a"), to("a")), ["a"]);
    assert_eq!(inside(to("a"), json!({})), ["a"]);
    // What only one of the two states is kept.
    assert_eq!(inside(json!({}), to("mallory")), ["mallory"]);
    let with = |result: &str| {
        let mut more = to("a");
        more["gen_ai.tool.call.result"] = json!(result);
        more
    };
    assert_eq!(inside(with("1"), with("1")), ["a"]);
    assert_eq!(inside(with("1"), with("2")), ["a", "a"]);
    let mut failed = tool("2", Some("1"), (2, 3), to("a"));
    failed["status"] = json!({"code": 2, "message": "boom"});
    assert_eq!(paid(json!([tool("1", None, (1, 9), to("a")), failed])), ["a", "a"]);
    let mut outer = tool("1", None, (1, 9), to("a"));
    outer["status"] = json!({"code": 2, "message": "It failed"});
    assert_eq!(paid(json!([outer, failed])), ["a"]);
}

#[test]
fn a_model_between_two_spans_of_a_tool_makes_them_two_calls() {
    let spans = json!([
        tool("1", None, (1, 9), to("a")),
        chat("2", Some("1"), (2, 5), json!([])),
        tool("3", Some("2"), (3, 4), to("a")),
    ]);
    assert_eq!(paid(spans), ["a", "a"]);
}

#[test]
fn spans_nested_in_one_document_are_each_a_call() {
    let nested = |children: Value| json!({"name": "search", "type": "tool", "input": {"q": "x"}, "children": children});
    let spans = nested(json!([nested(json!([nested(json!([nested(json!([]))]))]))]));
    let trace = Trace::read(spans).unwrap();
    assert_eq!(trace.tool_calls().count(), 4);
    assert_eq!(trace.steps()[3].parent, Some(2));
}

#[test]
fn a_tool_that_begins_while_its_model_answers_is_called_once() {
    let answer = |id: Option<&str>| asks(id, "a");
    for (asked, span) in [
        (Some("c1"), to("a")),
        (None, to("a")),
        (Some("c1"), json!({})),
        (None, json!({"gen_ai.tool.call.id": "c1"})),
    ] {
        for parent in [None, Some("1")] {
            let spans = json!([
                chat("1", None, (1, 5), answer(asked)),
                tool("2", parent, (4, 6), span.clone())
            ]);
            assert_eq!(paid(spans), ["a"], "{asked:?} {span}");
        }
    }
    // Other arguments make another call; so does a call from before the model was asked.
    let other =
        json!([chat("1", None, (1, 5), answer(Some("c1"))), tool("2", None, (4, 6), to("b"))]);
    assert_eq!(paid(other), ["b", "a"]);
    let before =
        json!([tool("2", None, (1, 2), to("a")), chat("1", None, (3, 5), answer(Some("c1")))]);
    assert_eq!(paid(before), ["a", "a"]);
    // As many calls as the model asked for.
    let twice = json!([{"role": "assistant", "parts": [
        {"type": "tool_call", "id": "c1", "name": "pay", "arguments": {"to": "a"}},
        {"type": "tool_call", "id": "c2", "name": "pay", "arguments": {"to": "a"}}]}]);
    let spans = json!([
        chat("1", None, (1, 5), twice),
        tool("2", None, (3, 6), to("a")),
        tool("3", None, (4, 6), to("a"))
    ]);
    assert_eq!(paid(spans), ["a", "a"]);
}

#[test]
fn a_call_that_a_span_reported_first_is_known_in_the_conversation() {
    for id in [Some("c1"), None] {
        let user = json!({"role": "user", "parts": [{"type": "text", "content": "Pay."}]});
        let result = json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": id, "response": "paid"}]});
        let history = json!([user, asks(id, "a")[0], result]);
        let mut spans =
            vec![chat("1", None, (1, 5), asks(id, "a")), tool("2", None, (4, 6), to("a"))];
        for (span, times) in [("3", (7, 8)), ("4", (9, 10))] {
            let done =
                json!([{"role": "assistant", "parts": [{"type": "text", "content": "Done."}]}]);
            let mut next = chat(span, None, times, done);
            next["attributes"]["gen_ai.input.messages"] = history.clone();
            spans.push(next);
        }
        assert_eq!(paid(json!(spans)), ["a"], "{id:?}");
        // If no answer was recorded, the next request contains it.
        spans[0]["attributes"].as_object_mut().unwrap().remove("gen_ai.output.messages");
        assert_eq!(paid(json!(spans)), ["a"], "{id:?}");
    }
}

#[test]
fn openinferences_calls_are_matched_too() {
    let call = "llm.output_messages.0.message.tool_calls.0.tool_call";
    let model = json!({"spanId": "1", "name": "ChatOpenAI", "startTimeUnixNano": "1", "endTimeUnixNano": "1000000", "attributes": {
        "openinference.span.kind": "LLM", "llm.output_messages.0.message.role": "assistant",
        (format!("{call}.function.name")): "pay", (format!("{call}.function.arguments")): "{\"to\": \"a\"}",
        (format!("{call}.id")): "c1"}});
    let span = json!({"spanId": "2", "name": "pay", "startTimeUnixNano": "999999", "endTimeUnixNano": "2000000",
        "attributes": {"openinference.span.kind": "TOOL", "tool.name": "pay", "input.value": "{\"to\": \"a\"}"}});
    assert_eq!(paid(json!([model, span])), ["a"]);
}
