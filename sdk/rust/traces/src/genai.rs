//! Interprets spans: OpenTelemetry's conventions for generative AI, including the keys of their first versions, and the
//! kinds of spans that OpenInference, OpenLLMetry and DeepEval use. How a span is found is decided elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::builder::{Builder, CallResult};
use crate::calls::read_call;
use crate::conversation::{Conversation, fingerprint};
use crate::fields::{self, Object, id, take, text, word};
use crate::part_types;
use crate::same_call::{self, Reported};
use crate::same_request::counted_elsewhere;
use crate::span_messages::{
    event_name, from_event, indexed, is_message_event, messages, of_openinference, parsed,
};
use crate::span_usage::usage;
use crate::spans::{ANCESTORS, Span};
use crate::step::{Outcome, Role, Status, StepKind, SubAgentCall, ToolCall};
use crate::times::Time;

/// What a span is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// A model call.
    Model,
    /// A tool call.
    Tool,
    /// An agent's run.
    Agent,
    /// None of these, or a span whose content another span already has.
    Unknown,
}

/// Reads spans: in the order of their times if all have them, else in the order of the document. Returns how many of
/// them were understood.
pub(super) fn read_spans(builder: &mut Builder, mut spans: Vec<Span>) -> usize {
    let by_id = by_id(&spans);
    let parents = parents(&spans, &by_id);
    let kept = |(index, span): (usize, &Span)| {
        let is_repeated = key(span).is_some_and(|key| by_id.get(&key) != Some(&index));
        if is_repeated { Kind::Unknown } else { kind(span) }
    };
    let mut kinds: Vec<Kind> = spans.iter().enumerate().map(kept).collect();
    let is_model = |index: usize| kinds[index] == Kind::Model;
    for twice in counted_elsewhere(&spans, &parents, is_model) {
        kinds[twice] = Kind::Unknown;
    }
    let moments = moments(&spans, &kinds, &parents);
    // The number of steps when each span began.
    let mut begun = vec![0; spans.len()];
    let mut reader = Reader {
        builder,
        conversation: Conversation::default(),
        steps: vec![None; spans.len()],
        called: BTreeSet::new(),
        answered: BTreeSet::new(),
        unasked: BTreeSet::new(),
        has_answers: false,
        root_failed: false,
    };
    for (index, ends) in moments {
        let parent = parents[index];
        reader.builder.parent = ancestor(&parents, &reader.steps, parent);
        reader.builder.start_ms = spans[index].start.map(Time::ms);
        if !ends {
            begun[index] = reader.builder.steps.len();
        }
        let thought =
            kinds[index] == Kind::Tool && within_model(&kinds, &parents, &reader.steps, parent);
        let span = &mut spans[index];
        match (kinds[index], ends) {
            (Kind::Model, true) => reader.said(span, Some(begun[index])),
            (Kind::Agent, true) => reader.said(span, None),
            (Kind::Model, false) => reader.asked(span),
            (Kind::Tool, _) => reader.tool(index, span, thought),
            (Kind::Agent, false) => {
                let is_root = reader.builder.parent.is_none();
                reader.agent(index, span, is_root);
            }
            (Kind::Unknown, _) => {}
        }
    }
    builder.parent = None;
    builder.start_ms = None;
    kinds.iter().filter(|kind| **kind != Kind::Unknown).count()
}

/// The starts and ends of spans (a span's index, and whether it ends) in order.
fn moments(spans: &[Span], kinds: &[Kind], parents: &[Option<usize>]) -> Vec<(usize, bool)> {
    let timed = spans.iter().all(|span| span.start.is_some());
    // Without times, a span ends after the last span inside it.
    let mut last: Vec<usize> = (0..spans.len()).collect();
    for index in (0..spans.len()).rev() {
        if let Some(parent) = parents[index] {
            last[parent] = last[parent].max(last[index]);
        }
    }
    // If several spans end before the next one begins, the inner span ends first.
    let room = spans.len() as i64 + 1;
    let place = |index: usize, before: usize| Time(index as i64 * room - before as i64);
    let mut moments = Vec::new();
    for (index, span) in spans.iter().enumerate() {
        let (start, end) = match (span.start, span.end) {
            (Some(start), end) if timed => (start, end.unwrap_or(start).max(start)),
            _ => (place(index, 0), place(last[index] + 1, index + 1)),
        };
        let depth = depth(parents, index);
        moments.push((start, 1, depth, index, false));
        // The call and the result of a tool span are read together, when the span begins.
        if kinds[index] != Kind::Tool {
            // At the same moment, earlier spans end before others begin.
            let order = if end > start { 0 } else { 2 };
            moments.push((end, order, -depth, index, true));
        }
    }
    moments.sort_unstable();
    moments.into_iter().map(|(.., index, ends)| (index, ends)).collect()
}

