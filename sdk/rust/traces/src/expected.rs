//! Reads the tool calls that a case should have. Comparing them is left to the scorer.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

use crate::calls::{is_call, names_a_tool, read_call, states_arguments};
use crate::fields::{Object, has, word};
use crate::messages::langchain_role;
use crate::{Role, StepKind, ToolCall, Trace};
use crate::{part_types, spans};
use scorebox_sdk::{
    Case, ConfigError, Configured, ExpectedValue, ExpectedValues, ScoreError, equal, excerpt,
};

/// An expected call.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedCall {
    /// The tool.
    pub name: String,
    /// Its arguments; `None` if they do not matter.
    pub arguments: Option<Value>,
    /// Its result; `None` if it does not matter.
    pub result: Option<Value>,
}

/// An expected run.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ExpectedRun {
    /// The calls, in order.
    pub calls: Vec<ExpectedCall>,
    /// The messages and tool results that contain the calls, if whole messages are given and not only calls.
    pub turns: Option<Vec<ExpectedTurn>>,
}

/// An expected message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExpectedTurn {
    /// Its role.
    pub role: Role,
    /// Its calls: the range of them in [`ExpectedRun::calls`].
    pub calls: Range<usize>,
}

/// The expected calls: one list, or several lists of which the best match counts.
///
/// A list has `{name, arguments}` for each call, as in tau-bench, or only the names of the tools, whose arguments then
/// do not matter. `{name, args}`, OpenAI's tool calls (one, in a list or under `tool_calls`) and the other forms that
/// [`Trace`] reads are accepted too. It may also be a whole trace, such as a list of messages. A list of lists offers
/// several to choose from. `[]` says that no call is expected.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedCalls {
    alternatives: Vec<ExpectedRun>,
}

impl ExpectedCalls {
    /// The configured calls; `None` if neither key is set.
    ///
    /// # Errors
    /// A [`ConfigError`] if both keys are set, or if one cannot be read.
    pub fn configured(
        value: ExpectedValue,
        values: ExpectedValues,
    ) -> Result<Option<Self>, ConfigError> {
        let alternatives = match Configured::one_of(value, values)? {
            None => return Ok(None),
            Some(Configured::One(value)) => {
                vec![read_list(value).map_err(|error| ConfigError::new("value", error))?]
            }
            Some(Configured::Several(values)) => (values.into_iter().enumerate())
                .map(|(index, value)| {
                    let key = format!("values[{index}]");
                    read_list(value).map_err(|error| ConfigError::new(key, error))
                })
                .collect::<Result<_, _>>()?,
        };
        Ok(Some(ExpectedCalls { alternatives }))
    }

    /// The configured calls, or else those of the case's ground truth. `keys` are the configuration's keys that could
    /// replace it, worded so that they can follow "has no": "`names` or `value`".
    ///
    /// # Errors
    /// As [`from_case`](Self::from_case); if the case has no ground truth, the message names the keys.
    pub fn or_ground_truth<'a>(
        configured: &'a Option<Self>,
        keys: &str,
        case: &Case,
    ) -> Result<Cow<'a, Self>, ScoreError> {
        if let Some(expected) = configured {
            return Ok(Cow::Borrowed(expected));
        }
        case.require_ground_truth().map_err(|missing| missing.nor_configured(keys))?;
        Self::from_case(case).map(Cow::Owned)
    }

    /// From the case's ground truth.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if the case has none, or it cannot be read.
    pub fn from_case(case: &Case) -> Result<Self, ScoreError> {
        let truth = case.require_ground_truth()?;
        let of = |error: String| ScoreError::invalid_input(format!("`groundTruth` {error}"));
        let value = truth.value()?;
        let alternatives = match value {
            Value::Array(lists) if !lists.is_empty() && lists.iter().all(is_whole) => {
                lists.into_iter().map(read_list).collect::<Result<_, _>>().map_err(of)?
            }
            one => vec![read_list(one).map_err(of)?],
        };
        Ok(Self { alternatives })
    }

    /// The runs to choose from; at least one.
    #[must_use]
    pub fn alternatives(&self) -> &[ExpectedRun] {
        &self.alternatives
    }
}

/// Whether a value is by itself a whole list of calls, so that a list of such values is a choice.
pub(super) fn is_whole(value: &Value) -> bool {
    value.is_array() || value.get("messages").is_some_and(Value::is_array)
}

/// Keys of an object that contains only calls; tau-bench's tasks have `actions`.
const LISTS: [&str; 3] = ["tool_calls", "toolCalls", "actions"];

/// Keys of an object that contains calls inside messages or steps.
const WRAPPERS: [&str; 6] = ["role", "messages", "events", "steps", "trajectory", "spans"];

