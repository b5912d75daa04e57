//! parked: 1 if the run waits because it asked a person. It does not check what it waits for; see event for single
//! requests.
//!
//! The rule is niceeval's `parked`.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Negate, Score, ScoreError, Scorer, Severity,
    excerpt, schemars,
};
use scorebox_sdk_traces::{StepKind, Trace};
use serde::Deserialize;

/// Scores 1 if the run waits for a person, else 0.
///
/// A run waits if the trace says so (`status: waiting`), or if the last thing that happened in it
/// is a question: `input.requested` in niceeval's events, an approval request of the Responses API
/// or the AI SDK, an unanswered question of Claude Code or Codex. Thinking and compaction after it
/// do not matter. Equals niceeval's `parked`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Parked {
    #[serde(default)]
    negate: Negate,
}

impl Scorer for Parked {
    type Config = Self;

    const INFO: Info = Info::new("parked", "Parked", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE)
        .severity(Severity::Gate)
        .threshold(1.0);

    fn new(config: Self) -> Result<Self, ConfigError> {
        Ok(config)
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::of(case)?;
        let parked = trace.is_parked();
        let asked = trace.steps().iter().rev().find_map(|step| match &step.kind {
            StepKind::InputRequest(request) => {
                Some(request.prompt.as_deref().or(request.action.as_deref()).unwrap_or(""))
            }
            _ => None,
        });
        let reason = match (parked, asked) {
            (true, Some(asked)) if !asked.is_empty() => {
                format!("the run waits for a person: {}", excerpt(asked, 120))
            }
            (true, _) => "the run waits for a person".to_owned(),
            (false, Some(_)) => "the run asked a person and continued".to_owned(),
            (false, None) => "the run never asked a person".to_owned(),
        };
        Ok(self.negate.pass(parked).reason(reason))
    }
}

scorebox_sdk::export!(Parked);

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn score_with(config: Value, trace: Value) -> Score {
        let scorer: Parked = scorebox_sdk::configure(config).unwrap();
        scorer.score(&Case::new(json!("done")).with_trace(trace)).unwrap()
    }

    fn score(trace: Value) -> Score {
        score_with(json!({}), trace)
    }

    #[test]
    fn asking_last_is_waiting() {
        let asks = json!({"type": "input.requested", "request": {"prompt": "Pay 20 dollars?"}});
        let says = json!({"type": "message", "role": "assistant", "text": "Hm"});
        let thinks = json!({"type": "thinking", "text": "…"});
        let waits = score(json!([says, asks, thinks]));
        assert_eq!(waits.score, Some(1.0));
        let reason = "the run waits for a person: Pay 20 dollars?";
        assert_eq!(waits.reason.as_deref(), Some(reason));
        let went_on = score(json!([asks, says]));
        assert_eq!(went_on.score, Some(0.0));
        assert_eq!(went_on.reason.as_deref(), Some("the run asked a person and continued"));
        assert_eq!(score(json!([says])).reason.as_deref(), Some("the run never asked a person"));
    }

    #[test]
    fn the_trace_may_say_so() {
        let trace = json!({"status": "waiting", "events": [{"type": "thinking", "text": "…"}]});
        assert_eq!(score(trace.clone()).score, Some(1.0));
        assert_eq!(score_with(json!({"negate": true}), trace).score, Some(0.0));
    }

    #[test]
    fn a_call_that_needs_leave_waits() {
        let trace =
            json!([{"type": "mcp_approval_request", "id": "1", "name": "pay", "arguments": "{}"}]);
        assert_eq!(score(trace).reason.as_deref(), Some("the run waits for a person: pay"));
    }
}
