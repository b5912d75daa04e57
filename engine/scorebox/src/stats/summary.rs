//! Count, mean, min, max, median and standard deviation of scores, in one pass over sorted scores. It keeps no scores
//! and sorts only the slice that it borrows.

#![expect(clippy::exhaustive_structs, reason = "a formula has these numbers and no others")]

use serde::Serialize;

/// A summary of many scores; the statistics of Smithers' `aggregateScores`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// How many scores; 1 or more.
    pub count: u64,
    /// The sum divided by the count.
    pub mean: f64,
    /// The lowest.
    pub min: f64,
    /// The highest.
    pub max: f64,
    /// The median: the score in the middle, or the mean of the two in the middle.
    pub p50: f64,
    /// The standard deviation of the population: the root of the mean squared distance from the mean, divided by n and
    /// not by n - 1, since these are all scores.
    pub stddev: f64,
}

impl Summary {
    /// The summary of scores in any order, which this sorts; `None` if there are none.
    ///
    /// The scores are finite numbers.
    pub fn of(scores: &mut [f64]) -> Option<Summary> {
        scores.sort_unstable_by(f64::total_cmp);
        Summary::of_ascending(scores.len() as u64, scores.iter().copied())
    }

    /// The summary of `count` scores that come in ascending order; `None` if there are none, or if there are not
    /// `count` of them.
    pub fn of_ascending(count: u64, scores: impl IntoIterator<Item = f64>) -> Option<Summary> {
        let mut ascending = Ascending::new(count);
        scores.into_iter().for_each(|score| ascending.add(score));
        ascending.finish()
    }
}

/// Computes a summary of scores that are added one by one in ascending order.
///
/// Memory use does not depend on their number.
#[derive(Clone, Debug)]
pub struct Ascending {
    count: u64,
    seen: u64,
    min: f64,
    max: f64,
    middle: (f64, f64),
    plain: Moments,
    scaled: Moments,
}

/// Scales the greatest number of the points scale so that its square does not overflow. A power of two, so that nothing
/// is rounded.
pub(super) const DOWN: f64 = f64::from_bits((1023 - 600) << 52);

impl Ascending {
    /// Starts a summary of `count` scores; the count is needed to find the median without keeping the scores.
    pub fn new(count: u64) -> Ascending {
        Ascending {
            count,
            seen: 0,
            min: f64::NAN,
            max: f64::NAN,
            middle: (f64::NAN, f64::NAN),
            plain: Moments::default(),
            scaled: Moments::default(),
        }
    }

    /// Adds the next score, which is finite and not less than the one before.
    pub fn add(&mut self, score: f64) {
        if self.seen == 0 {
            self.min = score;
        }
        self.max = score;
        if self.seen == self.count.saturating_sub(1) / 2 {
            self.middle.0 = score;
        }
        if self.seen == self.count / 2 {
            self.middle.1 = score;
        }
        self.seen += 1;
        self.plain.add(score, self.seen);
        self.scaled.add(score * DOWN, self.seen);
    }

    /// The summary; `None` if there were no scores, or if there were more or fewer than announced.
    pub fn finish(self) -> Option<Summary> {
        if self.seen == 0 || self.seen != self.count {
            return None;
        }
        let count = self.count as f64;
        let mut mean = self.plain.sum() / count;
        let mut stddev = (self.plain.squares / count).sqrt();
        if !mean.is_finite() || !stddev.is_finite() {
            mean = self.scaled.sum() / count / DOWN;
            stddev = (self.scaled.squares / count).sqrt() / DOWN;
        }
        Some(Summary {
            count: self.count,
            // The last bit of a division may exceed the bounds of a mean.
            mean: mean.clamp(self.min, self.max),
            min: self.min,
            max: self.max,
            p50: self.middle.0.midpoint(self.middle.1),
            stddev,
        })
    }
}

/// Sum and squared distances from the mean, without the error that plain addition accumulates.
///
/// The sum is Neumaier's ("Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen",
/// ZAMM 54, 1974); the squares are Welford's ("Note on a method for calculating corrected sums of
/// squares and products", Technometrics 4, 1962).
#[derive(Clone, Debug, Default)]
pub(super) struct Moments {
    total: f64,
    lost: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Adds the `nth` number, counted from 1.
    pub(super) fn add(&mut self, number: f64, nth: u64) {
        let total = self.total + number;
        self.lost += if self.total.abs() >= number.abs() {
            (self.total - total) + number
        } else {
            (number - total) + self.total
        };
        self.total = total;

        let distance = number - self.mean;
        self.mean += distance / nth as f64;
        self.squares += distance * (number - self.mean);
    }

