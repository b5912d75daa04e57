//! Reads powers: `10^6`, `10³`, `3×10^5`. Exponents are whole numbers; with any other exponent, the number is not
//! understood.

use crate::decimal::{Decimal, SPACES};

/// Raised text that is not an exponent: the degree sign, and the endings of ordinals.
const NO_EXPONENTS: [&str; 7] = ["\\circ", "°", "∘", "st", "nd", "rd", "th"];

/// A number without its sign, and the byte after it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Number {
    pub(crate) value: f64,
    pub(crate) end: usize,
    /// The digits, if it is written as a decimal.
    digits: Option<String>,
}

impl Number {
    /// A number that is computed from others.
    pub(crate) fn computed(value: f64, end: usize) -> Self {
        Self { value, end, digits: None }
    }

    /// The exact value, if it is written only with digits.
    pub(crate) fn whole(&self) -> Option<i128> {
        self.digits.as_deref()?.parse().ok()
    }

    /// Moves the decimal point, which is exact where a product is not.
    pub(crate) fn times_ten_to(self, exponent: i32, end: usize) -> Self {
        let exact = self.digits.and_then(|digits| moved(&digits, exponent));
        Self::computed(exact.unwrap_or_else(|| self.value * ten_to(exponent)), end)
    }
}

/// What is raised directly after a number.
enum Raised {
    Nothing,
    /// An exponent, and its length in bytes.
    Exponent(i32, usize),
    Unknown,
}

/// A decimal number with its exponent and the power of ten that it is multiplied by. `None` if one of them is not
/// understood.
pub(crate) fn scientific(text: &str, decimal: &Decimal) -> Option<Number> {
    let number = power(text, decimal)?;
    let times = ['×', '·', '⋅', '*', 'x', 'X'];
    let ten = text[number.end..].trim_start_matches(SPACES).strip_prefix(times);
    let ten = ten.and_then(|ten| ten.trim_start_matches(SPACES).strip_prefix("10"));
    match ten.map(|above| (above, raised(above))) {
        Some((above, Raised::Exponent(exponent, length))) => {
            let end = text.len() - above.len() + length;
            Some(number.times_ten_to(exponent, end))
        }
        Some((_, Raised::Unknown)) => None,
        _ => Some(number),
    }
}

fn power(text: &str, decimal: &Decimal) -> Option<Number> {
    let Decimal { value, end, is_grouped, .. } = *decimal;
    if !is_grouped {
        return None;
    }
    match raised(&text[end..]) {
        Raised::Nothing => {
            let digits = Some(decimal.digits.clone()).filter(|digits| !digits.is_empty());
            Some(Number { value, end, digits })
        }
        Raised::Exponent(exponent, length) if value == 10.0 => {
            Some(Number::computed(ten_to(exponent), end + length))
        }
        Raised::Exponent(exponent, length) => {
            Some(Number::computed(value.powi(exponent), end + length))
        }
        Raised::Unknown => None,
    }
}

/// Whether a text begins with something raised that is not a degree sign or an ordinal.
pub(crate) fn raised_follows(text: &str) -> bool {
    !matches!(raised(text), Raised::Nothing)
}

fn raised(text: &str) -> Raised {
    if text.starts_with(|c| superscript(c).is_some()) {
        let end = text.find(|c| superscript(c).is_none()).unwrap_or(text.len());
        let plain: String = text[..end].chars().filter_map(superscript).collect();
        return plain.parse().map_or(Raised::Unknown, |exponent| Raised::Exponent(exponent, end));
    }
    // Two asterisks may also end emphasis.
    let asterisks = || text.strip_prefix("**").filter(|above| above.starts_with(is_digit));
    let Some(above) = text.strip_prefix('^').or_else(asterisks) else {
        return Raised::Nothing;
    };
    let inside = above.trim_start_matches(['{', ' ']);
    if NO_EXPONENTS.iter().any(|word| inside.starts_with(word)) {
        return Raised::Nothing;
    }
    match exponent(above) {
        Some((exponent, rest)) => Raised::Exponent(exponent, text.len() - rest.len()),
        None => Raised::Unknown,
    }
}

/// A whole exponent, which may be in braces or parentheses, and the text after it.
fn exponent(text: &str) -> Option<(i32, &str)> {
    let (inside, close) = match (text.strip_prefix('{'), text.strip_prefix('(')) {
        (Some(inside), _) => (inside, "}"),
        (_, Some(inside)) => (inside, ")"),
        _ => (text, ""),
    };
    let (sign, digits) = match inside.strip_prefix(['-', '−']) {
        Some(digits) => (-1, digits),
        None => (1, inside.strip_prefix('+').unwrap_or(inside)),
    };
    let end = digits.find(|c| !is_digit(c)).unwrap_or(digits.len());
    let value: i32 = digits[..end].parse().ok()?;
    Some((sign * value, digits[end..].strip_prefix(close)?))
}

/// The ordinary character for a superscript.
pub(crate) fn superscript(c: char) -> Option<char> {
    Some(match c {
        '⁰' => '0',
        '¹' => '1',
        '²' => '2',
        '³' => '3',
        '⁴' => '4',
        '⁵' => '5',
        '⁶' => '6',
        '⁷' => '7',
        '⁸' => '8',
        '⁹' => '9',
        '⁻' => '-',
        '⁺' => '+',
        _ => return None,
    })
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn ten_to(exponent: i32) -> f64 {
    moved("1", exponent).unwrap_or(f64::INFINITY)
}

/// The number with the decimal point moved; `None` if it has an exponent.
fn moved(digits: &str, exponent: i32) -> Option<f64> {
    let mut text = String::with_capacity(digits.len() + 12);
    text.push_str(digits);
    text.push('e');
    text.push_str(&exponent.to_string());
    text.parse().ok()
}
