//! Reads one tool call, in any form that a format writes it. Where in a trace a call is, is decided elsewhere.

use serde_json::Value;

use crate::builder::Builder;
use crate::fields::{self, Object, has, id, keys, kind, text, word};
use crate::span_messages::parsed;
use crate::step::{Status, ToolCall};
use crate::{items, part_types};

/// The keys of a call's id.
const IDS: [&str; 8] =
    ["call_id", "tool_call_id", "toolCallId", "callId", "callID", "toolUseId", "id", "tool_id"];

/// The keys that a call without arguments may have in addition to its name, ids and results, as DeepEval's `ToolCall`
/// does.
const BESIDE: [&str; 7] =
    ["name", "type", "description", "reasoning", "status", "error", "durationMs"];

/// The keys of a call's arguments, as an object or free text.
const INPUTS: [&str; 14] = [
    "input",
    "args",
    "kwargs",
    "tool_input",
    "action_input",
    "toolInput",
    "parameters",
    "params",
    "tool_args",
    "toolArgs",
    "tool_kwargs",
    "input_parameters",
    "inputParameters",
    "rawInput",
];

/// The keys of the tool's name in a plain step.
pub(super) const TOOL_NAMES: [&str; 5] =
    ["tool", "tool_name", "toolName", "function_name", "action"];

/// The keys of the tool's answer in a plain step.
pub(super) const RESULTS: [&str; 7] =
    ["result", "output", "observation", "response", "tool_output", "toolOutput", "tool_result"];

/// The keys of an inner object with the tool and its arguments, next to the call's id.
const INNER: [&str; 6] =
    ["function", "custom", "functionCall", "function_call", "toolUse", "tool_call"];

/// The keys of an inner object that is the whole call, if the outer one has no name.
const WHOLE: [&str; 4] = ["tool", "content", "toolInvocation", "toolCall"];

/// The keys of the tool's name.
const NAMES: [&str; 5] = ["name", "function", "toolName", "tool_name", "function_name"];

/// A call as messages list it: `{id, function: {name, arguments}}`, `{id, function, arguments}`, `{id, name, args}`,
/// `{toolCallId, toolName, input}` … A result inside it is read too.
pub(super) fn read_call(mut object: Object) -> Option<ToolCall> {
    let mut call = ToolCall { id: id(&mut object, &IDS), ..ToolCall::default() };
    if let Some(mut inside) = inside(&mut object, &INNER) {
        call.id = call.id.take().or_else(|| id(&mut inside, &IDS));
        call.name = text(&mut inside, &["name", "tool_name", "toolName"])?;
        read_arguments(&mut call, &mut inside);
        read_ending(&mut call, &mut object);
        return Some(call);
    }
    let name = text(&mut object, &NAMES).or_else(|| text(&mut object, &TOOL_NAMES));
    let Some(name) = name else {
        let id = call.id;
        let mut call = read_call(inside(&mut object, &WHOLE)?)?;
        call.id = call.id.or(id);
        if call.result.is_none() {
            read_ending(&mut call, &mut object);
        }
        return Some(call);
    };
    call.name = name;
    read_arguments(&mut call, &mut object);
    if let Some(error) = text(&mut object, &["parse_error"]) {
        call.arguments_error = Some(error);
    }
    read_ending(&mut call, &mut object);
    Some(call)
}

/// Reads a call where there must be one. An object without a name is refused, because a call would be missing.
pub(super) fn add_call(builder: &mut Builder, object: Object) -> Option<usize> {
    if !is_call(&object) {
        builder.refuse(format!("a tool call in it {}", keys(&object)));
        return None;
    }
    builder.call(read_call(object)?)
}

/// The calls under the first of these keys: a list, one call, or either as text, as tables have it. Anything else is
/// refused, because a call would be missing.
pub(super) fn listed(builder: &mut Builder, object: &mut Object, keys: &[&str]) -> Vec<Object> {
    let found = match fields::take(object, keys).map(parsed) {
        Some(Value::Array(calls)) => calls,
        Some(Value::String(text)) if matches!(text.trim(), "" | "null") => Vec::new(),
        found => Vec::from_iter(found),
    };
    let mut calls = Vec::new();
    for call in found {
        match parsed(call) {
            Value::Object(call) => calls.push(call),
            other => builder.refuse(format!("a tool call in it is {}", kind(&other))),
        }
    }
    calls
}

/// Adds a call that LangChain could not read: its arguments are a text that is not JSON.
pub(super) fn invalid_call(builder: &mut Builder, mut call: Object) {
    let why = text(&mut call, &["error"]);
    if let Some(call) = read_call(call) {
        let why = why.unwrap_or_else(|| "the arguments are not JSON".to_owned());
        builder.call(ToolCall { arguments_error: Some(why), ..call });
    }
}

/// The object under the first of these keys that names a tool.
fn inside(object: &mut Object, keys: &[&str]) -> Option<Object> {
    let key = keys.iter().find(|key| names_inside(object, key))?;
    match object.get_mut(*key).map(Value::take) {
        Some(Value::Object(inside)) => Some(inside),
        _ => None,
    }
}

