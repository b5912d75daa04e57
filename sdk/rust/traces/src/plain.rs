//! Reads step dictionaries that follow no published format: `{step, action, observation}`,
//! `{tool, args, result}`, LangChain's actions with their observations, the AI SDK's steps, those of
//! smolagents, bare calls.

use serde_json::Value;

use crate::builder::{Builder, CallResult};
use crate::calls::{RESULTS, add_call, holds_calls, is_call, listed, names_a_tool, take_input};
use crate::fields::{self, Object, has, keys, list, take, text, word};
use crate::messages::{read_message, refuse_unknown};
use crate::parts;
use crate::step::{Role, Status};
use crate::times;

/// Keys that only steps have.
const MARKS: [&str; 10] = [
    "action",
    "actions",
    "observation",
    "thought",
    "tool_calls",
    "toolCalls",
    "tool_results",
    "toolResults",
    "final_answer",
    "return_values",
];

/// Keys for the words of a step that has a number and none of the marks.
const SAID: [&str; 8] =
    ["content", "message", "text", "output", "answer", "error", "reasoning", "thinking"];

/// Keys of a list with the results of a step's calls, one by one.
const RESULT_LISTS: [&str; 3] = ["tool_results", "toolResults", "observations"];

/// Keys of the calls and the results in a step of the AI SDK.
const OF_AI_SDK: [&str; 2] = ["toolCalls", "toolResults"];

/// Whether an object is a step: it names a tool, or has keys that only steps have.
pub(super) fn is_step(step: &Object) -> bool {
    names_a_tool(step) || has(step, &MARKS) || step.contains_key("step") && has(step, &SAID)
}

/// Whether an object has the results of its calls next to them.
pub(super) fn has_results(step: &Object) -> bool {
    RESULT_LISTS.iter().any(|key| step.get(*key).is_some_and(Value::is_array))
}

/// Whether an object with a list of calls is one step, and not a wrapper around them. The AI SDK's result has the calls
/// of its last step next to all steps.
pub(super) fn is_whole(step: &Object) -> bool {
    let steps = step.get("steps").and_then(Value::as_array);
    steps.is_none_or(Vec::is_empty) && (has_results(step) || has(step, &["thought", "observation"]))
}

/// Whether the action of a step is to finish, as in ReAct: no tool is called.
pub(super) fn is_final(step: &Object) -> bool {
    let action = word(step, "action").map(|action| action.trim().replace('_', " "));
    action.is_some_and(|action| action.eq_ignore_ascii_case("final answer"))
}

/// Reads one step. The error says what it is instead.
pub(super) fn read_step(builder: &mut Builder, mut step: Object) -> Result<(), String> {
    builder.start_ms = times::time_ms(step.get("timestamp"));
    if let Some(reason) = fields::finish_reason(&step) {
        builder.cut_off = fields::cut_off(reason);
    }
    let first = builder.steps.len();
    let usage = fields::usage(step.get("usage").or(step.get("token_usage")));
    builder.turn(Role::Assistant);
    let thoughts = ["thought", "reasoning", "thinking", "reasoningText"];
    builder.reasoning(text(&mut step, &thoughts).unwrap_or_default());
    // In a step of the AI SDK, the model's text came before the tool calls.
    if has(&step, &OF_AI_SDK) {
        builder.message(Role::Assistant, text(&mut step, &["text"]).unwrap_or_default());
    }
    let observation = take(&mut step, &["observation"]).or_else(|| {
        text(&mut step, &["observations"]).filter(|text| !text.is_empty()).map(Value::String)
    });
    let results = list(&mut step, &RESULT_LISTS).unwrap_or_default();
    let mut calls = Vec::new();
    if is_final(&step) {
        take(&mut step, &["action"]);
        say_answer(builder, take_input(&mut step));
    }
    match take(&mut step, &["action"]) {
        Some(Value::String(name)) => {
            step.insert("action".to_owned(), Value::String(name));
        }
        Some(Value::Object(action)) => calls.extend(read_action(builder, action)),
        _ => {}
    }
    for action in list(&mut step, &["actions"]).unwrap_or_default() {
        if let Value::Object(action) = action {
            calls.extend(add_call(builder, action));
        }
    }
    let mut listed_calls = listed(builder, &mut step, &["tool_calls", "toolCalls"]);
    // If a tool failed, a step of smolagents has its calls only in the model's text.
    if let (true, Some(Value::Object(mut written))) =
        (listed_calls.is_empty(), take(&mut step, &["model_output_message"]))
    {
        listed_calls = listed(builder, &mut written, &["tool_calls"]);
    }
    for call in listed_calls {
        calls.extend(add_call(builder, call));
    }
    let found = if names_a_tool(&step) {
        if let Some(observation) = observation {
            step.insert("observation".to_owned(), observation);
        }
        calls.extend(add_call(builder, step));
        read_results(builder, results, &calls);
        Ok(())
    } else {
        read_results(builder, results, &calls);
        if calls.is_empty() && !has(&step, &OF_AI_SDK) {
            read_content(builder, &mut step)?;
        }
        calls.retain(|call| builder.is_open(*call));
        answer(builder, &mut step, observation, &calls);
        rest(builder, step, first)
    };
    builder.usage(first, usage);
    builder.start_ms = None;
    found
}

