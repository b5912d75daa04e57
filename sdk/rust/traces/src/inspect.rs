//! Reads samples and events of Inspect logs. The messages inside them are read elsewhere.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use crate::builder::{Builder, CallResult};
use crate::conversation::Conversation;
use crate::fields::{self, Object, id, list, take, text, word};
use crate::step::{InputRequest, Outcome, Role, Status, Step, StepKind, SubAgentCall, ToolCall};
use crate::times;

/// Whether an object is an event of Inspect, which has its kind under `event`.
pub(super) fn is_event(event: &Object) -> bool {
    word(event, "event").is_some_and(|kind| {
        matches!(
            kind,
            "sample_init"
                | "sample_limit"
                | "sandbox"
                | "state"
                | "store"
                | "model"
                | "tool"
                | "approval"
                | "input"
                | "score"
                | "score_edit"
                | "error"
                | "logger"
                | "info"
                | "span_begin"
                | "span_end"
                | "step"
                | "subtask"
                | "compaction"
                | "interrupt"
                | "checkpoint"
                | "branch"
                | "anchor"
                | "review"
        )
    })
}

/// Whether an object is a sample of a log.
pub(super) fn is_sample(object: &Object) -> bool {
    let marks = ["epoch", "scores", "store", "model_usage", "sample_id"];
    fields::has(object, &["messages", "events"]) && fields::has(object, &marks)
}

/// Reads a sample: its messages, and from its events what the messages do not contain. Without messages, only the
/// events.
pub(super) fn read_sample(builder: &mut Builder, mut sample: Object) {
    let messages = list(&mut sample, &["messages"]).unwrap_or_default();
    let events = without_grading(list(&mut sample, &["events"]).unwrap_or_default());
    if messages.is_empty() {
        read_events(builder, events);
    } else {
        builder.handoffs = handoffs(&events);
        Conversation::default().add(builder, messages);
        complete(builder, events);
        let why = sample.get("output").and_then(|output| output.pointer("/choices/0/stop_reason"));
        builder.cut_off = why.and_then(Value::as_str).and_then(fields::cut_off);
    }
    builder.understood += 1;
    let models = sample.get("model_usage").and_then(Value::as_object);
    let usages = models.into_iter().flatten().filter_map(|(_, usage)| fields::usage(Some(usage)));
    builder.tally.whole(usages.reduce(crate::tally::plus));
    if let Some(limit) = sample.get("limit").and_then(|limit| limit.get("type")?.as_str()) {
        builder.outcome = Some(Outcome::Failed(Some(format!("it reached its {limit} limit"))));
    }
    if let Some(error) = fields::error_text(take(&mut sample, &["error"])) {
        builder.outcome = Some(Outcome::Failed(Some(error.clone())));
        builder.error(error);
    }
}

/// The events without the work of models, tools and agents for Inspect's scorers: they grade the sample and are not
/// part of it. Spans show which events these are; in logs without spans, the enclosing steps do.
fn without_grading(mut events: Vec<Value>) -> Vec<Value> {
    let mut spans = BTreeSet::new();
    let mut steps = 0_usize;
    events.retain(|event| {
        let Some(event) = event.as_object() else { return true };
        let kind = word(event, "event").unwrap_or_default();
        let is_grading = matches!(word(event, "type"), Some("scorer" | "scorers"));
        let is_inside = |key: &str| word(event, key).is_some_and(|span| spans.contains(span));
        let was_inside = steps > 0 || is_inside("span_id") || is_inside("parent_id");
        match (kind, word(event, "action")) {
            ("span_begin", _) if is_grading || was_inside => {
                spans.extend(word(event, "id").map(str::to_owned));
            }
            ("step", Some("begin")) if is_grading || steps > 0 => steps += 1,
            ("step", Some("end")) => steps = steps.saturating_sub(1),
            _ => {}
        }
        let is_of_an_agent = matches!(kind, "model" | "tool" | "input" | "error" | "subtask");
        !was_inside || !is_of_an_agent && !begins_agent(event)
    });
    events
}

