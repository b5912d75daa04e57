//! Text that came from elsewhere (a scorer, a case), made safe for a terminal: no control
//! characters, no escape sequences, no marks that turn the direction of writing, nothing that is drawn as nothing.

use std::borrow::Cow;

use scorebox::terminal;
use unicode_width::UnicodeWidthStr as _;

use super::{ci_commands::neutralize_ci_commands, counted};

/// The text with everything that a terminal would act on or that is drawn as nothing made visible (`\u{1b}`), and what
/// a runner of CI would take for a command; line breaks and tabs stay.
pub(crate) fn printable(text: &str) -> String {
    neutralize_ci_commands(terminal::visible(text)).into_owned()
}

/// JSON over several lines; as it is if these would be mostly spaces, and other text.
pub(crate) fn pretty(json: &str) -> String {
    terminal::indented_json(json).unwrap_or_else(|| json.to_owned())
}

/// JSON with what a terminal would act on written as `\u….`: the same document, safe to show.
pub(crate) fn printable_json(json: &str) -> Cow<'_, str> {
    terminal::visible_json(json)
}

/// As [`printable_json`], and in one line.
pub(crate) fn printable_json_line(json: &str) -> Cow<'_, str> {
    terminal::visible_json_line(json)
}

/// The text in one line of at most `most` characters; what is cut off is shown by `…`.
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

/// The first words of a text with a space between them: enough that `most` characters and one more of them can be
/// shown. What is behind them, which may be many megabytes, is not looked at.
fn words_of(text: &str, most: usize) -> String {
    /// Characters that a sequence may have of which one is looked at: what makes an emoji or a command of several.
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

/// What halves of surrogate pairs become in JSON that was written for other programs.
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
