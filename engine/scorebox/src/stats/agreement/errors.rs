//! How far scores are from labels on the same scale. It knows neither what passes nor which direction is better.

#![expect(clippy::exhaustive_structs, reason = "a formula has these numbers and no others")]

use serde::Serialize;

use crate::stats::Mean;

/// The errors of scores: each a score less its label.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Errors {
    /// The mean error: above 0 if scores are higher than labels.
    pub mean: f64,
    /// The mean of the errors without their signs.
    pub mean_absolute: f64,
    /// The root of the mean of the squared errors.
    pub root_mean_square: f64,
}

impl Errors {
    /// The errors of these pairs of a score and its label, which are finite numbers. `None` without pairs, or if an
    /// error is too large for a number.
    pub fn of(pairs: &[(f64, f64)]) -> Option<Errors> {
        let errors = || pairs.iter().map(|(score, label)| score - label);
        let largest = errors().fold(0.0, |most: f64, error| most.max(error.abs()));
        if !largest.is_finite() {
            return None;
        }
        // Divided by the largest, squares neither overflow nor vanish.
        let divisor = if largest > 0.0 { largest } else { 1.0 };
        let (mut mean, mut absolute, mut squares) =
            (Mean::default(), Mean::default(), Mean::default());
        for error in errors() {
            mean.add(error);
            absolute.add(error.abs());
            squares.add((error / divisor).powi(2));
        }
        Some(Errors {
            mean: mean.get()?,
            mean_absolute: absolute.get()?,
            root_mean_square: squares.get()?.sqrt() * divisor,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_a_sign_only_in_their_mean() {
        let found = Errors::of(&[(0.75, 0.25), (0.25, 0.5), (1.0, 0.25)]);
        let root_mean_square = ((0.25 + 0.0625 + 0.5625) / 3.0_f64).sqrt();
        let Errors { mean, mean_absolute, .. } = found.unwrap();
        assert!((mean - 1.0 / 3.0).abs() < 1e-15 && (mean_absolute - 0.5).abs() < 1e-15);
        assert!((found.unwrap().root_mean_square - root_mean_square).abs() < 1e-15);
        let none = Errors { mean: 0.0, mean_absolute: 0.0, root_mean_square: 0.0 };
        assert_eq!(Errors::of(&[(0.5, 0.5)]), Some(none));
        assert_eq!(Errors::of(&[]), None);
    }

    #[test]
    fn the_greatest_and_the_least_errors_neither_overflow_nor_vanish() {
        for size in [1e300, 1e-300] {
            let found = Errors::of(&[(size, 0.0), (0.0, size)]).unwrap();
            assert_eq!((found.mean, found.mean_absolute), (0.0, size));
            assert!((found.root_mean_square / size - 1.0).abs() < 1e-15, "{found:?}");
        }
        assert_eq!(Errors::of(&[(f64::MAX, -f64::MAX)]), None);
    }
}
