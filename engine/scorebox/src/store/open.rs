//! Opens a database to write or to read, creates or updates its tables, and refuses every file that is not ours before
//! it changes a byte. It has no default path.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use rusqlite::{
    Connection, ErrorCode, OpenFlags, Transaction, config::DbConfig, ffi, limits::Limit,
};

use super::{
    Store, StoreError,
    effort::Effort,
    schema::{self, Content, MIGRATIONS},
};

/// How long a statement waits for another process before it is [`StoreError::Locked`], unless the store
/// [waits longer](Store::wait_longer).
const PATIENCE: Duration = Duration::from_secs(10);

/// The largest text or row that is read or written: twice the largest component.
const MAX_VALUE_BYTES: i32 = 256 << 20;

/// The page size of a new database, in bytes.
const PAGE_BYTES: i64 = 8 << 10;

/// The log is written into the database when it has this many bytes.
const LOG_BYTES: i64 = 64 << 20;

/// Room in the cache for every statement of this room, so that none is compiled twice.
const STATEMENTS: usize = 32;

impl Store {
    /// Opens the database at `path` to write and read it. A missing or empty file becomes a new
    /// database; one of an older version is brought up to date, all or nothing.
    ///
    /// # Errors
    /// One variant of [`StoreError`] for each reason: not a file, not SQLite, of another program or a newer version, no
    /// permission, read-only, locked, damaged, disk full.
    pub fn open(path: impl AsRef<Path>) -> Result<Store, StoreError> {
        Opening::of(path.as_ref())?.to_write()
    }

    /// Opens the database at `path` for reading only; a run may be writing it meanwhile. It never creates a database,
    /// and writes no row: its only possible change is to bring a database of an older version up to date.
    ///
    /// # Errors
    /// As for [`Store::open`], and [`StoreError::Missing`], [`StoreError::Empty`],
    /// [`StoreError::Older`] and [`StoreError::Unrecovered`].
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Store, StoreError> {
        Opening::of(path.as_ref())?.to_read()
    }

    /// Has each statement wait for other processes beyond the usual patience as long as `waits` says so, which is asked
    /// every millisecond then; the first time of each waiting with `true`.
    pub(crate) fn wait_longer(&mut self, waits: impl FnMut(bool) -> bool + Send + 'static) {
        // Only sets a callback, which no connection refuses.
        let _ = wait_for_locks(&mut self.conn, PATIENCE, waits);
    }
}

/// The file to open, and the two settings that tests change.
struct Opening<'a> {
    path: PathBuf,
    scripts: &'a [&'a str],
    patience: Duration,
}

