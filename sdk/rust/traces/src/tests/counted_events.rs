//! How often something counts as an event, under the common names and the trace's own.

use serde_json::json;

use super::*;

/// How many events of a trace have a name.
fn count(trace: &Value, name: &str) -> usize {
    let trace = Trace::read(trace.clone()).unwrap();
    trace.events().iter().filter(|event| event.is(name)).count()
}

#[test]
fn an_item_counts_once_under_its_own_name_whatever_it_stands_for() {
    let event = |name: &str, input: Value| json!([{"type": "action.called", "callId": "1", "name": name, "input": input}]);
    let block = |name: &str, input: Value| json!([{"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": name, "input": input}]}]);
    let item = |name: &str, input: Value| json!([{"type": "function_call", "call_id": "1", "name": name, "arguments": input.to_string()}]);
    let stands_for = [
        ("load_skill", json!({"skill": "pdf"}), "skill.loaded"),
        ("activate_skill", json!({"name": "pdf"}), "skill.loaded"),
        ("Skill", json!({"skill": "pdf"}), "skill.loaded"),
        ("Task", json!({"subagent_type": "explore"}), "subagent.called"),
        ("AskUserQuestion", json!({}), "input.requested"),
    ];
    for (name, input, common) in stands_for {
        let traces = [
            (event(name, input.clone()), "action.called"),
            (block(name, input.clone()), "tool_use"),
            (item(name, input.clone()), "function_call"),
        ];
        for (trace, own) in traces {
            let counts = [own, "action.called", common].map(|name| count(&trace, name));
            assert_eq!(counts, [1, 1, 1], "{own} of {name}");
        }
    }
}

#[test]
fn a_message_with_text_and_calls_counts_once_under_its_role() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "w", "arguments": "{}"}});
    let trace = json!([{"role": "assistant", "reasoning_content": "Hm.", "content": "Let me look.",
        "tool_calls": [call("1"), call("2")]}]);
    let names = ["assistant", "thinking", "message", "action.called"];
    assert_eq!(names.map(|name| count(&trace, name)), [1, 1, 1, 2]);
}

#[test]
fn an_item_that_has_a_call_with_its_result_counts_once_under_its_type() {
    let trace =
        json!([{"type": "mcp_call", "id": "m", "name": "roll", "arguments": "{}", "output": "6"}]);
    let names = ["mcp_call", "action.called", "action.result"];
    assert_eq!(names.map(|name| count(&trace, name)), [1, 1, 1]);
}

fn called(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "action.called", "callId": id, "name": name, "input": input})
}

#[test]
fn a_call_of_one_id_that_niceevals_events_report_again_is_one_call() {
    let call = called("1", "w", json!({"c": 1}));
    let answer =
        json!({"type": "action.result", "callId": "1", "output": "sun", "status": "completed"});
    let once = ["call w {\"c\":1} -> \"sun\" (succeeded)"];
    assert_eq!(told(json!([call, call, answer])), once);
    assert_eq!(told(json!([call, answer, call, answer])), once);
    let turn = |events: Value| json!({"status": "completed", "events": events});
    assert_eq!(told(json!([turn(json!([call, answer])), turn(json!([call, answer]))])), once);
    let begun = json!({"type": "operation.started", "operationId": "1",
        "operation": {"kind": "tool", "name": "w", "input": {"c": 1}}});
    assert_eq!(told(json!([begun, call, answer])), once);
    // Events are those of the stream, even if it repeats them.
    assert_eq!(count(&json!([call, call, answer]), "action.called"), 2);
}

#[test]
fn another_tool_or_other_arguments_under_an_id_are_another_call() {
    let call = called("1", "w", json!({"c": 1}));
    let others = [
        called("1", "w", json!({"c": 2})),
        called("1", "v", json!({"c": 1})),
        called("2", "w", json!({"c": 1})),
    ];
    for other in others {
        assert_eq!(told(json!([call, other])).len(), 2, "{other}");
    }
    let nameless = json!({"type": "action.called", "name": "w", "input": {}});
    assert_eq!(told(json!([nameless, nameless])).len(), 2);
}

