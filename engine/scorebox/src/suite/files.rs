//! Where the texts of suite files are: on the disk, unless a program has them elsewhere. Knows nothing of what they
//! say.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::input_file::{self, Encoding, InputFileError, MAX_CONFIGURATION_BYTES};

/// The texts of a suite file and of those that it includes. They may be asked for on another thread.
pub trait SuiteFiles: Sync {
    /// The text of the file at `path`: the path of the first file as the caller gave it, and the path of one that
    /// another file includes from that file's folder.
    ///
    /// # Errors
    /// Why there is no such text.
    fn text(&self, path: &Path) -> Result<String, InputFileError>;

    /// The file's own path, whatever leads to it, by which a file that includes itself is found out. By default the
    /// path itself.
    fn real(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }
}

/// The files of this machine.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is one disk")]
pub struct OnDisk;

impl SuiteFiles for OnDisk {
    fn text(&self, path: &Path) -> Result<String, InputFileError> {
        let text = input_file::read_text(path, MAX_CONFIGURATION_BYTES)?;
        // With zeros between its letters it is UTF-8, too, but no TOML and no JSON.
        match Encoding::of(text.as_bytes()) {
            Some(encoding) => Err(InputFileError::Encoded { encoding }),
            None => Ok(text),
        }
    }

    /// As it is written if there is no such file.
    fn real(&self, path: &Path) -> PathBuf {
        fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
    }
}
