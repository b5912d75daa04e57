//! Reads text that a user names, from a file or from standard input. It knows no formats.

use std::{
    io::{self, IsTerminal as _},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use scorebox::{
    case::SourceError,
    input_file::{self, InputFileError},
};

use crate::{failure::Failure, waiting::Waiting, words};

/// The text of a file of at most `max_bytes`.
pub(crate) fn read_file(path: &Path, max_bytes: u64) -> Result<String, Failure> {
    input_file::read_text(path, max_bytes).map_err(|error| unreadable(path, error))
}

/// The text of a file, or of standard input if `path` is `-`, of at most `max_bytes`.
pub(crate) fn read_file_or_stdin(path: &Path, max_bytes: u64) -> Result<String, Failure> {
    if path != Path::new("-") {
        return read_file(path, max_bytes);
    }
    take_stdin()?;
    // A progress display would overwrite what the user types.
    let _waiting = match typed_input() {
        true => None,
        false => Some(Waiting::on("reading standard input")),
    };
    let read = input_file::text_of(io::stdin().lock(), max_bytes);
    read.map_err(|error| unreadable(path, error))
}

/// Refuses to read standard input a second time: nothing would be left to read.
pub(crate) fn take_stdin() -> Result<(), Failure> {
    static IS_TAKEN: AtomicBool = AtomicBool::new(false);
    match IS_TAKEN.swap(true, Ordering::Relaxed) {
        false => Ok(()),
        true => Err(SourceError::StdinTwice.into()),
    }
}

/// Whether standard input is a terminal; if so, prints how to end the input.
pub(crate) fn typed_input() -> bool {
    let typed = io::stdin().is_terminal();
    if typed {
        words::say("reading standard input from the terminal; Ctrl-D ends it");
    }
    typed
}

/// Why a file cannot be read.
pub(crate) fn unreadable(path: &Path, error: InputFileError) -> Failure {
    let message = format!("cannot read `{}`: {error}", path.display());
    Failure { message, ..Failure::from(error) }
}
