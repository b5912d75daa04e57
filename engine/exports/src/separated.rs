//! CSV, for spreadsheets: a text that a spreadsheet would take for a formula begins with an apostrophe. Which columns there are
//! is `columns`' to say.

use std::{borrow::Cow, io};

use crate::{
    Rows,
    columns::{COLUMNS, Cell, Kind, Scored},
};

/// A table in the making.
pub(crate) struct Table<W: io::Write>(csv::Writer<W>);

impl<W: io::Write> Table<W> {
    /// Writes the header.
    pub(crate) fn begin(out: W) -> io::Result<Table<W>> {
        let mut table = csv::Writer::from_writer(out);
        table.write_record(COLUMNS.iter().map(|column| column.name)).map_err(io_error)?;
        Ok(Table(table))
    }
}

impl<W: io::Write> Rows for Table<W> {
    fn put(&mut self, scored: &Scored<'_>) -> io::Result<()> {
        for column in COLUMNS {
            let cell: Cell<'_> = (column.of)(scored);
            let text = cell.to_text().unwrap_or_default();
            let text = match column.kind {
                Kind::Text | Kind::Json => harmless(text),
                Kind::Integer | Kind::Number => text,
            };
            self.0.write_field(text.as_bytes()).map_err(io_error)?;
        }
        self.0.write_record(None::<&[u8]>).map_err(io_error)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.0.flush()
    }
}

/// A text that no spreadsheet computes: what begins a formula, or what a spreadsheet drops before it looks, is behind an
/// apostrophe. See OWASP, CSV injection.
fn harmless(text: Cow<'_, str>) -> Cow<'_, str> {
    const BEGINS_A_FORMULA: [char; 11] =
        ['=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];
    match text.starts_with(BEGINS_A_FORMULA) {
        true => format!("'{text}").into(),
        false => text,
    }
}

/// What is written are texts, so nothing else can go wrong.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_begins_a_formula() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1"] {
            assert_eq!(harmless(text.into()), format!("'{text}"));
        }
        for text in ["", "a=1", " =1", "'=1", "{\"a\":1}"] {
            assert_eq!(harmless(text.into()), text);
        }
    }
}
