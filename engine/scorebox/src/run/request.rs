//! The options of a run. It checks and opens nothing.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use crate::{
    case::CaseReader,
    store::{RunId, RunSource},
    suite::Suite,
};

use super::{
    DEFAULT_WAITING, OnBadCase, ReadyScorer, Sink, case_source::CaseSource, event::Sinks,
    fresh_id::fresh_id, gathering::Gathered, queue::CaseQueue, waiting::Waiting,
};

/// Which run is written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhichRun {
    /// A new run.
    New(RunId),
    /// A run that was interrupted: what is missing is scored.
    Resume(RunId),
}

impl WhichRun {
    /// The run's id.
    pub fn id(&self) -> &RunId {
        match self {
            WhichRun::New(id) | WhichRun::Resume(id) => id,
        }
    }
}

/// Everything that a run needs. By default it is a new run with an id from the time, stores nothing, has a job for each
/// core, and stops at the first bad line.
#[derive(Debug)]
#[must_use]
pub struct RunRequest {
    pub(super) suite: Suite,
    pub(super) scorers: Arc<[ReadyScorer]>,
    pub(super) cases: CaseSource,
    pub(super) source: RunSource,
    pub(super) which: WhichRun,
    pub(super) database: Option<PathBuf>,
    pub(super) reuse: bool,
    pub(super) jobs: usize,
    pub(super) waiting: usize,
    pub(super) on_bad_case: OnBadCase,
    pub(super) sinks: Sinks,
    pub(super) gathered: Option<Gathered>,
    pub(super) waits_for_database: Option<Waiting>,
}

impl RunRequest {
    /// A run of `suite`, as it is stored with the run, with its scorers, in its order, over these cases.
    pub fn new(
        suite: Suite,
        scorers: impl Into<Arc<[ReadyScorer]>>,
        cases: CaseReader,
    ) -> RunRequest {
        RunRequest::of(suite, scorers.into(), cases.into())
    }

    /// The same over cases that a program adds.
    pub(crate) fn queued(
        suite: Suite,
        scorers: Arc<[ReadyScorer]>,
        cases: Arc<CaseQueue>,
    ) -> RunRequest {
        RunRequest::of(suite, scorers, cases.into())
    }

    fn of(suite: Suite, scorers: Arc<[ReadyScorer]>, cases: CaseSource) -> RunRequest {
        RunRequest {
            suite,
            scorers,
            cases,
            source: RunSource::Batch,
            which: WhichRun::New(fresh_id()),
            database: None,
            reuse: false,
            jobs: thread::available_parallelism().map_or(1, Into::into),
            waiting: DEFAULT_WAITING,
            on_bad_case: OnBadCase::default(),
            sinks: Sinks::default(),
            gathered: None,
            waits_for_database: None,
        }
    }

    /// A new run with a chosen id, or a resumed run. Resuming needs a database.
    pub fn which(self, which: WhichRun) -> RunRequest {
        RunRequest { which, ..self }
    }

    /// Stores the run in this database file, which is created if it is missing.
    ///
    /// Without a database, ids are not remembered: two cases with the same id are two cases.
    pub fn store(self, database: impl Into<PathBuf>) -> RunRequest {
        RunRequest { database: Some(database.into()), ..self }
    }

    /// Waits for a database that another process has locked, as long as it takes: until the run is to end. A batch waits
    /// so once it has begun, and a live run, whose cases do not wait, from its first case on. `notice` is called with
    /// the database's path, on the thread that writes, when a wait has taken ten seconds. By default a run ends then,
    /// with [`StoreError::Locked`](crate::store::StoreError::Locked).
    pub fn waiting_for_the_database(self, notice: impl Fn(&Path) + Send + 'static) -> RunRequest {
        RunRequest { waits_for_database: Some(Waiting::new(notice)), ..self }
    }

    /// How the cases come, as it is stored: [`RunSource::Batch`] unless something else is said. A live run may be
    /// resumed with other cases, which are added to those that it has.
    pub fn source(self, source: RunSource) -> RunRequest {
        RunRequest { source, ..self }
    }

    /// Collects all rows for a program that has no database for them.
    pub(super) fn gather(self, rows: Gathered) -> RunRequest {
        RunRequest { gathered: Some(rows), ..self }
    }

    /// Whether scores are copied from an earlier run in the database instead of computed.
    pub fn reuse(self, reuse: bool) -> RunRequest {
        RunRequest { reuse, ..self }
    }

    /// How many scores are computed at the same time, at least 1.
    pub fn jobs(self, jobs: usize) -> RunRequest {
        RunRequest { jobs: jobs.max(1), ..self }
    }

    /// How many scores may wait at the same time, for files, for judges or in a host call, in addition to those that
    /// compute; at least 1. Only those in a host call hold sandboxes while they wait.
    pub fn waiting(self, waiting: usize) -> RunRequest {
        RunRequest { waiting: waiting.max(1), ..self }
    }

    /// What to do with a line that is not a valid case.
    pub fn on_bad_case(self, on_bad_case: OnBadCase) -> RunRequest {
        RunRequest { on_bad_case, ..self }
    }

    /// Passes the run's events to this sink, after those that were added before.
    pub fn sink(mut self, sink: impl Sink + 'static) -> RunRequest {
        self.sinks.add(Box::new(sink));
        self
    }
}
