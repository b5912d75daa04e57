//! What Inspect's samples contain in addition to their messages.

use serde_json::json;

use super::*;

#[test]
fn the_calls_of_an_agent_that_a_tool_runs_count() {
    let asks = json!({"role": "assistant", "content": "", "tool_calls": [
        {"id": "1", "function": "sub", "arguments": {}}]});
    let told_so = json!({"role": "tool", "tool_call_id": "1", "function": "sub", "content": "ok"});
    let sample = json!({"epoch": 1, "scores": {}, "messages": [asks, told_so], "events": [
        {"event": "tool", "id": "2", "function": "rm", "arguments": {"p": "/"}, "result": "", "error": {"message": "no"}},
        {"event": "tool", "id": "1", "function": "sub", "arguments": {}, "result": "ok"}]});
    let expected = ["call sub {} -> \"ok\" (succeeded)", "call rm {\"p\":\"/\"} -> \"\" (failed)"];
    assert_eq!(told(sample), expected);
}

#[test]
fn a_choice_says_why_the_answer_ended() {
    let outcome = |trace: Value| Trace::read(trace).unwrap().outcome().cloned();
    let cut = Some(Outcome::Failed(Some("the answer was cut off: max_tokens".to_owned())));
    let said = json!({"role": "assistant", "content": "x"});
    let output = |why: &str| json!({"choices": [{"message": said, "stop_reason": why}]});
    let sample = |why: &str| json!({"epoch": 1, "messages": [said], "output": output(why)});
    let events = |why: &str| json!([{"event": "model", "input": [], "output": output(why)}]);
    assert_eq!((outcome(sample("max_tokens")), outcome(sample("stop"))), (cut.clone(), None));
    assert_eq!((outcome(events("max_tokens")), outcome(events("stop"))), (cut, None));
}

#[test]
fn what_a_grading_agent_does_is_not_the_samples() {
    let said = json!({"role": "assistant", "content": "4"});
    let tool = |id: &str, span: &str| json!({"event": "tool", "id": id, "function": id, "arguments": {}, "result": "ok", "span_id": span});
    let begin = |id: &str, kind: &str, parent: Option<&str>| json!({"event": "span_begin", "id": id, "span_id": id, "parent_id": parent, "type": kind, "name": id});
    let model = |span: &str| {
        json!({"event": "model", "span_id": span, "input": [{"role": "user", "content": "Grade it."}],
            "output": {"choices": [{"message": {"role": "assistant", "content": "C"}, "stop_reason": "max_tokens"}]}})
    };
    let spans = json!([
        begin("solvers", "solvers", None), begin("sub", "agent", Some("solvers")), tool("search", "sub"),
        begin("scorers", "scorers", None), begin("grade", "scorer", Some("scorers")),
        begin("grader", "agent", Some("grade")), model("grader"),
        begin("looks", "tool", Some("grader")), tool("cat", "grader"), tool("inner", "looks"),
        {"event": "score", "span_id": "grade", "score": {"value": "C"}},
    ]);
    let steps = json!([
        tool("search", "none"),
        {"event": "step", "action": "begin", "type": "scorer", "name": "grade"},
        {"event": "step", "action": "begin", "type": null, "name": "inner"}, tool("cat", "none"),
        {"event": "step", "action": "end", "type": null, "name": "inner"}, model("none"),
        {"event": "step", "action": "end", "type": "scorer", "name": "grade"}, tool("later", "none"),
    ]);
    let called = |trace: Value| {
        let trace = Trace::read(trace).unwrap();
        assert_eq!(trace.outcome(), None);
        let names: Vec<_> = trace.tool_calls().map(|call| call.name.clone()).collect();
        (names.join(" "), trace.sub_agents().count())
    };
    let sample =
        |events: &Value| json!({"epoch": 1, "scores": {}, "messages": [said], "events": events});
    for read in [sample(&spans), spans] {
        assert_eq!(called(read), ("search".to_owned(), 0));
    }
    for read in [sample(&steps), steps] {
        assert_eq!(called(read), ("search later".to_owned(), 0));
    }
}
