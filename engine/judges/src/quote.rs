//! Shortens text from servers and programs to one line, for messages. Does not interpret it.

use scorebox::terminal;

/// How many characters of a text are quoted.
const MAX_CHARACTERS: usize = 300;

/// The beginning of a text, with the characters that control a terminal escaped.
pub(crate) fn quote(text: &str) -> String {
    let mut characters = text.trim().chars();
    let mut quoted = String::new();
    for character in characters.by_ref().take(MAX_CHARACTERS) {
        match terminal::acts(character) {
            true => quoted.extend(character.escape_default()),
            false => quoted.push(character),
        }
    }
    if characters.next().is_some() {
        quoted.push('…');
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_text_is_short_and_on_one_line() {
        assert_eq!(quote(" a\n\u{1b}[31mb\u{202e} "), "a\\n\\u{1b}[31mb\\u{202e}");
        assert_eq!(quote(&"é".repeat(1000)).chars().count(), MAX_CHARACTERS + 1);
    }
}
