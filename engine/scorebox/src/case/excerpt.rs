//! Short, harmless quotations of a line's content, for messages. It cuts texts, and escapes what could move a
//! terminal's cursor or reverse its text; it does not interpret the content.

/// How many characters of a value or a key a message shows.
const EXCERPT_CHARACTERS: usize = 40;

/// `text`, cut at 40 characters, with control and direction characters escaped.
pub(super) fn excerpt(text: &str) -> String {
    let mut short = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == EXCERPT_CHARACTERS {
            short.push('…');
            break;
        }
        if is_harmful(character) {
            short.extend(character.escape_unicode());
        } else {
            short.push(character);
        }
    }
    short
}

/// The kind and the value of the JSON value `raw`, for the "found" of a message: `the number -1`, `an array`.
pub(super) fn describe(raw: &str) -> String {
    match raw.as_bytes().first() {
        Some(b'{') => "an object".to_owned(),
        Some(b'[') => "an array".to_owned(),
        Some(b'"') => format!("the string {}", excerpt(raw)),
        Some(b't' | b'f' | b'n') => excerpt(raw),
        Some(_) => format!("the number {}", excerpt(raw)),
        None => "nothing".to_owned(),
    }
}

/// Whether `character` could change how the rest of a message is shown.
fn is_harmful(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_cut_at_forty_characters() {
        assert_eq!(excerpt(&"é".repeat(40)), "é".repeat(40));
        assert_eq!(excerpt(&"é".repeat(41)), format!("{}…", "é".repeat(40)));
    }

    #[test]
    fn an_excerpt_has_nothing_that_a_terminal_would_obey() {
        assert_eq!(excerpt("a\u{1b}[2Jb\u{202e}c"), r"a\u{1b}[2Jb\u{202e}c");
    }

    #[test]
    fn each_kind_of_value_is_named() {
        assert_eq!(describe("[1]"), "an array");
        assert_eq!(describe("{}"), "an object");
        assert_eq!(describe("null"), "null");
        assert_eq!(describe("true"), "true");
        assert_eq!(describe("-1"), "the number -1");
        assert_eq!(describe("\"x\""), "the string \"x\"");
    }
}
