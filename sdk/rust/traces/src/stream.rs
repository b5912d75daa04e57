//! Reads events of agents' streams: niceeval's standard events, the lines of a Claude Code
//! transcript, and the result of Gemini CLI. Inspect's events are read elsewhere.

use serde_json::Value;

use crate::builder::{Builder, CallResult};
use crate::fields::{self, Object, id, list, take, text, word};
use crate::messages::read_message;
use crate::said_again::UNKNOWN;
use crate::step::{InputRequest, Outcome, Role, Status, SubAgentCall, ToolCall};
use crate::{names, parts, times};
use scorebox_sdk::Usage;

/// Whether the type is that of one of niceeval's events, other than `message`.
pub(super) fn is_event(kind: &str) -> bool {
    matches!(
        kind,
        "action.called"
            | "action.result"
            | "subagent.called"
            | "subagent.completed"
            | "operation.started"
            | "operation.finished"
            | "skill.loaded"
            | "input.requested"
            | "input.answered"
            | "thinking"
            | "context.injected"
            | "compaction"
            | "error"
    )
}

/// Reads one of niceeval's events.
pub(super) fn read_event(builder: &mut Builder, kind: &str, mut event: Object) {
    builder.start_ms = times::time_ms(event.get("timestamp"));
    match kind {
        "action.called" => called(builder, event),
        "action.result" => result(builder, event),
        "subagent.called" => sub_agent(builder, event),
        "subagent.completed" => sub_agent_result(builder, event),
        "operation.started" => {
            let operation = event.remove("operation");
            let Some(Value::Object(mut operation)) = operation else {
                return builder.event(kind.to_owned());
            };
            let id = event.remove("operationId").unwrap_or_default();
            operation.insert("operationId".to_owned(), id);
            match word(&operation, "kind") {
                Some("subagent") => sub_agent(builder, operation),
                _ if fields::has(&operation, &["name", "tool"]) => called(builder, operation),
                // An operation that is not a tool call.
                _ => builder.event(kind.to_owned()),
            }
        }
        "operation.finished" => match word(&event, "kind") {
            Some("subagent") => sub_agent_result(builder, event),
            _ => result(builder, event),
        },
        "skill.loaded" => {
            let id = id(&mut event, &IDS);
            let skill = text(&mut event, &["skill", "name"]).unwrap_or_default();
            builder.skill_of_event(id, skill);
        }
        "input.requested" => {
            let mut request = match take(&mut event, &["request"]) {
                Some(Value::Object(request)) => request,
                _ => event,
            };
            builder.input_request(InputRequest {
                id: id(&mut request, &["id", "requestId"]),
                prompt: text(&mut request, &["prompt", "display", "question"]),
                action: text(&mut request, &["action"]),
            });
        }
        "thinking" => {
            builder.thought(text(&mut event, &["text", "thinking"]).unwrap_or_default());
        }
        "error" => {
            let error = fields::error_text(take(&mut event, &["message", "error"]));
            builder.error(error.unwrap_or_else(|| "error".to_owned()));
        }
        _ => builder.event(kind.to_owned()),
    }
    builder.start_ms = None;
}

const IDS: [&str; 3] = ["callId", "operationId", "id"];

fn called(builder: &mut Builder, mut event: Object) {
    // niceeval's `tool` is the common word for the tool that the agent calls `name`.
    let kind = word(&event, "tool").and_then(names::common);
    let Some(name) = text(&mut event, &["name", "tool"]) else {
        return builder.refuse(format!("a tool call in it {}", fields::keys(&event)));
    };
    let mut call = ToolCall { id: id(&mut event, &IDS), kind, name, ..ToolCall::default() };
    let input = take(&mut event, &["input", "args", "arguments"]);
    fields::arguments(&mut call, input, false);
    builder.call_of_event(call);
}

fn result(builder: &mut Builder, mut event: Object) {
    builder.turn(Role::Tool);
    let id = id(&mut event, &IDS);
    let (status, error) = fields::ending(&mut event);
    let value = take(&mut event, &["output", "result"]).unwrap_or(Value::Null);
    builder.result(CallResult { id, name: None, value, status, error });
}

