//! Whether the error of scores rises with a number, such as the length of the output. It does not know what the number
//! is.

use super::correlation::{mean_ranks, spearman};
use crate::stats::{
    distributions::student_beyond,
    random::{Random, SEED},
};

/// Up to how many cases all orders are counted: 362,880.
const MAX_COUNTED: usize = 9;

/// Up to how many cases orders are drawn. With more, Student's t gives the same result.
const MAX_DRAWN: usize = 30;

/// How many orders are drawn.
const DRAWS: u32 = 9_999;

/// A sum counts as equal to the observed one if it is less by at most this part of the greatest sum.
const SHORT: f64 = 1e-12;

/// Whether errors rise with a number: Spearman's rho and its two-sided p value. `None` with fewer than three pairs, or
/// if one side does not vary.
///
/// The p value is that of the permutation test (Spearman's rho in each order of the errors: Kendall and Stuart, "The
/// advanced theory of statistics" 2, section 31.19): for up to 9 cases, all orders are counted. For more, orders are
/// drawn if on one side at most 30 cases differ from the most common number; the observed order counts as drawn too.
/// Otherwise it is that of Student's t with n - 2 degrees of freedom.
pub fn rank_trend(numbers: &[f64], errors: &[f64]) -> Option<(f64, f64)> {
    let rho = spearman(numbers, errors)?;
    if numbers.len() < 3 {
        return None;
    }
    let (few, many) = fewer_first(from_commonest(numbers), from_commonest(errors));
    let p = match few.len() {
        _ if numbers.len() <= MAX_COUNTED => counted(&few, many),
        0..=MAX_DRAWN => drawn(&few, many),
        _ => student_trend(rho, numbers.len()),
    };
    Some((rho, p))
}

/// The p value of a rank correlation by Student's t with n - 2 degrees of freedom (Kendall and Stuart, as above).
pub(in crate::stats) fn student_trend(rho: f64, cases: usize) -> f64 {
    let freedom = cases as f64 - 2.0;
    let t = rho * (freedom / ((1.0 - rho) * (1.0 + rho))).sqrt();
    if t.is_finite() { student_beyond(t, freedom) } else { 0.0 }
}

/// The ranks, less that of the most common number.
fn from_commonest(numbers: &[f64]) -> Vec<f64> {
    let ranks = mean_ranks(numbers);
    let mut sorted = ranks.clone();
    sorted.sort_by(f64::total_cmp);
    let most = sorted.chunk_by(|a, b| a == b).max_by_key(|equals| equals.len());
    let commonest = most.map_or(0.0, |equals| equals[0]);
    ranks.into_iter().map(|rank| rank - commonest).collect()
}

/// The ranks other than 0 of the side that has fewer of them, and the ranks of the other side, beginning with those of
/// the same cases.
fn fewer_first(one: Vec<f64>, other: Vec<f64>) -> (Vec<f64>, Vec<f64>) {
    let others = |ranks: &[f64]| ranks.iter().filter(|rank| **rank != 0.0).count();
    let (few, many) = if others(&one) <= others(&other) { (one, other) } else { (other, one) };
    let mut pairs: Vec<(f64, f64)> = few.into_iter().zip(many).collect();
    // This makes draws independent of the order of the cases.
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    pairs.sort_by_key(|(rank, _)| *rank == 0.0);
    let few = pairs.iter().map(|(rank, _)| *rank).filter(|rank| *rank != 0.0).collect();
    (few, pairs.into_iter().map(|(_, rank)| rank).collect())
}

/// Rho rises with the sum of products. This measures how far a sum is from its average.
struct Products {
    average: f64,
    short: f64,
}

impl Products {
    fn of(few: &[f64], many: &[f64]) -> Products {
        let sum: f64 = few.iter().sum();
        let largest = many.iter().fold(0.0, |most: f64, it| most.max(it.abs()));
        let short = SHORT * largest * few.iter().map(|it| it.abs()).sum::<f64>();
        Products { average: sum * many.iter().sum::<f64>() / many.len() as f64, short }
    }

    fn distance_of(&self, few: &[f64], many: &[f64]) -> f64 {
        let products: f64 = few.iter().zip(many).map(|(a, b)| a * b).sum();
        (products - self.average).abs()
    }
}

fn counted(few: &[f64], mut many: Vec<f64>) -> f64 {
    let products = Products::of(few, &many);
    let far = products.distance_of(few, &many) - products.short;
    let (mut all, mut beyond) = (0_u64, 0_u64);
    orders(&mut many, 0, few.len(), &mut |many| {
        all += 1;
        beyond += u64::from(products.distance_of(few, many) >= far);
    });
    beyond as f64 / all as f64
}

/// All orders of the first `first` numbers.
fn orders(numbers: &mut [f64], from: usize, first: usize, each: &mut impl FnMut(&[f64])) {
    if from == first {
        return each(numbers);
    }
    for other in from..numbers.len() {
        numbers.swap(from, other);
        orders(numbers, from + 1, first, each);
        numbers.swap(from, other);
    }
}

/// Phipson and Smyth, "Permutation p-values should never be zero", Statistical Applications in Genetics and Molecular
/// Biology 9 (2010).
fn drawn(few: &[f64], mut many: Vec<f64>) -> f64 {
    let products = Products::of(few, &many);
    let far = products.distance_of(few, &many) - products.short;
    let mut random = Random::new(SEED);
    let mut beyond = 1;
    for _ in 0..DRAWS {
        for place in 0..few.len() {
            let other = place + random.below((many.len() - place) as u64) as usize;
            many.swap(place, other);
        }
        beyond += u32::from(products.distance_of(few, &many) >= far);
    }
    f64::from(beyond) / f64::from(DRAWS + 1)
}
