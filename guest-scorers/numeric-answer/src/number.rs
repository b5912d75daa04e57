//! Reads numbers as English text and LaTeX write them: fractions, chains, words for magnitudes. Decimals
//! and powers are read in `decimal` and `power`; it looks for no markers.

use crate::decimal::{Decimal, SPACES, find_decimal, fraction_character, is_currency};
use crate::latex::without_latex;
use crate::power::{Number, raised_follows, scientific, superscript};

/// Words behind a number, and the power of ten that each stands for.
const MAGNITUDES: [(&str, i32); 5] =
    [("hundred", 2), ("thousand", 3), ("million", 6), ("billion", 9), ("trillion", 12)];

/// A number in a text: its value, and the bytes that it takes up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Found {
    /// Nothing if it is not understood, as `10:30`, `2^x` and `1/0`: no part of it is the number.
    pub(crate) value: Option<f64>,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The first number of a text; of a chain like `3 + 4 = 7` the one after the last `=`.
#[must_use]
pub fn number_in(text: &str) -> Option<f64> {
    let text = without_latex(text);
    let first = find(&text, 0)?;
    let after = &text[first.end..];
    let chain = after.find(|c: char| !in_chain(c)).map_or(after, |end| &after[..end]);
    let result = chain.rfind('=').filter(|equals| chain[*equals..].contains(is_digit));
    let last = result.and_then(|equals| find(&text, first.end + equals));
    last.unwrap_or(first).value
}

/// The number that a text consists of, apart from white space, emphasis, currency and per cent signs
/// and a closing full stop.
#[must_use]
pub fn whole_number(text: &str) -> Option<f64> {
    let text = without_latex(text);
    let found = find(&text, 0)?;
    let around = [&text[..found.start], &text[found.end..]];
    let allowed = |c: char| c.is_whitespace() || is_currency(c) || "*_`%.".contains(c);
    found.value.filter(|_| around.iter().all(|part| part.chars().all(allowed)))
}

/// What may stand between the numbers of one calculation.
fn in_chain(c: char) -> bool {
    is_digit(c)
        || is_currency(c)
        || " .,+-−*/×·÷%()=^{}".contains(c)
        || superscript(c).is_some()
        || fraction_character(c).is_some()
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// The first number at or after a byte of `text`. A fraction is one number.
pub(crate) fn find(text: &str, from: usize) -> Option<Found> {
    let decimal = find_decimal(text, from)?;
    let start = decimal.start;
    let number = mixed(text, &decimal).or_else(|| quotient(text, &decimal));
    let number = number.map(|number| with_magnitude(text, number));
    let understood =
        number.filter(|number| number.value.is_finite() && !is_continued(&text[number.end..]));
    Some(match understood {
        Some(number) => Found { value: Some(decimal.sign * number.value), start, end: number.end },
        None => Found { value: None, start, end: end_of_word(text, decimal.end) },
    })
}

/// A whole number with a proper fraction: `3 1/2`, `2½`.
fn mixed(text: &str, whole: &Decimal) -> Option<Number> {
    let rest = &text[whole.end..];
    let fraction = rest.trim_start_matches(SPACES);
    if !whole.is_whole() {
        return None;
    }
    let place = text.len() - fraction.len();
    if let Some(character) = fraction.chars().next()
        && let Some(part) = fraction_character(character)
    {
        return Some(Number::computed(whole.value + part, place + character.len_utf8()));
    }
    let (numerator, bar) = leading_count(fraction)?;
    let (denominator, after) = leading_count(bar.strip_prefix(['/', '⁄'])?)?;
    let part = numerator / denominator;
    (fraction.len() < rest.len() && part < 1.0)
        .then(|| Number::computed(whole.value + part, text.len() - after.len()))
}

/// The digits that a text begins with, none of which is a leading 0, and the text after them.
fn leading_count(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c| !is_digit(c)).unwrap_or(text.len());
    let (digits, after) = text.split_at(end);
    Some((digits.parse().ok().filter(|_| !digits.starts_with('0'))?, after))
}

/// A number, divided by another one if that follows: `3/4`, `1 / 10^3`. Nothing if it cannot be divided.
fn quotient(text: &str, decimal: &Decimal) -> Option<Number> {
    let numerator = scientific(text, decimal)?;
    let rest = text[numerator.end..].trim_start();
    let Some(below) = rest.strip_prefix(['/', '⁄']).map(str::trim_start) else {
        return Some(numerator);
    };
    let place = text.len() - below.len();
    match find_decimal(below, 0).filter(|denominator| denominator.start == 0) {
        Some(denominator) => {
            let divisor = scientific(below, &denominator)?;
            let value = numerator.value / (denominator.sign * divisor.value);
            Some(Number::computed(value, place + divisor.end))
        }
        // `5 / day` is 5.
        None => (!below.starts_with(is_digit)).then_some(numerator),
    }
}

/// With the word that follows: `5 million`.
fn with_magnitude(text: &str, number: Number) -> Number {
    let rest = text[number.end..].trim_start_matches(['*', '_']);
    let word = rest.trim_start_matches(SPACES);
    if word.len() == rest.len() {
        return number;
    }
    let is_word = |name: &str| {
        word.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
            && !word[name.len()..].starts_with(char::is_alphabetic)
    };
    match MAGNITUDES.iter().find(|(name, _)| is_word(name)) {
        Some((name, exponent)) => {
            let end = text.len() - word.len() + name.len();
            number.times_ten_to(*exponent, end)
        }
        None => number,
    }
}

