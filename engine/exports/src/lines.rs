//! Writes JSON Lines: an object for each score, with the column names as keys and nested JSON. Invisible characters in
//! a text are escaped. It leaves the choice of columns to `columns`.

use std::io::{self, Write};

use scorebox::terminal::visible_json_line;
use serde_json::value::RawValue;

use crate::{
    Rows,
    columns::{COLUMNS, Cell, Scored},
};

/// Writes lines to an output.
pub(crate) struct Lines<W>(W);

impl<W: Write> Lines<W> {
    pub(crate) fn new(out: W) -> Lines<W> {
        Lines(out)
    }
}

impl<W: Write> Rows for Lines<W> {
    fn put(&mut self, scored: &Scored<'_>, halves: &mut u64) -> io::Result<()> {
        let mut separator = "{";
        for column in COLUMNS {
            let cell: Cell<'_> = column.cell(scored, halves);
            write!(self.0, "{separator}\"{}\":", column.name)?;
            separator = ",";
            match cell {
                Cell::Missing => self.0.write_all(b"null")?,
                Cell::Text(text) => write_text(&mut self.0, &text)?,
                Cell::Json(json) => write_json(&mut self.0, &json)?,
                Cell::Integer(number) => write!(self.0, "{number}")?,
                Cell::Number(number) => serde_json::to_writer(&mut self.0, &number)?,
            }
        }
        self.0.write_all(b"}\n")
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes a text as JSON.
fn write_text(mut out: impl Write, text: &str) -> io::Result<()> {
    out.write_all(visible_json_line(&serde_json::to_string(text)?).as_bytes())
}

/// Writes stored JSON on one line. A line end in it can only be white space between its parts.
fn write_json(mut out: impl Write, json: &str) -> io::Result<()> {
    // Anyone with write access to the database can store anything there.
    if serde_json::from_str::<&RawValue>(json).is_err() {
        return write_text(out, json);
    }
    out.write_all(visible_json_line(json).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_nested_on_one_line_and_anything_else_is_text() {
        let written = |json: &str| {
            let mut out = Vec::new();
            write_json(&mut out, json).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written("{\"a\": 1.50}"), "{\"a\": 1.50}");
        assert_eq!(written("[1,\n2]"), "[1, 2]");
        assert_eq!(written("}{"), "\"}{\"");
        assert_eq!(written("[\"a\u{202e}é\"]"), r#"["a\u202eé"]"#);
    }
}
