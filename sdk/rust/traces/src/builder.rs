//! Collects steps, turns and events in order, and assigns each result to its call. It knows no format.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value};

use crate::TraceError;
use crate::fields::Object;
use crate::known::Known;
use crate::names;
use crate::reported::Calls;
use crate::step::{
    Event, InputRequest, Outcome, Role, Status, Step, StepKind, SubAgentCall, ToolCall, Turn,
};
use crate::tally::Tally;
use scorebox_sdk::Usage;

/// The most steps, and the most events, of one trace, because a guest's memory holds no more.
pub(super) const STEP_LIMIT: usize = 100_000;

/// How many of the last calls of a tool, or with an id, are compared with another one.
pub(super) const PARALLEL: usize = 16;

/// The result of a call, before it is known which call it belongs to.
#[derive(Debug, Default)]
pub(super) struct CallResult {
    pub id: Option<String>,
    pub name: Option<String>,
    pub value: Value,
    pub status: Status,
    pub error: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Builder {
    pub steps: Vec<Step>,
    pub turns: Vec<Turn>,
    pub events: Vec<Event>,
    /// The tools that the trace declares.
    pub tools: Vec<Value>,
    pub outcome: Option<Outcome>,
    /// Why the last answer was cut off.
    pub cut_off: Option<String>,
    /// The trace's own name for the item that is being read, until one of its events gets that name.
    pub raw_name: Option<String>,
    /// The step that encloses the next ones.
    pub parent: Option<usize>,
    /// When the next steps began.
    pub start_ms: Option<f64>,
    /// How many items were understood.
    pub understood: usize,
    /// Whether something was dropped at [`STEP_LIMIT`].
    pub overflow: bool,
    /// The first call that cannot be read, described for an error.
    pub refused: Option<String>,
    /// The first item that cannot be read and without which the steps would be wrong.
    pub unread: Option<TraceError>,
    /// The calls in messages that are repeated.
    pub repeated: Calls,
    /// The agents that calls hand work to, by the ids of the calls, if the trace says so elsewhere.
    pub handoffs: BTreeMap<String, VecDeque<String>>,
    /// The calls that a person was asked to approve, by the ids of the requests.
    pub approvals: BTreeMap<String, String>,
    /// Items that began and are not done yet, and the index of the last one with each id.
    pub started: Vec<Object>,
    pub started_by_id: BTreeMap<String, usize>,
    /// Tokens and cost.
    pub tally: Tally,
    /// What events named by the ids of their calls.
    pub known: Known,
    open: OpenCalls,
    /// The skill loads and sub-agent calls that tool calls stand for.
    derived: BTreeMap<usize, usize>,
    /// Whether the current turn is an assistant's, and further items may join it.
    joinable: bool,
}

impl Builder {
    /// Starts a message, or a tool's answer.
    pub(super) fn turn(&mut self, role: Role) {
        if self.turns.len() >= STEP_LIMIT {
            self.overflow = true;
            return;
        }
        self.joinable = false;
        self.turns.push(Turn { role, calls: Vec::new() });
    }

    /// Continues the assistant's turn, or starts one, for formats that write every call as a separate item.
    pub(super) fn assistant_turn(&mut self) {
        if !self.joinable {
            self.turn(Role::Assistant);
            self.joinable = true;
        }
    }

    /// Lets an item inside an assistant's message join the turn of that message.
    pub(super) fn join_turn(&mut self) {
        self.joinable = self.turns.last().is_some_and(|turn| turn.role == Role::Assistant);
    }

    /// Whether there is a call with this id, answered or not.
    pub(super) fn has_call(&self, id: &str) -> bool {
        self.open.by_id.contains_key(id)
    }

    pub(super) fn message(&mut self, role: Role, text: String) {
        // A message with calls often has an empty text.
        if !text.is_empty() {
            self.push(StepKind::Message { role, text }, "message");
        }
    }

