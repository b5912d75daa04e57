//! The two files that are served, the database and the index of its cases: opens them, and says whether the paths still name
//! what was opened.

use std::{
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use scorebox::store::{CaseIndex, Store, StoreError};

/// A database and the index of its cases.
#[derive(Debug)]
pub(super) struct Files {
    database: PathBuf,
    index: PathBuf,
    /// Held while the index is opened, so that one that is missing is made once.
    opening: Mutex<()>,
}

/// What distinguishes a file from others: its device and inode, where the system has them.
type Identity = (u64, u64);

/// Both files as they were at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    database: Identity,
    /// Its length and when it was written: what is copied over a database is another one in the same file, of which open
    /// connections know nothing. They change while a run is stored, too, whenever SQLite moves its log into the
    /// file; to open it again then costs a millisecond.
    written: (u64, Option<SystemTime>),
    /// `None` if it is not there.
    index: Option<Identity>,
}

impl Seen {
    /// Whether the database was another file then.
    pub(super) fn is_another_database(&self, then: &Seen) -> bool {
        self.database != then.database
    }

    /// Whether the index was another file then, or there was none.
    pub(super) fn is_another_index(&self, then: &Seen) -> bool {
        self.index != then.index
    }
}

impl Files {
    pub(super) fn new(database: PathBuf, index: PathBuf) -> Files {
        Files { database, index, opening: Mutex::default() }
    }

    /// The path of the database.
    pub(super) fn database(&self) -> &Path {
        &self.database
    }

    /// Both files as they are now.
    ///
    /// # Errors
    /// There is no database.
    pub(super) fn seen(&self) -> Result<Seen, StoreError> {
        let (database, written) = match self.database.metadata() {
            Ok(metadata) => (identity(&metadata), (metadata.len(), metadata.modified().ok())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(StoreError::Missing { path: self.database.clone() });
            }
            // Opening it says what is wrong.
            Err(_) => ((0, 0), (0, None)),
        };
        Ok(Seen { database, written, index: self.index_seen() })
    }

    fn index_seen(&self) -> Option<Identity> {
        self.index.metadata().ok().as_ref().map(identity)
    }

    /// Opens both, and says what they were. An index that is missing is made.
    ///
    /// # Errors
    /// Either cannot be opened.
    pub(super) fn open(&self) -> Result<(Store, CaseIndex, Seen), StoreError> {
        // Before they are opened: what replaces one meanwhile is another.
        let seen = self.seen()?;
        let store = self.open_database()?;
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.index_seen();
        if before.is_none() {
            self.remove_rest_of_index();
        }
        let index = CaseIndex::open(&self.index)?;
        let index_seen = before.or_else(|| self.index_seen());
        Ok((store, index, Seen { index: index_seen, ..seen }))
    }

    /// Opens the database alone.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn open_database(&self) -> Result<Store, StoreError> {
        Store::open_read_only(&self.database)
    }

    /// Removes what SQLite keeps beside an index that is gone: a new one would share it with connections to the old one.
    fn remove_rest_of_index(&self) {
        for ending in ["-wal", "-shm"] {
            let mut path = self.index.clone().into_os_string();
            path.push(ending);
            // They are usually not there.
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {
    (0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files in a folder of their own, with an empty database.
    fn files() -> (tempfile::TempDir, Files) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        drop(Store::open(path("scores.db")).unwrap());
        let files = Files::new(path("scores.db"), path("cases.index"));
        (folder, files)
    }

    #[test]
    fn what_was_opened_is_seen_until_a_file_changes() {
        let (_folder, files) = files();
        let (_store, _index, of) = files.open().unwrap();
        assert_eq!(files.seen().unwrap(), of);
        assert_eq!(files.open().unwrap().2, of);
    }

    #[test]
    fn an_index_that_is_removed_is_made_again_with_nothing_of_the_old_one() {
        let (folder, files) = files();
        let (_store, _old, before) = files.open().unwrap();
        let log = folder.path().join("cases.index-wal");
        assert!(log.exists());
        fs::remove_file(folder.path().join("cases.index")).unwrap();
        fs::write(&log, "of the old one").unwrap();
        assert_ne!(files.seen().unwrap(), before);
        let (_store, new, after) = files.open().unwrap();
        assert_eq!(files.seen().unwrap(), after);
        assert_eq!(new.runs().unwrap(), []);
        assert!(!before.is_another_database(&after));
        assert_ne!(fs::read(&log).unwrap(), b"of the old one");
    }

    #[test]
    fn a_database_that_is_overwritten_in_place_is_seen() {
        let (folder, files) = files();
        let of = files.open().unwrap().2;
        let path = folder.path().join("scores.db");
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, [&bytes[..], &[0; 4096]].concat()).unwrap();
        let now = files.seen().unwrap();
        assert_ne!(now, of);
        assert!(!now.is_another_database(&of));
        fs::rename(&path, folder.path().join("older.db")).unwrap();
        assert!(matches!(files.seen(), Err(StoreError::Missing { .. })));
        fs::write(&path, bytes).unwrap();
        assert!(files.seen().unwrap().is_another_database(&of));
    }
}
