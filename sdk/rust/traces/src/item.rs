//! Recognizes the items of a list, and passes each to its reader: the first one that fits, in the order of the table in
//! `lib.rs`.

use serde_json::Value;

use crate::TraceError;
use crate::builder::{Builder, CallResult};
use crate::calls::{self, read_call};
use crate::fields::{self, Object, holds_list, keys, kind, take, word};
use crate::messages::{langchain_fields, langchain_role, read_message};
use crate::step::{Role, ToolCall};
use crate::{atif, codex, items, openhands, part_types, parts, plain, pydantic, stream};

/// Why chunks are refused.
pub(super) const CHUNKS: &str =
    "holds chunks of a stream: store the message that the client made of them";

/// Whether an object is one item of a list, and not a wrapper around it.
pub(super) fn is_item(object: &Object) -> bool {
    let typed = word(object, "type");
    word(object, "role").is_some()
        || typed.is_some_and(|kind| {
            items::is_item(kind)
                || codex::is_line(kind, object)
                || stream::is_event(kind)
                || stream::is_transcript_line(kind, object)
        })
        || parts::is_part(object)
        || pydantic::is_message(object)
        || openhands::is_event(object)
        || atif::is_step(object)
        || plain::is_step(object) && (!holds_list(object) || plain::is_whole(object))
        || is_step_in_parts(object) && !holds_list(object)
}

/// Reads one item of a list with the first reader that recognizes it. The error says what the item is instead.
pub(super) fn read_item(builder: &mut Builder, item: Value) -> Result<(), String> {
    let object = match item {
        Value::Object(object) => object,
        Value::Array(pair) => return read_pair(builder, pair),
        other => return Err(format!("is {}", kind(&other))),
    };
    // OpenAI's agents SDK wraps each item of the Responses API.
    let mut object = match object {
        mut object if object.get("raw_item").is_some_and(Value::is_object) => {
            let hands_over = word(&object, "type") == Some("handoff_call_item");
            match object.remove("raw_item") {
                Some(Value::Object(raw)) => {
                    if hands_over {
                        hand_over(builder, &raw);
                    }
                    raw
                }
                _ => object,
            }
        }
        object => object,
    };
    builder.understood += 1;
    builder.raw_name = text_of(&object, &["type", "event"]);
    let kind = word(&object, "type").unwrap_or_default().to_owned();
    if let Some(role) = langchain_role(&object) {
        read_message(builder, role, langchain_fields(object));
    } else if pydantic::is_message(&object) {
        pydantic::read_message(builder, object);
    } else if openhands::is_event(&object) {
        openhands::read_event(builder, object);
    } else if codex::is_line(&kind, &object) {
        // A line of a session file contains an item of the Responses API.
        if let Some(inside) = codex::read_line(builder, &kind, object) {
            read_item(builder, inside)?;
            builder.start_ms = None;
        }
    } else if stream::is_event(&kind) {
        stream::read_event(builder, &kind, object);
    } else if stream::is_transcript_line(&kind, &object) {
        stream::read_transcript_line(builder, &kind, object);
    } else if items::is_item(&kind) {
        items::read_item(builder, &kind, object);
    } else if let Some(role) = word(&object, "role").map(Role::from_name) {
        builder.raw_name = builder.raw_name.take().or_else(|| Some(role.name().to_owned()));
        read_message(builder, role, object);
    } else if parts::is_part(&object) {
        builder.assistant_turn();
        parts::read_parts(builder, &Role::Assistant, vec![Value::Object(object)]);
    } else if atif::is_step(&object) {
        atif::read_step(builder, object);
    } else if let Some(error) = adk_error(&mut object) {
        builder.error(error);
    } else if object.get("partial") == Some(&Value::Bool(true)) && object.contains_key("author") {
        // A piece of an answer that a later event of Google's Agent Development Kit has in full.
        builder.event("partial");
    } else if let Some(role) = google_role(&mut object) {
        read_message(builder, role, object);
    } else if is_result(&object) {
        builder.turn(Role::Tool);
        parts::result(builder, object, false);
    } else if is_step_in_parts(&object) && (has_calls(&object) || !plain::is_step(&object)) {
        read_message(builder, Role::Assistant, object);
    } else if plain::is_step(&object) {
        read_plain(builder, object)?;
    } else if plain::is_task(&object) {
        plain::read_task(builder, object);
    } else if let Some(name) = text_of(&object, &["type", "event", "kind", "step"]) {
        // An unknown kind of item in a list of known ones.
        builder.understood -= 1;
        read_unknown(builder, &name, &object);
    } else {
        return Err(keys(&object));
    }
    builder.raw_name = None;
    Ok(())
}

/// Remembers the agent that a call of OpenAI's agents hands work to.
fn hand_over(builder: &mut Builder, call: &Object) {
    if let (Some(id), Some(name)) = (word(call, "call_id"), word(call, "name")) {
        let agent = name.strip_prefix("transfer_to_").unwrap_or(name);
        builder.handoffs.entry(id.to_owned()).or_default().push_back(agent.to_owned());
    }
}