/// Whether an object is a step of smolagents without an action: the task, or a plan.
pub(super) fn is_task(step: &Object) -> bool {
    has(step, &["task_images", "model_output_message"]) && has(step, &["task", "plan"])
}

/// Reads such a step.
pub(super) fn read_task(builder: &mut Builder, mut step: Object) {
    match text(&mut step, &["task"]) {
        Some(task) => {
            builder.turn(Role::User);
            builder.message(Role::User, task);
        }
        None => {
            builder.turn(Role::Assistant);
            builder.reasoning(text(&mut step, &["plan"]).unwrap_or_default());
        }
    }
}

/// Reads an action in a separate object: a call, or a message.
fn read_action(builder: &mut Builder, action: Object) -> Option<usize> {
    let says = has(&action, &["content", "tool_calls", "text"]);
    if names_a_tool(&action) || !says && is_call(&action) {
        return add_call(builder, action);
    }
    if says {
        read_message(builder, Role::Assistant, action);
    } else if !action.is_empty() {
        builder.refuse(format!("an action in it {}", keys(&action)));
    }
    None
}

/// Reads a step's answer to its open calls. An observation in a step without calls belongs to an earlier call.
fn answer(builder: &mut Builder, step: &mut Object, observation: Option<Value>, calls: &[usize]) {
    let is_observed = observation.is_some();
    let mut result = CallResult::default();
    let mut value = observation;
    if !calls.is_empty() {
        // In a step of the AI SDK, a `response` or an `output` is the model's.
        if !has(step, &OF_AI_SDK) {
            value = value.or_else(|| take(step, &RESULTS));
        }
        (result.status, result.error) = fields::ending(step);
        value = value.or_else(|| result.error.clone().map(Value::String));
    }
    if value.is_none() && matches!(result.status, Status::Unknown | Status::Succeeded) {
        return;
    }
    let open = calls.iter().copied().find(|call| builder.claim_step(*call));
    let earlier = |builder: &mut Builder| is_observed.then(|| builder.claim(None, None)).flatten();
    if let Some(call) = open.or_else(|| earlier(builder)) {
        result.value = value.unwrap_or_default();
        builder.answer(call, result);
    }
}

/// Reads the results of several calls: by their ids or names, else in the order of the calls.
fn read_results(builder: &mut Builder, results: Vec<Value>, calls: &[usize]) {
    let mut calls = calls.iter().copied();
    for result in results {
        match result {
            Value::Object(result) if parts::names_its_call(&result) => {
                parts::result(builder, result, false);
            }
            value => match calls.find(|call| builder.claim_step(*call)) {
                Some(call) => builder.answer(call, CallResult { value, ..CallResult::default() }),
                None => builder.result(CallResult { value, ..CallResult::default() }),
            },
        }
    }
}

/// Reads the parts of a step without calls. Calls elsewhere in it are not recognized.
fn read_content(builder: &mut Builder, step: &mut Object) -> Result<(), String> {
    if let Some(parts) = list(step, &["content"]) {
        refuse_unknown(builder, &parts);
        parts::read_parts(builder, &Role::Assistant, parts);
    }
    if holds_calls(step) { Err(keys(step)) } else { Ok(()) }
}

/// Reads a step without a tool: an answer, an error, or only its number.
fn rest(builder: &mut Builder, mut step: Object, first: usize) -> Result<(), String> {
    let answers = ["final_answer", "answer", "content", "message", "text", "output"];
    let answer = match take(&mut step, &["return_values"]) {
        Some(Value::Object(mut values)) => text(&mut values, &["output"]),
        _ => text(&mut step, &answers),
    };
    builder.message(Role::Assistant, answer.unwrap_or_default());
    if let Some(error) = fields::error_text(take(&mut step, &["error"])) {
        builder.error(error);
    }
    if builder.steps.len() > first {
        return Ok(());
    }
    // A step that did nothing is still a step; something unknown under the key of an action is not.
    if MARKS.iter().filter_map(|key| step.get(*key)).any(|found| !fields::is_blank(found)) {
        return Err(keys(&step));
    }
    builder.other("step");
    Ok(())
}

/// Adds the answer that a step ends with.
fn say_answer(builder: &mut Builder, answer: Option<Value>) {
    let answer = match answer.unwrap_or_default() {
        Value::Null => return,
        Value::String(text) => text,
        Value::Object(mut object) => text(&mut object, &["answer", "output", "input", "text"])
            .unwrap_or_else(|| Value::Object(object).to_string()),
        other => other.to_string(),
    };
    builder.message(Role::Assistant, answer);
}

/// Reads an action of LangChain with what was observed.
pub(super) fn read_pair(
    builder: &mut Builder,
    action: Object,
    observation: Value,
) -> Result<(), String> {
    let mut action = match action.get("kwargs") {
        // If the action itself names a tool, these are the tool's arguments.
        Some(Value::Object(inside)) if !names_a_tool(&action) => inside.clone(),
        _ => action,
    };
    action.insert("observation".to_owned(), observation);
    read_step(builder, action)
}
