//! Files with a temporary name until they are complete. Code that ends the process early removes them. A file that
//! replaces another gets its owner and its permissions.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io, mem,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use tempfile::{NamedTempFile, TempDir};

use crate::signals::leave_nothing_unfinished;

/// The unfinished files and folders, each with its final path.
static BEGUN: Mutex<BTreeMap<PathBuf, PathBuf>> = Mutex::new(BTreeMap::new());

fn begun() -> MutexGuard<'static, BTreeMap<PathBuf, PathBuf>> {
    BEGUN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is being written, and that is removed unless it gets its name.
#[derive(Debug)]
pub(crate) struct Unfinished {
    file: NamedTempFile,
    noted: Noted,
}

/// The entry of a file or folder in [`BEGUN`].
#[derive(Debug)]
struct Noted(PathBuf);

impl Drop for Noted {
    fn drop(&mut self) {
        begun().remove(&self.0);
    }
}

impl Unfinished {
    /// Begins the file for `path`, in the same folder, under a name that begins with `prefix`.
    pub(crate) fn beside(path: &Path, prefix: &str) -> io::Result<Unfinished> {
        leave_nothing_unfinished(remove_all)?;
        let folder = folder_of(path);
        folder.metadata()?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix);
        // The user's umask decides the access of others, as for a file that is created under its own name. A file that
        // replaces another is private until it has the permissions of that file.
        #[cfg(unix)]
        if !path.exists() {
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        }
        // `remove_all` waits until this file is recorded.
        let mut begun = begun();
        let file = builder.tempfile_in(folder)?;
        begun.insert(file.path().to_owned(), path.to_owned());
        drop(begun);
        let noted = Noted(file.path().to_owned());
        Ok(Unfinished { file, noted })
    }

    pub(crate) fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Gives the complete file its name.
    pub(crate) fn finish(self, path: &Path, replaces: bool) -> io::Result<()> {
        let Unfinished { file, noted } = self;
        #[cfg(unix)]
        if replaces {
            take_after(file.as_file(), path)?;
        }
        file.as_file().sync_all()?;
        let begun = begun();
        let named = match replaces {
            true => file.persist(path),
            false => file.persist_noclobber(path),
        };
        drop(begun);
        drop(noted);
        named.map(drop).map_err(|error| error.error)
    }
}

/// Gives `file` the permissions, and as far as this process may the owner, of the file that it replaces at `path`; if
/// that file is gone, nothing changes.
#[cfg(unix)]
fn take_after(file: &File, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
    let there = match path.metadata() {
        Ok(there) if there.is_file() => there,
        _ => return Ok(()),
    };
    // Owner and group are set separately: a user who may not give a file away may still give it to another of their
    // groups.
    let _ = fchown(file, Some(there.uid()), None);
    let _ = fchown(file, None, Some(there.gid()));
    let mode = there.mode() & 0o777;
    let mode = match file.metadata()?.gid() == there.gid() {
        true => mode,
        // The file has another group, whose members get the access of all others.
        false => mode & 0o707 | (mode & 0o007) << 3,
    };
    file.set_permissions(fs::Permissions::from_mode(mode))
}

/// A folder in which a file is made, and that is removed with its contents.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: TempDir,
    _noted: Noted,
}

impl Scratch {
    /// Makes a folder for making `path`, in the same folder as `path`, under a name that begins with `prefix`.
    pub(crate) fn beside(path: &Path, prefix: &str) -> io::Result<Scratch> {
        leave_nothing_unfinished(remove_all)?;
        let mut begun = begun();
        let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(folder_of(path))?;
        begun.insert(folder.path().to_owned(), path.to_owned());
        drop(begun);
        let _noted = Noted(folder.path().to_owned());
        Ok(Scratch { folder, _noted })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Removes all unfinished files and folders, and prevents any from being begun or finished afterwards. Returns the
/// paths that they would have had.
fn remove_all() -> Vec<PathBuf> {
    let mut begun = begun();
    let becoming = mem::take(&mut *begun).into_iter().map(|(path, becomes)| {
        // The process ends, so there is no one left to report a failure to.
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
        becomes
    });
    let becoming = becoming.collect();
    mem::forget(begun);
    becoming
}
