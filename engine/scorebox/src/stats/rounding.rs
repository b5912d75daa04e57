//! Numbers that may differ only by rounding, which count as equal. It does not know what they measure.

/// The largest difference that counts as rounding, as a part of the numbers.
const ROUNDING: f64 = 1e-12;

/// Whole numbers up to this one are held exactly, and so is their difference.
const MAX_EXACT: f64 = (1_u64 << 53) as f64;

fn are_whole(first: f64, second: f64, size: f64) -> bool {
    first.fract() == 0.0 && second.fract() == 0.0 && size <= MAX_EXACT
}

/// Second less first, of finite numbers; 0 if rounding may be all that there is. Two whole numbers that are held exactly
/// have not been rounded.
///
/// ```
/// # use scorebox::stats::paired::difference;
/// assert_eq!(difference(0.3, 0.1 + 0.2), 0.0);
/// assert_eq!(difference(1.0, 0.5), -0.5);
/// assert_eq!(difference(2e12, 2e12 + 1.0), 1.0);
/// ```
pub fn difference(first: f64, second: f64) -> f64 {
    difference_of_size(first, second, first.abs().max(second.abs()))
}

/// Second less first, of finite numbers that were computed from numbers of this size; 0 if the difference may be only
/// rounding.
pub(super) fn difference_of_size(first: f64, second: f64, size: f64) -> f64 {
    // Clamping only affects opposite numbers at the ends of the range of `f64`.
    let difference = (second - first).clamp(f64::MIN, f64::MAX);
    match difference.abs() <= ROUNDING * size && !are_whole(first, second, size) {
        true => 0.0,
        false => difference,
    }
}

/// How far the difference of two numbers may be from the one that it would be without rounding.
pub(super) fn rounding_of(first: f64, second: f64) -> f64 {
    let size = first.abs().max(second.abs());
    if are_whole(first, second, size) { 0.0 } else { ROUNDING * size }
}

/// Finite numbers, each with the size of the numbers from which it was computed: numbers that may differ only by
/// rounding become the lowest of them. In the original order.
///
/// ```
/// # use scorebox::stats::agreement::without_rounding;
/// assert_eq!(without_rounding(&[(0.7 - 0.5, 0.7), (0.5, 0.5), (0.2, 0.2)]), [0.7 - 0.5, 0.5, 0.7 - 0.5]);
/// ```
pub fn without_rounding(numbers: &[(f64, f64)]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|a, b| numbers[*a].0.total_cmp(&numbers[*b].0));
    let mut rounded: Vec<f64> = numbers.iter().map(|(number, _)| number + 0.0).collect();
    let mut lowest: Option<(f64, f64)> = None;
    for index in order {
        let (number, size) = numbers[index];
        match lowest {
            Some((low, of))
                if number - low <= ROUNDING * size.max(of)
                    && !(number > low && are_whole(number, low, size.max(of))) =>
            {
                rounded[index] = low;
            }
            _ => lowest = Some((number + 0.0, size)),
        }
    }
    rounded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_that_are_held_exactly_differ_however_large_they_are() {
        let most = MAX_EXACT;
        assert_eq!(difference(2e12, 2e12 + 1.0), 1.0);
        assert_eq!(difference(most, most - 1.0), -1.0);
        assert_eq!(difference(-most, 1.0 - most), 1.0);
        assert_eq!(without_rounding(&[(3.0, 2e12), (1.0, 2e12), (1.0, 2e12)]), [3.0, 1.0, 1.0]);
        // Beyond, neighbours are what rounding makes of numbers between them.
        assert_eq!(difference(2.0 * most, 2.0 * most + 2.0), 0.0);
        assert_eq!(difference(2e12, 2e12 + 0.5), 0.0);
    }
}
