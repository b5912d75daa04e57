//! The events of a run, which can be written as JSON, and the sinks that receive them. It stores nothing.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use serde::{Serialize, Serializer, ser::SerializeMap as _};

use crate::{
    advice::Advice,
    case::TraceContext,
    digest::Digest,
    panic_message::panic_message,
    row::{AnswerError, Json, Row, Status, milliseconds},
    sandbox,
    store::RunId,
    suite::ScorerId,
    verdict::Verdict,
};

use super::{Control, Progress, Stop, control::Refusal};

/// Something that happened in a run.
///
/// A run has one `Started` and, unless it fails with an error, one `Ended`, which is the last event. A case comes
/// before its rows, and `CaseFinished` after the last of them; the rows of all cases come in the order in which they
/// are finished. Accepted cases and refused lines come in the order of their ordinals. Summaries follow the last row. A
/// `BadCase` may come before `Started`: a run begins with its first case.
///
/// A score has a `ScorerStarted`, and then a `ScorerFinished` or a `ScorerFailed`. A score that is copied from an
/// earlier run has no `ScorerStarted`, because nothing began, and a scorer that skips a case has no event at all.
///
/// Storing comes first: if the run has a database, all other events come after the commit of what they report, so
/// another connection finds the row of a `ScorerFinished`. Events wait for a commit for a quarter of a second at most;
/// a `ScorerStarted` states when the scorer began.
///
/// As JSON an event is an object whose `type` is `RunStarted`, `CaseAccepted`, `CaseFinished`, `CaseRefused`,
/// `ScorerStarted`, `ScorerFinished`, `ScorerFailed`, `ScorerSummarized` or `RunEnded`; `docs/events.md` lists its
/// keys.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum Event {
    /// The run has begun.
    #[serde(rename = "RunStarted")]
    Started(Started),
    /// A case is part of the run; its rows follow.
    #[serde(rename = "CaseAccepted")]
    Case(CaseAccepted),
    /// All rows of a case are complete.
    CaseFinished(CaseFinished),
    /// A line is not a valid case, or its id is taken; it has no rows.
    #[serde(rename = "CaseRefused")]
    BadCase(CaseRefused),
    /// A scorer has begun to evaluate a case.
    ScorerStarted(Box<ScorerStarted>),
    /// A scorer has evaluated a case: there is a score, or it does not apply.
    ScorerFinished(Box<ScorerEnded>),
    /// A scorer has failed at a case: there is no score, although there should be.
    ScorerFailed(Box<ScorerEnded>),
    /// A scorer has summarized the run.
    #[serde(rename = "ScorerSummarized")]
    Summary(ScorerSummary),
    /// The run has ended, and everything is committed.
    #[serde(rename = "RunEnded")]
    Ended(Ended),
}

impl Event {
    /// The row that it reports, for a `ScorerFinished` or a `ScorerFailed`.
    pub fn row(&self) -> Option<&Row> {
        match self {
            Event::ScorerFinished(ended) | Event::ScorerFailed(ended) => Some(&ended.row),
            _ => None,
        }
    }

    /// The outcome of a scorer on a case.
    pub(super) fn of_scorer(ended: ScorerEnded) -> Event {
        match ended.row.answer.status {
            Status::Error => Event::ScorerFailed(Box::new(ended)),
            _ => Event::ScorerFinished(Box::new(ended)),
        }
    }

    /// Its approximate size in memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let texts = match self {
            Event::ScorerStarted(started) => {
                size_of::<ScorerStarted>()
                    + started.scorer_name.len()
                    + started.case_id.len()
                    + started.node_id.len()
            }
            Event::ScorerFinished(ended) | Event::ScorerFailed(ended) => {
                size_of::<ScorerEnded>() + ended.scorer_name.len() + ended.row.bytes()
            }
            Event::Case(case) => case.case_id.len() + case.node_id.len() + case.source.len(),
            Event::CaseFinished(case) => case.case_id.len() + case.node_id.len(),
            Event::BadCase(refused) => refused.message.len(),
            Event::Started(_) | Event::Summary(_) | Event::Ended(_) => 0,
        };
        size_of::<Event>() + texts
    }
}

