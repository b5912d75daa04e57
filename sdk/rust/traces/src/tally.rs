//! Adds up the tokens and the cost that a trace states. Where formats state them is known elsewhere.

use std::collections::BTreeMap;

use scorebox_sdk::Usage;

use crate::step::Step;

/// The tokens and the cost that a trace states outside its steps.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// For the run as a whole. Totals grow while a run is recorded, so the last one counts.
    whole: Option<Usage>,
    /// Stated next to the steps, or for an agent around them. Some formats state the last answer's usage there, so it
    /// counts only if the steps state none.
    around: Option<Usage>,
    /// For answers that left no step.
    loose: Option<Usage>,
    /// The first step of each answer that has an id. A transcript may repeat an answer's usage with each of its parts.
    answers: BTreeMap<String, usize>,
}

impl Tally {
    /// Adds a total of the run.
    pub(super) fn whole(&mut self, usage: Option<Usage>) {
        self.whole = usage.map(|usage| usage.or(self.whole)).or(self.whole);
    }

    /// Adds a figure that is stated next to the steps; the first one counts.
    pub(super) fn around(&mut self, usage: Option<Usage>) {
        self.around = self.around.or(usage);
    }

    /// Adds the usage of a model's answer whose first step has this index.
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

    /// The usage of the run: its own total, or else the sum of its answers, or else what is stated around them.
    pub(super) fn total(&self, steps: &[Step]) -> Option<Usage> {
        let stated = steps.iter().filter_map(|step| step.usage).chain(self.loose);
        let sum = stated.reduce(plus);
        let known = [self.whole, sum, self.around].into_iter().flatten();
        known.reduce(|usage, other| usage.or(Some(other)))
    }
}

/// The sum of two usages; costs are added as decimals.
pub(super) fn plus(sum: Usage, more: Usage) -> Usage {
    let sum = sum.plus(more);
    Usage { cost_usd: sum.cost_usd.map(decimal), ..sum }
}

/// Rounds an amount of money that was computed from decimals to the decimal that it should be: 0.1 + 0.2 is 0.3. Twelve
/// places are enough for the price of a token. An amount that is further from such a decimal than rounding errors
/// explain stays unchanged.
#[must_use]
pub fn decimal(amount: f64) -> f64 {
    let near = (amount * 1e12).round_ties_even() / 1e12;
    if (near - amount).abs() <= amount.abs() * NOISE { near } else { amount }
}

/// The relative error that a few operations may add: some units in the last place of a double.
const NOISE: f64 = 8.0 * f64::EPSILON;
