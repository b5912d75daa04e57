//! Confusion matrix of yes and no: what a scorer passes, compared with what is right. It decides nothing.

#![expect(clippy::exhaustive_structs, reason = "a formula has these numbers and no others")]

use serde::Serialize;

use crate::stats::Rate;

/// The four counts, and the figures from them.
///
/// The formulas are those of van Rijsbergen, "Information retrieval" (1979), and of scikit-learn's
/// `precision_recall_fscore_support`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Confusion {
    /// Passed, and positive.
    pub true_positives: u64,
    /// Passed, but negative.
    pub false_positives: u64,
    /// Not passed, but positive.
    pub false_negatives: u64,
    /// Not passed, and negative.
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

    /// The part of all cases with the right decision.
    pub fn accuracy(&self) -> Option<Rate> {
        Rate::of(self.true_positives + self.true_negatives, self.cases())
    }

    /// The part of the passed cases that is positive.
    pub fn precision(&self) -> Option<Rate> {
        Rate::of(self.true_positives, self.true_positives + self.false_positives)
    }

    /// The part of the positive cases that passed.
    pub fn recall(&self) -> Option<Rate> {
        Rate::of(self.true_positives, self.true_positives + self.false_negatives)
    }

    /// The part of the negative cases that did not pass.
    pub fn specificity(&self) -> Option<Rate> {
        Rate::of(self.true_negatives, self.true_negatives + self.false_positives)
    }

    /// The harmonic mean of precision and recall; `None` if nothing is positive and nothing passed.
    pub fn f1(&self) -> Option<f64> {
        let counted = 2 * self.true_positives + self.false_positives + self.false_negatives;
        (counted > 0).then(|| 2.0 * self.true_positives as f64 / counted as f64)
    }

    /// The mean of recall and specificity: 0.5 for a scorer that ignores its input.
    pub fn balanced_accuracy(&self) -> Option<f64> {
        Some(f64::midpoint(self.recall()?.rate, self.specificity()?.rate))
    }
}
