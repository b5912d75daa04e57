//! An observed rate, with the interval of the true rate. It knows no cases.

#![expect(clippy::exhaustive_structs, reason = "a formula has these numbers and no others")]

use serde::{Deserialize, Serialize};

/// The standard normal distribution's quantile for an interval that is right 95 times of 100.
const Z_95: f64 = 1.959_963_984_540_054;

/// How many of a number of trials succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rate {
    /// Successes divided by trials, 0 to 1.
    pub rate: f64,
    /// The lower end of the interval, 0 to 1.
    pub low: f64,
    /// The upper end of the interval, 0 to 1.
    pub high: f64,
}

impl Rate {
    /// The rate of `successes` among `trials` with the 95 % Wilson score interval; `None` without trials.
    ///
    /// Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the American
    /// Statistical Association 22 (1927), without continuity correction: unlike the textbook interval it stays within 0
    /// to 1, and has a width if all trials succeeded.
    pub fn of(successes: u64, trials: u64) -> Option<Rate> {
        if trials == 0 || successes > trials {
            return None;
        }
        Rate::within(successes as f64 / trials as f64, trials as f64)
    }

    /// This rate, 0 to 1, with the Wilson score interval for `trials`, which need not be a whole number; `None` without
    /// trials. Use it for a rate over more trials than these, some of which are similar.
    pub fn within(rate: f64, trials: f64) -> Option<Rate> {
        let is_number = trials > 0.0 && trials.is_finite();
        if !is_number || !(0.0..=1.0).contains(&rate) {
            return None;
        }
        let n = trials;
        let z_squared = Z_95 * Z_95;
        let center = rate + z_squared / (2.0 * n);
        let half = Z_95 * (rate * (1.0 - rate) / n + z_squared / (4.0 * n * n)).sqrt();
        let scaled = 1.0 + z_squared / n;
        // Rounding errors beyond the ends of the scale are cut off.
        let low = if rate == 0.0 { 0.0 } else { ((center - half) / scaled).clamp(0.0, rate) };
        let high = if rate == 1.0 { 1.0 } else { ((center + half) / scaled).clamp(rate, 1.0) };
        Some(Rate { rate, low, high })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_close(rate: Rate, low: f64, high: f64) -> bool {
        (rate.low - low).abs() < 1e-6 && (rate.high - high).abs() < 1e-6
    }

    /// Values of R's `prop.test(x, n, correct = FALSE)`.
    #[test]
    fn intervals_are_those_of_r() {
        assert!(is_close(Rate::of(8, 10).unwrap(), 0.490_162, 0.943_318));
        assert!(is_close(Rate::of(0, 10).unwrap(), 0.0, 0.277_533));
        assert!(is_close(Rate::of(10, 10).unwrap(), 0.722_467, 1.0));
        assert!(is_close(Rate::of(1, 1).unwrap(), 0.206_549, 1.0));
        assert!(is_close(Rate::of(50, 100).unwrap(), 0.403_832, 0.596_168));
    }

    #[test]
    fn without_trials_there_is_no_rate() {
        assert_eq!((Rate::of(0, 0), Rate::within(0.5, 0.0)), (None, None));
    }

    #[test]
    fn the_interval_is_that_of_the_trials_that_count() {
        assert_eq!(Rate::within(0.8, 10.0), Rate::of(8, 10));
        assert_eq!(Rate::within(1.0, 10.0), Rate::of(10, 10));
        assert_eq!(Rate::within(1.5, 10.0), None);
    }

    #[test]
    fn the_rate_is_within_its_interval() {
        for trials in 1..60 {
            for successes in 0..=trials {
                let Rate { rate, low, high } = Rate::of(successes, trials).unwrap();
                assert!(0.0 <= low && low <= rate && rate <= high && high <= 1.0);
            }
        }
    }
}