/// How many ancestors a span has.
fn depth(parents: &[Option<usize>], span: usize) -> i32 {
    let mut here = parents[span];
    let mut depth = 0;
    while let Some(parent) = here.filter(|_| depth < ANCESTORS) {
        depth += 1;
        here = parents[parent];
    }
    depth
}

fn kind(span: &Span) -> Kind {
    let operation = word(&span.attributes, "gen_ai.operation.name");
    match operation {
        Some("chat" | "text_completion" | "generate_content") => return Kind::Model,
        Some("execute_tool") => return Kind::Tool,
        Some("invoke_agent") => return Kind::Agent,
        _ => {}
    }
    let kinds = ["openinference.span.kind", "traceloop.span.kind"];
    let named = kinds.iter().find_map(|key| word(&span.attributes, key));
    match named.or(span.kind.as_deref()).map(str::to_ascii_lowercase).as_deref() {
        Some("tool") => return Kind::Tool,
        Some("llm") => return Kind::Model,
        Some("agent") => return Kind::Agent,
        _ => {}
    }
    let starts = |start: &str| span.attributes.keys().any(|key| key.starts_with(start));
    if starts("gen_ai.tool.name") || starts("gen_ai.tool.call.") {
        Kind::Tool
    } else if starts("gen_ai.input.messages")
        || starts("gen_ai.output.messages")
        || starts("gen_ai.prompt.")
        || starts("gen_ai.completion.")
        || starts("llm.output_messages.")
        || span
            .events
            .iter()
            .any(|event| event.as_object().and_then(event_name).is_some_and(is_message_event))
    {
        Kind::Model
    } else {
        Kind::Unknown
    }
}

/// What identifies a span: its trace, and its id in that trace.
type Key<'s> = (Option<&'s str>, &'s str);

fn key(span: &Span) -> Option<Key<'_>> {
    Some((span.trace_id.as_deref(), span.id.as_deref()?))
}

/// The span for each key. An exporter may deliver a span more than once: the first one counts, or the first one that
/// has an end.
fn by_id(spans: &[Span]) -> BTreeMap<Key<'_>, usize> {
    let mut by_id = BTreeMap::new();
    for (index, span) in spans.iter().enumerate() {
        if let Some(key) = key(span) {
            let kept = by_id.entry(key).or_insert(index);
            if spans[*kept].end.is_none() && span.end.is_some() {
                *kept = index;
            }
        }
    }
    by_id
}

/// The parent of each span, if the trace contains it.
fn parents(spans: &[Span], by_id: &BTreeMap<Key<'_>, usize>) -> Vec<Option<usize>> {
    let parent = |span: &Span| {
        let key = (span.trace_id.as_deref(), span.parent_id.as_deref()?);
        by_id.get(&key).copied()
    };
    spans.iter().map(|span| span.inside.or_else(|| parent(span))).collect()
}

/// The step of the closest ancestor that has one.
fn ancestor(
    parents: &[Option<usize>],
    steps: &[Option<usize>],
    mut span: Option<usize>,
) -> Option<usize> {
    for _ in 0..ANCESTORS {
        let here = span?;
        if let Some(step) = steps[here] {
            return Some(step);
        }
        span = parents[here];
    }
    None
}

/// Whether there is a model span between a span and its closest ancestor that has a step.
fn within_model(
    kinds: &[Kind],
    parents: &[Option<usize>],
    steps: &[Option<usize>],
    mut span: Option<usize>,
) -> bool {
    for _ in 0..ANCESTORS {
        match span {
            Some(here) if steps[here].is_none() && kinds[here] != Kind::Model => {
                span = parents[here];
            }
            Some(here) => return steps[here].is_none(),
            None => return false,
        }
    }
    false
}

