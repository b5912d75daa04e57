//! Reads the parts of a message: Anthropic's and Bedrock's content blocks, the parts of Google,
//! OpenTelemetry, the AI SDK and its streams, and OpenAI's content parts. Messages themselves are read
//! elsewhere.

use serde_json::Value;

use crate::builder::{Builder, CallResult};
use crate::calls::{add_call, invalid_call};
use crate::fields::{self, Object, id, take, text, word};
use crate::step::{InputRequest, Role, Status, ToolCall};
use crate::{items, names};

/// Reads the parts of one message. Texts that follow one another become one message.
pub(super) fn read_parts(builder: &mut Builder, role: &Role, parts: Vec<Value>) {
    let mut said = String::new();
    for part in parts {
        let part = match part {
            Value::Object(part) => part,
            Value::String(text) => {
                say(&mut said, role, &text);
                continue;
            }
            _ => continue,
        };
        match spoken(part) {
            Ok(text) => say(&mut said, role, &text),
            Err(part) => {
                builder.message(role.clone(), std::mem::take(&mut said));
                read_part(builder, part);
            }
        }
    }
    builder.message(role.clone(), said);
}

/// What a model says may be in parts that end anywhere, as before a citation; what it is given is in
/// parts that stand alone.
fn say(said: &mut String, role: &Role, text: &str) {
    if *role != Role::Assistant && !said.is_empty() && !text.is_empty() {
        said.push('\n');
    }
    said.push_str(text);
}

/// The text of a part that is one, or else the part.
fn spoken(mut part: Object) -> Result<String, Object> {
    if !is_spoken(&part) {
        return Err(part);
    }
    Ok(text(&mut part, &TEXTS).unwrap_or_default())
}

/// Where a part has its text.
const TEXTS: [&str; 3] = ["text", "content", "refusal"];

/// Whether a part is text that was said.
pub(super) fn is_spoken(part: &Object) -> bool {
    let is_text = match word(part, "type") {
        Some(kind) => {
            matches!(kind, "text" | "input_text" | "output_text" | "refusal" | "summary_text")
        }
        None => part.get("text").is_some_and(Value::is_string),
    };
    is_text && part.get("thought") != Some(&Value::Bool(true))
}

/// What a part says, without taking it.
pub(super) fn words(part: &Object) -> Option<&str> {
    is_spoken(part).then(|| TEXTS.iter().find_map(|key| word(part, key)).unwrap_or_default())
}

/// Whether an object is a part that stands alone, outside of any message.
pub(super) fn is_part(part: &Object) -> bool {
    match word(part, "type") {
        Some(kind) => {
            is_call(kind)
                || is_result(kind)
                || is_thinking(kind)
                || is_input_piece(kind)
                || kind == "text"
        }
        None => GOOGLE_AND_BEDROCK.iter().any(|key| part.get(*key).is_some_and(Value::is_object)),
    }
}

/// What a part may have without meaning.
const MEDIA: [&str; 12] = [
    "text",
    "thought",
    "inlineData",
    "inline_data",
    "fileData",
    "file_data",
    "image",
    "document",
    "video",
    "audio",
    "cachePoint",
    "guardContent",
];

/// The keys of an object in the place of a part, whose kind is unknown.
pub(super) fn unknown(part: &Value) -> Option<String> {
    let part = part.as_object()?;
    let is_known = part.contains_key("type") || is_part(part) || fields::has(part, &MEDIA);
    (!is_known).then(|| fields::keys(part))
}

const GOOGLE_AND_BEDROCK: [&str; 11] = [
    "functionCall",
    "function_call",
    "functionResponse",
    "function_response",
    "toolUse",
    "toolResult",
    "executableCode",
    "executable_code",
    "codeExecutionResult",
    "code_execution_result",
    "reasoningContent",
];

pub(super) fn is_call(kind: &str) -> bool {
    matches!(
        kind,
        "tool_use"
            | "server_tool_use"
            | "mcp_tool_use"
            | "tool_call"
            | "tool-call"
            | "server_tool_call"
            | "dynamic-tool"
            | "toolCall"
            | "tool-invocation"
            | "tool-input-available"
            | "tool-input-error"
            | "function_call"
            | "custom_tool_call"
    ) || named_tool(kind).is_some()
}

/// The tool that a type names, as the AI SDK's parts of a page do: `tool-NAME`. Parts of its streams begin with
/// the same word.
fn named_tool(kind: &str) -> Option<&str> {
    let name = kind.strip_prefix("tool-")?;
    let is_other = matches!(name, "call" | "invocation" | "result" | "error")
        || matches!(name, "input-available" | "input-error")
        || matches!(name, "output-available" | "output-error" | "output-denied")
        || name.starts_with("approval")
        || is_input_piece(kind);
    (!is_other).then_some(name)
}

