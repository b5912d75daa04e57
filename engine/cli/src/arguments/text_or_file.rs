//! Reads an argument that is a text, or a file with one. It does not interpret the text.

use std::path::Path;

use crate::{failure::Failure, input};

/// The text itself, or the content of the file named after `@` (`-`: standard input), of at most `max_bytes`.
pub(crate) fn read_if_file(written: &str, max_bytes: u64) -> Result<String, Failure> {
    match written.strip_prefix('@') {
        None => Ok(written.to_owned()),
        Some(path) => input::read_file_or_stdin(Path::new(path), max_bytes),
    }
}
