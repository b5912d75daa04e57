//! Traces that are made to do harm.

use serde_json::json;

use super::*;

#[test]
fn no_text_makes_the_reader_panic() {
    // Every sample of the other tests, cut and changed in many places.
    let samples = [
        r#"[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"w","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"x"}]}]"#,
        r#"{"schema_version":"ATIF-v1.7","agent":{"name":"a"},"steps":[{"step_id":1,"source":"agent","message":"m","tool_calls":[{"tool_call_id":"c","function_name":"w","arguments":{}}],"observation":{"results":[{"content":"x"}]}}]}"#,
        r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"spanId":"1","startTimeUnixNano":"1","attributes":[{"key":"gen_ai.tool.name","value":{"stringValue":"w"}}]}]}]}]}"#,
        r#"{"epoch":1,"messages":[],"events":[{"event":"model","input":[{"role":"user","content":"x"}],"output":{"choices":[{"message":{"role":"assistant","content":"y"}}]}},{"event":"tool","id":"1","function":"w"}]}"#,
        r#"[{"type":"function_call","call_id":"1","name":"w","arguments":"{}"},{"type":"action.called","callId":"1","name":"v"},{"type":"operation.started","operation":{"kind":"tool","tool":"shell"}},{"type":"operation.started","operation":{"kind":"sync"}},[{"tool":"w"},"x"]]"#,
    ];
    let bends = ["null", "[]", "{}", "\"\"", "1e999", "-0", "true", "\"Ż\\u0000\"", "[[[]]]"];
    for sample in samples {
        let _ = Trace::parse(sample).unwrap();
        let places: Vec<usize> = sample.match_indices(':').map(|(place, _)| place + 1).collect();
        for place in places {
            for bend in bends {
                // Replaces the value at a place, up to the next comma or bracket.
                let rest = &sample[place..];
                let end = rest.find([',', '}', ']']).unwrap_or(rest.len());
                let _ = Trace::parse(&format!("{}{bend}{}", &sample[..place], &rest[end..]));
            }
        }
        for cut in 0..sample.len() {
            let _ = Trace::parse(&sample[..cut]);
        }
    }
}

#[test]
fn nesting_is_bounded() {
    for (open, close) in
        [("[", "]"), ("{\"steps\":", "}"), ("{\"children\":[", "]}"), ("{\"trace\":", "}")]
    {
        let deep = format!("{}1{}", open.repeat(60), close.repeat(60));
        assert!(Trace::parse(&deep).is_err(), "{open}");
        let deeper = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        assert!(Trace::parse(&deeper).is_err(), "{open}");
    }
    let mut text = json!([]).to_string();
    for _ in 0..8 {
        text = Value::String(text).to_string();
    }
    assert!(Trace::parse(&text).is_err());
    let nested = json!({"name": "a", "type": "agent", "children": []});
    let nested =
        (0..50).fold(nested, |inner, _| json!({"name": "a", "type": "agent", "children": [inner]}));
    assert_eq!(Trace::read(nested).unwrap().steps().len(), 51);
}

#[test]
fn parents_in_a_circle_end() {
    let span = |id: &str, parent: &str| {
        json!({"spanId": id, "parentSpanId": parent, "name": "x",
        "attributes": {"gen_ai.operation.name": "invoke_agent"}})
    };
    let trace = json!([span("1", "2"), span("2", "1"), span("3", "3")]);
    assert_eq!(Trace::read(trace).unwrap().steps().len(), 3);
}

#[test]
fn many_calls_and_results_cost_no_more_than_their_number() {
    let count = 50_000;
    let mut items = Vec::new();
    for index in 0..count {
        // All with the same name, half of them with the same id, and none answered in order.
        let id = if index % 2 == 0 { "same".to_owned() } else { index.to_string() };
        items.push(json!({"type": "function_call", "call_id": id, "name": "w", "arguments": "{}"}));
    }
    for index in (0..count).rev() {
        let id = if index % 2 == 0 { "same".to_owned() } else { index.to_string() };
        items.push(json!({"type": "function_call_output", "call_id": id, "output": index}));
    }
    let trace = Trace::read(Value::Array(items)).unwrap();
    assert_eq!(trace.tool_calls().filter(|call| call.result.is_some()).count(), count);
}

