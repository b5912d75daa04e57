//! Writes data to standard output, in the requested format. A reader that closes the pipe (`| head`) ends the output,
//! not the command. `page` has pages of long lists; `labelled` has text after labels.

mod labelled;
mod page;

use std::{
    io::{self, BufWriter, IsTerminal as _, Write},
    path::Path,
};

use serde::Serialize;

use crate::{
    failure::Failure,
    report::{Table, one_line, printable, printable_json, printable_json_line},
};

pub(crate) use labelled::Labelled;
pub(crate) use page::Page;

/// How data is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// A table for people.
    #[default]
    Table,
    /// One JSON document.
    Json,
    /// One JSON document on each line.
    Jsonl,
}

impl Format {
    /// The most items to show: the user's limit (0: all); without one, all of them to a program, and `of_a_table` to
    /// people.
    pub(crate) fn most(self, limit: Option<u64>, of_a_table: u64) -> u64 {
        match (limit, self) {
            (Some(0), _) | (None, Format::Json | Format::Jsonl) => u64::MAX,
            (Some(limit), _) => limit,
            (None, Format::Table) => of_a_table,
        }
    }
}

/// Where data goes.
pub(crate) type Out<'a> = dyn Write + 'a;

/// Whether this names standard output: `-`, or a Unix name for it. If standard output is redirected to a file, opening
/// it by such a name would overwrite the file from its beginning, or replace it.
pub(crate) fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// A text as one line of a table: on a terminal cut to `most` characters, otherwise whole.
pub(crate) fn cell(text: &str, most: usize) -> String {
    let most = if io::stdout().is_terminal() { most } else { usize::MAX };
    one_line(text, most)
}

/// A text in the last column of a table that [`table`] writes and cuts to the width of a terminal. It is cut to
/// somewhat more here, so that a large text is not read much further than it is shown.
pub(crate) fn last_cell(text: &str) -> String {
    const MORE_THAN_A_LINE: usize = 4096;
    cell(text, MORE_THAN_A_LINE)
}

/// A table with texts in its last column: on a terminal they are cut to its width, otherwise they are whole.
pub(crate) fn table(out: &mut Out<'_>, mut table: Table) -> io::Result<()> {
    /// The width of a terminal that does not report it.
    const USUAL: usize = 160;
    if io::stdout().is_terminal() {
        table.fit(columns().unwrap_or(USUAL));
    }
    write!(out, "{table}")
}

/// The same with untrusted texts: none of them can look like a row on a terminal.
pub(crate) fn table_of_strangers(out: &mut Out<'_>, mut table: Table) -> io::Result<()> {
    /// The width of a terminal that does not report it.
    const USUAL: usize = 80;
    if io::stdout().is_terminal() {
        table.fit_in_lines(columns().unwrap_or(USUAL));
    }
    write!(out, "{table}")
}

/// The width of the terminal.
fn columns() -> Option<usize> {
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map(|(terminal_size::Width(columns), _)| usize::from(columns))
}

/// Lets `write` write to standard output.
pub(crate) fn stdout(write: impl FnOnce(&mut Out<'_>) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::new(anstream::AutoStream::auto(io::stdout().lock()));
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::stdout(&error)),
        _ => Ok(()),
    }
}

/// The same for a document that is written unchanged to a file or a pipe.
pub(crate) fn plain_stdout(
    write: impl FnOnce(&mut Out<'_>) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = BufWriter::new(Document::new(io::stdout().lock(), io::stdout().is_terminal()));
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::stdout(&error)),
        _ => Ok(()),
    }
}

/// A document on its way to standard output: unchanged, except that on a terminal control characters are in visible
/// form.
#[derive(Debug)]
pub(crate) struct Document<W: Write> {
    out: W,
    is_shown: bool,
    /// The unfinished last line, which is not in `out` yet.
    line: Vec<u8>,
}

impl<W: Write> Document<W> {
    /// A document for `out`; `is_shown` if that is a terminal.
    pub(crate) fn new(out: W, is_shown: bool) -> Document<W> {
        Document { out, is_shown, line: Vec::new() }
    }
}

impl<W: Write> Write for Document<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_shown {
            return self.out.write(bytes);
        }
        // Writes whole lines, so that no character is split.
        if let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') {
            self.line.extend_from_slice(&bytes[..=end]);
            let lines = std::mem::take(&mut self.line);
            self.out.write_all(printable(&String::from_utf8_lossy(&lines)).as_bytes())?;
            self.line.extend_from_slice(&bytes[end + 1..]);
        } else {
            self.line.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.line);
        self.out.write_all(printable(&String::from_utf8_lossy(&rest)).as_bytes())?;
        self.out.flush()
    }
}

/// Writes one document over several lines.
pub(crate) fn json(out: &mut Out<'_>, value: &impl Serialize) -> io::Result<()> {
    writeln!(out, "{}", printable_json(&serde_json::to_string_pretty(value)?))
}

/// Writes one document in one line.
pub(crate) fn json_line(out: &mut Out<'_>, value: &impl Serialize) -> io::Result<()> {
    writeln!(out, "{}", in_one_line(value)?)
}

fn in_one_line(value: &impl Serialize) -> io::Result<String> {
    Ok(printable_json_line(&serde_json::to_string(value)?).into_owned())
}

/// Writes a list: one array, or one document on each line.
pub(crate) fn list<T: Serialize>(out: &mut Out<'_>, lines: bool, items: &[T]) -> io::Result<()> {
    match lines {
        false => json(out, &items),
        true => items.iter().try_for_each(|item| json_line(out, item)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_given_what_it_would_act_on_in_visible_form_and_a_file_all_bytes() {
        let written = |is_shown| {
            let mut out = Vec::new();
            let mut document = Document::new(&mut out, is_shown);
            for part in "a\u{1b}[31m,é\nb\u{202e}".as_bytes().chunks(1) {
                document.write_all(part).unwrap();
            }
            document.flush().unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(true), "a\\u{1b}[31m,é\nb\\u{202e}");
        assert_eq!(written(false), "a\u{1b}[31m,é\nb\u{202e}");
    }
}
