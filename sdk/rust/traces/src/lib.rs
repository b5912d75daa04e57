//! Reads what an agent did: one reader for the trace formats in use, and one list of steps for scorers to judge. It
//! judges nothing itself.
//!
//! ```
//! use scorebox_sdk_traces::Trace;
//!
//! let trace = Trace::parse(r#"[
//!     {"role": "user", "content": "Cancel it."},
//!     {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function",
//!         "function": {"name": "cancel", "arguments": "{\"order\": 7}"}}]},
//!     {"role": "tool", "tool_call_id": "1", "content": "Error: too late"}
//! ]"#).unwrap();
//! let call = trace.tool_calls().next().unwrap();
//! assert_eq!((call.name.as_str(), &call.arguments["order"]), ("cancel", &7.into()));
//! assert_eq!(call.status(), scorebox_sdk_traces::Status::Failed);
//! ```
//!
//! # What is understood
//!
//! | shape | recognized by | read in |
//! |---|---|---|
//! | OpenTelemetry spans (OTLP JSON, or one object a span) and bare attributes | `attributes` next to span ids or times; keys `gen_ai.*`; `resourceSpans` | `spans`, `span_messages`, `span_usage`, `genai` |
//! | OpenTelemetry log records | `event_name` of `gen_ai.….message`, `gen_ai.choice`; `resourceLogs` | `logs`, `span_messages` |
//! | Inspect samples and events | `messages` or `events` next to `epoch`, `scores` …; `event` in each item | `inspect` |
//! | ATIF trajectories | `schema_version` of `ATIF-…`, or `steps` next to `agent` | `atif` |
//! | LangChain messages | `type` of `human`, `ai`, `tool`, `system` | `messages` |
//! | Pydantic AI's messages | `part_kind` in the `parts` | `pydantic` |
//! | OpenHands' events | `source` next to `action` and `args`, or next to `observation` | `openhands` |
//! | lines of Codex | `type` of `item.completed`, `response_item` … | `codex` |
//! | niceeval's event stream, lines of Claude Code and the last one of Gemini CLI | `type` of `action.called` …; `type` next to `message` | `stream` |
//! | Responses API items | `type` of `function_call`, `function_call_output`, `reasoning` … | `items` |
//! | chat messages: OpenAI (tool calls with JSON text or objects, with or without ids, `function_call`), Anthropic, Google, AI SDK, tau-bench | `role` | `messages`, `parts` |
//! | content blocks and parts without a message, the AI SDK's streams | `type` of `tool_use`, `tool_result`, `tool-input-available` …; `functionCall` … | `parts` |
//! | Google contents | `parts` | `messages` |
//! | Bedrock's answers to Converse | `stopReason` next to `output.message` | `converse`, `parts` |
//! | the AI SDK's steps in parts | a list of `content` next to `finishReason`, with calls in it, or with none next to it | `messages`, `parts` |
//! | step dictionaries, LangChain's actions, the AI SDK's steps, bare calls | a tool's name, `action`, `observation`, `toolCalls` … | `plain` |
//!
//! The table's order is the precedence: the first row that fits decides what an item is. The first four are looked for
//! in the whole list, the others item by item, so that a list may mix them. The list may be inside wrappers
//! (`messages`, `events`, `trajectory`, `steps`, `output`, `choices` …), and the whole may be JSON in a string, or JSON
//! Lines with one item per line. A list of turns, each with `events` next to `status` or `usage`, is read as one run.
//!
//! An item of an unknown `type` among known ones is kept as [`StepKind::Other`], unless it holds a call. An item that
//! cannot be recognized is an error, which states its position and its keys; so is a call that does not name its tool,
//! or anything that looks like a call and cannot be read.
//!
//! # Map
//!
//! `answer` finds the trace in a text; `read` opens wrappers, `beside` refuses calls that `read` would leave out,
//! `outcome` reads how the run ended, `turns` reads lists of turns, and `item` recognizes items; `builder` assigns
//! results to calls; `step` is the result. `calls` reads one call and `fields` takes out fields, under any of their
//! names; `names` knows tools, and what their results show; `times` reads points in time; `part_types` knows what the
//! types of parts mean; `conversation` drops messages that model calls repeat, and `reported` remembers their calls;
//! `said_again` drops what a stream of events names again, and `known` remembers it; `same_request` finds spans that
//! describe the same request, and `same_call` those that describe the same call; `tally` adds up tokens and cost. For
//! scorers: `pattern` matches arguments and texts (`expression` compiles their regular expressions, `written` has
//! arguments as a trace writes them), `expected` reads the expected calls, `argument_match` is the key that says how
//! their arguments are compared, `assignment` pairs calls, `count` says how often something must happen, `given`
//! refuses `null`.

