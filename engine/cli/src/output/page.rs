//! Writes a page of a long list item by item. It holds only the short cells of one table in memory, and does not read
//! the items itself.

use std::io;

use serde::Serialize;

use super::{Format, Out, in_one_line, json_line, stdout, table};
use crate::{
    failure::{Failure, WriteError},
    report::{Align, Table},
};

/// The rows of one table: only their short cells are held in memory.
const TABLE_ROWS: usize = 1000;

/// A page: the items after the first `skip`, up to `most` of them, as one array, one document on each line, or tables.
pub(crate) struct Page {
    format: Format,
    skip: u64,
    most: u64,
    found: u64,
    shown: u64,
    table: Table,
}

impl Page {
    /// An empty page; a table has these columns.
    pub(crate) fn new(format: Format, skip: u64, most: u64, columns: &[(&str, Align)]) -> Page {
        Page { format, skip, most, found: 0, shown: 0, table: Table::new(columns) }
    }

    /// The number of items so far, on this page, before it and after it.
    pub(crate) fn found(&self) -> u64 {
        self.found
    }

    /// The number of items on this page.
    pub(crate) fn shown(&self) -> u64 {
        self.shown
    }

    /// Lets `list` add the items of the list to the page on standard output, and ends the page. If the list cannot be
    /// read to its end, the JSON array stays open on purpose, so that no parser takes a part for the whole.
    pub(crate) fn print(
        &mut self,
        list: impl FnOnce(&mut Page, &mut Out<'_>) -> Result<(), WriteError>,
    ) -> Result<(), Failure> {
        let mut failure = None;
        stdout(|out| match list(self, out) {
            Ok(()) => self.end(out),
            Err(WriteError::Io(error)) => Err(error),
            Err(WriteError::Failure(why)) => {
                failure = Some(why);
                self.break_off(out)
            }
        })?;
        failure.map_or(Ok(()), Err)
    }

    /// Adds the next item of the list, and writes it if it is on this page; `cells` are its table row.
    pub(crate) fn add(
        &mut self,
        out: &mut Out<'_>,
        thing: &impl Serialize,
        cells: impl FnOnce() -> Vec<String>,
    ) -> io::Result<()> {
        self.found += 1;
        if self.found <= self.skip || self.shown == self.most {
            return Ok(());
        }
        self.shown += 1;
        match self.format {
            Format::Jsonl => json_line(out, thing),
            Format::Json => {
                out.write_all(if self.shown == 1 { b"[\n" } else { b",\n" })?;
                out.write_all(in_one_line(thing)?.as_bytes())
            }
            Format::Table => {
                self.table.row(cells());
                match self.table.len() == TABLE_ROWS {
                    true => table(out, self.table.take()),
                    false => Ok(()),
                }
            }
        }
    }

    /// Ends an incomplete page: the next message begins on a new line.
    fn break_off(&mut self, out: &mut Out<'_>) -> io::Result<()> {
        match self.format {
            Format::Json if self.shown > 0 => out.write_all(b"\n"),
            _ => Ok(()),
        }
    }

    /// Ends a complete page.
    fn end(&mut self, out: &mut Out<'_>) -> io::Result<()> {
        match self.format {
            Format::Json => out.write_all(if self.shown == 0 { b"[]\n" } else { b"\n]\n" }),
            Format::Table if self.table.len() > 0 => table(out, self.table.take()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page of a list of the first `all` numbers, as written.
    fn written(format: Format, skip: u64, most: u64, all: u64) -> String {
        let mut out = Vec::new();
        let mut page = Page::new(format, skip, most, &[("number", Align::Left)]);
        for number in 0..all {
            page.add(&mut out, &number, || vec![number.to_string()]).unwrap();
        }
        page.end(&mut out).unwrap();
        assert_eq!((page.found(), page.shown()), (all, all.saturating_sub(skip).min(most)));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_page_has_what_is_asked_for_in_each_format() {
        assert_eq!(written(Format::Json, 1, 2, 4), "[\n1,\n2\n]\n");
        assert_eq!(written(Format::Jsonl, 1, 2, 4), "1\n2\n");
        assert_eq!(written(Format::Table, 1, 2, 4), "number\n1\n2\n");
    }

    #[test]
    fn a_page_with_nothing_on_it_is_an_empty_array_and_no_table() {
        for all in [0, 3] {
            assert_eq!(written(Format::Json, 3, 2, all), "[]\n");
            assert_eq!(written(Format::Jsonl, 3, 2, all), "");
            assert_eq!(written(Format::Table, 3, 2, all), "");
        }
    }

    #[test]
    fn a_page_that_breaks_off_is_not_taken_for_a_whole_one() {
        let cut_off = |format| {
            let mut out = Vec::new();
            let mut page = Page::new(format, 0, 9, &[("number", Align::Left)]);
            for number in 1..3 {
                page.add(&mut out, &number, || vec![number.to_string()]).unwrap();
            }
            page.break_off(&mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(cut_off(Format::Json), "[\n1,\n2\n");
        assert!(serde_json::from_str::<serde_json::Value>(&cut_off(Format::Json)).is_err());
        assert_eq!(cut_off(Format::Jsonl), "1\n2\n");
        assert_eq!(cut_off(Format::Table), "");
    }

    #[test]
    fn many_rows_are_in_several_tables() {
        let whole = written(Format::Table, 0, u64::MAX, TABLE_ROWS as u64);
        assert_eq!(whole.matches("number").count(), 1);
        let more = written(Format::Table, 0, u64::MAX, TABLE_ROWS as u64 + 1);
        assert_eq!(more.matches("number").count(), 2);
    }
}
