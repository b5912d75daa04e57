//! Pairs of numbers that are added one by one, and their figures: means, the difference with its interval, its test and
//! its effect size. It keeps at most [`MAX_PERMUTED`] differences.

use std::ops::RangeInclusive;

use super::{
    PairedTest, Passes, Spread, TestMethod,
    permutation::{MAX_PERMUTED, permutation_test, student_test},
};
use crate::stats::{
    ENOUGH_CASES, ENOUGH_TO_DRAW, Interval, IntervalMethod, Mean,
    bootstrap::bootstrap,
    distributions::{CONFIDENCE, coin_beyond, student_quantile},
    rounding::{difference, rounding_of},
};

/// The differences of pairs, second less first, in the order of the pairs, which must not depend on which worker
/// computed them.
#[derive(Clone, Debug, Default)]
pub struct Differences {
    first: Mean,
    second: Mean,
    mean: Mean,
    up: u64,
    down: u64,
    /// The distance from 0 that all differences have, other than 0, and how exact it is.
    distance: Option<(f64, f64)>,
    are_distances_mixed: bool,
    /// The smallest distance from 0, other than 0.
    least: Option<f64>,
    held: Vec<f64>,
    ones: Passes,
    are_other_than_ones: bool,
}

impl Differences {
    /// Adds the next pair of finite numbers.
    pub fn add(&mut self, first: f64, second: f64) {
        let mut difference = difference(first, second);
        if difference != 0.0 {
            let rounding = rounding_of(first, second);
            let (distance, exact_to) = *self.distance.get_or_insert((difference.abs(), rounding));
            if (distance - difference.abs()).abs() <= rounding.max(exact_to) {
                difference = distance.copysign(difference);
            }
            self.are_distances_mixed |= distance != difference.abs();
            let least = self.least.get_or_insert(difference.abs());
            *least = least.min(difference.abs());
        }
        self.first.add(first);
        self.second.add(second);
        self.mean.add(difference);
        self.up += u64::from(difference > 0.0);
        self.down += u64::from(difference < 0.0);
        match self.mean.count() <= MAX_PERMUTED as u64 {
            true => self.held.push(difference),
            false => self.held = Vec::new(),
        }
        let is_one = |number: f64| (number == 0.0 || number == 1.0).then_some(number == 1.0);
        match is_one(first).zip(is_one(second)) {
            Some((first, second)) => self.ones.add(first, second),
            None => self.are_other_than_ones = true,
        }
    }

    /// How many pairs there were.
    pub fn pairs(&self) -> u64 {
        self.mean.count()
    }

    /// The mean of the first numbers; `None` here and below without pairs.
    pub fn mean_of_first(&self) -> Option<f64> {
        self.first.get()
    }

    /// The mean of the second numbers.
    pub fn mean_of_second(&self) -> Option<f64> {
        self.second.get()
    }

    /// The mean difference.
    pub fn mean(&self) -> Option<f64> {
        self.mean.get()
    }

    /// The standard deviation of the differences (n - 1); `None` with fewer than two pairs.
    pub fn stddev(&self) -> Option<f64> {
        self.mean.sample_stddev()
    }

    /// How the differences vary; `None` with fewer than two pairs.
    pub fn spread(&self) -> Option<Spread> {
        let stddev = self.stddev()?;
        let cases = self.pairs() as f64;
        let (up, down) = (self.up as f64 / cases, self.down as f64 / cases);
        Some(match self.distance {
            Some((step, _)) if !self.are_distances_mixed => {
                Spread::Equal { step, variance: up + down - (up - down).powi(2) }
            }
            _ => Spread::Graded { stddev, step: self.least.unwrap_or(0.0) },
        })
    }

    /// Pairs in which the second number is higher.
    pub fn up(&self) -> u64 {
        self.up
    }

    /// Pairs in which the second number is lower.
    pub fn down(&self) -> u64 {
        self.down
    }

    /// Which numbers are 1, if all are 0 or 1.
    pub fn ones(&self) -> Option<Passes> {
        (self.pairs() > 0 && !self.are_other_than_ones).then_some(self.ones)
    }

    /// The 95 % interval of the mean difference, limited to `scale`: Student's t, but by resampling with 8 to 29 pairs.
    /// `None` with fewer than two pairs, or if all differences are equal.
    pub fn interval(&self, scale: RangeInclusive<f64>) -> Option<Interval> {
        let (mean, stddev, cases) = (self.mean()?, self.stddev()?, self.pairs());
        if stddev <= 0.0 {
            return None;
        }
        let (low, high, method) = if (ENOUGH_TO_DRAW..ENOUGH_CASES).contains(&cases) {
            let units: Vec<(f64, u64)> = self.held.iter().map(|it| (*it, 1)).collect();
            let (low, high) = bootstrap(&units)?;
            (low, high, IntervalMethod::Bootstrap)
        } else {
            let quantile = student_quantile(f64::midpoint(1.0, CONFIDENCE), cases as f64 - 1.0);
            let half = quantile * stddev / (cases as f64).sqrt();
            (mean - half, mean + half, IntervalMethod::StudentT)
        };
        let (low, high) = (low.max(*scale.start()), high.min(*scale.end()));
        (low.is_finite() && high.is_finite()).then_some(Interval { low, high, method, cases })
    }

    /// Tests whether the mean difference is 0: the permutation test, exact if possible; Student's t if there are more
    /// than 20 000 pairs with different distances.
    pub fn test(&self) -> Option<PairedTest> {
        if self.pairs() == 0 {
            return None;
        }
        if !self.are_distances_mixed {
            let p = coin_beyond(self.up, self.up + self.down);
            return Some(PairedTest { p, method: TestMethod::Exact });
        }
        if self.pairs() <= MAX_PERMUTED as u64 {
            return permutation_test(&self.held);
        }
        student_test(&self.mean).map(|p| PairedTest { p, method: TestMethod::StudentT })
    }

    /// The effect size: the mean difference in standard deviations of the differences, Cohen's d for paired numbers
    /// (Cohen, "Statistical power analysis for the behavioral sciences", 2nd edition, 1988, page 48: d_z). `None` if
    /// they do not vary.
    pub fn effect(&self) -> Option<f64> {
        let effect = self.mean()? / self.stddev().filter(|stddev| *stddev > 0.0)?;
        effect.is_finite().then_some(effect)
    }
}
