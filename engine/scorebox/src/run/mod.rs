//! A run: a suite over cases, from reading to rows, which are stored and passed on as they come. It knows nothing of
//! wasmtime, SQL or a terminal.
//!
//! ```text
//! reading (a thread) ──units──> scoring (tasks) ──rows──> delivering (a thread) ──> keeper ──events──> sinks
//!        └──────────────case──────────────────────────────^
//! ```
//!
//! - `request`: the options of a run.
//! - `fresh_id`: an id for a run that has none.
//! - `scorers`: the suite's scorers, found, loaded and ready.
//! - `control`: stopping a run, and its progress; shared with the program that started it.
//! - `case_source`: where cases come from: lines, or a queue that a program fills.
//! - `queue`: cases that a program adds during the run.
//! - `opening`: the beginning of a run: the first case, the database, the results of earlier sessions and runs.
//! - `same_plan`: whether a resumed run has the scorers that it began with.
//! - `reading`: cases one at a time, without those that an earlier session finished.
//! - `message`: what the reader and the scoring deliver.
//! - `selecting`: which scorers skip a case.
//! - `subjects`: which scorers score the results of which others.
//! - `seen`: whether a case's name may have come before.
//! - `deciding`: the verdict of a case as its rows come, for the sinks.
//! - `event`: the events of a run, and the sinks that receive them.
//! - `beginnings`: when scorers began with a case, for the sinks.
//! - `stream`: a sink that passes events to a reader.
//! - `following`: how far a followed file was scored, for a later process.
//! - `unbroken`: up to where a run has no gap.
//! - `gathering`: all rows of a run, for a program.
//! - `waiting`: how long a run waits for a database that another process has locked.
//! - `keeping`: what keeps cases and rows, and so decides which are part of the run: a database, or nothing.
//! - `delivering`: cases and rows in batches to the keeper, and what it took to the sinks.
//! - `reuse`: scores that an earlier run has.
//! - `rows`: all rows of a few cases, for programs that keep them themselves.
//! - `completeness`: whether every score exists at the end.
//! - `ending`: the scorers' summaries of the whole run, and how its end is stored.
//! - `error`: why a run did not start, or did not end well.
//!
//! Invariant: the channels are bounded, so that memory does not grow with the number of cases.
//! Invariant: a case is delivered before any score of it, because both use the same channel.
//! Invariant: a sink sees nothing that the keeper has not accepted and committed.

mod beginnings;
mod case_source;
mod completeness;
mod control;
mod deciding;
mod delivering;
mod ending;
mod error;
mod event;
mod following;
mod fresh_id;
mod gathering;
mod keeping;
mod message;
mod opening;
mod queue;
mod reading;
mod request;
mod reuse;
mod rows;
mod same_plan;
mod scorers;
mod seen;
mod selecting;
mod stream;
mod subjects;
mod unbroken;
mod waiting;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    runtime::Handle,
    sync::{mpsc, oneshot},
    task::{JoinError, JoinHandle},
};

use crate::{
    advice::Advised,
    digest::Digest,
    judge::Asking,
    scoring::{Capacity, Scoring},
    store::RunId,
};

pub use crate::scoring::DEFAULT_WAITING;
pub use control::{Control, OnBadCase, Progress, Stop};
pub use error::RunError;
pub use event::{
    CaseAccepted, CaseFinished, CaseRefused, Ended, Event, Refused, ScorerEnded, ScorerStarted,
    ScorerSummary, Sink, Started,
};
pub use following::FollowKeeper;
pub use fresh_id::fresh_id;
pub use keeping::{case_to_store, summary_to_store};
pub(crate) use queue::{CaseQueue, QueueLimits};
pub use queue::{QueueCounts, WhenFull};
pub use request::{RunRequest, WhichRun};
pub use rows::{score_rows, stored_plan};
pub use scorers::{ReadyCondition, ReadyScorer, load_scorer, load_scorers, load_scorers_watched};
pub use stream::{EventStream, event_stream};
pub(crate) use unbroken::Unbroken;

use delivering::Delivering;
use message::{Message, RunScorers};
use opening::{Opened, Opening};
use reading::Cases;

/// The version of scorebox, as stored with a run.
pub const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The most units that wait for a worker.
const WAITING_UNITS: usize = 2048;
/// The most messages that wait to be delivered: enough for scoring to continue while the disk is slow. Their content is
/// bounded in bytes as well.
const WAITING_MESSAGES: usize = 2048;

/// How a run went.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunReport {
    /// The run.
    pub run: RunId,
    /// Why it ended before the last case; `None` if it reached the last case.
    pub stopped: Option<Stop>,
    /// Its progress.
    pub progress: Progress,
    /// One digest of everything that is stored of the run; `None` if it never ended, or if nothing is stored.
    pub root: Option<Digest>,
    /// The first bad cases, if they were skipped.
    pub bad_cases: Vec<String>,
    /// How long it took.
    pub duration: Duration,
}