    pub(super) fn sum(&self) -> f64 {
        self.total + self.lost
    }

    /// The sum of the squared distances from the mean.
    pub(super) fn squares(&self) -> f64 {
        self.squares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        let apart = (found - expected).abs();
        assert!(apart <= expected.abs() * 1e-15, "{found} is not {expected}");
    }

    /// Expected values: Python 3.11, `statistics.fmean`, `median` and `pstdev`; the last computes with
    /// exact fractions.
    #[test]
    fn the_figures_are_those_of_pythons_statistics() {
        let cases: [(&[f64], f64, f64, f64); 5] = [
            (&[0.5], 0.5, 0.5, 0.0),
            (&[0.0, 1.0], 0.5, 0.5, 0.5),
            (&[0.9, 0.1, 0.4], 0.46666666666666673, 0.4, 0.3299831645537222),
            (&[0.1, 0.2, 0.3, 0.4], 0.25, 0.25, 0.11180339887498948),
            (
                &[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0, 1e9],
                111111115.55555555,
                5.0,
                314269678.95600605,
            ),
        ];
        for (scores, mean, p50, stddev) in cases {
            let summary = Summary::of(&mut scores.to_vec()).unwrap();
            close(summary.mean, mean);
            close(summary.p50, p50);
            close(summary.stddev, stddev);
            assert_eq!(summary.count, scores.len() as u64);
            assert_eq!(summary.min, scores.iter().copied().fold(f64::INFINITY, f64::min));
            assert_eq!(summary.max, scores.iter().copied().fold(0.0, f64::max));
        }
    }

    /// 100 000 numbers of a linear congruential generator (Numerical Recipes' constants), which Python generated too.
    /// Expected: `statistics.fmean`, `median`, `pstdev`, Python 3.11.
    #[test]
    fn agrees_with_pythons_statistics_on_many_scores() {
        let mut state: u32 = 1;
        let mut scores: Vec<f64> = (0..100_000)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                f64::from(state >> 8) / f64::from(1 << 24)
            })
            .collect();
        let summary = Summary::of(&mut scores).unwrap();
        close(summary.mean, MANY.0);
        close(summary.p50, MANY.1);
        assert!((summary.stddev - MANY.2).abs() < 1e-14, "{}", summary.stddev);
    }

    const MANY: (f64, f64, f64) = (0.49969827062249184, 0.498989462852478, 0.2888478092976373);

    #[test]
    fn is_the_same_to_the_bit_in_whatever_order_scores_were_made() {
        let mut forward: Vec<f64> = (0..1000).map(|n| f64::from(n * 7919 % 1000) / 999.0).collect();
        let mut backward: Vec<f64> = forward.iter().rev().copied().collect();
        assert_eq!(Summary::of(&mut forward), Summary::of(&mut backward));
    }

    #[test]
    fn equal_scores_have_themselves_as_mean_and_no_deviation() {
        for count in [1, 3, 10, 999] {
            let summary = Summary::of(&mut vec![0.1; count]).unwrap();
            assert_eq!((summary.mean, summary.p50, summary.stddev), (0.1, 0.1, 0.0));
        }
    }

    #[test]
    fn the_greatest_scores_of_the_points_scale_do_not_overflow() {
        let summary = Summary::of(&mut [f64::MAX, f64::MAX, 0.0, 0.0]).unwrap();
        close(summary.mean, f64::MAX / 2.0);
        close(summary.stddev, f64::MAX / 2.0);
        close(summary.p50, f64::MAX / 2.0);
    }

    #[test]
    fn no_scores_have_no_summary_and_neither_has_a_wrong_count() {
        assert_eq!(Summary::of(&mut []), None);
        assert_eq!(Summary::of_ascending(3, [0.1, 0.2]), None);
        assert_eq!(Summary::of_ascending(1, [0.1, 0.2]), None);
        assert_eq!(Summary::of_ascending(0, [0.1]), None);
    }
}
