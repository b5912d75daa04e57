//! Decides whether two calls in spans are one: that of a tool's client and that of its server, or a model's request and
//! its execution. It reads no span.

use scorebox_sdk::equal;

use crate::builder::Builder;
use crate::calls::has_no_arguments;
use crate::step::{Status, StepKind, ToolCall};

/// How many executed calls a model's call is compared with.
const COMPARED: usize = 128;

/// A call in a span, as far as it is known before it becomes a step.
#[derive(Debug, Default)]
pub(super) struct Reported {
    pub call: ToolCall,
    /// Whether its format writes each call once, so that a tool inside itself called itself.
    pub once: bool,
    /// Whether a model was called between it and the enclosing call.
    pub thought: bool,
}

impl Reported {
    /// Whether it may be the same call as the enclosing one, which a client and its server both report. Their arguments
    /// are not compared.
    pub(super) fn may_be(&self, around: &ToolCall) -> bool {
        let id = self.call.id.as_deref();
        self.call.name == around.name
            && match id {
                Some(_) => id == around.id.as_deref(),
                None => !self.once && !self.thought,
            }
    }

    /// Whether nothing shows that it differs from the enclosing call, which it may be the same as.
    pub(super) fn is(&self, around: &ToolCall) -> bool {
        let call = &self.call;
        let failed = |call: &ToolCall| call.stated_status == Status::Failed;
        let results = || call.result.as_ref().zip(around.result.as_ref());
        call.id.is_some()
            || (equal(&call.arguments, &around.arguments)
                || has_no_arguments(call)
                || has_no_arguments(around))
                && (!failed(call) || failed(around))
                && (failed(around) || results().is_none_or(|(one, other)| equal(one, other)))
    }
}

/// Adds the arguments to a call if only the same call elsewhere has them.
pub(super) fn complete(call: &mut ToolCall, other: ToolCall) {
    if has_no_arguments(call) && !has_no_arguments(&other) {
        call.arguments = other.arguments;
        call.arguments_error = other.arguments_error;
    }
}

/// The first of these steps that is the execution of a model's call: the same tool and arguments, if not both have ids.
pub(super) fn done(
    builder: &Builder,
    steps: impl Iterator<Item = usize>,
    asked: &ToolCall,
) -> Option<usize> {
    let is_it = |step: &usize| match builder.steps.get(*step).map(|step| &step.kind) {
        Some(StepKind::ToolCall(call)) => {
            call.name == asked.name
                && (call.id.is_none() || asked.id.is_none())
                && (has_no_arguments(call)
                    || asked.arguments.is_null()
                    || equal(&call.arguments, &asked.arguments))
        }
        _ => false,
    };
    steps.take(COMPARED).find(is_it)
}
