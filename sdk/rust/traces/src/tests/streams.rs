//! Streams of events: niceeval's, Claude Code's, the Responses API's.

use serde_json::json;

use super::*;

#[test]
fn niceevals_events() {
    let trace = Trace::read(json!({"status": "completed", "events": [
        {"type": "message", "role": "user", "text": "Go"},
        {"type": "thinking", "text": "Hm."},
        {"type": "action.called", "callId": "1", "name": "Bash", "input": {"command": "pwd"}, "tool": "shell"},
        {"type": "action.result", "callId": "1", "output": "/", "status": "completed"},
        {"type": "skill.loaded", "skill": "memory-v2"},
        {"type": "subagent.called", "callId": "2", "name": "researcher", "remoteUrl": "https://api.example/r"},
        {"type": "subagent.completed", "callId": "2", "status": "failed", "output": "no"},
        {"type": "error", "message": "lost"},
        {"type": "input.requested", "request": {"id": "3", "prompt": "Sure?"}},
        {"type": "compaction"},
    ]}))
    .unwrap();
    assert_eq!(
        lines(&trace),
        [
            "user: Go",
            "thinks: Hm.",
            "call Bash {\"command\":\"pwd\"} -> \"/\" (succeeded)",
            "skill memory-v2",
            "agent researcher (failed)",
            "error lost",
            "asks Sure?",
        ]
    );
    assert_eq!(
        events(&trace),
        [
            "message",
            "thinking",
            "action.called",
            "action.result",
            "skill.loaded",
            "subagent.called",
            "subagent.completed",
            "error",
            "input.requested",
            "compaction",
        ]
    );
    assert!(trace.is_parked());
    assert!(trace.tool_calls().next().unwrap().is("shell"));
    let agent = trace.sub_agents().next().unwrap();
    assert_eq!(agent.remote_url.as_deref(), Some("https://api.example/r"));
}

#[test]
fn niceevals_newer_events() {
    let trace = json!([
        {"type": "operation.started", "operationId": "1", "operation": {"kind": "tool", "name": "w",
            "input": {"c": 1}}},
        {"type": "operation.finished", "operationId": "1", "kind": "tool", "status": "rejected"},
        {"type": "operation.started", "operationId": "2", "operation": {"kind": "subagent", "name": "r"}},
    ]);
    assert_eq!(told(trace), ["call w {\"c\":1} -> null (rejected)", "agent r (unknown)"]);
}

#[test]
fn a_run_is_parked_when_asking_is_the_last_that_happened() {
    let asks = json!({"type": "input.requested", "request": {"prompt": "Sure?"}});
    let says = json!({"type": "message", "role": "assistant", "text": "Done"});
    let thinks = json!({"type": "thinking", "text": "…"});
    let parked = |events: Value| Trace::read(events).unwrap().is_parked();
    assert!(parked(json!([says, asks])));
    assert!(parked(json!([says, asks, thinks])));
    assert!(!parked(json!([asks, says])));
    assert!(parked(json!({"status": "waiting", "events": [says]})));
}

#[test]
fn claude_codes_transcript_is_a_line_of_json_for_each_message() {
    let lines_of_json = [
        json!({"type": "system", "subtype": "init", "session_id": "s"}),
        json!({"type": "user", "message": {"role": "user", "content": "Go"}, "timestamp": "2026-01-01T00:00:01Z"}),
        json!({"type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": "1", "name": "Skill", "input": {"skill": "pdf"}},
            {"type": "tool_use", "id": "2", "name": "Task", "input": {"subagent_type": "explore", "prompt": "Look"}}],
            "usage": {"input_tokens": 5, "output_tokens": 6}}}),
        json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "1", "content": "loaded"},
            {"type": "tool_result", "tool_use_id": "2", "content": "no", "is_error": true}]}}),
        json!({"type": "result", "subtype": "success", "is_error": false, "result": "Done"}),
    ]
    .map(|line| line.to_string());
    let trace = Trace::read(Value::String(lines_of_json.join("\n"))).unwrap();
    assert_eq!(
        lines(&trace),
        [
            "user: Go",
            "call Skill {\"skill\":\"pdf\"} -> \"loaded\" (succeeded)",
            "skill pdf",
            "call Task {\"prompt\":\"Look\",\"subagent_type\":\"explore\"} -> \"no\" (failed)",
            "agent explore (failed)",
        ]
    );
    assert_eq!(trace.outcome(), Some(&Outcome::Completed));
    assert_eq!(trace.steps()[0].start_ms, Some(1_767_225_601_000.0));
    assert_eq!(trace.usage().unwrap().total(), Some(11));
}

