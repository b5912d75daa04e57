//! Provides open databases with their indexes, one for each simultaneous request. Reading takes place on threads that
//! may block, so that a slow request delays no other page.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use scorebox::store::{CaseIndex, Indexed, RunKey, RunRecord, Store, StoreError};
use tokio::sync::Semaphore;

use super::{
    ServeError,
    belief::Belief,
    files::{Files, Seen},
};

/// How many requests read at once; others wait.
const MAX_AT_ONCE: usize = 8;

/// A database and the index of its cases.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) store: Store,
    /// Its content about a run may be used if the run [is believed](Reader::believes).
    pub(super) index: CaseIndex,
    /// The state of the files when they were opened.
    of: Seen,
    belief: Arc<Belief>,
}

impl Reader {
    /// Whether the index is known to be right about a run.
    pub(super) fn believes(&self, run: RunKey) -> bool {
        self.belief.holds(run, &self.of)
    }

    /// How far a run is indexed; counts as not at all while the index is not known to be right about it.
    pub(super) fn indexed(&self, run: &RunRecord) -> Result<Indexed, StoreError> {
        if self.believes(run.key) { self.index.indexed(run) } else { Ok(Indexed::default()) }
    }

    /// The same as [`Belief::doubts`].
    pub(super) fn doubts(&self) -> Option<u64> {
        self.belief.doubts(&self.of)
    }
}

/// The databases that are open and not in use.
#[derive(Debug)]
pub(super) struct Readers {
    files: Arc<Files>,
    belief: Arc<Belief>,
    idle: Mutex<Vec<Reader>>,
    places: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn new(files: Arc<Files>, belief: Arc<Belief>) -> Readers {
        let places = Arc::new(Semaphore::new(MAX_AT_ONCE));
        Readers { files, belief, idle: Mutex::default(), places }
    }

    /// The path of the database.
    pub(super) fn database(&self) -> &Path {
        self.files.database()
    }

    /// Opens both files once.
    pub(super) fn check(&self) -> Result<(), ServeError> {
        drop(self.files.open_database().map_err(ServeError::Database)?);
        let reader = self.open().map_err(ServeError::Index)?;
        self.give_back(reader);
        Ok(())
    }

    /// Lets `read` use one of the databases.
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
        let path = self.database().to_owned();
        let reading = tokio::task::spawn_blocking(move || {
            let _place = place;
            let reader = self.take()?;
            let read = read(&reader);
            // After an error, the file may have been replaced, so it is opened again.
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
        let now = self.files.seen();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|reader| now.as_ref().is_ok_and(|now| reader.of == *now));
        if let Some(reader) = idle.pop() {
            return Ok(reader);
        }
        drop(idle);
        self.open()
    }

    fn open(&self) -> Result<Reader, StoreError> {
        let (store, index, of) = self.files.open()?;
        Ok(Reader { store, index, of, belief: Arc::clone(&self.belief) })
    }

    fn give_back(&self, reader: Reader) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
    }
}