/// The agents that tool calls handed work to, by the calls' ids.
fn handoffs(events: &[Value]) -> BTreeMap<String, VecDeque<String>> {
    let mut agents: BTreeMap<String, VecDeque<String>> = BTreeMap::new();
    for event in events.iter().filter(|event| event.get("event") == Some(&"tool".into())) {
        let of = |key: &str| Some(event.get(key)?.as_str()?.to_owned());
        if let (Some(id), Some(agent)) = (of("id"), of("agent")) {
            agents.entry(id).or_default().push_back(agent);
        }
    }
    agents
}

/// What a list of events as a whole says about agents.
struct Agents {
    /// How often a tool's event reports each agent that a span will report again.
    reported: BTreeMap<String, usize>,
    /// The ids of spans that are inside no agent and no tool: an agent there is the run's own.
    outside: BTreeSet<String>,
}

impl Agents {
    fn of(events: &[Value]) -> Self {
        let mut agents = Self { reported: BTreeMap::new(), outside: BTreeSet::new() };
        for event in events.iter().filter_map(Value::as_object) {
            match word(event, "event") {
                Some("tool") => {
                    if let Some(agent) = word(event, "agent") {
                        *agents.reported.entry(agent.to_owned()).or_default() += 1;
                    }
                }
                Some("span_begin") if !matches!(word(event, "type"), Some("agent" | "tool")) => {
                    if let (Some(id), false) = (word(event, "id"), agents.is_called(event)) {
                        agents.outside.insert(id.to_owned());
                    }
                }
                _ => {}
            }
        }
        agents
    }

    /// Whether an event is the span of an agent that a tool's event already reports.
    fn has_reported(&mut self, event: &Object) -> bool {
        let left = word(event, "name").filter(|_| begins_agent(event));
        match left.and_then(|name| self.reported.get_mut(name)) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }

    /// Whether a span is inside an agent, a tool or something unknown.
    fn is_called(&self, span: &Object) -> bool {
        word(span, "parent_id").is_some_and(|parent| !self.outside.contains(parent))
    }
}

fn begins_agent(event: &Object) -> bool {
    word(event, "event") == Some("span_begin") && word(event, "type") == Some("agent")
}

/// Completes the calls in messages with what their events report: failures, times, hand-offs, and the calls inside
/// those.
fn complete(builder: &mut Builder, events: Vec<Value>) {
    let mut calls: BTreeMap<String, VecDeque<usize>> = BTreeMap::new();
    for (index, step) in builder.steps.iter().enumerate() {
        if let StepKind::ToolCall(ToolCall { id: Some(id), .. }) = &step.kind {
            calls.entry(id.clone()).or_default().push_back(index);
        }
    }
    let mut agents = Agents::of(&events);
    for event in events {
        let Value::Object(event) = event else {
            continue;
        };
        match word(&event, "event") {
            Some("span_begin") if begins_agent(&event) && !agents.has_reported(&event) => {
                read_event(builder, &mut Conversation::default(), &agents, event);
            }
            Some("tool") => {
                let step = word(&event, "id").and_then(|id| calls.get_mut(id)?.pop_front());
                if let Some(step) = step.and_then(|step| builder.steps.get_mut(step)) {
                    complete_call(step, event);
                } else {
                    // A call inside a sub-agent, which the sample's messages do not contain.
                    tool(builder, event);
                }
            }
            Some("input" | "error") => {
                read_event(builder, &mut Conversation::default(), &agents, event);
            }
            _ => {}
        }
    }
}

fn complete_call(step: &mut Step, mut event: Object) {
    step.start_ms = times::time_ms(event.get("timestamp"));
    step.duration_ms = seconds(&event);
    let (status, _) = fields::ending(&mut event);
    if let (StepKind::ToolCall(call), true) = (&mut step.kind, status != Status::Unknown) {
        call.stated_status = status;
    }
}

/// How long a tool worked, in milliseconds.
fn seconds(event: &Object) -> Option<f64> {
    Some(event.get("working_time")?.as_f64()? * 1000.0)
}

