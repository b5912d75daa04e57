//! Opens the two files that are served, the database and the index of its cases, and reports whether their paths still
//! name the opened files, unchanged. Does not examine the content.

use std::{
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use scorebox::store::{CaseIndex, Store, StoreError};

/// A database and the index of its cases.
#[derive(Debug)]
pub(super) struct Files {
    database: PathBuf,
    index: PathBuf,
    /// Held while the index is opened, so that a missing one is created only once.
    opening: Mutex<()>,
}

/// Distinguishes a file from others: its device and inode, if the system has them.
type Identity = (u64, u64);

/// The length of a file, and when it was written and changed. The second time is the system's own, if it has one, which
/// no program can set.
type Written = (u64, Option<SystemTime>, (i64, i64));

/// Both files as they were at some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    database: Identity,
    /// The database's length and times of change: a database that is copied over another one has the same file, and
    /// open connections do not notice that. They also change while a run is stored, whenever SQLite moves its log into
    /// the file; opening the file again then takes a millisecond.
    written: Written,
    /// `None` if the index does not exist.
    index: Option<Identity>,
}

impl Seen {
    /// Whether both files are the same files as then, whatever was written into them.
    pub(super) fn has_same_files(&self, then: &Seen) -> bool {
        self.database == then.database && self.index == then.index
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
            Ok(metadata) => (identity(&metadata), written(&metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(StoreError::Missing { path: self.database.clone() });
            }
            // Opening the file reports what is wrong.
            Err(_) => ((0, 0), (0, None, (0, 0))),
        };
        Ok(Seen { database, written, index: self.index_seen() })
    }

    /// A text that identifies the state of the database's file and its log: only if the system reports when a file was
    /// changed, and only once that is some time ago, so that a later change has a different time.
    pub(super) fn state(&self) -> Option<String> {
        let database = quiet(&self.database.metadata().ok()?)?;
        let mut log = self.database.canonicalize().ok()?.into_os_string();
        log.push("-wal");
        // An empty log is created and removed by readers.
        match fs::metadata(log) {
            Ok(metadata) if metadata.len() > 0 => Some(format!("{database} {}", quiet(&metadata)?)),
            Ok(_) => Some(database),
            Err(error) => (error.kind() == io::ErrorKind::NotFound).then_some(database),
        }
    }

    fn index_seen(&self) -> Option<Identity> {
        self.index.metadata().ok().as_ref().map(identity)
    }

    /// Opens both, and returns their state. A missing index is created, including its folder: a cache may be emptied at
    /// any time.
    ///
    /// # Errors
    /// One of them cannot be opened.
    pub(super) fn open(&self) -> Result<(Store, CaseIndex, Seen), StoreError> {
        // This is before they are opened, so that a file which replaces one in the meantime counts as different.
        let seen = self.seen()?;
        let store = self.open_database()?;
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.index_seen();
        if before.is_none() {
            self.make_folder();
            self.remove_rest_of_index();
            self.make_index();
        }
        let index = CaseIndex::open(&self.index)?;
        self.keep_index_private();
        let index_seen = before.or_else(|| self.index_seen());
        Ok((store, index, Seen { index: index_seen, ..seen }))
    }

    /// Opens only the database.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn open_database(&self) -> Result<Store, StoreError> {
        Store::open_read_only(&self.database)
    }

    /// Creates the folder of the index for this user only. If that fails, opening the index reports what is wrong.
    fn make_folder(&self) {
        let Some(folder) = self.index.parent() else { return };
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let _ = builder.create(folder);
    }

    /// Creates an empty file for this user only, which SQLite fills; the files that SQLite keeps next to it get the
    /// same mode.
    fn make_index(&self) {
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        // If this fails, opening the index reports what is wrong.
        let _ = options.open(&self.index);
    }

    /// Removes other users' access that an older scorebox allowed, or SQLite when it created a damaged index again.
    /// This uses paths, because opening and closing a file releases its locks for all connections of this process.
    fn keep_index_private(&self) {
        #[cfg(unix)]
        for ending in ["", "-wal", "-shm"] {
            use std::os::unix::fs::PermissionsExt as _;
            let mut path = self.index.clone().into_os_string();
            path.push(ending);
            let is_open = |metadata: &Metadata| metadata.permissions().mode() & 0o077 != 0;
            if fs::symlink_metadata(&path).is_ok_and(|it| it.is_file() && is_open(&it)) {
                // This fails only for a user who does not own the file, and the folder is not accessible to others.
                let _ = fs::set_permissions(&path, fs::Permissions::from_mode(0o600));
            }
        }
    }

    /// Removes the files that SQLite kept next to a deleted index: a new index would share them with connections to the
    /// old one.
    fn remove_rest_of_index(&self) {
        for ending in ["-wal", "-shm"] {
            let mut path = self.index.clone().into_os_string();
            path.push(ending);
            // These files usually do not exist.
            let _ = fs::remove_file(path);
        }
    }
}

