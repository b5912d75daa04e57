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
            None => self.loose = Some(self.loose.map_or(usage, |sum| plus(sum, usage))),
        }
    }

    /// What the run consumed: its own total, or else the sum of its answers, or else what stands
    /// around them.
    pub(super) fn total(&self, steps: &[Step]) -> Option<Usage> {
        let stated = steps.iter().filter_map(|step| step.usage).chain(self.loose);
        let sum = stated.reduce(plus);
        let known = [self.whole, sum, self.around].into_iter().flatten();
        known.reduce(|usage, other| usage.or(Some(other)))
    }
}

/// Two usages added up, the cost in decimals.
pub(super) fn plus(sum: Usage, more: Usage) -> Usage {
    let sum = sum.plus(more);
    Usage { cost_usd: sum.cost_usd.map(decimal), ..sum }
}

/// An amount of money that was computed from decimals as the decimal that it is: 0.1 + 0.2 is 0.3. Twelve places have the
/// price of a token. An amount that is further from such a decimal than computing puts it stays as it is.
#[must_use]
pub fn decimal(amount: f64) -> f64 {
    let near = (amount * 1e12).round_ties_even() / 1e12;
    if (near - amount).abs() <= amount.abs() * NOISE { near } else { amount }
}

/// How far a few operations take a result from its exact value, as a part of it: some steps of a double.
const NOISE: f64 = 8.0 * f64::EPSILON;
