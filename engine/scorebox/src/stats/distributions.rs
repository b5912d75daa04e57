//! Quantiles and probabilities of the distributions on which intervals and tests are based. The crate `statrs` computes
//! them, except coin throws that can be counted exactly; this file has only the functions that are needed here.

use statrs::{
    distribution::{
        Beta, Binomial, Continuous as _, ContinuousCDF as _, DiscreteCDF as _, Normal, StudentsT,
    },
    function::factorial::ln_binomial,
};

use super::fair_coin;

/// How often intervals are right: 95 times of 100.
pub const CONFIDENCE: f64 = 0.95;

/// With more degrees of freedom, a series around the normal distribution is more exact.
const MANY: f64 = 1e4;

/// How many Newton steps make a quantile as exact as its distribution: each doubles the number of correct digits.
const STEPS: usize = 4;

/// The value below which a standard normal number is with this probability, which is between 0 and 1.
pub(super) fn normal_quantile(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

/// The probability that a standard normal number is below `value`.
pub(super) fn normal_below(value: f64) -> f64 {
    Normal::standard().cdf(value)
}

/// The value below which a number of Student's distribution with `freedom` degrees of freedom (1 or more) is with this
/// probability, which is between 0 and 1. For many degrees it uses the first terms of the series of Abramowitz and
/// Stegun, "Handbook of mathematical functions" (1964), 26.7.5.
pub(super) fn student_quantile(probability: f64, freedom: f64) -> f64 {
    if freedom >= MANY {
        let z = normal_quantile(probability);
        let first = (z.powi(3) + z) / 4.0;
        let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
        return z + first / freedom + second / (freedom * freedom);
    }
    let Ok(student) = StudentsT::new(0.0, 1.0, freedom) else { return f64::NAN };
    let mut value = student.inverse_cdf(probability);
    for _ in 0..STEPS {
        let better = value - (student.cdf(value) - probability) / student.pdf(value);
        if !better.is_finite() {
            break;
        }
        value = better;
    }
    value
}

/// The probability that a number of Student's distribution is as far from 0 as `value`, or farther.
pub(super) fn student_beyond(value: f64, freedom: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(student) => (2.0 * student.cdf(-value.abs())).min(1.0),
        Err(_) => f64::NAN,
    }
}

/// The probability that of `trials` throws of a fair coin at most `heads` are heads, or at most as many are tails: the
/// two-sided test of the binomial distribution with one half. For up to 1000 throws, it is exact to the last digit.
pub(super) fn coin_beyond(heads: u64, trials: u64) -> f64 {
    let fewer = heads.min(trials.saturating_sub(heads));
    // No result is more even.
    if fewer >= trials / 2 {
        return 1.0;
    }
    let at_most = match trials <= fair_coin::MAX_COUNTED {
        true => fair_coin::at_most(fewer, trials),
        false => Binomial::new(0.5, trials).map_or(f64::NAN, |throws| throws.cdf(fewer)),
    };
    (2.0 * at_most).min(1.0)
}

/// The probability that at least `successes` (1 or more) of `trials` trials succeed, if each succeeds with this chance.
pub(super) fn at_least(successes: u64, trials: u64, chance: f64) -> f64 {
    Binomial::new(chance, trials).map_or(f64::NAN, |trials| trials.sf(successes.saturating_sub(1)))
}

/// The chance of a success with which at least `successes` (1 or more) of `trials` trials succeed with this
/// probability: the inverse of [`at_least`], which is a beta distribution.
pub(super) fn chance_for_at_least(successes: u64, trials: u64, probability: f64) -> f64 {
    let others = trials.saturating_sub(successes) + 1;
    let chances = Beta::new(successes as f64, others as f64);
    chances.map_or(f64::NAN, |chances| chances.inverse_cdf(probability))
}

/// The logarithm of the number of ways to choose `some` of `all`.
pub(super) fn log_ways(all: u64, some: u64) -> f64 {
    ln_binomial(all, some)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected: `scipy.stats.binom.sf(5, 157, 0.05)`, `scipy.stats.beta.ppf(0.8, 6, 152)` and the like.
    #[test]
    fn so_many_of_some_trials_succeed_as_often_as_scipy_says() {
        for (successes, trials, chance, expected) in [
            (6, 157, 0.05, 0.801_681_867_752_018_6),
            (6, 1000, 0.001, 0.000_588_070_101_762_978_5),
            (6, 100_000, 5e-5, 0.384_039_345_130_379_46),
        ] {
            let found = at_least(successes, trials, chance);
            assert!((found / expected - 1.0).abs() < 1e-8, "{found}");
        }
        for (successes, trials, expected) in [
            (6, 157, 0.049_890_592_356_321_36),
            (6, 6, 0.963_492_483_999_096_1),
            (6, 100_000, 7.905_878_237_147_116e-5),
        ] {
            let found = chance_for_at_least(successes, trials, 0.8);
            assert!((found / expected - 1.0).abs() < 1e-9, "{found}");
        }
    }

    #[test]
    fn a_chance_that_is_a_round_number_is_one() {
        let of_none = |trials| coin_beyond(0, trials);
        assert_eq!([2, 3, 6, 7].map(of_none), [0.5, 0.25, 0.03125, 0.015_625]);
        for trials in [0, 1, 2, 7, 1000, 1001, 100_001] {
            assert_eq!(coin_beyond(trials / 2, trials), 1.0, "{trials}");
        }
    }

    /// Expected: Python's `fractions`, as in `fair_coin.rs`.
    #[test]
    fn a_coin_that_is_thrown_too_often_to_be_counted_falls_alike() {
        for (heads, trials, expected) in
            [(460, 1001, 0.011_416_138_921_663_795), (400, 1001, 2.265_073_348_661_045e-10)]
        {
            let found = [heads, trials - heads].map(|heads| coin_beyond(heads, trials));
            assert!(found.iter().all(|p| (p / expected - 1.0).abs() < 1e-10), "{found:?}");
        }
    }
}
