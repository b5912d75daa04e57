//! The runs of words that two texts share. A word is a number here.

use std::collections::HashMap;
use std::ops::RangeInclusive;

/// How many runs two texts have, and how many in common.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Overlap {
    pub(crate) shared: usize,
    pub(crate) output: usize,
    pub(crate) reference: usize,
}

impl Overlap {
    /// Counts the runs of all lengths in `orders`.
    pub(crate) fn of(output: &[u32], reference: &[u32], orders: RangeInclusive<usize>) -> Self {
        let mut overlap = Self::default();
        // Longer runs than the longer text has none of them.
        let longest = (*orders.end()).min(output.len().max(reference.len()));
        for order in *orders.start()..=longest {
            let runs = |words: &[u32]| (words.len() + 1).saturating_sub(order);
            overlap.output += runs(output);
            overlap.reference += runs(reference);
            overlap.shared += shared_runs(output, reference, order);
        }
        overlap
    }

    pub(crate) fn gleu(self) -> f64 {
        self.shared as f64 / self.output.max(self.reference).max(1) as f64
    }
}

/// Runs of `order` words that both have; each as often as in the text that has it less often.
fn shared_runs(output: &[u32], reference: &[u32], order: usize) -> usize {
    let mut left: HashMap<&[u32], usize> = HashMap::new();
    for run in reference.windows(order) {
        *left.entry(run).or_default() += 1;
    }
    let mut shared = 0;
    for run in output.windows(order) {
        if let Some(count) = left.get_mut(run).filter(|count| **count > 0) {
            *count -= 1;
            shared += 1;
        }
    }
    shared
}
