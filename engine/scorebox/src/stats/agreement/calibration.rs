//! Scores as probabilities: whether about 80 % of the cases with a score of about 0.8 are positive, or negative if
//! lower scores are better. Scores are from 0 to 1, and are not changed.

#![expect(clippy::exhaustive_structs, reason = "a formula has these numbers and no others")]

use std::collections::HashSet;

use serde::Serialize;

use crate::stats::{Mean, Rate};

/// The number of bins over the range from 0 to 1.
const BINS: usize = 10;

/// How far scores are from being probabilities.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Calibration {
    /// The mean squared distance of the score from 1 for a positive case and 0 for a negative one, or the opposite if
    /// lower scores are better: 0 is best, and a constant 0.5 gives 0.25.
    pub brier: f64,
    /// The mean distance of a bin's mean score from its rate of positives, or of negatives if lower scores are better,
    /// weighted by the number of its cases.
    pub expected_error: f64,
    /// The tenths of the range, from the lowest.
    pub bins: Vec<Bin>,
}

/// The cases whose scores are within a tenth of the range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bin {
    /// The lower edge, which belongs to this bin.
    pub low: f64,
    /// The upper edge, which belongs to the next bin, or to this one if it is the last.
    pub high: f64,
    /// Cases; each attempt counts.
    pub cases: u64,
    /// Their mean score; `None` without cases.
    pub mean_score: Option<f64>,
    /// The rate of positives, with its interval; `None` without cases.
    pub positives: Option<Rate>,
}

impl Calibration {
    /// The calibration of these scores, each with whether its case is positive; `None` without cases, or if a score is
    /// outside 0 to 1. If lower scores are better, a score is the probability that its case is negative.
    ///
    /// Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review 78 (1950); bins and
    /// expected error as in Naeini, Cooper and Hauskrecht, "Obtaining well calibrated probabilities using Bayesian
    /// binning" (AAAI 2015).
    pub fn of(cases: &[(f64, bool)], lower_is_better: bool) -> Option<Calibration> {
        if cases.is_empty() || cases.iter().any(|(score, _)| !(0.0..=1.0).contains(score)) {
            return None;
        }
        let mut brier = Mean::default();
        let mut bins = vec![(Mean::default(), 0_u64); BINS];
        for (score, yes) in cases {
            brier.add((score - f64::from(u8::from(*yes != lower_is_better))).powi(2));
            let bin = &mut bins[bin_of(*score)];
            bin.0.add(*score);
            bin.1 += u64::from(*yes);
        }
        let bin = |(index, (mean, positives)): (usize, &(Mean, u64))| Bin {
            low: edge(index),
            high: edge(index + 1),
            cases: mean.count(),
            mean_score: mean.get(),
            positives: Rate::of(*positives, mean.count()),
        };
        let bins: Vec<Bin> = bins.iter().enumerate().map(bin).collect();
        let distance = |bin: &Bin| {
            let positives = bin.positives?.rate;
            let expected = if lower_is_better { 1.0 - positives } else { positives };
            Some((bin.mean_score? - expected).abs() * (bin.cases as f64 / cases.len() as f64))
        };
        let expected_error = bins.iter().filter_map(distance).sum();
        Some(Calibration { brier: brier.get()?, expected_error, bins })
    }

    /// The calibration of attempts; `case_of` has the case of each. Each attempt counts, but the intervals of bins are
    /// those of as many trials as there are cases.
    pub fn of_attempts(
        attempts: &[(f64, bool)],
        case_of: &[u64],
        lower_is_better: bool,
    ) -> Option<Calibration> {
        let mut calibration = Calibration::of(attempts, lower_is_better)?;
        let mut cases = vec![HashSet::new(); BINS];
        for ((score, _), case) in attempts.iter().zip(case_of) {
            cases[bin_of(*score)].insert(*case);
        }
        for (bin, cases) in calibration.bins.iter_mut().zip(cases) {
            bin.positives = bin.positives.and_then(|it| Rate::within(it.rate, cases.len() as f64));
        }
        Some(calibration)
    }
}

/// The index of the bin of a score from 0 to 1.
fn bin_of(score: f64) -> usize {
    // Ten times a score just below an edge may be rounded to it.
    let guess = ((score * BINS as f64) as usize).min(BINS - 1);
    if score < edge(guess) { guess - 1 } else { guess }
}

fn edge(index: usize) -> f64 {
    index as f64 / BINS as f64
}
