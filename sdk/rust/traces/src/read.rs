//! Opens what surrounds the steps (wrappers, JSON in text), and recognizes the formats that are read as a whole. The
//! items of lists are recognized elsewhere.

use serde_json::Value;

use crate::answer::without_mark;
use crate::builder::{Builder, STEP_LIMIT};
use crate::calls;
use crate::conversation::Conversation;
use crate::fields::{self, LISTS, Object, kind, list, take, word};
use crate::item::{CHUNKS, is_item, read_item};
use crate::step::Outcome;
use crate::{
    TraceError, atif, beside, codex, converse, genai, inspect, logs, outcome, spans, turns,
};
use scorebox_sdk::{Usage, excerpt};

/// How many nested wrappers around the steps are opened.
const WRAPPERS: usize = 4;

/// Reads a whole trace.
pub(super) fn read(builder: &mut Builder, value: Value) -> Result<(), TraceError> {
    read_value(builder, value, WRAPPERS)?;
    codex::finish(builder);
    if builder.overflow {
        return Err(TraceError::new(format!("has more than {STEP_LIMIT} steps")));
    }
    if let Some(what) = builder.refused.take() {
        return Err(TraceError::unknown(&what));
    }
    if let (Some(why), None | Some(Outcome::Unknown(_))) =
        (builder.cut_off.take(), &builder.outcome)
    {
        builder.outcome = Some(Outcome::Failed(Some(why)));
    }
    Ok(())
}

fn read_value(builder: &mut Builder, value: Value, wrappers: usize) -> Result<(), TraceError> {
    match value {
        Value::Array(items) => read_list(builder, items, wrappers),
        Value::Object(object) => read_object(builder, object, wrappers),
        Value::String(text) => read_text(builder, &text, wrappers),
        other => Err(TraceError::unknown(&format!("it is {}", kind(&other)))),
    }
}

/// Reads JSON in a string, or JSON Lines with one step per line.
fn read_text(builder: &mut Builder, text: &str, wrappers: usize) -> Result<(), TraceError> {
    let deeper = wrappers.checked_sub(1);
    let deeper = deeper.ok_or_else(|| TraceError::unknown("it is a text inside a text"))?;
    let text = without_mark(text);
    match serde_json::from_str(text) {
        Ok(value @ (Value::Array(_) | Value::Object(_))) => read_value(builder, value, deeper),
        _ => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let items: Result<Vec<Value>, _> = lines.map(serde_json::from_str).collect();
            match items {
                Ok(items) if items.iter().any(Value::is_object) => {
                    read_list(builder, items, deeper)
                }
                _ => {
                    let start = excerpt(text, 40);
                    Err(TraceError::unknown(&format!("it is a text that is not JSON: {start:?}")))
                }
            }
        }
    }
}

fn read_list(
    builder: &mut Builder,
    mut items: Vec<Value>,
    wrappers: usize,
) -> Result<(), TraceError> {
    items.iter_mut().filter_map(Value::as_object_mut).for_each(converse::as_choice);
    let is =
        |test: fn(&Object) -> bool| items.iter().any(|item| item.as_object().is_some_and(test));
    if is(is_chunk) {
        return Err(TraceError::new(CHUNKS));
    }
    // These three formats read a list as a whole.
    if is(logs::is_record) && !is(|item| spans::is_span(item) && !logs::is_record(item)) {
        return logs::read(builder, Value::Array(items));
    }
    if is(spans::is_span) {
        return read_spans(builder, Value::Array(items));
    }
    let all_events = || {
        let mut objects = items.iter().filter_map(Value::as_object);
        objects.all(|item| item.get("event").is_some_and(Value::is_string))
    };
    if is(inspect::is_event) && all_events() {
        inspect::read_events(builder, items);
        return Ok(());
    }
    // A list may consist of a single wrapper.
    if let ([Value::Object(only)], Some(deeper)) = (items.as_mut_slice(), wrappers.checked_sub(1))
        && is_wrapper(only)
    {
        return read_object(builder, std::mem::take(only), deeper);
    }
    if let Some(deeper) = wrappers.checked_sub(1)
        && turns::are_turns(&items)
    {
        let read_turn = |builder: &mut Builder, turn| read_object(builder, turn, deeper);
        return turns::read(builder, items, read_turn);
    }
    // The answers of the models in a conversation, one after the other.
    if let Some(deeper) = wrappers.checked_sub(1)
        && !items.is_empty()
        && items.iter().all(|item| item.as_object().is_some_and(is_answer))
    {
        let mut conversation = Conversation::default();
        let around = builder.outcome.take();
        for answer in items.into_iter().filter_map(object) {
            // The last answer says how the run ended.
            builder.outcome = None;
            read_exchange(builder, &mut conversation, answer, deeper)?;
        }
        builder.outcome = around.or(builder.outcome.take());
        return Ok(());
    }
    name_calls(&mut items);
    let is_one = wrappers == 0 && items.len() == 1;
    for (index, item) in items.into_iter().enumerate() {
        if builder.overflow {
            break;
        }
        read_item(builder, item).map_err(|what| {
            let which = if is_one { "it".to_owned() } else { format!("item {index}") };
            TraceError::unknown(&format!("{which} {what}"))
        })?;
    }
    Ok(())
}

