//! Takes fields out of JSON objects, under the various names that formats give them. Which format an object has is
//! decided elsewhere.

use serde_json::{Map, Value};

use crate::names::{EXIT_CODES, whole};
use crate::step::{Status, ToolCall};
use scorebox_sdk::{Usage, excerpt};

pub(super) type Object = Map<String, Value>;

/// Keys under which wrappers have their steps.
pub(super) const LISTS: [&str; 19] = [
    "messages",
    "events",
    "trajectory",
    "traj",
    "steps",
    "trace",
    "spans",
    "items",
    "contents",
    "turns",
    "history",
    "conversation",
    "actions",
    "tool_calls",
    "toolCalls",
    "intermediate_steps",
    "transcript",
    "new_items",
    "output",
];

/// The value under the first of these keys that is present and not null.
#[inline(never)]
pub(super) fn take(object: &mut Object, keys: &[&str]) -> Option<Value> {
    let key = keys.iter().find(|key| object.get(**key).is_some_and(|value| !value.is_null()))?;
    object.get_mut(*key).map(Value::take)
}

/// The string under the first of these keys that has one.
#[inline(never)]
pub(super) fn text(object: &mut Object, keys: &[&str]) -> Option<String> {
    let key = keys.iter().find(|key| object.get(**key).is_some_and(Value::is_string))?;
    match object.get_mut(*key).map(Value::take) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// The name under the first of these keys that has one: a string that is not empty, or a number.
#[inline(never)]
pub(super) fn id(object: &mut Object, keys: &[&str]) -> Option<String> {
    match take(object, keys)? {
        Value::String(id) => (!id.is_empty()).then_some(id),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// The array under the first of these keys that has one.
#[inline(never)]
pub(super) fn list(object: &mut Object, keys: &[&str]) -> Option<Vec<Value>> {
    let key = keys.iter().find(|key| object.get(**key).is_some_and(Value::is_array))?;
    match object.get_mut(*key).map(Value::take) {
        Some(Value::Array(items)) => Some(items),
        _ => None,
    }
}

/// A string, without taking it.
#[inline(never)]
pub(super) fn word<'o>(object: &'o Object, key: &str) -> Option<&'o str> {
    object.get(key)?.as_str()
}

#[inline(never)]
pub(super) fn has(object: &Object, keys: &[&str]) -> bool {
    keys.iter().any(|key| object.contains_key(*key))
}

/// Describes an object for errors, by its first keys.
pub(super) fn keys(object: &Object) -> String {
    if object.is_empty() {
        return "is an object without keys".to_owned();
    }
    let keys: Vec<_> = object.keys().take(8).map(|key| format!("`{}`", excerpt(key, 32))).collect();
    let more = if object.len() > keys.len() { ", …" } else { "" };
    format!("is an object with the keys {}{more}", keys.join(", "))
}

/// Arguments as formats write them: an object, or the text of one.
#[inline(never)]
pub(super) fn arguments(call: &mut ToolCall, value: Option<Value>, must_be_json: bool) {
    let text = match value {
        None => return,
        Some(Value::String(text)) => text,
        Some(value) => {
            call.arguments = value;
            return;
        }
    };
    let trimmed = text.trim();
    // A call without arguments is often written with an empty text.
    if trimmed.is_empty() && must_be_json {
        return;
    }
    if must_be_json || trimmed.starts_with('{') {
        match serde_json::from_str(trimmed) {
            Ok(value) => {
                call.arguments = value;
                return;
            }
            Err(error) if must_be_json => {
                let error = error.to_string();
                let error = scorebox_sdk::plain_message(&error);
                call.arguments_error = Some(format!("the arguments are not JSON: {error}"));
            }
            Err(_) => {}
        }
    }
    call.arguments = Value::String(text);
}

/// The message of a field called `error`, if it states an error.
#[inline(never)]
pub(super) fn error_text(error: Option<Value>) -> Option<String> {
    match error? {
        Value::Null | Value::Bool(false) => None,
        Value::Bool(true) => Some("the call failed".to_owned()),
        Value::String(text) => (!text.is_empty()).then_some(text),
        Value::Object(mut object) => {
            let message = text(&mut object, &["message", "description", "detail"]);
            Some(message.unwrap_or_else(|| Value::Object(object).to_string()))
        }
        other => Some(other.to_string()),
    }
}

/// The status that a word means in many formats.
#[inline(never)]
pub(super) fn status(word: &str) -> Status {
    match word.to_ascii_lowercase().as_str() {
        "completed" | "complete" | "success" | "succeeded" | "ok" | "done" | "output-available" => {
            Status::Succeeded
        }
        "failed" | "failure" | "fail" | "error" | "errored" | "exception" | "timeout"
        | "timed_out" | "timedout" | "expired" | "cancelled" | "canceled" | "aborted"
        | "interrupted" | "killed" | "crashed" | "unsuccessful" | "output-error" => Status::Failed,
        "rejected" | "denied" | "declined" | "reject" | "output-denied" => Status::Rejected,
        _ => Status::Unknown,
    }
}

/// The word for why an answer, a message or a step ended; in LangChain's messages it is in the provider's metadata.
#[inline(never)]
pub(super) fn finish_reason(object: &Object) -> Option<&str> {
    let keys = ["stop_reason", "finish_reason", "finishReason", "stopReason", "done_reason"];
    let of = |object| keys.iter().find_map(|key| word(object, key));
    of(object).or_else(|| of(object.get("response_metadata")?.as_object()?))
}

/// The reason why an answer was cut off, from the word for why it ended; `None` if it is complete.
#[inline(never)]
pub(super) fn cut_off(word: &str) -> Option<String> {
    let cut = matches!(
        word.to_ascii_lowercase().as_str(),
        "length"
            | "max_tokens"
            | "max_output_tokens"
            | "model_length"
            | "model_context_window_exceeded"
            | "content_filter"
            | "content_filtered"
            | "guardrail_intervened"
            | "malformed_model_output"
            | "malformed_tool_use"
            | "refusal"
            | "safety"
            | "recitation"
            | "blocklist"
            | "prohibited_content"
            | "spii"
            | "malformed_function_call"
            | "unexpected_tool_call"
            | "too_many_tool_calls"
    );
    cut.then(|| format!("the answer was cut off: {}", excerpt(word, 40)))
}

/// How a call or a result ended, from the fields that many formats have for it: an error with its message, a status, an
/// exit code.
#[inline(never)]
pub(super) fn ending(object: &mut Object) -> (Status, Option<String>) {
    let flag = |object: &Object, key: &str| object.get(key).and_then(Value::as_bool);
    let kind = object.get("error").and_then(|error| error.get("type")).and_then(Value::as_str);
    let rejected = kind == Some("approval");
    let error = error_text(take(object, &["error", "errorText", "tool_error"]));
    let failed = ["is_error", "isError", "failed"].iter().find_map(|key| flag(object, key));
    let success = ["success", "ok"].iter().find_map(|key| flag(object, key));
    let word = ["status", "state"].iter().find_map(|key| word(object, key));
    let stated = word.map_or(Status::Unknown, status);
    let code = EXIT_CODES.iter().find_map(|key| whole(object.get(*key)?));
    let failure = error.is_some() || failed == Some(true) || success == Some(false);
    let status = match stated {
        _ if rejected => Status::Rejected,
        Status::Rejected => Status::Rejected,
        _ if failure || code.is_some_and(|code| code != 0) => Status::Failed,
        Status::Unknown if success.is_some() || failed.is_some() || code.is_some() => {
            Status::Succeeded
        }
        stated => stated,
    };
    (status, error)
}

/// Tokens and cost, under the names that formats have for them.
#[inline(never)]
pub(super) fn usage(value: Option<&Value>) -> Option<Usage> {
    let object = value?.as_object()?;
    let cached = |keys: &[&str], details: [&str; 3]| {
        let inside = |key: &&str| count(object.get(*key)?.as_object()?, &details);
        count(object, keys).or_else(|| INPUT_DETAILS.iter().find_map(inside))
    };
    let mut usage = Usage {
        input_tokens: count(object, &INPUT_TOKENS),
        output_tokens: count(object, &OUTPUT_TOKENS),
        total_tokens: count(object, &TOTAL_TOKENS),
        cost_usd: cost(object, &COSTS),
        cache_read_tokens: cached(
            &CACHE_READ_TOKENS,
            ["cached_tokens", "cache_read", "cacheReadTokens"],
        ),
        cache_write_tokens: cached(
            &CACHE_WRITE_TOKENS,
            ["cache_write_tokens", "cache_creation", "cacheWriteTokens"],
        )
        .max(written_by_lifetime(object)),
        cached_input_tokens: None,
    };
    add_beside(object, &mut usage);
    relate_cache(object, &mut usage);
    add_rest(&mut usage);
    (usage != Usage::default()).then_some(usage)
}

/// LangChain's count of Anthropic's writes to a cache, if it states them by lifetime but no total.
fn written_by_lifetime(object: &Object) -> Option<u64> {
    let details = object.get("input_token_details")?.as_object()?;
    let [short, long] = ["ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"]
        .map(|key| count(details, &[key]));
    short.or(long)?;
    Some(short.unwrap_or(0).saturating_add(long.unwrap_or(0)))
}

/// Adds tokens that Google counts separately from prompt and answer: those that the model's own tools returned, and its
/// thoughts. If the total leaves no room for them, they are already included.
fn add_beside(object: &Object, usage: &mut Usage) {
    let counted = |tokens: Option<u64>| tokens.unwrap_or(0);
    let sum = counted(usage.input_tokens).saturating_add(counted(usage.output_tokens));
    let mut room = usage.total_tokens.map_or(u64::MAX, |total| total.saturating_sub(sum));
    for (tokens, keys) in
        [(&mut usage.input_tokens, &TOOL_TOKENS), (&mut usage.output_tokens, &THOUGHT_TOKENS)]
    {
        if let Some(beside) = count(object, keys) {
            let beside = beside.min(room);
            room -= beside;
            *tokens = Some(counted(*tokens).saturating_add(beside));
        }
    }
}

/// Counts the part of the total that is beyond the prompt, the cache and the answer as thinking: xAI's models, and
/// Google's behind OpenAI's interface, include it in the total only.
fn add_rest(usage: &mut Usage) {
    let (Some(input), Some(total)) = (usage.input_tokens, usage.total_tokens) else { return };
    let within = usage.cached_input_tokens.unwrap_or(0);
    let beside = usage.cache_read_tokens.unwrap_or(0).saturating_sub(within);
    let rest = total.saturating_sub(input.saturating_add(beside));
    usage.output_tokens = usage.output_tokens.max(Some(rest));
}

/// Decides whether the input includes the tokens of a cache: it does for OpenAI, Google, LangChain, OpenTelemetry and
/// most others, but Anthropic, Bedrock, Inspect and niceeval count them separately.
fn relate_cache(object: &Object, usage: &mut Usage) {
    let Some(input) = usage.input_tokens else { return };
    let written = usage.cache_write_tokens.unwrap_or(0);
    let cached = written.saturating_add(usage.cache_read_tokens.unwrap_or(0));
    let sum = input.saturating_add(usage.output_tokens.unwrap_or(0));
    let is_sum = usage.total_tokens == Some(sum);
    // Libraries that count as OpenAI does keep Anthropic's names. Inspect's total includes everything; in older
    // versions, so did its input.
    let is_beside = has(object, &BESIDE_INPUT) && has(object, &["input_tokens", "inputTokens"])
        || has(object, &INSPECT_CACHE) && !is_sum;
    // More tokens than the input cannot be included in it, whatever their name.
    if is_beside || cached > input {
        usage.input_tokens = Some(input.saturating_add(written));
        if is_sum {
            usage.total_tokens = Some(sum.saturating_add(written));
        }
    } else {
        usage.cached_input_tokens = usage.cache_read_tokens;
    }
}

const INPUT_TOKENS: [&str; 7] = [
    "input_tokens",
    "prompt_tokens",
    "inputTokens",
    "promptTokens",
    "promptTokenCount",
    "prompt_token_count",
    "total_prompt_tokens",
];

const OUTPUT_TOKENS: [&str; 7] = [
    "output_tokens",
    "completion_tokens",
    "outputTokens",
    "completionTokens",
    "candidatesTokenCount",
    "candidates_token_count",
    "total_completion_tokens",
];

/// Keys of tokens that are not included in the prompt.
const TOOL_TOKENS: [&str; 2] = ["toolUsePromptTokenCount", "tool_use_prompt_token_count"];

/// Keys of tokens that are not included in the answer.
const THOUGHT_TOKENS: [&str; 2] = ["thoughtsTokenCount", "thoughts_token_count"];

const TOTAL_TOKENS: [&str; 4] =
    ["total_tokens", "totalTokens", "totalTokenCount", "total_token_count"];

const COSTS: [&str; 5] = ["cost_usd", "costUsd", "costUSD", "total_cost", "total_cost_usd"];

const CACHE_READ_TOKENS: [&str; 11] = [
    "cacheReadTokens",
    "cache_read_tokens",
    "cache_read_input_tokens",
    "cacheReadInputTokens",
    "cached_input_tokens",
    "cachedInputTokens",
    "input_tokens_cache_read",
    "cached_tokens",
    "total_cached_tokens",
    "cachedContentTokenCount",
    "cached_content_token_count",
];

const CACHE_WRITE_TOKENS: [&str; 7] = [
    "cacheCreationTokens",
    "cacheWriteTokens",
    "cache_write_tokens",
    "cache_creation_input_tokens",
    "cacheCreationInputTokens",
    "cacheWriteInputTokens",
    "input_tokens_cache_write",
];

/// Keys of formats that count the tokens of a cache separately from the input.
const BESIDE_INPUT: [&str; 8] = [
    "cache_read_input_tokens",
    "cacheReadInputTokens",
    "cacheReadTokens",
    "cache_creation_input_tokens",
    "cacheCreationInputTokens",
    "cacheCreationTokens",
    "cacheWriteInputTokens",
    "cacheWriteTokens",
];

const INSPECT_CACHE: [&str; 2] = ["input_tokens_cache_read", "input_tokens_cache_write"];

/// Keys of objects that say which part of the input is from a cache.
const INPUT_DETAILS: [&str; 4] =
    ["prompt_tokens_details", "input_tokens_details", "input_token_details", "inputTokenDetails"];

/// The whole number under the first of these keys that has one, or has it as text.
fn count(object: &Object, keys: &[&str]) -> Option<u64> {
    keys.iter().find_map(|key| {
        let number = object.get(*key)?;
        number.as_u64().or_else(|| number.as_str()?.parse().ok())
    })
}

/// The amount of money under the first of these keys that has one.
pub(super) fn cost(object: &Object, keys: &[&str]) -> Option<f64> {
    let amount = |key: &&str| object.get(*key)?.as_f64().filter(|cost| *cost >= 0.0);
    keys.iter().find_map(amount)
}

/// Whether an object has a list under one of the keys of wrappers.
pub(super) fn holds_list(object: &Object) -> bool {
    LISTS.iter().any(|key| object.get(*key).is_some_and(Value::is_array))
}

/// Whether a value has no content.
pub(super) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Object(found) => found.is_empty(),
        Value::Array(found) => found.is_empty(),
        found => found.is_null() || found.as_str() == Some(""),
    }
}

/// The kind of a value, for messages.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
