//! Checks the values that are not passed on as JSON: ids, counts, latency and usage. `line` finds them in a line.

use super::{
    fault::Fault,
    key::Key,
    line::Slots,
    members::{Stopped, each_member},
    reasons::{error, is_no, string},
};
use crate::{contract::Usage, workspace::MAX_FOLDER_BYTES};

/// The longest id of a case or a node, in bytes of UTF-8.
pub const MAX_ID_BYTES: usize = 512;

/// The greatest iteration or attempt.
pub const MAX_REPEAT: u32 = 1 << 31;

const EXPECTED_ID: &str = "a string or an integer of 1 to 512 bytes, without control characters";
const EXPECTED_NODE_ID: &str = "a string of 1 to 512 bytes, without control characters";
const EXPECTED_WORKSPACE: &str =
    "a folder's name: a string of 1 to 4096 bytes, without control characters";
const EXPECTED_REPEAT: &str = "an integer from 0 to 2147483648";
const EXPECTED_SKIP: &str =
    "true, false, or the reason: a string of up to 512 bytes, without control characters";
const EXPECTED_AMOUNT: &str = "a finite number of 0 or more";
const EXPECTED_TOKENS: &str = "an integer from 0 to 18446744073709551615";

/// The parsed values of a case.
pub(super) struct Parsed {
    pub id: Option<Box<str>>,
    pub node_id: Option<Box<str>>,
    pub workspace: Option<Box<str>>,
    pub iteration: u32,
    pub attempt: u32,
    pub skip: Option<Box<str>>,
    pub error: Option<Box<str>>,
    pub latency_ms: Option<f64>,
    pub usage: Option<Usage>,
}

/// Parses the values of `line` that are not passed on as JSON.
pub(super) fn check(line: &str, slots: &Slots) -> Result<Parsed, Fault> {
    let get = |key| slots.get(line, key);
    let repeat = |key: Key| match get(key) {
        Some(raw) => integer(raw)
            .and_then(|number| u32::try_from(number).ok())
            .filter(|n| *n <= MAX_REPEAT)
            .ok_or_else(|| Fault::field(line, raw, key.name(), EXPECTED_REPEAT)),
        None => Ok(0),
    };
    let error = get(Key::Error).and_then(error);
    let skip = match get(Key::Skip) {
        Some(raw) => skip(line, raw)?,
        None => None,
    };
    Ok(Parsed {
        id: get(Key::Id).map(|raw| id(line, raw)).transpose()?,
        node_id: get(Key::NodeId).map(|raw| node_id(line, raw)).transpose()?,
        workspace: get(Key::Workspace).map(|raw| workspace(line, raw)).transpose()?,
        iteration: repeat(Key::Iteration)?,
        attempt: repeat(Key::Attempt)?,
        // A failed case was not skipped on purpose.
        skip: skip.filter(|_| error.is_none()),
        error,
        latency_ms: get(Key::LatencyMs)
            .map(|raw| amount(line, raw, Key::LatencyMs.name()))
            .transpose()?,
        usage: get(Key::Usage).map(|raw| usage(line, raw)).transpose()?,
    })
}

/// The id in `raw`: a string's content, or an integer's digits.
fn id(line: &str, raw: &str) -> Result<Box<str>, Fault> {
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    let text = if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        Some(raw.into())
    } else {
        string(raw)
    };
    text.filter(|text| is_id(text))
        .ok_or_else(|| Fault::field(line, raw, Key::Id.name(), EXPECTED_ID))
}

/// The node id in `raw`.
fn node_id(line: &str, raw: &str) -> Result<Box<str>, Fault> {
    string(raw)
        .filter(|text| is_id(text))
        .ok_or_else(|| Fault::field(line, raw, Key::NodeId.name(), EXPECTED_NODE_ID))
}

/// The folder's name in `raw`.
fn workspace(line: &str, raw: &str) -> Result<Box<str>, Fault> {
    let is_name = |name: &str| {
        (1..=MAX_FOLDER_BYTES).contains(&name.len()) && !name.chars().any(char::is_control)
    };
    string(raw)
        .filter(|name| is_name(name))
        .ok_or_else(|| Fault::field(line, raw, Key::Workspace.name(), EXPECTED_WORKSPACE))
}

/// Why the case is skipped, empty if no reason is given; `None` if it is not skipped.
fn skip(line: &str, raw: &str) -> Result<Option<Box<str>>, Fault> {
    match raw {
        "true" => Ok(Some("".into())),
        "false" => Ok(None),
        _ => string(raw)
            .filter(|why| why.len() <= MAX_ID_BYTES && !why.chars().any(char::is_control))
            .map(|why| if is_no(&why) { None } else { Some(why) })
            .ok_or_else(|| Fault::field(line, raw, Key::Skip.name(), EXPECTED_SKIP)),
    }
}

