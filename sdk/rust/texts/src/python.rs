//! Reads texts as Python does, for scorers that reproduce the numbers of a program in Python. It compares nothing.

/// White space as Python defines it: Unicode's, and the four separators of ASCII.
#[must_use]
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// The zeros of the scripts that have their own ten digits (Unicode 14, class Nd).
const ZEROS: [u32; 65] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6,
    0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50,
    0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650,
    0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50,
    0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

/// The value of a decimal digit of any script, 0 to 9; `None` if the character is not such a digit (`²`).
/// Python's `unicodedata.decimal`, with the Unicode Character Database 14.0.
#[must_use]
pub fn decimal(c: char) -> Option<u8> {
    if c.is_ascii() {
        return c.is_ascii_digit().then(|| c as u8 - b'0');
    }
    let code = u32::from(c);
    let block = ZEROS.partition_point(|zero| *zero <= code).checked_sub(1)?;
    let value = u8::try_from(code - ZEROS.get(block)?).ok()?;
    (value < 10).then_some(value)
}

/// The ASCII digit for a decimal digit of another script; any other character as it is.
fn ascii_digit(c: char) -> char {
    decimal(c).map_or(c, |value| char::from(b'0' + value))
}

/// A finite number as Python's `float` reads it: with surrounding white space, single underscores between digits, and
/// digits of any script; `None` if it reads none, or one that is not finite.
#[must_use]
pub fn float(text: &str) -> Option<f64> {
    if !text.contains(char::is_numeric) {
        return None;
    }
    let text: String = text.trim_matches(is_space).chars().map(ascii_digit).collect();
    let digit_at = |place: Option<usize>| {
        place.and_then(|place| text.as_bytes().get(place)).is_some_and(u8::is_ascii_digit)
    };
    let between_digits =
        |place: usize| digit_at(place.checked_sub(1)) && digit_at(place.checked_add(1));
    if !text.match_indices('_').all(|(place, _)| between_digits(place)) {
        return None;
    }
    text.replace('_', "").parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    // The results of Python 3.11.
    #[test]
    fn a_number_is_what_float_takes() {
        for (text, number) in
            [(" 1_000\u{1c}", 1000.0), ("1e3", 1000.0), ("١٢٣", 123.0), ("+.5", 0.5)]
        {
            assert_eq!(float(text), Some(number), "{text}");
        }
        for text in ["", "1__0", "_1", "1_", "1,000", "½", "nan", "inf", "1e999", "x"] {
            assert_eq!(float(text), None, "{text}");
        }
    }

    #[test]
    fn a_digit_of_any_script_has_a_value() {
        let digits = [('0', 0), ('9', 9), ('٣', 3), ('९', 9), ('𝟗', 9), ('🯹', 9)];
        for (digit, value) in digits {
            assert_eq!(decimal(digit), Some(value), "{digit}");
        }
        assert!(
            ['a', '/', ':', '²', '½', '百', 'é', '٪'].into_iter().all(|c| decimal(c).is_none())
        );
    }

    #[test]
    fn separators_are_white_space() {
        assert!(['\u{1c}', '\u{1f}', '\u{85}', '\u{a0}', ' '].into_iter().all(is_space));
        assert!(!['\u{200b}', '\u{feff}', 'a'].into_iter().any(is_space));
    }
}
