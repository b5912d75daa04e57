//! Shows what an agent did as a timeline: messages, thoughts, tool calls with their results. It reads the trace in the
//! same way as scorers, so that it shows what was judged.

use maud::{Markup, html};
use scorebox_sdk_traces::{Outcome, Status, Step, StepKind, SubAgentCall, ToolCall, Trace};
use serde_json::Value;

use crate::{
    figure,
    said::{Said, readable},
};

/// The most bytes of a trace that is read, because steps take several times as much memory.
const MAX_BYTES: usize = 8 << 20;
/// The most steps that are shown if there is room.
pub(crate) const MAX_STEPS: usize = 500;
/// Steps within other steps are indented up to this depth.
const MAX_DEPTH: usize = 1;

/// The timeline of a trace with at most this many steps, and each text cut to this many bytes; the trace as it is if it
/// cannot be interpreted.
pub(crate) fn timeline(json: &str, most: usize, steps: usize) -> Markup {
    if json.len() > MAX_BYTES {
        return html! {
            p.note { "The trace has " (figure::count(json.len() as u64)) " bytes, which is too much for a timeline." }
            pre.block tabindex="0" { (Said::most(json, most)) }
        };
    }
    match Trace::parse(json) {
        Ok(trace) => of_trace(&trace, most, steps),
        Err(error) => html! {
            p.note { (Said::line(&error.to_string(), 400)) }
            pre.block tabindex="0" { (Said::most(&readable(json).0, most)) }
        },
    }
}

/// The timeline of an output that is itself a trace; `None` if it is not.
pub(crate) fn of_output(json: &str, most: usize, steps: usize) -> Option<Markup> {
    if json.len() > MAX_BYTES || !json.trim_start().starts_with(['[', '{']) {
        return None;
    }
    let trace = Trace::parse(json).ok().filter(|trace| trace.tool_calls().next().is_some())?;
    Some(of_trace(&trace, most, steps))
}

fn of_trace(trace: &Trace, most: usize, most_steps: usize) -> Markup {
    let steps = trace.steps();
    let began = steps.iter().find_map(|step| step.start_ms);
    html! {
        @if steps.is_empty() { p.aside { "Nothing happened." } }
        ol.timeline {
            @for step in steps.iter().take(most_steps) { (of_step(trace, step, began, most)) }
            @match trace.outcome() {
                Some(Outcome::Completed) => li { p.who { b { "completed" } } },
                Some(Outcome::Failed(why)) => li.bad {
                    p.who { b { "failed" } }
                    @if let Some(why) = why { p.said { (Said::most(why, most)) } }
                },
                Some(Outcome::Waiting) => li { p.who { b { "waits for a person" } } },
                Some(_) | None => {},
            }
        }
        @if steps.len() > most_steps {
            p.note { "These are the first " (figure::count(most_steps as u64)) " of " (figure::count(steps.len() as u64)) " steps." }
        }
    }
}

fn of_step(trace: &Trace, step: &Step, began: Option<f64>, most: usize) -> Markup {
    let class = match &step.kind {
        StepKind::Message { role, .. } => match role.name() {
            word @ ("user" | "assistant") => word,
            _ => "",
        },
        StepKind::ToolCall(call) if call.status() != Status::Failed => "tool",
        StepKind::SubAgent(call) if trace.ending_of(call) != Status::Failed => "tool",
        StepKind::ToolCall(_) | StepKind::SubAgent(_) | StepKind::Error { .. } => "bad",
        _ => "",
    };
    let depth = depth(trace, step);
    html! {
        li class=(class) {
            div class=[(depth > 0).then_some("inner")] {
                @match &step.kind {
                    StepKind::Message { role, text } => {
                        p.who { b { (Said::line(role.name(), 60)) } (when(step, began)) }
                        p.said { (Said::most(text, most)) }
                    }
                    StepKind::Reasoning { text } => {
                        details {
                            summary { "thinking" (when(step, began)) }
                            p.said { (Said::most(text, most)) }
                        }
                    }
                    StepKind::ToolCall(call) => (tool(call, step, began, most)),
                    StepKind::SubAgent(call) => (agent(call, trace.ending_of(call), (step, began), most)),
                    StepKind::SkillLoad { skill, .. } => {
                        p.who { "skill " b { (Said::line(skill, 200)) } (when(step, began)) }
                    }
                    StepKind::InputRequest(request) => {
                        p.who { b { "asks a person" } @if let Some(action) = &request.action { " for leave: " (Said::line(action, 200)) } (when(step, began)) }
                        @if let Some(prompt) = &request.prompt { p.said { (Said::most(prompt, most)) } }
                    }
                    StepKind::Error { message } => {
                        p.who { b { "error" } (when(step, began)) }
                        p.said { (Said::most(message, most)) }
                    }
                    StepKind::Other { name } => p.who { (Said::line(name, 200)) (when(step, began)) },
                    _ => p.who { "a step of an unknown kind" },
                }
            }
        }
    }
}

/// How many of the shown steps enclose this one. A trace with circles does not cause an endless search.
fn depth(trace: &Trace, step: &Step) -> usize {
    let mut depth = 0;
    let mut parent = step.parent;
    while let Some(inside) = parent.and_then(|index| trace.steps().get(index)) {
        depth += 1;
        if depth == MAX_DEPTH {
            break;
        }
        parent = inside.parent;
    }
    depth
}

