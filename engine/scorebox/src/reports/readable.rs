//! JSON that every program can read: half of a surrogate pair, which occurs in text that was cut inside an emoji, is a
//! valid escape in JSON but not a character, and many readers refuse a whole file that has one.

use std::borrow::Cow;

/// The replacement for a half.
const REPLACEMENT: &str = "\\ufffd";
/// The length of `\uXXXX` in bytes.
const ESCAPE: usize = 6;

/// Valid JSON with U+FFFD instead of each half of a surrogate pair, and the number of replacements. Everything else
/// stays unchanged.
pub fn readable_json<'a>(json: impl Into<Cow<'a, str>>) -> (Cow<'a, str>, u64) {
    let json = json.into();
    let (mut readable, mut copied, mut halves) = (String::new(), 0, 0);
    let mut at = 0;
    let bytes = json.as_bytes();
    let backslash = |at: usize| bytes[at..].iter().position(|it| *it == b'\\').map(|it| at + it);
    while let Some(backslash) = backslash(at) {
        let next = |offset| unit(bytes, offset);
        at = match next(backslash) {
            Some(0xd800..=0xdbff) if matches!(next(backslash + ESCAPE), Some(0xdc00..=0xdfff)) => {
                backslash + 2 * ESCAPE
            }
            Some(0xd800..=0xdfff) => {
                readable.push_str(&json[copied..backslash]);
                readable.push_str(REPLACEMENT);
                halves += 1;
                copied = backslash + ESCAPE;
                copied
            }
            Some(_) => backslash + ESCAPE,
            // Someone who can write to the database can end a text with a backslash.
            None => (backslash + 2).min(json.len()),
        };
    }
    if halves == 0 {
        return (json, 0);
    }
    readable.push_str(&json[copied..]);
    (readable.into(), halves)
}

/// The UTF-16 unit of the escape at this offset.
fn unit(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    // A sign is not a digit.
    let are_digits = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    are_digits.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_surrogate_pair_is_a_replacement_character_and_counted() {
        for (json, readable, halves) in [
            (r#"{"a":"\ud83d bad"}"#, r#"{"a":"\ufffd bad"}"#, 1),
            (r#"["\uDE00\uD83D"]"#, r#"["\ufffd\ufffd"]"#, 2),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#, 1),
            (r#"{"\udc00":1.50}"#, r#"{"\ufffd":1.50}"#, 1),
        ] {
            assert_eq!(readable_json(json), (readable.into(), halves));
            assert!(serde_json::from_str::<serde_json::Value>(readable).is_ok());
        }
    }

    #[test]
    fn all_else_stays_as_it_is_written() {
        for json in [
            r#"{"a": 1.50, "b":["\ud83d\ude00","\\ud83d","\"\\\\ud83d","\u00e9é"]}"#,
            "",
            "\\",
            "\\é",
            r"\u+d80",
            r"\ud8é",
        ] {
            assert_eq!(readable_json(json), (json.into(), 0));
        }
    }
}
