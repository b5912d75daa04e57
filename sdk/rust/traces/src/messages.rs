//! Reads chat messages: OpenAI's, Anthropic's, Google's, LangChain's, Inspect's, OpenTelemetry's,
//! the AI SDK's, tau-bench's. The parts inside them are read elsewhere.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::builder::{Builder, CallResult};
use crate::calls::{
    RESULTS, add_call, has_arguments, has_no_arguments, holds_calls, invalid_call, listed,
    read_call,
};
use crate::fields::{self, Object, has, id, list, take, text, word};
use crate::parts::{is_part, is_spoken, read_part, read_parts, unknown, words};
use crate::step::{Role, Status, Step, StepKind};
use crate::times;
use scorebox_sdk::Usage;

/// Reads one message of a role.
pub(super) fn read_message(builder: &mut Builder, role: Role, mut message: Object) {
    let outer = builder.start_ms;
    builder.start_ms = times::time_ms(message.get("timestamp")).or(outer);
    if role == Role::Assistant {
        builder.cut_off = fields::finish_reason(&message).and_then(fields::cut_off);
    }
    if is_unknown(&message, &role) {
        builder.refuse(format!("a message in it {}", fields::keys(&message)));
    }
    let first = builder.steps.len();
    let usage = usage_of(&message, &role);
    let answer = usage.and_then(|_| word(&message, "id").map(str::to_owned));
    let events = builder.events.len();
    let content = content(&mut message, &role);
    let says_nothing = role != Role::Tool && is_empty(&content) && !has(&message, &CALLS);
    match content {
        Content::Parts(parts) if role == Role::Tool || all_results(&parts) => {
            if parts.iter().any(|part| is_result(part) || is_approval(part)) {
                read_results(builder, parts);
            } else {
                tool_answer(builder, message, Value::Array(parts));
            }
        }
        Content::Parts(parts) => {
            refuse_unknown(builder, &parts);
            // Anthropic puts results and the user's words into one message.
            let (results, parts) = parts.into_iter().partition(is_result_of_user(&role));
            read_results(builder, results);
            builder.turn(role.clone());
            before(builder, &mut message);
            let calls = builder.steps.len();
            read_parts(builder, &role, parts);
            after(builder, &mut message, calls);
        }
        Content::Text(text) if role == Role::Tool => {
            tool_answer(builder, message, text.map_or(Value::Null, Value::String));
        }
        Content::Text(text) => {
            builder.turn(role.clone());
            before(builder, &mut message);
            builder.message(role, text.unwrap_or_default());
            let calls = builder.steps.len();
            after(builder, &mut message, calls);
        }
        Content::Other(value) if role == Role::Tool => tool_answer(builder, message, value),
        Content::Other(value) => {
            builder.turn(role.clone());
            builder.message(role, value.to_string());
            let calls = builder.steps.len();
            after(builder, &mut message, calls);
        }
    }
    if says_nothing && builder.events.len() == events {
        builder.event("message");
    }
    builder.usage_of(first, answer.as_deref(), usage);
    builder.start_ms = outer;
}

/// Keys of calls next to the content: with them, an empty content is not a message.
const CALLS: [&str; 5] =
    ["tool_calls", "toolCalls", "function_call", "toolInvocations", "invalid_tool_calls"];

/// Whether the content is present, but has no words and nothing else.
fn is_empty(content: &Content) -> bool {
    let is_silent = |part: &Value| match part {
        Value::String(text) => text.is_empty(),
        part => part.as_object().and_then(words).is_some_and(str::is_empty),
    };
    match content {
        Content::Text(text) => text.as_deref() == Some(""),
        Content::Parts(parts) => parts.iter().all(is_silent),
        Content::Other(_) => false,
    }
}

/// Refuses a message whose parts are all unknown, because one may be a call.
pub(super) fn refuse_unknown(builder: &mut Builder, parts: &[Value]) {
    if let (Some(what), true) =
        (parts.first().and_then(unknown), parts.iter().all(|part| unknown(part).is_some()))
    {
        builder.refuse(format!("a part of a message in it {what}"));
    }
}

