//! How many cases it takes to see a difference, and which difference so many cases show. Sees no case.

use crate::stats::distributions::{CONFIDENCE, normal_quantile};

/// How often a difference that is there is to be found: 80 times of 100.
pub const POWER: f64 = 0.8;

/// The two-sided error that is allowed for one of so many tests (at least 1), whatever the others show: 5 % shared by all
/// (Bonferroni), which is what Holm's correction asks of the smallest p value.
fn accepted_error(tests: u64) -> f64 {
    (1.0 - CONFIDENCE) / tests.max(1) as f64
}

/// What both formulas are made of: the normal quantiles for the error that is allowed and the power that is wanted.
fn quantiles(tests: u64) -> (f64, f64) {
    (normal_quantile(1.0 - accepted_error(tests) / 2.0), normal_quantile(POWER))
}

/// The fewest cases with which a permutation test can find anything: its smallest p value is that of all differences with one
/// sign, 2^(1-n).
pub fn fewest_cases(tests: u64) -> u64 {
    (1..u64::MAX)
        .find(|cases| 0.5_f64.powf(*cases as f64 - 1.0) < accepted_error(tests))
        .unwrap_or(1)
}

/// How many cases it takes to find a mean difference of this size, 80 times of 100, with a two-sided error of 5 % for all of so many
/// tests together, if the differences of cases have this standard deviation. `None` if one of the numbers is not positive.
///
/// With z for an error of 0.025 / tests: (z + z₀.₈)² (s/d)² + z²/2, which is the sample size of the paired t test to within a case:
/// Guenther, "Sample size formulas for normal theory T tests", The American Statistician 35 (1981). Never fewer than a permutation
/// test takes to find anything.
pub fn cases_needed(stddev: f64, difference: f64, tests: u64) -> Option<u64> {
    let ratio = stddev / difference.abs();
    let (error, power) = quantiles(tests);
    let cases = ((error + power) * ratio).powi(2) + error * error / 2.0;
    // Beyond this, a number says no more than "never".
    let is_number = ratio > 0.0 && cases < 1e15;
    is_number.then(|| (cases.ceil() as u64).max(fewest_cases(tests)))
}

/// The smallest mean difference that so many cases show, 80 times of 100, if the differences of cases have this standard
/// deviation: the inverse of [`cases_needed`]. `None` if there are too few cases for any.
pub fn smallest_difference(stddev: f64, cases: u64, tests: u64) -> Option<f64> {
    if cases < fewest_cases(tests) {
        return None;
    }
    let (error, power) = quantiles(tests);
    let rest = cases as f64 - error * error / 2.0;
    let difference = (error + power) * stddev / rest.sqrt();
    (rest > 0.0 && stddev > 0.0 && difference.is_finite()).then_some(difference)
}
