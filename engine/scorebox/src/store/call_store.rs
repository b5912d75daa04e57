//! [`CallStore`]: a database as the store of judges' answers, which writes new answers while scores wait for them. The
//! stored form of a call is in `calls`.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
};

use tokio::sync::oneshot;

use super::{Store, StoreError};
use crate::{
    digest::Digest,
    judge::{AskedBy, BoxFuture, Recording, Recordings, RecordingsError},
};

/// How many recordings may wait to be written.
const MAX_WAITING: usize = 4096;
/// How many recordings one transaction writes at most.
const MAX_AT_ONCE: usize = 256;
/// The recordings of a database file. A separate thread writes answers as soon as they arrive, many in one transaction.
#[derive(Debug)]
pub struct CallStore {
    reading: Mutex<Store>,
    /// `None` once the store is being dropped.
    writes: Option<mpsc::SyncSender<Answered>>,
    writing: Option<thread::JoinHandle<()>>,
}

/// A recording to be written, and the channel on which its score waits.
#[derive(Debug)]
struct Answered {
    recording: Arc<Recording>,
    by: Option<AskedBy>,
    written: oneshot::Sender<Result<(), RecordingsError>>,
}

impl CallStore {
    /// Opens the recordings of the database at `path`, which is created if it does not exist.
    ///
    /// # Errors
    /// The file cannot be opened for writing.
    pub fn open(path: &Path) -> Result<CallStore, StoreError> {
        let writer = Store::open(path)?;
        let reading = Mutex::new(Store::open_read_only(path)?);
        let (writes, answers) = mpsc::sync_channel(MAX_WAITING);
        let writing = thread::Builder::new()
            .name("scorebox-calls".into())
            .spawn(move || write(&writer, &answers))
            .map_err(|error| StoreError::Rejected {
                path: PathBuf::from(path),
                what: format!("no thread to write what judges answer: {error}"),
            })?;
        Ok(CallStore { reading, writes: Some(writes), writing: Some(writing) })
    }

    /// Opens the recordings of the database at `path`, for reading only.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open_read_only(path: &Path) -> Result<CallStore, StoreError> {
        let reading = Mutex::new(Store::open_read_only(path)?);
        Ok(CallStore { reading, writes: None, writing: None })
    }

    /// Waits until a recording is written, with who had the question answered.
    async fn written(
        &self,
        recording: Arc<Recording>,
        by: Option<AskedBy>,
    ) -> Result<(), RecordingsError> {
        let Some(writes) = &self.writes else {
            return Err(RecordingsError("the database is open for reading only".into()));
        };
        let ended = || RecordingsError("what writes them ended".into());
        let (written, is_written) = oneshot::channel();
        // Waits if thousands are in the queue, which holds up the caller that asks so fast.
        writes.send(Answered { recording, by, written }).map_err(|_| ended())?;
        is_written.await.map_err(|_| ended())?
    }
}

impl Recordings for CallStore {
    fn find(&self, call: Digest) -> Result<Option<Arc<Recording>>, RecordingsError> {
        let found = lock(&self.reading).recording(call);
        found.map(|found| found.map(Arc::new)).map_err(|error| RecordingsError(error.to_string()))
    }

    fn find_reply(
        &self,
        call: Digest,
        reply: Digest,
    ) -> Result<Option<Arc<Recording>>, RecordingsError> {
        let found = lock(&self.reading).recording_of(call, reply);
        found.map(|found| found.map(Arc::new)).map_err(|error| RecordingsError(error.to_string()))
    }

    fn keep(&self, recording: Arc<Recording>) -> BoxFuture<'_, Result<(), RecordingsError>> {
        Box::pin(self.written(recording, None))
    }

    fn keep_for(
        &self,
        recording: Arc<Recording>,
        by: AskedBy,
    ) -> BoxFuture<'_, Result<(), RecordingsError>> {
        Box::pin(self.written(recording, Some(by)))
    }
}

impl Drop for CallStore {
    /// Waits until everything is written.
    fn drop(&mut self) {
        self.writes = None;
        if let Some(writing) = self.writing.take() {
            let _ = writing.join();
        }
    }
}

/// Locks despite poisoning: the guarded value is consistent after every statement.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes recordings as they arrive: all that wait in one transaction.
fn write(store: &Store, answers: &mpsc::Receiver<Answered>) {
    while let Ok(first) = answers.recv() {
        let mut batch = vec![first];
        batch.extend(answers.try_iter().take(MAX_AT_ONCE - 1));
        let answers = batch.iter().map(|it| (&*it.recording, it.by.as_ref()));
        let kept = store.keep_answers(answers);
        let kept = kept.map_err(|error| RecordingsError(error.to_string()));
        for answered in batch {
            // Nobody listens if the score was cancelled.
            let _ = answered.written.send(kept.clone());
        }
    }
}