/// Whether `text` can name a case in a table, a file and a message.
fn is_id(text: &str) -> bool {
    (1..=MAX_ID_BYTES).contains(&text.len()) && !text.chars().any(char::is_control)
}

/// The number in the JSON value `raw`, if it is written as a whole number from 0 to 2^64 - 1.
fn integer(raw: &str) -> Option<u64> {
    raw.parse().ok()
}

/// The number in `raw`. Rust reads all of JSON's numbers and rounds them correctly; other forms that Rust reads (`inf`)
/// do not start with a digit.
fn amount(line: &str, raw: &str, key: &'static str) -> Result<f64, Fault> {
    let number = raw.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    let parsed = if number { raw.parse().ok() } else { None };
    parsed
        .filter(|amount: &f64| amount.is_finite() && *amount >= 0.0)
        // Adding 0 makes `-0` an ordinary 0.
        .map(|amount| amount + 0.0)
        .ok_or_else(|| Fault::field(line, raw, key, EXPECTED_AMOUNT))
}

/// One number of a usage object: its name in messages and its spellings, strongest first.
struct Counter {
    name: &'static str,
    spellings: &'static [&'static str],
}

const COUNTERS: [Counter; 4] = [
    Counter {
        name: "usage.inputTokens",
        spellings: &["inputTokens", "input_tokens", "prompt_tokens", "promptTokens"],
    },
    Counter {
        name: "usage.outputTokens",
        spellings: &["outputTokens", "output_tokens", "completion_tokens", "completionTokens"],
    },
    Counter { name: "usage.totalTokens", spellings: &["totalTokens", "total_tokens"] },
    Counter { name: "usage.costUsd", spellings: &["costUsd", "cost_usd", "costUSD"] },
];

/// The spellings of the counter in a usage that has this spelling, the strongest first; empty if no counter has it.
pub(super) fn spellings_of_counter(spelling: &str) -> &'static [&'static str] {
    let counter = COUNTERS.iter().find(|counter| counter.spellings.contains(&spelling));
    counter.map_or(&[], |counter| counter.spellings)
}

/// The usage in `raw`. Unknown keys are ignored.
fn usage(line: &str, raw: &str) -> Result<Usage, Fault> {
    if !raw.starts_with('{') {
        return Err(Fault::field(line, raw, Key::Usage.name(), "an object"));
    }
    let [input, output, total, cost] = counters(line, raw)?;
    Ok(Usage {
        input_tokens: tokens(line, input, &COUNTERS[0])?,
        output_tokens: tokens(line, output, &COUNTERS[1])?,
        total_tokens: tokens(line, total, &COUNTERS[2])?,
        cost_usd: cost.map(|raw| amount(line, raw, COUNTERS[3].name)).transpose()?,
    })
}

/// The usage in a JSON text; `None` if it is not valid.
#[cfg(feature = "store")]
pub(crate) fn usage_of(json: &str) -> Option<Usage> {
    usage(json, json).ok()
}

/// The raw value of each counter in the object `raw`; `null` does not count.
fn counters<'t>(line: &str, raw: &'t str) -> Result<[Option<&'t str>; 4], Fault> {
    let mut ranked: [[Option<&str>; 4]; 4] = [[None; 4]; 4];
    each_member(raw, |key, value| {
        for (counter, values) in COUNTERS.iter().zip(&mut ranked) {
            let rank = counter.spellings.iter().position(|spelling| *spelling == key);
            let Some(slot) = rank.and_then(|rank| values.get_mut(rank)) else { continue };
            if slot.replace(value).is_some() {
                return Err(Fault::duplicate(line, value, &key));
            }
        }
        Ok(())
    })
    .map_err(|stopped| match stopped {
        // It is JSON, but one of its keys is not Unicode.
        Stopped::Json(error) => Fault::json(raw, &error).within(line, raw),
        Stopped::Caller(fault) => fault,
    })?;
    Ok(ranked.map(|values| values.into_iter().flatten().find(|value| *value != "null")))
}

/// The count of tokens in `raw`.
fn tokens(line: &str, raw: Option<&str>, counter: &Counter) -> Result<Option<u64>, Fault> {
    raw.map(|raw| {
        integer(raw).ok_or_else(|| Fault::field(line, raw, counter.name, EXPECTED_TOKENS))
    })
    .transpose()
}
