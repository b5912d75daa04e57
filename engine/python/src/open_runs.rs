//! How many runs this process may have open at once. A run needs its threads until it ends, so one that had to wait for
//! those of runs that wait for the program would wait for ever.

use std::sync::Arc;

use pyo3::prelude::*;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{self, Kind};

/// Streams and runs over files that may be open at once. Each takes about half a megabyte for its threads and queues.
const MOST: usize = 1000;
/// Threads of a run: one reads its cases, and one delivers their rows.
const THREADS_OF_A_RUN: usize = 2;
/// Threads for what blocks for a moment, such as opening a database, and for runs that are ending.
const OTHER_THREADS: usize = 512;
/// Threads that the runtime must have for work that blocks.
pub(crate) const BLOCKING_THREADS: usize = MOST * THREADS_OF_A_RUN + OTHER_THREADS;

/// The places of open runs.
#[derive(Debug)]
pub(crate) struct OpenRuns(Arc<Semaphore>);

/// A place that a run has for as long as this is there.
pub(crate) type Place = OwnedSemaphorePermit;

impl OpenRuns {
    pub(crate) fn new() -> OpenRuns {
        OpenRuns(Arc::new(Semaphore::new(MOST)))
    }

    /// A place for another run.
    ///
    /// # Errors
    /// All places are taken.
    pub(crate) fn place(&self, py: Python<'_>) -> PyResult<Place> {
        Arc::clone(&self.0).try_acquire_owned().map_err(|_| {
            let message = format!("{MOST} streams and runs are open in this process, which is the most");
            let advice = "close streams that are no longer read, `rows.close()`, or score the cases in several processes";
            error::advised(py, Kind::Failed, message, Some(advice.to_owned()))
        })
    }
}
