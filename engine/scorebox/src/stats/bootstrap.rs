//! Intervals by bootstrap, which resamples the observations: for the mean of a few units, for which no formula is
//! valid, and for figures without a formula. It knows no figure but the mean.

use super::{
    distributions::{CONFIDENCE, normal_below, student_quantile},
    random::{Random, SEED},
    rounding::difference,
};

/// How many samples are drawn.
const RESAMPLES: usize = 10_000;

/// How many samples are drawn for figures that need one or more passes over each sample.
const FIGURE_RESAMPLES: usize = 2_000;
/// About how many pairs such a sample has: of more pairs, a part is drawn.
const PAIRS_DRAWN: usize = 2_500;
/// How many pairs such a sample may have, because it never has fewer than `LEAST_UNITS_DRAWN` units: with this
/// many pairs, a figure takes some seconds.
const MAX_PAIRS_DRAWN: usize = 10_000;
const LEAST_UNITS_DRAWN: usize = 100;
/// The least number of units for which drawing is meaningful.
const LEAST_UNITS: usize = 10;
/// The largest part of the samples in which a figure may be undefined.
const MAX_UNDEFINED: f64 = 0.05;

/// A unit that is drawn as a whole: the sum of its numbers, and their count.
pub(super) type Unit = (f64, u64);

/// The 95 % interval for the mean of all numbers of these units (2 or more), drawn with replacement 10 000 times with a
/// fixed seed; `None` with fewer units.
///
/// It is the percentile interval (Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7,
/// 1979) with wider percentiles, because it would otherwise be too narrow for few units: Φ(-√(n/(n-1)) t) instead of
/// 2.5 %, with Student's quantile t for n - 1 degrees of freedom (Hesterberg, "What teachers should know about the
/// bootstrap", The American Statistician 69, 2015, section 5.2).
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

/// The 95 % intervals of figures of the same pairs; `unit_of` has the unit of each pair. A unit is drawn as a whole,
/// 2,000 times with a fixed seed. `figures` computes the figures of the pairs at these indices; it must not depend on
/// their order.
///
/// A figure has no interval in these cases: it is not defined, or undefined in more than 5 % of the samples; it is the
/// same in all samples except for rounding, which is no evidence about other cases; there are fewer than ten units; or
/// there are so many pairs per unit that samples would be too large.
///
/// It is the percentile interval with the percentiles of `bootstrap`, of units (Field and Welsh, "Bootstrapping
/// clustered data", Journal of the Royal Statistical Society B 69, 2007). If there are more than some 2,500 pairs, only
/// about so many are drawn, and distances from the figure are multiplied by the square root of the part that was drawn
/// (Bickel, Götze and van Zwet, "Resampling fewer than n observations", Statistica Sinica 7, 1997).
pub fn bootstrapped_intervals<const N: usize>(
    unit_of: &[u64],
    mut figures: impl FnMut(&[usize]) -> [Option<f64>; N],
) -> [Option<(f64, f64)>; N] {
    let none = [None; N];
    let mut indices: Vec<usize> = (0..unit_of.len()).collect();
    indices.sort_by_key(|index| unit_of.get(*index));
    let units: Vec<&[usize]> =
        indices.chunk_by(|one, other| unit_of.get(*one) == unit_of.get(*other)).collect();
    if units.len() < LEAST_UNITS {
        return none;
    }
    let of_unit = unit_of.len().div_ceil(units.len());
    let drawn = (PAIRS_DRAWN / of_unit).max(LEAST_UNITS_DRAWN).min(units.len());
    if drawn * of_unit > MAX_PAIRS_DRAWN {
        return none;
    }
    let observed = figures(&indices);
    let mut random = Random::new(SEED);
    let mut samples = [const { Vec::new() }; N];
    let mut sample = Vec::new();
    for _ in 0..FIGURE_RESAMPLES {
        sample.clear();
        for _ in 0..drawn {
            let unit = units.get(random.below(units.len() as u64) as usize);
            sample.extend(unit.copied().unwrap_or_default());
        }
        for (figure, drawn) in figures(&sample).into_iter().zip(&mut samples) {
            drawn.extend(figure);
        }
    }
    let tail = expanded_tail(units.len() as u64);
    let nearer = (drawn as f64 / units.len() as f64).sqrt();
    let interval = |observed: Option<f64>, drawn: &mut Vec<f64>| {
        let observed = observed?;
        let undefined = FIGURE_RESAMPLES - drawn.len();
        if undefined as f64 > MAX_UNDEFINED * FIGURE_RESAMPLES as f64 {
            return None;
        }
        drawn.sort_unstable_by(f64::total_cmp);
        let end = |part: f64| Some(observed + (quantile(drawn, part)? - observed) * nearer);
        let spread = difference(*drawn.first()?, *drawn.last()?);
        (spread != 0.0).then_some((end(tail)?, end(1.0 - tail)?))
    };
    let mut intervals = none;
    for (index, drawn) in samples.iter_mut().enumerate() {
        intervals[index] = interval(observed[index], drawn);
    }
    intervals
}

