//! The right to write a run, which one process has at a time: a lock on an empty file beside the database. SQLite's own
//! locks last for one batch of rows, so they do not keep another process from scoring the same cases again.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
};

use super::{RunId, StoreError};

/// How often the file is opened again because another process removed it, before this gives up.
const MAX_ATTEMPTS: usize = 100;

/// The right of this process, until it is dropped.
#[derive(Debug)]
pub(crate) struct OnlyWriter {
    path: PathBuf,
    /// Open for as long as the lock is held.
    _file: File,
}

impl OnlyWriter {
    /// Takes the right to write the run in the database at `database`. `None` if files cannot be locked, for example on
    /// some network file systems.
    ///
    /// # Errors
    /// [`StoreError::BeingWritten`] if another process has it, or another writer in this process;
    /// [`StoreError::NotAFileBeside`] if the path is not a file, such as a link that leads out of the folder.
    pub(crate) fn take(database: &Path, run: &RunId) -> Result<Option<OnlyWriter>, StoreError> {
        // The same file, whatever link led to it.
        let real = database.canonicalize().unwrap_or_else(|_| database.to_owned());
        let mut name = real.file_name().unwrap_or_default().to_owned();
        name.push(format!("-run-{run}.lock"));
        let path = real.with_file_name(name);
        for _ in 0..MAX_ATTEMPTS {
            if fs::symlink_metadata(&path).is_ok_and(|there| !there.is_file()) {
                return Err(StoreError::NotAFileBeside { path });
            }
            let opened = options().create(true).truncate(false).write(true).open(&path);
            // The file of another user can be locked, too.
            let opened = opened.or_else(|_| options().read(true).open(&path));
            let Ok(file) = opened else { return Ok(None) };
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => {
                    return Ok(Some(OnlyWriter { path, _file: file }));
                }
                // Its last owner removed it after it was opened here.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let (path, id) = (database.to_owned(), run.to_string());
                    return Err(StoreError::BeingWritten { path, id });
                }
                Err(TryLockError::Error(_)) => return Ok(None),
            }
        }
        Ok(None)
    }
}

impl Drop for OnlyWriter {
    fn drop(&mut self) {
        // Remove it before the lock ends: a process that locks it later sees that it is not the one at this path. If
        // removing fails, the file does no harm.
        let _ = fs::remove_file(&self.path);
    }
}

/// Options that follow no link and do not wait for a pipe, even if the file was replaced meanwhile.
#[cfg(unix)]
fn options() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::OFlags;

    let mut options = File::options();
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    options
}

#[cfg(not(unix))]
fn options() -> OpenOptions {
    File::options()
}

/// Whether the file is still the one at this path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let known = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let (file, at_path) = (file.metadata().map(known), fs::symlink_metadata(path).map(known));
    file.is_ok_and(|file| at_path.is_ok_and(|at_path| file == at_path))
}

/// The standard library has no file numbers on this system.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_writes_a_run_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("runs.db");
        let take = |run: &str| OnlyWriter::take(&database, &run.parse().unwrap());
        let first = take("r").unwrap();
        assert!(first.is_some());
        assert!(matches!(take("r"), Err(StoreError::BeingWritten { id, .. }) if id == "r"));
        assert!(take("other").unwrap().is_some());
        drop(first);
        assert!(take("r").unwrap().is_some());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    #[cfg(unix)]
    fn a_link_to_the_database_leads_to_the_same_lock() {
        let folder = tempfile::tempdir().unwrap();
        let (database, link) = (folder.path().join("runs.db"), folder.path().join("link.db"));
        fs::write(&database, "").unwrap();
        std::os::unix::fs::symlink(&database, &link).unwrap();
        let run: RunId = "r".parse().unwrap();
        let _first = OnlyWriter::take(&database, &run).unwrap();
        assert!(matches!(OnlyWriter::take(&link, &run), Err(StoreError::BeingWritten { .. })));
    }

    #[test]
    #[cfg(unix)]
    fn a_link_in_its_place_is_not_followed_and_a_pipe_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let (database, lock) =
            (folder.path().join("runs.db"), folder.path().join("runs.db-run-r.lock"));
        let run: RunId = "r".parse().unwrap();
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &lock).unwrap();
        let linked = OnlyWriter::take(&database, &run);
        assert!(matches!(linked, Err(StoreError::NotAFileBeside { path }) if path == lock));
        assert!(!folder.path().join("elsewhere").exists());
        fs::remove_file(&lock).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&lock).status().unwrap();
        assert!(made.success());
        let piped = OnlyWriter::take(&database, &run);
        assert!(matches!(piped, Err(StoreError::NotAFileBeside { path }) if path == lock));
    }

    #[test]
    fn a_file_that_a_killed_process_left_keeps_no_other_away() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("runs.db-run-r.lock"), "").unwrap();
        let taken = OnlyWriter::take(&folder.path().join("runs.db"), &"r".parse().unwrap());
        assert!(taken.unwrap().is_some());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
