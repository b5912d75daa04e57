//! called-subagent: 1 where another agent was called. What that agent did is its own run.
//!
//! The rule is niceeval's `calledSubagent`.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, Severity, excerpt,
    schemars,
};
use scorebox_sdk_traces::{Count, Status, SubAgentCall, TextOrRegex, TextPattern, Trace};
use serde::Deserialize;
use serde_json::json;

/// Scores 1 when another agent was called, as often as `count`, `min` and `max` say (at least
/// once), else 0.
///
/// Calls of agents are events (`subagent.called`), `invoke_agent` spans inside another agent's,
/// hand-offs of Inspect and Google's agent kit, ATIF's sub-agent trajectories and Claude Code's
/// `Task`. Equals niceeval's `calledSubagent`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CalledSubagent {
    /// The agent.
    name: TextOrRegex,
    /// Where the agent has to run: the whole URL, or a regular expression that matches in it.
    #[serde(default)]
    remote_url: Option<TextOrRegex>,
    /// How the call has to have ended.
    #[serde(default)]
    status: Option<Status>,
    /// How many such calls there have to be, exactly.
    #[serde(default)]
    count: Option<usize>,
    /// The fewest such calls; 1 where not set.
    #[serde(default)]
    min: Option<usize>,
    /// The most such calls.
    #[serde(default)]
    max: Option<usize>,
    #[serde(skip)]
    wanted: Option<Wanted>,
}

/// The configuration, compiled.
struct Wanted {
    name: TextPattern,
    url: Option<TextPattern>,
    often: Count,
}

impl Scorer for CalledSubagent {
    const INFO: Info = Info::new("called-subagent", "Called Sub-agent", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE)
        .severity(Severity::Gate)
        .threshold(1.0);

    fn prepare(&mut self) -> Result<(), ConfigError> {
        let url = self.remote_url.as_ref();
        self.wanted = Some(Wanted {
            name: TextPattern::compile("name", &self.name)?,
            url: url.map(|url| TextPattern::compile("remoteUrl", url)).transpose()?,
            often: Count::from_config(self.count, self.min, self.max, 1)?,
        });
        Ok(())
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::of(case)?;
        let calls: Vec<&SubAgentCall> = trace.sub_agents().collect();
        let Some(Wanted { name, url, often }) = &self.wanted else {
            return Err(ScoreError::failed("the scorer was not prepared"));
        };
        let matches = |call: &&&SubAgentCall| {
            name.is(&call.name)
                && self.status.is_none_or(|status| call.status == status)
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
        if !holds {
            reason.push_str(&format!("; wanted: {often}"));
            let others: Vec<_> = calls.iter().map(|call| shown(call)).collect();
            if !others.is_empty() {
                reason.push_str(&format!("; called: {}", excerpt(&others.join(", "), 160)));
            }
        }
        Ok(Score::pass(holds).reason(reason).meta(json!({ "calls": number })))
    }
}

fn shown(call: &SubAgentCall) -> String {
    match &call.remote_url {
        Some(url) => format!("{} ({}, {url})", call.name, call.status.name()),
        None => format!("{} ({})", call.name, call.status.name()),
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
        let reason = "`researcher` was called 2 times; wanted: exactly 1; called: ";
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
    fn an_agent_behind_a_tool_call_is_one_too() {
        let scorer: CalledSubagent = scorebox_sdk::configure(json!({"name": "explore"})).unwrap();
        let trace = json!([{"role": "assistant", "content": [
            {"type": "tool_use", "id": "1", "name": "Task", "input": {"subagent_type": "explore"}}]}]);
        let case = Case::new(json!("done")).with_trace(trace);
        assert_eq!(scorer.score(&case).unwrap().score, Some(1.0));
    }
}