#![deny(missing_docs)]

mod answer;
mod argument_match;
mod assignment;
mod atif;
mod beside;
mod builder;
mod calls;
mod codex;
mod conversation;
mod converse;
mod count;
mod expected;
mod expression;
mod fields;
mod genai;
mod given;
mod inspect;
mod item;
mod items;
mod known;
mod logs;
mod messages;
mod names;
mod openhands;
mod outcome;
mod part_types;
mod parts;
mod pattern;
mod plain;
mod pydantic;
mod read;
mod reported;
mod said_again;
mod same_call;
mod same_request;
mod span_messages;
mod span_usage;
mod spans;
mod step;
mod stream;
mod tally;
mod times;
mod turns;
mod written;

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use scorebox_config_keys::nearest;
use scorebox_sdk::{Case, Part, ScoreError, Usage};

pub use argument_match::ArgumentMatch;
pub use assignment::{Assignment, Pairing, check_pairs};
pub use count::Count;
pub use expected::{ExpectedCall, ExpectedCalls, ExpectedRun, ExpectedTurn};
pub use given::given;
pub use pattern::{ArgumentPattern, TextOrRegex, TextPattern};
pub use step::{
    Event, InputRequest, Outcome, Role, Status, Step, StepKind, SubAgentCall, ToolCall, Turn,
};
pub use tally::decimal;
pub use written::Written;

/// What an agent did, step by step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trace {
    steps: Vec<Step>,
    turns: Vec<Turn>,
    events: Vec<Event>,
    tools: Vec<Value>,
    outcome: Option<Outcome>,
    usage: Option<Usage>,
    understood: usize,
}

impl Trace {
    /// What the agent did, step by step: the case's `trace` or, if it has none, the output if that is a trace. A text
    /// is a trace if it is the JSON of one, or if lines of it are calls, by their type.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if there is neither, or the trace has an unknown
    /// format.
    pub fn of(case: &Case) -> Result<Self, ScoreError> {
        read_case(case, Self::read)
    }

    /// As [`Trace::of`], for a scorer that only needs events: a list of items of unknown types is accepted.
    ///
    /// # Errors
    /// As [`Trace::of`].
    pub fn events_of(case: &Case) -> Result<Self, ScoreError> {
        read_case(case, Self::read_events)
    }

    /// What a case consumed: its `usage` or, if it has none, the tokens and the cost that its trace states. A `usage`
    /// has no field for tokens of a cache: if a trace states some, and has the same output tokens as a `usage` without
    /// a cost, the trace's tokens are used. A scorer that calls this reads `Fields::USAGE` and `Fields::TRACE`.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if neither states any, or if the case's trace cannot be read.
    pub fn usage_of(case: &Case) -> Result<Usage, ScoreError> {
        let missing = match case.require_usage() {
            Ok(usage) => return Ok(Self::with_cache(case, *usage)),
            Err(missing) => missing,
        };
        let stated = match Self::of(case) {
            Ok(trace) => trace.usage(),
            Err(error) if case.trace().is_some() => return Err(error),
            Err(_) => None,
        };
        stated.ok_or_else(|| {
            ScoreError::invalid_input(format!("{missing}, and no trace that states one"))
        })
    }

    /// The usage, or what the trace states if that includes tokens of a cache and describes the same answers.
    fn with_cache(case: &Case, usage: Usage) -> Usage {
        if usage.cost_usd.is_some() || case.trace().is_none() {
            return usage;
        }
        let stated = Self::of(case).ok().and_then(|trace| trace.usage());
        let has_cache = |it: &Usage| it.cache_read_tokens.or(it.cache_write_tokens).is_some();
        let is_of_the_same = |it: &Usage| it.output_tokens == usage.output_tokens;
        stated.filter(|it| has_cache(it) && is_of_the_same(it)).unwrap_or(usage)
    }

