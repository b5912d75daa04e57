//! Text that a user names: a file, or standard input. Knows no format.

use std::{io, path::Path};

use scorebox::input_file::{self, InputFileError};

use crate::failure::Failure;

/// The text of a file, of at most so many bytes.
pub fn read_file(path: &Path, most_bytes: u64) -> Result<String, Failure> {
    input_file::read_text(path, most_bytes).map_err(|error| unreadable(path, error))
}

/// The text of a file, or of standard input where `-` is named, of at most so many bytes.
pub fn read_file_or_stdin(path: &Path, most_bytes: u64) -> Result<String, Failure> {
    if path != Path::new("-") {
        return read_file(path, most_bytes);
    }
    let read = input_file::text_of(io::stdin().lock(), most_bytes);
    read.map_err(|error| unreadable(path, error))
}

fn unreadable(path: &Path, error: InputFileError) -> Failure {
    let message = format!("cannot read `{}`: {error}", path.display());
    Failure { message, ..Failure::from(error) }
}
