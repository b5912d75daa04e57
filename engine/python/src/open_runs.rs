//! Limits how many runs this process may have open at once. A run needs its threads until it ends, so a run that had to
//! wait for the threads of runs that wait for the program would wait forever.

use std::sync::Arc;

use pyo3::prelude::*;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{self, Kind};

/// The most streams and runs over files that may be open at once. Each takes about half a megabyte for its threads and
/// queues.
const MOST: usize = 1000;
/// The threads of a run: one reads its cases, and one delivers their rows.
const THREADS_OF_A_RUN: usize = 2;
/// Threads for work that blocks briefly, such as opening a database, and for runs that are ending.
const OTHER_THREADS: usize = 512;
/// The most threads that the runtime needs for work that blocks.
pub(crate) const BLOCKING_THREADS: usize = MOST * THREADS_OF_A_RUN + OTHER_THREADS;

/// The permits of open runs.
#[derive(Debug)]
pub(crate) struct OpenRuns(Arc<Semaphore>);

/// A permit, which a run holds until it drops it.
pub(crate) type Place = OwnedSemaphorePermit;

impl OpenRuns {
    pub(crate) fn new() -> OpenRuns {
        OpenRuns(Arc::new(Semaphore::new(MOST)))
    }

    /// A permit for another run.
    ///
    /// # Errors
    /// If all permits are taken.
    pub(crate) fn place(&self, py: Python<'_>) -> PyResult<Place> {
        Arc::clone(&self.0).try_acquire_owned().map_err(|_| {
            let message = format!("{MOST} streams and runs are open in this process, which is the most");
            let advice = "close streams that are no longer read, `rows.close()`, or score the cases in several processes";
            error::advised(py, Kind::Failed, message, Some(advice.to_owned()))
        })
    }
}
