//! Reads one word as a number, in ASCII or any script. Chinese numerals are read in `chinese`.

use scorebox_sdk_texts::python::decimal;

use crate::chinese::{self, ascii_digit};
use crate::numerals::numeric;

/// Characters that may surround a number; `~`, `<`, `>` and `=` would make it a different statement.
const AROUND: &[char] = &['!', '?', ':', ';', '(', ')', '[', ']', '{', '}', '\'', '"', '`'];

/// The Chinese words come last: they do not precede an exponent.
const MINUS: &[char] = &['-', '−', '﹣', '－', '负', '負'];
const PLUS: &[char] = &['+', '＋', '﹢', '正'];
const POINTS: &[char] = &['٫', '．'];
/// Characters that separate the digits of a long number, in addition to white space.
const BETWEEN: &[char] = &[',', '，', '﹐', '、', '٬', '\'', '’', 'ʼ', '＇'];

/// A word as a number, without the brackets, quotes and marks around it.
pub(crate) fn number(word: &str) -> Option<f64> {
    strictly(word.trim_matches(AROUND))
}

/// Reads a text as a number that only white space surrounds.
pub(crate) fn strictly(text: &str) -> Option<f64> {
    let text = text.trim();
    let finite = |number: &f64| number.is_finite();
    ascii(text).filter(finite).or_else(|| any_script(text).filter(finite))
}

/// A number as programs write it, with the decimal digits of any script.
fn ascii(text: &str) -> Option<f64> {
    if text.is_ascii() {
        return text.parse().ok();
    }
    let digits = |c: char| decimal(c).map_or(c, |digit| char::from(b'0' + digit));
    text.chars().map(digits).collect::<String>().parse().ok()
}

/// A number as people write it: `−2½`, `10³`, `Ⅻ`, `1.234,5`, `三十`. The sign belongs to the base of a
/// power.
fn any_script(text: &str) -> Option<f64> {
    if !text.chars().all(may_be_in_number) {
        return None;
    }
    let (negative, text) = without_signs(text);
    let signed = |number: f64| if negative { -number } else { number };
    if let Some(value) = single(text) {
        return Some(signed(value));
    }
    let (base, exponent) = split_power(text)?;
    let base = signed(with_fraction(base)?);
    match exponent {
        None => Some(base),
        Some(exponent) if base == 0.0 && exponent < 0.0 => None,
        Some(exponent) => Some(base.powf(exponent)),
    }
}

/// Quickly rejects almost every word that is not a number.
fn may_be_in_number(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_digit() || "eE.,'+-".contains(c) || c.is_ascii_whitespace();
    }
    numeric(c).is_some()
        || chinese::is_numeral(c)
        || c.is_whitespace()
        || [MINUS, PLUS, POINTS, BETWEEN, &['⁻', '⁺']].iter().any(|marks| marks.contains(&c))
}

fn without_signs(text: &str) -> (bool, &str) {
    let mut negative = false;
    let mut rest = text.trim_start();
    while let Some(sign) = rest.chars().next() {
        if MINUS.contains(&sign) {
            negative = !negative;
        } else if !PLUS.contains(&sign) {
            break;
        }
        rest = rest[sign.len_utf8()..].trim_start();
    }
    (negative, rest)
}

/// One character that is a number by itself.
fn single(text: &str) -> Option<f64> {
    let mut characters = text.chars();
    let only = characters.next().filter(|_| characters.next().is_none())?;
    numeric(only)
}

/// The base and the superscript exponent; `None` if the exponent is not a number.
fn split_power(text: &str) -> Option<(&str, Option<f64>)> {
    let kept = text.trim_end_matches(|c: char| c.is_whitespace() || BETWEEN.contains(&c));
    let before = kept.trim_end_matches(|c| superscript(c).is_some());
    let digits = kept[before.len()..].chars().filter_map(superscript);
    let digits: String = digits.map(|digit| char::from(b'0' + digit)).collect();
    let (base, sign) = match before.chars().next_back() {
        Some(sign @ ('⁻' | '⁺')) => (&before[..before.len() - sign.len_utf8()], sign),
        _ => (before, '⁺'),
    };
    if digits.is_empty() || base.trim_end().is_empty() {
        return Some((text.trim(), None));
    }
    let exponent: f64 = digits.parse().ok().filter(|exponent: &f64| exponent.is_finite())?;
    Some((base.trim_end(), Some(if sign == '⁻' { -exponent } else { exponent })))
}

fn superscript(c: char) -> Option<u8> {
    match c {
        '⁰' => Some(0),
        '¹' => Some(1),
        '²' => Some(2),
        '³' => Some(3),
        '⁴'..='⁹' => u8::try_from(u32::from(c) - u32::from('⁰')).ok(),
        _ => None,
    }
}

/// Reads a number that may end in one fraction: `2½`.
fn with_fraction(text: &str) -> Option<f64> {
    let value = |c: char| numeric(c).filter(|value| *value > 0.0 && *value < 1.0);
    let mut fractions = text.char_indices().filter_map(|(place, c)| Some((place, c, value(c)?)));
    let Some((place, c, fraction)) = fractions.next() else {
        return core(text);
    };
    let after = &text[place + c.len_utf8()..];
    let nothing = |c: char| c.is_whitespace() || BETWEEN.contains(&c);
    if fractions.next().is_some() || !after.chars().all(nothing) {
        return None;
    }
    match text[..place].trim() {
        "" => Some(fraction),
        whole => Some(core(whole)? + fraction),
    }
}

fn core(text: &str) -> Option<f64> {
    let text = text.trim();
    let chinese = text.chars().any(chinese::is_numeral).then(|| chinese::read(text)).flatten();
    chinese.or_else(|| grouped(text)).or_else(|| single(text))
}

/// Reads digits of any script with groups and a decimal mark, whichever is which: of `.` and `,`, the last one is the
/// decimal mark; a single comma is one if one to three digits follow it.
fn grouped(text: &str) -> Option<f64> {
    let decimal_mark = match (text.rfind('.'), text.rfind(',')) {
        (Some(point), Some(comma)) => Some(if point > comma { '.' } else { ',' }),
        (Some(_), None) => Some('.'),
        (None, Some(comma)) => {
            let digits = text[comma + 1..].chars().filter(|c| ascii_digit(*c).is_some()).count();
            (1..=3).contains(&digits).then_some(',')
        }
        (None, None) => None,
    };
    let (mut number, mut has_point, mut has_exponent) = (String::new(), false, false);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if (c == 'e' || c == 'E') && !has_exponent {
            if number.is_empty() {
                return None;
            }
            number.push(c);
            has_exponent = true;
            if rest.next_if(|c| PLUS[..3].contains(c)).is_some() {
                number.push('+');
            } else if rest.next_if(|c| MINUS[..4].contains(c)).is_some() {
                number.push('-');
            }
        } else if POINTS.contains(&c) || decimal_mark == Some(c) {
            if has_point {
                return None;
            }
            number.push('.');
            has_point = true;
        } else if BETWEEN.contains(&c) || c.is_whitespace() || decimal_mark.is_some() && c == '.' {
            // It separates groups of digits.
        } else {
            number.push(ascii_digit(c)?);
        }
    }
    number.bytes().any(|byte| byte.is_ascii_digit()).then(|| number.parse().ok()).flatten()
}