/// Whether what follows a number directly makes it another one: the `:30` of `10:30`, the `^2` of
/// `(-3)^2`, the `/2024` of `1/5/2024`.
fn is_continued(rest: &str) -> bool {
    let joins_digits =
        |mark| rest.strip_prefix(mark).is_some_and(|after| after.starts_with(is_digit));
    [':', '/', '.'].into_iter().any(joins_digits)
        || raised_follows(rest)
        || rest.strip_prefix(')').is_some_and(raised_follows)
}

/// Where a number that is not understood ends: none of its parts is looked at.
fn end_of_word(text: &str, from: usize) -> usize {
    text[from..].find(|c: char| !c.is_ascii_graphic()).map_or(text.len(), |end| from + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_write_them() {
        let cases = [
            ("42", 42.0),
            ("1,234,567.5", 1_234_567.5),
            ("$5.50", 5.5),
            ("-$5", -5.0),
            ("$-5", -5.0),
            ("−3", -3.0),
            ("+7", 7.0),
            (".5", 0.5),
            ("-.5", -0.5),
            ("6.02e3", 6020.0),
            ("50%", 50.0),
            ("3/4", 0.75),
            ("1 / 8", 0.125),
            ("\\frac{3}{4}", 0.75),
            ("\\dfrac{-1}{2}", -0.5),
            ("1{,}200", 1200.0),
            ("\\$12", 12.0),
            ("€9", 9.0),
            ("3 1/2", 3.5),
            ("-3 1/2", -3.5),
            ("3\\frac{1}{2}", 3.5),
            ("2½", 2.5),
            ("2 ½", 2.5),
            ("¾", 0.75),
            ("10^6", 1e6),
            ("10^{-3}", 1e-3),
            ("10**6", 1e6),
            ("2^10", 1024.0),
            ("10³", 1000.0),
            ("10⁻³", 1e-3),
            ("3×10^5", 3e5),
            ("3 x 10^5", 3e5),
            ("-6.02 \\times 10^{23}", -6.02e23),
            ("1.1·10⁶", 1.1e6),
            ("1 / 10^3", 1e-3),
            ("5 000", 5000.0),
            ("12 345 678.5", 12_345_678.5),
            ("5\u{202f}000", 5000.0),
            ("5 million", 5e6),
            ("$4.35 Billion", 4.35e9),
            ("**2** thousand", 2000.0),
            ("2½ million", 2.5e6),
        ];
        for (text, value) in cases {
            assert_eq!(number_in(text), Some(value), "{text}");
            assert_eq!(whole_number(text), Some(value), "{text}");
        }
    }

    #[test]
    fn a_full_stop_ends_a_sentence_and_not_a_number() {
        assert_eq!(whole_number(" 18.\n"), Some(18.0));
        assert_eq!(number_in("18. Next"), Some(18.0));
    }

    #[test]
    fn a_hyphen_is_not_a_minus() {
        assert_eq!(number_in("GPT-4"), Some(4.0));
        assert_eq!(number_in("10-5 apples"), Some(10.0));
    }

    #[test]
    fn a_chain_ends_in_its_result() {
        assert_eq!(number_in("3 + 4 = 7 apples"), Some(7.0));
        assert_eq!(number_in("5 apples (x = 3)"), Some(5.0));
        assert_eq!(number_in("2^3 + 2 = 10"), Some(10.0));
        assert_eq!(number_in("2^{10} = 1024"), Some(1024.0));
        assert_eq!(number_in("1 + 1 = 2 million"), Some(2e6));
    }

    #[test]
    fn what_makes_a_number_another_one_leaves_none() {
        let texts = [
            "10:30",
            "2^x",
            "2^0.5",
            "10^(1/2)",
            "2^3^2",
            "(-2)^2",
            "1/0",
            "5 / 0",
            "2/1e999 of 7",
            "1/5/2024",
            "1.234.567",
            "3×10^x",
            "10^400",
        ];
        for text in texts {
            assert_eq!(number_in(text), None, "{text}");
            assert_eq!(whole_number(text), None, "{text}");
            assert_eq!(find(text, 0).unwrap().value, None, "{text}");
        }
        // The next number is not its result either.
        assert_eq!(number_in("10:30 or 11"), None);
    }

    #[test]
    fn words_in_latex_count() {
        assert_eq!(number_in("5\\text{ million}"), Some(5e6));
        assert_eq!(number_in("\\text{about } 5"), Some(5.0));
    }

    #[test]
    fn what_only_stands_near_a_number_leaves_it_as_it_is() {
        let texts = [
            ("18 apples", 18.0),
            ("5/day", 5.0),
            ("5 / day", 5.0),
            ("5: five", 5.0),
            ("90^\\circ", 90.0),
            ("90^{\\circ}", 90.0),
            ("the 10^{th}", 10.0),
            ("5 m^2", 5.0),
            ("**5**", 5.0),
            ("3 × 4", 3.0),
            ("5 100-dollar bills", 5.0),
            ("2024 100", 2024.0),
            ("5 0000", 5.0),
            ("1,000 000", 1000.0),
            ("5 10/2", 5.0),
            ("5 millionaires", 5.0),
        ];
        for (text, value) in texts {
            assert_eq!(number_in(text), Some(value), "{text}");
        }
    }

    #[test]
    fn what_is_too_large_for_a_number_is_passed_over() {
        assert_eq!(number_in("3e8491f and 42"), Some(42.0));
        assert_eq!(number_in("1e999-5"), Some(5.0));
        assert_eq!(number_in("1e999"), None);
        assert_eq!(whole_number("1e999"), None);
        assert_eq!(whole_number("1e300/1e-300"), None);
    }

    #[test]
    fn prose_is_not_a_whole_number() {
        assert_eq!(whole_number("18 apples"), None);
        assert_eq!(whole_number("**18**"), Some(18.0));
        assert_eq!(whole_number(""), None);
        assert_eq!(number_in("none"), None);
    }
}
