//! Live scoring: a program adds cases as they happen and continues its work; they are scored in the background. The
//! queue and its limits are in `run`.

use std::{path::Path, sync::Arc};

use tokio::{sync::watch, task::JoinHandle};

use crate::{
    case::Case,
    run::{
        CaseQueue, Control, Event, OnBadCase, Progress, QueueCounts, QueueLimits, RunError,
        RunReport, Sink, Stop, Unbroken, WhenFull, fresh_id, run,
    },
    store::{RunId, RunSource, Store, StoreError},
};

use super::{EngineError, LoadedSuite};

/// The default for how many cases may wait.
const DEFAULT_CASES: usize = 10_000;
/// The default for how many bytes of cases may wait: 64 MiB.
const DEFAULT_BYTES: usize = 64 << 20;

/// Live scoring that is being set up. By default 10 000 cases of 64 MiB together may wait; when the queue is full, the
/// oldest waiting case is dropped.
#[derive(Debug)]
#[must_use]
pub struct LiveBuilder {
    suite: LoadedSuite,
    limits: QueueLimits,
    when_full: WhenFull,
    on_bad_case: OnBadCase,
    id: RunId,
    sinks: Vec<Box<dyn Sink>>,
}

impl LoadedSuite {
    /// Starts to set up live scoring, in the background of the program.
    pub fn live(&self) -> LiveBuilder {
        LiveBuilder {
            suite: self.clone(),
            limits: QueueLimits { cases: DEFAULT_CASES, bytes: DEFAULT_BYTES },
            when_full: WhenFull::default(),
            on_bad_case: OnBadCase::Skip,
            id: fresh_id(),
            sinks: Vec::new(),
        }
    }
}

impl LiveBuilder {
    /// How many cases may wait, at least 1.
    pub fn queue_cases(mut self, cases: usize) -> LiveBuilder {
        self.limits.cases = cases.max(1);
        self
    }

    /// How many bytes the waiting cases may have together. A larger case waits alone.
    pub fn queue_bytes(mut self, bytes: usize) -> LiveBuilder {
        self.limits.bytes = bytes;
        self
    }

    /// What happens to a case if the queue is full.
    pub fn when_full(self, when_full: WhenFull) -> LiveBuilder {
        LiveBuilder { when_full, ..self }
    }

    /// What to do with a case that the run refuses because its id is taken: by default it is skipped; otherwise the
    /// scoring ends there.
    pub fn on_bad_case(self, on_bad_case: OnBadCase) -> LiveBuilder {
        LiveBuilder { on_bad_case, ..self }
    }

    /// Sets the id of the run: `"nightly-7".parse()?` makes one.
    pub fn id(self, id: RunId) -> LiveBuilder {
        LiveBuilder { id, ..self }
    }

    /// Passes the events to this sink. A sink that refuses an event ends the scoring.
    pub fn sink(mut self, sink: impl Sink + 'static) -> LiveBuilder {
        self.sinks.push(Box::new(sink));
        self
    }

    /// Begins. Scores are computed on the runtime on which this is called; the run, if it is stored, begins with its
    /// first case. Until it ends, it keeps two of the runtime's threads for work that blocks, as [`run`] does.
    ///
    /// # Errors
    /// If the database cannot be opened, or already has a run with this id.
    pub async fn start(self) -> Result<Live, EngineError> {
        if let Some(database) = self.suite.database.clone() {
            let id = self.id.clone();
            let opened = tokio::task::spawn_blocking(move || must_be_new(&database, &id));
            opened.await.map_err(|error| RunError::Broken(error.to_string()))??;
        }
        let queue = Arc::new(CaseQueue::new(self.limits));
        let (done, is_done) = watch::channel(0);
        let mut unbroken = Unbroken::default();
        let mut request = self
            .suite
            .request(Arc::clone(&queue), self.id.clone())
            .source(RunSource::Live)
            .on_bad_case(self.on_bad_case);
        for sink in self.sinks {
            request = request.sink(sink);
        }
        request = request.sink(move |event: &Event| {
            unbroken.note(event);
            done.send_replace(unbroken.position().ordinal);
            Ok(())
        });
        let control = Arc::new(Control::default());
        let running = {
            let (control, queue) = (Arc::clone(&control), Arc::clone(&queue));
            tokio::spawn(async move {
                // This closes the queue even after a panic.
                let _closing = Closing(queue);
                run(request, control).await
            })
        };
        Ok(Live { queue, when_full: self.when_full, run: self.id, control, is_done, running })
    }
}

