//! Statistics of how well scores agree with labels. It knows no case and no scorer.
//!
//! | file             | what it contains                                                           |
//! |------------------|----------------------------------------------------------------------------|
//! | `confusion.rs`   | yes and no against yes and no: accuracy, precision, recall, F1             |
//! | `categories.rs`  | several categories: Cohen's kappa, Krippendorff's alpha                    |
//! | `raters.rs`      | several raters among themselves: Fleiss' kappa, Krippendorff's alpha       |
//! | `correlation.rs` | Pearson, Spearman, Kendall, and alpha of numbers                           |
//! | `errors.rs`      | how far numbers are from each other: mean error, mean absolute error, RMSE |
//! | `separation.rs`  | how well scores separate yes and no: ROC AUC, the best threshold           |
//! | `calibration.rs` | scores as probabilities: Brier, bins                                       |
//! | `bias.rs`        | whether the error of scores depends on a group                             |
//! | `regrouped.rs`   | the same for groups that are formed at random                              |
//! | `trend.rs`       | whether the error of scores rises with a number                            |
//!
//! Invariant: a figure that is not defined, because scores or labels do not vary, is `None`, never a number.

mod bias;
mod calibration;
mod categories;
mod confusion;
mod correlation;
mod errors;
mod raters;
mod regrouped;
mod separation;
mod trend;

pub use super::rounding::without_rounding;
pub use bias::{CaseErrors, GroupDifference, group_difference};
pub use calibration::{Bin, Calibration};
pub use categories::{Categories, Weights};
pub use confusion::Confusion;
pub use correlation::{Correlations, correlations};
pub use errors::Errors;
pub use raters::Raters;
pub use separation::{BestThreshold, best_threshold, roc_auc};
pub use trend::rank_trend;
#[cfg(test)]
pub(super) use {bias::welch_test, trend::student_trend};

#[cfg(test)]
mod tests;
