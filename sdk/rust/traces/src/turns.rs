//! Reads a list of turns, each with its own events, status and tokens, as in niceeval's sessions. What the events mean
//! is decided elsewhere.

use serde_json::Value;

use crate::TraceError;
use crate::builder::Builder;
use crate::fields::{self, Object, has, take};
use crate::{inspect, item, spans};

/// Whether a list is one of turns.
pub(super) fn are_turns(items: &[Value]) -> bool {
    !items.is_empty() && items.iter().all(|item| item.as_object().is_some_and(is_turn))
}

fn is_turn(object: &Object) -> bool {
    object.get("events").is_some_and(Value::is_array)
        && has(object, &["status", "usage"])
        && !item::is_item(object)
        && !inspect::is_sample(object)
        && !spans::is_span(object)
}

/// Reads turns one after the other, each with `read_turn`. How the run ended is stated around them, or else in the last
/// turn that states it; their tokens are added up, unless the events of a turn state them.
pub(super) fn read(
    builder: &mut Builder,
    turns: Vec<Value>,
    read_turn: impl Fn(&mut Builder, Object) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    let around = builder.outcome.take();
    let mut last = None;
    for turn in turns {
        let Value::Object(mut turn) = turn else { continue };
        let first = builder.steps.len();
        let usage = fields::usage(take(&mut turn, &["usage"]).as_ref());
        read_turn(builder, turn)?;
        last = builder.outcome.take().or(last);
        let is_stated = |steps: &[crate::Step]| steps.iter().any(|step| step.usage.is_some());
        if !builder.steps.get(first..).is_some_and(is_stated) {
            builder.usage(first, usage);
        }
    }
    builder.outcome = around.or(last);
    Ok(())
}
