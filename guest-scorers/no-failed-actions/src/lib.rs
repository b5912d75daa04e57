//! no-failed-actions: 1 if no tool call and no sub-agent failed. For shell commands alone see
//! no-failed-commands; for the run as a whole, succeeded.
//!
//! The rule is niceeval's `noFailedActions`.

use std::borrow::Cow;

use scorebox_sdk::{
    Assertion, Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, Severity,
    excerpt, schemars,
};
use scorebox_sdk_traces::{Status, StepKind, SubAgentCall, ToolCall, Trace};
use serde::Deserialize;
use serde_json::json;

/// Scores 1 if no tool call, skill or sub-agent failed, else 0.
///
/// A call failed if the trace says so. If its format does not mark failures (OpenAI's chat
/// messages, for example), the result decides: an exit code other than 0 (a key, or `Exit code: 1` as
/// a text's first line), an object with an `error` that is not `false`, 0, `null` or empty, or a text
/// that begins with `Error:`, `Error!`, a line of `Error` alone, `Error executing`, `Error calling`,
/// `Error invoking`, `Error running` (in any case; `Exception` likewise), `Traceback (most recent
/// call last)` or `An error occurred while running the tool`. `trustResults: false` relies on the trace
/// alone. A call that a person rejected is not a failure. Equals niceeval's `noFailedActions`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NoFailedActions {
    /// Infers failures from results if the trace's format does not mark them.
    #[serde(default = "yes")]
    trust_results: bool,
}

fn yes() -> bool {
    true
}

impl Scorer for NoFailedActions {
    type Config = Self;

    const INFO: Info =
        Info::new("no-failed-actions", "No Failed Actions", env!("CARGO_PKG_VERSION"))
            .reads(Fields::TRACE)
            .severity(Severity::Gate)
            .threshold(1.0);

    fn new(config: Self) -> Result<Self, ConfigError> {
        Ok(config)
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::of(case)?;
        let mut actions = 0;
        let mut failures = Vec::new();
        for step in trace.steps() {
            let (name, status, why) = match &step.kind {
                StepKind::ToolCall(call) => (
                    format!("`{}`", excerpt(&call.name, 80)),
                    self.status(call),
                    call.result_text(),
                ),
                // A sub-agent that a tool call stands for fails with that call, unless only the sub-agent failed.
                StepKind::SubAgent(call) if !call.is_root && self.is_an_action(&trace, call) => {
                    let why = call.error.as_deref().map(Cow::Borrowed);
                    (format!("agent `{}`", excerpt(&call.name, 80)), call.status, why)
                }
                _ => continue,
            };
            actions += 1;
            if status == Status::Failed {
                let why = why.map(|why| format!(": {}", excerpt(&why, 120)));
                failures.push((format!("{name} ({actions})"), why.unwrap_or_default()));
            }
        }
        let of = if actions == 1 { "1 action" } else { &format!("{actions} actions") };
        let reason = match failures.as_slice() {
            [] => format!("no action failed ({actions} in all)"),
            [(name, why)] => format!("1 of {of} failed, {name}{why}"),
            [(name, why), ..] => {
                format!("{} of {of} failed, first {name}{why}", failures.len())
            }
        };
        let failed = failures.len();
        let assertions = failures.into_iter().map(|(name, why)| {
            let reason = format!("failed{why}");
            Assertion::pass(format!("{name} does not fail"), false).reason(reason)
        });
        Ok(Score::pass(failed == 0)
            .reason(reason)
            .meta(json!({ "failed": failed, "actions": actions }))
            .assertions(assertions))
    }
}

impl NoFailedActions {
    /// Whether a sub-agent counts separately from the tool call that stands for it: because there is no such call, or
    /// because only the sub-agent failed.
    fn is_an_action(&self, trace: &Trace, agent: &SubAgentCall) -> bool {
        let by = agent.call.and_then(|step| trace.steps().get(step)).map(|step| &step.kind);
        match by {
            Some(StepKind::ToolCall(call)) => {
                agent.status == Status::Failed && self.status(call) != Status::Failed
            }
            _ => true,
        }
    }

    fn status(&self, call: &ToolCall) -> Status {
        if self.trust_results { call.status() } else { call.stated_status }
    }
}

scorebox_sdk::export!(NoFailedActions);

#[cfg(test)]
mod tests;