fn object(value: Value) -> Option<Object> {
    match value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// Reads a model's input, which repeats the conversation so far, and its answer.
fn read_exchange(
    builder: &mut Builder,
    conversation: &mut Conversation,
    mut answer: Object,
    deeper: usize,
) -> Result<(), TraceError> {
    if let Some(asked) = asked(&mut answer) {
        // An input that refers to the previous answer does not repeat it.
        match word(&answer, "previous_response_id") {
            Some(_) => conversation.add(builder, asked),
            None => conversation.read(builder, asked),
        }
    }
    builder.understood += 1;
    conversation.expect(builder, answered(&answer));
    let read = read_object(builder, answer, deeper);
    builder.repeated.end();
    read
}

/// A model's input, next to its answer. Google's clients that call functions themselves include these calls in it.
fn asked(answer: &mut Object) -> Option<Vec<Value>> {
    let keys = ["automatic_function_calling_history", "automaticFunctionCallingHistory"];
    let asked = list(answer, &["messages", "contents", "input"]);
    list(answer, &keys).filter(|history| !history.is_empty()).or(asked)
}

/// The messages and items of a model's answer.
fn answered(answer: &Object) -> impl Iterator<Item = &Object> {
    let first = |key| answer.get(key).and_then(|answers: &Value| answers.get(0));
    let of_chat = first("choices").and_then(|choice| choice.get("message"));
    let of_google = first("candidates").and_then(|candidate| candidate.get("content"));
    let items = answer.get("output").and_then(Value::as_array).into_iter().flatten();
    items.chain(of_chat).chain(of_google).filter_map(Value::as_object)
}

/// Whether an object is a complete answer of an API.
fn is_answer(object: &Object) -> bool {
    let filled =
        |key: &&str| object.get(*key).and_then(Value::as_array).is_some_and(|l| !l.is_empty());
    let is_response = word(object, "object") == Some("response") && filled(&"output");
    let is_answer = is_response || ["choices", "candidates"].iter().any(filled);
    !is_item(object) && (is_answer || blocked(object).is_some())
}

/// Whether the only item of a list is not an item, but contains the items.
fn is_wrapper(object: &Object) -> bool {
    let lists = ["messages", "choices", "candidates", "contents", "samples"];
    let filled =
        |key: &&str| object.get(*key).and_then(Value::as_array).is_some_and(|l| !l.is_empty());
    !is_item(object)
        && (lists.iter().any(filled) || atif::is_trajectory(object) || inspect::is_sample(object))
}

/// In a list of bare calls, a name alone is a call without arguments. A list of names alone is such a list too, if its
/// objects have only the keys of calls.
fn name_calls(items: &mut [Value]) {
    let others = ["role", "type", "event", "content", "parts", "message"];
    let is_named = |object: &Object| {
        object.get("name").is_some_and(Value::is_string) && !fields::has(object, &others)
    };
    let is_call = |item: &Value| {
        item.as_object().is_some_and(|item| {
            is_named(item) && calls::has_arguments(item)
                || item.get("function").is_some_and(|inside| inside.get("name").is_some())
        })
    };
    let is_bare = |item: &Value| item.as_object().is_some_and(calls::is_name_alone);
    let are_bare = items.iter().all(is_bare);
    if !are_bare && !items.iter().any(is_call) {
        return;
    }
    for item in items.iter_mut().filter_map(Value::as_object_mut) {
        if (are_bare || is_named(item)) && !calls::has_arguments(item) {
            item.insert("arguments".to_owned(), Value::Null);
        }
    }
}

fn read_spans(builder: &mut Builder, value: Value) -> Result<(), TraceError> {
    let mut found = Vec::new();
    spans::collect(value, None, &mut found);
    if found.len() > STEP_LIMIT {
        builder.overflow = true;
        return Ok(());
    }
    let names: Vec<_> =
        found.iter().take(3).map(|span| excerpt(&span.name, 40).into_owned()).collect();
    let count = found.len();
    let understood = genai::read_spans(builder, found);
    builder.understood += understood;
    if understood == 0 && count > 0 {
        let what = "none of its spans says by attributes such as `gen_ai.operation.name` that it is a \
                    model's, a tool's or an agent's; the first are called";
        return Err(TraceError::unknown(&format!("{what} {}", names.join(", "))));
    }
    Ok(())
}

fn read_object(
    builder: &mut Builder,
    mut object: Object,
    wrappers: usize,
) -> Result<(), TraceError> {
    if let Some(calls) = live_calls(&mut object) {
        return read_list(builder, calls, 0);
    }
    converse::as_choice(&mut object);
    let is_one = is_item(&object);
    if !is_one {
        outcome::read(builder, &object);
    }
    if let Some(tools) = list(&mut object, &["tools"]).or_else(|| converse::tools(&mut object)) {
        builder.tools = tools;
    }
    if atif::is_trajectory(&object) {
        atif::read_trajectory(builder, object);
        return Ok(());
    }
    if inspect::is_sample(&object) {
        inspect::read_sample(builder, object);
        return Ok(());
    }
    if logs::is_record(&object) {
        return logs::read(builder, Value::Object(object));
    }
    if spans::is_span(&object) || object.get("spans").is_some_and(Value::is_array) {
        return read_spans(builder, Value::Object(object));
    }
    if let Some(samples) = object.get_mut("samples").and_then(Value::as_array_mut) {
        return match std::mem::take(samples).as_mut_slice() {
            [Value::Object(sample)] => {
                inspect::read_sample(builder, std::mem::take(sample));
                Ok(())
            }
            samples => {
                let count = samples.len();
                Err(TraceError::new(format!("is a log of {count} samples; a case is one of them")))
            }
        };
    }
    let Some(deeper) = wrappers.checked_sub(1) else {
        return Err(TraceError::unknown("it is wrapped too deep"));
    };
    if !is_one && has_answer(&object) {
        // A model's input is next to its answer.
        if let Some(asked) = asked(&mut object) {
            read_list(builder, asked, deeper)?;
        }
        if let Some(Value::Object(response)) = take(&mut object, &["response"]) {
            return read_object(builder, response, deeper);
        }
    }
    if is_chunk(&object) {
        return Err(TraceError::new(CHUNKS));
    }
    if let Some(reason) = blocked(&object) {
        builder.cut_off = Some(format!("the prompt was blocked: {}", excerpt(reason, 40)));
        let usage = fields::usage(object.get("usageMetadata"));
        builder.usage(builder.steps.len(), usage);
        return Ok(());
    }
    if let Some(answers) = list(&mut object, &["choices", "candidates"]) {
        return read_answers(builder, &object, answers);
    }
    match inner_list(&object) {
        Some(key) if !is_one => {
            let beside = beside::calls(&object, key);
            // The Responses API and OpenAI's agents SDK keep the input next to the answer.
            if matches!(key, "output" | "new_items")
                && let Some(asked) = list(&mut object, &["input"])
            {
                read_list(builder, asked, deeper)?;
            }
            builder.tally.whole(total_usage(&object));
            let usage = fields::usage(object.get("usage"));
            let first = builder.steps.len();
            let inside = object.get_mut(key).map(Value::take).unwrap_or_default();
            let read = read_value(builder, inside, deeper);
            let cut = fields::finish_reason(&object).and_then(fields::cut_off);
            builder.cut_off = cut.or(builder.cut_off.take());
            if key == "output" {
                builder.usage(first, usage);
            } else {
                builder.tally.around(usage);
            }
            read?;
            beside::check(builder, key, beside)
        }
        _ => match if is_one { None } else { list(&mut object, &["input"]) } {
            // A request of the Responses API, without an answer.
            Some(asked) => read_list(builder, asked, deeper),
            None => read_list(builder, vec![Value::Object(object)], 0),
        },
    }
}

/// The calls of an answer of Google's Live API.
fn live_calls(object: &mut Object) -> Option<Vec<Value>> {
    match object.get_mut("toolCall")?.get_mut("functionCalls")?.take() {
        Value::Array(calls) => Some(calls),
        _ => None,
    }
}

/// Reads an answer of OpenAI's chat or Google's models: the first of the alternatives.
fn read_answers(
    builder: &mut Builder,
    object: &Object,
    answers: Vec<Value>,
) -> Result<(), TraceError> {
    let usage = ["usage", "usageMetadata"].iter().find_map(|key| fields::usage(object.get(*key)));
    let first = builder.steps.len();
    match answers.into_iter().next() {
        Some(Value::Object(answer)) => read_answer(builder, answer)?,
        Some(other) => return Err(no_answer(&format!("is {}", kind(&other)))),
        None => {}
    }
    builder.usage(first, usage);
    Ok(())
}

fn read_answer(builder: &mut Builder, mut answer: Object) -> Result<(), TraceError> {
    let reasons = ["finish_reason", "finishReason"];
    let reason = reasons.iter().find_map(|key| word(&answer, key)).map(str::to_owned);
    let is_filled = |message: &Value| message.as_object().is_none_or(|fields| !fields.is_empty());
    let mut message = take(&mut answer, &["message", "content"]).filter(is_filled);
    if let (Some(Value::Object(message)), Some(reason)) = (&mut message, &reason) {
        message.entry("finish_reason").or_insert(reason.as_str().into());
    }
    match (message, reason) {
        (Some(message), _) => read_list(builder, vec![message], 0),
        // A blocked answer has no content, or an empty one.
        (None, Some(reason)) => {
            builder.cut_off = fields::cut_off(&reason);
            Ok(())
        }
        (None, None) => Err(no_answer(&fields::keys(&answer))),
    }
}

fn no_answer(what: &str) -> TraceError {
    TraceError::unknown(&format!("what should be a model's answer {what}"))
}

/// Whether an object is a piece of an answer of OpenAI's chat.
fn is_chunk(object: &Object) -> bool {
    let is_piece = |choice: &Value| {
        choice.get("delta").is_some_and(Value::is_object)
            && choice.get("message").is_none_or(Value::is_null)
    };
    let choices = object.get("choices").and_then(Value::as_array);
    word(object, "object") == Some("chat.completion.chunk")
        || choices.is_some_and(|choices| choices.iter().any(is_piece))
}

/// Why Google's models did not get their input.
fn blocked(object: &Object) -> Option<&str> {
    let places = [("promptFeedback", "blockReason"), ("prompt_feedback", "block_reason")];
    places.iter().find_map(|(key, reason)| word(object.get(*key)?.as_object()?, reason))
}

/// The usage of the whole run, if what surrounds its steps states it.
fn total_usage(object: &Object) -> Option<Usage> {
    ["totalUsage", "total_usage"].iter().find_map(|key| fields::usage(object.get(*key)))
}

/// Whether an object has a model's answer, in one of the formats that may have a request next to it.
fn has_answer(object: &Object) -> bool {
    let lists = |object: &Object, keys: &[&str]| {
        keys.iter().any(|key| object.get(*key).is_some_and(Value::is_array))
    };
    lists(object, &["choices", "candidates"])
        || blocked(object).is_some()
        || object.get("response").and_then(Value::as_object).is_some_and(|response| {
            lists(object, &["messages", "contents", "input"])
                && (is_item(response)
                    || lists(response, &["choices", "candidates", "output", "messages"]))
        })
}

/// The key under which a wrapper has its steps: the first one with a list that is not empty, or else the first one with
/// an empty list.
fn inner_list(object: &Object) -> Option<&'static str> {
    let holds = |key: &&str| match object.get(*key) {
        Some(Value::Array(items)) => Some(!items.is_empty()),
        Some(Value::Object(_)) if matches!(*key, "trajectory" | "trace") => Some(true),
        _ => None,
    };
    let filled = LISTS.into_iter().find(|key| holds(key) == Some(true));
    // If another list has items, the empty one is not where the steps are.
    let is_empty =
        || !object.iter().any(|(key, value)| is_filled(value) && !BESIDE.contains(&key.as_str()));
    filled.or_else(|| LISTS.into_iter().find(|key| holds(key).is_some() && is_empty()))
}

/// Keys of lists of objects next to steps.
const BESIDE: [&str; 6] =
    ["scores", "warnings", "sources", "files", "attachments", "tool_definitions"];

fn is_filled(value: &Value) -> bool {
    value.as_array().is_some_and(|found| found.iter().any(Value::is_object))
}

/// The list of step dictionaries in a document: the document itself, or under one of the keys that wrap such lists.
pub(super) fn raw_steps(document: &Value) -> Option<&[Value]> {
    let mut here = document;
    for _ in 0..=WRAPPERS {
        match here {
            Value::Array(items) => return Some(items),
            Value::Object(object) => {
                here = LISTS.iter().find_map(|key| {
                    object.get(*key).filter(|inside| inside.is_array() || inside.is_object())
                })?;
            }
            _ => return None,
        }
    }
    None
}
