//! Formats figures as tables show them, and two figures with enough digits to distinguish them. It decides nothing.

/// How many decimals are tried to distinguish two figures; closer ones are shown with all digits.
const MAX_DECIMALS: usize = 9;
/// Figures of at least this size have an exponent, because some have hundreds of digits.
const HUGE: f64 = 1e15;
/// Exact figures below this have an exponent too, because they would begin with many zeros.
const TINY: f64 = 1e-5;

/// How large the rounding error of a computed mean may be.
const ROUNDING: f64 = 1e-12;

/// A figure, such as a score, with four decimals, or with the digits that a large one needs.
pub fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 => format!("{value:.3e}"),
        size if size >= 100.0 => format!("{value:.1}"),
        _ => format!("{value:.4}"),
    }
}

/// A figure with the fewest digits that identify exactly this number, so that a copied threshold is the same threshold.
pub fn exact(value: f64) -> String {
    match value.abs() {
        size if size >= HUGE || (size > 0.0 && size < TINY) => format!("{value:e}"),
        _ => value.to_string(),
    }
}

/// Two figures in the format `text`; with more digits, if they differ and rounding would make them look equal.
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
    (5..=MAX_DECIMALS)
        .map(with)
        .find(|[one, other]| one != other)
        .unwrap_or_else(|| both.map(exact))
}

/// A score as tables show it; with more digits, if rounding would make it look equal to the threshold, or to 0 or 1,
/// although it is not.
pub fn score_beside(score: f64, threshold: impl Into<Option<f64>>) -> String {
    let usual = figure(score);
    let others = [Some(0.0), Some(1.0), threshold.into()];
    let beside = others.into_iter().flatten().map(|other| {
        let [score, _] = apart(score, other, figure);
        score
    });
    // The text with the most digits differs from all of them.
    beside.filter(|text| *text != usual).max_by_key(String::len).unwrap_or(usual)
}

/// The same for a mean, which is rounded when it is computed: a mean that is close enough to the threshold is shown as
/// equal.
pub fn mean_beside(mean: f64, threshold: impl Into<Option<f64>>) -> String {
    let threshold = threshold.into();
    let others = [Some(0.0), Some(1.0), threshold];
    let is_rounded = |other: &f64| (mean - other).abs() <= ROUNDING * other.abs().max(1.0);
    let meant = others.into_iter().flatten().find(is_rounded).unwrap_or(mean);
    score_beside(meant, threshold)
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
    fn an_exact_figure_is_read_back_as_the_same_number() {
        for (value, said) in
            [(0.75, "0.75"), (1.0, "1"), (2.0 / 3.0, "0.6666666666666666"), (1e-9, "1e-9")]
        {
            assert_eq!(exact(value), said);
            assert_eq!(said.parse(), Ok(value));
        }
        assert_eq!(exact(1.7e308), "1.7e308");
    }

    #[test]
    fn a_score_that_is_not_the_threshold_does_not_look_like_it() {
        assert_eq!(score_beside(0.999_999_99, 1.0), "0.99999999");
        assert_eq!(score_beside(0.2, 1.0), "0.2000");
        assert_eq!(score_beside(1.0, 1.0), "1.0000");
        assert_eq!(score_beside(0.700_001, 0.7), "0.700001");
    }

    #[test]
    fn what_is_not_0_or_1_does_not_look_like_it_whatever_the_threshold() {
        assert_eq!(score_beside(0.999_999_99, None), "0.99999999");
        assert_eq!(
            [score_beside(0.99999, 0.5), score_beside(1e-9, None)],
            ["0.99999", "0.000000001"]
        );
        assert_eq!(
            [mean_beside(0.999_994_5, None), mean_beside(1.0 - 1e-16, None)],
            ["0.99999", "1.0000"]
        );
        assert_eq!(
            [mean_beside(0.49999, 0.5), mean_beside(0.700_000_000_000_000_1, 0.7)],
            ["0.49999", "0.7000"]
        );
        assert_eq!([score_beside(1e-300, None), score_beside(0.0, None)], ["1e-300", "0.0000"]);
        assert_eq!(score_beside(1.7e308, 1.700_000_1e308), "1.7e308");
    }
}
