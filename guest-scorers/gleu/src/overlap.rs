//! The runs of words that two texts share. A word is a number here.

use std::ops::RangeInclusive;

use scorebox_sdk_texts::similarity::shared;

/// How many runs two texts have, and how many they share.
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
        // There are no runs longer than the longer text.
        let longest = (*orders.end()).min(output.len().max(reference.len()));
        for order in *orders.start()..=longest {
            let runs = |words: &[u32]| (words.len() + 1).saturating_sub(order);
            overlap.output += runs(output);
            overlap.reference += runs(reference);
            overlap.shared += shared(output.windows(order), reference.windows(order));
        }
        overlap
    }

    pub(crate) fn gleu(self) -> f64 {
        self.shared as f64 / self.output.max(self.reference).max(1) as f64
    }
}
