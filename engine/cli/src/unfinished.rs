//! Files with a temporary name until they are complete. Code that ends the process early removes them. One that takes
//! the place of another has its owner and its permissions.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io, mem,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use tempfile::{NamedTempFile, TempDir};

use crate::signals::leave_nothing_unfinished;

/// The files and folders that were begun, and what each becomes.
static BEGUN: Mutex<BTreeMap<PathBuf, PathBuf>> = Mutex::new(BTreeMap::new());

fn begun() -> MutexGuard<'static, BTreeMap<PathBuf, PathBuf>> {
    BEGUN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is being written, and goes if it does not get its name.
#[derive(Debug)]
pub(crate) struct Unfinished {
    file: NamedTempFile,
    noted: Noted,
}

/// That a file or folder is among those that were begun.
#[derive(Debug)]
struct Noted(PathBuf);

impl Drop for Noted {
    fn drop(&mut self) {
        begun().remove(&self.0);
    }
}

impl Unfinished {
    /// Begins what becomes `path`, in its folder, under a name that begins with `prefix`.
    pub(crate) fn beside(path: &Path, prefix: &str) -> io::Result<Unfinished> {
        leave_nothing_unfinished(remove_all)?;
        let folder = folder_of(path);
        folder.metadata()?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix);
        // As a file that is created by its name, what others may do with it is for the user's mask to say. One that
        // takes another's place is nobody else's until it has the permissions of that one.
        #[cfg(unix)]
        if !path.exists() {
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        }
        // Who removes all of them waits for this one.
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

/// Gives `file` the owner, as far as this process may, and the permissions of what it replaces at `path`; if that is
/// gone, it stays as it is.
#[cfg(unix)]
fn take_after(file: &File, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
    let there = match path.metadata() {
        Ok(there) if there.is_file() => there,
        _ => return Ok(()),
    };
    // Each by itself: who may not give a file away may still give it to another group of theirs.
    let _ = fchown(file, Some(there.uid()), None);
    let _ = fchown(file, None, Some(there.gid()));
    let mode = there.mode() & 0o777;
    let mode = match file.metadata()?.gid() == there.gid() {
        true => mode,
        // Its group is another one, whose members may do what all others may.
        false => mode & 0o707 | (mode & 0o007) << 3,
    };
    file.set_permissions(fs::Permissions::from_mode(mode))
}

/// A folder in which a file is made, and which goes with all that is in it.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: TempDir,
    _noted: Noted,
}

impl Scratch {
    /// Makes a folder for the making of `path`, in the folder of that, under a name that begins with `prefix`.
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

/// Removes all that were begun, and lets none be begun or finished after that. Answers what they would have become.
fn remove_all() -> Vec<PathBuf> {
    let mut begun = begun();
    let becoming = mem::take(&mut *begun).into_iter().map(|(path, becomes)| {
        // The process ends: nobody is left who could be told that it stays.
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
        becomes
    });
    let becoming = becoming.collect();
    mem::forget(begun);
    becoming
}
