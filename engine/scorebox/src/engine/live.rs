//! Live scoring: a program hands over cases as they happen and continues its work; they are scored in the background.
//! The queue and its bounds are `run`'s.

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

/// Cases that wait to be scored, unless something else is said.
const DEFAULT_CASES: usize = 10_000;
/// Bytes of the cases that wait, unless something else is said: 64 MiB.
const DEFAULT_BYTES: usize = 64 << 20;

/// Live scoring that is being set up. By default 10 000 cases of 64 MiB together may wait; when the queue is full, the
/// one that waited longest is dropped.
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
    /// Scores cases beside the program that has them: one that is being set up.
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

    /// How many bytes the cases that wait may have together. A case that has more waits alone.
    pub fn queue_bytes(mut self, bytes: usize) -> LiveBuilder {
        self.limits.bytes = bytes;
        self
    }

    /// What happens to a case if the queue is full.
    pub fn when_full(self, when_full: WhenFull) -> LiveBuilder {
        LiveBuilder { when_full, ..self }
    }

    /// What happens at a case that the run does not take, because its id is taken: it is passed over, unless this says
    /// that the scoring ends there.
    pub fn on_bad_case(self, on_bad_case: OnBadCase) -> LiveBuilder {
        LiveBuilder { on_bad_case, ..self }
    }

    /// Gives the run an id of one's own: `"nightly-7".parse()?` makes one.
    pub fn id(self, id: RunId) -> LiveBuilder {
        LiveBuilder { id, ..self }
    }

    /// Passes what happens to this sink. A sink that refuses ends the scoring.
    pub fn sink(mut self, sink: impl Sink + 'static) -> LiveBuilder {
        self.sinks.push(Box::new(sink));
        self
    }

    /// Begins. Scores are computed on the runtime on which this is called; the run, if it is stored, begins with its
    /// first case. Until it ends, it keeps two of the runtime's threads for work that blocks, as [`run`] does.
    ///
    /// # Errors
    /// If the database cannot be opened, or has a run of this id.
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
                // Also if it ends by a panic.
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

/// Closes a queue that no one takes from any more.
struct Closing(Arc<CaseQueue>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Live scoring that is under way. It may be called from many threads.
///
/// [`shutdown`](Live::shutdown) scores all that was accepted. If it is dropped without, no more is accepted, and what
/// was is still scored while the runtime lives.
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
    /// Hands over a case to be scored, and returns at once; answers whether it was accepted. Nothing that goes wrong
    /// with the scoring reaches the caller: it is in rows, [`counts`](Live::counts) and the answer of
    /// [`shutdown`](Live::shutdown). Only with [`WhenFull::Wait`] it waits, if the queue is full.
    pub fn score_live(&self, case: Case) -> bool {
        self.queue.put(case, self.when_full)
    }

    /// Leaves a place among the cases empty, because what came there was no case: a case without an id is called by its
    /// place, as it is in a file.
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

    /// What answers with the [`counts`](Live::counts) whenever it is asked, also after the shutdown: for metrics.
    pub fn counting(&self) -> impl Fn() -> QueueCounts + Send + Sync + use<> {
        let queue = Arc::clone(&self.queue);
        move || queue.counts()
    }

    /// How far the scoring is.
    pub fn progress(&self) -> Progress {
        self.control.progress()
    }

    /// Waits until all cases that were accepted before have their rows, stored if there is a database. Answers false if
    /// the scoring ended before that; [`shutdown`](Live::shutdown) says why.
    pub async fn flush(&self) -> bool {
        let all = self.queue.next_ordinal();
        let mut is_done = self.is_done.clone();
        is_done.wait_for(|done| *done >= all).await.is_ok()
    }

    /// Ends the scoring for this reason: accepts no more, and drops the cases that wait. What is computed at the moment
    /// is finished, and stored if there is a database.
    pub fn stop(&self, reason: Stop) {
        self.control.stop(reason);
        // What waits for a case sees that none comes.
        self.queue.close();
    }

    /// Ends the scoring at once: what is computed at the moment is dropped, too.
    pub fn abort(self) {
        self.stop(Stop::Interrupted);
        self.running.abort();
    }

    /// Accepts no more, scores all that was accepted, and ends the run; `None` if there was no case, or if the scoring
    /// was stopped before the first.
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
