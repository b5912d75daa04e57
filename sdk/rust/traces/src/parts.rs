//! Reads the parts of a message: Anthropic's and Bedrock's content blocks, the parts of Google,
//! OpenTelemetry, the AI SDK and its streams, and OpenAI's content parts. Messages themselves are read
//! elsewhere.

use serde_json::Value;

use crate::builder::{Builder, CallResult};
use crate::calls::{add_call, holds_calls, invalid_call};
use crate::fields::{self, Object, id, take, text, word};
use crate::part_types::{
    is_call, is_input_piece, is_item_output, is_result, is_thinking, named_tool,
};
use crate::step::{InputRequest, Role, Status, ToolCall};
use crate::{items, names};

/// Reads the parts of one message. Adjacent texts become one message.
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

/// A model's text may be split anywhere, as before a citation; the parts of its input are separate.
fn say(said: &mut String, role: &Role, text: &str) {
    if *role != Role::Assistant && !said.is_empty() && !text.is_empty() {
        said.push('\n');
    }
    said.push_str(text);
}

/// The text of a part that has one, or else the part.
fn spoken(mut part: Object) -> Result<String, Object> {
    if !is_spoken(&part) {
        return Err(part);
    }
    Ok(text(&mut part, &TEXTS).unwrap_or_default())
}

/// The keys of a part's text.
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

/// The text of a part, without taking it.
pub(super) fn words(part: &Object) -> Option<&str> {
    is_spoken(part).then(|| TEXTS.iter().find_map(|key| word(part, key)).unwrap_or_default())
}

/// Whether an object is a part outside any message.
pub(super) fn is_part(part: &Object) -> bool {
    match word(part, "type") {
        Some(kind) => {
            is_call(kind)
                || is_result(kind)
                || is_thinking(kind)
                || is_input_piece(kind)
                || kind == "text"
        }
        None => keyed(part).is_some(),
    }
}

/// The key that identifies a part without a type.
fn keyed(part: &Object) -> Option<&'static str> {
    let holds = |key: &&str| part.get(*key).is_some_and(Value::is_object);
    // Other formats use the same words for other things.
    let of_google =
        |key: &&str| part.get(*key).is_some_and(|inside| inside["toolType"].is_string());
    let known = GOOGLE_AND_BEDROCK.into_iter().find(holds);
    known.or_else(|| ["toolCall", "toolResponse"].into_iter().find(of_google))
}

/// Keys of a part that need not be understood.
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

/// The keys of an object in the place of a part, if its kind is unknown.
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
            builder.thought(
                text(&mut part, &["thinking", "reasoning", "text", "content"]).unwrap_or_default(),
            );
        }
        kind if is_call(kind) => call(builder, kind, part),
        kind if is_result(kind) => typed_result(builder, kind, part),
        "invalid_tool_call" => invalid_call(builder, part),
        "tool-approval-request" => {
            let asked = id(&mut part, &["approvalId", "id"]);
            let action = id(&mut part, &["toolCallId"])
                .or_else(|| id(part.get_mut("toolCall")?.as_object_mut()?, &["toolCallId"]));
            builder.approvals.extend(asked.clone().zip(action.clone()));
            builder.input_request(InputRequest { id: asked, action, prompt: None });
        }
        "tool-approval-response" => {
            builder.event("input.answered");
            if part.get("approved") == Some(&Value::Bool(false)) {
                refused(builder, part);
            }
        }
        "tool" if part.get("state").is_some_and(Value::is_object) => of_opencode(builder, part),
        // LangChain's messages contain the calls that OpenAI's service executed.
        kind if items::is_item(kind) => {
            builder.join_turn();
            items::read_item(builder, kind, part);
        }
        kind if is_input_piece(kind) => builder.event(kind.to_owned()),
        // Data that an application added to the model's parts is not searched.
        kind if looks_like_call(&part) || !kind.starts_with("data-") && holds_calls(&part) => {
            refuse(builder, &part);
        }
        // Pictures, files, boundaries of steps.
        _ => builder.event(kind.clone()),
    }
    builder.raw_name = outer;
}

