//! What an agent did, written down for a judge: one paragraph a step, in order. It leaves out usage and events that only
//! frame others.

use scorebox_sdk::{Case, ScoreError};
use scorebox_sdk_traces::{Status, StepKind, ToolCall, Trace};

use crate::Prompt;

/// The steps of a trace as text.
#[must_use]
pub fn transcript(trace: &Trace) -> String {
    let steps = trace.steps().iter().filter_map(|step| written(&step.kind));
    steps.collect::<Vec<_>>().join("\n\n")
}

/// A prompt with what an agent was asked, what it did and, if that is not the trace itself, what came out.
///
/// # Errors
/// [`ScoreError::InvalidInput`] if the case has no trace, or one without steps or in an unknown format.
pub fn agent_prompt(case: &Case) -> Result<Prompt<'static>, ScoreError> {
    let trace = Trace::of(case)?;
    let transcript = transcript(&trace);
    if transcript.is_empty() {
        return Err(ScoreError::invalid_input("the trace has no steps"));
    }
    let mut prompt = Prompt::new();
    if let Some(input) = case.input() {
        prompt.part("task", &input)?;
    }
    prompt.data("transcript", transcript);
    if case.trace().is_some() && !case.output().is_null() {
        prompt.part("result", &case.output())?;
    }
    Ok(prompt)
}

fn written(step: &StepKind) -> Option<String> {
    Some(match step {
        StepKind::Message { text, .. } if text.trim().is_empty() => return None,
        StepKind::Message { role, text } => format!("[{}] {text}", role.name()),
        StepKind::Reasoning { text } => format!("[reasoning] {text}"),
        StepKind::ToolCall(call) => tool_call(call),
        StepKind::SubAgent(agent) if agent.is_root => return None,
        StepKind::SubAgent(agent) => {
            let input = agent.input.as_ref().map(|input| format!(" {input}")).unwrap_or_default();
            let result =
                agent.error.clone().or_else(|| agent.result.as_ref().map(ToString::to_string));
            let result =
                result.map(|result| format!("\n[its answer] {result}")).unwrap_or_default();
            format!("[asks the agent {}]{input}{result}", agent.name)
        }
        StepKind::SkillLoad { skill, .. } => format!("[loads the skill {skill}]"),
        StepKind::InputRequest(request) => {
            let asked = request.prompt.as_deref().or(request.action.as_deref()).unwrap_or_default();
            format!("[asks a person] {asked}")
        }
        StepKind::Error { message } => format!("[error] {message}"),
        _ => return None,
    })
}

fn tool_call(call: &ToolCall) -> String {
    let outcome = match call.status() {
        Status::Failed => ", which failed",
        Status::Rejected => ", which was rejected",
        Status::Succeeded | Status::Unknown => "",
    };
    let result = match call.result_text() {
        Some(result) => format!("\n[its result{outcome}] {result}"),
        None => format!("\n[without a recorded result{outcome}]"),
    };
    match call.is_orphan {
        true => result.trim_start().to_owned(),
        false => format!("[calls the tool {}] {}{result}", call.name, call.arguments),
    }
}
