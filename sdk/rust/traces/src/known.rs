//! The calls, sub-agents and skills that a stream of events named by id, as the steps that each id stands for. What
//! that means for the next event is decided elsewhere.

use std::collections::{BTreeMap, BTreeSet};

/// What was named so far, by id.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub calls: BTreeMap<String, Vec<usize>>,
    pub agents: BTreeMap<String, usize>,
    pub skills: BTreeMap<String, usize>,
    /// Sub-agents whose end an event reported.
    pub ended: BTreeSet<usize>,
}

impl Known {
    /// Whether an event reported the end of a sub-agent.
    pub(super) fn has_ended(&self, agent: usize) -> bool {
        self.ended.contains(&agent)
    }
}
