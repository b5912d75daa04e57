//! A run: a suite over cases, from reading to stored rows. Knows no wasmtime, no SQL and no terminal.
//!
//! ```text
//! reading (a thread) ──units──> scoring (tasks) ──rows──> writing (a thread)
//!        └──────────────case──────────────────────────────^
//! ```
//!
//! - `scorers`: the suite's scorers, found, loaded and ready.
//! - `control`: stopping a run, and how far it is; shared with whoever started it.
//! - `reading`: cases one at a time, without those that an earlier session finished.
//! - `message`: what the writer hears, from the reader and from the scoring.
//! - `seen`: whether a case's name may have come before.
//! - `writing`: the one writer; cases and rows in batches.
//! - `reuse`: scores that an earlier run has.
//! - `completeness`: whether every score is there at the end.
//! - `summaries`: what scorers say of the run as a whole.
//! - `error`: why a run did not start, or did not end well.
//!
//! Invariant: the channels are bounded, so that memory does not grow with the number of cases.
//! Invariant: a case reaches the writer before any score of it, because both come over one channel.

mod completeness;
mod control;
mod error;
mod message;
mod reading;
mod reuse;
mod scorers;
mod seen;
mod summaries;
mod writing;

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::mpsc;

use crate::{
    case::CaseReader,
    contract::CONTRACT_VERSION,
    digest::Digest,
    sandbox::{Start, WASMTIME_VERSION},
    scoring::{Places, Scoring, now_ms},
    store::{
        ReuseIndex, RunHandle, RunId, RunSource, RunSpec, RunState, RunWriter, ScorerSpec,
        SessionSpec, Store,
    },
    suite::Suite,
};

pub use crate::scoring::DEFAULT_WAITING;
pub use control::{Control, Progress, Stop};
pub use error::RunError;
use message::RunScorers;
pub use scorers::{ReadyScorer, load_scorers};

/// The version of scorebox, as stored with a run.
pub const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Units that wait for a worker.
const WAITING_UNITS: usize = 2048;
/// Messages that wait for the writer: enough that scoring goes on while the disk takes its time. What
/// they hold is bounded by bytes besides (`room`).
const WAITING_MESSAGES: usize = 2048;

/// What to do with a line that is no case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnBadCase {
    /// Score nothing more, and keep what there is.
    Stop,
    /// Count it, and go on.
    Skip,
}

/// Which run is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhichRun {
    /// One that is not there yet.
    New(RunId),
    /// One that was interrupted: what is missing is scored.
    Resume(RunId),
}

impl WhichRun {
    fn into_id(self) -> RunId {
        match self {
            WhichRun::New(id) | WhichRun::Resume(id) => id,
        }
    }
}

/// All that a run needs.
#[derive(Debug)]
pub struct RunRequest {
    /// The database file; made where it is missing.
    pub database: PathBuf,
    /// The run.
    pub which: WhichRun,
    /// The suite, as it is stored with the run.
    pub suite: Suite,
    /// The suite's scorers, in its order.
    pub scorers: Vec<ReadyScorer>,
    /// The cases.
    pub cases: CaseReader,
    /// Scores that are computed at once, at least 1.
    pub jobs: usize,
    /// Scores beyond these that may wait at once, where a scorer can wait: for files, for a host call. At
    /// least 1. They hold sandboxes while they wait.
    pub waiting: usize,
    /// What to do with a line that is no case.
    pub on_bad_case: OnBadCase,
    /// Whether scores that an earlier run in the database has are copied instead of computed.
    pub reuse: bool,
}

/// How a run went.
#[derive(Debug)]
#[non_exhaustive]
pub struct RunReport {
    /// The run.
    pub run: RunId,
    /// Why it ended before the last case; none where it did not.
    pub stopped: Option<Stop>,
    /// How far it came.
    pub progress: Progress,
    /// One digest of all that is stored of the run; none where it never ended.
    pub root: Option<Digest>,
    /// The first bad cases, where they were skipped.
    pub bad_cases: Vec<String>,
    /// How long it took.
    pub duration: Duration,
}

