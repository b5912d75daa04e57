//! How many cases are needed to detect a difference, and which difference a number of cases can show. It sees no case.

#![expect(clippy::exhaustive_enums, reason = "a formula has these numbers and no others")]

use super::sign_power::{POWER, SignPower};
use crate::stats::distributions::{
    CONFIDENCE, at_least, chance_for_at_least, normal_below, normal_quantile,
};

/// A larger number of cases means "never".
const MAX_CASES: f64 = 1e15;

/// Up to so many cases the power of the sign test is counted. That of more is so close to the formula for a mean that a
/// part of a hundred would not show: they are about 1/d cases apart, for a difference of d steps.
const MAX_COUNTED: u64 = 100_000;

/// Halvings after which a difference has no more digits.
const HALVINGS: u32 = 60;

/// How the differences of cases vary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spread {
    /// Each case that changes does so by one step, up or down.
    Equal {
        /// The step: 1 for scores that are 0 or 1.
        step: f64,
        /// The variance of the differences, in steps: the part of the cases that changes, less the square of how much
        /// larger the part is that goes one way.
        variance: f64,
    },
    /// Cases change by different amounts.
    Graded {
        /// The standard deviation of the differences (n - 1).
        stddev: f64,
        /// The least that a case changes by if it changes; 0 if that may be as little as one likes.
        step: f64,
    },
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

/// The fewest cases of which, 80 times of 100, as many change the right way as a permutation test takes to find
/// anything, if each does with this chance, more than 0 and at most 1.
fn cases_with_changes(chance: f64, tests: u64) -> Option<u64> {
    let fewest = fewest_cases(tests);
    let are_enough = |cases: u64| at_least(fewest, cases, chance) >= POWER;
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

/// How many cases it takes to find a mean difference of this size, 80 times of 100, with a two-sided error of 5 % for
/// all of so many tests together, if the differences of cases vary like this. `None` if they do not vary, or if the
/// difference is 0, or larger than a step that all cases change by.
///
/// If all changes are of one size, the test is the sign test, and its power is counted. If not: with z for an error of
/// 0.025 / tests, (z + z₀.₈)² (s/d)² + z²/2, which is the sample size of the paired t test to within a case: Guenther,
/// "Sample size formulas for normal theory T tests", The American Statistician 35 (1981). s² is never less than
/// step·|d| - d², and cases are never fewer than those of which, 80 times of 100, as many change the right way as a
/// permutation test takes to find anything: all of the fewest, for whatever else the cases say, fewer signs that agree
/// leave it a larger p value. A case changes the right way as often as a normal number with the mean d and the deviation s
/// is above 0, and no more often than |d| / step.
pub fn cases_needed(spread: Spread, difference: f64, tests: u64) -> Option<u64> {
    let difference = difference.abs();
    match spread {
        Spread::Graded { stddev, step } => cases_by_mean(stddev, step, difference, tests),
        Spread::Equal { step, variance } => {
            let changes = difference / step;
            let is_possible = variance > 0.0 && changes > 0.0 && changes <= 1.0;
            is_possible.then(|| cases_by_signs(variance, changes, tests)).flatten()
        }
    }
}

fn cases_by_mean(stddev: f64, step: f64, difference: f64, tests: u64) -> Option<u64> {
    // With the largest numbers, squares would be infinite.
    let (stddev, least) = (stddev / difference, step / difference - 1.0);
    let variance = (stddev * stddev).max(least);
    let (error, power) = quantiles(tests);
    let cases = (error + power).powi(2) * variance + error * error / 2.0;
    let is_number = stddev > 0.0 && difference > 0.0 && cases < MAX_CASES;
    if !is_number {
        return None;
    }
    let share = if step > difference { difference / step } else { 1.0 };
    let chance = share.min(normal_below(1.0 / variance.sqrt()));
    Some((cases.ceil() as u64).max(cases_with_changes(chance, tests)?))
}

/// The same in steps that all changes have.
fn cases_by_signs(variance: f64, changes: f64, tests: u64) -> Option<u64> {
    let about = cases_by_mean(variance.sqrt(), 1.0, changes, tests)?;
    if about > MAX_COUNTED {
        return Some(about);
    }
    // Power goes up and down with the number of cases, by less than this.
    let (root, fewest) = ((about as f64).sqrt() as u64, fewest_cases(tests));
    let from = about.saturating_sub(3 * root).max(fewest);
    let counted = sign_power(variance, changes, tests).fewest_cases(from..=2 * MAX_COUNTED);
    Some(counted.unwrap_or(about))
}

/// The power of the sign test for a difference of so many steps. The variance is that of the cases, unless the
/// difference takes more changes, or more than there are cases.
fn sign_power(variance: f64, changes: f64, tests: u64) -> SignPower {
    let share = (variance + changes * changes).max(changes).min(1.0);
    SignPower::new(share, changes, accepted_error(tests), fewest_cases(tests))
}

/// The smallest mean difference that `cases` show, 80 times of 100, if the differences of cases vary like this: the
/// inverse of [`cases_needed`]. `None` if there are too few cases for any.
pub fn smallest_difference(spread: Spread, cases: u64, tests: u64) -> Option<f64> {
    if cases < fewest_cases(tests) {
        return None;
    }
    match spread {
        Spread::Graded { stddev, step } => smallest_by_mean(stddev, step, cases, tests),
        Spread::Equal { variance, .. } if variance <= 0.0 => None,
        Spread::Equal { step, variance } if cases > MAX_COUNTED => {
            smallest_by_mean(step * variance.sqrt(), step, cases, tests)
        }
        Spread::Equal { step, variance } => Some(step * smallest_by_signs(variance, cases, tests)),
    }
}

fn smallest_by_mean(stddev: f64, step: f64, cases: u64, tests: u64) -> Option<f64> {
    let (error, power) = quantiles(tests);
    let factor = error + power;
    let rest = cases as f64 - error * error / 2.0;
    let by_deviation = factor / rest.sqrt();
    let by_step = factor * factor / (rest + factor * factor);
    let chance = chance_for_at_least(fewest_cases(tests), cases, POWER);
    // That so many change the right way; if half of the cases are enough, the mean asks for more.
    let sign = normal_quantile(chance).max(0.0);
    let by_sign = sign * sign / (1.0 + sign * sign);
    let difference = (stddev * by_deviation.max(sign)).max(step * by_step.max(by_sign).max(chance));
    (rest > 0.0 && stddev > 0.0 && difference.is_finite()).then_some(difference)
}

/// In steps: a difference of one of them is always found by so many cases as find anything.
fn smallest_by_signs(variance: f64, cases: u64, tests: u64) -> f64 {
    let (mut less, mut enough) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let between = f64::midpoint(less, enough);
        match sign_power(variance, between, tests).of(cases) >= POWER {
            true => enough = between,
            false => less = between,
        }
    }
    enough
}
