//! How often what happened counts as an event, under the common names and the trace's own.

use serde_json::json;

use super::*;

/// How many events of a trace go by a name.
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