/// A run that has begun.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Started {
    /// The run.
    pub run_id: RunId,
    /// Whether an earlier session began it.
    pub is_resumed: bool,
    /// The scorers of each case, in the suite's order.
    pub scorer_ids: Vec<ScorerId>,
    /// How many of them have compiled code from the cache.
    pub scorers_cached: usize,
    /// When, in milliseconds since 1970 UTC.
    pub at_ms: i64,
}

/// A case that is part of the run.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CaseAccepted {
    /// The run.
    pub run_id: RunId,
    /// The case's own id.
    pub case_id: String,
    /// The task that it belongs to.
    pub node_id: String,
    /// The task's iteration.
    pub iteration: u32,
    /// The task's attempt.
    pub attempt: u32,
    /// Its index among all lines that are not blank, from 0.
    pub ordinal: u64,
    /// The file that it was read from.
    pub source: String,
    /// The line in that file, from 1.
    pub line: u64,
    /// The trace that it belongs to, if it names one: `traceId` and `spanId` in JSON, each only if it is known.
    #[serde(flatten, serialize_with = "trace_ids")]
    pub trace: Option<TraceContext>,
}

fn trace_ids<S: Serializer>(
    trace: &Option<TraceContext>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    if let Some(trace) = trace {
        map.serialize_entry("traceId", &trace.trace_id_hex())?;
        if let Some(span_id) = trace.span_id_hex() {
            map.serialize_entry("spanId", &span_id)?;
        }
    }
    map.end()
}

/// A case whose rows are complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CaseFinished {
    /// The run.
    pub run_id: RunId,
    /// The case's own id.
    pub case_id: String,
    /// The task that it belongs to.
    pub node_id: String,
    /// The task's iteration.
    pub iteration: u32,
    /// The task's attempt.
    pub attempt: u32,
    /// Its index among all lines that are not blank, from 0.
    pub ordinal: u64,
    /// Its verdict; `None`, and no key in JSON, if an earlier session has some of its rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// How many scorers have a soft requirement that does not hold; `None` together with the verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regressions: Option<u32>,
}

/// A line that is not a valid case of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CaseRefused {
    /// The run, which may not have begun.
    pub run_id: RunId,
    /// Its index among all lines that are not blank, from 0.
    pub ordinal: u64,
    /// The line in its file, from 1; 0 if it was not read from lines.
    pub line: u64,
    /// Where, and what is wrong.
    pub message: String,
    /// What to do about it. Not in JSON: a front end words it.
    #[serde(skip)]
    pub advice: Option<Advice>,
}

impl CaseRefused {
    pub(super) fn new(run_id: RunId, refusal: Refusal) -> CaseRefused {
        let Refusal { ordinal, line, message, advice } = refusal;
        CaseRefused { run_id, ordinal, line, message, advice }
    }
}

/// A scorer that has begun to evaluate a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ScorerStarted {
    /// The run.
    pub run_id: RunId,
    /// The suite's key for the scorer.
    pub scorer_id: ScorerId,
    /// Its name for people.
    pub scorer_name: String,
    /// The task that the case belongs to.
    pub node_id: String,
    /// The case's own id.
    pub case_id: String,
    /// The task's iteration.
    pub iteration: u32,
    /// The task's attempt.
    pub attempt: u32,
    /// When, in milliseconds since 1970 UTC.
    pub at_ms: i64,
}

/// A scorer that has evaluated a case, or failed at it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ScorerEnded {
    /// The run.
    pub run_id: RunId,
    /// The scorer's name for people.
    pub scorer_name: String,
    /// The index of the case among all lines that are not blank, from 0. Not in JSON: the event of the case has it.
    pub ordinal: u64,
    /// Whether the score is a copy of an earlier run's result.
    pub is_reused: bool,
    /// The trace that the case belongs to, if it names one. Not in JSON: the event of the case has it.
    pub trace: Option<TraceContext>,
    /// The row: the case, the scorer, and its answer.
    pub row: Row,
}

