//! How much two sequences of words have in common. A word is a number here.

use rapidfuzz::distance::lcs_seq;
use scorebox_sdk_texts::similarity::shared;

/// How many runs or words two texts have, and how many they share.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Overlap {
    pub(crate) shared: usize,
    pub(crate) output: usize,
    pub(crate) reference: usize,
}

impl Overlap {
    pub(crate) fn precision(self) -> f64 {
        self.shared as f64 / self.output.max(1) as f64
    }

    pub(crate) fn recall(self) -> f64 {
        self.shared as f64 / self.reference.max(1) as f64
    }

    pub(crate) fn f1(self) -> f64 {
        let (precision, recall) = (self.precision(), self.recall());
        if precision + recall == 0.0 {
            0.0
        } else {
            2.0 * precision * recall / (precision + recall)
        }
    }
}

/// The shared runs of `length` words. A repeated run counts as often as in the text that has fewer of it.
pub(crate) fn shared_runs(output: &[u32], reference: &[u32], length: usize) -> Overlap {
    let runs = |words: &[u32]| (words.len() + 1).saturating_sub(length);
    Overlap {
        shared: shared(output.windows(length), reference.windows(length)),
        output: runs(output),
        reference: runs(reference),
    }
}

/// The length of the longest sequence of words that both have in the same order, possibly with others between them.
pub(crate) fn longest_sequence(output: &[u32], reference: &[u32]) -> Overlap {
    Overlap {
        shared: lcs_seq::similarity(output.iter().copied(), reference.iter().copied()),
        output: output.len(),
        reference: reference.len(),
    }
}
