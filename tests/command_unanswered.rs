//! Tasks without an answer in files of other tools: they become failed cases, which no scorer scores, whichever tool
//! ran them.

use std::fs;

use serde_json::{Value, json};

use crate::{
    command_convert::{converted, values, with_files},
    fixture::Folder,
};

/// A span in OTLP's JSON.
fn span(trace: &str, ids: [&str; 2], end: u64, attributes: &Value, status: &Value) -> Value {
    let pair =
        |(key, value): (&String, &Value)| json!({"key": key, "value": {"stringValue": value}});
    let attributes: Vec<Value> = attributes.as_object().unwrap().iter().map(pair).collect();
    json!({"traceId": trace, "spanId": ids[0], "parentSpanId": ids[1], "name": "x", "startTimeUnixNano": "1",
        "endTimeUnixNano": end.to_string(), "attributes": attributes, "status": status})
}

/// An agent that stopped after its model answered in part, a model that gave no answer, and one that answered when it
/// was asked again.
fn spans() -> Value {
    let failed = |why: &str| json!({"code": 2, "message": why});
    let chat = |said: Option<&str>| {
        let mut attributes = json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"});
        if let Some(said) = said {
            let message =
                json!([{"role": "assistant", "parts": [{"type": "text", "content": said}]}]);
            attributes["gen_ai.output.messages"] = message.to_string().into();
        }
        attributes
    };
    let agent = json!({"gen_ai.operation.name": "invoke_agent", "error.type": "RateLimit"});
    let spans = [
        span("aa", ["1", ""], 90, &agent, &failed("429 Too Many Requests")),
        span("aa", ["2", "1"], 10, &chat(Some("Let me check that.")), &json!({})),
        span("bb", ["3", ""], 90, &chat(None), &failed("timed out")),
        span("cc", ["4", ""], 20, &chat(None), &failed("timed out")),
        span("cc", ["5", ""], 90, &chat(Some("Paris")), &json!({"code": 1})),
    ];
    json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
}

#[test]
fn a_trace_whose_run_broke_off_is_no_case_that_a_gate_can_pass() {
    let folder = Folder::new();
    folder.write("spans.json", spans().to_string());
    let read = converted(&folder, "spans.json");
    assert_eq!(
        json!(values(&read, &["/id", "/output", "/error"])),
        json!([
            ["aa", null, "the run broke off: 429 Too Many Requests"],
            ["bb", null, "the run broke off: timed out"],
            ["cc", "Paris", null],
        ])
    );
    folder.write(
        "suite.toml",
        "[defaults]\nseverity = \"gate\"\n[scorers.short]\nuse = \"length\"\nconfig = { max = 30, unit = \"characters\" }\n\
         [scorers.fine]\nuse = \"contains\"\nconfig = { value = \"sorry\", negate = true }\n",
    );
    let run = folder.sh("scorebox run suite.toml spans.json -q").exits_with(1);
    assert!(run.stderr.contains("verdict: 1 of 3 cases passed"), "{run}");
    assert!(run.stderr.contains("2 errored"), "{run}");
}

#[test]
fn a_sample_of_inspect_without_an_answer_is_a_task_that_failed() {
    let folder = with_files();
    let mut log: Value =
        serde_json::from_str(&fs::read_to_string(folder.path("inspect.json")).unwrap()).unwrap();
    let sample = &mut log["samples"][0];
    sample["output"] = json!({"model": "m", "choices": [], "completion": ""});
    sample["messages"] = json!([{"role": "user", "content": "?"}]);
    sample["limit"] = json!({"type": "time", "limit": 40});
    folder.write("limited.json", log.to_string());
    assert_eq!(
        json!(values(&converted(&folder, "limited.json")[..1], &["/output", "/error"])),
        json!([[null, "the model gave no answer: the sample reached its time limit"]])
    );
}

#[test]
fn a_log_of_inspect_says_the_same_in_whatever_order_its_members_stand() {
    let folder = with_files();
    let log: Value =
        serde_json::from_str(&fs::read_to_string(folder.path("inspect.json")).unwrap()).unwrap();
    let (samples, eval) = (&log["samples"], &log["eval"]);
    let read = |first: &str, second: &str| {
        folder.write("log.json", format!("{{\"version\": 2, {first}, {second}}}"));
        converted(&folder, "log.json --from inspect-json")
    };
    let (samples, eval) = (format!("\"samples\": {samples}"), format!("\"eval\": {eval}"));
    let usual = read(&eval, &samples);
    assert_eq!(usual[0]["metadata"]["origin"]["model"], "mockllm/model");
    assert_eq!(read(&samples, &eval), usual);
}

#[test]
fn a_document_of_lm_eval_without_an_answer_is_a_task_that_failed() {
    let folder = Folder::new();
    let line = |id: u64, answers: Value, filtered: Value| {
        let arguments = json!({"gen_args_0": {"arg_0": "q", "arg_1": {}}});
        json!({"doc_id": id, "doc": {}, "target": "a", "arguments": arguments, "resps": answers,
            "filtered_resps": filtered, "filter": "none", "doc_hash": "1"})
        .to_string()
    };
    let lines = [
        line(0, json!([[""]]), json!([""])),
        line(1, json!([[null]]), json!([null])),
        line(2, json!([]), json!([])),
        // The model answered, but the filter found nothing in the answer.
        line(3, json!([["x"]]), json!([null])),
        line(4, json!([[]]), json!([[]])),
    ];
    folder.write("samples_t_2026-11-24T00-00-00.0.jsonl", lines.join("\n"));
    let failed = "the model gave no answer";
    assert_eq!(
        json!(values(&converted(&folder, "samples_*"), &["/id", "/output", "/error"])),
        json!([
            ["t:0", "", null],
            ["t:1", null, failed],
            ["t:2", null, failed],
            ["t:3", null, null],
            ["t:4", null, failed],
        ])
    );
}

#[test]
fn a_sample_of_openai_evals_without_an_answer_is_a_task_that_failed() {
    let folder = Folder::new();
    let event = |id: &str, kind: &str, data: Value| {
        json!({"run_id": "r", "event_id": 0, "sample_id": id, "type": kind, "data": data})
            .to_string()
    };
    let lines = [
        json!({"spec": {"eval_name": "e", "run_id": "r", "completion_fns": ["m"]}}).to_string(),
        event("empty", "sampling", json!({"prompt": "q", "sampled": [""]})),
        event("nothing", "sampling", json!({"prompt": "q", "sampled": []})),
        // The comment of a grader is not an answer.
        event("nothing", "sampling", json!({"prompt": "grade", "sampled": ["B"]})),
        event("nothing", "match", json!({"correct": false, "expected": "a"})),
        event("broken-off", "raw_sample", json!({"input": "q", "ideal": "a"})),
        // Judged, with an answer that its program did not record.
        event("judged", "match", json!({"correct": true, "expected": "a"})),
    ];
    folder.write("log.jsonl", lines.join("\n"));
    let failed = "the model gave no answer";
    assert_eq!(
        json!(values(&converted(&folder, "log.jsonl"), &["/id", "/output", "/error"])),
        json!([
            ["empty", "", null],
            ["nothing", null, failed],
            ["broken-off", null, failed],
            ["judged", null, null],
        ])
    );
}
