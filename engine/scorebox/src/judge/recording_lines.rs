//! The recordings in a file, one line at a time. It knows no path: the code that opened the file names it in errors.

use std::io::{self, BufRead, Read as _};

use super::{Recording, RecordingsError};

/// The longest line, without its end, in bytes.
const MAX_LINE_BYTES: usize = 64 << 20;

/// The recordings in a text, one on each line that is not blank. The first error ends it.
#[derive(Debug)]
pub struct RecordingLines<R> {
    reader: R,
    most: usize,
    /// How many lines were read.
    number: u64,
    /// How many bytes were read.
    offset: u64,
    has_failed: bool,
}

/// A recording, and its line.
#[derive(Debug)]
#[non_exhaustive]
pub struct RecordingLine {
    /// The recording.
    pub recording: Recording,
    /// The whole line, with its end if it has one.
    pub text: Vec<u8>,
    /// Where the line begins, in bytes.
    pub offset: u64,
}

/// Why there is no recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingLineError {
    /// The text cannot be read.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// A line is not a recording ([`Recording::of_line`]), or is too long.
    #[error("line {number}: {why}")]
    NotARecording {
        /// The number of the line, from 1.
        number: u64,
        /// What is wrong with it.
        why: String,
    },
}

impl Recording {
    /// The recordings of a text, line by line.
    pub fn lines<R: BufRead>(reader: R) -> RecordingLines<R> {
        RecordingLines { reader, most: MAX_LINE_BYTES, number: 0, offset: 0, has_failed: false }
    }
}

impl<R: BufRead> RecordingLines<R> {
    /// The next line with its end, and where it begins; `None` after the last line.
    fn line(&mut self) -> Result<Option<(Vec<u8>, u64)>, RecordingLineError> {
        let (mut text, offset) = (Vec::new(), self.offset);
        // The longest line, and `\r\n`.
        let most_read = self.most as u64 + 2;
        let bytes = (&mut self.reader).take(most_read).read_until(b'\n', &mut text)?;
        if bytes == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.offset += bytes as u64;
        let line = text.strip_suffix(b"\n").map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        match line.unwrap_or(&text).len() > self.most {
            true => Err(self.wrong(format!("more than {} bytes in one line", self.most))),
            false => Ok(Some((text, offset))),
        }
    }

    /// The recording in the next line that is not blank; `None` after the last line.
    fn recording(&mut self) -> Result<Option<RecordingLine>, RecordingLineError> {
        while let Some((text, offset)) = self.line()? {
            if !text.trim_ascii().is_empty() {
                let recording = Recording::of_line(&text);
                let recording = recording.map_err(|RecordingsError(why)| self.wrong(why))?;
                return Ok(Some(RecordingLine { recording, text, offset }));
            }
        }
        Ok(None)
    }

    fn wrong(&self, why: String) -> RecordingLineError {
        RecordingLineError::NotARecording { number: self.number, why }
    }
}

impl<R: BufRead> Iterator for RecordingLines<R> {
    type Item = Result<RecordingLine, RecordingLineError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let next = self.recording().transpose();
        self.has_failed = matches!(next, Some(Err(_)));
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The errors for each line of a text, whose lines may have at most `most` bytes.
    fn said(text: &str, most: usize) -> Vec<String> {
        let lines = RecordingLines { most, ..Recording::lines(text.as_bytes()) };
        lines.map(|line| line.unwrap_err().to_string()).collect()
    }

    #[test]
    fn the_end_of_a_line_does_not_count_as_a_part_of_it() {
        for line in ["12345678", "12345678\n", "12345678\r\n"] {
            let [error] = &said(line, 8)[..] else { panic!("one line") };
            assert!(error.starts_with("line 1: this is not a recording"), "{error}");
            assert_eq!(said(line, 7)[0], "line 1: more than 7 bytes in one line");
        }
    }

    #[test]
    fn blank_lines_are_counted_and_are_no_recordings() {
        let errors = said("\n  \r\n{}\n{}\n", 80);
        assert!(errors[0].starts_with("line 3: "), "{errors:?}");
        assert_eq!(errors.len(), 1, "the first error is the end");
    }
}