#[test]
fn too_many_steps_are_refused() {
    let items = vec![json!({"role": "user", "content": "x"}); 100_001];
    let error = Trace::read(Value::Array(items)).unwrap_err();
    assert_eq!(error.to_string(), "the trace has more than 100000 steps");
}

/// A reproducible stream of pseudorandom numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % count
    }
}

/// Words that the reader looks for, as keys and as values.
const WORDS: &str = "role content tool_calls function name arguments id tool_call_id type tool_use \
    tool_result tool_use_id input is_error parts functionCall functionResponse args response message \
    assistant user tool system messages events steps trajectory trace spans output choices candidates \
    attributes span_id spanId parent_id parentSpanId key value stringValue arrayValue values children \
    gen_ai.operation.name chat execute_tool invoke_agent gen_ai.input.messages gen_ai.output.messages \
    gen_ai.tool.name gen_ai.tool.call.id gen_ai.prompt.0.role gen_ai.completion.0.tool_calls.0.name \
    resourceSpans scopeSpans startTimeUnixNano start_time end_time status code error event model epoch \
    function_call function_call_output call_id reasoning summary local_shell_call action command \
    action.called action.result callId operation.started operation operationId kind subagent result \
    schema_version ATIF-v1.7 agent source message step_id observation results source_call_id \
    subagent_trajectory_ref trajectory_id subagent_trajectories step thought action_input tool_input \
    raw_item lc kwargs constructor ai human data toolCallId toolName state approval-requested \
    tool-call tool-result dynamic-tool tool-x text thinking refusal usage input_tokens timestamp \
    2026-01-01T00:00:00Z 1767225600000000000 Skill Task AskUserQuestion subagent_type skill samples \
    contents response request kwargs inputParameters toolCalls toolResults toolInvocation \
    tool-invocation additional_kwargs event_name eventName body resourceLogs logRecords kvlistValue \
    gen_ai.user.message gen_ai.choice executable_code code_execution_result observation tool_results \
    span_begin requestor limit session_id exit_code actions thought return_values \
    delta chat.completion.chunk object blocks block_type items tool-input-available tool-output-denied \
    tool-input-start finishReason promptFeedback blockReason toolUseResult permission_denials \
    web_search_call invalid_tool_call execution-denied";

fn anything(random: &mut Random, words: &[&str], depth: usize) -> Value {
    let word = |random: &mut Random| words[random.below(words.len())].to_owned();
    match random.below(if depth == 0 { 5 } else { 12 }) {
        0 => Value::Null,
        1 => json!(random.below(2) == 0),
        2 => json!(random.below(1000) as f64 / 7.0),
        3 => Value::String(word(random)),
        // JSON in text, which some readers parse.
        4 if depth > 0 => Value::String(anything(random, words, depth - 1).to_string()),
        4 => Value::String("{\"a\":[1,{".to_owned()),
        5..8 => (0..random.below(4)).map(|_| anything(random, words, depth - 1)).collect(),
        _ => {
            let members = (0..random.below(7))
                .map(|_| (word(random), anything(random, words, depth.saturating_sub(1))));
            Value::Object(members.collect())
        }
    }
}

#[test]
fn no_combination_of_what_the_reader_knows_makes_it_panic() {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut random = Random(1);
    let mut read = 0;
    for _ in 0..3_000 {
        let value = anything(&mut random, &words, 6);
        let text = value.to_string();
        if let Ok(trace) = Trace::read(value) {
            read += trace.steps().len();
            for step in trace.steps() {
                assert!(
                    step.turn < trace.turns().len()
                        && step.parent.is_none_or(|parent| parent < trace.steps().len())
                );
            }
            trace.tool_calls().for_each(|call| {
                let _ =
                    (call.status(), call.exit_code(), call.result_text(), call.canonical_name());
            });
            let _ = (trace.is_parked(), trace.usage());
        }
        if let Ok(truth) = serde_json::from_str(&text) {
            let case = scorebox_sdk::Case::new(Value::Null).with_ground_truth(truth);
            let _ = ExpectedCalls::from_case(&case);
        }
    }
    assert!(read > 100, "{read} steps");
}