    /// Adds a message that is a separate item of the trace: it happened even if it is empty.
    pub(super) fn message_item(&mut self, role: Role, text: String) {
        match text.is_empty() {
            true => self.event("message"),
            false => self.message(role, text),
        }
    }

    /// Adds a thought that is a separate item or part: it happened even if its text is not recorded.
    pub(super) fn thought(&mut self, text: String) {
        match text.is_empty() {
            true => self.event("thinking"),
            false => self.reasoning(text),
        }
    }

    /// Adds a thought that is a field of something else: there, an empty text is not a thought.
    pub(super) fn reasoning(&mut self, text: String) {
        if !text.is_empty() {
            self.push(StepKind::Reasoning { text }, "thinking");
        }
    }

    pub(super) fn error(&mut self, message: String) {
        self.push(StepKind::Error { message }, "error");
    }

    pub(super) fn input_request(&mut self, request: InputRequest) {
        self.push(StepKind::InputRequest(request), "input.requested");
    }

    /// Adds something that the trace names and that fits no kind of step.
    pub(super) fn other(&mut self, name: &str) {
        self.push(StepKind::Other { name: name.to_owned() }, name.to_owned());
    }

    /// Adds an event without a step. The first event of an item gets the item's own name, so that each item counts once
    /// under it.
    pub(super) fn event(&mut self, name: impl Into<Cow<'static, str>>) {
        if self.events.len() >= STEP_LIMIT {
            self.overflow = true;
            return;
        }
        self.events.push(Event { name: name.into(), raw_name: self.raw_name.take() });
    }

    /// Records that something cannot be read without which the trace would be wrong.
    pub(super) fn refuse(&mut self, what: String) {
        self.refused.get_or_insert(what);
    }

    pub(super) fn call(&mut self, mut call: ToolCall) -> Option<usize> {
        if call.id.as_deref().is_some_and(|id| self.repeated.has(id)) {
            return None;
        }
        if call.name.trim().is_empty() {
            self.refuse("a tool call in it does not name its tool".to_owned());
            return None;
        }
        if call.arguments.is_null() {
            call.arguments = Value::Object(Map::new());
        }
        let skill = names::loaded_skill(&call.name, &call.arguments).map(str::to_owned);
        let agent = names::called_agent(&call.name, &call.arguments).map(str::to_owned);
        let agent = agent.or_else(|| self.handoffs.get_mut(call.id.as_deref()?)?.pop_front());
        let asks = names::asks_a_person(&call.name).then(|| call.name.clone());
        let (id, name, answered) = (call.id.clone(), call.name.clone(), call.result.is_some());
        let status = call.stated_status;
        let step = self.push(StepKind::ToolCall(call), "action.called")?;
        if let Some(turn) = self.turns.last_mut() {
            turn.calls.push(step);
        }
        let derived = match (skill, agent, asks) {
            (Some(skill), ..) => self.skill_of(step, id.as_deref(), skill),
            (_, Some(name), _) => {
                let agent = SubAgentCall { name, status, call: Some(step), ..Default::default() };
                self.agent_of(step, id.as_deref(), agent)
            }
            (.., Some(action)) => {
                let request = InputRequest { action: Some(action), ..Default::default() };
                self.push(StepKind::InputRequest(request), "input.requested")
            }
            _ => None,
        };
        if let Some(derived) = derived {
            self.derived.insert(step, derived);
        }
        if answered {
            self.event("action.result");
            self.settle(step, status);
            self.remember(step);
        } else {
            self.open.add(step, id, name);
        }
        Some(step)
    }

