//! The folder in which crates outside a gallery are compiled, one for all of them, so that what they have in common
//! (the standard library, the SDK, crates of a registry) is compiled once. It compiles nothing itself.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use super::BuildError;

/// A folder in which crates are compiled, so that the second one does not compile the standard library and the SDK
/// again.
///
/// Two builds in it at the same time wait for each other where necessary.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedBuilds {
    pub(super) folder: PathBuf,
    pub(super) program: PathBuf,
}

impl SharedBuilds {
    /// A folder, which need not exist, and a program whose `main` begins with
    /// [`become_rustc_if_asked`](super::become_rustc_if_asked): it keeps what depends on a crate's folder out of the
    /// compiler's arguments, so that the same sources give the same bytes in any folder.
    pub fn new(folder: impl Into<PathBuf>, program: impl Into<PathBuf>) -> SharedBuilds {
        SharedBuilds { folder: folder.into(), program: program.into() }
    }

    /// Waits until no other process compiles a crate with this library name here. The lock is held until the file is
    /// closed: cargo puts the modules of all such crates in the same place.
    pub(super) fn turn(&self, library: &str) -> Result<File, BuildError> {
        fs::create_dir_all(&self.folder).map_err(BuildError::file(&self.folder))?;
        let path = self.folder.join(format!("{library}.lock"));
        let file = File::create(&path).map_err(BuildError::file(&path))?;
        file.lock().map_err(BuildError::file(&path))?;
        Ok(file)
    }

    /// The folder in which cargo compiles.
    pub(super) fn target_folder(&self) -> &Path {
        &self.folder
    }
}
