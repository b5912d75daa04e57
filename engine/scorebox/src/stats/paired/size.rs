//! How many cases it takes to see a difference, and which difference so many cases show. Sees no case.

use crate::stats::distributions::{CONFIDENCE, normal_quantile};

/// How often a difference that is there is to be found: 80 times of 100.
pub const POWER: f64 = 0.8;

/// What both formulas are made of: the normal quantiles for the error that is allowed and the power that is wanted.
fn quantiles() -> (f64, f64) {
    (normal_quantile(f64::midpoint(1.0, CONFIDENCE)), normal_quantile(POWER))
}

/// How many cases it takes to find a mean difference of this size, 80 times of 100, with a two-sided error of 5 %, if the
/// differences of cases have this standard deviation. `None` if one of the numbers is not positive.
///
/// (z₀.₉₇₅ + z₀.₈)² (s/d)² + z₀.₉₇₅²/2, which is the sample size of the paired t test to within a case: Guenther, "Sample size
/// formulas for normal theory T tests", The American Statistician 35 (1981).
pub fn cases_needed(stddev: f64, difference: f64) -> Option<u64> {
    let ratio = stddev / difference.abs();
    let (error, power) = quantiles();
    let cases = ((error + power) * ratio).powi(2) + error * error / 2.0;
    // Beyond this, a number says no more than "never".
    (ratio > 0.0 && cases < 1e15).then_some(cases.ceil() as u64)
}

/// The smallest mean difference that so many cases show, 80 times of 100, if the differences of cases have this standard
/// deviation: the inverse of [`cases_needed`]. `None` if there are too few cases for any.
pub fn smallest_difference(stddev: f64, cases: u64) -> Option<f64> {
    let (error, power) = quantiles();
    let rest = cases as f64 - error * error / 2.0;
    let difference = (error + power) * stddev / rest.sqrt();
    (rest > 0.0 && stddev > 0.0 && difference.is_finite()).then_some(difference)
}