    /// Adds a result. It goes to the oldest open call with its id or, if the call or the result has no id, to the
    /// oldest open call with its name (calls without an id first), or of all. A result that belongs to no call becomes
    /// a call itself.
    pub(super) fn result(&mut self, mut result: CallResult) {
        result.name = result.name.filter(|name| !name.is_empty());
        let step = self.claim(result.id.as_deref(), result.name.as_deref()).or_else(|| {
            let call = ToolCall {
                id: result.id.take(),
                name: result.name.take().unwrap_or_else(|| "unknown".to_owned()),
                arguments: Value::Object(Map::new()),
                is_orphan: true,
                ..ToolCall::default()
            };
            self.push_quietly(StepKind::ToolCall(call))
        });
        if let Some(step) = step {
            self.answer(step, result);
        }
    }

    /// Claims the call that a result belongs to; it is then no longer open.
    pub(super) fn claim(&mut self, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        let step = self.open.take(id, name)?;
        self.remember(step);
        Some(step)
    }

    /// Claims an open call that is the same as this one, for formats that record both the start and the end of a call,
    /// each with its tool and arguments.
    pub(super) fn claim_same(&mut self, same: &ToolCall) -> Option<usize> {
        let step = self.open.look(same.id.as_deref(), &same.name).find(|step| {
            let kind = self.steps.get(*step).map(|step| &step.kind);
            matches!(kind, Some(StepKind::ToolCall(call))
                if call.name == same.name && call.arguments == same.arguments)
        })?;
        self.claim_step(step).then_some(step)
    }

    /// Remembers an answered call, so that a later result with its id goes to it too.
    fn remember(&mut self, step: usize) {
        if let Some(StepKind::ToolCall(ToolCall { id: Some(id), .. })) =
            self.steps.get(step).map(|step| &step.kind)
        {
            self.open.answered.insert(id.clone(), step);
        }
    }

    /// Gives a call the id by which results refer to it.
    pub(super) fn name_call(&mut self, step: usize, id: &str) {
        if let Some(StepKind::ToolCall(call)) = self.steps.get_mut(step).map(|step| &mut step.kind)
        {
            call.id.get_or_insert_with(|| id.to_owned());
        }
        self.remember(step);
    }

    /// Whether a call has no result yet.
    pub(super) fn is_open(&self, step: usize) -> bool {
        self.open.open.contains(&step)
    }

    /// Claims one call; false if it is no longer open.
    pub(super) fn claim_step(&mut self, step: usize) -> bool {
        let was_open = self.open.open.remove(&step);
        if was_open {
            self.remember(step);
        }
        was_open
    }

    /// Ends a call that was claimed.
    pub(super) fn answer(&mut self, step: usize, result: CallResult) {
        let CallResult { value, status, error, .. } = result;
        self.event("action.result");
        if let Some(StepKind::ToolCall(call)) = self.steps.get_mut(step).map(|step| &mut step.kind)
        {
            call.result = Some(value);
            call.error = error.or(call.error.take());
            if status != Status::Unknown {
                call.stated_status = status;
            }
        }
        self.settle(step, status);
    }

    /// Sets how a call ended, without a result.
    pub(super) fn set_status(&mut self, step: usize, status: Status) {
        if let Some(StepKind::ToolCall(call)) = self.steps.get_mut(step).map(|step| &mut step.kind)
        {
            call.stated_status = status;
        }
        if let Some(agent) = self.derived.get(&step).filter(|agent| !self.known.has_ended(**agent))
            && let Some(StepKind::SubAgent(agent)) =
                self.steps.get_mut(*agent).map(|step| &mut step.kind)
        {
            agent.status = status;
        }
    }

    /// Ends whatever a tool call stands for with the same status, unless an event already reported its end.
    fn settle(&mut self, call: usize, status: Status) {
        let Some(derived) = self.derived.get(&call).filter(|step| !self.known.has_ended(**step))
        else {
            return;
        };
        match self.steps.get_mut(*derived).map(|step| &mut step.kind) {
            Some(StepKind::SubAgent(agent)) => {
                agent.status = status;
                self.event("subagent.completed");
            }
            Some(StepKind::InputRequest(_)) => self.event("input.answered"),
            _ => {}
        }
    }

