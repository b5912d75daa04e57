//! The characters that a terminal acts on instead of showing them, and JSON without them. Prints nothing.

use std::borrow::Cow;

/// Whether a terminal acts on it: control characters, and the marks of bidirectional text (Unicode TR 9).
pub fn acts(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}'
        )
}

/// JSON with what a terminal would act on written as `\u….`: the same document, safe to show.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    written_anew(json, |character| character == '\r')
}

/// As [`printable_json`], and in one line.
pub fn printable_json_line(json: &str) -> Cow<'_, str> {
    written_anew(json, |character| matches!(character, '\r' | '\n' | '\t'))
}

/// Below U+0020, JSON has white space between its tokens and nothing else; `space` says of which a plain
/// space takes the place.
fn written_anew(json: &str, space: impl Fn(char) -> bool) -> Cow<'_, str> {
    let shown = |character| character >= '\u{7f}' && acts(character);
    if !json.chars().any(|character| shown(character) || space(character)) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        match character {
            // All of them lie in the first plane, and JSON has them in strings only.
            _ if shown(character) => safe.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ if space(character) => safe.push(' '),
            _ => safe.push(character),
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_stays_the_same_document() {
        let shown = printable_json("[\"a\u{9b}31m\u{202e}é\"]");
        assert_eq!(shown, r#"["a\u009b31m\u202eé"]"#);
        assert_eq!(printable_json("{\r\n}"), "{ \n}");
        assert_eq!(printable_json_line("{\r\n\t}"), "{   }");
        let read: Vec<String> = serde_json::from_str(&shown).unwrap();
        assert_eq!(read, ["a\u{9b}31m\u{202e}é"]);
    }
}
