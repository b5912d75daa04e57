//! The `scorebox.lock` beside a suite: reads it, writes it, and finds the locks of a suite's scorers. It does not
//! compare them with what is loaded; `locked` does.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fs::{self, File, TryLockError},
    io, panic,
    path::{Path, PathBuf},
    thread,
};

use scorebox::{digest::Digest, registry::Reference, suite::SuiteScorer};
use scorebox_community::{LOCK_FILE, Lock, Locked, MAX_LOCK_BYTES, NotALock};

use crate::{
    failure::{Failure, WriteError},
    input,
    lock_holder::holder_of,
    new_file::NewFile,
    waiting::Waiting,
};

/// The lock of a folder.
#[derive(Debug)]
pub(crate) struct LockFile {
    path: PathBuf,
    pub lock: Lock,
}

/// What published scorers are locked to, by their addresses.
pub(crate) type Locks = BTreeMap<String, Locked>;

/// The right to change the suites and the lock of a folder, which one process has at a time, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _folder: Option<File>,
}

impl Turn {
    /// Waits for the folder of the suite file at `suite`; a user who waits sees which process has it locked. On systems
    /// where folders cannot be locked, nobody waits.
    pub(crate) fn take(suite: &Path) -> Turn {
        let path = suite.parent().filter(|folder| !folder.as_os_str().is_empty());
        let path = path.unwrap_or(Path::new("."));
        let folder = File::open(path).ok();
        Turn { _folder: folder.filter(|folder| is_locked(folder, path)) }
    }
}

/// Whether this process has locked the folder.
fn is_locked(folder: &File, path: &Path) -> bool {
    match folder.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => {
            let _waiting = Waiting::for_another(waiting_for(folder, path));
            folder.lock().is_ok()
        }
        Err(TryLockError::Error(_)) => false,
    }
}

/// The text about the wait: which process has the folder locked.
fn waiting_for(folder: &File, path: &Path) -> String {
    let holder = holder_of(folder).map_or_else(String::new, |holder| format!(" ({holder})"));
    let folder = path.display();
    format!("waiting for another command that changes suites and {LOCK_FILE} in `{folder}`{holder}")
}

impl LockFile {
    /// The lock beside the suite file at `suite`: empty if there is none.
    pub(crate) fn beside(suite: &Path) -> Result<LockFile, Failure> {
        LockFile::in_folder(suite.parent().unwrap_or(Path::new("")))
    }

    /// The lock in a folder: empty if there is none.
    pub(crate) fn in_folder(folder: &Path) -> Result<LockFile, Failure> {
        let path = folder.join(LOCK_FILE);
        let is_missing = matches!(fs::symlink_metadata(&path), Err(error) if error.kind() == io::ErrorKind::NotFound);
        let lock = match is_missing {
            true => Lock::default(),
            false => {
                must_not_be_a_pipe(&path)?;
                let text = input::read_file(&path, MAX_LOCK_BYTES)?;
                Lock::parse(&text).map_err(|error| not_a_lock(&path, &error))?
            }
        };
        Ok(LockFile { path, lock })
    }

    /// The lock that came with a suite whose files are named as if in `folder`: empty if there is none.
    fn brought(folder: &Path, text: Option<&str>) -> Result<LockFile, Failure> {
        let path = folder.join(LOCK_FILE);
        let lock = text.map(Lock::parse).transpose().map_err(|error| not_a_lock(&path, &error))?;
        Ok(LockFile { path, lock: lock.unwrap_or_default() })
    }