impl Opening<'_> {
    fn of(path: &Path) -> Result<Opening<'static>, StoreError> {
        // Absolute, because SQLite gives some relative names (`:memory:`, `file:…`) a special meaning.
        let path = std::path::absolute(path)
            .map_err(|_| StoreError::NoCurrentFolder { path: path.to_owned() })?;
        if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Err(StoreError::NotAFile { path });
        }
        Ok(Opening { path, scripts: MIGRATIONS, patience: PATIENCE })
    }

    fn to_write(&self) -> Result<Store, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut store = self.connect(&self.path, flags)?;
        let content = self.checked(&store, schema::looking(&store.conn))?;
        let version = match content {
            Content::Nothing => 0,
            Content::Ours(version) => version,
            Content::Foreign => return Err(StoreError::Foreign { path: self.path.clone() }),
        };
        // Without write permission, SQLite opens the file for reading and reports it only here.
        if store.explained(store.conn.is_readonly("main"))? {
            return Err(StoreError::ReadOnly { path: self.path.clone() });
        }
        store.explained(tune_to_write(&store.conn, self.patience))?;
        if (version as usize) < self.scripts.len() {
            store.explained(schema::migrate(&store.conn, self.scripts))?;
            store.updated_from = Some(version).filter(|version| *version > 0);
        }
        Ok(store)
    }

    fn to_read(&self) -> Result<Store, StoreError> {
        if !self.path.try_exists().unwrap_or(true) {
            return Err(StoreError::Missing { path: self.path.clone() });
        }
        let (store, content) = self.look()?;
        match content {
            Content::Nothing => Err(StoreError::Empty { path: self.path.clone() }),
            Content::Foreign => Err(StoreError::Foreign { path: self.path.clone() }),
            Content::Ours(version) if (version as usize) < self.scripts.len() => {
                drop(store);
                self.update(version)
            }
            Content::Ours(_) => Ok(store),
        }
    }

    /// The content of the file, in a transaction that has just begun: no other process can migrate it between the reads
    /// of its version and its schema.
    ///
    /// # Errors
    /// It has our tables, but with additional or changed objects, or of a newer version.
    fn checked(
        &self,
        store: &Store,
        looking: rusqlite::Result<Transaction<'_>>,
    ) -> Result<Content, StoreError> {
        let looking = store.explained(looking)?;
        let content = store.explained(schema::content(&looking))?;
        if let Content::Ours(found) = content {
            self.ours(store, found)?;
        }
        Ok(content)
    }

    /// A connection that can read, and the content that it sees.
    ///
    /// Opened for writing, with writing switched off afterwards: a connection that SQLite itself knows as
    /// read-only leaves its `-wal` and `-shm` files behind. If the file or the folder can't
    /// be written SQLite falls back by itself, except that a log needs files beside the database, for which a full disk
    /// has no room. Without a log to read they are not needed, and `immutable` says so.
    fn look(&self) -> Result<(Store, Content), StoreError> {
        let store = self.connect(&self.path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // The first statement in this transaction opens the file.
        let looking = schema::looking(&store.conn)
            .and_then(|looking| schema::content(&looking).map(|_| looking));
        let error = looking.as_ref().err();
        if error.is_some_and(|error| is_folder_trouble(error) || is_full_disk(error)) {
            return match (self.has_log(), error.is_some_and(is_full_disk)) {
                (true, true) => Err(StoreError::DiskFull { path: self.path.clone() }),
                (true, false) => Err(StoreError::Unrecovered { path: self.path.clone() }),
                (false, _) => self.look_immutable(),
            };
        }
        let content = self.checked(&store, looking)?;
        store.explained(store.conn.pragma_update(None, "query_only", true))?;
        Ok((store, content))
    }

    /// Whether a part of the data is in the log beside the file.
    fn has_log(&self) -> bool {
        let mut log = self.path.clone().into_os_string();
        log.push("-wal");
        fs::metadata(log).is_ok_and(|log| log.len() > 0)
    }

    fn look_immutable(&self) -> Result<(Store, Content), StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let store = self.connect(Path::new(&immutable_uri(&self.path)), flags)?;
        let content = self.checked(&store, schema::looking(&store.conn))?;
        Ok((store, content))
    }

    /// Brings an older database up to date and opens it.
    fn update(&self, found: u32) -> Result<Store, StoreError> {
        match self.to_write() {
            Ok(written) => Ok(Store { updated_from: written.updated_from, ..self.to_read()? }),
            Err(StoreError::ReadOnly { path } | StoreError::Permission { path }) => {
                Err(StoreError::Older { path, found, known: self.scripts.len() as u32 })
            }
            Err(other) => Err(other),
        }
    }

    /// Refuses a log or a journal that is not a file, because SQLite would open it: with a pipe it would wait forever,
    /// and it would follow a link anywhere.
    fn logs_are_files(&self) -> Result<(), StoreError> {
        let real = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        for ending in ["-wal", "-shm", "-journal"] {
            let mut log = real.clone().into_os_string();
            log.push(ending);
            if fs::symlink_metadata(&log).is_ok_and(|there| !there.is_file()) {
                return Err(StoreError::NotAFileBeside { path: log.into() });
            }
        }
        Ok(())
    }

    fn connect(&self, name: &Path, flags: OpenFlags) -> Result<Store, StoreError> {
        self.logs_are_files()?;
        // Rust ensures that one thread at a time uses a connection, so SQLite need not lock.
        let mut conn = Connection::open_with_flags(name, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(|error| StoreError::from_sqlite(&self.path, error))?;
        wait_for_locks(&mut conn, self.patience, |_| false)
            .map_err(|error| StoreError::from_sqlite(&self.path, error))?;
        let effort = Effort::of(&mut conn);
        let effort = effort.map_err(|error| StoreError::from_sqlite(&self.path, error))?;
        let path = self.path.clone();
        let store = Store { conn, path, effort, rows_read: Arc::default(), updated_from: None };
        store.conn.set_prepared_statement_cache_capacity(STATEMENTS);
        store.explained(distrust(&store.conn))?;
        Ok(store)
    }

    /// Checks that this build knows the version, and that the schema is exactly what that version's scripts create.
    fn ours(&self, store: &Store, found: u32) -> Result<(), StoreError> {
        let known = self.scripts.len() as u32;
        let path = || self.path.clone();
        let Some(scripts) = self.scripts.get(..found as usize) else {
            return Err(StoreError::Newer { path: path(), found, known });
        };
        match store.explained(schema::not_ours(&store.conn, scripts))? {
            Some(what) => Err(StoreError::Strange { path: path(), what }),
            None => Ok(()),
        }
    }
}