    /// Reads a trace from JSON text, in any of the formats above. Whatever the text, it does not panic, and takes time
    /// in proportion to n log n for a text of length n.
    ///
    /// # Errors
    /// A [`TraceError`] that says what was found, and what is understood.
    pub fn parse(json: &str) -> Result<Self, TraceError> {
        let value = serde_json::from_str(json).map_err(|error| {
            TraceError::new(format!(
                "is not JSON: {}",
                scorebox_sdk::plain_message(&error.to_string())
            ))
        })?;
        Self::read(value)
    }

    /// Reads a trace from a JSON value.
    ///
    /// # Errors
    /// As [`Trace::parse`].
    pub fn read(value: Value) -> Result<Self, TraceError> {
        let mut builder = builder::Builder::default();
        read::read(&mut builder, value)?;
        if let Some(unread) = builder.unread.take() {
            return Err(unread);
        }
        let trace = Self::made_of(builder);
        if trace.understood == 0
            && let Some(event) = trace.events.first()
        {
            let name = scorebox_sdk::excerpt(&event.name, 40);
            return Err(TraceError::unknown(&format!("its items are of the type `{name}`")));
        }
        Ok(trace)
    }

    /// Reads a trace for its events only: all of its items may be of unknown types.
    ///
    /// # Errors
    /// As [`Trace::parse`].
    pub fn read_events(value: Value) -> Result<Self, TraceError> {
        let mut builder = builder::Builder::default();
        read::read(&mut builder, value)?;
        Ok(Self::made_of(builder))
    }

    fn made_of(builder: builder::Builder) -> Self {
        let usage = builder.tally.total(&builder.steps);
        let builder::Builder { steps, turns, events, tools, outcome, understood, .. } = builder;
        Self { steps, turns, events, tools, outcome, usage, understood }
    }

    /// The list of step dictionaries as the document has it: the document itself, or under the key that wraps it. The
    /// steps are not read.
    #[must_use]
    pub fn raw_steps(document: &Value) -> Option<&[Value]> {
        read::raw_steps(document)
    }

    /// Everything that happened, in order.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The messages and tool results that the steps come from.
    #[must_use]
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// The stream of events. Calls and their results are separate events.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The types of its events, sorted: the common ones, and the trace's own names.
    #[must_use]
    pub fn event_types(&self) -> BTreeSet<&str> {
        let common = self.events.iter().map(|event| event.name.as_ref());
        let own = self.events.iter().filter_map(|event| event.raw_name.as_deref());
        common.chain(own).collect()
    }

