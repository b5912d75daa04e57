//! Whether the database that a run is written into is still the file at its path: in one that was deleted or moved
//! nobody finds the rows. Opens no file, for closing it again would end SQLite's locks on it.

use std::{
    fs::{self, Metadata},
    io::ErrorKind,
    path::Path,
};

use super::StoreError;

/// The file that was at a path; `None` where files have no number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place(Option<(u64, u64)>);

impl Place {
    /// The file that is at this path.
    pub(super) fn of(path: &Path) -> Place {
        Place(fs::metadata(path).ok().as_ref().and_then(number))
    }

    /// Does nothing as long as the file is there. What cannot be looked at counts as there.
    ///
    /// # Errors
    /// [`StoreError::Moved`] if there is none at this path any more, or another one.
    pub(super) fn must_have_the_file(&self, path: &Path) -> Result<(), StoreError> {
        let is_there = match fs::metadata(path) {
            Ok(found) => self.0.is_none() || number(&found) == self.0,
            Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        };
        match is_there {
            true => Ok(()),
            false => Err(StoreError::Moved { path: path.to_owned() }),
        }
    }
}

/// The device of a file, and its number there.
#[cfg(unix)]
fn number(file: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn number(_: &Metadata) -> Option<(u64, u64)> {
    None
}
