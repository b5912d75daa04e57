//! succeeded: 1 if the run completed, with no failed action and no open question to a person. It does not check whether
//! what the run did is right.
//!
//! The rule is niceeval's `succeeded`.

use scorebox_sdk::{
    Case, Checks, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, Severity,
    excerpt, schemars,
};
use scorebox_sdk_traces::{Outcome, Status, StepKind, Trace};
use serde::Deserialize;

/// Scores 1 if the run succeeded: it did not break off, no tool call and no sub-agent failed, and
/// it is not waiting for a person; else 0.
///
/// A run broke off if the trace says so (a status, an error beside the steps, a last answer that was cut off or
/// blocked), or if it ends with an error. One whose status says that it has not ended did not complete, and a status
/// that is not known is an error. A call failed if the trace says so or, if its format does not mark failures, its
/// result does (see the scorer `no-failed-actions`). Equals niceeval's `succeeded` as documented; niceeval's code
/// ignores failed calls, which `allowFailedActions` does here.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Succeeded {
    /// Allows calls to fail as long as the run completes.
    #[serde(default)]
    allow_failed_actions: bool,
}

impl Scorer for Succeeded {
    type Config = Self;

    const INFO: Info = Info::new("succeeded", "Succeeded", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE)
        .severity(Severity::Gate)
        .threshold(1.0);

    fn new(config: Self) -> Result<Self, ConfigError> {
        Ok(config)
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::of(case)?;
        if let Some(Outcome::Unknown(word)) = trace.outcome() {
            let part = if case.trace().is_some() { "trace" } else { "output" };
            return Err(ScoreError::invalid_input(format!(
                "`{part}` has the status `{word}`, which does not say whether the run succeeded; write `completed`, \
                 `failed`, `waiting` or `running` in its place, or leave it out"
            )));
        }
        let mut checks = Checks::default();
        let (whole, reason) = match broke_off(&trace) {
            None => (true, "the run completed".to_owned()),
            Some(why) => (false, why),
        };
        checks.add("completed", whole, reason);
        if !self.allow_failed_actions {
            let failed = failed_action(&trace);
            let reason = match &failed {
                None => "no action failed".to_owned(),
                Some(name) => format!("`{}` failed", excerpt(name, 80)),
            };
            checks.add("no failed action", failed.is_none(), reason);
        }
        let parked = trace.is_parked();
        let waits = if parked { "the run waits for a person" } else { "no question is open" };
        checks.add("no open question", !parked, waits);
        let holds = checks.fraction() == 1.0;
        let mut score = checks.into_score();
        score.score = Some(if holds { 1.0 } else { 0.0 });
        Ok(score)
    }
}

/// Why the run did not complete, if it did not.
fn broke_off(trace: &Trace) -> Option<String> {
    let why = match (trace.outcome(), trace.steps().last().map(|step| &step.kind)) {
        (Some(Outcome::Unfinished(word)), _) => {
            return Some(format!("the run has not ended: its status is `{word}`"));
        }
        (Some(Outcome::Failed(why)), _) => why.as_deref().unwrap_or("failed"),
        (None, Some(StepKind::Error { message })) => message,
        _ => return None,
    };
    Some(format!("the run broke off: {}", excerpt(why, 120)))
}

fn failed_action(trace: &Trace) -> Option<String> {
    let mut calls = trace.tool_calls().chain(trace.orphan_results());
    let tool = calls.find(|call| call.status() == Status::Failed);
    let agent = trace.sub_agents().find(|call| call.status == Status::Failed);
    tool.map(|call| call.name.clone()).or_else(|| Some(agent?.name.clone()))
}

scorebox_sdk::export!(Succeeded);

#[cfg(test)]
mod tests;