struct Reader<'b> {
    builder: &'b mut Builder,
    conversation: Conversation,
    /// The step that a span became.
    steps: Vec<Option<usize>>,
    /// Ids of calls that a tool span reported.
    called: BTreeSet<String>,
    /// Ids of calls whose result a tool span reported.
    answered: BTreeSet<String>,
    /// Calls that a tool span reported before any model's answer contained them.
    unasked: BTreeSet<usize>,
    /// Whether some model span contained the model's answer.
    has_answers: bool,
    /// Whether the run failed in a model span without a parent. The next such span continues the run and clears this.
    root_failed: bool,
}

impl Reader<'_> {
    /// Reads a model's input.
    fn asked(&mut self, span: &mut Span) {
        let system = messages(&mut span.attributes, "gen_ai.system_instructions");
        if !system.is_empty() {
            self.read(vec![json!({"role": "system", "parts": system})], None);
        }
        let mut asked = messages(&mut span.attributes, "gen_ai.input.messages");
        asked.extend(indexed(&mut span.attributes, "gen_ai.prompt."));
        asked.extend(of_openinference(&mut span.attributes, "llm.input_messages."));
        let tools = messages(&mut span.attributes, "gen_ai.tool.definitions");
        if self.builder.tools.is_empty() {
            self.builder.tools = tools;
        }
        let mut said = Vec::new();
        for event in std::mem::take(&mut span.events) {
            match event {
                Value::Object(event) if event_name(&event).is_some() => {
                    from_event(event, &mut asked, &mut said);
                }
                event => span.events.push(event),
            }
        }
        self.read(asked, None);
        if !said.is_empty() {
            span.attributes.insert("gen_ai.output.messages".to_owned(), Value::Array(said));
        }
    }

    /// Reads the answer of a model whose span began after this many steps, or of an agent.
    fn said(&mut self, span: &mut Span, begun: Option<usize>) {
        let is_model = begun.is_some();
        let first = self.builder.steps.len();
        let mut said = messages(&mut span.attributes, "gen_ai.output.messages");
        said.extend(indexed(&mut span.attributes, "gen_ai.completion."));
        said.extend(of_openinference(&mut span.attributes, "llm.output_messages."));
        // An agent's output repeats its model's answer, if the trace has that.
        if said.is_empty()
            && (is_model || !self.has_answers)
            && word(&span.attributes, "gen_ai.operation.name").is_none()
            && let Some(text) = text(&mut span.attributes, &["output.value"])
        {
            said.push(json!({"role": "assistant", "content": text}));
        }
        self.has_answers |= is_model && !said.is_empty();
        let cut_off = self.builder.cut_off.take();
        self.read(said, begun);
        self.ended(span, is_model, cut_off);
        let usage = usage(&span.attributes);
        if !is_model {
            self.builder.tally.around(usage);
        } else {
            self.builder.usage(first, usage);
            if let Some(step) = self.builder.steps.get_mut(first) {
                step.duration_ms = duration(span);
            }
        }
        let is_root = self.builder.parent.is_none();
        if is_model && is_root && std::mem::take(&mut self.root_failed) {
            self.builder.outcome = None;
        }
        if let Some(error) = span.error.take().filter(|_| is_model || is_root) {
            if is_root {
                self.builder.outcome = Some(Outcome::Failed(Some(error.clone())));
                self.root_failed = is_model;
            }
            self.builder.error(error);
        }
    }

    /// Reads why a model's answer ended. `before` is what cut off the previous answer: it still holds if an agent
    /// repeats that answer, but not if a model continues it.
    fn ended(&mut self, span: &mut Span, is_model: bool, before: Option<String>) {
        let (mut cut, mut before) = (None, before);
        if is_model {
            let reasons = take(&mut span.attributes, &["gen_ai.response.finish_reasons"]);
            cut = match reasons.map(parsed) {
                Some(Value::Array(reasons)) => reasons.iter().find_map(cut_off),
                reason => reason.as_ref().and_then(cut_off),
            };
            before = None;
        }
        self.builder.cut_off = cut.or(self.builder.cut_off.take()).or(before);
    }

    /// Reads messages, except calls and results that tool spans have already reported. `begun`: a model has just
    /// written them, and began after this many steps.
    fn read(&mut self, mut messages: Vec<Value>, begun: Option<usize>) {
        for message in messages.iter_mut().filter_map(Value::as_object_mut) {
            // If a call has no id, only the whole message shows that it is repeated.
            let whole = (!self.unasked.is_empty()).then(|| fingerprint(message));
            let mut nameless = false;
            for key in ["parts", "content", "tool_calls"] {
                let parts = message.get_mut(key).and_then(Value::as_array_mut);
                let Some(parts) = parts else { continue };
                let is_list = key == "tool_calls";
                parts.retain(|part| match part.as_object() {
                    Some(part) => !self.has_reported(part, is_list, begun, &mut nameless),
                    None => true,
                });
            }
            if let Some(whole) = whole.filter(|_| nameless) {
                self.conversation.know(whole);
            }
        }
        messages.retain(|message| {
            let parts = message.get("parts").and_then(Value::as_array);
            parts.is_none_or(|parts| !parts.is_empty())
        });
        match begun {
            Some(_) => self.conversation.add(self.builder, messages),
            None => self.conversation.read(self.builder, messages),
        }
    }

    /// Whether a part of a message is a call or a result that a tool span has reported. `is_list`: it is in a list of
    /// calls. Sets `nameless` if it is a call without an id.
    fn has_reported(
        &mut self,
        part: &Object,
        is_list: bool,
        begun: Option<usize>,
        nameless: &mut bool,
    ) -> bool {
        let id = word(part, "id").unwrap_or_default();
        match word(part, "type").unwrap_or_default() {
            "tool_call_response" => return self.answered.contains(id),
            kind if !is_list && !part_types::is_call(kind) => return false,
            _ if self.called.contains(id) => return true,
            _ => {}
        }
        // A tool may begin while the model is still answering or, by another machine's clock, even earlier.
        let mut since = self.unasked.range(begun.unwrap_or(0)..).copied().peekable();
        let Some(asked) = since.peek().and_then(|_| read_call(part.clone())) else { return false };
        let Some(step) = same_call::done(self.builder, since, &asked) else { return false };
        self.unasked.remove(&step);
        *nameless |= asked.id.is_none();
        if let Some(id) = &asked.id {
            self.builder.name_call(step, id);
            self.called.insert(id.clone());
        }
        if let Some(StepKind::ToolCall(call)) =
            self.builder.steps.get_mut(step).map(|step| &mut step.kind)
        {
            self.answered.extend(asked.id.clone().filter(|_| call.result.is_some()));
            same_call::complete(call, asked);
        }
        true
    }

    /// Reads a tool span. `thought`: a model was called between this span and the enclosing step.
    fn tool(&mut self, index: usize, span: &mut Span, thought: bool) {
        let keys = ["gen_ai.tool.name", "tool.name", "traceloop.entity.name"];
        let name = text(&mut span.attributes, &keys).filter(|name| !name.is_empty());
        // If the tool has no name, the conventions name the span after the operation alone.
        let name = name.unwrap_or_else(|| match span.name.split_once(' ') {
            Some(("execute_tool", name)) => name.to_owned(),
            _ if span.name == "execute_tool" => String::new(),
            _ => std::mem::take(&mut span.name),
        });
        let id = id(&mut span.attributes, &["gen_ai.tool.call.id", "tool_call.id"]);
        let keys = ["gen_ai.tool.call.result", "output.value", "traceloop.entity.output"];
        let value = take(&mut span.attributes, &keys).map(parsed);
        let (status, error) = match span.error.take() {
            Some(error) => (Status::Failed, Some(error)),
            None => (Status::Succeeded, None),
        };
        let call = ToolCall { id: id.clone(), name: name.clone(), ..ToolCall::default() };
        let ending = (value.as_ref(), status);
        let once = span.inside.is_some() || span.kind.is_some();
        if self.is_inside_itself(Reported { call, once, thought }, span, ending) {
            return;
        }
        let claimed = self.builder.claim(id.as_deref(), Some(&name));
        let step = claimed.filter(|step| !self.unasked.contains(step)).or_else(|| {
            self.builder.turn(Role::Assistant);
            let mut call = ToolCall { id: id.clone(), name: name.clone(), ..ToolCall::default() };
            fields::arguments(&mut call, tool_input(&mut span.attributes), false);
            self.called.extend(id.clone());
            let step = self.builder.call(call)?;
            self.builder.claim_step(step);
            self.unasked.insert(step);
            Some(step)
        });
        let Some(step) = step else {
            return;
        };
        self.steps[index] = Some(step);
        match value.or_else(|| error.clone().map(Value::String)) {
            Some(value) => {
                self.answered.extend(id);
                self.builder.turn(Role::Tool);
                let result = CallResult { value, status, error, ..CallResult::default() };
                self.builder.answer(step, result);
            }
            // The result may still be in the conversation.
            None => self.builder.set_status(step, status),
        }
        if let Some(step) = self.builder.steps.get_mut(step) {
            step.start_ms = span.start.map(Time::ms);
            step.duration_ms = duration(span);
            step.parent = self.builder.parent;
        }
    }

    /// Whether a call is the same as the one whose span encloses it, because a client and its server both report it.
    /// Anything that only the inner span states is added to the outer call.
    fn is_inside_itself(
        &mut self,
        mut inside: Reported,
        span: &mut Span,
        ending: (Option<&Value>, Status),
    ) -> bool {
        let around = self.builder.parent.and_then(|step| self.builder.steps.get_mut(step));
        let Some(StepKind::ToolCall(around)) = around.map(|step| &mut step.kind) else {
            return false;
        };
        if !inside.may_be(around) {
            return false;
        }
        let input = tool_input(&mut span.attributes);
        fields::arguments(&mut inside.call, input.clone(), false);
        inside.call.result = ending.0.cloned();
        inside.call.stated_status = ending.1;
        let is_same = inside.is(around);
        if is_same {
            same_call::complete(around, inside.call);
        } else if let Some(input) = input {
            span.attributes.insert("gen_ai.tool.call.arguments".to_owned(), input);
        }
        is_same
    }

    fn agent(&mut self, index: usize, span: &mut Span, is_root: bool) {
        let name = text(&mut span.attributes, &["gen_ai.agent.name", "agent.name"]);
        let host = text(&mut span.attributes, &["url.full", "server.address"]);
        let port = span.attributes.get("server.port").map(Value::to_string);
        let remote_url = match (host, port) {
            (Some(host), Some(port)) if !host.contains("://") => Some(format!("{host}:{port}")),
            (host, _) => host,
        };
        let call = SubAgentCall {
            id: span.id.clone(),
            name: name.unwrap_or_else(|| span.name.clone()),
            remote_url,
            input: take(&mut span.attributes, &["input.value"]),
            status: if span.error.is_some() { Status::Failed } else { Status::Succeeded },
            error: span.error.clone(),
            is_root,
            ..SubAgentCall::default()
        };
        self.steps[index] = self.builder.sub_agent(call);
    }
}