/// On every file system, files that are changed one after the other with this time between them have different times.
const QUIET: Duration = Duration::from_secs(3);

/// The state of a file, if it was not changed just now.
#[cfg(unix)]
fn quiet(metadata: &Metadata) -> Option<String> {
    let (length, modified, (seconds, nanoseconds)) = written(metadata);
    let changed = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanoseconds).ok()?);
    let age = SystemTime::now().duration_since(UNIX_EPOCH + changed).ok()?;
    let modified = modified?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    let (device, inode) = identity(metadata);
    let words = format!("{device} {inode} {length} {modified} {}", changed.as_nanos());
    (age >= QUIET).then_some(words)
}

#[cfg(not(unix))]
fn quiet(_: &Metadata) -> Option<String> {
    None
}

#[cfg(unix)]
fn written(metadata: &Metadata) -> Written {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.len(), metadata.modified().ok(), (metadata.ctime(), metadata.ctime_nsec()))
}

#[cfg(not(unix))]
fn written(metadata: &Metadata) -> Written {
    (metadata.len(), metadata.modified().ok(), (0, 0))
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

    /// Files in their own folder, with an empty database.
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

    /// `touch -r` and `cp -p` set the time at which a file was written, but not the time at which it was changed.
    #[cfg(unix)]
    #[test]
    fn a_database_that_is_made_to_look_as_old_as_it_was_is_seen() {
        let (folder, files) = files();
        let of = files.open().unwrap().2;
        let file =
            fs::OpenOptions::new().write(true).open(folder.path().join("scores.db")).unwrap();
        let written = file.metadata().unwrap().modified().unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        file.set_modified(written).unwrap();
        assert_ne!(files.seen().unwrap(), of);
        assert_eq!(files.state(), None, "the next change may come at the same time");
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
        assert!(!before.has_same_files(&after));
        assert_eq!(before.database, after.database);
        assert_ne!(fs::read(&log).unwrap(), b"of the old one");
    }

    #[test]
    fn an_index_whose_folder_is_removed_is_made_again_for_this_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        let database = folder.path().join("scores.db");
        drop(Store::open(&database).unwrap());
        let files = Files::new(database, cache.join("pages/cases.index"));
        drop(files.open().unwrap());
        fs::remove_dir_all(&cache).unwrap();
        assert_eq!(files.open().unwrap().1.runs().unwrap(), []);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode =
                |path: &str| cache.join(path).metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode("pages"), 0o700);
            assert_eq!(mode("pages/cases.index"), 0o600);
            let open = fs::Permissions::from_mode(0o644);
            fs::set_permissions(cache.join("pages/cases.index"), open).unwrap();
            let _opened = files.open().unwrap();
            for name in ["cases.index", "cases.index-wal", "cases.index-shm"] {
                assert_eq!(mode(&format!("pages/{name}")), 0o600, "{name}");
            }
        }
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
        assert!(now.has_same_files(&of));
        fs::rename(&path, folder.path().join("older.db")).unwrap();
        assert!(matches!(files.seen(), Err(StoreError::Missing { .. })));
        fs::write(&path, bytes).unwrap();
        assert!(!files.seen().unwrap().has_same_files(&of));
    }
}
