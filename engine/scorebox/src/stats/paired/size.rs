//! How many cases are needed to detect a difference, and which difference a number of cases can show. It sees no case.

#![expect(clippy::exhaustive_structs, reason = "a formula has these numbers and no others")]

use crate::stats::distributions::{CONFIDENCE, at_least, chance_for_at_least, normal_quantile};

/// How often a real difference should be found: 80 times of 100.
pub const POWER: f64 = 0.8;

/// A larger number of cases means "never".
const MAX_CASES: f64 = 1e15;

/// How the differences of cases vary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Their standard deviation (n - 1); positive.
    pub stddev: f64,
    /// The smallest amount by which a case changes if it changes: 1 for scores that are 0 or 1. 0 if the amount can be
    /// arbitrarily small.
    pub step: f64,
}

/// The two-sided error that is allowed for one of `tests` tests (at least 1), whatever the others show: 5 % divided by
/// their number (Bonferroni), which is what Holm's correction requires of the smallest p value.
fn accepted_error(tests: u64) -> f64 {
    (1.0 - CONFIDENCE) / tests.max(1) as f64
}

/// The sum in both formulas: the normal quantiles for the allowed error and the wanted power.
fn quantiles(tests: u64) -> (f64, f64) {
    (normal_quantile(1.0 - accepted_error(tests) / 2.0), normal_quantile(POWER))
}

/// The fewest cases with which a permutation test can find anything: its smallest p value, 2^(1-n), is that of
/// differences with one sign.
pub fn fewest_cases(tests: u64) -> u64 {
    (1..u64::MAX)
        .find(|cases| 0.5_f64.powf(*cases as f64 - 1.0) < accepted_error(tests))
        .unwrap_or(1)
}

/// The fewest cases with which, 80 times of 100, enough cases change for a permutation test to find anything, if
/// `share` of all cases change (more than 0 and at most 1).
fn cases_with_changes(share: f64, tests: u64) -> Option<u64> {
    let fewest = fewest_cases(tests);
    let are_enough = |cases: u64| at_least(fewest, cases, share) >= POWER;
    let mut enough = fewest;
    while !are_enough(enough) {
        enough = enough.checked_mul(2).filter(|cases| (*cases as f64) < MAX_CASES)?;
    }
    let mut too_few = if enough == fewest { return Some(enough) } else { enough / 2 };
    while enough - too_few > 1 {
        let between = u64::midpoint(too_few, enough);
        match are_enough(between) {
            true => enough = between,
            false => too_few = between,
        }
    }
    Some(enough)
}

/// How many cases are needed to find a mean difference of this size, 80 times of 100, with a two-sided error of 5 %
/// over all of `tests` tests, if the differences of cases vary like this. `None` if the standard deviation or the
/// difference is not positive.
///
/// With z for an error of 0.025 / tests: (z + z₀.₈)² (s/d)² + z²/2, which is the sample size of the paired t test to
/// within a case: Guenther, "Sample size formulas for normal theory T tests", The American Statistician 35 (1981). s²
/// is never less than step·|d| - d². The result is also never less than the number of cases with which, 80 times of
/// 100, enough cases change for a permutation test to find anything, if a share of |d| / step change: with scores of 0
/// and 1, that is the largest share, and all change in one direction.
pub fn cases_needed(spread: Spread, difference: f64, tests: u64) -> Option<u64> {
    let difference = difference.abs();
    // Squares of the largest numbers would be infinite.
    let (stddev, least) = (spread.stddev / difference, spread.step / difference - 1.0);
    let variance = (stddev * stddev).max(least);
    let (error, power) = quantiles(tests);
    let cases = (error + power).powi(2) * variance + error * error / 2.0;
    let is_number = spread.stddev > 0.0 && difference > 0.0 && cases < MAX_CASES;
    if !is_number {
        return None;
    }
    let share = if spread.step > difference { difference / spread.step } else { 1.0 };
    Some((cases.ceil() as u64).max(cases_with_changes(share, tests)?))
}

/// The smallest mean difference that `cases` show, 80 times of 100, if the differences of cases vary like this: the
/// inverse of [`cases_needed`]. `None` if there are too few cases for any.
pub fn smallest_difference(spread: Spread, cases: u64, tests: u64) -> Option<f64> {
    let fewest = fewest_cases(tests);
    if cases < fewest {
        return None;
    }
    let (error, power) = quantiles(tests);
    let factor = error + power;
    let rest = cases as f64 - error * error / 2.0;
    let by_deviation = factor * spread.stddev / rest.sqrt();
    let by_step = spread.step * (factor * factor / (rest + factor * factor));
    let by_changes = spread.step * chance_for_at_least(fewest, cases, POWER);
    let difference = by_deviation.max(by_step).max(by_changes);
    (rest > 0.0 && spread.stddev > 0.0 && difference.is_finite()).then_some(difference)
}
