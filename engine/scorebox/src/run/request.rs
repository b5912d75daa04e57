//! What a run is asked for. Checks and opens nothing.

use std::{path::PathBuf, thread};

use crate::{case::CaseReader, store::RunId, suite::Suite};

use super::{DEFAULT_WAITING, ReadyScorer, Sink, event::Sinks, fresh_id::fresh_id};

/// What to do with a line that is not a valid case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBadCase {
    /// Score nothing more, and keep what there is.
    #[default]
    Stop,
    /// Count it, and continue.
    Skip,
}

/// Which run is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhichRun {
    /// A new one.
    New(RunId),
    /// One that was interrupted: what is missing is scored.
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

/// All that a run needs. By default it is a new run with an id made of the time, stores nothing, has a job for each
/// core, and stops at the first bad line.
#[derive(Debug)]
#[must_use]
pub struct RunRequest {
    pub(super) suite: Suite,
    pub(super) scorers: Vec<ReadyScorer>,
    pub(super) cases: CaseReader,
    pub(super) which: WhichRun,
    pub(super) database: Option<PathBuf>,
    pub(super) reuse: bool,
    pub(super) jobs: usize,
    pub(super) waiting: usize,
    pub(super) on_bad_case: OnBadCase,
    pub(super) sinks: Sinks,
}

impl RunRequest {
    /// A run of a suite, as it is stored with the run; of its scorers, in its order; over these cases.
    pub fn new(suite: Suite, scorers: Vec<ReadyScorer>, cases: CaseReader) -> RunRequest {
        RunRequest {
            suite,
            scorers,
            cases,
            which: WhichRun::New(fresh_id()),
            database: None,
            reuse: false,
            jobs: thread::available_parallelism().map_or(1, Into::into),
            waiting: DEFAULT_WAITING,
            on_bad_case: OnBadCase::default(),
            sinks: Sinks::default(),
        }
    }

    /// A new run with an id of one's own, or one that is resumed. Resuming needs a database.
    pub fn which(self, which: WhichRun) -> RunRequest {
        RunRequest { which, ..self }
    }

    /// Stores the run in this database file, which is created if it is missing.
    ///
    /// Without a database, ids are not remembered: two cases with the same id are two cases.
    pub fn store(self, database: impl Into<PathBuf>) -> RunRequest {
        RunRequest { database: Some(database.into()), ..self }
    }

    /// Whether scores that an earlier run in the database has are copied instead of computed.
    pub fn reuse(self, reuse: bool) -> RunRequest {
        RunRequest { reuse, ..self }
    }

    /// How many scores are computed at once, at least 1.
    pub fn jobs(self, jobs: usize) -> RunRequest {
        RunRequest { jobs: jobs.max(1), ..self }
    }

    /// How many scores may wait at once, for files or in a host call, beyond those that compute; at least 1. They
    /// hold sandboxes while they wait.
    pub fn waiting(self, waiting: usize) -> RunRequest {
        RunRequest { waiting: waiting.max(1), ..self }
    }

    /// What to do with a line that is not a valid case.
    pub fn on_bad_case(self, on_bad_case: OnBadCase) -> RunRequest {
        RunRequest { on_bad_case, ..self }
    }

    /// Passes what happens to this sink, after those that were added before.
    pub fn sink(mut self, sink: impl Sink + 'static) -> RunRequest {
        self.sinks.add(Box::new(sink));
        self
    }
}
