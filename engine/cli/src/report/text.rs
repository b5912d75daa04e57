//! Makes text from outside (a scorer, a case) safe for a terminal: no control characters, no escape sequences, no
//! characters that change the writing direction, no invisible characters.

use std::borrow::Cow;

use scorebox::terminal;
use unicode_width::UnicodeWidthStr as _;

use super::{ci_commands::neutralize_ci_commands, counted};

/// Makes control characters and invisible characters in the text visible (`\u{1b}`), and anything that a CI runner
/// would take for a command; line breaks and tabs stay.
pub(crate) fn printable(text: &str) -> String {
    neutralize_ci_commands(terminal::visible(text)).into_owned()
}

/// JSON over several lines; unchanged if those would be mostly spaces, or if the text is not JSON.
pub(crate) fn pretty(json: &str) -> String {
    terminal::indented_json(json).unwrap_or_else(|| json.to_owned())
}

/// JSON with control characters written as `\u….`: the same document, safe to show.
pub(crate) fn printable_json(json: &str) -> Cow<'_, str> {
    terminal::visible_json(json)
}

/// Like [`printable_json`], on one line.
pub(crate) fn printable_json_line(json: &str) -> Cow<'_, str> {
    terminal::visible_json_line(json)
}

/// The text in one line of at most `most` characters; `…` marks a cut.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let line = printable(&words_of(text, most));
    match line.char_indices().nth(most) {
        None => line,
        Some(_) => {
            let mut cut: String = line.chars().take(most.saturating_sub(1)).collect();
            cut.push('…');
            cut
        }
    }
}

/// The first words of a text with a space between them: enough to show `most` characters and one more. The rest, which
/// may be many megabytes, is not read.
fn words_of(text: &str, most: usize) -> String {
    /// The most characters of a sequence around one that is examined: several form an emoji or a command.
    const AROUND: usize = 64;
    let mut left = most.saturating_add(AROUND);
    let mut words = String::new();
    for word in text.split(terminal::is_space).filter(|word| !word.is_empty()) {
        if left == 0 {
            break;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        let end = word.char_indices().nth(left).map_or(word.len(), |(end, _)| end);
        words.push_str(&word[..end]);
        left = left.saturating_sub(word[..end].chars().count() + 1);
    }
    words
}

/// The line, cut to this many columns of a terminal; `…` marks the cut.
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

/// The note that unpaired surrogates were replaced in JSON that was written for other programs.
pub(crate) fn halves_replaced(halves: u64) -> String {
    let halves = counted(halves, "half of a surrogate pair is", "halves of surrogate pairs are");
    format!("{halves} written as U+FFFD: programs refuse JSON that has one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_has_a_length() {
        assert_eq!(one_line("a\n b\t c", 10), "a b c");
        assert_eq!(one_line("ééééé", 4), "ééé…");
        assert_eq!(one_line("a\u{1b}b", 3), "a\\…");
    }

    /// A word of many megabytes, and many words.
    #[test]
    fn no_more_of_a_text_is_read_than_is_shown() {
        for text in ["x".repeat(10_000), "x ".repeat(10_000)] {
            assert!(words_of(&text, 10).len() < 200);
            assert_eq!(one_line(&text, usize::MAX), text.trim_end());
        }
    }
}
