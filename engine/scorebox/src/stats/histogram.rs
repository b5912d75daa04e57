//! Counts how many scores fall into each of n equal parts of a range, for a sparkline. It draws nothing and chooses no
//! range.

use std::{num::NonZeroUsize, ops::RangeInclusive};

/// Counts of scores in equal buckets over a range.
///
/// A bucket includes its lower edge and excludes its upper edge; the last one includes both, as in `numpy.histogram`.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    low: f64,
    high: f64,
    counts: Vec<u64>,
    outside: u64,
}

impl Histogram {
    /// Empty buckets over `range`, whose ends are finite. If both ends are the same number, that number falls into the
    /// last bucket.
    pub fn new(range: RangeInclusive<f64>, buckets: NonZeroUsize) -> Histogram {
        let (low, high) = range.into_inner();
        Histogram { low, high, counts: vec![0; buckets.get()], outside: 0 }
    }

    /// Counts one score.
    pub fn add(&mut self, score: f64) {
        if !(self.low..=self.high).contains(&score) {
            self.outside += 1;
            return;
        }
        let bucket = self.bucket(score);
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
        }
    }

    /// How many scores each bucket got, from the lowest.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// How many scores were out of the range, or not a number.
    pub fn outside(&self) -> u64 {
        self.outside
    }

    fn bucket(&self, score: f64) -> usize {
        let last = self.counts.len() - 1;
        if self.high == self.low {
            return last;
        }
        let part = (score - self.low) / (self.high - self.low);
        let guess = ((part * self.counts.len() as f64) as usize).min(last);
        // The division may round a score over an edge (0.29 * 100 is less than 29), so it is compared with the edges.
        if score < self.edge(guess) {
            guess.saturating_sub(1)
        } else if guess < last && score >= self.edge(guess + 1) {
            guess + 1
        } else {
            guess
        }
    }

    fn edge(&self, bucket: usize) -> f64 {
        self.low + (self.high - self.low) * (bucket as f64 / self.counts.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(range: RangeInclusive<f64>, buckets: usize, scores: &[f64]) -> Histogram {
        let mut histogram = Histogram::new(range, NonZeroUsize::new(buckets).unwrap());
        scores.iter().for_each(|score| histogram.add(*score));
        histogram
    }

    /// Expected: numpy 2.4, `numpy.histogram(scores, bins=4, range=(0, 1))`.
    #[test]
    fn the_buckets_are_those_of_numpy() {
        let scores = [0.0, 0.1, 0.24, 0.25, 0.5, 0.74, 0.75, 0.99, 1.0, 1.0];
        assert_eq!(histogram(0.0..=1.0, 4, &scores).counts(), [3, 1, 2, 4]);
    }

    /// By definition. (numpy 2.4 puts some of these a bucket lower: its edges are multiples of a
    /// rounded step.)
    #[test]
    fn a_score_on_an_edge_belongs_to_the_bucket_above() {
        let hundredths: Vec<f64> = (0..100).map(|n| f64::from(n) / 100.0).collect();
        assert_eq!(histogram(0.0..=1.0, 100, &hundredths).counts(), [1; 100]);
    }

    #[test]
    fn the_last_bucket_holds_the_upper_end() {
        assert_eq!(histogram(0.0..=1.0, 10, &[1.0]).counts()[9], 1);
        assert_eq!(histogram(7.0..=7.0, 3, &[7.0, 7.0]).counts(), [0, 0, 2]);
    }

    #[test]
    fn what_is_outside_is_counted_apart() {
        let histogram = histogram(0.0..=1.0, 2, &[-0.1, 1.1, f64::NAN, f64::INFINITY, 0.6]);
        assert_eq!(histogram.counts(), [0, 1]);
        assert_eq!(histogram.outside(), 4);
    }
}