/// The arguments that a tool span states. OpenInference keeps the tool's schema under a key that others use for the
/// arguments.
fn tool_input(attributes: &mut Object) -> Option<Value> {
    let is_schema = |value: &Value| value.get("properties").is_some();
    take(attributes, &["gen_ai.tool.call.arguments", "input.value"])
        .or_else(|| Some(unwrapped(take(attributes, &["traceloop.entity.input"])?)))
        .or_else(|| Some(parsed(take(attributes, &["tool.parameters"])?)).filter(|v| !is_schema(v)))
}

/// The arguments without the object that OpenLLMetry wraps them in: Python's `args` and `kwargs`, or LangChain's
/// `inputs`.
fn unwrapped(input: Value) -> Value {
    let mut input = parsed(input);
    let is_empty = |key: &str| input.get(key).is_none_or(fields::is_blank);
    let inside = match input.get("args") {
        Some(_) if is_empty("args") => "kwargs",
        None if input.get("input_str").is_some() => "inputs",
        _ => return input,
    };
    match input.get_mut(inside).map(Value::take) {
        Some(arguments @ Value::Object(_)) => arguments,
        _ => input,
    }
}

fn cut_off(reason: &Value) -> Option<String> {
    fields::cut_off(reason.as_str()?)
}

/// How long a span took; `None` if it ends before it begins, as with the clocks of two machines.
fn duration(span: &Span) -> Option<f64> {
    span.start?.ms_until(span.end?)
}
