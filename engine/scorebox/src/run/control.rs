//! Stopping a run, the reason for it, and the run's progress: the only state that the three parts of a run share with
//! the program that started it. It decides nothing.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use serde::{Serialize, Serializer, ser::SerializeStruct as _};

use crate::{
    advice::{Advice, Advised as _},
    case::{BadCase, CaseReader, Tally},
    judge::Halt,
};

/// What to do with a line that is not a valid case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnBadCase {
    /// Score nothing more, and keep what was scored.
    #[default]
    Stop,
    /// Count it, and continue.
    Skip,
}

/// Why a run ended before its last case.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The program that started it stopped it.
    Interrupted,
    /// A line is not a valid case.
    BadCase {
        /// Where, and what is wrong.
        message: String,
        /// What to do about it.
        advice: Option<Advice>,
    },
    /// Reading the cases failed before their end.
    Unreadable {
        /// Which source, and why.
        message: String,
        /// What to do about it.
        advice: Option<Advice>,
    },
    /// All cases of the input were read, but scores of the run are missing.
    Incomplete {
        /// Which scores, and why.
        message: String,
        /// What to do about it.
        advice: Option<Advice>,
    },
    /// A judge's budget is spent.
    OverBudget {
        /// Whose budget.
        message: String,
        /// What to do about it.
        advice: Option<Advice>,
    },
    /// A judge's provider has asked to wait for so long, without answering any call, that further questions are of no
    /// use now.
    JudgeLimited {
        /// Which judge, and its provider's message.
        message: String,
    },
    /// The system has no more open files, memory or threads for scores.
    OutOfResources {
        /// What it says.
        message: String,
        /// What to do about it.
        advice: Option<Advice>,
    },
    /// A sink takes no more.
    Refused {
        /// Why not.
        message: String,
    },
    /// A part of the run ended by a panic, which is a bug.
    Broken {
        /// The message of the panic.
        message: String,
    },
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stop::Interrupted => "the run was interrupted",
            Stop::BadCase { message, .. }
            | Stop::Unreadable { message, .. }
            | Stop::Incomplete { message, .. }
            | Stop::OverBudget { message, .. }
            | Stop::JudgeLimited { message }
            | Stop::OutOfResources { message, .. }
            | Stop::Refused { message }
            | Stop::Broken { message } => message,
        })
    }
}

impl Stop {
    /// Its name in JSON.
    const fn word(&self) -> &'static str {
        match self {
            Stop::Interrupted => "interrupted",
            Stop::BadCase { .. } => "bad-case",
            Stop::Unreadable { .. } => "unreadable",
            Stop::Incomplete { .. } => "incomplete",
            Stop::OverBudget { .. } => "over-budget",
            Stop::JudgeLimited { .. } => "judge-limited",
            Stop::OutOfResources { .. } => "out-of-resources",
            Stop::Refused { .. } => "refused",
            Stop::Broken { .. } => "broken",
        }
    }
}

/// `{"kind": "bad-case", "message": "…"}`.
impl Serialize for Stop {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut stop = serializer.serialize_struct("Stop", 2)?;
        stop.serialize_field("kind", self.word())?;
        stop.serialize_field("message", &self.to_string())?;
        stop.end()
    }
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Progress {
    /// Cases read in this session; those that are not part of the run, because their id is taken, count as bad.
    pub cases_read: u64,
    /// Cases whose scores are written.
    pub cases_done: u64,
    /// Cases that an earlier session finished.
    pub cases_finished_before: u64,
    /// Lines that are not valid cases of the run.
    pub cases_bad: u64,
    /// Rows written in this session.
    pub scores_written: u64,
    /// How many of these rows are errors.
    pub errors: u64,
    /// How many of these rows are copies of results of an earlier run.
    pub scores_reused: u64,
    /// Rows written in this session because a scorer skips a case; they do not count as scores.
    pub scores_skipped: u64,
    /// Bytes read from the sources, as they are stored.
    pub bytes_read: u64,
    /// The size of all sources in bytes, if they are files.
    pub bytes_total: Option<u64>,
}

/// A line that is not a valid case of the run: where, why, and what to do about it.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) ordinal: u64,
    pub(super) line: u64,
    pub(super) message: String,
    pub(super) advice: Option<Advice>,
}

impl From<BadCase> for Refusal {
    fn from(bad: BadCase) -> Refusal {
        let (ordinal, line, message) = (bad.ordinal, bad.line, bad.to_string());
        Refusal { ordinal, line, message, advice: bad.advice() }
    }
}

/// How many bad cases' messages are kept.
const BAD_CASES_KEPT: usize = 5;

/// The state of a run that is shared with the program that started it.
#[derive(Debug, Default)]
pub struct Control {
    stopping: AtomicBool,
    abandoned: AtomicBool,
    /// Stops the waiting of questions that were not sent yet.
    asking: Halt,
    reading_ended: AtomicBool,
    ending: AtomicBool,
    stopped_by: Mutex<Option<Stop>>,
    bad_cases: Mutex<Vec<String>>,
    cases_read: AtomicU64,
    cases_done: AtomicU64,
    cases_finished_before: AtomicU64,
    cases_accepted: AtomicU64,
    cases_bad: AtomicU64,
    scores_written: AtomicU64,
    errors: AtomicU64,
    scores_reused: AtomicU64,
    scores_skipped: AtomicU64,
    /// The counts of the sources; they are updated as the sources are read, even before the first case.
    bytes_read: OnceLock<Arc<Tally>>,
    bytes_total: AtomicU64,
}

