//! Reads Pydantic AI's messages, whose parts state their kind and role in `part_kind`. What the parts contain is read
//! elsewhere.

use serde_json::Value;

use crate::builder::Builder;
use crate::calls::add_call;
use crate::fields::{self, Object, list, take, text, word};
use crate::parts::{read_parts, result};
use crate::step::Role;
use crate::times;

/// Whether an object is one of these messages.
pub(super) fn is_message(message: &Object) -> bool {
    let parts = message.get("parts").and_then(Value::as_array);
    parts.is_some_and(|parts| parts.iter().any(|part| part.get("part_kind").is_some()))
}

/// Reads one message.
pub(super) fn read_message(builder: &mut Builder, mut message: Object) {
    builder.start_ms = times::time_ms(message.get("timestamp"));
    let first = builder.steps.len();
    let usage = fields::usage(message.get("usage"));
    if word(&message, "kind") != Some("request") {
        builder.cut_off = fields::finish_reason(&message).and_then(fields::cut_off);
    }
    for part in list(&mut message, &["parts"]).unwrap_or_default() {
        if let Value::Object(part) = part {
            read_part(builder, part);
        }
    }
    builder.usage(first, usage);
    builder.start_ms = None;
}

fn read_part(builder: &mut Builder, mut part: Object) {
    let kind = text(&mut part, &["part_kind"]).unwrap_or_default();
    match kind.as_str() {
        "system-prompt" => say(builder, Role::System, part),
        "user-prompt" => say(builder, Role::User, part),
        "text" => {
            builder.assistant_turn();
            builder.message(Role::Assistant, text(&mut part, &["content"]).unwrap_or_default());
        }
        "thinking" => {
            builder.assistant_turn();
            builder.thought(text(&mut part, &["content"]).unwrap_or_default());
        }
        "tool-call" | "builtin-tool-call" => {
            builder.assistant_turn();
            part.remove("id");
            add_call(builder, part);
        }
        "tool-return" | "builtin-tool-return" => {
            builder.turn(Role::Tool);
            let outcome = match word(&part, "outcome") {
                // The model is asked to call again.
                Some("retried" | "interrupted") => Some("failed".into()),
                _ => take(&mut part, &["outcome"]),
            };
            part.extend(outcome.map(|outcome| ("status".to_owned(), outcome)));
            result(builder, part, true);
        }
        // A tool's refusal, or a request that the model answer again.
        "retry-prompt" if part.get("tool_name").is_some_and(Value::is_string) => {
            builder.turn(Role::Tool);
            part.insert("is_error".to_owned(), true.into());
            result(builder, part, true);
        }
        "retry-prompt" => say(builder, Role::User, part),
        _ => builder.event(kind),
    }
}

fn say(builder: &mut Builder, role: Role, mut part: Object) {
    builder.turn(role.clone());
    match take(&mut part, &["content"]) {
        Some(Value::Array(parts)) => read_parts(builder, &role, parts),
        Some(Value::String(said)) => builder.message(role, said),
        Some(other) => builder.message(role, other.to_string()),
        None => {}
    }
}
