//! Adds up the tokens and the cost that a trace states. Where a format states them is known elsewhere.

use std::collections::BTreeMap;

use scorebox_sdk::Usage;

use crate::step::Step;

/// What a trace states of tokens and cost outside of its steps.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Of the run as a whole. Totals grow while a run is written down, so the last one counts.
    whole: Option<Usage>,
    /// Beside the steps, or of an agent around them. A format may state the last answer there, so it
    /// counts only if the steps state nothing.
    around: Option<Usage>,
    /// Of answers that left no step.
    loose: Option<Usage>,
    /// The first step of each answer that has an id. A transcript may repeat an answer's usage with
    /// every part of it.
    answers: BTreeMap<String, usize>,
}

impl Tally {
    /// A total of the run.
    pub(super) fn whole(&mut self, usage: Option<Usage>) {
        self.whole = usage.map(|usage| usage.or(self.whole)).or(self.whole);
    }

    /// A figure beside the steps; the first one counts.
    pub(super) fn around(&mut self, usage: Option<Usage>) {
        self.around = self.around.or(usage);
    }

    /// The usage of a model's answer, whose first step has this index.
    pub(super) fn answer(
        &mut self,
        steps: &mut [Step],
        first: usize,
        id: Option<&str>,
        usage: Usage,
    ) {
        let known = id.and_then(|id| self.answers.get(id).copied());
        let first = known.unwrap_or(first);
        match steps.get_mut(first) {
            Some(step) => {
                step.usage = Some(usage);
                if let (Some(id), None) = (id, known) {
                    self.answers.insert(id.to_owned(), first);
                }
            }
            None => self.loose = Some(self.loose.map_or(usage, |sum| sum.plus(usage))),
        }
    }

    /// What the run consumed: its own total, or else the sum of its answers, or else what stands
    /// around them.
    pub(super) fn total(&self, steps: &[Step]) -> Option<Usage> {
        let stated = steps.iter().filter_map(|step| step.usage).chain(self.loose);
        let sum = stated.reduce(Usage::plus);
        let known = [self.whole, sum, self.around].into_iter().flatten();
        known.reduce(|usage, other| usage.or(Some(other)))
    }
}