fn must_be_new(database: &Path, id: &RunId) -> Result<(), RunError> {
    let store = Store::open(database)?;
    match store.run(id.as_str()) {
        Ok(_) => {
            let (path, id) = (database.to_owned(), id.to_string());
            Err(StoreError::RunExists { path, id }.into())
        }
        Err(StoreError::NoSuchRun { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Closes a queue from which nobody takes cases any more.
struct Closing(Arc<CaseQueue>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Live scoring in progress. Many threads may call it.
///
/// [`shutdown`](Live::shutdown) scores everything that was accepted. If `Live` is dropped without it, no more cases are
/// accepted, and the accepted ones are still scored while the runtime exists.
#[derive(Debug)]
pub struct Live {
    queue: Arc<CaseQueue>,
    when_full: WhenFull,
    run: RunId,
    control: Arc<Control>,
    is_done: watch::Receiver<u64>,
    running: JoinHandle<Result<RunReport, RunError>>,
}

impl Live {
    /// Adds a case to be scored, and returns at once whether it was accepted. Errors in the scoring do not reach the
    /// caller: they are in rows, [`counts`](Live::counts) and the result of [`shutdown`](Live::shutdown). Only with
    /// [`WhenFull::Wait`] does it wait, if the queue is full.
    pub fn score_live(&self, case: Case) -> bool {
        self.queue.put(case, self.when_full)
    }

    /// Skips an ordinal, for an item that was not a case: a case without an id is named after its ordinal, as in a
    /// file.
    pub fn leave_empty(&self) {
        self.queue.leave_empty();
    }

    /// The run that the cases belong to.
    pub fn run_id(&self) -> &RunId {
        &self.run
    }

    /// How many cases were accepted, dropped and refused, and how many wait.
    pub fn counts(&self) -> QueueCounts {
        self.queue.counts()
    }

    /// A function that returns the [`counts`](Live::counts) at any time, even after the shutdown: for metrics.
    pub fn counting(&self) -> impl Fn() -> QueueCounts + Send + Sync + use<> {
        let queue = Arc::clone(&self.queue);
        move || queue.counts()
    }

    /// The progress of the scoring.
    pub fn progress(&self) -> Progress {
        self.control.progress()
    }

    /// Waits until all cases that were accepted before have their rows, stored if there is a database. Returns false if
    /// the scoring ended before that; [`shutdown`](Live::shutdown) reports why.
    pub async fn flush(&self) -> bool {
        let all = self.queue.next_ordinal();
        let mut is_done = self.is_done.clone();
        is_done.wait_for(|done| *done >= all).await.is_ok()
    }

    /// Ends the scoring for this reason: it accepts no more cases, and drops those that wait. Scores that are being
    /// computed are finished, and stored if there is a database.
    pub fn stop(&self, reason: Stop) {
        self.control.stop(reason);
        // This wakes the run if it waits for a case.
        self.queue.close();
    }

    /// Ends the scoring at once: scores that are being computed are dropped too.
    pub fn abort(self) {
        self.stop(Stop::Interrupted);
        self.running.abort();
    }

    /// Accepts no more cases, scores all that were accepted, and ends the run; `None` if there was no case, or if the
    /// scoring was stopped before the first one.
    ///
    /// # Errors
    /// As [`run()`](crate::run::run).
    pub async fn shutdown(mut self) -> Result<Option<RunReport>, RunError> {
        self.queue.close();
        let ended = (&mut self.running).await;
        match ended.unwrap_or_else(|error| Err(RunError::Broken(error.to_string()))) {
            Err(RunError::NoCases { .. } | RunError::Stopped) => Ok(None),
            ended => ended.map(Some),
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.queue.close();
    }
}
