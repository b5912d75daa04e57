//! Writes lines of text after labels, for a user who must make a decision. Untrusted text is wrapped to the terminal,
//! so that none of its lines begins in the column of the labels, and its length is limited. It knows no labels.

use std::{
    io::{self, IsTerminal as _},
    iter,
};

use terminal_size::Width;
use unicode_width::UnicodeWidthChar as _;

use crate::report::{bytes, counted, printable};

use super::Out;

/// The width of the labels, in columns.
const LABEL: usize = 14;
/// The width of a terminal that does not report it.
const USUAL: usize = 80;
/// The indentation of a continued line.
const INDENT: &str = "  ";
/// The fewest columns for texts, even on a narrower terminal.
const LEAST: usize = 10;
/// The most lines of one text that are shown.
const MAX_LINES: usize = 60;
/// The most characters of one text that are shown: a few times the longest description of a built-in scorer.
const MAX_CHARACTERS: usize = 6000;

/// Text after labels, on its way to standard output.
pub(crate) struct Labelled<'l, 'o> {
    out: &'l mut Out<'o>,
    /// The most columns of a text; `None` without a terminal.
    room: Option<usize>,
}

impl<'l, 'o> Labelled<'l, 'o> {
    /// For standard output: with the terminal's width, if it is one.
    pub(crate) fn new(out: &'l mut Out<'o>) -> Labelled<'l, 'o> {
        Labelled::in_columns(out, io::stdout().is_terminal().then(columns_of_terminal))
    }

    /// For a user who is asked afterwards, and who may see standard output through another program.
    pub(crate) fn before_a_question(out: &'l mut Out<'o>) -> Labelled<'l, 'o> {
        let is_seen = io::stdout().is_terminal() || io::stderr().is_terminal();
        Labelled::in_columns(out, is_seen.then(columns_of_terminal))
    }

    fn in_columns(out: &'l mut Out<'o>, columns: Option<usize>) -> Labelled<'l, 'o> {
        Labelled { out, room: columns.map(|columns| columns.saturating_sub(LABEL).max(LEAST)) }
    }

    /// A word for copying, such as a digest: it is not wrapped.
    pub(crate) fn word(&mut self, label: &str, word: &str) -> io::Result<()> {
        let word = printable(word);
        word.lines().zip(labels(label)).try_for_each(|(line, label)| self.line(label, line))
    }

    /// Text with its own lines and spaces. Continued lines are indented, so that they do not look like new ones.
    pub(crate) fn text(&mut self, label: &str, text: &str) -> io::Result<()> {
        let text = printable(text).replace('\t', " ");
        let lines: Vec<String> = text.lines().flat_map(|line| self.continued(line)).collect();
        self.lines(label, &lines)
    }

    /// Prose from elsewhere: its spaces and empty lines are collapsed, and it is cut if it is too long.
    pub(crate) fn prose(&mut self, label: &str, prose: &str) -> io::Result<()> {
        let end = prose.char_indices().nth(MAX_CHARACTERS).map_or(prose.len(), |(end, _)| end);
        let mut lines: Vec<String> = Vec::new();
        for line in printable(&prose[..end]).lines() {
            let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
            if !words.is_empty() || lines.last().is_some_and(|last| !last.is_empty()) {
                lines.extend(self.wrapped(&words));
            }
            if lines.len() > MAX_LINES {
                break;
            }
        }
        if end < prose.len() || lines.len() > MAX_LINES {
            lines.truncate(MAX_LINES);
            let all = counted(prose.lines().count() as u64, "line", "lines");
            lines.push(format!("… (cut: the whole text has {all}, {})", bytes(prose.len() as u64)));
        }
        self.lines(label, &lines)
    }

    fn lines(&mut self, label: &str, lines: &[String]) -> io::Result<()> {
        lines.iter().zip(labels(label)).try_for_each(|(line, label)| self.line(label, line))
    }

    fn line(&mut self, label: &str, line: &str) -> io::Result<()> {
        writeln!(self.out, "{}", format!("{label:<LABEL$}{line}").trim_end())
    }

    fn wrapped(&self, line: &str) -> Vec<String> {
        self.room.map_or_else(|| vec![line.to_owned()], |room| wrapped(line, room))
    }

