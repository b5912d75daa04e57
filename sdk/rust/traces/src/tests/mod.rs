//! How the reader understands traces of real programs. The samples were written by the libraries that each test names,
//! and are shortened.

mod ai_sdk;
mod answers;
mod counted_events;
mod hostile;
mod inspect;
mod left_out;
mod matching;
mod messages;
mod outcomes;
mod programs;
mod same_calls;
mod spans;
mod spellings;
mod steps;
mod streams;
mod telemetry;
mod twice;
mod usage;
mod wrappers;

use serde_json::Value;

use super::*;

/// A trace in lines that a test can compare: `user: …`, `call NAME ARGUMENTS -> RESULT (STATUS)` …
fn told(value: Value) -> Vec<String> {
    lines(&Trace::read(value).unwrap())
}

fn lines(trace: &Trace) -> Vec<String> {
    trace.steps().iter().map(line).collect()
}

fn line(step: &Step) -> String {
    match &step.kind {
        StepKind::Message { role, text } => format!("{}: {text}", role.name()),
        StepKind::Reasoning { text } => format!("thinks: {text}"),
        StepKind::ToolCall(call) => {
            let result = call.result.as_ref().map_or("nothing".to_owned(), Value::to_string);
            format!(
                "call {} {} -> {result} ({})",
                call.name,
                call.arguments,
                call.stated_status.name()
            )
        }
        StepKind::SubAgent(call) => format!("agent {} ({})", call.name, call.status.name()),
        StepKind::SkillLoad { skill, .. } => format!("skill {skill}"),
        StepKind::InputRequest(request) => {
            format!(
                "asks {}",
                request.prompt.as_deref().or(request.action.as_deref()).unwrap_or("")
            )
        }
        StepKind::Error { message } => format!("error {message}"),
        StepKind::Other { name } => format!("other {name}"),
    }
}

fn events(trace: &Trace) -> Vec<&str> {
    trace.events().iter().map(|event| event.name.as_ref()).collect()
}