#[test]
fn claude_codes_refusals_are_rejections() {
    let call = |id: &str| {
        json!({"type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": "Bash", "input": {}}]}})
    };
    let answer = |text: Value, is_error: bool, beside: Value| {
        json!({"type": "user", "toolUseResult": beside, "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "1", "content": text, "is_error": is_error}]}})
    };
    let status = |answer: Value| {
        let trace = Trace::read(json!([call("1"), answer])).unwrap();
        trace.tool_calls().next().unwrap().status()
    };
    let refused = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
    let asked = "Claude requested permissions to use Bash, but you haven't granted it yet.";
    for text in [refused, asked] {
        assert_eq!(status(answer(json!(text), true, json!(null))), Status::Rejected);
        let parts = json!([{"type": "text", "text": text}]);
        assert_eq!(status(answer(parts, true, json!(null))), Status::Rejected);
        // A tool may read a text that says the same.
        assert_eq!(status(answer(json!(text), false, json!(null))), Status::Succeeded);
        let beside = json!(format!("Error: {text}"));
        assert_eq!(status(answer(json!("no"), true, beside)), Status::Rejected);
    }
    let beside = json!("User rejected tool use");
    assert_eq!(status(answer(json!("no"), true, beside)), Status::Rejected);
    assert_eq!(status(answer(json!("no"), true, json!("Error: no"))), Status::Failed);

    let denied = json!({"type": "result", "subtype": "success", "is_error": false, "result": "x",
        "permission_denials": [{"tool_name": "Bash", "tool_use_id": "1", "tool_input": {}},
            {"tool_name": "Bash", "tool_use_id": "2", "tool_input": {}},
            {"tool_name": "Bash", "tool_use_id": "of a sub-agent", "tool_input": {}}]});
    let unmarked = answer(json!("This command requires approval"), true, json!(null));
    let run = json!([call("1"), unmarked, call("2"), call("3"), denied]);
    let expected = [
        "call Bash {} -> \"This command requires approval\" (rejected)",
        "call Bash {} -> nothing (rejected)",
        "call Bash {} -> nothing (unknown)",
    ];
    assert_eq!(told(run), expected);
}

#[test]
fn an_unanswered_question_to_a_person_parks_the_run() {
    let asks = json!({"role": "assistant", "content": [
        {"type": "tool_use", "id": "1", "name": "AskUserQuestion", "input": {}}]});
    let answer = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "yes"}]});
    assert!(Trace::read(json!([asks])).unwrap().is_parked());
    assert!(!Trace::read(json!([asks, answer])).unwrap().is_parked());
}

#[test]
fn items_of_the_responses_api() {
    let trace = json!({"object": "response", "status": "completed", "usage": {"input_tokens": 1, "output_tokens": 2},
    "input": [{"role": "user", "content": "Weather?"}],
    "output": [
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Ask."}]},
        {"type": "function_call", "id": "fc", "call_id": "c1", "name": "w", "arguments": "{\"c\":1}", "status": "completed"},
        {"type": "function_call", "call_id": "c2", "name": "w", "arguments": "{\"c\":2}"},
        {"type": "function_call_output", "call_id": "c2", "output": "rain"},
        {"type": "function_call_output", "call_id": "c1", "output": "sun"},
        {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"type": "search", "query": "q"}},
        {"type": "mcp_call", "id": "m", "name": "roll", "arguments": "{}", "error": "no dice", "output": null},
        {"type": "local_shell_call", "call_id": "s", "action": {"command": ["ls"]}, "status": "completed"},
        {"type": "local_shell_call_output", "call_id": "s", "output": "{\"stdout\":\"\",\"exit_code\":2}"},
        {"type": "mcp_approval_request", "id": "a", "name": "pay", "arguments": "{}"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Sun."}]},
        {"type": "a_thing_of_tomorrow"},
    ]});
    let trace = Trace::read(trace).unwrap();
    assert_eq!(
        lines(&trace),
        [
            "user: Weather?",
            "thinks: Ask.",
            "call w {\"c\":1} -> \"sun\" (unknown)",
            "call w {\"c\":2} -> \"rain\" (unknown)",
            "call web_search {\"query\":\"q\",\"type\":\"search\"} -> null (succeeded)",
            "call roll {} -> \"no dice\" (failed)",
            "call local_shell {\"command\":[\"ls\"]} -> \"{\\\"stdout\\\":\\\"\\\",\\\"exit_code\\\":2}\" (unknown)",
            "asks pay",
            "assistant: Sun.",
            "other a_thing_of_tomorrow",
        ]
    );
    // Adjacent calls are one turn of the model.
    assert_eq!(trace.turns()[1].calls.len(), 2);
    let shell = trace.tool_calls().last().unwrap();
    assert_eq!((shell.status(), shell.exit_code()), (Status::Failed, Some(2)));
    assert!(
        trace.events().iter().any(|event| event.is("function_call") && event.is("action.called"))
    );
}