impl Control {
    /// Ends the run: scores in flight are finished and written, and nothing more begins, including questions to a
    /// judge. The first reason counts.
    pub fn stop(&self, reason: Stop) {
        // A spent budget already ends the questions that it counts. Questions that began within it still wait for their
        // turn.
        if !matches!(reason, Stop::OverBudget { .. }) {
            self.asking.order();
        }
        locked(&self.stopped_by).get_or_insert(reason);
        self.stopping.store(true, Ordering::Release);
    }

    /// Ends a run that no one waits for any more; its runtime may end before it.
    pub(crate) fn abandon(&self) {
        self.abandoned.store(true, Ordering::Release);
        self.stop(Stop::Interrupted);
    }

    /// Whether no one waits for the run any more.
    pub(super) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Acquire)
    }

    /// Ends the reading: cases that were read before are still scored and written, so that a bad line always leaves the
    /// same scores behind. The first reason counts.
    pub(super) fn end_reading(&self, reason: Stop) {
        locked(&self.stopped_by).get_or_insert(reason);
        self.reading_ended.store(true, Ordering::Release);
    }

    /// Whether reading should end.
    pub(super) fn is_reading_ended(&self) -> bool {
        self.reading_ended.load(Ordering::Acquire) || self.is_stopping()
    }

    /// Stops the waiting of questions that were not sent yet.
    pub(super) fn asking(&self) -> &Halt {
        &self.asking
    }

    /// Whether the run should end.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Records that no case is left. What follows is the check for missing scores, the summaries and the root.
    pub(super) fn note_ending(&self) {
        self.ending.store(true, Ordering::Relaxed);
    }

    /// Whether every case is done, but the run has not ended yet: summaries and root have yet to be made, for which all
    /// rows are read if the run was resumed.
    pub fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Relaxed)
    }

    /// Why the run ends before its last case.
    pub fn stopped_by(&self) -> Option<Stop> {
        locked(&self.stopped_by).clone()
    }

    /// The progress of the run.
    pub fn progress(&self) -> Progress {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Progress {
            cases_read: read(&self.cases_read),
            cases_done: read(&self.cases_done),
            cases_finished_before: read(&self.cases_finished_before),
            cases_bad: read(&self.cases_bad),
            scores_written: read(&self.scores_written),
            errors: read(&self.errors),
            scores_reused: read(&self.scores_reused),
            scores_skipped: read(&self.scores_skipped),
            bytes_read: self.bytes_read.get().map_or(0, |tally| tally.bytes()),
            bytes_total: Some(read(&self.bytes_total)).filter(|bytes| *bytes > 0),
        }
    }

    /// The first bad cases that were skipped.
    pub(super) fn bad_cases(&self) -> Vec<String> {
        locked(&self.bad_cases).clone()
    }

    pub(super) fn note_sources(&self, reader: &CaseReader) {
        self.bytes_total.store(reader.total_bytes().unwrap_or(0), Ordering::Relaxed);
        self.bytes_read.get_or_init(|| reader.tally());
    }

    pub(super) fn note_read(&self) {
        self.cases_read.fetch_add(1, Ordering::Relaxed);
    }

    /// Undoes the count of a case that was read but does not belong to the run, because its id is taken.
    pub(super) fn forget_read(&self) {
        self.cases_read.fetch_sub(1, Ordering::Relaxed);
    }

    pub(super) fn note_finished_before(&self) {
        self.cases_finished_before.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn note_accepted(&self) {
        self.cases_accepted.fetch_add(1, Ordering::Relaxed);
    }

    /// The cases of the run that were read in this session: stored by it, or known from an earlier one.
    pub(super) fn cases_of_the_run(&self) -> u64 {
        self.cases_accepted.load(Ordering::Relaxed)
            + self.cases_finished_before.load(Ordering::Relaxed)
    }

    /// Counts a bad case, and ends the reading if the run should stop at a bad case.
    pub(super) fn bad_case(&self, refusal: &Refusal, on_bad_case: OnBadCase) {
        let Refusal { message, advice, .. } = refusal;
        self.note_bad_case(message.clone());
        if on_bad_case == OnBadCase::Stop {
            let (message, advice) = (message.clone(), advice.clone());
            self.end_reading(Stop::BadCase { message, advice });
        }
    }

    pub(super) fn note_bad_case(&self, message: String) {
        self.cases_bad.fetch_add(1, Ordering::Relaxed);
        let mut kept = locked(&self.bad_cases);
        if kept.len() < BAD_CASES_KEPT {
            kept.push(message);
        }
    }

    pub(super) fn note_row(&self, is_error: bool, is_reused: bool) {
        self.scores_written.fetch_add(1, Ordering::Relaxed);
        self.errors.fetch_add(u64::from(is_error), Ordering::Relaxed);
        self.scores_reused.fetch_add(u64::from(is_reused), Ordering::Relaxed);
    }

    pub(super) fn note_skipped(&self) {
        self.scores_skipped.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn note_case_done(&self) {
        self.cases_done.fetch_add(1, Ordering::Relaxed);
    }
}

/// The state behind these locks is consistent after every statement, so a panic elsewhere does no harm.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
