//! What can be wrong with one case, and where. Errors of whole files are in `source_error`.

use std::{fmt, sync::Arc};

use super::{excerpt::excerpt, source_error::SourceError};
use crate::advice::{Advice, Advised};

/// Where a case was read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a location is a file and a line")]
pub struct Location {
    /// The name of the file as it was given, or `<stdin>`.
    pub source: Arc<str>,
    /// The line, from 1; 0 if the case was not read from lines.
    pub line: u64,
}

impl Location {
    /// Line `line` (from 1) of `source`.
    pub fn new(source: impl Into<Arc<str>>, line: u64) -> Location {
        Location { source: source.into(), line }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.source),
            line => write!(f, "{}:{line}", self.source),
        }
    }
}

/// The position of a finding in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableRow {
    /// The row, from 1, without the header.
    pub number: u64,
    /// The name of the column; `None` if the finding concerns the whole row.
    pub column: Option<String>,
}

/// A line that is not a valid case. The reader continues with the next line.
///
/// Shown as `cases.jsonl:7:13: not valid JSON: expected value`, for a table as ``table.csv:8: row 7, column
/// `latencyMs`: …``.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadCase {
    /// The name of the file as it was given, or `<stdin>`.
    pub source: Arc<str>,
    /// The line, from 1; 0 if the case was not read from lines.
    pub line: u64,
    /// The column, from 1, in characters; `None` if it concerns the whole line, or a row of a table.
    pub column: Option<u64>,
    /// The row, if the case comes from a table.
    pub row: Option<Box<TableRow>>,
    /// The case's index among all cases, from 0, as [`Case::ordinal`](super::Case::ordinal).
    pub ordinal: u64,
    /// What is wrong.
    pub reason: BadCaseReason,
    /// What to do about it.
    pub advice: Option<Box<Advice>>,
}

impl BadCase {
    /// A line that is invalid as a whole, without advice.
    pub fn new(at: Location, ordinal: u64, reason: BadCaseReason) -> BadCase {
        let Location { source, line } = at;
        BadCase { source, line, column: None, row: None, ordinal, reason, advice: None }
    }
}

impl Advised for BadCase {
    fn advice(&self) -> Option<Advice> {
        self.advice.as_deref().cloned()
    }
}

impl fmt::Display for BadCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        if let Some(row) = &self.row {
            write!(f, ": row {}", row.number)?;
            if let Some(column) = &row.column {
                write!(f, ", column `{}`", excerpt(column))?;
            }
        }
        write!(f, ": {}", self.reason)
    }
}

impl std::error::Error for BadCase {}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadCaseReason {
    /// The bytes are not UTF-8.
    #[error("not valid UTF-8")]
    NotUtf8,
    /// No case can be made, because a row of a table has too few cells.
    #[error("{why}")]
    NoCase {
        /// Why.
        why: String,
    },
    /// The line was not read to its end.
    #[error("the line is longer than {limit} bytes")]
    LineTooLong {
        /// The longest line that is allowed, in bytes.
        limit: usize,
    },
    /// The line is not JSON.
    #[error("not valid JSON: {message}")]
    NotJson {
        /// The parser's message.
        message: String,
    },
    /// The line is JSON, but not an object.
    #[error("a case must be a JSON object; found {found}")]
    NotAnObject {
        /// What it is.
        found: String,
    },
    /// Arrays and objects are nested too deeply.
    #[error("nested deeper than {limit} levels")]
    TooDeep {
        /// [`MAX_DEPTH`](super::MAX_DEPTH).
        limit: usize,
    },
    /// The same key twice in one object.
    #[error("the key `{key}` appears twice")]
    DuplicateKey {
        /// The key, unescaped and shortened.
        key: String,
    },
    /// The line has no output to score.
    #[error("{}", missing_output(keys, pointer.as_deref()))]
    MissingOutput {
        /// The line's first keys, unescaped and shortened.
        keys: Vec<String>,
        /// Where the output should be according to the mapping.
        pointer: Option<String>,
    },
    /// A value that is not valid for its key.
    #[error("`{key}` must be {expected}; found {found}")]
    BadField {
        /// The key, in its canonical spelling.
        key: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: Box<str>,
    },
}

/// The message of [`BadCaseReason::MissingOutput`].
fn missing_output(keys: &[String], pointer: Option<&str>) -> String {
    let mut message = match pointer {
        Some(pointer) => format!("no output: nothing at `{pointer}`"),
        None => "no `output`".to_owned(),
    };
    match keys {
        [] => message.push_str("; the object is empty"),
        keys => message.push_str(&format!("; found the keys `{}`", keys.join("`, `"))),
    }
    message
}

/// Why there is no next case although one was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// One line is bad; the next call continues after it.
    #[error(transparent)]
    BadCase(#[from] BadCase),
    /// The reading has ended.
    #[error(transparent)]
    Source(#[from] SourceError),
}

impl Advised for ReadError {
    fn advice(&self) -> Option<Advice> {
        match self {
            ReadError::BadCase(bad) => bad.advice(),
            ReadError::Source(error) => error.advice(),
        }
    }
}
