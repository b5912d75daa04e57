//! Computes each unit in a separate sandbox. It decides nothing about a score, and keeps none.

use std::{
    ptr,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    sync::{Semaphore, mpsc},
    task::{JoinError, JoinHandle},
};

use super::{Batch, Computed, Finished, Room, Unit, Units, queue::Queue, turns::in_turns};
use crate::{judge::Asking, now::now_ms, sandbox::Outcome, suite::Skip};

/// The most units that a worker takes at once.
const MAX_AT_ONCE: usize = 128;
/// After this many bytes, rows are sent.
const MAX_BYTES_AT_ONCE: usize = 1 << 20;
/// How long the units that a worker takes at once should keep it busy: long enough that passing them costs little, and
/// short enough that workers finish at about the same time.
const BUSY: Duration = Duration::from_millis(2);

/// All tasks of one kind of work. When they are dropped, they end, and what they compute is dropped.
pub(super) struct Workers(Vec<JoinHandle<()>>);

/// What a worker needs.
pub(super) struct Worker<U, M> {
    pub(super) units: Arc<Units<U>>,
    pub(super) rows: mpsc::Sender<M>,
    pub(super) room: Room,
    pub(super) is_stopping: Arc<dyn Fn() -> bool + Send + Sync>,
    /// For which run judges are asked, and until when.
    pub(super) asking: Asking,
    /// The workspaces that may be in memory.
    pub(super) workspaces: Arc<Semaphore>,
}

impl<U, M> Clone for Worker<U, M> {
    fn clone(&self) -> Worker<U, M> {
        Worker {
            units: Arc::clone(&self.units),
            rows: self.rows.clone(),
            room: self.room.clone(),
            is_stopping: Arc::clone(&self.is_stopping),
            asking: self.asking.clone(),
            workspaces: Arc::clone(&self.workspaces),
        }
    }
}

impl Workers {
    /// Starts `jobs` workers for scorers that do not wait and `waiting` workers for those that can; all of them share
    /// `jobs` turns to compute.
    pub(super) fn begin<U: Unit, M: From<Batch<U>> + Send + 'static>(
        worker: &Worker<U, M>,
        jobs: usize,
        waiting: usize,
    ) -> Workers {
        let turns = Arc::new(Semaphore::new(jobs));
        let quick = (0..jobs).map(|_| {
            let work = worker.clone().work(|units| &units.quick, MAX_AT_ONCE);
            tokio::spawn(in_turns(Arc::clone(&turns), work))
        });
        // One unit at a time: if a worker took more, the next one would wait as well.
        let slow = (0..waiting).map(|_| {
            let work = worker.clone().work(|units| &units.slow, 1);
            tokio::spawn(in_turns(Arc::clone(&turns), work))
        });
        Workers(quick.chain(slow).collect())
    }

    /// Waits until all have ended.
    pub(super) async fn ended(&mut self) -> Result<(), JoinError> {
        let mut ended = Ok(());
        // Each stays in the list until it has ended, so that it is aborted if no one waits any more.
        while let Some(worker) = self.0.last_mut() {
            ended = ended.and(worker.await);
            self.0.pop();
        }
        ended
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

impl<U: Unit, M: From<Batch<U>>> Worker<U, M> {
    /// Takes units until there are no more. When the work should stop, what is queued is dropped.
    async fn work(self, queue: fn(&Units<U>) -> &Queue<U>, most_at_once: usize) {
        let mut abandon = AbandonUnlessDone { units: Arc::clone(&self.units), is_done: false };
        let mut at_once = 1;
        loop {
            let mut taken = queue(&self.units).take(at_once).await;
            // Units are sorted by scorer: then what a scorer computes with stays in the processor's caches.
            taken.sort_by_key(|unit| ptr::from_ref(unit.scorer()).addr());
            if taken.is_empty() {
                abandon.is_done = true;
                return;
            }
            let forked = taken.first().and_then(|unit| unit.scorer().of_another_process());
            let (started, count) = (Instant::now(), taken.len());
            let mut finished = Rows::default();
            'taken: for unit in taken {
                let (mut next, mut ahead) = (Some(unit), Vec::new());
                while let Some(unit) = next.take().or_else(|| ahead.pop()) {
                    if (self.is_stopping)() {
                        break 'taken;
                    }
                    let computed = match &forked {
                        Some(outcome) => Computed::NotRun(outcome.clone()),
                        None => computed(&unit, &self.workspaces, &self.asking).await,
                    };
                    ahead.extend(unit.of_result(&computed));
                    finished.add(Finished { unit, computed, scored_at_ms: now_ms() });
                    if finished.bytes >= MAX_BYTES_AT_ONCE && !self.send(&mut finished).await {
                        return;
                    }
                }
            }
            if !self.send(&mut finished).await {
                return;
            }
            at_once = match started.elapsed() < BUSY {
                true => (count * 2).min(most_at_once),
                false => (count / 2).max(1),
            };
        }
    }

    /// Sends the rows; returns whether there is still a receiver.
    async fn send(&self, finished: &mut Rows<U>) -> bool {
        let Rows { rows, bytes } = std::mem::take(finished);
        if rows.is_empty() {
            return true;
        }
        let share = self.room.share(bytes).await;
        self.rows.send(M::from(Batch { rows, _share: share })).await.is_ok()
    }
}

/// What comes of a unit: first it is asked whether the scorer is for the case. The result of a scorer that was not run
/// because the task failed is not there for the same reason.
async fn computed<U: Unit>(unit: &U, workspaces: &Arc<Semaphore>, asking: &Asking) -> Computed {
    let failed = |why: &str| {
        unit.begins();
        Computed::NotRun(Outcome::of_failed_task(why))
    };
    let Some(case) = unit.case() else {
        return unit.failure().map_or(Computed::Skipped(Skip::NoResult), failed);
    };
    if let Some(condition) = unit.condition() {
        match case.holds(condition, workspaces).await {
            Ok(true) => {}
            Ok(false) => return Computed::Skipped(Skip::Condition),
            Err(outcome) => {
                unit.begins();
                return Computed::NotRun(*outcome);
            }
        }
    }
    if let Some(why) = unit.failure() {
        return failed(why);
    }
    unit.begins();
    let output = match unit.output_from().map(|pointer| case.value_at(pointer)).transpose() {
        Ok(output) => output,
        Err(outcome) => return Computed::NotRun(*outcome),
    };
    let score = case.score(unit.scorer(), output, unit.answers(), workspaces, asking);
    let (outcome, input_digest) = score.await;
    Computed::Outcome(outcome, input_digest)
}

/// Rows that are sent together.
struct Rows<U> {
    rows: Vec<Finished<U>>,
    bytes: usize,
}

impl<U> Default for Rows<U> {
    fn default() -> Rows<U> {
        Rows { rows: Vec::new(), bytes: 0 }
    }
}

impl<U> Rows<U> {
    fn add(&mut self, row: Finished<U>) {
        self.bytes += row.bytes();
        self.rows.push(row);
    }
}

/// Tells the source when a worker ends before its queue does, for whatever reason. What is queued then holds room that
/// the source may be waiting for.
struct AbandonUnlessDone<U> {
    units: Arc<Units<U>>,
    is_done: bool,
}

impl<U> Drop for AbandonUnlessDone<U> {
    fn drop(&mut self) {
        if !self.is_done {
            self.units.abandon();
        }
    }
}