    pub(super) fn sub_agent(&mut self, call: SubAgentCall) -> Option<usize> {
        self.push(StepKind::SubAgent(call), "subagent.called")
    }

    /// Adds the usage of a model's answer whose first step has this index.
    pub(super) fn usage(&mut self, first: usize, usage: Option<Usage>) {
        self.usage_of(first, None, usage);
    }

    /// Adds the usage of the answer with this id; a later report replaces an earlier one.
    pub(super) fn usage_of(&mut self, first: usize, id: Option<&str>, usage: Option<Usage>) {
        if let Some(usage) = usage {
            self.tally.answer(&mut self.steps, first, id, usage);
        }
    }

    pub(super) fn push(
        &mut self,
        kind: StepKind,
        event: impl Into<Cow<'static, str>>,
    ) -> Option<usize> {
        let step = self.push_quietly(kind)?;
        self.event(event);
        Some(step)
    }

    /// Adds a step without an event.
    pub(super) fn push_quietly(&mut self, kind: StepKind) -> Option<usize> {
        if self.steps.len() >= STEP_LIMIT {
            self.overflow = true;
            return None;
        }
        if self.turns.is_empty() {
            self.turn(Role::Assistant);
        }
        self.steps.push(Step {
            kind,
            turn: self.turns.len().saturating_sub(1),
            parent: self.parent,
            start_ms: self.start_ms,
            duration_ms: None,
            usage: None,
        });
        Some(self.steps.len() - 1)
    }
}

/// Calls without a result. Each call enters and leaves a queue at most once, so the work stays linear.
#[derive(Debug, Default)]
struct OpenCalls {
    open: BTreeSet<usize>,
    all: VecDeque<usize>,
    by_id: BTreeMap<String, VecDeque<usize>>,
    by_name: BTreeMap<String, VecDeque<usize>>,
    without_id: VecDeque<usize>,
    by_name_without_id: BTreeMap<String, VecDeque<usize>>,
    /// The last answered call with each id: a second result replaces the first one.
    answered: BTreeMap<String, usize>,
}

impl OpenCalls {
    fn add(&mut self, step: usize, id: Option<String>, name: String) {
        self.open.insert(step);
        self.all.push_back(step);
        if let Some(id) = id {
            self.by_id.entry(id).or_default().push_back(step);
        } else {
            self.without_id.push_back(step);
            self.by_name_without_id.entry(name.clone()).or_default().push_back(step);
        }
        self.by_name.entry(name).or_default().push_back(step);
    }

    /// The open calls among the last ones with an id, or else with a name.
    fn look(&self, id: Option<&str>, name: &str) -> impl Iterator<Item = usize> + use<'_> {
        let queue = match id {
            Some(id) => self.by_id.get(id),
            None => self.by_name.get(name),
        };
        let open = |step: &usize| self.open.contains(step);
        queue.into_iter().flatten().copied().rev().take(PARALLEL).filter(open)
    }

    fn take(&mut self, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        let open = &mut self.open;
        let Some(id) = id else {
            let Some(name) = name else { return next(&mut self.all, open) };
            // If only some calls have ids, the same is true of their results.
            let without = self.by_name_without_id.get_mut(name);
            return without
                .and_then(|queue| next(queue, open))
                .or_else(|| next(self.by_name.get_mut(name)?, open));
        };
        if let Some(step) = self.by_id.get_mut(id).and_then(|queue| next(queue, open)) {
            return Some(step);
        }
        // The calls may lack the ids that their results have.
        let step = self.answered.get(id).copied();
        step.or_else(|| match name {
            Some(name) => next(self.by_name_without_id.get_mut(name)?, open),
            None => next(&mut self.without_id, open),
        })
    }
}

/// Takes the first call of a queue that is still open.
fn next(queue: &mut VecDeque<usize>, open: &mut BTreeSet<usize>) -> Option<usize> {
    while let Some(step) = queue.pop_front() {
        if open.remove(&step) {
            return Some(step);
        }
    }
    None
}
