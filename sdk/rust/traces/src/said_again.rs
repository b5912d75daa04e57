//! Recognizes calls, sub-agents and skills that a stream of events names again, by the ids of their calls: in the same
//! words, or as what a tool call stands for. It reads no event.

use serde_json::{Map, Value};

use crate::builder::{Builder, CallResult, PARALLEL};
use crate::step::{StepKind, SubAgentCall, ToolCall};

/// The name of a sub-agent that the trace leaves unnamed.
pub(super) const UNKNOWN: &str = "unknown";

impl Builder {
    /// Adds a call that an event reports. If it has the id, the tool and the arguments of an earlier call, it is that
    /// call: one more event, but not another call. Ids are reused, so another tool or other arguments make another
    /// call.
    pub(super) fn call_of_event(&mut self, mut call: ToolCall) {
        if call.arguments.is_null() {
            call.arguments = Value::Object(Map::new());
        }
        if self.is_known(&call) {
            return self.event("action.called");
        }
        self.assistant_turn();
        let id = call.id.clone();
        if let (Some(step), Some(id)) = (self.call(call), id) {
            self.known.calls.entry(id).or_default().push(step);
        }
    }

    fn is_known(&self, call: &ToolCall) -> bool {
        let same = call.id.as_ref().and_then(|id| self.known.calls.get(id));
        same.into_iter().flatten().rev().take(PARALLEL).any(|step| {
            let kind = self.steps.get(*step).map(|step| &step.kind);
            matches!(kind, Some(StepKind::ToolCall(known))
                if known.name == call.name && known.arguments == call.arguments)
        })
    }

    /// Adds a sub-agent that an event reports. If it has the id of an earlier one, or of a tool call that stands for
    /// one, and the same name or none, it is that one.
    pub(super) fn agent_of_event(&mut self, call: SubAgentCall) {
        let known = call.id.as_ref().and_then(|id| self.known.agents.get(id).copied());
        if let Some(StepKind::SubAgent(agent)) = known.and_then(|step| self.kind_mut(step))
            && (agent.name == call.name || call.name == UNKNOWN)
        {
            agent.id = agent.id.take().or(call.id);
            agent.remote_url = agent.remote_url.take().or(call.remote_url);
            // The tool call already made the event.
            let is_counted = agent.call.is_some();
            if !is_counted {
                self.event("subagent.called");
            }
            return;
        }
        self.assistant_turn();
        let id = call.id.clone();
        if let (Some(step), Some(id)) = (self.sub_agent(call), id) {
            self.known.agents.insert(id, step);
        }
    }

    /// Ends a sub-agent, which its id names.
    pub(super) fn agent_ended(&mut self, id: Option<&str>, result: CallResult) {
        let known = id.and_then(|id| self.known.agents.get(id).copied());
        // The result of the tool call already made the event.
        if !known.is_some_and(|agent| self.has_answered(agent)) {
            self.event("subagent.completed");
        }
        let step = known.or_else(|| {
            let call = SubAgentCall { name: UNKNOWN.to_owned(), ..Default::default() };
            self.push_quietly(StepKind::SubAgent(call))
        });
        let Some(step) = step else { return };
        self.known.ended.insert(step);
        if let Some(StepKind::SubAgent(call)) = self.kind_mut(step) {
            call.result = (!result.value.is_null()).then_some(result.value);
            call.status = result.status;
            call.error = result.error;
        }
    }

    /// Whether the tool call that stands for a sub-agent has its result.
    fn has_answered(&self, agent: usize) -> bool {
        let Some(StepKind::SubAgent(agent)) = self.steps.get(agent).map(|step| &step.kind) else {
            return false;
        };
        let call = agent.call.and_then(|call| self.steps.get(call)).map(|step| &step.kind);
        matches!(call, Some(StepKind::ToolCall(call)) if call.result.is_some())
    }

    /// Adds a skill that an event reports. If it has the id of an earlier one, or of a tool call that stands for one,
    /// and the same name, it is that one.
    pub(super) fn skill_of_event(&mut self, id: Option<String>, skill: String) {
        let known = id.as_ref().and_then(|id| self.known.skills.get(id).copied());
        if let Some(StepKind::SkillLoad { skill: loaded, call }) =
            known.and_then(|step| self.kind_mut(step))
            && *loaded == skill
        {
            if call.is_none() {
                self.event("skill.loaded");
            }
            return;
        }
        let step = self.push(StepKind::SkillLoad { skill, call: None }, "skill.loaded");
        self.known.skills.extend(id.zip(step));
    }

    /// The skill that a tool call loads: the one that an event reported under its id, or a new one.
    pub(super) fn skill_of(&mut self, by: usize, id: Option<&str>, skill: String) -> Option<usize> {
        let known = id.and_then(|id| self.known.skills.get(id).copied());
        if let Some(StepKind::SkillLoad { skill: loaded, call: call @ None }) =
            known.and_then(|step| self.kind_mut(step))
            && *loaded == skill
        {
            *call = Some(by);
            return known;
        }
        let step = self.push(StepKind::SkillLoad { skill, call: Some(by) }, "skill.loaded");
        self.known.skills.extend(id.map(str::to_owned).zip(step));
        step
    }

    /// The sub-agent that a tool call hands work to: the one that an event reported under its id, or a new one.
    pub(super) fn agent_of(
        &mut self,
        by: usize,
        id: Option<&str>,
        agent: SubAgentCall,
    ) -> Option<usize> {
        let known = id.and_then(|id| self.known.agents.get(id).copied());
        if let Some(StepKind::SubAgent(reported @ SubAgentCall { call: None, .. })) =
            known.and_then(|step| self.kind_mut(step))
            && (reported.name == agent.name || reported.name == UNKNOWN)
        {
            reported.call = Some(by);
            reported.name = agent.name;
            return known;
        }
        let step = self.push(StepKind::SubAgent(agent), "subagent.called");
        self.known.agents.extend(id.map(str::to_owned).zip(step));
        step
    }

    fn kind_mut(&mut self, step: usize) -> Option<&mut StepKind> {
        self.steps.get_mut(step).map(|step| &mut step.kind)
    }
}
