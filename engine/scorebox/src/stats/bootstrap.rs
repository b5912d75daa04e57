//! An interval for a mean by drawing again from what was observed. For the few units where no formula holds.

use super::{
    distributions::{CONFIDENCE, normal_below, student_quantile},
    random::{Random, SEED},
};

/// How often a sample is drawn.
const RESAMPLES: usize = 10_000;

/// A unit that is drawn as a whole: the sum of its numbers, and how many they are.
pub(super) type Unit = (f64, u64);

/// The 95 % interval for the mean of all numbers of these units (2 or more), drawn with replacement 10 000 times with a fixed
/// seed; `None` with fewer units.
///
/// It is the percentile interval (Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7, 1979) with
/// wider percentiles, without which it would be too narrow for few units: Φ(-√(n/(n-1)) t) in place of 2.5 %, with Student's
/// quantile t for n - 1 degrees of freedom (Hesterberg, "What teachers should know about the bootstrap", The American
/// Statistician 69, 2015, section 5.2).
pub(super) fn bootstrap(units: &[Unit]) -> Option<(f64, f64)> {
    let count = units.len() as u64;
    if count < 2 {
        return None;
    }
    let mut random = Random::new(SEED);
    let mut means: Vec<f64> =
        (0..RESAMPLES).map(|_| drawn_mean(units, count, &mut random)).collect();
    means.sort_unstable_by(f64::total_cmp);
    let tail = expanded_tail(count);
    Some((quantile(&means, tail)?, quantile(&means, 1.0 - tail)?))
}

/// The part of the drawn means that is left out at each end.
fn expanded_tail(count: u64) -> f64 {
    let freedom = count as f64 - 1.0;
    let beyond = student_quantile(f64::midpoint(1.0, CONFIDENCE), freedom);
    normal_below(-(count as f64 / freedom).sqrt() * beyond)
}

fn drawn_mean(units: &[Unit], count: u64, random: &mut Random) -> f64 {
    let (mut sum, mut numbers) = (0.0, 0);
    for _ in 0..count {
        if let Some((of_unit, many)) = units.get(random.below(count) as usize) {
            sum += of_unit / count as f64;
            numbers += many;
        }
    }
    // What rounding adds to the greatest number is cut off.
    (sum / (numbers as f64 / count as f64)).clamp(f64::MIN, f64::MAX)
}

/// The quantile of ascending numbers, between two of them in proportion: R's type 7, and NumPy's default.
fn quantile(ascending: &[f64], part: f64) -> Option<f64> {
    let place = part.clamp(0.0, 1.0) * (ascending.len().checked_sub(1)?) as f64;
    let (below, rest) = (*ascending.get(place as usize)?, place.fract());
    let above = *ascending.get(place.ceil() as usize)?;
    Some(below * (1.0 - rest) + above * rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_between_two_numbers_in_proportion() {
        let numbers = [1.0, 2.0, 4.0];
        assert_eq!(quantile(&numbers, 0.0), Some(1.0));
        assert_eq!(quantile(&numbers, 0.75), Some(3.0));
        assert_eq!(quantile(&numbers, 1.0), Some(4.0));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn it_is_within_what_was_observed_and_the_same_each_time() {
        let units = [(0.25, 1), (1.0, 1), (0.5, 1), (0.75, 1)];
        let (low, high) = bootstrap(&units).unwrap();
        assert!((0.25..0.625).contains(&low) && (0.625..=1.0).contains(&high));
        assert_eq!(bootstrap(&units), Some((low, high)));
        assert_eq!(bootstrap(&units[..1]), None);
    }

    #[test]
    fn the_greatest_numbers_do_not_overflow() {
        let (low, high) = bootstrap(&[(f64::MAX, 1), (f64::MAX / 2.0, 1), (0.0, 1)]).unwrap();
        assert!(low.is_finite() && high.is_finite());
    }
}
