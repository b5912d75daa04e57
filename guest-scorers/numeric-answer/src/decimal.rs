//! Finds decimal numbers as written in English text: sign, digits, fraction, exponent. What surrounds them, such as a
//! power or a fraction bar, is not read here.

/// Separators of groups of three digits, in addition to the comma.
pub(crate) const SPACES: [char; 4] = [' ', '\u{a0}', '\u{2009}', '\u{202f}'];

/// A decimal number in a text, or a character that is a fraction.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Decimal {
    /// 1 or -1.
    pub(crate) sign: f64,
    /// The value without the sign.
    pub(crate) value: f64,
    /// The digits that the value was read from, without separators; empty for `½`.
    pub(crate) digits: String,
    /// Whether its commas separate thousands: not in `1,2` and `3,14`, which are not numbers.
    pub(crate) is_grouped: bool,
    /// The first byte, including a sign.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Decimal {
    /// Whether it consists only of digits.
    pub(crate) fn is_whole(&self) -> bool {
        !self.digits.is_empty() && self.digits.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// The first decimal number that is not too large.
pub(crate) fn find_decimal(text: &str, from: usize) -> Option<Decimal> {
    let mut from = from;
    loop {
        let found = decimal(text, from)?;
        if found.value.is_finite() {
            return Some(found);
        }
        // For example the commit `3e8491f`: the text may still state its number.
        from = found.end;
    }
}

/// A currency sign that may precede a number.
pub(crate) fn is_currency(c: char) -> bool {
    "$€£¥".contains(c)
}

/// A character that is a fraction.
pub(crate) fn fraction_character(c: char) -> Option<f64> {
    let (numerator, denominator) = match c {
        '¼' => (1, 4),
        '½' => (1, 2),
        '¾' => (3, 4),
        '⅓' => (1, 3),
        '⅔' => (2, 3),
        '⅕' => (1, 5),
        '⅖' => (2, 5),
        '⅗' => (3, 5),
        '⅘' => (4, 5),
        '⅙' => (1, 6),
        '⅚' => (5, 6),
        '⅛' => (1, 8),
        '⅜' => (3, 8),
        '⅝' => (5, 8),
        '⅞' => (7, 8),
        _ => return None,
    };
    Some(f64::from(numerator) / f64::from(denominator))
}

/// The first decimal number; infinite if it is too large.
fn decimal(text: &str, from: usize) -> Option<Decimal> {
    let begins = |c: char| c.is_ascii_digit() || fraction_character(c).is_some();
    let first = from + text.get(from..)?.find(begins)?;
    let character = text[first..].chars().next()?;
    if let Some(value) = fraction_character(character) {
        let (sign, start) = sign_before(text, from, first);
        let end = first + character.len_utf8();
        let digits = String::new();
        return Some(Decimal { sign, value, digits, is_grouped: true, start, end });
    }
    let bytes = text.as_bytes();
    let is_digit = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_digit);
    let start = match first.checked_sub(1) {
        // `.5` is a number, but the `5` of `1.5` or `v.5` is not.
        Some(dot) if dot >= from && bytes[dot] == b'.' && !follows_word(text, dot) => dot,
        _ => first,
    };
    let mut end = digits_end(text, first);
    let is_grouped = start < first || is_grouped(&text[first..end]);
    if start == first && bytes.get(end) == Some(&b'.') && is_digit(end + 1) {
        end += 1;
        while is_digit(end) {
            end += 1;
        }
    }
    end = exponent_end(bytes, end);
    let parts = |c: char| c == ',' || SPACES.contains(&c);
    let digits = text[start..end].replace(parts, "");
    let value = digits.parse().ok()?;
    let (sign, start) = sign_before(text, from, start);
    Some(Decimal { sign, value, digits, is_grouped, start, end })
}

