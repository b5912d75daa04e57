//! Data to standard output, in the format that was asked for. A reader that goes away (`| head`) ends
//! the output, not the command.

use std::{
    io::{self, BufWriter, IsTerminal as _, Write},
    path::Path,
};

use serde::Serialize;

use crate::{
    failure::Failure,
    report::{Table, one_line, printable_json, printable_json_line},
};

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

/// Where data goes.
pub(crate) type Out<'a> = dyn Write + 'a;

/// Whether this names standard output: `-`, or what Unix calls it. Opened by such a name, a file that standard output is
/// redirected to would be written from its beginning, or replaced.
pub(crate) fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// A text in one line of a table: on a terminal of at most `most` characters, else whole.
pub(crate) fn cell(text: &str, most: usize) -> String {
    let most = if io::stdout().is_terminal() { most } else { usize::MAX };
    one_line(text, most)
}

/// A text in the last column of a table that [`table`] writes.
pub(crate) fn last_cell(text: &str) -> String {
    one_line(text, usize::MAX)
}

/// A table with texts in its last column: on a terminal they are cut to what that has room for, else they are whole.
pub(crate) fn table(out: &mut Out<'_>, mut table: Table) -> io::Result<()> {
    /// On a terminal that does not say how wide it is.
    const USUAL: usize = 160;
    if io::stdout().is_terminal() {
        let size = terminal_size::terminal_size_of(io::stdout());
        table.fit(size.map_or(USUAL, |(terminal_size::Width(columns), _)| usize::from(columns)));
    }
    write!(out, "{table}")
}

/// Lets `write` write to standard output.
pub(crate) fn stdout(write: impl FnOnce(&mut Out<'_>) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::new(anstream::AutoStream::auto(io::stdout().lock()));
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// The same for a document that is written as it is, whatever is in it.
pub(crate) fn plain_stdout(
    write: impl FnOnce(&mut Out<'_>) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// One document over several lines.
pub(crate) fn json(out: &mut Out<'_>, value: &impl Serialize) -> io::Result<()> {
    writeln!(out, "{}", printable_json(&serde_json::to_string_pretty(value)?))
}

/// One document in one line.
pub(crate) fn json_line(out: &mut Out<'_>, value: &impl Serialize) -> io::Result<()> {
    writeln!(out, "{}", printable_json_line(&serde_json::to_string(value)?))
}

/// A list: as one array, or one document a line.
pub(crate) fn list<T: Serialize>(out: &mut Out<'_>, lines: bool, items: &[T]) -> io::Result<()> {
    match lines {
        false => json(out, &items),
        true => items.iter().try_for_each(|item| json_line(out, item)),
    }
}