/// Runs a suite over cases.
///
/// # Errors
/// Where there is nothing to score, or the database does not take it. What was committed before is
/// kept. A bad case, a source that breaks off and a stop by the user are no errors of the run: they
/// are in its report. A stop before the first case is one, for there is no run then.
pub async fn run(request: RunRequest, control: Arc<Control>) -> Result<RunReport, RunError> {
    let started = Instant::now();
    let mut cases = reading::Cases::begin(request.cases, request.on_bad_case, &control)?;
    let mut store = Store::open(&request.database)?;
    let (run, state_before) =
        open_run(&mut store, &request.which, &request.suite, &request.scorers)?;
    if let WhichRun::Resume(_) = request.which {
        cases.skip_finished(Store::open_read_only(&request.database)?, run.clone());
    }
    let scorers: RunScorers = run.scorers.iter().copied().zip(request.scorers).collect();
    if request.reuse {
        let reader = Store::open_read_only(&request.database)?;
        let index = ReuseIndex::new(reader, &run, WASMTIME_VERSION)?;
        // What lies in a folder is known only when it is read, for scoring.
        let reads = scorers.iter().filter(|(_, ready)| !ready.scorer.reads_workspace());
        let reads = reads.map(|(key, ready)| (*key, ready.scorer.info().reads));
        cases.reuse(reuse::Reuse::new(index, reads.collect()));
    }
    let (to_writer, at_writer) = mpsc::channel(WAITING_MESSAGES);
    let writer = {
        let control = Arc::clone(&control);
        let writer = RunWriter::new(store, run);
        let on_bad_case = request.on_bad_case;
        let runtime = tokio::runtime::Handle::current();
        tokio::task::spawn_blocking(move || {
            writing::write_all(writer, at_writer, on_bad_case, &control, &runtime)
        })
    };
    let scoring = {
        let control = Arc::clone(&control);
        let places = Places { jobs: request.jobs, waiting: request.waiting, queued: WAITING_UNITS };
        Scoring::begin(places, &to_writer, move || control.is_stopping())
    };
    let reader = {
        let (control, scorers) = (Arc::clone(&control), Arc::clone(&scorers));
        let units = Arc::clone(scoring.units());
        // The writer ends when the last sender is gone.
        tokio::task::spawn_blocking(move || {
            cases.read_all(&scorers, &units, &to_writer, &control);
        })
    };
    joined(reader.await)?;
    joined(scoring.ended().await)?;
    let writer = joined(writer.await)??;
    if control.stopped_by().is_none()
        && let Some(stop) = completeness::what_is_missing(&writer, &control)?
    {
        control.stop(stop);
    }
    let stopped = control.stopped_by();
    let root = finish(writer, &scorers, stopped.as_ref(), state_before).await?;
    Ok(RunReport {
        run: request.which.into_id(),
        stopped,
        progress: control.progress(),
        root,
        bad_cases: control.bad_cases(),
        duration: started.elapsed(),
    })
}

/// Stores how the run ended; answers with its root. A session that wrote nothing leaves the run as it was,
/// unless there was nothing left to write.
async fn finish(
    mut writer: RunWriter,
    scorers: &RunScorers,
    stopped: Option<&Stop>,
    state_before: Option<RunState>,
) -> Result<Option<Digest>, RunError> {
    let nothing_new = stopped.is_some() || state_before == Some(RunState::Finished);
    if !writer.has_written() && nothing_new {
        return Ok(writer.stored_root()?);
    }
    if stopped.is_none() {
        writer = summaries::write_summaries(writer, scorers).await?;
    }
    let (state, reason) = state_of(stopped);
    Ok(Some(writer.finish(state, reason, now_ms())?))
}

/// How the run's end is stored.
fn state_of(stopped: Option<&Stop>) -> (RunState, Option<&str>) {
    match stopped {
        None => (RunState::Finished, None),
        Some(Stop::Interrupted) => (RunState::Interrupted, None),
        Some(
            Stop::BadCase { message, .. }
            | Stop::Unreadable { message, .. }
            | Stop::Incomplete { message, .. },
        ) => (RunState::Stopped, Some(message)),
    }
}

fn joined<T>(result: Result<T, tokio::task::JoinError>) -> Result<T, RunError> {
    result.map_err(|error| RunError::Broken(error.to_string()))
}

/// The run that is written, and the state that it had where it was there before.
fn open_run(
    store: &mut Store,
    which: &WhichRun,
    suite: &Suite,
    scorers: &[ReadyScorer],
) -> Result<(RunHandle, Option<RunState>), RunError> {
    match which {
        WhichRun::New(id) => {
            let specs: Vec<ScorerSpec> = scorers.iter().map(scorer_spec).collect();
            Ok((store.create_run(&run_spec(id, suite), &specs, &session_spec())?, None))
        }
        WhichRun::Resume(id) => {
            let run = store.run(id.as_str())?;
            error::must_be_the_same(id, &store.scorers(run.key)?, scorers)?;
            Ok((store.resume_run(id.as_str(), &session_spec())?, Some(run.state)))
        }
    }
}

fn run_spec(id: &RunId, suite: &Suite) -> RunSpec {
    RunSpec {
        id: id.clone(),
        suite_name: Some(suite.name.clone()),
        suite_json: suite.to_json(),
        suite_digest: suite.digest(),
        engine_version: ENGINE_VERSION.to_owned(),
        wasmtime_version: WASMTIME_VERSION.to_owned(),
        contract_version: CONTRACT_VERSION.to_owned(),
        source: RunSource::Batch,
        created_at_ms: now_ms(),
    }
}

fn session_spec() -> SessionSpec {
    SessionSpec {
        engine_version: ENGINE_VERSION.to_owned(),
        wasmtime_version: WASMTIME_VERSION.to_owned(),
        host: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        started_at_ms: now_ms(),
    }
}

fn scorer_spec(ready: &ReadyScorer) -> ScorerSpec {
    let info = ready.scorer.info();
    ScorerSpec {
        scorer_id: ready.id.to_string(),
        name: ready.name.clone(),
        component_id: info.id.clone(),
        component_version: info.version.clone(),
        component_digest: ready.scorer.digest(),
        component: ready.component.clone(),
        component_origin: ready.origin.to_string(),
        config_json: ready.scorer.config().as_str().to_owned(),
        config_digest: ready.scorer.config().digest(),
        limits_json: json(ready.scorer.limits()),
        grants_json: json(&ready.grants.iter().collect::<Vec<_>>()),
        info_json: json(info),
        scale: info.scale,
        direction: info.direction,
        severity: info.severity,
        threshold: info.threshold,
        frozen: *ready.scorer.start() == Start::Frozen,
    }
}

/// JSON of a value that is made of strings and numbers only, which cannot fail.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
