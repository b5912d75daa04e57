//! Reads step dictionaries that follow no published format: `{step, action, observation}`,
//! `{tool, args, result}`, LangChain's actions with their observations, bare calls.

use serde_json::Value;

use crate::trace::builder::{Builder, CallResult};
use crate::trace::calls::{names_a_tool, read_call};
use crate::trace::fields::{self, Object, has, list, take, text};
use crate::trace::messages::read_message;
use crate::trace::step::Role;

/// Whether an object is a step: it names a tool, or has what steps have.
pub(super) fn is_step(step: &Object) -> bool {
    let marks = [
        "step",
        "action",
        "actions",
        "observation",
        "thought",
        "tool_calls",
        "final_answer",
        "return_values",
        "id",
    ];
    names_a_tool(step) || has(step, &marks)
}

/// Reads one step.
pub(super) fn read_step(builder: &mut Builder, mut step: Object) {
    builder.start_ms = fields::time_ms(step.get("timestamp"));
    let first = builder.steps.len();
    builder.turn(Role::Assistant);
    builder.reasoning(text(&mut step, &["thought", "reasoning", "thinking"]).unwrap_or_default());
    let observation = take(&mut step, &["observation"]);
    let mut calls = Vec::new();
    match take(&mut step, &["action"]) {
        Some(Value::String(name)) => {
            step.insert("action".to_owned(), Value::String(name));
        }
        Some(Value::Object(action)) if names_a_tool(&action) => {
            calls.extend(read_action(builder, Value::Object(action)));
        }
        // An action with a content of its own is a message.
        Some(Value::Object(action)) if has(&action, &["content", "tool_calls", "text"]) => {
            read_message(builder, Role::Assistant, action);
        }
        _ => {}
    }
    for action in list(&mut step, &["actions", "tool_calls"]).unwrap_or_default() {
        calls.extend(read_action(builder, action));
    }
    if names_a_tool(&step) {
        if let Some(observation) = observation {
            step.insert("observation".to_owned(), observation);
        }
        read_action(builder, Value::Object(step));
    } else {
        if let Some(value) = observation {
            let open = calls.into_iter().find(|call| builder.claim_step(*call));
            if let Some(call) = open.or_else(|| builder.claim(None, None)) {
                builder.answer(call, CallResult { value, ..CallResult::default() });
            }
        }
        rest(builder, step, first);
    }
    builder.start_ms = None;
}

/// A step without a tool: an answer, an error, or its number alone.
fn rest(builder: &mut Builder, mut step: Object, first: usize) {
    let answers = ["final_answer", "answer", "content", "message", "text", "output"];
    let answer = match take(&mut step, &["return_values"]) {
        Some(Value::Object(mut values)) => text(&mut values, &["output"]),
        _ => text(&mut step, &answers),
    };
    builder.message(Role::Assistant, answer.unwrap_or_default());
    if let Some(error) = fields::error_text(take(&mut step, &["error"])) {
        builder.error(error);
    }
    if builder.steps.len() == first {
        builder.other("step");
    }
}

fn read_action(builder: &mut Builder, action: Value) -> Option<usize> {
    match action {
        Value::Object(action) => builder.call(read_call(action)?),
        _ => None,
    }
}

/// Reads an action of LangChain with what was observed.
pub(super) fn read_pair(builder: &mut Builder, action: Object, observation: Value) {
    let mut action = match action.get("kwargs") {
        Some(Value::Object(inside)) => inside.clone(),
        _ => action,
    };
    action.insert("observation".to_owned(), observation);
    read_step(builder, action);
}
