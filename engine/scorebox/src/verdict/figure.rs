//! Figures as tables show them, and two of them in as many digits as tell them apart. Decides nothing.

/// Decimals with which two figures are shown so that they differ; closer ones are shown with all digits.
const MOST_DECIMALS: usize = 9;
/// Figures from here on have an exponent: some have hundreds of digits.
const HUGE: f64 = 1e15;

/// A figure, such as a score, with four decimals, or as many digits as a large one needs.
pub fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 => format!("{value:.3e}"),
        size if size >= 100.0 => format!("{value:.1}"),
        _ => format!("{value:.4}"),
    }
}

/// Two figures as `text` writes them; with more digits, if they differ and rounding would make them look equal.
pub fn apart(one: f64, other: f64, text: impl Fn(f64) -> String) -> [String; 2] {
    let both = [one, other];
    let as_usual = both.map(text);
    if as_usual[0] != as_usual[1] || one == other {
        return as_usual;
    }
    if one.abs().max(other.abs()) >= HUGE {
        return both.map(|figure| format!("{figure:e}"));
    }
    let with = |decimals: usize| both.map(|figure| format!("{figure:.decimals$}"));
    (5..=MOST_DECIMALS)
        .map(with)
        .find(|[one, other]| one != other)
        .unwrap_or_else(|| both.map(|figure| figure.to_string()))
}

/// A score as tables show it; with more digits, if rounding would make it look like the threshold that it is not.
pub fn score_beside(score: f64, threshold: impl Into<Option<f64>>) -> String {
    match threshold.into() {
        Some(threshold) => apart(score, threshold, figure)[0].clone(),
        None => figure(score),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_figure_has_few_digits() {
        let said = [0.5, 165.0, 1_234_567.0, 1.7e308].map(figure);
        assert_eq!(said, ["0.5000", "165.0", "1.235e6", "1.700e308"]);
    }

    #[test]
    fn a_score_that_is_not_the_threshold_does_not_look_like_it() {
        assert_eq!(score_beside(0.999_999_99, 1.0), "0.99999999");
        assert_eq!(score_beside(0.2, 1.0), "0.2000");
        assert_eq!(score_beside(1.0, 1.0), "1.0000");
        assert_eq!(score_beside(0.999_999_99, None), "1.0000");
        assert_eq!(score_beside(1.7e308, 1.700_000_1e308), "1.7e308");
    }
}
