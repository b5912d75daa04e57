//! What happens in a run, as events, and the sinks that take them. Stores nothing.

use std::fmt;

use crate::{advice::Advice, digest::Digest, row::Row, sandbox, store::RunId, suite::ScorerId};

use super::{Control, Progress, Stop};

/// Something that happened in a run.
///
/// A run has one `Started` and, unless it breaks off with an error, one `Ended`, which is the last event. A case
/// comes before its rows; the rows of all cases come in whatever order they are finished. Summaries follow the last
/// row. A `BadCase` comes whenever a line is refused, also before `Started`: a run begins with its first case.
///
/// What is stored is stored first: if the run has a database, a `Case`, `Scored`, `Summary` or `Ended` comes after the
/// commit of what it reports, so another connection finds the row of a `Scored`. Events wait for a commit for a
/// quarter of a second at most.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The run has begun.
    Started(Started),
    /// A case is part of the run; its rows follow.
    Case(CaseAccepted),
    /// A row of the run: a score, or why it is missing.
    Scored(Box<Row>),
    /// A line is not a valid case, or its id is taken; it has no rows.
    BadCase(CaseRefused),
    /// A scorer's summary of the run.
    Summary(ScorerSummary),
    /// The run has ended, and everything is committed.
    Ended(Ended),
}

impl Event {
    /// About how much memory it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let texts = match self {
            Event::Scored(row) => row.bytes(),
            Event::Case(case) => case.case_id.len() + case.node_id.len() + case.source.len(),
            Event::BadCase(refused) => refused.message.len(),
            Event::Started(_) | Event::Summary(_) | Event::Ended(_) => 0,
        };
        size_of::<Event>() + texts
    }
}

/// A run that has begun.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Started {
    /// The run.
    pub run_id: RunId,
    /// Whether an earlier session began it.
    pub is_resumed: bool,
    /// The scorers of each case, in the suite's order.
    pub scorer_ids: Vec<ScorerId>,
}

/// A case that is part of the run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CaseAccepted {
    /// The case's own id.
    pub case_id: String,
    /// The task that it belongs to.
    pub node_id: String,
    /// The task's iteration.
    pub iteration: u32,
    /// The task's attempt.
    pub attempt: u32,
    /// Its place among all lines that are not blank, from 0.
    pub ordinal: u64,
    /// The file that it was read from.
    pub source: String,
    /// The line in that file, from 1.
    pub line: u64,
}

/// A line that is not a case of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaseRefused {
    /// Where, and what is wrong.
    pub message: String,
    /// What to do about it.
    pub advice: Option<Advice>,
}

/// A scorer's summary of the run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ScorerSummary {
    /// The suite's key for the scorer.
    pub scorer_id: ScorerId,
    /// What it says, and what that cost.
    pub summary: sandbox::Summary,
}

/// A run that has ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Ended {
    /// Why it ended before its last case; `None` if it did not.
    pub stopped: Option<Stop>,
    /// How far it came.
    pub progress: Progress,
    /// One digest of all that is stored of the run; `None` if nothing is.
    pub root: Option<Digest>,
}

/// Takes the events of a run: a program, a page, a progress bar. It is called on the thread that writes, one event
/// after the other, while the database is not locked. A slow sink slows the run down; no event is lost.
pub trait Sink: Send {
    /// Takes an event.
    ///
    /// # Errors
    /// If the sink cannot continue. The run ends then: what is in flight is finished, and all that was stored
    /// stays. The sink is not called again.
    fn take(&mut self, event: &Event) -> Result<(), Refused>;
}

impl<F: FnMut(&Event) -> Result<(), Refused> + Send> Sink for F {
    fn take(&mut self, event: &Event) -> Result<(), Refused> {
        self(event)
    }
}

impl Sink for Box<dyn Sink> {
    fn take(&mut self, event: &Event) -> Result<(), Refused> {
        (**self).take(event)
    }
}

impl fmt::Debug for dyn Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sink")
    }
}

/// Why a sink takes no more events.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(String);

impl Refused {
    /// For this reason, in a sentence.
    pub fn new(reason: impl Into<String>) -> Refused {
        Refused(reason.into())
    }
}

/// All sinks of a run.
#[derive(Default)]
pub(super) struct Sinks(Vec<Box<dyn Sink>>);

impl Sinks {
    pub(super) fn add(&mut self, sink: Box<dyn Sink>) {
        self.0.push(sink);
    }

    /// Whether there are none, so that no event needs to be made.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Passes an event to all. A sink that refuses ends the run, and gets no further event.
    pub(super) fn take(&mut self, event: &Event, control: &Control) {
        self.0.retain_mut(|sink| match sink.take(event) {
            Ok(()) => true,
            Err(Refused(reason)) => {
                control.stop(Stop::Refused { message: reason });
                false
            }
        });
    }
}

impl fmt::Debug for Sinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} sinks", self.0.len())
    }
}
