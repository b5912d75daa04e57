//! A run of an engine, and its events as they come. It decides nothing that `run` does not.

use std::{path::PathBuf, sync::Arc};

use tokio::task::JoinHandle;

use crate::{
    run::{
        Control, Event, EventStream, OnBadCase, Progress, RunError, RunReport, RunRequest, Sink,
        Stop, WhichRun, event_stream, fresh_id, load_scorers, run,
    },
    store::RunId,
    suite::Suite,
};

use super::{Cases, Engine, EngineError};

/// A run that is being set up. By default it is a new run with an id from the time, stores nothing, and stops at the
/// first bad line.
#[derive(Debug)]
#[must_use]
pub struct RunBuilder {
    engine: Engine,
    suite: Suite,
    cases: Cases,
    which: WhichRun,
    database: Option<PathBuf>,
    reuse: bool,
    on_bad_case: OnBadCase,
    sinks: Vec<Box<dyn Sink>>,
}

impl RunBuilder {
    pub(super) fn new(engine: Engine, suite: Suite, cases: Cases) -> RunBuilder {
        RunBuilder {
            engine,
            suite,
            cases,
            which: WhichRun::New(fresh_id()),
            database: None,
            reuse: false,
            on_bad_case: OnBadCase::default(),
            sinks: Vec::new(),
        }
    }

    /// Stores the run in this database file, which is created if it is missing.
    pub fn store(self, database: impl Into<PathBuf>) -> RunBuilder {
        RunBuilder { database: Some(database.into()), ..self }
    }

    /// Sets the id of the run: `"nightly-7".parse()?` makes one.
    pub fn id(self, id: RunId) -> RunBuilder {
        RunBuilder { which: WhichRun::New(id), ..self }
    }

    /// Continues the run with this id, which was interrupted: what is missing is scored. It needs the database in which
    /// the run is stored, and the same cases.
    pub fn resume(self, id: RunId) -> RunBuilder {
        RunBuilder { which: WhichRun::Resume(id), ..self }
    }

    /// Copies scores from an earlier run in the database, instead of computing them.
    pub fn reuse(self) -> RunBuilder {
        RunBuilder { reuse: true, ..self }
    }

    /// Counts lines that are not valid cases and continues, instead of stopping at the first.
    pub fn skip_bad_cases(self) -> RunBuilder {
        RunBuilder { on_bad_case: OnBadCase::Skip, ..self }
    }

    /// Passes the run's events to this sink, before each reaches the reader of the run's events.
    pub fn sink(mut self, sink: impl Sink + 'static) -> RunBuilder {
        self.sinks.push(Box::new(sink));
        self
    }

    /// Loads the scorers and starts the run, which continues until its last event or until it is dropped.
    ///
    /// # Errors
    /// If a scorer does not exist or cannot be used. All other errors are those of the run: [`Run::end`].
    pub async fn start(self) -> Result<Run, EngineError> {
        let Engine { sandbox, registry, jobs } = &self.engine;
        let scorers = load_scorers(&self.suite, registry, sandbox).await?;
        let (to_reader, mut events) = event_stream();
        let mut request = RunRequest::new(self.suite, scorers, self.cases.into_reader())
            .which(self.which)
            .reuse(self.reuse)
            .jobs(*jobs)
            .on_bad_case(self.on_bad_case);
        if let Some(database) = self.database {
            request = request.store(database);
        }
        for sink in self.sinks {
            request = request.sink(sink);
        }
        let control = Arc::new(Control::default());
        let (awaited, run) = (events.awaited(), run(request.sink(to_reader), Arc::clone(&control)));
        let running = tokio::spawn(async move {
            let _awaited = awaited;
            run.await
        });
        Ok(Run { events, running: Some(running), control })
    }
}

/// A run in progress.
///
/// It waits while its events are not read: either read them, or [`end`](Run::end) it. If it is dropped, it ends as if
/// interrupted: scores in flight are finished, and what is stored stays and can be resumed. That takes a moment. If its
/// runtime is dropped, it ends in the same way, and the runtime waits for that; `Runtime::shutdown_background` does not
/// wait, and may leave the run marked as running.
#[derive(Debug)]
pub struct Run {
    events: EventStream,
    running: Option<JoinHandle<Result<RunReport, RunError>>>,
    control: Arc<Control>,
}

impl Run {
    /// The next event; `None` after the last one. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.next().await
    }

    /// The progress of the run.
    pub fn progress(&self) -> Progress {
        self.control.progress()
    }

    /// Ends the run: scores in flight are finished and stored, and nothing more begins. Its last events follow.
    pub fn stop(&self) {
        self.control.stop(Stop::Interrupted);
    }

    /// Waits for the end of the run, discards the remaining events, and returns how it went.
    ///
    /// # Errors
    /// As [`run()`](crate::run::run).
    pub async fn end(mut self) -> Result<RunReport, RunError> {
        while self.events.next().await.is_some() {}
        match self.running.take() {
            Some(running) => {
                running.await.unwrap_or_else(|error| Err(RunError::Broken(error.to_string())))
            }
            None => Err(RunError::Stopped),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if self.running.is_some() {
            self.control.abandon();
        }
    }
}