/// The keys of a message's content.
const CONTENT: [&str; 17] = [
    "content",
    "parts",
    "text",
    "message",
    "blocks",
    "tool_calls",
    "toolCalls",
    "function_call",
    "toolInvocations",
    "invalid_tool_calls",
    "refusal",
    "reasoning_content",
    "reasoning",
    "thinking",
    "error",
    "errorText",
    "tool_error",
];

/// The keys of lists and objects in a message that are neither words nor calls.
const METADATA: [&str; 11] = [
    "additional_kwargs",
    "annotations",
    "artifact",
    "audio",
    "metadata",
    "reasoning_details",
    "response_metadata",
    "thinking_blocks",
    "usage",
    "usageMetadata",
    "usage_metadata",
];

/// Whether a message has no content under the keys that are read, but some under others. A content of null states that
/// there is none; then only a list may still be content.
fn is_unknown(message: &Object, role: &Role) -> bool {
    let stated = |key: &&str| message.get(*key).is_some_and(|found| !found.is_null());
    if CONTENT.iter().any(stated) || *role == Role::Tool && RESULTS.iter().any(stated) {
        return false;
    }
    let is_null = has(message, &CONTENT);
    message.iter().any(|(key, found)| match found {
        _ if METADATA.contains(&key.as_str()) => false,
        Value::Array(found) => !found.is_empty(),
        Value::Object(found) => !found.is_empty() && !is_null,
        _ => false,
    })
}

/// The usage of an answer. That of a simulated user is not the agent's.
fn usage_of(message: &Object, role: &Role) -> Option<Usage> {
    if *role == Role::User {
        return None;
    }
    let keys = ["usage", "usage_metadata", "usageMetadata"];
    let usage = keys.iter().find_map(|key| fields::usage(message.get(*key)));
    // tau-bench states the cost next to the tokens.
    let cost = fields::cost(message, &["cost"]);
    let cost = cost.map(|cost| Usage { cost_usd: Some(cost), ..Usage::default() });
    usage.map(|usage| usage.or(cost)).or(cost)
}

enum Content {
    Text(Option<String>),
    Parts(Vec<Value>),
    Other(Value),
}

fn content(message: &mut Object, role: &Role) -> Content {
    match take(message, &["content", "parts", "text", "message"]) {
        None => match list(message, &["blocks"]) {
            Some(blocks) => Content::Parts(blocks.into_iter().map(typed).collect()),
            None => Content::Text(None),
        },
        // The AI SDK's UI messages have their text next to their parts, or an empty text.
        Some(Value::String(text)) => match list(message, &["parts"]) {
            Some(mut parts) if !parts.is_empty() => {
                let spoken = |part: &Value| part.as_object().is_some_and(is_spoken);
                if !text.is_empty() && !parts.iter().any(spoken) {
                    parts.insert(0, Value::String(text));
                }
                Content::Parts(parts)
            }
            _ => Content::Text(Some(text)),
        },
        Some(Value::Array(parts)) => match take(message, &["parts"]) {
            // The AI SDK's UI messages have an empty content next to their parts.
            Some(Value::Array(more)) if parts.is_empty() => Content::Parts(more),
            _ => Content::Parts(parts),
        },
        Some(Value::Object(mut inside)) => match take(&mut inside, &["parts"]) {
            Some(Value::Array(parts)) => Content::Parts(parts),
            Some(part) => Content::Parts(vec![part]),
            // One part in place of a list of one.
            None if is_only_part(&inside, role) => Content::Parts(vec![Value::Object(inside)]),
            None => Content::Other(Value::Object(inside)),
        },
        Some(other) => Content::Other(other),
    }
}

/// LlamaIndex has the type of a part under another key.
fn typed(mut block: Value) -> Value {
    if let Some(block) = block.as_object_mut()
        && let Some(kind) = block.remove("block_type")
    {
        block.insert("type".to_owned(), kind);
    }
    block
}

