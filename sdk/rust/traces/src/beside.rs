//! Checks whether other lists have calls that the list that is read lacks: a call that is left out would look like one
//! that was never made. It reads no steps.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::TraceError;
use crate::builder::Builder;
use crate::calls::{TOOL_NAMES, has_no_arguments, is_call, read_call, states_arguments};
use crate::fields::{LISTS, Object, word};
use crate::step::{StepKind, ToolCall};
use crate::{part_types, plain};

/// Where more of a run may be, in addition to the keys of wrappers.
const MORE: [&str; 7] =
    ["tool_uses", "toolUses", "calls", "result", "completion", "message", "response"];

/// The calls under keys other than the one that is read, each with its key.
pub(super) fn calls(object: &Object, read: &str) -> Vec<(&'static str, ToolCall)> {
    let mut found = Vec::new();
    for key in LISTS.into_iter().chain(MORE).filter(|key| *key != read) {
        if let Some(value) = object.get(key) {
            find(value, key, &mut found);
        }
    }
    found
}

fn find(value: &Value, key: &'static str, found: &mut Vec<(&'static str, ToolCall)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| find(item, key, found)),
        Value::Object(object) => match of_span(object).or_else(|| call(object)) {
            Some(call) => found.push((key, call)),
            None => object.values().for_each(|inside| find(inside, key, found)),
        },
        _ => {}
    }
}

/// An object that is a call by its type, its arguments or the key of its tool's name.
fn call(object: &Object) -> Option<ToolCall> {
    let by_type = word(object, "type").is_some_and(part_types::is_call);
    let by_name = || TOOL_NAMES.iter().any(|key| word(object, key).is_some_and(|n| !n.is_empty()));
    let is_one = by_type || by_name() || is_call(object) && states_arguments(object);
    if is_one && !plain::is_final(object) { read_call(object.clone()) } else { None }
}

/// The tool that the attributes of a span name.
fn of_span(object: &Object) -> Option<ToolCall> {
    const NAME: &str = "gen_ai.tool.name";
    let in_pair = || object.get("value")?.get("stringValue")?.as_str();
    let name = match word(object, "key") {
        Some(NAME) => in_pair(),
        _ => word(object, NAME),
    };
    name.map(|name| ToolCall { name: name.to_owned(), ..ToolCall::default() })
}

/// Refuses calls that match none of the steps, by id or else by name and arguments.
pub(super) fn check(
    builder: &Builder,
    read: &str,
    beside: Vec<(&'static str, ToolCall)>,
) -> Result<(), TraceError> {
    if beside.is_empty() {
        return Ok(());
    }
    let mut known = BTreeSet::new();
    for step in &builder.steps {
        if let StepKind::ToolCall(call) = &step.kind {
            known.extend(call.id.clone().map(|id| ("id", id)));
            known.insert(("name", call.name.clone()));
            known.insert(("call", format!("{} {}", call.name, call.arguments)));
        }
    }
    for (key, call) in beside {
        let whole = if has_no_arguments(&call) {
            ("name", call.name.clone())
        } else {
            ("call", format!("{} {}", call.name, call.arguments))
        };
        if !known.contains(&whole) && !call.id.is_some_and(|id| known.contains(&("id", id))) {
            let name = scorebox_sdk::excerpt(&call.name, 40);
            return Err(TraceError::new(format!(
                "has a call of `{name}` under `{key}` that is not among the steps under `{read}`; put all steps into one \
                 list, in their order"
            )));
        }
    }
    Ok(())
}