/// Reads an item of an unknown type: it is kept by its name, unless that would leave out calls.
fn read_unknown(builder: &mut Builder, name: &str, item: &Object) {
    if is_piece(name) {
        builder.unread.get_or_insert_with(|| TraceError::new(CHUNKS));
    } else if calls::holds_calls(item) {
        builder.unread.get_or_insert_with(|| {
            TraceError::unknown(&format!("an item that holds a tool call {}", keys(item)))
        });
    }
    // The last part of a stream of the AI SDK.
    if let Some(reason) = fields::finish_reason(item) {
        builder.cut_off = fields::cut_off(reason);
    }
    builder.other(name);
}

/// Whether the type is that of a piece of an answer, as the Responses API and Anthropic stream it.
fn is_piece(kind: &str) -> bool {
    let starts = ["response.output_", "response.function_call_", "content_block_"];
    kind == "message_start" || starts.iter().any(|start| kind.starts_with(start))
}

/// Reads a plain step. Calls share a turn; other steps start their own.
fn read_plain(builder: &mut Builder, mut object: Object) -> Result<(), String> {
    let is_call = calls::names_a_tool(&object)
        && !fields::has(&object, &["step", "thought", "observation", "actions"])
        && object.get("action").is_none_or(|action| !action.is_object())
        && !plain::has_results(&object)
        && !plain::is_final(&object);
    if !is_call {
        return plain::read_step(builder, object);
    }
    // A tool in one object with its call and its answer.
    if matches!(word(&object, "type"), Some("tool" | "function"))
        && let Some(content) = take(&mut object, &["content"])
    {
        object.entry("result").or_insert(content);
    }
    // CrewAI records a call both when it begins and when it ends, and gives it no id.
    let ends = matches!(word(&object, "type"), Some("tool_usage_finished" | "tool_usage_error"));
    let Some(call) = read_call(object) else {
        builder.turn(Role::Assistant);
        builder.other("step");
        return Ok(());
    };
    let begun = (ends || call.id.is_some() && call.result.is_some())
        .then(|| builder.claim_same(&call))
        .flatten();
    if let Some(step) = begun {
        let ToolCall { result, stated_status: status, error, .. } = call;
        let value = result.unwrap_or_default();
        builder.turn(Role::Tool);
        builder.answer(step, CallResult { value, status, error, ..CallResult::default() });
    } else {
        builder.turn(Role::Assistant);
        builder.call(call);
    }
    Ok(())
}

/// Whether an object is a step of the AI SDK that has its calls and their results in its content. The messages in its
/// `response` are those of all steps so far, and are not read.
fn is_step_in_parts(object: &Object) -> bool {
    object.get("content").is_some_and(Value::is_array) && object.contains_key("finishReason")
}

/// Whether the content of a step has calls or results. Those of failed calls are not in any list next to it.
fn has_calls(step: &Object) -> bool {
    let is_call = |part: &Value| {
        let kind = part.get("type").and_then(Value::as_str);
        kind.is_some_and(|kind| part_types::is_call(kind) || part_types::is_result(kind))
    };
    step.get("content").and_then(Value::as_array).is_some_and(|parts| parts.iter().any(is_call))
}

/// Whether the kind of an item says that it is a tool's answer.
fn is_result(object: &Object) -> bool {
    let kind = ["type", "event", "kind"].iter().find_map(|key| word(object, key));
    let kind = kind.map(|kind| kind.to_ascii_lowercase().replace(['-', '.', ' '], "_"));
    matches!(
        kind.as_deref(),
        Some(
            "observation"
                | "tool_result"
                | "tool_output"
                | "tool_response"
                | "tool_call_result"
                | "tool_call_output"
                | "function_result"
                | "function_response"
        )
    )
}

/// The error that an event of Google's Agent Development Kit states.
fn adk_error(event: &mut Object) -> Option<String> {
    word(event, "author")?;
    let code = fields::text(event, &["errorCode", "error_code"])?;
    Some(fields::text(event, &["errorMessage", "error_message"]).unwrap_or(code))
}

/// The role of a Google message that has its content next to its author.
fn google_role(object: &mut Object) -> Option<Role> {
    let inside = object.get("content").and_then(Value::as_object);
    let role = match inside {
        Some(inside) if inside.get("parts").is_some_and(Value::is_array) => word(inside, "role"),
        _ if object.get("parts").is_some_and(Value::is_array) => {
            // OpenCode has the role in the message's metadata.
            let info = || word(object.get("info")?.as_object()?, "role");
            word(object, "author").or_else(info)
        }
        _ => return None,
    };
    Some(role.map_or(Role::Assistant, Role::from_name))
}

/// `[action, observation]`, as LangChain's agents return their steps.
fn read_pair(builder: &mut Builder, pair: Vec<Value>) -> Result<(), String> {
    let mut pair = pair.into_iter();
    match (pair.next(), pair.next(), pair.next()) {
        (Some(Value::Object(action)), Some(observation), None)
            if plain::is_step(&action) || action.contains_key("kwargs") =>
        {
            builder.understood += 1;
            plain::read_pair(builder, action, observation)
        }
        _ => Err("is an array, but not an action with its observation".to_owned()),
    }
}

fn text_of(object: &Object, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| word(object, key)).map(str::to_owned)
}
