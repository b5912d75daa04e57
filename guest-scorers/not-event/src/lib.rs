//! not-event: 1 if an event did not happen in the run. For events that must happen see event.
//!
//! The rule is niceeval's `notEvent`.

use scorebox_sdk::{
    Case, Checks, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, Severity,
    excerpt, schemars,
};
use scorebox_sdk_traces::{TextOrRegex, TextPattern, Trace};
use serde::Deserialize;
use serde_json::json;

/// The most types that `meta.types` lists.
const SHOWN: usize = 100;

/// Scores whether events did not happen: the fraction of the named types without an event.
///
/// A type is the common one (`error`, `input.requested`, `compaction`, `action.called` …; see the scorer `event`) or
/// the trace's own; `meta.types` lists those of the trace. Regular expressions have the syntax of regex-lite: `\d`,
/// `\w`, `\s`, `\b` and `(?i)` are ASCII only. Equals niceeval's `notEvent`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The type.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    r#type: Option<TextOrRegex>,
    /// The types; none of them may happen.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    types: Option<Vec<TextOrRegex>>,
}

/// The scorer, made from its [`Config`].
pub struct NotEvent {
    forbidden: Vec<TextPattern>,
}

impl Scorer for NotEvent {
    type Config = Config;

    const INFO: Info = Info::new("not-event", "Not Event", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE)
        .severity(Severity::Gate)
        .threshold(1.0);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { r#type, types } = config;
        let forbidden = TextPattern::compile_all(("type", &r#type), ("types", &types))?;
        if forbidden.is_empty() {
            let message = "is missing, and so is `types`; name the types that may not happen";
            return Err(ConfigError::new("type", message));
        }
        Ok(Self { forbidden })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::events_of(case)?;
        let mut checks = Checks::default();
        for name in &self.forbidden {
            let number = trace.events().iter().filter(|event| event.is_named(name)).count();
            let mut found = format!("{number} × {name}");
            if let Some(meant) = trace.meant_event(name) {
                found.push_str(&format!("; did you mean `{meant}`?"));
            }
            checks.add(format!("no {name}"), number == 0, found);
        }
        let types = trace.event_types();
        let types: Vec<_> = types.iter().take(SHOWN).map(|name| excerpt(name, 80)).collect();
        Ok(checks.into_score().meta(json!({ "types": types })))
    }
}

scorebox_sdk::export!(NotEvent);

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn score(config: Value, trace: Value) -> Score {
        let scorer: NotEvent = scorebox_sdk::configure(config).unwrap();
        scorer.score(&Case::new(json!("done")).with_trace(trace)).unwrap()
    }

    #[test]
    fn one_event_is_one_too_many() {
        let trace = json!([{"type": "error", "message": "lost"}, {"type": "compaction"}]);
        let error = score(json!({"type": "error"}), trace.clone());
        assert_eq!((error.score, error.reason.as_deref()), (Some(0.0), Some("1 × `error`")));
        assert_eq!(score(json!({"type": "input.requested"}), trace.clone()).score, Some(1.0));
        let both = score(json!({"types": ["error", "input.requested"]}), trace);
        assert_eq!(both.score, Some(0.5));
    }

    #[test]
    fn a_message_without_a_word_happened() {
        let silent = json!([{"type": "message", "role": "assistant", "text": ""}]);
        assert_eq!(score(json!({"type": "message"}), silent).score, Some(0.0));
    }

    #[test]
    fn a_misspelt_type_is_pointed_out_and_meta_lists_those_of_the_trace() {
        let trace = json!([{"type": "error", "message": "lost"}, {"type": "saved"}]);
        let misspelt = score(json!({"type": "errors"}), trace.clone());
        let reason = "0 × `errors`; did you mean `error`?";
        assert_eq!((misspelt.score, misspelt.reason.as_deref()), (Some(1.0), Some(reason)));
        assert_eq!(misspelt.meta_value(), Some(json!({"types": ["error", "saved"]})));
        let own = score(json!({"type": "saved"}), trace);
        assert_eq!(own.reason.as_deref(), Some("1 × `saved`"));
    }

    #[test]
    fn a_type_has_to_be_named() {
        let error = scorebox_sdk::configure::<NotEvent>(json!({})).err().unwrap();
        let message = "`type` is missing, and so is `types`; name the types that may not happen";
        assert_eq!(error.to_string(), message);
    }
}