/// A file from a stranger must not run functions, triggers or views, write through its own schema, have inconsistent
/// pages, or contain values larger than any of ours. The statements of this room use no trigger and no view.
fn distrust(conn: &Connection) -> rusqlite::Result<()> {
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        conn.set_db_config(setting, on)?;
    }
    conn.pragma_update(None, "trusted_schema", false)?;
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES).map(drop)
}

/// Waits for other processes, looking again every millisecond: SQLite's own waiting soon looks but ten times
/// a second, and would miss the moments in which a run that writes lets others in. Once the patience is over,
/// `waits_on` says whether it waits on; `true` is the first time of a waiting.
fn wait_for_locks(
    conn: &mut Connection,
    patience: Duration,
    mut waits_on: impl FnMut(bool) -> bool + Send + 'static,
) -> rusqlite::Result<()> {
    let (mut since, mut is_first) = (Instant::now(), true);
    conn.busy_handler(Some(move |tries| {
        if tries == 0 {
            (since, is_first) = (Instant::now(), true);
        }
        std::thread::sleep(Duration::from_millis(1));
        since.elapsed() < patience || waits_on(std::mem::replace(&mut is_first, false))
    }))
}

/// The settings of a connection that writes.
fn tune_to_write(conn: &Connection, patience: Duration) -> rusqlite::Result<()> {
    // This affects only a file without pages. Rows are written 10 % faster than with the default of half this size;
    // larger pages make each change of an index larger.
    conn.pragma_update(None, "page_size", PAGE_BYTES)?;
    use_log(conn, patience)?;
    // With a log, NORMAL loses at most the newest commits when the power fails, and the database is always valid; when
    // only the process dies, it loses nothing.
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    // In KiB. With a third more, rows of a million cases with random ids are written 3 % faster, but a long run uses
    // more than 150 MB.
    conn.pragma_update(None, "cache_size", -36 * 1024)?;
    // A checkpoint syncs twice, and writes the index pages that all batches since the last one changed; with random
    // case ids, that is most of the pages, every time.
    let page_bytes: i64 = conn.pragma_query_value(None, "page_size", |row| row.get(0))?;
    conn.pragma_update(None, "wal_autocheckpoint", LOG_BYTES / page_bytes)?;
    // A log that grew during a long read is truncated afterwards.
    conn.pragma_update(None, "journal_size_limit", LOG_BYTES)
}

/// Turns on the write-ahead log. Changing the mode needs exclusive access to the file, and SQLite does not wait for
/// that as it does elsewhere, so two processes that create one file at the same time can conflict here. A file system
/// that does not support the log keeps the slower journal, which is as safe.
fn use_log(conn: &Connection, patience: Duration) -> rusqlite::Result<()> {
    let give_up = Instant::now() + patience;
    loop {
        let asked = conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()));
        match asked {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && Instant::now() < give_up =>
            {
                thread::sleep(Duration::from_millis(5));
            }
            done => return done,
        }
    }
}

fn is_folder_trouble(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

/// Whether there is no room for what SQLite keeps beside the file.
fn is_full_disk(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
        || error
            .sqlite_error()
            .is_some_and(|error| error.extended_code == ffi::SQLITE_IOERR_SHMSIZE)
}

/// `path` as a URI that says to SQLite that no process writes the file.
fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

#[cfg(test)]
mod tests;
