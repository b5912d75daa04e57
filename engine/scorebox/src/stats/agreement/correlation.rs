//! Correlation of two series of numbers. It does not know which one is right.

#![expect(clippy::exhaustive_structs, reason = "a formula has these numbers and no others")]

use serde::Serialize;

use crate::stats::{
    Mean,
    distributions::{CONFIDENCE, normal_quantile},
};

/// How far from 1 a correlation may be if a line fits perfectly: what rounding leaves of the sums that it is made of.
const ROUNDING: f64 = 1e-13;

/// The correlations of pairs; each is `None` if one side does not vary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Correlations {
    /// Pearson's r: how well a line fits.
    pub pearson: Option<f64>,
    /// The 95 % interval of r; `None` with fewer than 4 pairs, and if a line fits perfectly.
    pub pearson_interval: Option<(f64, f64)>,
    /// Spearman's rho: Pearson's r of the ranks; equal numbers have their mean rank.
    pub spearman: Option<f64>,
    /// Kendall's tau-b: pairs of cases in the same order less those in the opposite one, corrected for ties.
    pub kendall: Option<f64>,
    /// Krippendorff's alpha for numbers; `None` if all numbers are equal.
    pub alpha: Option<f64>,
}

/// The correlations of these pairs of finite numbers.
///
/// Pearson, "Notes on regression and inheritance in the case of two parents", Proceedings of the Royal Society of
/// London 58 (1895), with the interval of Fisher, "On the probable error of a coefficient of correlation", Metron 1
/// (1921); Spearman, "The proof and measurement of association between two things", American Journal of Psychology 15
/// (1904); Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945), counted as in Knight, "A
/// computer method for calculating Kendall's tau with ungrouped data", Journal of the American Statistical Association
/// 61 (1966); Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), with the interval metric.
pub fn correlations(pairs: &[(f64, f64)]) -> Correlations {
    let (first, second): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let pearson = pearson(&first, &second);
    Correlations {
        pearson,
        pearson_interval: pearson.and_then(|r| fisher(r, pairs.len())),
        spearman: spearman(&first, &second),
        kendall: kendall(pairs),
        alpha: alpha(pairs),
    }
}

/// The numbers divided by a power of two near the largest, so that their squares do not overflow: nothing is rounded.
fn scaled(numbers: &[f64]) -> Vec<f64> {
    let largest = numbers.iter().fold(0.0, |most: f64, it| most.max(it.abs()));
    // The exponent of the largest, without its fraction.
    let power = f64::from_bits(largest.to_bits() & (0x7FF << 52)).max(f64::MIN_POSITIVE);
    let is_usual = (1e-100..1e100).contains(&power) || largest == 0.0;
    numbers.iter().map(|it| if is_usual { *it } else { it / power }).collect()
}

fn mean(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut mean = Mean::default();
    numbers.into_iter().for_each(|number| mean.add(number));
    mean.get().unwrap_or(0.0)
}

pub(super) fn pearson(first: &[f64], second: &[f64]) -> Option<f64> {
    let varies = |numbers: &[f64]| numbers.iter().any(|it| Some(it) != numbers.first());
    if !varies(first) || !varies(second) {
        return None;
    }
    let (first, second) = (scaled(first), scaled(second));
    let (of_first, of_second) = (mean(first.iter().copied()), mean(second.iter().copied()));
    let pairs = || first.iter().zip(&second).map(|(a, b)| (a - of_first, b - of_second));
    let together = mean(pairs().map(|(a, b)| a * b));
    let (alone, other) = (mean(pairs().map(|(a, _)| a * a)), mean(pairs().map(|(_, b)| b * b)));
    let r = together / (alone.sqrt() * other.sqrt());
    r.is_finite().then(|| r.clamp(-1.0, 1.0))
}

