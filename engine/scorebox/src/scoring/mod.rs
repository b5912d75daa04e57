//! Computes scores. A unit is one case and one scorer; `jobs` of them compute at once, however many wait.
//! Finished rows are handed on a batch at a time, in whatever order they end. Where units come from, and what
//! happens to rows, is for others: a run reads cases and stores rows, a verification reads rows and compares.
//!
//! ```text
//! source ──units──> scoring (tasks: jobs that compute, and others for scorers that wait) ──batches──> sink
//! ```
//!
//! - `unit`: what is computed, and its outcome.
//! - `case_in_flight`: what the units of one case share: its digests and its files.
//! - `queue`: the units between their source and the workers.
//! - `workers`: each unit in its own sandbox.
//! - `turns`: who computes: a task has a turn as long as it does not wait.
//! - `room`: memory for what is in flight, by bytes.
//!
//! Invariant: no more than `jobs` scores compute at one moment, not counting those that wait.
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

/// Bytes of finished rows that wait to be taken.
const ROOM_FOR_ROWS: usize = 8 << 20;
/// Scores that may wait at once, unless something else is said: with the default limit of memory they
/// take half of the default budget.
pub const DEFAULT_WAITING: usize = 32;

/// How many scores are computed or wait at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capacity {
    /// Those that compute, at least 1.
    pub(crate) jobs: usize,
    /// Those of scorers that can wait in a host call, at least 1; they compute in the turns of `jobs`.
    pub(crate) waiting: usize,
    /// Units of either kind that are queued before a source waits.
    pub(crate) queued: usize,
}

/// The tasks that compute scores. When it is dropped, they end, and what they have in hand is dropped.
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
            // As many workspaces in memory as there are jobs.
            workspaces: Arc::new(Semaphore::new(jobs)),
        };
        let workers = Workers::begin(&worker, jobs, capacity.waiting.max(1));
        Scoring { units, workers }
    }

    /// Where units go in.
    pub(crate) fn units(&self) -> &Arc<Units<U>> {
        &self.units
    }

    /// Waits until all workers have ended.
    ///
    /// # Errors
    /// One of them ended by a panic.
    pub(crate) async fn ended(mut self) -> Result<(), tokio::task::JoinError> {
        self.workers.ended().await
    }
}

impl<U> Drop for Scoring<U> {
    fn drop(&mut self) {
        self.units.abandon();
    }
}

/// The queued units, those of scorers that can wait apart from the others, so that they do not hold the others
/// back.
pub(crate) struct Units<U> {
    quick: Queue<U>,
    slow: Queue<U>,
}

impl<U> Units<U> {
    fn new(most: usize) -> Units<U> {
        Units { quick: Queue::new(most), slow: Queue::new(most) }
    }

    /// Adds units, all of a case side by side; waits while there are too many. Blocks the thread.
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

    /// Takes nothing more; what is queued is still computed.
    pub(crate) fn close(&self) {
        self.quick.close();
        self.slow.close();
    }

    /// Takes nothing more, and drops what is queued.
    fn abandon(&self) {
        self.quick.abandon();
        self.slow.abandon();
    }
}