/// The part of the drawn means that is cut off at each end.
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
    // The clamp removes the overflow that rounding adds to the greatest number.
    (sum / (numbers as f64 / count as f64)).clamp(f64::MIN, f64::MAX)
}

/// The quantile of ascending numbers, interpolated between two of them: R's type 7, and NumPy's default.
fn quantile(ascending: &[f64], part: f64) -> Option<f64> {
    let position = part.clamp(0.0, 1.0) * (ascending.len().checked_sub(1)?) as f64;
    let (below, rest) = (*ascending.get(position as usize)?, position.fract());
    let above = *ascending.get(position.ceil() as usize)?;
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

    fn mean_of(numbers: &[f64]) -> impl Fn(&[usize]) -> [Option<f64>; 1] {
        |indices| {
            let sum: f64 = indices.iter().map(|index| numbers[*index]).sum();
            [Some(sum / indices.len() as f64)]
        }
    }

    #[test]
    fn of_the_mean_of_units_of_one_it_is_the_same_interval_but_for_chance() {
        let numbers: Vec<f64> = (0..29).map(|n| f64::from(n * n % 31) / 31.0).collect();
        let units: Vec<Unit> = numbers.iter().map(|number| (*number, 1)).collect();
        let (low, high) = bootstrap(&units).unwrap();
        let unit_of: Vec<u64> = (0..29).collect();
        let [drawn] = bootstrapped_intervals(&unit_of, mean_of(&numbers));
        let width = high - low;
        let (drawn_low, drawn_high) = drawn.unwrap();
        assert!((drawn_low - low).abs() < 0.05 * width && (drawn_high - high).abs() < 0.05 * width);
    }

    #[test]
    fn attempts_at_a_case_are_drawn_together_and_make_nothing_surer() {
        let numbers: Vec<f64> = (0..400).map(|n| f64::from(n / 10 * 7 % 40) / 40.0).collect();
        let width = |unit_of: &[u64]| {
            let [drawn] = bootstrapped_intervals(unit_of, mean_of(&numbers));
            drawn.map(|(low, high)| high - low).unwrap()
        };
        let apart: Vec<u64> = (0..400).collect();
        let together: Vec<u64> = (0..400).map(|n| n / 10).collect();
        let ratio = width(&together) / width(&apart);
        assert!((3.0..3.5).contains(&ratio), "the root of ten, and wider for few: {ratio}");
    }

    /// The mean of a hundred thousand numbers: its interval is that of the normal distribution.
    #[test]
    fn of_many_units_a_part_is_drawn_and_the_interval_is_that_of_all() {
        let numbers: Vec<f64> = (0..100_000).map(|n| f64::from(n % 100)).collect();
        let unit_of: Vec<u64> = (0..100_000).collect();
        let [drawn] = bootstrapped_intervals(&unit_of, mean_of(&numbers));
        let (low, high) = drawn.unwrap();
        let half = 1.96 * (9999.0_f64 / 12.0).sqrt() / 100_000_f64.sqrt();
        assert!((high - low - 2.0 * half).abs() < 0.2 * half, "{low} to {high}");
        assert!(low < 49.5 && high > 49.5);
    }

    #[test]
    fn what_does_not_vary_or_is_rarely_defined_has_no_interval() {
        let unit_of: Vec<u64> = (0..50).collect();
        let drawn = bootstrapped_intervals(&unit_of, |indices| {
            [Some(1.0), None, indices.contains(&0).then_some(indices.len() as f64)]
        });
        assert_eq!(drawn, [None; 3]);
        let rounded =
            |indices: &[usize]| [Some(if indices.contains(&0) { 1.0 } else { 1.0 - f64::EPSILON })];
        assert_eq!(bootstrapped_intervals(&unit_of, rounded), [None]);
        assert_eq!(bootstrapped_intervals(&[1; 50], |_| [Some(1.0)]), [None]);
        let few: Vec<u64> = (0..9).collect();
        assert_eq!(bootstrapped_intervals(&few, |indices| [Some(indices[0] as f64)]), [None]);
    }

    #[test]
    fn the_greatest_numbers_do_not_overflow() {
        let (low, high) = bootstrap(&[(f64::MAX, 1), (f64::MAX / 2.0, 1), (0.0, 1)]).unwrap();
        assert!(low.is_finite() && high.is_finite());
    }
}