/// Fisher's interval: atanh r is about normal, with the variance 1/(n - 3).
fn fisher(r: f64, pairs: usize) -> Option<(f64, f64)> {
    if pairs < 4 || r.abs() >= 1.0 - ROUNDING {
        return None;
    }
    let half = normal_quantile(f64::midpoint(1.0, CONFIDENCE)) / (pairs as f64 - 3.0).sqrt();
    Some(((r.atanh() - half).tanh(), (r.atanh() + half).tanh()))
}

pub(super) fn spearman(first: &[f64], second: &[f64]) -> Option<f64> {
    pearson(&mean_ranks(first), &mean_ranks(second))
}

/// The ranks of numbers, from 1; equal numbers have their mean rank.
pub(super) fn mean_ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    // Adding 0 makes `-0` an ordinary 0.
    order.sort_by(|a, b| (numbers[*a] + 0.0).total_cmp(&(numbers[*b] + 0.0)));
    let mut ranks = vec![0.0; numbers.len()];
    let mut before = 0;
    for equals in order.chunk_by(|a, b| numbers[*a] == numbers[*b]) {
        let rank = before as f64 + (equals.len() as f64 + 1.0) / 2.0;
        equals.iter().for_each(|index| ranks[*index] = rank);
        before += equals.len();
    }
    ranks
}

fn kendall(pairs: &[(f64, f64)]) -> Option<f64> {
    let mut sorted: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (a + 0.0, b + 0.0)).collect();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let ways = |many: usize| many as u128 * many.saturating_sub(1) as u128 / 2;
    let in_first: u128 = sorted.chunk_by(|a, b| a.0 == b.0).map(|it| ways(it.len())).sum();
    let in_both: u128 = sorted.chunk_by(|a, b| a == b).map(|it| ways(it.len())).sum();
    let mut second: Vec<f64> = sorted.into_iter().map(|(_, b)| b).collect();
    let opposite = inversions(&mut second);
    // They are now sorted.
    let in_second: u128 = second.chunk_by(|a, b| a == b).map(|it| ways(it.len())).sum();
    let all = ways(pairs.len());
    if in_first == all || in_second == all {
        return None;
    }
    let untied = (all + in_both - in_first - in_second) as f64;
    let both_ways = ((all - in_first) as f64).sqrt() * ((all - in_second) as f64).sqrt();
    Some(((untied - 2.0 * opposite as f64) / both_ways).clamp(-1.0, 1.0))
}

/// How many pairs of numbers are in the wrong order; it sorts them.
fn inversions(numbers: &mut [f64]) -> u128 {
    let mut merged = numbers.to_vec();
    let (mut swaps, mut width) = (0_u128, 1);
    while width < numbers.len() {
        for start in (0..numbers.len()).step_by(2 * width) {
            let (middle, end) =
                ((start + width).min(numbers.len()), (start + 2 * width).min(numbers.len()));
            let (mut left, mut right) = (start, middle);
            for slot in &mut merged[start..end] {
                if left < middle && (right == end || numbers[left] <= numbers[right]) {
                    *slot = numbers[left];
                    left += 1;
                } else {
                    *slot = numbers[right];
                    right += 1;
                    swaps += (middle - left) as u128;
                }
            }
        }
        numbers.copy_from_slice(&merged);
        width *= 2;
    }
    swaps
}

/// 1 - D/E with the mean squared difference within pairs, and that between all numbers.
fn alpha(pairs: &[(f64, f64)]) -> Option<f64> {
    let numbers: Vec<f64> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let numbers = scaled(&numbers);
    let within = mean(numbers.chunks(2).map(|pair| (pair[0] - pair[1]).powi(2)));
    let of_all = mean(numbers.iter().copied());
    let count = numbers.len() as f64;
    let among = mean(numbers.iter().map(|it| (it - of_all).powi(2))) * 2.0 * count / (count - 1.0);
    let varies = numbers.iter().any(|it| Some(it) != numbers.first());
    let alpha = 1.0 - within / among;
    (varies && alpha.is_finite()).then_some(alpha)
}