/// Writes a part of the row: what distinguishes a score from others, without what only the database needs.
impl Serialize for ScorerEnded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Row { case_id, node_id, iteration, attempt, scorer_id, answer, .. } = &self.row;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("runId", &self.run_id)?;
        map.serialize_entry("scorerId", scorer_id)?;
        map.serialize_entry("scorerName", &self.scorer_name)?;
        map.serialize_entry("nodeId", node_id)?;
        map.serialize_entry("caseId", case_id)?;
        map.serialize_entry("iteration", iteration)?;
        map.serialize_entry("attempt", attempt)?;
        match &answer.error {
            Some(error) => map.serialize_entry("error", error)?,
            None => {
                map.serialize_entry("status", &answer.status)?;
                map.serialize_entry("score", &answer.score)?;
            }
        }
        if let Some(label) = &answer.label {
            map.serialize_entry("label", label)?;
        }
        if let Some(reason) = &answer.reason {
            map.serialize_entry("reason", reason)?;
        }
        map.serialize_entry("fuel", &answer.fuel)?;
        map.serialize_entry("durationMs", &answer.duration_ms)?;
        map.serialize_entry("reused", &self.is_reused)?;
        map.serialize_entry("atMs", &self.row.scored_at_ms)?;
        map.end()
    }
}

/// A scorer's summary of the run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ScorerSummary {
    /// The run.
    pub run_id: RunId,
    /// The suite's key for the scorer.
    pub scorer_id: ScorerId,
    /// Its name for people.
    pub scorer_name: String,
    /// The summary, and what it cost.
    pub summary: sandbox::Summary,
}

impl Serialize for ScorerSummary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("runId", &self.run_id)?;
        map.serialize_entry("scorerId", &self.scorer_id)?;
        map.serialize_entry("scorerName", &self.scorer_name)?;
        match &self.summary.result {
            Ok(json) => map.serialize_entry("summary", &Json::from(json.clone()))?,
            Err(error) => {
                let error = AnswerError::new(error.kind.as_str(), error.message.clone());
                map.serialize_entry("error", &error)?;
            }
        }
        map.serialize_entry("fuel", &self.summary.fuel)?;
        map.serialize_entry("durationMs", &milliseconds(self.summary.duration))?;
        map.end()
    }
}

/// A run that has ended.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Ended {
    /// The run.
    pub run_id: RunId,
    /// Why it ended before its last case; `None` if it reached the last case.
    pub stopped: Option<Stop>,
    /// Its progress.
    pub progress: Progress,
    /// One digest of everything that is stored of the run; `None` if nothing is stored.
    pub root: Option<Digest>,
    /// When, in milliseconds since 1970 UTC.
    pub at_ms: i64,
}

/// Receives the events of a run: a program, a page, a progress bar. It is called on the thread that writes, one event
/// after the other, while the database is not locked. A slow sink slows the run down; no event is lost.
pub trait Sink: Send {
    /// Receives an event.
    ///
    /// # Errors
    /// If the sink cannot continue. The run ends then: scores in flight are finished, and everything that was stored
    /// stays. The sink is not called again. A sink that panics ends the run in the same way.
    fn take(&mut self, event: &Event) -> Result<(), Refused>;

    /// Passes on any events that the sink holds back, because no further event may come for a while. Called after the
    /// events of a commit.
    ///
    /// # Errors
    /// As [`Sink::take`].
    fn flush(&mut self) -> Result<(), Refused> {
        Ok(())
    }
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

    fn flush(&mut self) -> Result<(), Refused> {
        (**self).flush()
    }
}

impl fmt::Debug for dyn Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sink")
    }
}

/// Why a sink accepts no more events.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(String);

impl Refused {
    /// A refusal for this reason, which is a sentence.
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

    /// Passes an event to all sinks. A sink that refuses it ends the run, and gets no further event.
    pub(super) fn take(&mut self, event: &Event, control: &Control) {
        self.each(control, |sink| sink.take(event));
    }

    /// Makes all sinks pass on what they hold back.
    pub(super) fn flush(&mut self, control: &Control) {
        self.each(control, |sink| sink.flush());
    }

    fn each(
        &mut self,
        control: &Control,
        mut call: impl FnMut(&mut dyn Sink) -> Result<(), Refused>,
    ) {
        // A sink that panics is dropped, together with any inconsistent state.
        self.0.retain_mut(|sink| match catch_unwind(AssertUnwindSafe(|| call(sink))) {
            Ok(Ok(())) => true,
            Ok(Err(Refused(message))) => {
                control.stop(Stop::Refused { message });
                false
            }
            Err(panic) => {
                let message = format!("a sink panicked: {}", panic_message(&*panic));
                control.stop(Stop::Refused { message });
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
