//! Reads chat messages: OpenAI's, Anthropic's, Google's, LangChain's, Inspect's, OpenTelemetry's,
//! the AI SDK's, tau-bench's. The parts inside them are read elsewhere.

use serde_json::Value;

use crate::trace::builder::{Builder, CallResult};
use crate::trace::calls::read_call;
use crate::trace::fields::{self, Object, id, list, take, text, word};
use crate::trace::parts::{read_part, read_parts};
use crate::trace::step::{Role, Status};

/// Reads one message of a role.
pub(super) fn read_message(builder: &mut Builder, role: Role, mut message: Object) {
    let outer = builder.start_ms;
    builder.start_ms = fields::time_ms(message.get("timestamp")).or(outer);
    let first = builder.steps.len();
    let usage = ["usage", "usage_metadata", "usageMetadata"];
    let usage = usage.iter().find_map(|key| fields::usage(message.get(*key)));
    match content(&mut message) {
        Content::Parts(parts) if role == Role::Tool || all_results(&parts) => {
            if parts.iter().any(is_result) {
                read_results(builder, parts);
            } else {
                tool_answer(builder, message, Value::Array(parts));
            }
        }
        Content::Parts(parts) => {
            // Anthropic sends results and words of the user in one message.
            let (results, parts) = parts.into_iter().partition(is_result_of_user(&role));
            read_results(builder, results);
            builder.turn(role.clone());
            before(builder, &mut message);
            read_parts(builder, &role, parts);
            after(builder, &mut message);
        }
        Content::Text(text) if role == Role::Tool => {
            tool_answer(builder, message, text.map_or(Value::Null, Value::String));
        }
        Content::Text(text) => {
            builder.turn(role.clone());
            before(builder, &mut message);
            builder.message(role, text.unwrap_or_default());
            after(builder, &mut message);
        }
        Content::Other(value) if role == Role::Tool => tool_answer(builder, message, value),
        Content::Other(value) => {
            builder.turn(role.clone());
            builder.message(role, value.to_string());
            after(builder, &mut message);
        }
    }
    builder.usage(first, usage);
    builder.start_ms = outer;
}

enum Content {
    Text(Option<String>),
    Parts(Vec<Value>),
    Other(Value),
}

fn content(message: &mut Object) -> Content {
    match take(message, &["content", "parts", "text", "message"]) {
        None => Content::Text(None),
        Some(Value::String(text)) => Content::Text(Some(text)),
        Some(Value::Array(parts)) => match take(message, &["parts"]) {
            // The AI SDK's page messages have an empty content beside their parts.
            Some(Value::Array(more)) if parts.is_empty() => Content::Parts(more),
            _ => Content::Parts(parts),
        },
        Some(Value::Object(mut inside)) => match list(&mut inside, &["parts"]) {
            Some(parts) => Content::Parts(parts),
            None => Content::Other(Value::Object(inside)),
        },
        Some(other) => Content::Other(other),
    }
}

/// The keys of parts that are results, where no type says it.
fn is_result(part: &Value) -> bool {
    let Some(part) = part.as_object() else {
        return false;
    };
    match word(part, "type") {
        Some(kind) => {
            kind == "tool_call_response"
                || kind == "tool-result"
                || kind == "tool-error"
                || kind == "tool_result"
        }
        None => fields::has(part, &["functionResponse", "function_response", "toolResult"]),
    }
}

fn all_results(parts: &[Value]) -> bool {
    !parts.is_empty() && parts.iter().all(is_result)
}

/// In an assistant's message a result stands behind its call, and stays there.
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
    // Inspect names the function in every tool message, and marks every failure.
    let marks = message.get("function").is_some_and(Value::is_string);
    let name = text(&mut message, &["name", "function", "tool_name", "toolName"]);
    let id = id(&mut message, &["tool_call_id", "toolCallId", "tool_use_id", "call_id", "id"]);
    let (mut status, error) = fields::ending(&mut message);
    if marks && status == Status::Unknown {
        status = Status::Succeeded;
    }
    if let (Value::Null, Some(error)) = (&value, &error) {
        value = Value::String(error.clone());
    }
    builder.result(CallResult { id, name, value, status, error });
}

/// What stands beside the content and comes before it.
fn before(builder: &mut Builder, message: &mut Object) {
    match take(message, &["reasoning_content", "reasoning", "thinking"]) {
        Some(Value::String(thought)) => builder.reasoning(thought),
        Some(Value::Object(mut object)) => {
            builder.reasoning(text(&mut object, &["content", "text"]).unwrap_or_default());
        }
        _ => {}
    }
}

/// What stands beside the content and comes after it.
fn after(builder: &mut Builder, message: &mut Object) {
    if let Some(refusal) = text(message, &["refusal"]) {
        builder.message(Role::Assistant, refusal);
    }
    if let Some(calls) = list(message, &["tool_calls", "toolCalls"]) {
        read_calls(builder, calls);
    }
    // The first way in which OpenAI's models called functions.
    if let Some(Value::Object(call)) = take(message, &["function_call"])
        && let Some(call) = read_call(call)
    {
        builder.call(call);
    }
    if let Some(invocations) = list(message, &["toolInvocations"]) {
        read_calls(builder, invocations);
    }
}

fn read_calls(builder: &mut Builder, calls: Vec<Value>) {
    for call in calls {
        if let Value::Object(call) = call
            && let Some(call) = read_call(call)
        {
            builder.call(call);
        }
    }
}

/// The role of a message that LangChain wrote down: by its type, or by its class.
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
    by_type(word(message, "type").filter(|_| is_message)?)
}

/// The fields of a message that LangChain wrote down.
pub(super) fn langchain_fields(mut message: Object) -> Object {
    match take(&mut message, &["kwargs", "data"]) {
        Some(Value::Object(inside)) => inside,
        _ => message,
    }
}
