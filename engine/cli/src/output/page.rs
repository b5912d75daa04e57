//! A page of a long list, written as its things come. Holds no more of them than the short cells of one table, and
//! reads none.

use std::io;

use serde::Serialize;

use super::{Format, Out, in_one_line, json_line, stdout, table};
use crate::{
    failure::{Failure, WriteError},
    report::{Align, Table},
};

/// Rows that one table is laid out from: only their short cells are held.
const TABLE_ROWS: usize = 1000;

/// A page: all after the first `skip` things, up to `most` of them, as one array, a document a line, or in tables.
pub(crate) struct Page {
    format: Format,
    skip: u64,
    most: u64,
    found: u64,
    shown: u64,
    table: Table,
}

impl Page {
    /// A page on which nothing is yet; a table has these columns.
    pub(crate) fn new(format: Format, skip: u64, most: u64, columns: &[(&str, Align)]) -> Page {
        Page { format, skip, most, found: 0, shown: 0, table: Table::new(columns) }
    }

    /// The things so far, on this page, before it and behind it.
    pub(crate) fn found(&self) -> u64 {
        self.found
    }

    /// Those on this page.
    pub(crate) fn shown(&self) -> u64 {
        self.shown
    }

    /// Lets `list` add the things of the list to the page on standard output, and ends it. A page that cannot be read
    /// to its end has none: its array in JSON stays open on purpose, so that no parser takes what is there for all of
    /// it.
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

    /// The next thing of the list, which is written if it is on this page; `cells` are its row of a table.
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

    /// More should be on this page, and does not come: what is said next begins a line.
    fn break_off(&mut self, out: &mut Out<'_>) -> io::Result<()> {
        match self.format {
            Format::Json if self.shown > 0 => out.write_all(b"\n"),
            _ => Ok(()),
        }
    }

    /// Nothing more is on this page.
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

    /// What is written of the first `all` numbers.
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
