//! called-subagent: 1 if another agent was called. What that agent did is part of its own run.
//!
//! The rule is niceeval's `calledSubagent`.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, Severity, excerpt,
    schemars,
};
use scorebox_sdk_traces::{Count, Status, SubAgentCall, TextOrRegex, TextPattern, Trace};
use serde::Deserialize;
use serde_json::json;

/// Scores 1 if another agent was called as often as `count`, `min` and `max` require (by default at
/// least once), else 0.
///
/// Calls of agents are `subagent.called` events, `invoke_agent` spans inside another agent's span,
/// hand-offs in Inspect and Google's Agent Development Kit, ATIF's sub-agent trajectories and
/// Claude Code's `Task`. Regular expressions have the syntax of regex-lite: `\d`, `\w`, `\s`, `\b` and
/// `(?i)` are ASCII only. Equals niceeval's `calledSubagent`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The agent.
    name: TextOrRegex,
    /// Where the agent must run: the whole URL, or a regular expression that matches part of it.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    remote_url: Option<TextOrRegex>,
    /// How the call must have ended.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    status: Option<Status>,
    /// The exact number of such calls.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    count: Option<usize>,
    /// The minimum number of such calls; 1 by default.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    min: Option<usize>,
    /// The maximum number of such calls.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    max: Option<usize>,
}

/// The scorer, made from its [`Config`].
pub struct CalledSubagent {
    name: TextPattern,
    url: Option<TextPattern>,
    status: Option<Status>,
    often: Count,
}

impl Scorer for CalledSubagent {
    type Config = Config;

    const INFO: Info = Info::new("called-subagent", "Called Sub-agent", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE)
        .severity(Severity::Gate)
        .threshold(1.0);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { name, remote_url, status, count, min, max } = config;
        let url = remote_url.as_ref();
        Ok(Self {
            name: TextPattern::compile("name", &name)?,
            url: url.map(|url| TextPattern::compile("remoteUrl", url)).transpose()?,
            status,
            often: Count::from_config(count, min, max, 1)?,
        })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::of(case)?;
        let calls: Vec<&SubAgentCall> = trace.sub_agents().collect();
        let Self { name, url, status, often } = self;
        let matches = |call: &&&SubAgentCall| {
            name.is(&call.name)
                && status.is_none_or(|status| trace.ending_of(call) == status)
                && (url.as_ref()).is_none_or(|url| url.is(call.remote_url.as_deref().unwrap_or("")))
        };
        let number = calls.iter().filter(matches).count();
        let holds = often.holds(number);
        let mut reason = match number {
            0 => format!("{name} was not called"),
            1 => format!("{name} was called once"),
            times => format!("{name} was called {times} times"),
        };
        if let Some(url) = url {
            reason.push_str(&format!(" at {url}"));
        }
        if let Some(status) = status {
            reason.push_str(&format!(" with the status `{}`", status.name()));
        }
        if !holds {
            reason.push_str(&format!("; wanted: {often}"));
            let others: Vec<_> =
                calls.iter().map(|call| shown(call, trace.ending_of(call))).collect();
            if !others.is_empty() {
                reason.push_str(&format!("; called: {}", excerpt(&others.join(", "), 160)));
            }
        }
        Ok(Score::pass(holds).reason(reason).meta(json!({ "calls": number })))
    }
}

fn shown(call: &SubAgentCall, ending: Status) -> String {
    match &call.remote_url {
        Some(url) => format!("{} ({}, {url})", call.name, ending.name()),
        None => format!("{} ({})", call.name, ending.name()),
    }
}

scorebox_sdk::export!(CalledSubagent);

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn score(config: Value) -> Score {
        let scorer: CalledSubagent = scorebox_sdk::configure(config).unwrap();
        let case = Case::new(json!("done")).with_trace(json!([
            {"type": "subagent.called", "callId": "1", "name": "researcher", "remoteUrl": "https://api.example/r"},
            {"type": "subagent.completed", "callId": "1", "status": "completed"},
            {"type": "subagent.called", "callId": "2", "name": "researcher"},
            {"type": "subagent.completed", "callId": "2", "status": "failed"},
        ]));
        scorer.score(&case).unwrap()
    }

    #[test]
    fn once_is_enough_unless_a_number_is_wanted() {
        assert_eq!(score(json!({"name": "researcher"})).score, Some(1.0));
        assert_eq!(score(json!({"name": "researcher", "count": 2})).score, Some(1.0));
        let more = score(json!({"name": "researcher", "max": 1}));
        assert_eq!(more.score, Some(0.0));
        let reason = "`researcher` was called 2 times; wanted: 1 to 1 (`min` is 1 unless you say otherwise); called: ";
        assert!(more.reason.unwrap().starts_with(reason));
        assert_eq!(score(json!({"name": "writer"})).score, Some(0.0));
    }

    #[test]
    fn where_it_runs_and_how_it_ended_may_matter() {
        let at = |url: Value| score(json!({"name": "researcher", "remoteUrl": url}));
        assert_eq!(at(json!({"regex": "api\\.example"})).score, Some(1.0));
        assert_eq!(at(json!("https://api.example/r")).score, Some(1.0));
        let part = at(json!("api.example"));
        assert_eq!(part.score, Some(0.0));
        assert_eq!(
            part.reason.as_deref(),
            Some(
                "`researcher` was not called at `api.example`; wanted: at least 1; called: \
                 researcher (succeeded, https://api.example/r), researcher (failed)"
            )
        );
        assert_eq!(
            score(json!({"name": "researcher", "status": "failed", "count": 1})).score,
            Some(1.0)
        );
    }

    #[test]
    fn an_agent_behind_a_tool_call_ends_as_the_call_does() {
        let score = |status: &str, answer: &str| {
            let config = json!({"name": "explore", "status": status});
            let scorer: CalledSubagent = scorebox_sdk::configure(config).unwrap();
            // OpenAI's messages do not mark failures, so the result must show it.
            let trace = json!([
                {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function":
                    {"name": "Task", "arguments": "{\"subagent_type\": \"explore\"}"}}]},
                {"role": "tool", "tool_call_id": "1", "content": answer}]);
            scorer.score(&Case::new(json!("done")).with_trace(trace)).unwrap()
        };
        assert_eq!(score("completed", "found it").score, Some(1.0));
        assert_eq!(score("failed", "Error: no").score, Some(1.0));
        let failed = score("succeeded", "Error: no");
        assert_eq!(failed.score, Some(0.0));
        assert!(failed.reason.unwrap().ends_with("called: explore (failed)"));
    }

    #[test]
    fn an_agent_behind_a_tool_call_is_one_too() {
        let scorer: CalledSubagent = scorebox_sdk::configure(json!({"name": "explore"})).unwrap();
        let trace = json!([{"role": "assistant", "content": [
            {"type": "tool_use", "id": "1", "name": "Task", "input": {"subagent_type": "explore"}}]}]);
        let case = Case::new(json!("done")).with_trace(trace);
        assert_eq!(scorer.score(&case).unwrap().score, Some(1.0));
    }
}
