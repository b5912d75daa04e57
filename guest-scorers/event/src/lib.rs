//! event: 1 where an event happened in the run. It is the low-level way to ask; for tools, skills
//! and agents there are scorers that know them.
//!
//! The rule is niceeval's `event`.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, Severity, schemars,
};
use scorebox_sdk_traces::{Count, TextOrRegex, TextPattern, Trace};
use serde::Deserialize;
use serde_json::json;

/// Scores 1 when events of a type happened, as many as `count`, `min` and `max` say (at least one),
/// else 0.
///
/// A type is the common one (`message`, `thinking`, `action.called`, `action.result`,
/// `subagent.called`, `subagent.completed`, `skill.loaded`, `input.requested`, `input.answered`,
/// `compaction`, `error`), which every kind of trace is read into, or what the trace itself calls
/// it (`function_call`, `tool_use`, Inspect's `model` …). Equals niceeval's `event`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// The type of the events.
    r#type: TextOrRegex,
    /// How many there have to be, exactly.
    #[serde(default)]
    count: Option<usize>,
    /// The fewest; 1 where not set.
    #[serde(default)]
    min: Option<usize>,
    /// The most.
    #[serde(default)]
    max: Option<usize>,
    #[serde(skip)]
    wanted: Option<(TextPattern, Count)>,
}

impl Scorer for Event {
    const INFO: Info = Info::new("event", "Event", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE)
        .severity(Severity::Gate)
        .threshold(1.0);

    fn prepare(&mut self) -> Result<(), ConfigError> {
        let often = Count::from_config(self.count, self.min, self.max, 1)?;
        self.wanted = Some((TextPattern::compile("type", &self.r#type)?, often));
        Ok(())
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let Some((name, often)) = &self.wanted else {
            return Err(ScoreError::failed("the scorer was not prepared"));
        };
        let trace = Trace::events_of(case)?;
        let number = trace.events().iter().filter(|event| event.is_named(name)).count();
        let reason = format!("{number} × {name}, wanted: {often}");
        let meta = json!({ "events": number, "all": trace.events().len() });
        Ok(Score::pass(often.holds(number)).reason(reason).meta(meta))
    }
}

scorebox_sdk::export!(Event);

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn score(config: Value, trace: Value) -> Score {
        let scorer: Event = scorebox_sdk::configure(config).unwrap();
        scorer.score(&Case::new(json!("done")).with_trace(trace)).unwrap()
    }

    fn asked() -> Value {
        json!([
            {"type": "message", "role": "user", "text": "Go"},
            {"type": "input.requested", "request": {}},
        ])
    }

    #[test]
    fn one_event_is_enough_unless_a_number_is_wanted() {
        assert_eq!(score(json!({"type": "input.requested"}), asked()).score, Some(1.0));
        let config = json!({"type": "input.requested", "count": 1});
        assert_eq!(score(config, asked()).score, Some(1.0));
        let two = score(json!({"type": "input.requested", "count": 2}), asked());
        assert_eq!(two.score, Some(0.0));
        assert_eq!(two.reason.as_deref(), Some("1 × `input.requested`, wanted: exactly 2"));
        assert_eq!(score(json!({"type": "error"}), asked()).score, Some(0.0));
    }

    #[test]
    fn every_trace_has_the_common_events_and_its_own() {
        let trace = json!([
            {"type": "function_call", "call_id": "1", "name": "w", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "1", "output": "x"},
        ]);
        for name in ["action.called", "action.result", "function_call", "function_call_output"] {
            assert_eq!(score(json!({ "type": name, "count": 1 }), trace.clone()).score, Some(1.0));
        }
    }

    #[test]
    fn events_of_types_that_nobody_knows_will_do() {
        let trace = json!([{"type": "saved", "n": 1}, {"event": "saved"}]);
        assert_eq!(score(json!({"type": "saved", "count": 2}), trace.clone()).score, Some(1.0));
        assert_eq!(score(json!({"type": {"regex": "^sav"}}), trace).score, Some(1.0));
    }
}
