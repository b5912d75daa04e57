//! Whether the error of scores depends on something that it should not depend on: a group that cases are of, or a number such as
//! their length. Knows neither.

#![expect(clippy::exhaustive_structs, reason = "a formula has these numbers and no others")]

use serde::Serialize;

use super::correlation::spearman;
use crate::stats::{
    Mean,
    distributions::{CONFIDENCE, student_beyond, student_quantile},
};

/// How much higher the errors of a group are than those of all others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GroupDifference {
    /// The mean error of the group less that of the others.
    pub difference: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The two-sided p value.
    pub p: f64,
}

/// Compares the errors of a group with those of all others, which may vary more or less: Welch, "The generalization of
/// 'Student's' problem when several different population variances are involved", Biometrika 34 (1947). `None` with fewer
/// than two numbers on one side, and if neither side varies.
pub fn group_difference(group: &Mean, others: &Mean) -> Option<GroupDifference> {
    let part = |side: &Mean| Some(side.sample_stddev()?.powi(2) / side.count() as f64);
    let (one, other) = (part(group)?, part(others)?);
    let difference = group.get()? - others.get()?;
    let error = (one + other).sqrt();
    let freedom = (one + other).powi(2)
        / (one.powi(2) / (group.count() as f64 - 1.0)
            + other.powi(2) / (others.count() as f64 - 1.0));
    if !(error > 0.0 && freedom.is_finite() && difference.is_finite()) {
        return None;
    }
    let half = error * student_quantile(f64::midpoint(1.0, CONFIDENCE), freedom);
    let p = student_beyond(difference / error, freedom);
    Some(GroupDifference { difference, low: difference - half, high: difference + half, p })
}

/// Whether errors rise with a number: Spearman's rho and its two-sided p value, by Student's t with n - 2 degrees of freedom
/// (Kendall and Stuart, "The advanced theory of statistics" 2, section 31.19). `None` with fewer than three pairs, and if one side does not vary.
pub fn rank_trend(numbers: &[f64], errors: &[f64]) -> Option<(f64, f64)> {
    let rho = spearman(numbers, errors)?;
    let freedom = numbers.len().checked_sub(2).filter(|freedom| *freedom > 0)? as f64;
    let t = rho * (freedom / ((1.0 - rho) * (1.0 + rho))).sqrt();
    let p = if t.is_finite() { student_beyond(t, freedom) } else { 0.0 };
    Some((rho, p))
}
