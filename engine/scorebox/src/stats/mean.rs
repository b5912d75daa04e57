//! The mean of finite numbers that are added one by one, and their standard deviation. It keeps none of the numbers.

use super::summary::{DOWN, Moments};

/// Computes a mean. Numbers in the same order give the same bits.
#[derive(Clone, Debug, Default)]
pub struct Mean {
    count: u64,
    plain: Moments,
    scaled: Moments,
}

impl Mean {
    /// Adds the next number, which is finite.
    pub fn add(&mut self, number: f64) {
        self.count += 1;
        self.plain.add(number, self.count);
        self.scaled.add(number * DOWN, self.count);
    }

    /// The mean; `None` if there were no numbers.
    pub fn get(&self) -> Option<f64> {
        let count = self.count as f64;
        let mean = (self.count > 0).then(|| self.plain.sum() / count)?;
        Some(if mean.is_finite() { mean } else { self.scaled.sum() / count / DOWN })
    }

    /// How many numbers there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The standard deviation of the population from which the numbers are a sample: divided by n - 1. `None` with
    /// fewer than two numbers.
    pub fn sample_stddev(&self) -> Option<f64> {
        let freedom = self.count.checked_sub(1).filter(|freedom| *freedom > 0)? as f64;
        let stddev = (self.plain.squares() / freedom).sqrt();
        let stddev = match stddev.is_finite() {
            true => stddev,
            false => (self.scaled.squares() / freedom).sqrt() / DOWN,
        };
        stddev.is_finite().then_some(stddev)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(numbers: &[f64]) -> Option<f64> {
        let mut mean = Mean::default();
        numbers.iter().for_each(|number| mean.add(*number));
        mean.get()
    }

    #[test]
    fn a_mean_is_the_sum_divided_by_the_count() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[0.25]), Some(0.25));
        assert_eq!(mean(&[1.0, 0.0, 0.0, 1.0]), Some(0.5));
        assert_eq!(mean(&[0.1; 10]), Some(0.1));
    }

    #[test]
    fn the_greatest_numbers_do_not_overflow() {
        assert_eq!(mean(&[f64::MAX; 4]), Some(f64::MAX));
        assert_eq!(mean(&[f64::MAX, 0.0, f64::MAX, 0.0]), Some(f64::MAX / 2.0));
    }
}