#[test]
fn a_sub_agent_of_one_id_that_niceevals_events_report_again_is_one_sub_agent() {
    let agent = |name: &str| json!({"type": "subagent.called", "callId": "1", "name": name});
    let done = json!({"type": "subagent.completed", "callId": "1", "status": "completed"});
    assert_eq!(told(json!([agent("r"), agent("r"), done])), ["agent r (succeeded)"]);
    let two = ["agent r (unknown)", "agent s (unknown)"];
    assert_eq!(told(json!([agent("r"), agent("s")])), two);
}

#[test]
fn a_tool_call_and_the_event_of_what_it_stands_for_are_one() {
    let task = called("1", "Task", json!({"subagent_type": "r"}));
    let agent = json!({"type": "subagent.called", "callId": "1", "name": "r", "remoteUrl": "https://a.example"});
    let answer =
        json!({"type": "action.result", "callId": "1", "output": "ok", "status": "completed"});
    let done =
        json!({"type": "subagent.completed", "callId": "1", "output": "ok", "status": "failed"});
    let orders = [
        json!([task, agent, answer, done]),
        json!([task, agent, done, answer]),
        json!([agent, task, done, answer]),
        json!([agent, task, answer, done]),
    ];
    let names = ["action.called", "subagent.called", "action.result", "subagent.completed"];
    for events in orders {
        assert_eq!(names.map(|name| count(&events, name)), [1, 1, 1, 1], "{events}");
        let trace = Trace::read(events).unwrap();
        let agents: Vec<_> = trace.sub_agents().collect();
        assert_eq!(agents.len(), 1);
        assert_eq!(agents[0].remote_url.as_deref(), Some("https://a.example"));
        // A status of the agent counts for the agent, and a status of the call for the call.
        assert_eq!(trace.ending_of(agents[0]), Status::Failed);
        assert_eq!(trace.tool_calls().next().unwrap().status(), Status::Succeeded);
    }
    let skill = called("2", "Skill", json!({"skill": "pdf"}));
    let loaded = json!({"type": "skill.loaded", "callId": "2", "skill": "pdf"});
    for events in [json!([skill, loaded]), json!([loaded, skill])] {
        assert_eq!(count(&events, "skill.loaded"), 1);
        assert_eq!(Trace::read(events).unwrap().skills().collect::<Vec<_>>(), ["pdf"]);
    }
}

#[test]
fn a_message_or_a_thought_without_a_word_is_an_event_and_no_step() {
    let silent = [
        json!({"type": "message", "role": "assistant", "text": ""}),
        json!({"role": "assistant", "content": ""}),
        json!({"role": "assistant", "content": []}),
        json!({"role": "user", "content": [{"type": "text", "text": ""}]}),
        json!({"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": ""}}),
    ];
    for item in silent {
        let trace = json!([item, {"role": "user", "content": "Go"}]);
        assert_eq!(count(&trace, "message"), 2, "{item}");
        assert_eq!(told(trace), ["user: Go"], "{item}");
    }
    let silent = [
        json!({"type": "thinking", "text": ""}),
        json!({"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "x"}),
        json!({"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}]}),
    ];
    for item in silent {
        let trace = json!([{"role": "user", "content": "Go"}, item]);
        let counts = ["thinking", "message"].map(|name| count(&trace, name));
        assert_eq!(counts, [1, 1], "{item}");
        assert_eq!(told(trace), ["user: Go"], "{item}");
    }
}

#[test]
fn an_empty_text_beside_a_call_or_another_text_is_no_event() {
    let function = json!({"name": "w", "arguments": "{}"});
    let chat = json!([{"role": "assistant", "content": "", "reasoning_content": "",
        "tool_calls": [{"id": "1", "type": "function", "function": function}]}]);
    let blocks = json!([{"role": "assistant", "content": [{"type": "text", "text": ""},
        {"type": "tool_use", "id": "1", "name": "w", "input": {}}]}]);
    let said = json!([{"role": "assistant", "reasoning_content": "", "content": "Hi"}]);
    let names = ["message", "thinking", "action.called"];
    let counts = |trace: Value| names.map(|name| count(&trace, name));
    assert_eq!(counts(chat), [0, 0, 1]);
    assert_eq!(counts(blocks), [0, 0, 1]);
    assert_eq!(counts(said), [1, 0, 0]);
}
