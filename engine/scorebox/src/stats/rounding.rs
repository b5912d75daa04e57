//! The difference of two numbers, which is 0 if it may be rounding alone. Knows nothing of what they measure.

/// What is rounding in a difference, as a part of the numbers that it is of.
const ROUNDING: f64 = 1e-12;

/// Second less first, of finite numbers; 0 if rounding may be all that there is.
///
/// ```
/// # use scorebox::stats::paired::difference;
/// assert_eq!(difference(0.3, 0.1 + 0.2), 0.0);
/// assert_eq!(difference(1.0, 0.5), -0.5);
/// ```
pub fn difference(first: f64, second: f64) -> f64 {
    // Only of opposite numbers at the ends of what can be had.
    let difference = (second - first).clamp(f64::MIN, f64::MAX);
    match difference.abs() <= rounding_of(first, second) {
        true => 0.0,
        false => difference,
    }
}

/// How far two numbers may be apart if only rounding is between them.
pub(super) fn rounding_of(first: f64, second: f64) -> f64 {
    ROUNDING * first.abs().max(second.abs())
}
