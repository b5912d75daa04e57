//! Formulas for the similarity of two texts, numbers or lists, which several scorers use. It computes no edit distance,
//! and decides no score.

use std::collections::HashMap;
use std::hash::Hash;

/// How similar two texts are, given the number of `edits` that turn one into the other: 0 (nothing in common) to 1
/// (equal).
///
/// 1 - edits / length of the longer text, in code points; two empty texts are equal. That is the normalized similarity
/// of V. Levenshtein's distance (1966), if `edits` is the smallest number of insertions, deletions and substitutions of
/// one code point each, which never exceeds the length of the longer text.
///
/// ```
/// # use scorebox_sdk_texts::similarity::of_edits;
/// assert_eq!(of_edits(1, "naïve", "naive"), 0.8);
/// assert_eq!(of_edits(0, "", ""), 1.0);
/// ```
#[must_use]
pub fn of_edits(edits: usize, left: &str, right: &str) -> f64 {
    match left.chars().count().max(right.chars().count()) {
        0 => 1.0,
        longer => 1.0 - edits as f64 / longer as f64,
    }
}

/// How close two finite numbers are, relative to both: 1 if they are equal, down to 0 if they have nothing in common,
/// not even the sign.
///
/// 1 - |expected - output| / (|expected| + |output|), as `NumericDiff` of autoevals has it; two
/// zeros are equal.
///
/// ```
/// # use scorebox_sdk_texts::similarity::of_numbers;
/// assert_eq!(of_numbers(1.0, 3.0), 0.5);
/// assert_eq!(of_numbers(-1.0, 1.0), 0.0);
/// ```
#[must_use]
pub fn of_numbers(output: f64, expected: f64) -> f64 {
    if output == expected {
        return 1.0;
    }
    // The sum of very large numbers overflows; the sum of their halves does not.
    let part = if (expected.abs() + output.abs()).is_infinite() { 0.5 } else { 1.0 };
    let (output, expected) = (output * part, expected * part);
    let sum = expected.abs() + output.abs();
    (1.0 - (expected - output).abs() / sum).clamp(0.0, 1.0)
}

/// How many items two lists share, in any order. A repeated item counts as often as it occurs in the list that has
/// fewer of it.
///
/// ```
/// # use scorebox_sdk_texts::similarity::shared;
/// assert_eq!(shared(["a", "b", "a"], ["a", "c", "a", "a"]), 2);
/// ```
#[must_use]
pub fn shared<T: Eq + Hash>(
    left: impl IntoIterator<Item = T>,
    right: impl IntoIterator<Item = T>,
) -> usize {
    let mut unpaired: HashMap<T, usize> = HashMap::new();
    for item in right {
        *unpaired.entry(item).or_default() += 1;
    }
    let mut shared = 0;
    for item in left {
        if let Some(count) = unpaired.get_mut(&item).filter(|count| **count > 0) {
            *count -= 1;
            shared += 1;
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_counted_in_code_points() {
        assert_eq!(of_edits(1, "é", "e"), 0.0);
        assert_eq!(of_edits(2, "ab", ""), 0.0);
        assert_eq!(of_edits(3, "sitting", "kitten"), 1.0 - 3.0 / 7.0);
    }

    #[test]
    fn the_largest_and_the_smallest_numbers_are_compared() {
        assert_eq!(of_numbers(f64::MAX, f64::MAX), 1.0);
        assert!((of_numbers(1e-323, 5e-324) - 2.0 / 3.0).abs() < 1e-12);
        assert!((of_numbers(f64::MAX, f64::MAX / 2.0) - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(of_numbers(f64::from_bits(1), 0.0), 0.0);
        assert_eq!(of_numbers(0.0, -0.0), 1.0);
    }

    #[test]
    fn an_item_is_shared_as_often_as_both_have_it() {
        assert_eq!(shared([1, 1, 2], [1, 2, 2, 3]), 2);
        assert_eq!(shared(std::iter::empty::<u8>(), [1]), 0);
    }
}