fn read_list(value: Value) -> Result<ExpectedRun, String> {
    match value {
        Value::String(name) if !name.trim_start().starts_with(['[', '{']) => {
            of_calls(vec![bare(name)])
        }
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(inside @ (Value::Array(_) | Value::Object(_))) => read_list(inside),
            _ => read_trace(Value::String(text)),
        },
        Value::Object(mut object) if !has(&object, &WRAPPERS) => {
            let list = LISTS.iter().find(|key| object.get(**key).is_some_and(Value::is_array));
            match list.and_then(|key| object.get_mut(*key)).map(Value::take) {
                Some(calls) => read_list(calls),
                None => match Value::Object(object) {
                    one if is_one_call(&one) => read_list(Value::Array(vec![one])),
                    other => read_trace(other),
                },
            }
        }
        Value::Array(items) if items.iter().all(is_bare) => {
            of_calls(items.into_iter().filter_map(read_bare).collect())
        }
        value => read_trace(value),
    }
}

/// A run with only these calls. A call without a name is refused, as in a trace, because no run could contain it.
fn of_calls(calls: Vec<ExpectedCall>) -> Result<ExpectedRun, String> {
    match calls.iter().any(|call| call.name.trim().is_empty()) {
        true => {
            Err("has a call with an empty name; name the tool, or leave the call out".to_owned())
        }
        false => Ok(ExpectedRun { calls, turns: None }),
    }
}

fn read_trace(value: Value) -> Result<ExpectedRun, String> {
    let shown = excerpt(&value.to_string(), 80).into_owned();
    let trace = Trace::read(value).map_err(|_| {
        let call = "each a name or {name, arguments}";
        format!("should be a list of calls, {call}; found {shown}")
    })?;
    Ok(from_trace(trace))
}

fn from_trace(trace: Trace) -> ExpectedRun {
    let mut start = 0;
    let turns = trace.turns.into_iter().map(|turn| {
        let calls = start..start + turn.calls.len();
        start = calls.end;
        ExpectedTurn { role: turn.role, calls }
    });
    let turns = turns.collect();
    let calls = trace.steps.into_iter().filter_map(|step| match step.kind {
        StepKind::ToolCall(call) if !call.is_orphan => Some(from_call(call, true)),
        _ => None,
    });
    ExpectedRun { calls: calls.collect(), turns: Some(turns) }
}

/// Whether an item is a name, or an object that is a call and nothing else.
fn is_bare(item: &Value) -> bool {
    match item {
        Value::String(_) => true,
        Value::Object(call) => is_bare_call(call),
        _ => false,
    }
}

/// Steps, spans and messages contain calls too, but say more about the run.
fn is_bare_call(call: &Object) -> bool {
    let of_a_run = ["role", "step", "thought", "observation", "attributes", "children", "messages"];
    let kind = word(call, "type");
    let names = match kind {
        Some(kind) if part_types::is_result(kind) => false,
        Some(kind) if part_types::is_call(kind) => is_call(call),
        _ => word(call, "name").is_some() || names_a_tool(call) || names_in_part(call),
    };
    names && !has(call, &of_a_run) && langchain_role(call).is_none() && !spans::is_span(call)
}

/// Whether a call is given in place of a list of one. A name with other keys could be anything's name.
fn is_one_call(value: &Value) -> bool {
    let is_call = |call: &Object| names_a_tool(call) || names_in_part(call) || call.len() == 1;
    is_bare(value) && value.as_object().is_some_and(is_call)
}

/// Whether a part without a type is a call, as in Google's and Bedrock's formats.
fn names_in_part(part: &Object) -> bool {
    let keys = ["functionCall", "function_call", "toolUse", "tool_call"];
    has(part, &keys) && is_call(part)
}

fn read_bare(item: Value) -> Option<ExpectedCall> {
    match item {
        Value::String(name) => Some(bare(name)),
        Value::Object(call) => {
            let stated = states_arguments(&call);
            read_call(call).map(|call| from_call(call, stated))
        }
        _ => None,
    }
}

fn bare(name: String) -> ExpectedCall {
    ExpectedCall { name, arguments: None, result: None }
}

fn from_call(call: ToolCall, stated: bool) -> ExpectedCall {
    let arguments = match call.arguments {
        Value::Null => Value::Object(serde_json::Map::new()),
        arguments => arguments,
    };
    ExpectedCall { name: call.name, arguments: stated.then_some(arguments), result: call.result }
}

impl ExpectedCall {
    /// Whether a call matches: the same tool and, unless they do not matter, equal arguments.
    #[must_use]
    pub fn is(&self, name: &str, arguments: &Value) -> bool {
        self.name == name && self.arguments.as_ref().is_none_or(|wanted| equal(wanted, arguments))
    }
}
