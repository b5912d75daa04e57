//! The paired permutation test: if the two measurements of each case were swapped at random, how often would the mean
//! difference be as large? It does not judge the size of the difference.

#![expect(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "a formula has these numbers and no others"
)]

use serde::Serialize;

use crate::stats::{
    Mean,
    distributions::{coin_beyond, student_beyond},
    random::{Random, SEED},
};

/// For up to how many differences all swaps are counted: a million ways.
const MAX_COUNTED: usize = 20;

/// How many swaps are drawn if there are too many to count.
const DRAWS: u64 = 9_999;

/// How many differences [`Differences`](super::Differences) keeps for swapping. With more, the mean is so close to
/// normal that Student's t gives the same result.
pub const MAX_PERMUTED: usize = 20_000;

/// The largest difference that counts as rounding, as a part of the sum of all distances.
const ROUNDING: f64 = 1e-12;

/// How a permutation test was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestMethod {
    /// All ways were counted.
    Exact,
    /// 9999 ways were drawn, with a fixed seed.
    Seeded,
    /// Student's t instead, for very many cases.
    StudentT,
}

/// The chance of a difference like the observed one, if there is no real difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairedTest {
    /// The two-sided p value, 0 to 1.
    pub p: f64,
    /// How it was computed.
    pub method: TestMethod,
}

/// Tests whether the mean of these differences is 0; `None` without any. They are finite, in an order that must not
/// depend on which worker computed them. It makes up to 9999 passes over them.
///
/// Fisher, "The design of experiments" (1935), section 21: each sign is equally likely if there is no real difference.
/// With at most 20 differences that are not 0, or with equal distances from 0 (scores of 0 and 1), all signs are
/// counted; otherwise they are drawn, and the observed one counts as drawn too (Phipson and Smyth, "Permutation
/// p-values should never be zero", Statistical Applications in Genetics and Molecular Biology 9, 2010).
pub fn permutation_test(differences: &[f64]) -> Option<PairedTest> {
    if differences.is_empty() {
        return None;
    }
    // A difference of 0 adds nothing, whatever its sign.
    let some: Vec<f64> = differences.iter().copied().filter(|it| *it != 0.0).collect();
    let Some(first) = some.first() else {
        return Some(PairedTest { p: 1.0, method: TestMethod::Exact });
    };
    if some.iter().all(|it| it.abs() == first.abs()) {
        let up = some.iter().filter(|it| **it > 0.0).count() as u64;
        let p = coin_beyond(up, some.len() as u64);
        return Some(PairedTest { p, method: TestMethod::Exact });
    }
    // From here on the largest is 1, so that no sum overflows.
    let largest = some.iter().fold(0.0, |most: f64, it| most.max(it.abs()));
    let some: Vec<f64> = some.into_iter().map(|it| it / largest).collect();
    Some(match some.len() {
        0..=MAX_COUNTED => PairedTest { p: counted(&some), method: TestMethod::Exact },
        _ => PairedTest { p: drawn(&some), method: TestMethod::Seeded },
    })
}

/// The smallest distance from 0 that counts as equal to the observed one.
fn as_far_as(differences: &[f64]) -> f64 {
    let sum: f64 = differences.iter().sum();
    sum.abs() - ROUNDING * differences.iter().map(|it| it.abs()).sum::<f64>()
}

/// Sums with all signs are computed for each half, so that each total takes one addition.
fn counted(differences: &[f64]) -> f64 {
    let far = as_far_as(differences);
    let (one, other) = differences.split_at(differences.len() / 2);
    let (one, other) = (signed_sums(one), signed_sums(other));
    let beyond = |sum: &f64| other.iter().filter(|more| (sum + **more).abs() >= far).count();
    let beyond: usize = one.iter().map(beyond).sum();
    beyond as f64 / (one.len() * other.len()) as f64
}

fn signed_sums(differences: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for difference in differences {
        sums = sums.iter().flat_map(|sum| [sum + difference, sum - difference]).collect();
    }
    sums
}

fn drawn(differences: &[f64]) -> f64 {
    let far = as_far_as(differences);
    let mut random = Random::new(SEED);
    let mut beyond = 0;
    for _ in 0..DRAWS {
        let mut sum = 0.0;
        for some in differences.chunks(64) {
            let mut signs = random.bits();
            for difference in some {
                sum += f64::from_bits(difference.to_bits() ^ (signs << 63));
                signs >>= 1;
            }
        }
        beyond += u64::from(sum.abs() >= far);
    }
    (beyond + 1) as f64 / (DRAWS + 1) as f64
}

/// The two-sided p value of the t test of a mean of 0 (Student, "The probable error of a mean", Biometrika 6, 1908);
/// `None` if the numbers do not vary.
pub(in crate::stats) fn student_test(mean: &Mean) -> Option<f64> {
    let (count, stddev) = (mean.count() as f64, mean.sample_stddev()?);
    let t = mean.get()? / (stddev / count.sqrt());
    (stddev > 0.0 && t.is_finite()).then(|| student_beyond(t, count - 1.0))
}
