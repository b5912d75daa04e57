//! What can be wrong with a whole source of cases. Errors of one line are in `error`.

use std::{fmt, io};

use crate::{
    advice::{Advice, Advised, Conversion, Form, Thing},
    input_file::{Encoding, InputFileError},
};

/// How a source is compressed, as its first bytes show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip, one member or many.
    Gzip,
    /// Zstandard, one frame or many.
    Zstd,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Compression::None => "plain text",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        })
    }
}

/// What ends the reading of cases.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The file does not exist.
    #[error("{name}: no such file")]
    NotFound {
        /// The name as it was given.
        name: String,
    },
    /// The name belongs to a folder, not to a file.
    #[error("{name}: this is a folder, not a file of cases")]
    Directory {
        /// The name as it was given.
        name: String,
    },
    /// The name belongs to a device, a terminal or a socket, not to a file.
    #[error("{name}: this is a device, not a file of cases")]
    Device {
        /// The name as it was given.
        name: String,
    },
    /// The user has no permission to read the file.
    #[error("{name}: no permission to read it")]
    PermissionDenied {
        /// The name as it was given.
        name: String,
    },
    /// The file cannot be opened for another reason.
    #[error("{name}: cannot be opened: {error}")]
    CannotOpen {
        /// The name as it was given.
        name: String,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// Standard input is named more than once.
    #[error("standard input is named more than once, and can be read only once")]
    StdinTwice,
    /// The file has a format that is not supported.
    #[error("{name}: this is {format}, not JSON Lines")]
    Unsupported {
        /// The name as it was given.
        name: String,
        /// The format that its first bytes show.
        format: &'static str,
    },
    /// The file is compressed, but only plain text can be followed while it grows.
    #[error("{name}: this is {compression} data, and a file can be followed only as plain text")]
    Compressed {
        /// The name as it was given.
        name: String,
        /// How it is compressed.
        compression: Compression,
    },
    /// The file is text in another encoding of Unicode.
    #[error("{name}: this is {encoding} text, not UTF-8")]
    Encoded {
        /// The name as it was given.
        name: String,
        /// The encoding.
        encoding: Encoding,
    },
    /// The system failed while reading.
    #[error("{name}: {}{error}", what_failed(*line, error))]
    Read {
        /// The name as it was given.
        name: String,
        /// The last line that was read, from 1; 0 if none was.
        line: u64,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// It has no lines, or only blank lines.
    #[error("{name}: there are no cases in it")]
    Empty {
        /// The name as it was given.
        name: String,
    },
    /// It has so many blank lines that no case is expected after them.
    #[error("{name}: nothing but blank lines from line {first} to line {last}")]
    OnlyBlank {
        /// The name as it was given.
        name: String,
        /// The first blank line, from 1.
        first: u64,
        /// The last blank line that was read.
        last: u64,
    },
    /// The compressed data ends too early.
    #[error("{name}: the {compression} data ends too early, after line {line}")]
    Truncated {
        /// The name as it was given.
        name: String,
        /// How it is compressed.
        compression: Compression,
        /// The last line that was read, from 1; 0 if none was.
        line: u64,
    },
    /// The compressed data is damaged.
    #[error("{name}: the {compression} data is damaged after line {line}: {message}")]
    Corrupt {
        /// The name as it was given.
        name: String,
        /// How it is compressed.
        compression: Compression,
        /// The last line that was read, from 1; 0 if none was.
        line: u64,
        /// The decoder's message.
        message: String,
        /// Whether it was compressed with a larger window than is supported.
        too_wide: bool,
    },
}

impl SourceError {
    /// The error for `name`, which could not be opened.
    pub(super) fn opening(name: &str, error: InputFileError) -> SourceError {
        let name = name.to_owned();
        match error {
            InputFileError::NotFound => SourceError::NotFound { name },
            InputFileError::Folder => SourceError::Directory { name },
            InputFileError::Device => SourceError::Device { name },
            InputFileError::PermissionDenied => SourceError::PermissionDenied { name },
            InputFileError::Failed(error) => SourceError::CannotOpen { name, error },
            // These are errors in the content, which is not read here.
            other @ (InputFileError::TooLarge { .. }
            | InputFileError::Encoded { .. }
            | InputFileError::NotUtf8 { .. }) => {
                SourceError::CannotOpen { name, error: io::Error::other(other) }
            }
        }
    }

    /// The error for decompressing, if the underlying reader did not fail.
    pub(super) fn decoding(
        name: &str,
        compression: Compression,
        line: u64,
        error: &io::Error,
    ) -> SourceError {
        let name = name.to_owned();
        match error.kind() {
            io::ErrorKind::UnexpectedEof => SourceError::Truncated { name, compression, line },
            _ => {
                let message = error.to_string();
                // This is zstd's message; its crate has no kind for it.
                let too_wide = message.contains("too much memory");
                SourceError::Corrupt { name, compression, line, message, too_wide }
            }
        }
    }
}

/// The beginning of the message about a failed read: empty for the error of another format's reader, which states
/// itself what is wrong, and where.
fn what_failed(line: u64, error: &io::Error) -> String {
    match (error.kind(), line) {
        (io::ErrorKind::InvalidData, _) => String::new(),
        (_, 0) => "reading failed: ".to_owned(),
        (_, line) => format!("reading failed after line {line}: "),
    }
}

impl Advised for SourceError {
    fn advice(&self) -> Option<Advice> {
        match self {
            SourceError::NotFound { .. } => InputFileError::NotFound.advice(),
            SourceError::Device { .. } => InputFileError::Device.advice(),
            SourceError::Directory { name } => Some(Advice::NameFilesIn(name.clone())),
            SourceError::StdinTwice => Some(Advice::Once(Thing::StandardInput)),
            SourceError::Unsupported { .. } => Some(Advice::Write(Form::Cases)),
            SourceError::Compressed { name, .. } => {
                Some(Advice::Convert(Conversion::Uncompressed { name: name.clone() }))
            }
            SourceError::Encoded { encoding, .. } => {
                InputFileError::Encoded { encoding: *encoding }.advice()
            }
            SourceError::Empty { .. } => Some(Advice::NameOthers),
            SourceError::OnlyBlank { .. } => Some(Advice::Convert(Conversion::WithoutBlankLines)),
            SourceError::Truncated { name, .. } => {
                Some(Advice::FetchAgain { name: Some(name.clone()), compression: None })
            }
            SourceError::Corrupt { name, compression, too_wide, .. } => Some(match too_wide {
                true => Advice::Convert(Conversion::SmallerWindow { name: name.clone() }),
                false => Advice::FetchAgain {
                    name: Some(name.clone()),
                    compression: match compression {
                        Compression::None => None,
                        Compression::Gzip => Some("gzip"),
                        Compression::Zstd => Some("zstd"),
                    },
                },
            }),
            SourceError::PermissionDenied { .. }
            | SourceError::CannotOpen { .. }
            | SourceError::Read { .. } => None,
        }
    }
}
