//! tool-count: 1 if the number of tool calls is within bounds. It checks nothing else about the calls.
//!
//! The rule is niceeval's `maxToolCalls` (`max`) and `usedNoTools` (`none`).

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, Severity, schemars,
};
use scorebox_sdk_traces::{Count, TextOrRegex, TextPattern, Trace};
use serde::Deserialize;
use serde_json::json;

/// Scores 1 if the number of tool calls is within `min` and `max`, or exactly `count`, else 0.
///
/// With a `name`, only calls of that tool count. Equals niceeval's `maxToolCalls` and
/// `usedNoTools`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The maximum number of calls.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    max: Option<usize>,
    /// The minimum number of calls.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    min: Option<usize>,
    /// The exact number of calls.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    count: Option<usize>,
    /// No calls at all: the same as `count: 0`.
    #[serde(default)]
    none: bool,
    /// The tool whose calls count: its own name, or the common name of its kind.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    name: Option<TextOrRegex>,
}

/// The scorer, made from its [`Config`].
pub struct ToolCount {
    often: Count,
    tool: Option<TextPattern>,
}

impl Scorer for ToolCount {
    type Config = Config;

    const INFO: Info = Info::new("tool-count", "Tool Count", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE)
        .severity(Severity::Gate)
        .threshold(1.0);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { max, min, count, none, name } = config;
        let bounds = [max, min, count];
        if none && bounds.iter().any(Option::is_some) {
            let message = "means no calls at all; leave out `max`, `min` and `count`, or `none`";
            return Err(ConfigError::new("none", message));
        }
        if !none && bounds.iter().all(Option::is_none) {
            let message = "nothing bounds the number of calls: set `max`, `min`, `count` or `none`";
            return Err(ConfigError::whole(message));
        }
        let count = if none { Some(0) } else { count };
        Ok(Self {
            often: Count::from_config(count, min, max, 0)?,
            tool: name.as_ref().map(|name| TextPattern::compile("name", name)).transpose()?,
        })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::of(case)?;
        let calls = trace.tool_calls();
        let number = match &self.tool {
            Some(name) => calls.filter(|call| call.is_named(name)).count(),
            // A result without its call stands for a call of an unknown tool.
            None => calls.count() + trace.orphan_results().count(),
        };
        let of = self.tool.as_ref().map(|name| format!(" of {name}")).unwrap_or_default();
        let calls = if number == 1 { "call" } else { "calls" };
        let reason = format!("{number} {calls}{of}, wanted: {}", self.often);
        Ok(Score::pass(self.often.holds(number)).reason(reason).meta(json!({ "calls": number })))
    }
}

scorebox_sdk::export!(ToolCount);

#[cfg(test)]
mod tests;
