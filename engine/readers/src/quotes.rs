//! Watches the bytes of CSV on their way to the parser: for a quoted cell that never ends, because the parser takes all
//! that follows as its text; for text after a quoted cell, which a quote that was not doubled causes; and for the lines
//! in which rows begin. Parses no cell.

use std::{
    collections::VecDeque,
    io::{self, Read},
};

/// A reader that passes the bytes on unchanged.
#[derive(Debug)]
pub(crate) struct Quotes<R> {
    inner: R,
    separator: u8,
    at: At,
    /// The current line, from 1.
    line: u64,
    /// The line in which the last quoted cell begins.
    opened: u64,
    is_over: bool,
    /// The line of the first text between a quoted cell's last quote and the next separator.
    stray: Option<u64>,
    /// Whether the next byte that does not end a line begins a row.
    is_between_rows: bool,
    /// The lines of the rows that the parser has not yet returned. It reads no further ahead than its buffer.
    rows: VecDeque<u64>,
}

/// The position of the next byte in a row, as csv-core sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    StartOfCell,
    InCell,
    InQuotes,
    /// After a quote within quotes: either the end of the cell, or the first half of a doubled quote.
    BehindQuote,
    /// After the last quote of a cell, and blanks.
    BehindCell,
}

impl<R> Quotes<R> {
    pub(crate) fn new(inner: R, separator: u8) -> Quotes<R> {
        let (at, rows) = (At::StartOfCell, VecDeque::new());
        let (line, opened, is_over, is_between_rows) = (1, 0, false, true);
        Quotes { inner, separator, at, line, opened, is_over, stray: None, is_between_rows, rows }
    }

    /// The line in which a quoted cell begins that is still open at the end of the input; `None` while there is more to
    /// read.
    pub(crate) fn unclosed(&self) -> Option<u64> {
        (self.is_over && self.at == At::InQuotes).then_some(self.opened)
    }

    /// The line in which text follows a quoted cell, in what was read so far.
    pub(crate) fn stray(&self) -> Option<u64> {
        self.stray
    }

    /// The line in which the next row begins, each row once.
    pub(crate) fn next_row(&mut self) -> Option<u64> {
        self.rows.pop_front()
    }

    fn step(&mut self, byte: u8) {
        let ends_line = matches!(byte, b'\n' | b'\r');
        let is_end = byte == self.separator || ends_line;
        if self.is_between_rows && !ends_line {
            self.rows.push_back(self.line);
            self.is_between_rows = false;
        }
        self.at = match (self.at, byte) {
            (At::StartOfCell, b'"') => {
                self.opened = self.line;
                At::InQuotes
            }
            (At::InQuotes, b'"') => At::BehindQuote,
            (At::BehindQuote, b'"') | (At::InQuotes, _) => At::InQuotes,
            _ if is_end => At::StartOfCell,
            (At::BehindQuote | At::BehindCell, b' ' | b'\t') => At::BehindCell,
            (At::BehindQuote | At::BehindCell, _) => {
                self.stray = self.stray.or(Some(self.line));
                At::InCell
            }
            _ => At::InCell,
        };
        self.is_between_rows |= ends_line && self.at == At::StartOfCell;
        self.line += u64::from(byte == b'\n');
    }
}

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.is_over = length == 0 && !buffer.is_empty();
        buffer.iter().take(length).for_each(|byte| self.step(*byte));
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unclosed(text: &str) -> Option<u64> {
        let mut quotes = Quotes::new(text.as_bytes(), b',');
        io::copy(&mut quotes, &mut io::sink()).unwrap();
        quotes.unclosed()
    }

    #[test]
    fn a_cell_that_never_ends_is_found_with_its_line() {
        assert_eq!(unclosed("a,b\nx,\"y\nz,w\n"), Some(2));
        assert_eq!(unclosed("a\n\"one\ntwo\"\n\"it says \"\"no\"\"\n"), Some(4));
        assert_eq!(unclosed("\""), Some(1));
    }

    #[test]
    fn quotes_that_end_and_quotes_within_a_cell_are_fine() {
        for text in
            ["", "a,b\n1,\"x\"\n", "a\n\"x\ny\"", "a,b\n5\" pipe,x\n", "\"a\"b\",c\n", "\"\"\"\"\n"]
        {
            assert_eq!(unclosed(text), None, "{text}");
        }
    }

    #[test]
    fn text_behind_a_quoted_cell_is_found_with_its_line() {
        let stray = |text: &str| {
            let mut quotes = Quotes::new(text.as_bytes(), b',');
            io::copy(&mut quotes, &mut io::sink()).unwrap();
            quotes.stray()
        };
        assert_eq!(stray("a\n\"bad, start\n3,fine\n4,end\" x\n"), Some(4));
        assert_eq!(stray("a\n\"Hello\" he said\n\"a\"b\n"), Some(2));
        assert_eq!(stray("\"a\" \"b\"\n"), Some(1));
        for text in ["\"a\" ,\"b\"\t\r\n", "\"a \"\"b\"\"\"\n", "5\" pipe,x\n", "\"\""] {
            assert_eq!(stray(text), None, "{text}");
        }
    }
}
