//! Computes scores. A unit is one case and one scorer; `jobs` of them compute at the same time, however many wait.
//! Finished rows are passed on in batches, in the order in which they end. Where units come from and what happens to
//! rows is decided elsewhere: a run reads cases and stores rows, a verification reads rows and compares.
//!
//! ```text
//! source ──units──> scoring (tasks: jobs that compute, and others for scorers that wait) ──batches──> sink
//! ```
//!
//! - `unit`: what is computed, and its outcome.
//! - `case_in_flight`: what the units of one case share: its digests and its files.
//! - `queue`: the units between their source and the workers.
//! - `workers`: compute each unit in a separate sandbox.
//! - `turns`: which tasks compute: a task has a turn as long as it does not wait.
//! - `room`: limits the memory for what is in flight.
//!
//! Invariant: at most `jobs` scores compute at the same time, not counting those that wait.
//! Invariant: queues and channels are bounded, so that memory does not grow with the number of units.

mod case_in_flight;
mod queue;
mod room;
mod turns;
mod unit;
mod workers;

use std::sync::Arc;

use tokio::sync::{Semaphore, mpsc};

pub(crate) use case_in_flight::CaseInFlight;
pub(crate) use queue::Closed;
pub(crate) use room::Room;
pub(crate) use unit::{Batch, Computed, Finished, Unit};

use crate::judge::Asking;

use queue::Queue;
use workers::{Worker, Workers};

/// The most bytes of finished rows that wait to be taken.
const ROOM_FOR_ROWS: usize = 8 << 20;
/// The default for how many scores may wait at the same time: even if all of them hold sandboxes, with the default
/// memory limit they take half of the default budget.
pub const DEFAULT_WAITING: usize = 32;

/// How many scores are computed or wait at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capacity {
    /// How many compute, at least 1.
    pub(crate) jobs: usize,
    /// How many scores of scorers that can wait in a host call may be in progress, at least 1; they compute in the
    /// turns of `jobs`.
    pub(crate) waiting: usize,
    /// How many units of either kind are queued before a source must wait.
    pub(crate) queued: usize,
}

/// The tasks that compute scores. When this is dropped, they end, and what they are computing is dropped.
pub(crate) struct Scoring<U> {
    units: Arc<Units<U>>,
    workers: Workers,
}

impl<U: Unit> Scoring<U> {
    /// Begins to take units and to send rows. `is_stopping` ends the work: what is queued then is dropped. `asking`
    /// says for which run judges are asked, and until when.
    pub(crate) fn begin<M: From<Batch<U>> + Send + 'static>(
        capacity: Capacity,
        rows: &mpsc::Sender<M>,
        asking: Asking,
        is_stopping: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Scoring<U> {
        let units = Arc::new(Units::new(capacity.queued));
        let jobs = capacity.jobs.max(1);
        let worker = Worker {
            units: Arc::clone(&units),
            rows: rows.clone(),
            room: Room::new(ROOM_FOR_ROWS),
            is_stopping: Arc::new(is_stopping),
            asking,
            // There are as many workspaces in memory as jobs.
            workspaces: Arc::new(Semaphore::new(jobs)),
        };
        let workers = Workers::begin(&worker, jobs, capacity.waiting.max(1));
        Scoring { units, workers }
    }

    /// The queue for units.
    pub(crate) fn units(&self) -> &Arc<Units<U>> {
        &self.units
    }

    /// Waits until all workers have ended.
    ///
    /// # Errors
    /// One of them panicked.
    pub(crate) async fn ended(mut self) -> Result<(), tokio::task::JoinError> {
        self.workers.ended().await
    }
}

impl<U> Drop for Scoring<U> {
    fn drop(&mut self) {
        self.units.abandon();
    }
}

/// The queued units. Those of scorers that can wait are separate, so that they do not block the others.
pub(crate) struct Units<U> {
    quick: Queue<U>,
    slow: Queue<U>,
}

impl<U> Units<U> {
    fn new(most: usize) -> Units<U> {
        Units { quick: Queue::new(most), slow: Queue::new(most) }
    }

    /// Adds units, all units of a case together; waits while there are too many. Blocks the thread.
    pub(crate) fn push(&self, units: impl IntoIterator<Item = U>) -> Result<(), Closed>
    where
        U: Unit,
    {
        let (slow, quick): (Vec<U>, Vec<U>) =
            units.into_iter().partition(|unit| unit.scorer().can_wait());
        self.quick.push(quick)?;
        match slow.is_empty() {
            true => Ok(()),
            false => self.slow.push(slow),
        }
    }

    /// Accepts no more units; those that are queued are still computed.
    pub(crate) fn close(&self) {
        self.quick.close();
        self.slow.close();
    }

    /// Accepts no more units, and drops those that are queued.
    fn abandon(&self) {
        self.quick.abandon();
        self.slow.abandon();
    }
}