fn sub_agent(builder: &mut Builder, mut event: Object) {
    builder.agent_of_event(SubAgentCall {
        id: id(&mut event, &IDS),
        name: text(&mut event, &["name", "agent"]).unwrap_or_else(|| UNKNOWN.to_owned()),
        remote_url: text(&mut event, &["remoteUrl", "remote_url", "url"]),
        ..SubAgentCall::default()
    });
}

fn sub_agent_result(builder: &mut Builder, mut event: Object) {
    let id = id(&mut event, &IDS);
    let (status, error) = fields::ending(&mut event);
    let value = take(&mut event, &["output", "result"]).unwrap_or(Value::Null);
    let result = CallResult { value, status, error, ..CallResult::default() };
    builder.agent_ended(id.as_deref(), result);
}

/// Whether this is a line of a Claude Code transcript or of its stream.
pub(super) fn is_transcript_line(kind: &str, line: &Object) -> bool {
    match kind {
        "user" | "assistant" => line.get("message").is_some_and(Value::is_object),
        "system" => fields::has(line, &["subtype", "sessionId", "session_id"]),
        // Gemini CLI's result has a status, with an error or the run's usage.
        "result" => {
            fields::has(line, &["subtype", "is_error", "session_id", "stats"])
                || word(line, "status") == Some("error")
        }
        "summary" => fields::has(line, &["summary", "leafUuid"]),
        _ => false,
    }
}

/// Reads one line of a Claude Code transcript.
pub(super) fn read_transcript_line(builder: &mut Builder, kind: &str, mut line: Object) {
    match kind {
        "user" | "assistant" => {
            let time = line.remove("timestamp");
            let Some(Value::Object(mut message)) = line.remove("message") else {
                return;
            };
            if let Some(time) = time {
                message.insert("timestamp".to_owned(), time);
            }
            let role = word(&message, "role").unwrap_or(kind);
            let role = Role::from_name(role);
            if word(&line, "toolUseResult").is_some_and(is_rejection) {
                reject_results(&mut message);
            }
            read_message(builder, role, message);
        }
        "result" => {
            let cost = fields::cost(&line, &["total_cost_usd"]);
            let cost = cost.map(|cost| Usage { cost_usd: Some(cost), ..Usage::default() });
            let usage = ["usage", "stats"].iter().find_map(|key| fields::usage(line.get(*key)));
            builder.tally.whole(usage.map(|usage| usage.or(cost)).or(cost));
            let (status, error) = fields::ending(&mut line);
            let broke = word(&line, "subtype").is_some_and(|word| word.starts_with("error"));
            let reason = error.or_else(|| text(&mut line, &["result"])).or_else(|| {
                list(&mut line, &["errors"]).map(|errors| Value::from(errors).to_string())
            });
            let reason = reason.or_else(|| text(&mut line, &["subtype"]).filter(|_| broke));
            builder.outcome = Some(match status == Status::Failed || broke {
                true => Outcome::Failed(reason),
                false => Outcome::Completed,
            });
            for denial in list(&mut line, &["permission_denials"]).unwrap_or_default() {
                let id = denial.get("tool_use_id").and_then(Value::as_str);
                // The empty name belongs to no call.
                if let Some(call) = id.and_then(|id| builder.claim(Some(id), Some(""))) {
                    builder.set_status(call, Status::Rejected);
                }
            }
            builder.event("result");
        }
        "summary" => builder.event("compaction"),
        _ => match word(&line, "subtype") {
            Some("compact_boundary") => builder.event("compaction"),
            _ => builder.event("system"),
        },
    }
}

/// Whether the result next to a message says that the call was refused.
fn is_rejection(result: &str) -> bool {
    result == "User rejected tool use"
        || result.starts_with("Error: ") && parts::says_rejected(result)
}

fn reject_results(message: &mut Object) {
    let parts = message.get_mut("content").and_then(Value::as_array_mut);
    for part in parts.into_iter().flatten().filter_map(Value::as_object_mut) {
        if word(part, "type") == Some("tool_result") {
            part.insert("status".to_owned(), "rejected".into());
        }
    }
}
