//! Reads one tool call, in any of the spellings that formats have for it. It decides nothing about
//! where a call stands.

use serde_json::Value;

use crate::trace::fields::{self, Object, has, id, text};
use crate::trace::step::{Status, ToolCall};

/// Where a call's id stands.
const IDS: [&str; 6] = ["call_id", "tool_call_id", "toolCallId", "callId", "toolUseId", "id"];

/// Where a call's arguments stand, when they are an object or free text.
const INPUTS: [&str; 8] = [
    "input",
    "args",
    "tool_input",
    "action_input",
    "toolInput",
    "parameters",
    "params",
    "tool_args",
];

/// Where a plain step has its tool's name.
pub(super) const TOOL_NAMES: [&str; 5] =
    ["tool", "tool_name", "toolName", "function_name", "action"];

/// Where a plain step has what its tool answered.
const RESULTS: [&str; 7] =
    ["result", "output", "observation", "response", "tool_output", "toolOutput", "tool_result"];

/// A call as messages list it: `{id, function: {name, arguments}}`, `{id, function, arguments}`,
/// `{id, name, args}`, `{toolCallId, toolName, input}` … Any result that stands inside it is read
/// too.
pub(super) fn read_call(mut object: Object) -> Option<ToolCall> {
    let mut call = ToolCall { id: id(&mut object, &IDS), ..ToolCall::default() };
    let inner = ["function", "custom", "functionCall", "function_call", "toolUse", "tool_call"];
    for key in inner {
        if let Some(Value::Object(inside)) = object.get_mut(key).filter(|value| value.is_object()) {
            let mut inside = std::mem::take(inside);
            call.id = call.id.take().or_else(|| id(&mut inside, &IDS));
            call.name = text(&mut inside, &["name", "tool_name"])?;
            read_arguments(&mut call, &mut inside);
            read_ending(&mut call, &mut object);
            return Some(call);
        }
    }
    call.name = text(&mut object, &["name", "function", "toolName", "tool_name", "function_name"])
        .or_else(|| text(&mut object, &TOOL_NAMES))?;
    read_arguments(&mut call, &mut object);
    if let Some(error) = text(&mut object, &["parse_error"]) {
        call.arguments_error = Some(error);
    }
    read_ending(&mut call, &mut object);
    Some(call)
}

fn read_arguments(call: &mut ToolCall, object: &mut Object) {
    match fields::take(object, &["arguments"]) {
        Some(arguments) => fields::arguments(call, Some(arguments), true),
        None => fields::arguments(call, fields::take(object, &INPUTS), false),
    }
}

fn read_ending(call: &mut ToolCall, object: &mut Object) {
    let (status, error) = fields::ending(object);
    call.result = fields::take(object, &RESULTS);
    // Without a result, a status such as `completed` is that of writing the call down.
    if call.result.is_some() || status != Status::Succeeded {
        call.status = status;
    }
    if call.result.is_none() {
        call.result = error.clone().map(Value::String);
    }
    call.error = error;
}

/// Whether an object without any other mark is a step that names a tool.
pub(super) fn names_a_tool(object: &Object) -> bool {
    let named = TOOL_NAMES.iter().any(|key| object.get(*key).is_some_and(Value::is_string));
    let inside = object.get("function").is_some_and(|function| function.get("name").is_some());
    let called = has(object, &["name", "function"]) && has_arguments(object);
    named || inside || called
}

fn has_arguments(object: &Object) -> bool {
    has(object, &["arguments"]) || has(object, &INPUTS)
}