    /// The common type of event that a name probably means, if the name is neither common nor in this trace; `None` if
    /// no type is close to it.
    ///
    /// ```
    /// # use scorebox_sdk_traces::{TextPattern, Trace};
    /// let trace = Trace::parse(r#"[{"role": "user", "content": "Hi"}]"#).unwrap();
    /// let meant = |name: &str| trace.meant_event(&TextPattern::Text(name.to_owned()));
    /// assert_eq!(meant("input.request"), Some("input.requested"));
    /// assert_eq!((meant("error"), meant("user"), meant("saved")), (None, None, None));
    /// ```
    #[must_use]
    pub fn meant_event(&self, pattern: &TextPattern) -> Option<&'static str> {
        let TextPattern::Text(name) = pattern else { return None };
        let is_known = Event::COMMON.contains(&name.as_str())
            || self.events.iter().any(|event| event.is(name));
        if is_known { None } else { nearest(name, Event::COMMON) }
    }

    /// The tools that the trace declares, unchanged: next to its steps, and in items for them.
    #[must_use]
    pub fn tools(&self) -> &[Value] {
        &self.tools
    }

    /// How the run ended, if the trace states it.
    #[must_use]
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// The tool calls, in order, without results that belong to no call.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.steps.iter().filter_map(|step| match &step.kind {
            StepKind::ToolCall(call) if !call.is_orphan => Some(call),
            _ => None,
        })
    }

    /// The results that belong to no call.
    pub fn orphan_results(&self) -> impl Iterator<Item = &ToolCall> {
        self.steps.iter().filter_map(|step| match &step.kind {
            StepKind::ToolCall(call) if call.is_orphan => Some(call),
            _ => None,
        })
    }

    /// The tool calls, in order, including results that belong to no call. For such a result, the arguments of its call
    /// are not known, and the name only if the result states it.
    pub fn calls_and_results(&self) -> impl Iterator<Item = &ToolCall> {
        self.steps.iter().filter_map(|step| match &step.kind {
            StepKind::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// The tool calls of one turn.
    pub fn calls_of<'t>(&'t self, turn: &'t Turn) -> impl Iterator<Item = &'t ToolCall> {
        let steps = turn.calls.iter().filter_map(|step| self.steps.get(*step));
        steps.filter_map(|step| match &step.kind {
            StepKind::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// The calls of other agents, in order, excluding the run's own agent.
    pub fn sub_agents(&self) -> impl Iterator<Item = &SubAgentCall> {
        self.steps.iter().filter_map(|step| match &step.kind {
            StepKind::SubAgent(call) if !call.is_root => Some(call),
            _ => None,
        })
    }

    /// How a call of another agent ended: as the trace states or else, if a tool call started the agent, as that call
    /// ended, whose result may show it; see [`ToolCall::status`].
    #[must_use]
    pub fn ending_of(&self, agent: &SubAgentCall) -> Status {
        match agent.call.and_then(|step| self.steps.get(step)).map(|step| &step.kind) {
            Some(StepKind::ToolCall(call)) if agent.status == Status::Unknown => call.status(),
            _ => agent.status,
        }
    }

    /// The skills that were loaded, in order.
    pub fn skills(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter_map(|step| match &step.kind {
            StepKind::SkillLoad { skill, .. } => Some(skill.as_str()),
            _ => None,
        })
    }

    /// What was said, in order.
    pub fn messages(&self) -> impl Iterator<Item = (&Role, &str)> {
        self.steps.iter().filter_map(|step| match &step.kind {
            StepKind::Message { role, text } => Some((role, text.as_str())),
            _ => None,
        })
    }

    /// The errors that are not a tool's result.
    pub fn errors(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter_map(|step| match &step.kind {
            StepKind::Error { message } => Some(message.as_str()),
            _ => None,
        })
    }

    /// Whether the run has stopped to wait for a person: the trace says so, or the last thing that happened is a
    /// question. Thinking, compaction and events of unknown kinds do not count as something that happened.
    #[must_use]
    pub fn is_parked(&self) -> bool {
        let happens = |event: &&Event| {
            matches!(
                event.name.as_ref(),
                "message"
                    | "action.called"
                    | "action.result"
                    | "subagent.called"
                    | "subagent.completed"
                    | "skill.loaded"
                    | "input.requested"
                    | "input.answered"
                    | "error"
            )
        };
        let last = self.events.iter().rev().find(happens);
        self.outcome == Some(Outcome::Waiting)
            || last.is_some_and(|event| event.name == "input.requested")
    }

    /// The tokens and the cost that the trace states: a total of the run, or else the sum of the
    /// models' answers.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }
}

fn read_case(
    case: &Case,
    read: fn(Value) -> Result<Trace, TraceError>,
) -> Result<Trace, ScoreError> {
    if let Some(trace) = case.trace() {
        return read(trace.value()?).map_err(|error| error.of(&trace));
    }
    let output = case.output();
    let kind = output.kind();
    let read = match kind {
        "an array" | "an object" => read(output.value()?).ok(),
        "a string" => answer::in_text(&output.text()?).and_then(|value| read(value).ok()),
        _ => None,
    };
    match (read, case.require_trace()) {
        (Some(trace), _) => Ok(trace),
        (None, Err(ScoreError::InvalidInput(message))) => {
            let message = format!("{message}; its `output` ({kind}) is not a trace either");
            Err(ScoreError::InvalidInput(message))
        }
        (None, Err(other)) => Err(other),
        // There is none: `Trace::of` would have read it above.
        (None, Ok(trace)) => Err(trace.should_be("a trace")),
    }
}

/// Why a trace cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceError {
    message: String,
}

impl TraceError {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    fn unknown(found: &str) -> Self {
        Self::new(format!(
            "is in an unknown format: {found}. Known formats are chat messages (OpenAI, \
             Anthropic, Google, Bedrock, LangChain, AI SDK, Pydantic AI, tau-bench), Responses API \
             items, OpenTelemetry GenAI spans, ATIF trajectories, Inspect samples, events of \
             niceeval, Claude Code, Codex and OpenHands, and steps that name their tool (`tool`, \
             `action`, `name` with `arguments`)"
        ))
    }

    /// The error of a part of a case.
    #[must_use]
    pub fn of(&self, part: &Part<'_>) -> ScoreError {
        ScoreError::invalid_input(format!("`{}` {}", part.name(), self.message))
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the trace {}", self.message)
    }
}

impl std::error::Error for TraceError {}

#[cfg(test)]
mod tests;
