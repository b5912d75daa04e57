//! Defines why a file cannot be read as cases, as data. It leaves errors in a single case to `scorebox::case`.

use std::io;

use scorebox::{
    advice::{Advice, Advised, Thing},
    case::{Key, may_be_output},
    input_file::InputFileError,
};

use crate::format::Format;

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReaderError {
    /// The file cannot be opened.
    #[error("{name}: {error}")]
    Unreadable {
        /// The name as the user wrote it.
        name: String,
        /// Why the file cannot be opened.
        #[source]
        error: InputFileError,
    },
    /// The first bytes fit several formats.
    #[error(
        "{name}: this could be {}",
        formats.iter().map(|format| format.meaning()).collect::<Vec<_>>().join(", or ")
    )]
    Ambiguous {
        /// The name as the user wrote it.
        name: String,
        /// The formats that it may have.
        formats: Vec<Format>,
    },
    /// The file is something else.
    #[error("{name}: {found}")]
    Unknown {
        /// The name as the user wrote it.
        name: String,
        /// What the file is.
        found: &'static str,
    },
    /// The named format can be read only from a file.
    #[error("{name}: {} is read from a file, not from a pipe", format.meaning())]
    Pipe {
        /// The name as the user wrote it.
        name: String,
        /// The format.
        format: Format,
    },
    /// The file is a table that lacks a required column.
    #[error("{name}: {missing}")]
    NoColumn {
        /// The name as the user wrote it.
        name: String,
        /// Which column it lacks, and which ones it has.
        missing: MissingColumn,
    },
    /// The file is damaged, or not what it seems to be.
    #[error("{name}: {problem}")]
    Damaged {
        /// The name as the user wrote it.
        name: String,
        /// What is wrong, and where.
        problem: String,
    },
}

impl Advised for ReaderError {
    fn advice(&self) -> Option<Advice> {
        match self {
            ReaderError::Unreadable { error, .. } => error.advice(),
            ReaderError::Ambiguous { formats, .. } => Some(Advice::Choose {
                what: Thing::Format,
                names: formats.iter().map(ToString::to_string).collect(),
            }),
            ReaderError::Unknown { .. } => Some(Advice::Choose {
                what: Thing::Format,
                names: Format::ALL.iter().map(ToString::to_string).collect(),
            }),
            ReaderError::Pipe { .. } => Some(Advice::Name(Thing::File)),
            ReaderError::NoColumn { missing, .. } => missing.advice(),
            ReaderError::Damaged { .. } => None,
        }
    }
}

/// The most columns that a message lists, and the most bytes of the name of one.
const LISTED_COLUMNS: usize = 12;
const LONGEST_COLUMN: usize = 64;

/// A column that a table lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no column `{column}`{}; the columns are {}", mapped(*.key, .column), listed(.columns))]
#[non_exhaustive]
pub struct MissingColumn {
    /// The part of a case that the column contains.
    pub key: Key,
    /// The name of the column.
    pub column: String,
    /// The columns that exist.
    pub columns: Vec<String>,
}

fn mapped(key: Key, column: &str) -> String {
    match key.name() == column {
        true => String::new(),
        false => format!(", where `{key}` is to be"),
    }
}

fn listed(columns: &[String]) -> String {
    let short = columns.iter().filter(|column| column.len() <= LONGEST_COLUMN);
    let mut listed: Vec<String> =
        short.take(LISTED_COLUMNS).map(|column| format!("`{column}`")).collect();
    if listed.len() < columns.len() {
        listed.push("…".to_owned());
    }
    listed.join(", ")
}

impl MissingColumn {
    pub(crate) fn new(key: Key, column: &str, columns: &[&str]) -> MissingColumn {
        let columns = columns.iter().map(|column| (*column).to_owned()).collect();
        MissingColumn { key, column: column.to_owned(), columns }
    }

    /// Advice to use the rule that was probably meant.
    fn advice(&self) -> Option<Advice> {
        let MissingColumn { key, column, columns } = self;
        if *key == Key::Output && column == key.name() {
            let member = columns.iter().find(|column| may_be_output(column)).cloned();
            return Some(Advice::Map { part: key.to_string(), member });
        }
        match Advice::closest(column, columns.iter().map(String::as_str))? {
            Advice::DidYouMean(names) => {
                let rule = |name: &String| {
                    format!("{key}=/{}", name.replace('~', "~0").replace('/', "~1"))
                };
                Some(Advice::DidYouMean(names.iter().map(rule).collect()))
            }
            other => Some(other),
        }
    }
}

/// Why a reader ends before the end of its file. The name of the file is added by the code that knows it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    /// No one reads the lines any more.
    #[error("the reading was stopped")]
    Stopped,
    /// The system failed to read, or the compressed data is damaged.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A table lacks a required column.
    #[error("{0}")]
    NoColumn(MissingColumn),
    /// The content does not match the format.
    #[error("{0}")]
    Content(String),
}

impl Problem {
    /// The content is not valid.
    pub(crate) fn content(what: impl Into<String>) -> Problem {
        Problem::Content(what.into())
    }

    /// JSON that cannot be read, in `what`.
    pub(crate) fn json(what: &str, error: &serde_json::Error) -> Problem {
        match error.io_error_kind() {
            Some(kind) => Problem::Io(io::Error::new(kind, error.to_string())),
            None => Problem::Content(format!("{what} is not what is expected: {error}")),
        }
    }

    /// The same with the name of the file.
    pub(crate) fn of(self, name: &str) -> ReaderError {
        let name = name.to_owned();
        match self {
            Problem::Io(error) if error.kind() != io::ErrorKind::InvalidData => {
                let error = error.downcast().unwrap_or_else(InputFileError::Failed);
                ReaderError::Unreadable { name, error }
            }
            Problem::NoColumn(missing) => ReaderError::NoColumn { name, missing },
            other => ReaderError::Damaged { name, problem: other.to_string() },
        }
    }
}

/// What is wrong with a JSON text, without its position, for a text that is one line of many.
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let said = error.to_string();
    said.strip_suffix(&place).map_or_else(|| said.clone(), str::to_owned)
}
