//! Where the texts of suite files are: on the disk, unless a program has them elsewhere. It does not interpret them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::input_file::{self, Encoding, InputFileError, MAX_CONFIGURATION_BYTES};

/// The texts of a suite file and of those that it includes. They may be requested from another thread.
pub trait SuiteFiles: Sync {
    /// The text of the file at `path`: for the first file, the path that the caller gave; for an included file, its
    /// path from the folder of the file that includes it.
    ///
    /// # Errors
    /// Why the text is not available.
    fn text(&self, path: &Path) -> Result<String, InputFileError>;

    /// The file's real path, however it is reached, which is used to detect a file that includes itself. By default the
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
        // With zeros between its letters it is valid UTF-8, but not valid TOML or JSON.
        match Encoding::of(text.as_bytes()) {
            Some(encoding) => Err(InputFileError::Encoded { encoding }),
            None => Ok(text),
        }
    }

    /// The path as written if there is no such file.
    fn real(&self, path: &Path) -> PathBuf {
        fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
    }
}
