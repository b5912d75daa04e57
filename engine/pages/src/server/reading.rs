//! Open databases with their indexes, for as many requests as there are at once. Reading takes place on threads that may
//! wait, so that a slow one holds up no other page.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use scorebox::store::{CaseIndex, Store, StoreError};
use tokio::sync::Semaphore;

use super::ServeError;

/// Requests that read at once; others wait.
const MOST_AT_ONCE: usize = 8;

/// A database and the index of its cases.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) store: Store,
    pub(super) index: CaseIndex,
    /// The file of the database, which is another one once it was replaced.
    file: FileIdentity,
}

/// What distinguishes a file from others: its device and inode, where the system has them.
pub(super) type FileIdentity = (u64, u64);

/// That of the file at a path.
pub(super) fn identity(path: &Path) -> Result<FileIdentity, StoreError> {
    match path.metadata() {
        Ok(metadata) => Ok(identity_of(&metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(StoreError::Missing { path: path.to_owned() })
        }
        // Opening it says what is wrong.
        Err(_) => Ok((0, 0)),
    }
}

#[cfg(unix)]
fn identity_of(metadata: &std::fs::Metadata) -> FileIdentity {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity_of(_: &std::fs::Metadata) -> FileIdentity {
    (0, 0)
}

/// Those that are open and not in use.
#[derive(Debug)]
pub(super) struct Readers {
    pub(super) database: PathBuf,
    index: PathBuf,
    idle: Mutex<Vec<Reader>>,
    places: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn new(database: PathBuf, index: PathBuf) -> Readers {
        let places = Arc::new(Semaphore::new(MOST_AT_ONCE));
        Readers { database, index, idle: Mutex::default(), places }
    }

    /// Opens both files once.
    pub(super) fn check(&self) -> Result<(), ServeError> {
        let file = identity(&self.database).map_err(ServeError::Database)?;
        let store = Store::open_read_only(&self.database).map_err(ServeError::Database)?;
        let index = CaseIndex::open(&self.index).map_err(ServeError::Index)?;
        self.give_back(Reader { store, index, file });
        Ok(())
    }

    /// Lets `read` use one of them.
    pub(super) async fn read<T, E>(
        self: Arc<Self>,
        read: impl FnOnce(&Reader) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        // The semaphore is never closed.
        let place = Arc::clone(&self.places).acquire_owned().await;
        let path = self.database.clone();
        let reading = tokio::task::spawn_blocking(move || {
            let _place = place;
            let reader = self.take()?;
            let read = read(&reader);
            // One that met trouble may be of a file that was replaced: it is opened again.
            if read.is_ok() {
                self.give_back(reader);
            }
            read
        });
        reading.await.unwrap_or_else(|_| {
            Err(StoreError::Corrupt {
                path,
                what: "a page could not be made of what it holds".into(),
            }
            .into())
        })
    }

    fn take(&self) -> Result<Reader, StoreError> {
        // Before it is opened: what replaces it meanwhile is another one.
        let file = identity(&self.database);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|reader| file.as_ref().is_ok_and(|file| reader.file == *file));
        if let Some(reader) = idle.pop() {
            return Ok(reader);
        }
        drop(idle);
        Ok(Reader {
            file: file?,
            store: Store::open_read_only(&self.database)?,
            index: CaseIndex::open(&self.index)?,
        })
    }

    fn give_back(&self, reader: Reader) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
    }
}