fn names_inside(object: &Object, key: &str) -> bool {
    let inside = object.get(key).and_then(Value::as_object);
    inside.is_some_and(|inside| {
        ["name", "tool_name", "toolName"].iter().any(|key| word(inside, key).is_some())
    })
}

fn read_arguments(call: &mut ToolCall, object: &mut Object) {
    match fields::take(object, &["arguments"]) {
        Some(arguments) => fields::arguments(call, Some(arguments), true),
        None => fields::arguments(call, fields::take(object, &INPUTS), false),
    }
    // For a streamed call, LangChain keeps the text of Anthropic's arguments next to the empty object that the stream
    // began with.
    if has_no_arguments(call)
        && let Some(written) = text(object, &["partial_json"])
    {
        fields::arguments(call, Some(Value::String(written)), true);
    }
}

/// Whether a call states no arguments, readable or not.
pub(super) fn has_no_arguments(call: &ToolCall) -> bool {
    let is_empty =
        |value: &Value| value.is_null() || value.as_object().is_some_and(Object::is_empty);
    is_empty(&call.arguments) && call.arguments_error.is_none()
}

fn read_ending(call: &mut ToolCall, object: &mut Object) {
    let (status, error) = fields::ending(object);
    call.result = fields::take(object, &RESULTS);
    // Without a result, a status such as `completed` only says that the call was written completely.
    if call.result.is_some() || status != Status::Succeeded {
        call.stated_status = status;
    }
    if call.result.is_none() {
        call.result = error.clone().map(Value::String);
    }
    call.error = error;
}

/// Whether an object without any other mark is a step, because it names a tool.
pub(super) fn names_a_tool(object: &Object) -> bool {
    // A step without a call may have an empty name. With arguments it is a call, and is refused.
    let filled = |key: &&str| object.get(*key).is_some_and(|found| !fields::is_blank(found));
    let named = TOOL_NAMES.iter().any(|key| object.get(*key).is_some_and(Value::is_string))
        && TOOL_NAMES.iter().chain(&INPUTS).chain(&["arguments"]).any(filled);
    let inside = names_inside(object, "function");
    let called = has(object, &["name", "function"]) && has_arguments(object);
    named || inside || called
}

/// Whether an object that must be a call names a tool, so that [`read_call`] can read it.
pub(super) fn is_call(object: &Object) -> bool {
    NAMES.iter().chain(&TOOL_NAMES).any(|key| word(object, key).is_some())
        || INNER.iter().chain(&WHOLE).any(|key| names_inside(object, key))
}

/// Whether an object is a call because it has a name and arguments.
pub(super) fn has_arguments(object: &Object) -> bool {
    has(object, &["arguments"]) || has(object, &INPUTS)
}

/// Whether an object in a list of such objects is a call without arguments: it has a name, and no keys that calls do
/// not have.
pub(super) fn is_name_alone(object: &Object) -> bool {
    let kind = word(object, "type").map(str::to_ascii_lowercase);
    let is_tool = matches!(kind.as_deref(), None | Some("function" | "tool" | "tool_call"));
    let known = |key: &&str| BESIDE.iter().chain(&IDS).chain(&RESULTS).any(|known| known == key);
    is_tool
        && word(object, "name").is_some()
        && object.keys().map(String::as_str).all(|key| known(&key))
}

/// Whether an object contains calls one level down, alone or in a list.
pub(super) fn holds_calls(object: &Object) -> bool {
    let is_one = |value: &Value| value.as_object().is_some_and(looks_like_call);
    object.values().any(|value| match value {
        Value::Array(values) => values.iter().any(is_one),
        value => is_one(value),
    })
}

/// Whether an object is a call because of its type, or because it has a name and arguments.
fn looks_like_call(object: &Object) -> bool {
    match word(object, "type") {
        Some(kind) if part_types::is_call(kind) || items::is_call(kind) => true,
        _ => {
            has(object, &["arguments", "tool_args", "tool_input"])
                && NAMES.iter().chain(&TOOL_NAMES).any(|key| word(object, key).is_some())
        }
    }
}

/// Whether a call states its arguments, rather than leaving them out.
pub(super) fn states_arguments(object: &Object) -> bool {
    let states = |object: &Object| {
        let stated = |key: &&str| object.get(*key).is_some_and(|found| !found.is_null());
        stated(&"arguments") || INPUTS.iter().any(stated)
    };
    let inside = INNER.iter().chain(&WHOLE).filter(|key| names_inside(object, key));
    let mut inside = inside.filter_map(|key| object.get(*key)?.as_object());
    states(object) || inside.any(states)
}

/// Takes the arguments of a step that turns out not to be a call.
pub(super) fn take_input(object: &mut Object) -> Option<Value> {
    fields::take(object, &["arguments"]).or_else(|| fields::take(object, &INPUTS))
}
