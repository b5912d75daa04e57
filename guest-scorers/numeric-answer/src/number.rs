//! Reads numbers as English text and LaTeX write them. It looks for no markers.

use std::borrow::Cow;

/// A number in a text: its value, and the bytes that it takes up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Found {
    pub(crate) value: f64,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The first number of a text; of a chain like `3 + 4 = 7` the one after the last `=`.
#[must_use]
pub fn number_in(text: &str) -> Option<f64> {
    let text = without_latex(text);
    let first = find(&text, 0)?;
    let chain = text[first.start..]
        .find(|c: char| !in_chain(c))
        .map_or(&text[first.start..], |end| &text[first.start..][..end]);
    let last = chain.rsplit_once('=').and_then(|(_, result)| find(result, 0));
    Some(last.unwrap_or(first).value)
}

/// The number that a text consists of, apart from white space, emphasis, currency and per cent signs
/// and a closing full stop.
#[must_use]
pub fn whole_number(text: &str) -> Option<f64> {
    let text = without_latex(text);
    let found = find(&text, 0)?;
    let around = [&text[..found.start], &text[found.end..]];
    let allowed = |c: char| c.is_whitespace() || is_currency(c) || "*_`%.".contains(c);
    around.iter().all(|part| part.chars().all(allowed)).then_some(found.value)
}

/// What may stand between the numbers of one calculation.
fn in_chain(c: char) -> bool {
    c.is_ascii_digit() || is_currency(c) || " .,+-−*/×÷%()=".contains(c)
}

fn is_currency(c: char) -> bool {
    "$€£¥".contains(c)
}

/// The first number at or after a byte of `text`. A fraction is one number.
pub(crate) fn find(text: &str, from: usize) -> Option<Found> {
    let numerator = find_decimal(text, from)?;
    let rest = &text[numerator.end..];
    let below = rest.trim_start().strip_prefix('/').map(str::trim_start);
    if let Some(below) = below
        && let Some(denominator) = find_decimal(below, 0)
        && denominator.start == 0
        && let value = numerator.value / denominator.value
        && value.is_finite()
    {
        return Some(Found {
            value,
            start: numerator.start,
            end: text.len() - below.len() + denominator.end,
        });
    }
    Some(numerator)
}

/// The first decimal number that is not too large for one: sign, digits with commas, fraction,
/// exponent.
fn find_decimal(text: &str, from: usize) -> Option<Found> {
    let mut from = from;
    loop {
        let found = decimal(text, from)?;
        if found.value.is_finite() {
            return Some(found);
        }
        // Such as the commit `3e8491f`: the text may yet state its number.
        from = found.end;
    }
}

/// The first decimal number, infinite if it is too large.
fn decimal(text: &str, from: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let is_digit = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_digit);
    let first = (from..bytes.len()).find(|&index| is_digit(index))?;
    let start = match first.checked_sub(1) {
        // `.5` is a number, the `5` of `1.5` or of `v.5` is not.
        Some(dot) if dot >= from && bytes[dot] == b'.' && !follows_word(text, dot) => dot,
        _ => first,
    };
    let mut end = first;
    while is_digit(end) || bytes.get(end) == Some(&b',') && is_digit(end + 1) {
        end += 1;
    }
    if start == first && bytes.get(end) == Some(&b'.') && is_digit(end + 1) {
        end += 1;
        while is_digit(end) {
            end += 1;
        }
    }
    end = exponent_end(bytes, end);
    let digits = text[start..end].replace(',', "");
    let value: f64 = digits.parse().ok()?;
    let (sign, start) = sign_before(text, from, start);
    Some(Found { value: sign * value, start, end })
}

/// The end of `e5`, `E-3` after a number, or `end` if there is none.
fn exponent_end(bytes: &[u8], end: usize) -> usize {
    if !matches!(bytes.get(end), Some(b'e' | b'E')) {
        return end;
    }
    let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
    let digits = bytes[end + 1 + sign..].iter().take_while(|byte| byte.is_ascii_digit());
    match digits.count() {
        0 => end,
        count => end + 1 + sign + count,
    }
}

/// The sign before a number, over a currency sign if need be (`-$5`), and where the number starts with
/// it. After a letter or digit it is a hyphen or a minus between two things: `10-5`, `GPT-4`.
fn sign_before(text: &str, from: usize, start: usize) -> (f64, usize) {
    let before = text[from..start].trim_end_matches(|c| is_currency(c) || c == ' ');
    let Some(sign) = before.chars().next_back().filter(|c| "+-−".contains(*c)) else {
        return (1.0, start);
    };
    let place = from + before.len() - sign.len_utf8();
    if follows_word(text, place) {
        return (1.0, start);
    }
    (if sign == '+' { 1.0 } else { -1.0 }, place)
}

fn follows_word(text: &str, index: usize) -> bool {
    let before = text[..index].chars().next_back();
    before.is_some_and(|c| c.is_alphanumeric() || c == ')')
}

/// Takes the LaTeX out that stands inside numbers: `\$`, `\%`, `1{,}234`, `\frac{3}{4}`.
fn without_latex(text: &str) -> Cow<'_, str> {
    if !text.contains(['\\', '{']) {
        return Cow::Borrowed(text);
    }
    let plain = text
        .replace("{,}", ",")
        .replace("\\$", "$")
        .replace("\\%", "%")
        .replace("\\,", "")
        .replace("\\!", "")
        .replace("\\dfrac", "\\frac")
        .replace("\\tfrac", "\\frac");
    Cow::Owned(with_plain_fractions(&plain))
}

fn with_plain_fractions(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\frac{")
        && let Some((numerator, below)) = after.split_once("}{")
        && let Some((denominator, after)) = below.split_once('}')
    {
        plain.push_str(before);
        plain.push_str(&format!("{numerator}/{denominator}"));
        rest = after;
    }
    plain + rest
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
    }

    #[test]
    fn what_is_too_large_for_a_number_is_passed_over() {
        assert_eq!(number_in("3e8491f and 42"), Some(42.0));
        assert_eq!(number_in("1e999-5"), Some(5.0));
        assert_eq!(number_in("1e999"), None);
        assert_eq!(whole_number("1e999"), None);
        assert_eq!(whole_number("1e300/1e-300"), None);
        assert_eq!(number_in("2/1e999 of 7"), Some(2.0));
        assert_eq!(number_in("5/0"), Some(5.0));
    }

    #[test]
    fn prose_is_not_a_whole_number() {
        assert_eq!(whole_number("18 apples"), None);
        assert_eq!(whole_number("**18**"), Some(18.0));
        assert_eq!(whole_number(""), None);
        assert_eq!(number_in("none"), None);
    }
}