    fn continued(&self, line: &str) -> Vec<String> {
        let Some(room) = self.room else { return vec![line.to_owned()] };
        let mut parts = wrapped(line, room - INDENT.len());
        parts.iter_mut().skip(1).for_each(|part| part.insert_str(0, INDENT));
        parts
    }
}

fn columns_of_terminal() -> usize {
    terminal_size::terminal_size().map_or(USUAL, |(Width(columns), _)| usize::from(columns))
}

/// The label for the first line, and no label for the lines below.
fn labels(label: &str) -> impl Iterator<Item = &str> {
    iter::once(label).chain(iter::repeat(""))
}

/// The line in parts of at most `room` columns, broken at spaces where possible.
fn wrapped(line: &str, room: usize) -> Vec<String> {
    let (mut parts, mut part, mut width) = (Vec::new(), String::new(), 0);
    for character in line.chars() {
        if width + columns(character) > room {
            let end = match part.rfind(' ') {
                _ if character == ' ' => part.len(),
                // Spaces at the beginning of the line are its indentation.
                Some(space) if !part[..space].trim().is_empty() => space + 1,
                _ => part.len(),
            };
            let rest = part.split_off(end);
            parts.push(std::mem::replace(&mut part, rest));
            width = part.chars().map(columns).sum();
            if character == ' ' {
                continue;
            }
        }
        part.push(character);
        width += columns(character);
    }
    parts.push(part);
    parts
}

/// The most columns that a terminal may use for the character.
fn columns(character: char) -> usize {
    match character {
        // It makes the previous character wide.
        '\u{fe0f}' => 1,
        character => character.width_cjk().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(columns: Option<usize>, write: impl Fn(&mut Labelled<'_, '_>)) -> String {
        let mut out = Vec::new();
        write(&mut Labelled::in_columns(&mut out, columns));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn no_text_of_somebody_else_begins_where_a_label_stands() {
        let forged = format!("Counts words.{}signed by     RWTrusted", " ".repeat(80 - 14 - 13));
        let dots = format!("{}signed by     RWTrusted", ".".repeat(80 - 14));
        let wide = format!("{}signed by     RWTrusted", "字".repeat(33));
        for text in [&forged, &dots, &wide, &format!("a\n{forged}"), &"x".repeat(500)] {
            for columns in [20, 40, 80, 81, 100] {
                let prose = shown(Some(columns), |it| it.prose("", text).unwrap());
                let text = shown(Some(columns), |it| it.text("", text).unwrap());
                for line in prose.lines().chain(text.lines()) {
                    assert!(line.is_empty() || line.starts_with("              "), "{line:?}");
                    let width: usize = line.chars().map(super::columns).sum();
                    assert!(width <= columns.max(LABEL + LEAST), "{columns}: {line:?}");
                }
            }
        }
        // Without a terminal, nothing wraps a text to another column.
        let line = shown(None, |it| it.prose("scorer", &forged).unwrap());
        assert_eq!(line, "scorer        Counts words. signed by RWTrusted\n");
    }

    #[test]
    fn lines_are_broken_between_words_and_a_word_of_use_is_not() {
        let text = "The most words that pass, counted by spaces.";
        assert_eq!(
            shown(Some(41), |it| it.text("max", text).unwrap()),
            "max           The most words that pass,\n                counted by spaces.\n"
        );
        let digest = "sha256:".to_owned() + &"0".repeat(64);
        assert_eq!(
            shown(Some(40), |it| it.word("component", &digest).unwrap()),
            format!("component     {digest}\n")
        );
        assert_eq!(shown(Some(80), |it| it.prose("", "a\n\n\n\nb").unwrap()).lines().count(), 3);
    }

    #[test]
    fn a_long_text_is_cut_and_says_how_much_of_it_is_not_shown() {
        let lines = shown(Some(80), |it| it.prose("scorer", &"line\n".repeat(1000)).unwrap());
        assert_eq!(lines.lines().count(), MAX_LINES + 1);
        let cut = "\n              … (cut: the whole text has 1,000 lines, 4.9 KiB)\n";
        assert!(lines.ends_with(cut), "{lines}");
        let long = shown(None, |it| it.prose("scorer", &"é".repeat(20_000)).unwrap());
        let cut = "\n              … (cut: the whole text has 1 line, 39.1 KiB)\n";
        assert!(long.ends_with(cut), "{long}");
    }
}