/// The time since the beginning, the duration, and the consumption.
fn when(step: &Step, began: Option<f64>) -> Markup {
    let since = step.start_ms.zip(began).map(|(start, began)| start - began);
    let tokens = step.usage.and_then(|usage| {
        let sum = || match (usage.input_tokens, usage.output_tokens) {
            (None, None) => None,
            (input, output) => Some(input.unwrap_or(0).saturating_add(output.unwrap_or(0))),
        };
        usage.total_tokens.or_else(sum)
    });
    html! {
        @if let Some(since) = since.filter(|since| since.is_finite() && *since >= 0.0) { span.figure { "+" (figure::duration(since)) } }
        @if let Some(took) = step.duration_ms.filter(|took| took.is_finite() && *took >= 0.0) { span.figure { "took " (figure::duration(took)) } }
        @if let Some(tokens) = tokens { span.figure { (figure::counted(tokens, "token", "tokens")) } }
    }
}

fn tool(call: &ToolCall, step: &Step, began: Option<f64>, most: usize) -> Markup {
    html! {
        p.who {
            @if call.is_orphan { "result without a call" } @else { "tool " b { (Said::line(&call.name, 200)) } }
            @if !call.is_orphan { (outcome(call.status())) }
            (when(step, began))
        }
        @if !call.is_orphan && !is_empty(&call.arguments) {
            pre.block tabindex="0" aria-label="arguments" { (Said::most(&words(&call.arguments), most)) }
        }
        @if let Some(error) = &call.arguments_error {
            p.small.aside { "The arguments are not JSON: " (Said::line(error, 200)) }
        }
        @match call.result_text() {
            Some(text) if text.len() > 400 => details {
                summary { "result, " (figure::counted(text.len() as u64, "byte", "bytes")) }
                pre.block tabindex="0" { (Said::most(&text, most)) }
            },
            Some(text) => pre.block tabindex="0" aria-label="result" { (Said::most(&text, most)) },
            None => p.small.aside { "no result" },
        }
    }
}

fn agent(
    call: &SubAgentCall,
    ending: Status,
    (step, began): (&Step, Option<f64>),
    most: usize,
) -> Markup {
    html! {
        p.who { "agent " b { (Said::line(&call.name, 200)) } (outcome(ending)) (when(step, began)) }
        @if let Some(url) = &call.remote_url { p.small.aside { "at " (Said::line(url, 300)) } }
        @if let Some(input) = &call.input {
            pre.block tabindex="0" aria-label="input" { (Said::most(&words(input), most)) }
        }
        @if let Some(result) = &call.result {
            pre.block tabindex="0" aria-label="result" { (Said::most(&words(result), most)) }
        }
        @if let Some(error) = &call.error { p.said { (Said::most(error, most)) } }
    }
}

fn outcome(status: Status) -> Markup {
    let class = match status {
        Status::Succeeded => "passed",
        Status::Failed => "failed",
        Status::Rejected => "errored",
        Status::Unknown => return html! {},
    };
    html! { span class={ "word " (class) } { (status.name()) } }
}

fn is_empty(arguments: &Value) -> bool {
    arguments.is_null() || arguments.as_object().is_some_and(serde_json::Map::is_empty)
}

fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAT: &str = r#"[
        {"role": "user", "content": "Cancel <b>it</b>."},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function",
            "function": {"name": "cancel", "arguments": "{\"order\": 7}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "Error: too late"},
        {"role": "assistant", "content": "It was too late."}]"#;

    #[test]
    fn messages_calls_and_results_come_in_their_order() {
        let html = timeline(CHAT, 1000, MAX_STEPS).into_string();
        let offsets = [
            "Cancel &lt;b&gt;it",
            "cancel",
            "&quot;order&quot;: 7",
            "Error: too late",
            "It was too late.",
        ]
        .map(|said| html.find(said).unwrap_or_else(|| panic!("{said}: {html}")));
        assert!(offsets.is_sorted(), "{html}");
        assert!(html.contains("<li class=\"bad\">"), "a call that failed is marked: {html}");
    }

    #[test]
    fn an_agent_behind_a_tool_call_ends_as_the_call_does() {
        let trace = CHAT
            .replace("\"cancel\"", "\"Task\"")
            .replace(r#"{\"order\": 7}"#, r#"{\"subagent_type\": \"explore\"}"#);
        let html = timeline(&trace, 1000, MAX_STEPS).into_string();
        let agent = html.split("agent <b>explore</b>").nth(1).unwrap_or_else(|| panic!("{html}"));
        assert!(agent.split("</p>").next().unwrap().contains("failed"), "{html}");
    }

    #[test]
    fn text_that_is_not_a_trace_is_shown_as_it_is() {
        let html = timeline(r#"{"what": "<i>"}"#, 1000, MAX_STEPS).into_string();
        assert!(html.contains("the trace is in an unknown format"), "{html}");
        assert!(html.contains("&lt;i&gt;"), "{html}");
        assert!(of_output(r#""a text""#, 1000, MAX_STEPS).is_none());
        assert!(of_output(r#"{"what": 1}"#, 1000, MAX_STEPS).is_none());
        assert!(of_output(CHAT, 1000, MAX_STEPS).is_some());
    }

    #[test]
    fn a_long_trace_shows_its_first_steps_and_says_so() {
        let turns = vec![r#"{"role": "user", "content": "x"}"#; MAX_STEPS + 1].join(",");
        let html = timeline(&format!("[{turns}]"), 10, MAX_STEPS).into_string();
        assert_eq!(html.matches("<li class=\"user\"").count(), MAX_STEPS);
        assert!(html.contains("the first 500 of 501 steps"), "{html}");
    }
}