/// A tool's answer may look like a part, but is a value.
fn is_only_part(inside: &Object, role: &Role) -> bool {
    match role {
        Role::Tool => is_result_part(inside),
        _ => is_part(inside) || inside.len() == 1 && is_spoken(inside),
    }
}

fn is_result(part: &Value) -> bool {
    part.as_object().is_some_and(is_result_part)
}

/// Whether a part is a result, by its type or its key.
fn is_result_part(part: &Object) -> bool {
    match word(part, "type") {
        Some(kind) => matches!(
            kind,
            "tool_call_response"
                | "tool-result"
                | "tool-error"
                | "tool_result"
                | "function_call_output"
                | "custom_tool_call_output"
        ),
        None => fields::has(part, &["functionResponse", "function_response", "toolResult"]),
    }
}

/// Whether a part is a person's decision on a call in the AI SDK. It is not a result.
fn is_approval(part: &Value) -> bool {
    part.get("type").is_some_and(|kind| kind == "tool-approval-response")
}

fn all_results(parts: &[Value]) -> bool {
    !parts.is_empty() && parts.iter().all(is_result)
}

/// In an assistant's message a result follows its call, and stays there.
fn is_result_of_user(role: &Role) -> impl Fn(&Value) -> bool + use<> {
    let user = *role == Role::User;
    move |part| user && is_result(part)
}

fn read_results(builder: &mut Builder, parts: Vec<Value>) {
    for part in parts {
        if let Value::Object(part) = part {
            builder.turn(Role::Tool);
            read_part(builder, part);
        }
    }
}

/// A message of a tool: the result of one call.
fn tool_answer(builder: &mut Builder, mut message: Object, mut value: Value) {
    builder.turn(Role::Tool);
    if is_of_user(&message) {
        return builder.event("user.result");
    }
    // Inspect names the function in every tool message, and marks every failure.
    let marks = message.get("function").is_some_and(Value::is_string);
    let name = text(&mut message, &["name", "function", "tool_name", "toolName", "tool"]);
    let ids = ["tool_call_id", "toolCallId", "tool_use_id", "call_id", "callId", "id"];
    let id = id(&mut message, &ids);
    let (mut status, error) = fields::ending(&mut message);
    if value.is_null() {
        value = take(&mut message, &RESULTS).unwrap_or_default();
    }
    if marks && status == Status::Unknown {
        status = Status::Succeeded;
    }
    if let (Value::Null, Some(error)) = (&value, &error) {
        value = Value::String(error.clone());
    }
    builder.result(CallResult { id, name, value, status, error });
}

/// Reads what a message has next to its content and that comes before it.
fn before(builder: &mut Builder, message: &mut Object) {
    match take(message, &["reasoning_content", "reasoning", "thinking"]) {
        Some(Value::String(thought)) => builder.reasoning(thought),
        Some(Value::Object(mut object)) => {
            builder.reasoning(text(&mut object, &["content", "text"]).unwrap_or_default());
        }
        _ => {}
    }
}

