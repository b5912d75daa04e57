//! Reads Chinese numerals: `三十`, `二〇二五`, `一万二千`, `三点一四`. It knows no fractions.

use crate::numerals;

const DIGITS: &[(char, u8)] = &[
    ('零', 0),
    ('〇', 0),
    ('○', 0),
    ('一', 1),
    ('壹', 1),
    ('幺', 1),
    ('二', 2),
    ('贰', 2),
    ('貳', 2),
    ('两', 2),
    ('兩', 2),
    ('三', 3),
    ('叁', 3),
    ('參', 3),
    ('四', 4),
    ('肆', 4),
    ('五', 5),
    ('伍', 5),
    ('六', 6),
    ('陆', 6),
    ('陸', 6),
    ('七', 7),
    ('柒', 7),
    ('八', 8),
    ('捌', 8),
    ('九', 9),
    ('玖', 9),
];
const TENS: &[(char, f64)] = &[('廿', 20.0), ('卅', 30.0), ('卌', 40.0)];
/// Characters that multiply the digit before them.
const UNITS: &[(char, f64)] =
    &[('十', 1e1), ('拾', 1e1), ('百', 1e2), ('佰', 1e2), ('千', 1e3), ('仟', 1e3)];
/// Characters that multiply everything before them.
const LARGE_UNITS: &[(char, f64)] =
    &[('万', 1e4), ('萬', 1e4), ('亿', 1e8), ('億', 1e8), ('兆', 1e12)];
const POINTS: &[char] = &['点', '點'];
const SIGNS: &[char] = &['负', '負', '正'];

fn of<T: Copy>(table: &[(char, T)], c: char) -> Option<T> {
    table.iter().find(|(numeral, _)| *numeral == c).map(|(_, value)| *value)
}

fn digit(c: char) -> Option<u8> {
    of(DIGITS, c)
}

/// The ASCII digit for a digit of any script, Chinese or positional.
pub(crate) fn ascii_digit(c: char) -> Option<char> {
    numerals::digit(c).or_else(|| digit(c)).map(|digit| char::from(b'0' + digit))
}

/// Whether this character makes a number a Chinese one.
pub(crate) fn is_numeral(c: char) -> bool {
    let tables = [TENS, UNITS, LARGE_UNITS];
    digit(c).is_some()
        || tables.iter().any(|table| of(table, c).is_some())
        || POINTS.contains(&c)
        || SIGNS.contains(&c)
}

/// Reads a number without a sign.
pub(crate) fn read(text: &str) -> Option<f64> {
    let point = ['点', '點', '．', '.'].into_iter().find(|point| text.contains(*point));
    let parts = point.and_then(|point| text.split_once(point));
    let (whole, fraction) = parts.unwrap_or((text, ""));
    let has_units = [TENS, UNITS, LARGE_UNITS]
        .iter()
        .any(|table| whole.chars().any(|c| of(table, c).is_some()));
    let whole = if has_units { with_units(whole)? } else { decimal(whole, "")? };
    let fraction = decimal("", fraction)?;
    Some(whole + fraction)
}

/// Reads the digits before and after a decimal point, either of which may be missing.
fn decimal(whole: &str, fraction: &str) -> Option<f64> {
    let digits = |text: &str| -> Option<String> {
        text.chars().filter(|c| !c.is_whitespace()).map(ascii_digit).collect()
    };
    format!("0{}.{}0", digits(whole)?, digits(fraction)?).parse().ok()
}

fn with_units(text: &str) -> Option<f64> {
    let (mut total, mut section, mut number) = (0.0, 0.0, 0.0);
    for c in text.chars().filter(|c| !c.is_whitespace()) {
        if let Some(tens) = of(TENS, c) {
            section += tens;
        } else if let Some(unit) = of(UNITS, c) {
            section += unit * if number == 0.0 { 1.0 } else { number };
            number = 0.0;
        } else if let Some(unit) = of(LARGE_UNITS, c) {
            total += (section + number) * unit;
            (section, number) = (0.0, 0.0);
        } else if of(DIGITS, c) != Some(0) {
            number = f64::from(ascii_digit(c)?.to_digit(10)?);
        }
    }
    Some(total + section + number)
}
