//! Reads numbers as written in English text and LaTeX: fractions, chains, words for magnitudes. Decimals and powers are
//! read in `decimal` and `power`; it looks for no markers.

use std::fmt;

use serde_json::{Value, json};

use crate::context::is_part;
use crate::decimal::{Decimal, SPACES, find_decimal, fraction_character, is_currency};
use crate::latex::without_latex;
use crate::power::{Number, scientific, superscript};

/// Words after a number, and the power of ten that each stands for.
const MAGNITUDES: [(&str, i32); 5] =
    [("hundred", 2), ("thousand", 3), ("million", 6), ("billion", 9), ("trillion", 12)];

/// Letters directly after a number, as in `$1.2M`.
const LETTERS: [(char, i32); 4] = [('k', 3), ('K', 3), ('M', 6), ('B', 9)];

/// A number that was read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Amount {
    /// The closest double.
    pub value: f64,
    /// The number itself, if it is written as a whole one.
    pub whole: Option<i128>,
}

impl Amount {
    /// Whether two numbers are equal: whole numbers exactly, because doubles beyond 2^53 are not exact.
    pub(crate) fn equals(self, other: Self) -> bool {
        match (self.whole, other.whole) {
            (Some(left), Some(right)) => left == right,
            _ => self.value == other.value,
        }
    }

    /// Whole numbers without `.0`, as people write them.
    pub(crate) fn to_json(self) -> Value {
        let whole = self.whole.or_else(|| {
            let is_whole = self.value.fract() == 0.0 && self.value.abs() < 9e15;
            is_whole.then_some(self.value as i128)
        });
        let signed = whole.and_then(|whole| i64::try_from(whole).ok()).map(Value::from);
        let unsigned = || whole.and_then(|whole| u64::try_from(whole).ok()).map(Value::from);
        signed.or_else(unsigned).unwrap_or_else(|| json!(self.value))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.whole {
            Some(whole) => whole.fmt(f),
            None => self.value.fmt(f),
        }
    }
}

/// How many sides of a chain are examined, from the last one back.
const CHAIN_LIMIT: usize = 100;

/// A number in a text: its value, and the bytes that it takes up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Found {
    /// `None` if it is not understood, as `10:30`, `2^x` and `1/0`: no part of it counts as the number.
    pub(crate) value: Option<Amount>,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The first number of a text; for a chain like `3 + 4 = 7`, the last side that is only a number.
#[must_use]
pub fn number_in(text: &str) -> Option<Amount> {
    read(text)?.value
}

/// As [`number_in`], but distinguishes a number that is not understood from none.
pub(crate) fn read(text: &str) -> Option<Found> {
    let text = without_latex(text);
    let first = find(&text, 0)?;
    let after = &text[first.end..];
    let chain = after.find(|c: char| !in_chain(c)).map_or(text.len(), |end| first.end + end);
    Some(result(&text[..chain], first.end, &text).unwrap_or(first))
}

/// The last number after a `=` of a chain, which continues after `from`, that no operator joins to another one. What
/// follows the chain may belong to its last number.
fn result(chain: &str, from: usize, text: &str) -> Option<Found> {
    let mut end = chain.len();
    for (place, _) in chain[from..].rmatch_indices('=').take(CHAIN_LIMIT) {
        let place = from + place;
        let found = find(text, place).filter(|found| found.start < end);
        let rest = found.map(|found| chain.get(found.end..end).unwrap_or_default());
        if found.is_some() && !rest.is_some_and(goes_on) {
            return found;
        }
        end = place;
    }
    None
}

/// Whether an operator and a number follow; paired asterisks are emphasis.
fn goes_on(rest: &str) -> bool {
    let rest = rest.trim_start_matches("**").trim_start();
    let operand = rest.strip_prefix(['+', '-', '−', '*', '/', '×', '·', '÷']).map(str::trim_start);
    operand.is_some_and(|operand| operand.starts_with(|c: char| is_digit(c) || c == '('))
}

/// The number that a text consists of, apart from white space, emphasis, currency and per cent signs and a closing full
/// stop. There is no list here whose bullet a hyphen could be: `- 42` is negative.
#[must_use]
pub fn whole_number(text: &str) -> Option<Amount> {
    let mut text = without_latex(text);
    if let Some(number) = text.trim_start().strip_prefix("- ") {
        text = format!("-{}", number.trim_start()).into();
    }
    let found = find(&text, 0)?;
    let around = [&text[..found.start], &text[found.end..]];
    let allowed = |c: char| c.is_whitespace() || is_currency(c) || "*_`%.".contains(c);
    found.value.filter(|_| around.iter().all(|part| part.chars().all(allowed)))
}

/// Whether a character may be between the numbers of one calculation.
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

/// The first number at or after a byte of `text`. A fraction counts as one number.
pub(crate) fn find(text: &str, from: usize) -> Option<Found> {
    let decimal = find_decimal(text, from)?;
    let start = decimal.start;
    let number = mixed(text, &decimal).or_else(|| quotient(text, &decimal));
    let number = number.map(|number| with_magnitudes(text, number));
    let understood =
        number.filter(|number| number.value.is_finite() && !is_part(text, &decimal, number.end));
    Some(match understood {
        Some(number) => {
            let value = decimal.sign * number.value;
            let whole = number.whole().map(|whole| if decimal.sign < 0.0 { -whole } else { whole });
            Found { value: Some(Amount { value, whole }), start, end: number.end }
        }
        None => Found { value: None, start, end: end_of_word(text, decimal.end) },
    })
}

