//! loaded-skill: 1 if a skill was loaded. It does not check whether the agent then followed it.
//!
//! The rule is niceeval's `loadedSkill`.

use scorebox_sdk::{
    Case, Checks, ConfigError, Fields, Info, JsonSchema, Negate, Score, ScoreError, Scorer,
    Severity, excerpt, schemars,
};
use scorebox_sdk_traces::{TextOrRegex, TextPattern, Trace};
use serde::Deserialize;
use serde_json::json;

/// The most skills that `meta.loaded` lists.
const SHOWN: usize = 100;

/// Scores whether skills were loaded: the fraction of the named skills that were.
///
/// A skill is loaded by an event (`skill.loaded`), or by a call of `load_skill`, `Skill` or
/// `activate_skill` that names it. Regular expressions have the syntax of regex-lite: `\d`, `\w`, `\s`,
/// `\b` and `(?i)` are ASCII only. Equals niceeval's `loadedSkill`, and promptfoo's `skill-used` except
/// that a call that failed counts, too.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The skill.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    name: Option<TextOrRegex>,
    /// The skills; each of them must be loaded.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    names: Option<Vec<TextOrRegex>>,
    #[serde(default)]
    negate: Negate,
}

/// The scorer, made from its [`Config`].
pub struct LoadedSkill {
    wanted: Vec<TextPattern>,
    negate: Negate,
}

impl Scorer for LoadedSkill {
    type Config = Config;

    const INFO: Info = Info::new("loaded-skill", "Loaded Skill", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE)
        .severity(Severity::Gate)
        .threshold(1.0);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { name, names, negate } = config;
        let wanted = TextPattern::compile_all(("name", &name), ("names", &names))?;
        if wanted.is_empty() {
            let message = "is missing, and so is `names`; name the skills";
            return Err(ConfigError::new("name", message));
        }
        Ok(Self { wanted, negate })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::of(case)?;
        let loaded: Vec<&str> = trace.skills().collect();
        let all = if loaded.is_empty() { "none".to_owned() } else { loaded.join(", ") };
        let mut checks = Checks::default();
        for name in &self.wanted {
            let found = loaded.iter().any(|skill| name.is(skill));
            let reason = if found {
                format!("{name} was loaded")
            } else {
                format!("{name} was not loaded; loaded: {}", excerpt(&all, 120))
            };
            let check = if self.negate.is_set() { "did not load" } else { "loaded" };
            checks.add(format!("{check} {name}"), found != self.negate.is_set(), reason);
        }
        let shown: Vec<_> = loaded.iter().take(SHOWN).map(|skill| excerpt(skill, 80)).collect();
        Ok(checks.into_score().meta(json!({ "loaded": shown })))
    }
}

scorebox_sdk::export!(LoadedSkill);

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn score(config: Value, trace: Value) -> Score {
        let scorer: LoadedSkill = scorebox_sdk::configure(config).unwrap();
        scorer.score(&Case::new(json!("done")).with_trace(trace)).unwrap()
    }

    #[test]
    fn an_event_or_a_call_loads_a_skill() {
        let traces = [
            json!([{"type": "skill.loaded", "skill": "memory-v2"}]),
            json!([{"tool": "load_skill", "args": {"skill": "memory-v2"}}]),
            json!([{"role": "assistant", "content": [
                {"type": "tool_use", "id": "1", "name": "Skill", "input": {"skill": "memory-v2"}}]}]),
        ];
        for trace in traces {
            assert_eq!(score(json!({"name": "memory-v2"}), trace.clone()).score, Some(1.0));
            let other = score(json!({"name": "memory"}), trace);
            assert_eq!(other.score, Some(0.0));
            let reason = "`memory` was not loaded; loaded: memory-v2";
            assert_eq!(other.reason.as_deref(), Some(reason));
            assert_eq!(other.meta_value(), Some(json!({"loaded": ["memory-v2"]})));
        }
    }

    #[test]
    fn several_names_expressions_and_the_opposite() {
        let trace = json!([{"type": "skill.loaded", "skill": "pdf"}]);
        assert_eq!(score(json!({"names": ["pdf", "csv"]}), trace.clone()).score, Some(0.5));
        assert_eq!(score(json!({"name": {"regex": "^p"}}), trace.clone()).score, Some(1.0));
        let negated = score(json!({"name": "csv", "negate": true}), trace);
        assert_eq!(negated.score, Some(1.0));
    }

    #[test]
    fn a_skill_has_to_be_named() {
        let error = scorebox_sdk::configure::<LoadedSkill>(json!({})).err().unwrap();
        let message = "`name` is missing, and so is `names`; name the skills";
        assert_eq!(error.to_string(), message);
    }
}