/// The end of digits with commas, or of one to three digits followed by groups of three.
fn digits_end(text: &str, first: usize) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_digit);
    let mut end = first;
    let mut has_comma = false;
    while is_digit(end) || bytes.get(end) == Some(&b',') && is_digit(end + 1) {
        has_comma |= !is_digit(end);
        end += 1;
    }
    if !has_comma && end - first <= 3 {
        while let Some(length) = group(&text[end..]) {
            end += length;
        }
    }
    end
}

/// Whether commas separate thousands, or lakhs and crores: `1,234,567`, `12,34,567`.
fn is_grouped(digits: &str) -> bool {
    let Some((others, last)) = digits.rsplit_once(',') else { return true };
    let mut others = others.split(',');
    let first = others.next().unwrap_or_default();
    last.len() == 3 && first.len() <= 3 && others.all(|group| matches!(group.len(), 2 | 3))
}

/// The length of a space and three digits that belong neither to a word (`5 100-dollar bills`) nor to a fraction.
fn group(rest: &str) -> Option<usize> {
    let digits = rest.strip_prefix(SPACES)?;
    let after = digits.get(..3).filter(|group| group.bytes().all(|byte| byte.is_ascii_digit()))?;
    let belongs = |c: char| c.is_alphanumeric() || "-/".contains(c);
    let length = rest.len() - digits.len() + after.len();
    (!rest[length..].starts_with(belongs)).then_some(length)
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

/// The sign before a number, even with a currency sign between (`-$5`), and where the number starts with it. After a
/// letter or digit it is a hyphen, or a minus between two things: `10-5`, `GPT-4`.
fn sign_before(text: &str, from: usize, start: usize) -> (f64, usize) {
    let near = text[from..start].trim_end_matches(is_currency);
    let before = near.trim_end_matches(|c| is_currency(c) || c == ' ');
    let is_sign = |c: &char| "+-−–".contains(*c);
    let Some(sign) = before.chars().next_back().filter(is_sign) else {
        return minus_word(before).map_or((1.0, start), |place| (-1.0, from + place));
    };
    let place = from + before.len() - sign.len_utf8();
    let stands_apart = text[from + before.len()..start].starts_with(' ');
    if follows_word(text, place) || stands_apart && !is_sign_apart(sign, &text[..place]) {
        return (1.0, start);
    }
    (if sign == '+' { 1.0 } else { -1.0 }, place)
}

/// Whether a sign followed by a space belongs to the number. A hyphen is then a bullet or a dash, unless a term begins
/// there: `x = - 5`, `{- 5}`, `$- 5$`.
fn is_sign_apart(sign: char, before: &str) -> bool {
    let outside = before.trim_end_matches(' ');
    match sign {
        '-' => outside.ends_with(TERM_BEGINS) || before.ends_with('$'),
        '−' => !outside.ends_with(|c: char| c.is_ascii_digit() || c == ')'),
        sign => sign == '+',
    }
}

/// Characters that precede a term.
const TERM_BEGINS: [char; 12] = ['=', '≈', '≠', '≤', '≥', '(', '{', '[', '^', '×', '·', '/'];

/// The position of the word `minus` or `negative` at the end of a text, unless it is between two things.
fn minus_word(text: &str) -> Option<usize> {
    let place = ["minus", "negative"].iter().find_map(|word| {
        let place = text.len().checked_sub(word.len())?;
        text.get(place..)?.eq_ignore_ascii_case(word).then_some(place)
    })?;
    let before = &text[..place];
    let outer = before.trim_end_matches([' ', '*', '_', '`', '$']);
    let begins =
        outer.is_empty() || outer.ends_with([':', '=', '(', '{', '\n']) || outer.ends_with(" is");
    (begins && !before.ends_with(char::is_alphanumeric)).then_some(place)
}

fn follows_word(text: &str, index: usize) -> bool {
    let before = text[..index].chars().next_back();
    before.is_some_and(|c| c.is_alphanumeric() || c == ')')
}
