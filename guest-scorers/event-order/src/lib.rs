//! event-order: 1 if events happened in a given order. For the order of tools see tool-order.
//!
//! The rule is niceeval's `eventOrder`.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, Severity, schemars,
};
use scorebox_sdk_traces::{TextOrRegex, TextPattern, Trace};
use serde::Deserialize;
use serde_json::json;

/// Scores 1 if events of these types happened in this order, with any others between them, else 0.
///
/// A type is the common one (`message`, `action.called`, `subagent.called` …; see the scorer
/// `event`) or the trace's own. Regular expressions have the syntax of regex-lite: `\d`, `\w`, `\s`, `\b`
/// and `(?i)` are ASCII only. Equals niceeval's `eventOrder`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The types in order; a type may occur more than once.
    types: Vec<TextOrRegex>,
}

/// The scorer, made from its [`Config`].
pub struct EventOrder {
    wanted: Vec<TextPattern>,
}

impl Scorer for EventOrder {
    type Config = Config;

    const INFO: Info = Info::new("event-order", "Event Order", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE)
        .severity(Severity::Gate)
        .threshold(1.0);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let wanted = TextPattern::compile_all(("type", &None), ("types", &Some(config.types)))?;
        Ok(Self { wanted })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::events_of(case)?;
        let mut matched = 0;
        for event in trace.events() {
            if self.wanted.get(matched).is_some_and(|name| event.is_named(name)) {
                matched += 1;
            }
        }
        let all = self.wanted.len();
        let reason = match (self.wanted.get(matched), matched.checked_sub(1)) {
            (None, _) => format!("{all} events in the expected order"),
            (Some(name), None) => format!("{name} is missing"),
            (Some(name), Some(last)) => {
                format!("{name} is missing after {} ({matched} of {all})", self.wanted[last])
            }
        };
        Ok(Score::pass(matched == all).reason(reason).meta(json!({ "matched": matched })))
    }
}

scorebox_sdk::export!(EventOrder);

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn score(types: Value) -> Score {
        let scorer: EventOrder = scorebox_sdk::configure(json!({ "types": types })).unwrap();
        let trace = json!([
            {"type": "message", "role": "user", "text": "Go"},
            {"type": "action.called", "callId": "1", "name": "w", "input": {}},
            {"type": "action.result", "callId": "1", "status": "completed"},
            {"type": "subagent.called", "callId": "2", "name": "r"},
        ]);
        scorer.score(&Case::new(json!("done")).with_trace(trace)).unwrap()
    }

    #[test]
    fn other_events_may_stand_between() {
        assert_eq!(score(json!(["action.called", "subagent.called"])).score, Some(1.0));
        let turned = score(json!(["subagent.called", "action.called"]));
        assert_eq!(turned.score, Some(0.0));
        let reason = "`action.called` is missing after `subagent.called` (1 of 2)";
        assert_eq!(turned.reason.as_deref(), Some(reason));
        let twice = score(json!(["action.called", "action.called"]));
        assert_eq!(twice.score, Some(0.0));
        assert_eq!(score(json!(["error"])).reason.as_deref(), Some("`error` is missing"));
    }

    #[test]
    fn a_call_that_loads_a_skill_stands_at_one_place_of_the_order() {
        let call = json!({"type": "action.called", "callId": "1", "name": "load_skill", "input": {"skill": "pdf"}});
        let case = Case::new(json!("done")).with_trace(json!([call]));
        let config = json!({"types": ["action.called", "action.called"]});
        let scorer: EventOrder = scorebox_sdk::configure(config).unwrap();
        assert_eq!(scorer.score(&case).unwrap().score, Some(0.0));
    }

    #[test]
    fn an_empty_list_is_not_an_order() {
        let error = scorebox_sdk::configure::<EventOrder>(json!({"types": []})).err().unwrap();
        assert_eq!(error.to_string(), "`types` is an empty list; name at least one");
    }
}