#[test]
fn openais_agents_wrap_items() {
    let trace = json!([{"type": "tool_call_item", "agent": {}, "raw_item":
        {"type": "function_call", "call_id": "1", "name": "w", "arguments": "{}"}}]);
    assert_eq!(told(trace), ["call w {} -> nothing (unknown)"]);
}

#[test]
fn niceevals_events_say_what_a_tool_does() {
    let called = |tool: &str| {
        let event = json!({"type": "action.called", "name": "mystery", "tool": tool, "input": {}});
        Trace::read(json!([event])).unwrap().tool_calls().next().unwrap().clone()
    };
    assert!(called("shell").is("shell") && called("shell").is("mystery"));
    assert_eq!(called("unknown").canonical_name(), None);
    let status = |word: &str| serde_json::from_value::<Status>(json!(word)).unwrap();
    assert_eq!((status("completed"), status("pending")), (Status::Succeeded, Status::Unknown));
}

#[test]
fn niceevals_turns_are_one_run() {
    let said = |text: &str| json!({"type": "message", "role": "assistant", "text": text});
    let turn = |text: &str, status: &str, tokens: u64| {
        json!({"events": [said(text)], "status": status, "data": null,
            "usage": {"inputTokens": tokens, "outputTokens": 1, "cacheReadTokens": 5}})
    };
    let turns = json!([turn("Hi", "failed", 10), turn("Bye", "completed", 20)]);
    for trace in [json!({ "turns": turns }), turns.clone()] {
        assert_eq!(told(trace.clone()), ["assistant: Hi", "assistant: Bye"]);
        let read = Trace::read(trace).unwrap();
        assert_eq!(read.outcome(), Some(&Outcome::Completed));
        let usage = read.usage().unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens), (Some(30), Some(2)));
        assert_eq!(usage.cache_read_tokens, Some(10));
    }
    let outcome = |trace: Value| Trace::read(trace).unwrap().outcome().cloned();
    let around = json!({"turns": [turn("Hi", "completed", 1)], "status": "failed"});
    assert_eq!(outcome(around), Some(Outcome::Failed(None)));
    let silent = json!({"events": [said("Hm")], "usage": {}});
    assert_eq!(outcome(json!([turn("Hi", "waiting", 1), silent])), Some(Outcome::Waiting));
}

#[test]
fn a_turn_without_steps_has_tokens_and_one_whose_events_state_tokens_does_not_count_twice() {
    let spent = json!({"inputTokens": 10, "outputTokens": 1});
    let quiet = json!({"events": [], "status": "completed", "usage": spent});
    let message = json!({"role": "assistant", "content": "Hi", "usage": spent});
    let stated = json!({"events": [message], "status": "completed", "usage": spent});
    let total = |turns: Value| Trace::read(turns).unwrap().usage().unwrap().input_tokens;
    assert_eq!(total(json!([quiet, stated])), Some(20));
    assert_eq!(total(json!([stated, quiet, quiet])), Some(30));
}

#[test]
fn a_hosted_search_for_tools_is_one_call() {
    let items = json!([
        {"type": "tool_search_call", "id": "a", "call_id": null, "status": "completed", "arguments": {"paths": ["x"]}},
        {"type": "tool_search_output", "id": "b", "call_id": null, "status": "completed", "tools": []}]);
    assert_eq!(told(items), ["call tool_search {\"paths\":[\"x\"]} -> [] (succeeded)"]);
}

#[test]
fn a_computer_may_do_several_things_at_once() {
    let click =
        json!([{"type": "computer_call", "call_id": "1", "actions": [{"type": "click", "x": 1}]}]);
    assert_eq!(
        told(click),
        ["call computer {\"actions\":[{\"type\":\"click\",\"x\":1}]} -> nothing (unknown)"]
    );
}