/// Reads a list of events alone.
pub(super) fn read_events(builder: &mut Builder, events: Vec<Value>) {
    let mut conversation = Conversation::default();
    let events = without_grading(events);
    let mut agents = Agents::of(&events);
    for event in events {
        if let Value::Object(event) = event {
            builder.understood += usize::from(is_event(&event));
            if agents.has_reported(&event) {
                builder.event("span_begin");
                continue;
            }
            read_event(builder, &mut conversation, &agents, event);
        }
    }
}

fn read_event(
    builder: &mut Builder,
    conversation: &mut Conversation,
    agents: &Agents,
    mut event: Object,
) {
    let Some(kind) = text(&mut event, &["event"]) else {
        return;
    };
    builder.raw_name = Some(kind.clone());
    builder.start_ms = times::time_ms(event.get("timestamp"));
    match kind.as_str() {
        "model" => model(builder, conversation, event),
        "tool" => tool(builder, event),
        // A person was asked and answered.
        "input" => {
            let prompt = text(&mut event, &["input"]);
            builder.input_request(InputRequest { prompt, ..InputRequest::default() });
            builder.event("input.answered");
        }
        "error" => {
            let error = fields::error_text(take(&mut event, &["error"]));
            builder.error(error.unwrap_or_else(|| "error".to_owned()));
        }
        "subtask" => {
            let result = take(&mut event, &["result"]);
            let name = text(&mut event, &["name"]).unwrap_or_else(|| "unknown".to_owned());
            let input = take(&mut event, &["input"]);
            builder.sub_agent(SubAgentCall { name, input, result, ..SubAgentCall::default() });
        }
        "span_begin" if word(&event, "type") == Some("agent") => {
            let name = text(&mut event, &["name"]).unwrap_or_else(|| "unknown".to_owned());
            let is_root = !agents.is_called(&event);
            builder.sub_agent(SubAgentCall { name, is_root, ..SubAgentCall::default() });
        }
        _ => builder.event(kind.clone()),
    }
    builder.raw_name = None;
    builder.start_ms = None;
}

fn model(builder: &mut Builder, conversation: &mut Conversation, mut event: Object) {
    conversation.read(builder, list(&mut event, &["input"]).unwrap_or_default());
    if let Some(error) = fields::error_text(take(&mut event, &["error"])) {
        builder.error(error);
    }
    let Some(Value::Object(mut output)) = take(&mut event, &["output"]) else {
        return;
    };
    let usage = fields::usage(output.get("usage"));
    let choices = list(&mut output, &["choices"]).unwrap_or_default();
    let Some(Value::Object(mut choice)) = choices.into_iter().next() else {
        return;
    };
    if let Some(Value::Object(mut message)) = take(&mut choice, &["message"]) {
        let why = take(&mut choice, &["stop_reason"]);
        message.extend(why.map(|why| ("stop_reason".to_owned(), why)));
        let message = Value::Object(message);
        let first = builder.steps.len();
        conversation.add(builder, vec![message]);
        builder.usage(first, usage);
    }
}

fn tool(builder: &mut Builder, mut event: Object) {
    let id = id(&mut event, &["id"]);
    let name = text(&mut event, &["function"]);
    let took = seconds(&event);
    let (status, error) = fields::ending(&mut event);
    let value = take(&mut event, &["result"]).unwrap_or(Value::Null);
    let step = builder.claim(id.as_deref(), None).or_else(|| {
        let Some(name) = name else {
            builder.refuse(format!("a tool call in it {}", fields::keys(&event)));
            return None;
        };
        builder.turn(Role::Assistant);
        let arguments = take(&mut event, &["arguments"]).unwrap_or_default();
        let call =
            ToolCall { id: id.clone(), name: name.clone(), arguments, ..ToolCall::default() };
        let step = builder.call(call);
        builder.claim(id.as_deref(), Some(&name));
        step
    });
    let Some(step) = step else {
        return;
    };
    let status = match status {
        Status::Unknown => Status::Succeeded,
        status => status,
    };
    builder.answer(step, CallResult { value, status, error, ..CallResult::default() });
    if let Some(step) = builder.steps.get_mut(step) {
        step.duration_ms = took;
    }
    if let Some(name) = text(&mut event, &["agent"]) {
        let agent = SubAgentCall { name, status, call: Some(step), ..SubAgentCall::default() };
        builder.sub_agent(agent);
    }
}
