//! Writes CSV, for spreadsheets: a text that a spreadsheet would take for a formula begins with an apostrophe. It
//! leaves the choice of columns to `columns`.

use std::io;

use scorebox::reports::cell_text;

use crate::{
    Rows,
    columns::{COLUMNS, Cell, Kind, Scored},
};

/// A table that is being written.
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
    fn put(&mut self, scored: &Scored<'_>, halves: &mut u64) -> io::Result<()> {
        for column in COLUMNS {
            let cell: Cell<'_> = column.cell(scored, halves);
            let text = cell.to_text().unwrap_or_default();
            let text = match column.kind {
                Kind::Text | Kind::Json => cell_text(text),
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

/// All values are texts, so only writing can fail.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