/// Runs a suite over cases. If the future is dropped, the run ends as if interrupted.
///
/// Until it ends, it keeps two of the runtime's threads for work that blocks. A runtime has 512 unless its builder says
/// otherwise (`max_blocking_threads`), and a run for which none is left begins when others have ended.
///
/// # Errors
/// If there is nothing to score, or the database cannot store it ([`RunError::BrokeOff`] if it accepted a part). What
/// was committed before is kept. A bad case, a source that ends with an error, a sink that refuses an event and a stop
/// by the user are not errors of the run: the report contains them. A stop before the first case is an error, because
/// then there is no run.
pub async fn run(request: RunRequest, control: Arc<Control>) -> Result<RunReport, RunError> {
    let started = Instant::now();
    let mut stop = StopWhenDropped(Some(Arc::clone(&control)));
    let (capacity, scorers) = (capacity(&request), Arc::clone(&request.scorers));
    let id = request.which.id().clone();
    let (to_sinks, at_sinks) = mpsc::channel(WAITING_MESSAGES);
    let (to_reading, opened) = oneshot::channel();
    let delivering = begin_delivering(request, at_sinks, to_reading, &control);
    let Ok(cases) = opened.await else {
        return Err(delivering.await.map_err(broken)?.err().unwrap_or(RunError::Stopped));
    };
    let scoring = {
        let (control, stop) = (Arc::clone(&control), control.asking().clone());
        let asking = Asking { run: Some(id.as_str().into()), stop };
        Scoring::begin(capacity, &to_sinks, asking, move || control.is_stopping())
    };
    let reading = blocking(&control, {
        let (units, to_sinks) = (Arc::clone(scoring.units()), to_sinks.clone());
        move |control| cases.read_all(&scorers, &units, &to_sinks, &control)
    });
    let read = reading.await.map_err(broken);
    let scored = scoring.ended().await.map_err(broken);
    let all_read_and_scored = read.and(scored);
    if let Err(error) = &all_read_and_scored {
        control.stop(Stop::Broken { message: error.to_string() });
    }
    // The sinks end when the last sender is gone.
    drop(to_sinks);
    let delivered = delivering.await.map_err(broken);
    stop.0 = None;
    all_read_and_scored?;
    let root = delivered??;
    Ok(RunReport {
        run: id,
        stopped: control.stopped_by(),
        progress: control.progress(),
        root,
        bad_cases: control.bad_cases(),
        duration: started.elapsed(),
    })
}

/// Opens the run, sends its cases to `to_reading`, delivers what arrives `at_sinks`, and ends the run; all on one
/// thread, so that the run's end is stored even if the future that waits for it is dropped.
fn begin_delivering(
    request: RunRequest,
    at_sinks: mpsc::Receiver<Message>,
    to_reading: oneshot::Sender<Cases>,
    control: &Arc<Control>,
) -> JoinHandle<Result<Option<Digest>, RunError>> {
    let (source, on_bad_case) = (request.source, request.on_bad_case);
    let (run, scorers) = (request.which.id().clone(), Arc::clone(&request.scorers));
    let opening = Opening {
        cases: request.cases,
        source,
        database: request.database,
        which: request.which,
        suite: request.suite,
        reuse: request.reuse,
        waiting: request.waits_for_database,
        on_bad_case,
        sinks: request.sinks,
        gathered: request.gathered,
        scorers: request.scorers,
    };
    let runtime = Handle::current();
    blocking(control, move |control| {
        let Opened { cases, keeper, sinks, state_before } = opening.open(&control)?;
        // If the future was dropped, nobody reads the cases.
        let _ = to_reading.send(cases);
        let mut delivering =
            Delivering::new(run.clone(), keeper, sinks, scorers, on_bad_case, control);
        let delivered = delivering
            .deliver_all(at_sinks)
            .and_then(|()| ending::end(&mut delivering, state_before, source, &runtime));
        if let Err(error) = &delivered {
            // Scores from here on could not be kept.
            let (message, advice) = (error.to_string(), error.advice());
            delivering.control.stop(Stop::Unreadable { message, advice });
        }
        delivered.map_err(|error| RunError::BrokeOff { run, error })
    })
}

/// The capacity that a run needs: enough for all scores that ask judges.
fn capacity(request: &RunRequest) -> Capacity {
    let waiting = request.waiting.max(most_asking(&request.scorers));
    Capacity { jobs: request.jobs, waiting, queued: WAITING_UNITS }
}

/// How many scores may ask judges at the same time: twice as many as the calls that judges answer at once. Answers
/// often arrive together; while they are recorded and used, as many questions wait to take their places.
fn most_asking(scorers: &RunScorers) -> usize {
    let judges = scorers.first().map(|ready| ready.scorer.judges());
    let asks = scorers.iter().any(|ready| ready.scorer.asks_judge());
    judges.filter(|_| asks).map_or(0, |judges| judges.concurrency().saturating_mul(2))
}

/// `work` on a thread that may block, once the runtime has one.
fn blocking<T: Send + 'static>(
    control: &Arc<Control>,
    work: impl FnOnce(Arc<Control>) -> T + Send + 'static,
) -> JoinHandle<T> {
    let control = Arc::clone(control);
    tokio::task::spawn_blocking(move || work(control))
}

fn broken(error: JoinError) -> RunError {
    RunError::Broken(error.to_string())
}

/// Ends a run whose future is dropped.
struct StopWhenDropped(Option<Arc<Control>>);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        if let Some(control) = &self.0 {
            control.abandon();
        }
    }
}

/// The JSON of a value with only strings and numbers, which cannot fail.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
