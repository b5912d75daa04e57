//! Reads what Codex writes: the lines of `codex exec --json`, and those of a session file. The latter contain items of
//! the Responses API, which are read elsewhere.

use serde_json::{Value, json};

use crate::builder::Builder;
use crate::fields::{self, Object, id, take, text, word};
use crate::step::{Outcome, ToolCall};
use crate::times;

/// Whether an object is a line of either kind.
pub(super) fn is_line(kind: &str, line: &Object) -> bool {
    let has = |key: &str| line.get(key).is_some_and(Value::is_object);
    match kind {
        "response_item" | "event_msg" | "session_meta" | "turn_context" | "compacted" => {
            has("payload")
        }
        "item.started" | "item.updated" | "item.completed" => has("item"),
        "thread.started" | "turn.started" | "turn.completed" | "turn.failed" => true,
        _ => false,
    }
}

/// Reads one line. If it contains an item of the Responses API, the item is returned for the caller to read, while the
/// builder has the line's time.
pub(super) fn read_line(builder: &mut Builder, kind: &str, mut line: Object) -> Option<Value> {
    builder.start_ms = times::time_ms(line.get("timestamp"));
    match kind {
        "response_item" => return Some(take(&mut line, &["payload"]).unwrap_or_default()),
        "compacted" => builder.event("compaction"),
        "item.started" => {
            builder.event(kind.to_owned());
            if let Some(Value::Object(item)) = take(&mut line, &["item"]) {
                started(builder, item);
            }
        }
        "item.completed" => {
            if let Some(Value::Object(item)) = take(&mut line, &["item"]) {
                let index = word(&item, "id").and_then(|id| builder.started_by_id.get(id).copied());
                if let Some(begun) = index.and_then(|index| builder.started.get_mut(index)) {
                    begun.clear();
                }
                completed(builder, item);
            }
        }
        "turn.completed" => {
            // It counts from the beginning of the session.
            builder.tally.whole(fields::usage(line.get("usage")));
            builder.outcome = Some(Outcome::Completed);
        }
        "turn.failed" => {
            let why = fields::error_text(take(&mut line, &["error"]));
            builder.outcome = Some(Outcome::Failed(why.clone()));
            builder.error(why.unwrap_or_else(|| "the turn failed".to_owned()));
        }
        "event_msg" => {
            let total =
                line.get("payload").and_then(|event| event.pointer("/info/total_token_usage"));
            builder.tally.whole(fields::usage(total));
            let event = line.get("payload").and_then(Value::as_object);
            match event.and_then(|event| word(event, "type")) {
                Some("turn_aborted") => {
                    let why = event.and_then(|event| word(event, "reason"));
                    builder.outcome = Some(Outcome::Failed(why.map(str::to_owned)));
                }
                // The session continues.
                Some("task_started" | "turn_started" | "user_message") => builder.outcome = None,
                _ => {}
            }
            builder.event(kind.to_owned());
        }
        _ => {
            // Ids start again with each thread.
            if kind == "thread.started" {
                finish(builder);
            }
            builder.event(kind.to_owned());
        }
    }
    builder.start_ms = None;
    None
}

/// Keeps an item that began; it is repeated when it is done.
fn started(builder: &mut Builder, item: Object) {
    if let Some(id) = word(&item, "id") {
        builder.started_by_id.insert(id.to_owned(), builder.started.len());
        builder.started.push(item);
    }
}

/// Adds the calls that began and never ended, as in a process that was killed. How they ended is not known.
pub(super) fn finish(builder: &mut Builder) {
    let outer = builder.raw_name.take();
    for mut item in std::mem::take(&mut builder.started) {
        let kind = text(&mut item, &["type", "item_type"]).unwrap_or_default();
        if let Some((name, arguments)) = called(&kind, &mut item) {
            builder.raw_name = Some(kind);
            builder.assistant_turn();
            let id = id(&mut item, &["id"]);
            builder.call(ToolCall { id, name, arguments, ..ToolCall::default() });
        }
    }
    builder.started_by_id.clear();
    builder.raw_name = outer;
}

/// Reads an item that is done: a message or an action.
fn completed(builder: &mut Builder, mut item: Object) {
    let kind = text(&mut item, &["type", "item_type"]).unwrap_or_default();
    builder.raw_name = Some(kind.clone());
    builder.assistant_turn();
    match kind.as_str() {
        "agent_message" | "assistant_message" => {
            let said = text(&mut item, &["text"]).unwrap_or_default();
            return builder.message_item(crate::Role::Assistant, said);
        }
        "reasoning" => return builder.thought(text(&mut item, &["text"]).unwrap_or_default()),
        "error" => {
            let why = fields::error_text(take(&mut item, &["message"]));
            return builder.error(why.unwrap_or_else(|| "error".to_owned()));
        }
        _ => {}
    }
    let Some((name, arguments)) = called(&kind, &mut item) else {
        return builder.event(kind);
    };
    let (status, error) = fields::ending(&mut item);
    let result = take(&mut item, &["aggregated_output", "result"]);
    let result = result.or_else(|| error.clone().map(Value::String)).unwrap_or_default();
    let id = id(&mut item, &["id"]);
    let result = Some(result);
    builder.call(ToolCall {
        id,
        name,
        arguments,
        result,
        stated_status: status,
        error,
        ..ToolCall::default()
    });
}

/// The tool that an item of this kind calls, and its arguments.
fn called(kind: &str, item: &mut Object) -> Option<(String, Value)> {
    let (name, arguments) = match kind {
        "command_execution" => ("shell", json!({"command": take(item, &["command"])})),
        "file_change" => ("apply_patch", json!({"changes": take(item, &["changes"])})),
        "web_search" => ("web_search", json!({"query": take(item, &["query"])})),
        "mcp_tool_call" => {
            let name = text(item, &["tool"]).unwrap_or_else(|| "mcp".to_owned());
            return Some((name, take(item, &["arguments"]).unwrap_or_default()));
        }
        // A call of another agent.
        "collab_tool_call" => {
            let name = text(item, &["tool"]).unwrap_or_else(|| kind.to_owned());
            let prompt = take(item, &["prompt"]);
            let to = take(item, &["receiver_thread_ids"]);
            return Some((name, json!({ "prompt": prompt, "receiver_thread_ids": to })));
        }
        _ => return None,
    };
    Some((name.to_owned(), arguments))
}
