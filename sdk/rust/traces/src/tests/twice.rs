//! What two libraries that record one run write twice, and requests that were repeated.

use serde_json::json;

use super::*;

/// The span of a model that requests a call of `w`. `id`: the id of the response.
fn asks(id: &str, span: &str, parent: Option<&str>, times: (u32, u32), more: Value) -> Value {
    let answer = json!([{"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "w",
        "arguments": {"c": "Rome"}}]}]);
    let mut attributes = json!({"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5, "gen_ai.output.messages": answer.to_string()});
    if !id.is_empty() {
        attributes["gen_ai.response.id"] = json!(id);
    }
    attributes.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    attributes.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    json!({"name": "chat m", "traceId": "a", "spanId": span, "parentSpanId": parent,
        "startTimeUnixNano": times.0.to_string(), "endTimeUnixNano": times.1.to_string(),
        "attributes": attributes})
}

/// The tokens of a trace, and its calls.
fn counted(spans: Value) -> (Option<u64>, Vec<String>) {
    let trace = Trace::read(spans).unwrap();
    (trace.usage().and_then(|usage| usage.total()), lines(&trace))
}

#[test]
fn a_request_that_two_libraries_watch_counts_once() {
    let once = ["call w {\"c\":\"Rome\"} -> nothing (unknown)".to_owned()];
    let other_tokens = json!({"gen_ai.usage.input_tokens": 12});
    for (outer, inner, more) in
        [("r1", "r1", &other_tokens), ("r1", "", &json!({})), ("", "", &json!({}))]
    {
        let inner = asks(inner, "2", Some("1"), (2, 4), json!({}));
        let outer = asks(outer, "1", None, (1, 5), more.clone());
        assert_eq!(counted(json!([outer, inner])), (Some(15), once.to_vec()));
        assert_eq!(counted(json!([inner, outer])), (Some(15), once.to_vec()));
    }
    // With a span of neither kind between them, and with three recorders.
    let between = json!({"name": "POST", "traceId": "a", "spanId": "1b", "parentSpanId": "1",
        "startTimeUnixNano": "1", "endTimeUnixNano": "5", "attributes": {}});
    let chain = json!([
        asks("r1", "1", None, (1, 6), json!({})),
        between,
        asks("r1", "2", Some("1b"), (2, 5), json!({})),
        asks("r1", "3", Some("2"), (3, 4), json!({}))
    ]);
    assert_eq!(counted(chain), (Some(15), once.to_vec()));
}

#[test]
fn of_two_that_watch_a_request_the_one_that_has_the_answer_counts() {
    let silent = json!({"gen_ai.output.messages": null});
    let spans = json!([
        asks("r1", "1", None, (1, 5), json!({})),
        asks("r1", "2", Some("1"), (2, 4), silent)
    ]);
    let call = "call w {\"c\":\"Rome\"} -> nothing (unknown)".to_owned();
    assert_eq!(counted(spans), (Some(15), vec![call]));
}

#[test]
fn another_request_within_a_request_counts() {
    let inner = asks("r2", "2", Some("1"), (2, 4), json!({}));
    assert_eq!(counted(json!([asks("r1", "1", None, (1, 5), json!({})), inner])).0, Some(30));
    let tokens = json!({"gen_ai.usage.output_tokens": 6});
    let spans =
        json!([asks("", "1", None, (1, 5), tokens), asks("", "2", Some("1"), (2, 4), json!({}))]);
    assert_eq!(counted(spans).0, Some(31));
    // Nothing shows that they are the same.
    let unknown = json!({"gen_ai.usage.input_tokens": null, "gen_ai.usage.output_tokens": null});
    let spans =
        json!([asks("", "1", None, (1, 5), unknown), asks("", "2", Some("1"), (2, 4), json!({}))]);
    assert_eq!(counted(spans).0, Some(15));
}

#[test]
fn a_request_that_failed_and_was_made_again_did_not_end_the_run() {
    let failed = |times| {
        let mut span = asks("", "1", None, times, json!({"gen_ai.output.messages": null}));
        span["status"] = json!({"code": 2, "message": "Rate limit"});
        span
    };
    let outcome = |spans: Value| Trace::read(spans).unwrap().outcome().cloned();
    let answered = |times| asks("r2", "2", None, times, json!({}));
    assert_eq!(outcome(json!([failed((1, 2)), answered((3, 4))])), None);
    let broke_off = Some(Outcome::Failed(Some("Rate limit".to_owned())));
    assert_eq!(outcome(json!([answered((1, 2)), failed((3, 4))])), broke_off);
    assert_eq!(outcome(json!([failed((1, 2))])), broke_off);
}

#[test]
fn langchain_has_the_arguments_of_a_streamed_call_beside_it() {
    let block = |more: Value| {
        let mut block =
            json!({"type": "tool_use", "id": "t1", "name": "w", "input": {}, "index": 1});
        block.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        block
    };
    let message = |block: Value, args: Value| {
        json!([{"type": "ai", "content": [{"type": "text", "text": "x", "index": 0}, block],
            "tool_calls": [{"name": "w", "args": args, "id": "t1", "type": "tool_call"}]}])
    };
    let written = json!({"partial_json": "{\"c\": \"Rome\"}"});
    let expected = ["assistant: x", "call w {\"c\":\"Rome\"} -> nothing (unknown)"];
    let rome = json!({"c": "Rome"});
    assert_eq!(told(message(block(written.clone()), rome.clone())), expected);
    assert_eq!(told(message(block(json!({})), rome.clone())), expected);
    assert_eq!(
        told(
            json!([{"role": "assistant", "content": [{"type": "text", "text": "x"}, block(written)]}])
        ),
        expected
    );
    // What the block itself states counts.
    assert_eq!(
        told(message(block(json!({"input": {"c": "Rome"}})), json!({"c": "Oslo"}))),
        expected
    );
    assert_eq!(told(message(block(json!({})), json!({})))[1], "call w {} -> nothing (unknown)");
    let cut_off =
        Trace::read(message(block(json!({"partial_json": "{\"c\": \"Ro"})), json!({}))).unwrap();
    assert!(cut_off.tool_calls().all(|call| call.arguments_error.is_some()));
}