/// Whether a part of an unknown kind looks like a call: it has the id of a call, or a name and arguments.
fn looks_like_call(part: &Object) -> bool {
    let has = |keys: &[&str]| keys.iter().any(|key| word(part, key).is_some());
    has(&["toolCallId", "tool_call_id", "call_id", "callId", "callID"])
        || has(&["name", "tool"]) && fields::has(part, &["arguments", "input", "args", "state"])
}

/// A call with its state, which OpenCode keeps in one part.
fn of_opencode(builder: &mut Builder, mut part: Object) {
    if let Some(Value::Object(state)) = part.remove("state") {
        part.extend(state);
    }
    add_call(builder, part);
}

/// A person refused a call. The model may still get a result for it.
fn refused(builder: &mut Builder, mut answer: Object) {
    let asked = id(&mut answer, &["approvalId", "id"]);
    let call = asked.and_then(|asked| builder.approvals.remove(&asked));
    // The empty name belongs to no call.
    if let Some(call) = call.and_then(|call| builder.claim(Some(&call), Some(""))) {
        builder.set_status(call, Status::Rejected);
    }
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
        // There, the status says whether the item was written completely.
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
    // A part of the AI SDK's UI messages: the tool's name is in the type, the result next to the input.
    if let Some(name) = named_tool(kind) {
        part.entry("toolName").or_insert_with(|| name.into());
    }
    // The AI SDK's UI stream may report more than once that the input of a call is available.
    if kind == "tool-input-available"
        && word(&part, "toolCallId").is_some_and(|id| builder.has_call(id))
    {
        return builder.event(kind.to_owned());
    }
    let state = word(&part, "state");
    if state == Some("approval-responded")
        && part.get("approval").and_then(|answer| answer.get("approved")) == Some(&false.into())
    {
        part.insert("status".to_owned(), "denied".into());
    } else if state == Some("approval-requested") {
        let action = part.get("toolName").and_then(Value::as_str).map(str::to_owned);
        add_call(builder, part);
        builder.input_request(InputRequest { action, ..InputRequest::default() });
        return;
    }
    // OpenTelemetry nests the arguments of a server's tool under the tool's name.
    if kind == "server_tool_call"
        && let Some(Value::Object(inside)) = take(&mut part, &["server_tool_call"])
    {
        let arguments = Value::Object(inside);
        part.entry("args").or_insert(arguments);
    }
    add_call(builder, part);
}

/// The keys by which a result refers to its call.
const IDS: [&str; 8] = [
    "tool_use_id",
    "toolCallId",
    "tool_call_id",
    "toolUseId",
    "call_id",
    "callId",
    "id",
    "tool_id",
];

/// The keys of a result's tool name.
const NAMES: [&str; 4] = ["toolName", "tool_name", "name", "tool"];

/// Whether a result says which call it belongs to.
pub(super) fn names_its_call(result: &Object) -> bool {
    let named = |key: &&str| result.get(*key).is_some_and(|id| id.is_string() || id.is_number());
    IDS.iter().any(named) || NAMES.iter().any(named)
}

/// Reads a result. `marks`: the format marks failures, so a result without a mark is a success.
pub(super) fn result(builder: &mut Builder, mut part: Object, marks: bool) {
    let id = id(&mut part, &IDS);
    let name = text(&mut part, &NAMES);
    let (mut status, error) = fields::ending(&mut part);
    let content = ["content", "response", "result", "output", "server_tool_call_response"];
    let mut value = take(&mut part, &content).unwrap_or(Value::Null);
    // The AI SDK marks the type of its outputs: `{type: "error-text", value}`.
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
    // Anthropic's server tools: an error is content with its own type.
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

/// Reads a part without a type, which its key identifies.
fn read_keyed_part(builder: &mut Builder, mut part: Object) {
    let Some(key) = keyed(&part) else {
        if part.get("thought") == Some(&Value::Bool(true)) {
            builder.thought(text(&mut part, &["text"]).unwrap_or_default());
        } else if looks_like_call(&part) || holds_calls(&part) {
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
        // A call that Google's service executed itself.
        "toolCall" | "toolResponse" => {
            let name = inside.remove("toolType").unwrap_or_default();
            inside.insert("name".to_owned(), name);
            match key {
                "toolCall" => drop(add_call(builder, inside)),
                _ => result(builder, inside, false),
            }
        }
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
            builder.thought(text(&mut inside, &["text"]).unwrap_or_default());
        }
    }
    builder.raw_name = outer;
}