/// Whether a part of the AI SDK's streams has a piece of a call that another part has whole.
fn is_input_piece(kind: &str) -> bool {
    matches!(
        kind,
        "tool-input-start"
            | "tool-input-delta"
            | "tool-input-end"
            | "tool-call-streaming-start"
            | "tool-call-delta"
    )
}

pub(super) fn is_result(kind: &str) -> bool {
    matches!(
        kind,
        "tool_call_response"
            | "server_tool_call_response"
            | "tool-result"
            | "tool-error"
            | "tool-output-available"
            | "tool-output-error"
            | "tool-output-denied"
    ) || is_item_output(kind)
        || kind.ends_with("tool_result")
}

/// Whether a part is a result as the Responses API writes it.
fn is_item_output(kind: &str) -> bool {
    matches!(kind, "function_call_output" | "custom_tool_call_output")
}

pub(super) fn is_thinking(kind: &str) -> bool {
    matches!(kind, "thinking" | "redacted_thinking" | "reasoning" | "reasoning_content")
}

/// Reads a part that is not plain text. A part of an unknown kind becomes an event with its name.
pub(super) fn read_part(builder: &mut Builder, mut part: Object) {
    let kind = text(&mut part, &["type"]);
    let Some(kind) = kind else {
        read_keyed_part(builder, part);
        return;
    };
    let outer = builder.raw_name.replace(kind.clone());
    match kind.as_str() {
        kind if is_thinking(kind) => {
            builder.reasoning(
                text(&mut part, &["thinking", "reasoning", "text", "content"]).unwrap_or_default(),
            );
        }
        kind if is_call(kind) => call(builder, kind, part),
        kind if is_result(kind) => typed_result(builder, kind, part),
        "invalid_tool_call" => invalid_call(builder, part),
        "tool-approval-request" => builder.input_request(InputRequest {
            id: id(&mut part, &["approvalId", "id"]),
            action: id(&mut part, &["toolCallId"]),
            prompt: None,
        }),
        "tool-approval-response" => builder.event("input.answered"),
        // LangChain has the calls that OpenAI's service carried out in its messages.
        kind if items::is_item(kind) => {
            builder.join_turn();
            items::read_item(builder, kind, part);
        }
        _ if looks_like_call(&part) => refuse(builder, &part),
        // Pictures, files, steps' borders.
        _ => builder.event(kind.clone()),
    }
    builder.raw_name = outer;
}

/// Whether a part of an unknown kind has what calls have.
fn looks_like_call(part: &Object) -> bool {
    word(part, "name").is_some() && fields::has(part, &["arguments", "input", "args"])
}

fn refuse(builder: &mut Builder, part: &Object) {
    builder.refuse(format!("a part of a message in it {}", fields::keys(part)));
}

/// A result whose type may say how the call ended.
fn typed_result(builder: &mut Builder, kind: &str, mut part: Object) {
    match kind {
        "tool-error" | "tool-output-error" => {
            part.insert("is_error".to_owned(), true.into());
        }
        "tool-output-denied" => {
            part.insert("status".to_owned(), "denied".into());
        }
        // There, it is whether the item was written down.
        kind if is_item_output(kind) => {
            part.remove("status");
        }
        _ => {}
    }
    let marks = !matches!(kind, "tool_call_response" | "server_tool_call_response")
        && !is_item_output(kind);
    result(builder, part, marks);
}

fn call(builder: &mut Builder, kind: &str, mut part: Object) {
    // The AI SDK's parts of a page: the tool's name is in the type, the result beside the input.
    if let Some(name) = named_tool(kind) {
        part.entry("toolName").or_insert_with(|| name.into());
    }
    // Its stream for pages may say more than once that the input of a call is there.
    if kind == "tool-input-available"
        && word(&part, "toolCallId").is_some_and(|id| builder.has_call(id))
    {
        return builder.event(kind.to_owned());
    }
    if let Some(state) = part.get("state").and_then(Value::as_str)
        && state == "approval-requested"
    {
        let action = part.get("toolName").and_then(Value::as_str).map(str::to_owned);
        add_call(builder, part);
        builder.input_request(InputRequest { action, ..InputRequest::default() });
        return;
    }
    // OpenTelemetry puts the arguments of a server's tool under the tool's own name.
    if kind == "server_tool_call"
        && let Some(Value::Object(inside)) = take(&mut part, &["server_tool_call"])
    {
        let arguments = Value::Object(inside);
        part.entry("args").or_insert(arguments);
    }
    add_call(builder, part);
}

