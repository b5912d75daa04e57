//! Yes and no against yes and no: what a scorer passes, and what is right. Decides nothing.

#![expect(clippy::exhaustive_structs, reason = "a formula has these numbers and no others")]

use serde::Serialize;

use crate::stats::Rate;

/// The four counts, with the figures made of them.
///
/// The formulas are those of van Rijsbergen, "Information retrieval" (1979), and of scikit-learn's
/// `precision_recall_fscore_support`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Confusion {
    /// Passed, and rightly.
    pub true_positives: u64,
    /// Passed, and wrongly.
    pub false_positives: u64,
    /// Not passed, and wrongly.
    pub false_negatives: u64,
    /// Not passed, and rightly.
    pub true_negatives: u64,
}

impl Confusion {
    /// Counts one case.
    pub fn add(&mut self, passes: bool, is_positive: bool) {
        let count = match (passes, is_positive) {
            (true, true) => &mut self.true_positives,
            (true, false) => &mut self.false_positives,
            (false, true) => &mut self.false_negatives,
            (false, false) => &mut self.true_negatives,
        };
        *count += 1;
    }

    /// All cases.
    pub fn cases(&self) -> u64 {
        self.true_positives + self.false_positives + self.false_negatives + self.true_negatives
    }

    /// The part of all cases that is right.
    pub fn accuracy(&self) -> Option<Rate> {
        Rate::of(self.true_positives + self.true_negatives, self.cases())
    }

    /// The part of what passed that is positive.
    pub fn precision(&self) -> Option<Rate> {
        Rate::of(self.true_positives, self.true_positives + self.false_positives)
    }

    /// The part of what is positive that passed.
    pub fn recall(&self) -> Option<Rate> {
        Rate::of(self.true_positives, self.true_positives + self.false_negatives)
    }

    /// The part of what is negative that did not pass.
    pub fn specificity(&self) -> Option<Rate> {
        Rate::of(self.true_negatives, self.true_negatives + self.false_positives)
    }

    /// The harmonic mean of precision and recall; `None` if nothing is positive and nothing passed.
    pub fn f1(&self) -> Option<f64> {
        let counted = 2 * self.true_positives + self.false_positives + self.false_negatives;
        (counted > 0).then(|| 2.0 * self.true_positives as f64 / counted as f64)
    }

    /// The mean of recall and specificity: 0.5 for a scorer that does not look.
    pub fn balanced_accuracy(&self) -> Option<f64> {
        Some(f64::midpoint(self.recall()?.rate, self.specificity()?.rate))
    }
}
