//! Reads one line at a time and never holds more than the longest allowed line. It does not parse JSON.

use std::io::{self, BufRead, Read};

/// What [`read_line`] found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line; the buffer holds it without its end.
    Whole,
    /// A line of more than the limit, and the buffer holds its start. Unless it `ended`, what is left of it comes next:
    /// [`skip_line`] reads over it, which takes long if the line has no end.
    TooLong { ended: bool },
    /// Nothing more.
    End,
}

/// A buffer with more capacity than this, in bytes, is not kept for the next line.
const KEPT_BYTES: usize = 1024 * 1024;

/// Reads the next line of at most `limit` bytes into `buffer`, without `\n` or `\r\n`.
pub(super) fn read_line(
    reader: &mut dyn BufRead,
    limit: usize,
    buffer: &mut Vec<u8>,
) -> io::Result<Line> {
    buffer.clear();
    buffer.shrink_to(KEPT_BYTES);
    // Two more than the limit, for `\r\n`; if other bytes fill them, the line is longer.
    let most = (limit as u64).saturating_add(2);
    if reader.take(most).read_until(b'\n', buffer)? == 0 {
        return Ok(Line::End);
    }
    let ended = buffer.pop_if(|last| *last == b'\n').is_some();
    if ended {
        buffer.pop_if(|last| *last == b'\r');
    }
    if buffer.len() <= limit {
        return Ok(Line::Whole);
    }
    Ok(Line::TooLong { ended })
}

/// Reads over what is left of a line.
pub(super) fn skip_line(reader: &mut dyn BufRead) -> io::Result<()> {
    reader.skip_until(b'\n').map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every line of `text` in order; lines that are too long as `None`.
    fn lines(text: &str, limit: usize) -> Vec<Option<String>> {
        let (mut reader, mut buffer, mut lines) = (text.as_bytes(), Vec::new(), Vec::new());
        loop {
            match read_line(&mut reader, limit, &mut buffer).unwrap() {
                Line::Whole => lines.push(Some(String::from_utf8(buffer.clone()).unwrap())),
                Line::TooLong { ended } => {
                    lines.push(None);
                    if !ended {
                        skip_line(&mut reader).unwrap();
                    }
                }
                Line::End => return lines,
            }
            assert!(buffer.len() <= limit + 2);
        }
    }

    fn whole(line: &str) -> Option<String> {
        Some(line.to_owned())
    }

    #[test]
    fn a_line_ends_with_lf_crlf_or_the_text() {
        assert_eq!(lines("a\nb\r\n\nc", 9), [whole("a"), whole("b"), whole(""), whole("c")]);
        assert_eq!(lines("a\n", 9), [whole("a")]);
        assert_eq!(lines("", 9), []);
    }

    #[test]
    fn the_limit_counts_without_the_end() {
        for end in ["", "\n", "\r\n"] {
            assert_eq!(lines(&format!("1234{end}"), 4), [whole("1234")]);
            assert_eq!(lines(&format!("12345{end}"), 4), [None]);
        }
    }

    #[test]
    fn a_line_that_is_too_long_does_not_swallow_the_next() {
        for longer in 5..12 {
            let text = format!("{}\nb\n{}\r\nc", "x".repeat(longer), "x".repeat(longer));
            assert_eq!(lines(&text, 4), [None, whole("b"), None, whole("c")]);
        }
    }

    #[test]
    fn a_line_without_an_end_is_reported_before_it_is_read_over() {
        let mut endless = io::BufReader::new(io::repeat(b'x'));
        let found = read_line(&mut endless, 4, &mut Vec::new()).unwrap();
        assert_eq!(found, Line::TooLong { ended: false });
    }

    #[test]
    fn a_large_buffer_is_not_kept() {
        let mut buffer = Vec::with_capacity(8 * KEPT_BYTES);
        read_line(&mut &b"a\n"[..], 9, &mut buffer).unwrap();
        assert!(buffer.capacity() <= KEPT_BYTES);
    }
}