/// What a result refers to its call by.
const IDS: [&str; 7] =
    ["tool_use_id", "toolCallId", "tool_call_id", "toolUseId", "call_id", "callId", "id"];

/// Where a result has its tool's name.
const NAMES: [&str; 4] = ["toolName", "tool_name", "name", "tool"];

/// Whether a result says which call it belongs to.
pub(super) fn names_its_call(result: &Object) -> bool {
    let named = |key: &&str| result.get(*key).is_some_and(|id| id.is_string() || id.is_number());
    IDS.iter().any(named) || NAMES.iter().any(named)
}

/// `marks`: the format marks failures, so that a result without a mark is a success.
pub(super) fn result(builder: &mut Builder, mut part: Object, marks: bool) {
    let id = id(&mut part, &IDS);
    let name = text(&mut part, &NAMES);
    let (mut status, error) = fields::ending(&mut part);
    let content = ["content", "response", "result", "output", "server_tool_call_response"];
    let mut value = take(&mut part, &content).unwrap_or(Value::Null);
    // The AI SDK marks what its outputs are: `{type: "error-text", value}`.
    if let Some(object) = value.as_object_mut() {
        match word(object, "type") {
            Some("execution-denied") => {
                status = Status::Rejected;
                value = take(object, &["value", "reason"]).unwrap_or(Value::Null);
            }
            Some(kind) if object.contains_key("value") => {
                if kind.starts_with("error") {
                    status = Status::Failed;
                }
                value = take(object, &["value"]).unwrap_or(Value::Null);
            }
            _ => {}
        }
    }
    // Anthropic's server tools: an error is content of a separate type.
    let kind = value.get("type").and_then(Value::as_str);
    let code = kind.and_then(|_| names::exit_code(&value));
    if kind.is_some_and(|kind| kind.ends_with("_error")) || code.is_some_and(|code| code != 0) {
        status = Status::Failed;
    }
    if status == Status::Failed && says_rejected(&names::words(&value)) {
        status = Status::Rejected;
    }
    if marks && status == Status::Unknown {
        status = Status::Succeeded;
    }
    if let (Value::Null, Some(error)) = (&value, &error) {
        value = Value::String(error.clone());
    }
    builder.result(CallResult { id, name, value, status, error });
}

/// Whether Claude Code says that a person refused a call, or did not allow it.
pub(super) fn says_rejected(text: &str) -> bool {
    text.contains("doesn't want to proceed with this tool use")
        || text.contains("requested permissions") && text.contains("haven't granted it yet")
}

/// Parts that have no type: the key says what they are.
fn read_keyed_part(builder: &mut Builder, mut part: Object) {
    let keys = GOOGLE_AND_BEDROCK;
    let Some(key) = keys.into_iter().find(|key| part.get(*key).is_some_and(Value::is_object))
    else {
        if part.get("thought") == Some(&Value::Bool(true)) {
            builder.reasoning(text(&mut part, &["text"]).unwrap_or_default());
        } else if looks_like_call(&part) {
            refuse(builder, &part);
        }
        return;
    };
    let Some(Value::Object(mut inside)) = take(&mut part, &[key]) else {
        return;
    };
    let outer = builder.raw_name.replace(key.to_owned());
    match key {
        "functionCall" | "function_call" | "toolUse" => {
            add_call(builder, inside);
        }
        "functionResponse" | "function_response" => result(builder, inside, false),
        "toolResult" => result(builder, inside, true),
        "executableCode" | "executable_code" => {
            let name = "code_execution".to_owned();
            let arguments = Value::Object(inside);
            builder.call(ToolCall { name, arguments, ..ToolCall::default() });
        }
        "codeExecutionResult" | "code_execution_result" => {
            let outcome = text(&mut inside, &["outcome"]).unwrap_or_default();
            let status = match outcome.as_str() {
                "OUTCOME_OK" => Status::Succeeded,
                "" => Status::Unknown,
                _ => Status::Failed,
            };
            let value = take(&mut inside, &["output"]).unwrap_or(Value::Null);
            let name = Some("code_execution".to_owned());
            builder.result(CallResult { name, value, status, ..CallResult::default() });
        }
        _ => {
            let mut inside = match take(&mut inside, &["reasoningText"]) {
                Some(Value::Object(inside)) => inside,
                _ => inside,
            };
            builder.reasoning(text(&mut inside, &["text"]).unwrap_or_default());
        }
    }
    builder.raw_name = outer;
}