/// A whole number with a proper fraction: `3 1/2`, `2½`.
fn mixed(text: &str, whole: &Decimal) -> Option<Number> {
    let rest = &text[whole.end..];
    let fraction = rest.trim_start_matches(SPACES);
    if !whole.is_whole() || !whole.is_grouped {
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

/// The digits at the beginning of a text, without a leading 0, and the text after them.
fn leading_count(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c| !is_digit(c)).unwrap_or(text.len());
    let (digits, after) = text.split_at(end);
    Some((digits.parse().ok().filter(|_| !digits.starts_with('0'))?, after))
}

/// A number, divided by another one if that follows: `3/4`, `1 / 10^3`. `None` if it cannot be divided.
fn quotient(text: &str, decimal: &Decimal) -> Option<Number> {
    let numerator = scientific(text, decimal)?;
    let rest = text[numerator.end..].trim_start();
    let Some(below) = rest.strip_prefix(['/', '⁄']).map(str::trim_start) else {
        return Some(numerator);
    };
    let place = text.len() - below.len();
    match find_decimal(text, place).filter(|denominator| denominator.start == place) {
        Some(denominator) => {
            let divisor = scientific(text, &denominator)?;
            let value = numerator.value / (denominator.sign * divisor.value);
            Some(Number::computed(value, divisor.end))
        }
        // `5 / day` is 5.
        None => (!below.starts_with(is_digit)).then_some(numerator),
    }
}

/// Applies the magnitude that follows: `5 million`, `2 hundred thousand`, `5k`.
fn with_magnitudes(text: &str, number: Number) -> Number {
    let mut number = number;
    while let Some((exponent, end)) = magnitude(text, number.end) {
        number = number.times_ten_to(exponent, end);
    }
    number
}

/// The power of ten that the word or the letter at a byte stands for, and where it ends.
fn magnitude(text: &str, from: usize) -> Option<(i32, usize)> {
    let rest = &text[from..];
    let letter = LETTERS.iter().find(|(letter, _)| rest.starts_with(*letter));
    if let Some((_, exponent)) = letter.filter(|_| !rest[1..].starts_with(char::is_alphanumeric)) {
        return Some((*exponent, from + 1));
    }
    let word = rest.trim_start_matches(['*', '_']).trim_start_matches(SPACES);
    let is_word = |name: &str| {
        word.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
            && !word[name.len()..].starts_with(char::is_alphabetic)
    };
    let (name, exponent) = MAGNITUDES.iter().find(|(name, _)| is_word(name))?;
    Some((*exponent, text.len() - word.len() + name.len()))
}

/// The end of a number that is not understood, so that none of its parts is read. What it equals is not part of it.
fn end_of_word(text: &str, from: usize) -> usize {
    let ends = |c: char| !(c.is_ascii_graphic() || c == '’') || c == '=';
    text[from..].find(ends).map_or(text.len(), |end| from + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number_in(text: &str) -> Option<f64> {
        super::number_in(text).map(|number| number.value)
    }

    fn whole_number(text: &str) -> Option<f64> {
        super::whole_number(text).map(|number| number.value)
    }

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
            ("5million", 5e6),
            ("2 hundred thousand", 2e5),
            ("5k", 5000.0),
            ("$1.2M", 1.2e6),
            ("1,00,000", 1e5),
            ("12,34,567.5", 1_234_567.5),
            ("–5", -5.0),
            ("minus 5", -5.0),
            ("Negative $5", -5.0),
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
        assert_eq!(number_in("= **7** (3 + 4)"), Some(7.0));
        assert_eq!(number_in("x = 3 + 4 = 7"), Some(7.0));
    }

    #[test]
    fn an_expression_behind_an_equals_sign_is_not_the_result() {
        assert_eq!(number_in("10 = 5 * 2"), Some(10.0));
        assert_eq!(number_in("$10 = $5 × 2"), Some(10.0));
        assert_eq!(number_in("3 + 7 = 10 = 5 * 2"), Some(10.0));
        assert_eq!(number_in("10 = (5 + 5)"), Some(10.0));
    }

    #[test]
    fn a_comma_parts_thousands_and_nothing_else() {
        for text in ["(1,2)", "\\{3,5\\}", "3,14", "2,5", "1000,00", "1,2345", "1,2/3", "1/2,3"] {
            assert_eq!(number_in(text), None, "{text}");
        }
        assert_eq!(number_in("1, 2"), Some(1.0));
        assert_eq!(number_in("5, 6,000"), Some(5.0));
    }

    #[test]
    fn a_word_between_two_things_is_not_a_sign() {
        assert_eq!(number_in("it is minus 5"), Some(-5.0));
        assert_eq!(number_in("x minus 5"), Some(5.0));
        assert_eq!(number_in("a total – 5"), Some(5.0));
        assert_eq!(number_in("10–5"), Some(10.0));
    }

    #[test]
    fn a_whole_number_is_kept_exactly() {
        let whole = |text| super::number_in(text).unwrap().whole;
        assert_eq!(whole("-9,007,199,254,740,993"), Some(-9_007_199_254_740_993));
        assert_eq!([whole("1.0"), whole("1e3"), whole("10^3"), whole("3/4")], [None; 4]);
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