    /// Writes the lock, completely or not at all.
    pub(crate) fn write(&self) -> Result<(), Failure> {
        let text = self.lock.text();
        let file = NewFile::create(&self.path, true)?;
        file.write(|out| out.write_all(text.as_bytes()).map_err(WriteError::Io))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Refuses a pipe: opening one would wait for a writer.
fn must_not_be_a_pipe(path: &Path) -> Result<(), Failure> {
    match fs::metadata(path) {
        Ok(there) if !there.is_file() && !there.is_dir() => {
            Err(Failure::new(format!("`{}` is not a regular file", path.display())).hint(
                "restore the lock from version control, or delete it and add the scorers again",
            ))
        }
        // Reading reports any other error of the file.
        _ => Ok(()),
    }
}

fn not_a_lock(path: &Path, error: &NotALock) -> Failure {
    let message = format!("`{}` is not a valid lock: {error}", path.display());
    Failure::new(message).hint(match error {
        NotALock::OtherVersion(_) => "a newer scorebox wrote it: update scorebox",
        _ => "restore it from version control; a merge that git could not finish is one of the causes",
    })
}

/// Reads the locks of scorers while `open` opens something else, usually a sandbox. If both fail, the error of `open`
/// is returned.
pub(crate) fn locks_while<T>(
    scorers: &[SuiteScorer],
    open: impl FnOnce() -> Result<T, Failure>,
) -> Result<(T, Locks), Failure> {
    let is_published = |scorer: &SuiteScorer| matches!(scorer.uses, Reference::Published(_));
    // A thread costs more than checking that there is nothing to read.
    if !scorers.iter().any(is_published) {
        return Ok((open()?, Locks::default()));
    }
    thread::scope(|scope| {
        let reading = scope.spawn(|| locks_of(scorers));
        let opened = open()?;
        let locks = reading.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
        Ok((opened, locks?))
    })
}

/// What published scorers are locked to, by their addresses. A scorer in a file uses the lock beside that file, one on
/// the command line the lock in this folder, and one in a bundle the bundle's lock.
pub(crate) fn locks_of(scorers: &[SuiteScorer]) -> Result<Locks, Failure> {
    let mut locks: BTreeMap<PathBuf, LockFile> = BTreeMap::new();
    let mut pinned: BTreeMap<String, (Digest, PathBuf, Locked)> = BTreeMap::new();
    for scorer in scorers {
        let Reference::Published(address) = &scorer.uses else { continue };
        let folder = folder_of(scorer);
        let file = match locks.entry(folder.clone()) {
            Entry::Occupied(there) => there.into_mut(),
            Entry::Vacant(place) => place.insert(match &scorer.brought {
                Some(brought) => LockFile::brought(&folder, brought.lock.as_deref())?,
                None => LockFile::in_folder(&folder)?,
            }),
        };
        let Some(locked) = file.lock.get(address) else { continue };
        let (digest, path) = (locked.component, file.path.clone());
        match pinned.values().find(|(_, _, other)| other.address == locked.address) {
            Some((other, there, _)) if *other != digest => {
                return Err(Failure::new(format!(
                    "`{address}` is locked to one component in `{}` and to another in `{}`",
                    there.display(),
                    path.display()
                ))
                .hint("lock both to the same component"));
            }
            _ => {
                pinned.insert(address.clone(), (digest, path, locked.clone()));
            }
        }
    }
    Ok(pinned.into_iter().map(|(address, (_, _, locked))| (address, locked)).collect())
}

/// What to do about a lock that someone edited; the suite's entry stays as it is.
pub(crate) fn lock_again(locked: &Locked) -> String {
    let address = &locked.address;
    format!(
        "{LOCK_FILE} was changed by hand: take back the change or, to lock the scorer again after a look at it, delete its table there and \
         `scorebox add {address}`"
    )
}

/// The file that names the scorer's component, if a file does.
pub(crate) fn file_of(scorer: &SuiteScorer) -> Option<&Path> {
    scorer.uses_location.as_ref().map(|location| location.file.as_path())
}

/// The folder of the file that names the scorer's component; the current one if no file does.
pub(crate) fn folder_of(scorer: &SuiteScorer) -> PathBuf {
    file_of(scorer).and_then(Path::parent).unwrap_or(Path::new("")).to_owned()
}

/// The lock that should name the scorer's component.
pub(crate) fn lock_path_of(scorer: &SuiteScorer) -> PathBuf {
    folder_of(scorer).join(LOCK_FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_a_folder_learns_which_and_for_whom() {
        let folder = tempfile::tempdir().unwrap();
        let suite = folder.path().join("suite.toml");
        let turn = Turn::take(&suite);
        let other = File::open(folder.path()).unwrap();
        assert!(other.try_lock().is_err());
        let words = waiting_for(&other, folder.path());
        assert!(words.contains(&format!("in `{}`", folder.path().display())), "{words}");
        let own = format!("(process {}", std::process::id());
        assert!(!cfg!(target_os = "linux") || words.contains(&own), "{words}");
        drop(turn);
        assert!(is_locked(&other, folder.path()));
    }
}