/// Reads what a message has next to its content and that comes after it. `first`: the first step of the content, which
/// may contain the same calls.
fn after(builder: &mut Builder, message: &mut Object, first: usize) {
    if let Some(refusal) = text(message, &["refusal"]) {
        builder.message(Role::Assistant, refusal);
    }
    let steps = builder.steps.get(first..).unwrap_or_default();
    // Inserted one by one: collecting would sort, and nothing else here needs code that sorts texts.
    let mut given = BTreeSet::new();
    given.extend(steps.iter().filter_map(call_id));
    let mut calls = listed(builder, message, &["tool_calls", "toolCalls"]);
    // LangChain keeps the provider's message, which may have the only copy.
    let mut provider = match take(message, &["additional_kwargs"]) {
        Some(Value::Object(provider)) if calls.is_empty() && given.is_empty() => provider,
        _ => Object::new(),
    };
    calls.extend(listed(builder, &mut provider, &["tool_calls"]));
    let has_calls = !calls.is_empty();
    read_calls(builder, calls, &given, first);
    // The older form in which OpenAI's models called functions.
    let mut first_way = listed(builder, message, &["function_call"]);
    first_way.extend(listed(builder, &mut provider, &["function_call"]));
    // Tables have the fields of a call in every message; they are null if nothing is called.
    for call in first_way.into_iter().filter(|call| !call.values().all(Value::is_null)) {
        add_call(builder, call);
    }
    let invocations = listed(builder, message, &["toolInvocations"]);
    read_calls(builder, invocations, &given, first);
    for call in listed(builder, message, &["invalid_tool_calls"]) {
        if !is_given(&call, &given) {
            invalid_call(builder, call);
        }
    }
    let is_call = |step: &Step| matches!(step.kind, StepKind::ToolCall(_));
    if !has_calls && holds_calls(message) && !builder.steps.iter().skip(first).any(is_call) {
        builder.refuse(format!("a message in it {}", fields::keys(message)));
    }
}

fn call_id(step: &Step) -> Option<String> {
    match &step.kind {
        StepKind::ToolCall(call) => call.id.clone(),
        _ => None,
    }
}

/// Reads calls. `given`: the ids of calls that the message has already reported, in its steps from `first` on.
fn read_calls(builder: &mut Builder, calls: Vec<Object>, given: &BTreeSet<String>, first: usize) {
    for call in calls {
        if is_of_user(&call) {
            builder.event("user.called");
        } else if is_given(&call, given) {
            complete(builder, call, first);
        } else {
            add_call(builder, call);
        }
    }
}

/// Adds the arguments to a call in the content if they are only stated next to it.
fn complete(builder: &mut Builder, call: Object, first: usize) {
    let Some(beside) = read_call(call).filter(|call| !has_no_arguments(call)) else { return };
    let calls = builder.steps.iter_mut().skip(first).filter_map(|step| match &mut step.kind {
        StepKind::ToolCall(call) => Some(call),
        _ => None,
    });
    let mut same = calls.filter(|call| call.id == beside.id && has_no_arguments(call));
    if let Some(call) = same.next() {
        call.arguments = beside.arguments;
        call.arguments_error = beside.arguments_error;
    }
}

fn is_given(call: &Object, given: &BTreeSet<String>) -> bool {
    let id = call.get("id").or(call.get("toolCallId")).and_then(Value::as_str);
    id.is_some_and(|id| given.contains(id))
}

/// In tau2-bench the user has tools too; calls of these are not the agent's.
fn is_of_user(object: &Object) -> bool {
    word(object, "requestor") == Some("user")
}

/// The role of a message serialized by LangChain, from its type or its class.
pub(super) fn langchain_role(message: &Object) -> Option<Role> {
    let by_type = |kind: &str| match kind {
        "human" | "HumanMessage" | "HumanMessageChunk" => Some(Role::User),
        "ai" | "AIMessage" | "AIMessageChunk" => Some(Role::Assistant),
        "tool" | "ToolMessage" | "function" | "FunctionMessage" => Some(Role::Tool),
        "system" | "SystemMessage" => Some(Role::System),
        _ => None,
    };
    if word(message, "type") == Some("constructor") {
        return by_type(message.get("id")?.as_array()?.last()?.as_str()?);
    }
    let is_message = fields::has(message, &["content", "data"]);
    // Some formats write a tool's call and its answer into one object of this type.
    let is_call = |kind: &str| matches!(kind, "tool" | "function") && has_arguments(message);
    by_type(word(message, "type").filter(|kind| is_message && !is_call(kind))?)
}

/// The fields of a message serialized by LangChain.
pub(super) fn langchain_fields(mut message: Object) -> Object {
    match take(&mut message, &["kwargs", "data"]) {
        Some(Value::Object(inside)) => inside,
        _ => message,
    }
}
