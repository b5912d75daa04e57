//! Text that came from elsewhere (a scorer, a case), made safe for a terminal: no control
//! characters, no escape sequences, no marks that turn the direction of writing.

use std::borrow::Cow;

use scorebox::terminal::acts;
use unicode_width::UnicodeWidthStr as _;

/// The text with everything that a terminal would act on made visible (`\u{1b}`); line breaks and
/// tabs stay.
pub(crate) fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => safe.push(character),
            _ if acts(character) => safe.extend(character.escape_unicode()),
            _ => safe.push(character),
        }
    }
    safe
}

/// JSON over several lines; other text as it is.
pub(crate) fn pretty(json: &str) -> String {
    serde_json::from_str::<serde_json::Value>(json)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| json.to_owned())
}

/// JSON with what a terminal would act on written as `\u….`: the same document, safe to show.
pub(crate) fn printable_json(json: &str) -> Cow<'_, str> {
    rewritten(json, |character| character == '\r')
}

/// As [`printable_json`], and in one line.
pub(crate) fn printable_json_line(json: &str) -> Cow<'_, str> {
    rewritten(json, |character| matches!(character, '\r' | '\n' | '\t'))
}

/// Below U+0020, JSON has only white space between its tokens; `space` says which of that becomes a plain space.
fn rewritten(json: &str, space: impl Fn(char) -> bool) -> Cow<'_, str> {
    let shown = |character| character >= '\u{7f}' && acts(character);
    if !json.chars().any(|character| shown(character) || space(character)) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        match character {
            // All of them are in the first plane, and JSON has them only in strings.
            _ if shown(character) => safe.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ if space(character) => safe.push(' '),
            _ => safe.push(character),
        }
    }
    Cow::Owned(safe)
}

/// The text in one line of at most `most` characters; what is cut off is shown by `…`.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = printable(&joined);
    match line.char_indices().nth(most) {
        None => line,
        Some(_) => {
            let mut cut: String = line.chars().take(most.saturating_sub(1)).collect();
            cut.push('…');
            cut
        }
    }
}

/// The line, cut to so many columns of a terminal; what is cut off is shown by `…`.
pub(crate) fn within(line: &str, columns: usize) -> String {
    if line.width() <= columns {
        return line.to_owned();
    }
    let mut cut = String::new();
    for character in line.chars() {
        cut.push(character);
        // Joined characters may be narrower together than each alone.
        if cut.width() >= columns {
            cut.pop();
            break;
        }
    }
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_act_on() {
        assert_eq!(printable("a\u{1b}[31mred\u{202e}"), "a\\u{1b}[31mred\\u{202e}");
        assert_eq!(printable("one\n\ttwo\r"), "one\n\ttwo\\u{d}");
    }

    #[test]
    fn json_stays_the_same_document() {
        let shown = printable_json("[\"a\u{9b}31m\u{202e}é\"]");
        assert_eq!(shown, r#"["a\u009b31m\u202eé"]"#);
        assert_eq!(printable_json("{\r\n}"), "{ \n}");
        assert_eq!(printable_json_line("{\r\n\t}"), "{   }");
        let read: Vec<String> = serde_json::from_str(&shown).unwrap();
        assert_eq!(read, ["a\u{9b}31m\u{202e}é"]);
    }

    #[test]
    fn one_line_has_a_length() {
        assert_eq!(one_line("a\n b\t c", 10), "a b c");
        assert_eq!(one_line("ééééé", 4), "ééé…");
    }
}
