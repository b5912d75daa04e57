//! event: 1 if an event happened in the run. This is the low-level way to ask; for tools, skills and agents there are
//! specialised scorers.
//!
//! The rule is niceeval's `event`.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, Severity, excerpt,
    schemars,
};
use scorebox_sdk_traces::{Count, TextOrRegex, TextPattern, Trace};
use serde::Deserialize;
use serde_json::json;

/// The most types that `meta.types` lists.
const SHOWN: usize = 100;

/// Scores 1 if events of a type happened as often as `count`, `min` and `max` require (by default
/// at least once), else 0.
///
/// A type is the common one, which every kind of trace is mapped to (`message`, `thinking`, `action.called`,
/// `action.result`, `subagent.called`, `subagent.completed`, `skill.loaded`, `input.requested`, `input.answered`,
/// `compaction`, `error`), or the trace's own (`function_call`, `tool_use`, Inspect's `model` …), under which an item
/// counts once; `meta.types` lists those of the trace. Regular expressions have the syntax of regex-lite: `\d`, `\w`,
/// `\s`, `\b` and `(?i)` are ASCII only. Equals niceeval's `event`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The type of the events.
    r#type: TextOrRegex,
    /// The exact number of such events.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    count: Option<usize>,
    /// The minimum number; 1 by default.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    min: Option<usize>,
    /// The maximum number. For "at most", set `min` to 0 as well.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    max: Option<usize>,
}

/// The scorer, made from its [`Config`].
pub struct Event {
    name: TextPattern,
    often: Count,
}

impl Scorer for Event {
    type Config = Config;

    const INFO: Info = Info::new("event", "Event", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE)
        .severity(Severity::Gate)
        .threshold(1.0);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { r#type, count, min, max } = config;
        let often = Count::from_config(count, min, max, 1)?;
        Ok(Self { name: TextPattern::compile("type", &r#type)?, often })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let Self { name, often } = self;
        let trace = Trace::events_of(case)?;
        let number = trace.events().iter().filter(|event| event.is_named(name)).count();
        let mut reason = format!("{number} × {name}, wanted: {often}");
        if let Some(meant) = trace.meant_event(name) {
            reason.push_str(&format!("; did you mean `{meant}`?"));
        }
        let types = trace.event_types();
        let types: Vec<_> = types.iter().take(SHOWN).map(|name| excerpt(name, 80)).collect();
        let meta = json!({ "events": number, "all": trace.events().len(), "types": types });
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
    fn a_maximum_alone_does_not_mean_at_most_and_the_reason_says_so() {
        let at_most = score(json!({"type": "error", "max": 3, "min": 0}), asked());
        assert_eq!(at_most.score, Some(1.0));
        assert_eq!(at_most.reason.as_deref(), Some("0 × `error`, wanted: at most 3"));
        let none = score(json!({"type": "error", "max": 3}), asked());
        assert_eq!(none.score, Some(0.0));
        let reason = "0 × `error`, wanted: 1 to 3 (`min` is 1 unless you say otherwise)";
        assert_eq!(none.reason.as_deref(), Some(reason));
    }

    #[test]
    fn a_misspelt_type_is_pointed_out_and_meta_lists_those_of_the_trace() {
        let misspelt = score(json!({"type": "input.request", "count": 0}), asked());
        assert_eq!(misspelt.score, Some(1.0));
        let reason = "0 × `input.request`, wanted: exactly 0; did you mean `input.requested`?";
        assert_eq!(misspelt.reason.as_deref(), Some(reason));
        let types = json!(["input.requested", "message"]);
        assert_eq!(misspelt.meta_value().unwrap()["types"], types);
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
    fn a_call_that_loads_a_skill_is_one_call_and_one_skill() {
        let trace = json!([{"type": "action.called", "callId": "1", "name": "load_skill", "input": {"skill": "pdf"}}]);
        for name in ["action.called", "skill.loaded"] {
            assert_eq!(score(json!({ "type": name, "count": 1 }), trace.clone()).score, Some(1.0));
        }
    }

    #[test]
    fn events_of_unknown_types_count() {
        let trace = json!([{"type": "saved", "n": 1}, {"event": "saved"}]);
        assert_eq!(score(json!({"type": "saved", "count": 2}), trace.clone()).score, Some(1.0));
        assert_eq!(score(json!({"type": {"regex": "^sav"}}), trace).score, Some(1.0));
    }
}
