//! Reads trajectories in the Agent Trajectory Interchange Format (ATIF, versions 1.x; known up to 1.8). It does not
//! read the trajectories of sub-agents, which are other runs.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use crate::builder::{Builder, CallResult};
use crate::calls::{add_call, listed};
use crate::fields::{self, Object, id, list, take, text, word};
use crate::parts::read_parts;
use crate::step::{Role, SubAgentCall};
use crate::times;
use scorebox_sdk::excerpt;

/// Whether an object is a trajectory: its version says so, or it has steps next to an agent.
pub(super) fn is_trajectory(object: &Object) -> bool {
    let version = word(object, "schema_version").is_some_and(|version| version.starts_with("ATIF"));
    let steps = object.get("steps").is_some_and(Value::is_array);
    steps && (version || object.get("agent").is_some_and(Value::is_object))
}

/// Whether an object is a step of a trajectory.
pub(super) fn is_step(step: &Object) -> bool {
    let source = word(step, "source");
    source.is_some_and(|source| matches!(source, "system" | "user" | "agent"))
        && fields::has(step, &["message", "step_id", "tool_calls"])
}

/// The keys by which a sub-agent's trajectory is referred to.
const IDS: [&str; 2] = ["trajectory_id", "session_id"];

/// The names of sub-agents whose trajectories are embedded, by id.
type Names = BTreeMap<String, String>;

/// Reads a trajectory.
pub(super) fn read_trajectory(builder: &mut Builder, mut trajectory: Object) {
    if let Some(version) = word(&trajectory, "schema_version").filter(|version| !is_known(version))
    {
        let version = excerpt(version, 40);
        return builder.refuse(format!("its `schema_version` is `{version}`, and not 1.x"));
    }
    let mut names = Names::new();
    for embedded in list(&mut trajectory, &["subagent_trajectories"]).unwrap_or_default() {
        let Some(name) = embedded.pointer("/agent/name").and_then(Value::as_str) else {
            continue;
        };
        for key in IDS.iter().filter_map(|key| embedded.get(*key)?.as_str()) {
            names.insert(key.to_owned(), name.to_owned());
        }
    }
    if let Some(Value::Object(agent)) = trajectory.get_mut("agent") {
        builder.tools = list(agent, &["tool_definitions"]).unwrap_or_default();
    }
    builder.tally.whole(fields::usage(trajectory.get("final_metrics")));
    for step in list(&mut trajectory, &["steps"]).unwrap_or_default() {
        if let Value::Object(step) = step {
            builder.understood += 1;
            read_step_of(builder, &names, step);
        }
    }
}

/// Whether a trajectory with this version can be read: a later minor version adds fields, but another major version may
/// change their meaning.
fn is_known(version: &str) -> bool {
    let number = version.trim_start_matches(|c: char| !c.is_ascii_digit());
    !version.starts_with("ATIF") || matches!(number.split('.').next(), Some("1" | ""))
}

/// Reads one step.
pub(super) fn read_step(builder: &mut Builder, step: Object) {
    read_step_of(builder, &Names::new(), step);
}

fn read_step_of(builder: &mut Builder, names: &Names, mut step: Object) {
    // Copied from an earlier run as context for the agent: it did not happen in this one.
    if step.get("is_copied_context") == Some(&Value::Bool(true)) {
        return;
    }
    let role = Role::from_name(&text(&mut step, &["source"]).unwrap_or_default());
    builder.start_ms = times::time_ms(step.get("timestamp"));
    builder.turn(role.clone());
    let first = builder.steps.len();
    builder.reasoning(text(&mut step, &["reasoning_content"]).unwrap_or_default());
    match take(&mut step, &["message"]) {
        Some(Value::String(said)) => builder.message(role, said),
        Some(Value::Array(parts)) => read_parts(builder, &role, parts),
        _ => {}
    }
    let mut calls = VecDeque::new();
    for call in listed(builder, &mut step, &["tool_calls"]) {
        calls.extend(add_call(builder, call));
    }
    builder.usage(first, fields::usage(step.get("metrics")));
    if let Some(Value::Object(mut observation)) = take(&mut step, &["observation"]) {
        for result in list(&mut observation, &["results"]).unwrap_or_default() {
            if let Value::Object(result) = result {
                read_result(builder, names, result, &mut calls);
            }
        }
    }
    builder.start_ms = None;
}

/// Reads a result. `calls`: the calls of this step; a result without an id may belong to one of them.
fn read_result(
    builder: &mut Builder,
    names: &Names,
    mut result: Object,
    calls: &mut VecDeque<usize>,
) {
    let call = id(&mut result, &["source_call_id"]);
    for reference in list(&mut result, &["subagent_trajectory_ref"]).unwrap_or_default() {
        let Value::Object(mut reference) = reference else {
            continue;
        };
        let key = text(&mut reference, &IDS);
        let path = text(&mut reference, &["trajectory_path"]);
        let name = key.as_ref().and_then(|key| names.get(key).cloned()).or(key);
        let name = name.or_else(|| path.clone()).unwrap_or_else(|| "unknown".to_owned());
        let remote_url = path.filter(|path| path.contains("://"));
        builder.sub_agent(SubAgentCall { name, remote_url, ..SubAgentCall::default() });
    }
    let (status, error) = fields::ending(&mut result);
    let value = take(&mut result, &["content"]).unwrap_or(Value::Null);
    let answer = CallResult { id: call, value, status, error, ..CallResult::default() };
    if answer.id.is_some() {
        builder.turn(Role::Tool);
        builder.result(answer);
        return;
    }
    // The result of an action that is not a tool call, or of a call without an id.
    while let Some(step) = calls.pop_front() {
        if builder.claim_step(step) {
            builder.turn(Role::Tool);
            builder.answer(step, answer);
            return;
        }
    }
}
