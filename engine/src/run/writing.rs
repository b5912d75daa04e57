//! The one writer: cases and scores in batches, each batch a transaction. Decides nothing about a
//! score.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{runtime::Handle, sync::mpsc, time::timeout};

use crate::{
    case::{Case, Key},
    digest::Digest,
    sandbox,
    store::{
        CaseAdded, CaseKey, NewCase, NewScore, Outcome, RunState, RunWriter, ScorerKey, StoreError,
    },
};

use super::{Control, OnBadCase, Stop, now_ms, reading::note_bad_case};

/// Rows after which a batch is committed.
const BATCH_ROWS: u64 = 4000;
/// Time after which a batch is committed, however small.
const BATCH_TIME: Duration = Duration::from_millis(250);

/// What the writer hears.
pub(super) enum Message {
    /// A case was read; its scores will follow.
    Read { case: Arc<Case>, digest: Digest },
    /// What was scored of a case.
    Scored { ordinal: u64, scores: Vec<Scored> },
}

/// What one scorer said of a case.
pub(super) struct Scored {
    pub(super) scorer: ScorerKey,
    pub(super) outcome: sandbox::Outcome,
    pub(super) scored_at_ms: i64,
}

/// Writes until nobody sends any more, then closes the run.
pub(super) fn write_all(
    writer: RunWriter,
    messages: mpsc::Receiver<Message>,
    on_bad_case: OnBadCase,
    control: &Control,
    runtime: &Handle,
) -> Result<(), StoreError> {
    let mut writing = Writing {
        writer,
        on_bad_case,
        control,
        in_flight: HashMap::new(),
        rows: 0,
        since: Instant::now(),
    };
    let written = writing.take_all(messages, runtime);
    if let Err(error) = &written {
        // Nothing that is scored from here on could be kept.
        control.stop(Stop::Unreadable { message: error.to_string(), hint: Some(error.hint()) });
        return written;
    }
    let (state, reason) = match control.stopped_by() {
        None => (RunState::Finished, None),
        Some(Stop::Interrupted) => (RunState::Interrupted, None),
        Some(Stop::BadCase { message, .. } | Stop::Unreadable { message, .. }) => {
            (RunState::Stopped, Some(message))
        }
    };
    writing.writer.finish(state, reason.as_deref(), now_ms())
}

struct Writing<'a> {
    writer: RunWriter,
    on_bad_case: OnBadCase,
    control: &'a Control,
    /// The stored cases whose scores are still to come. A case that was refused is not among them,
    /// so its scores are not written.
    in_flight: HashMap<u64, CaseKey>,
    rows: u64,
    since: Instant,
}

impl Writing<'_> {
    fn take_all(
        &mut self,
        mut messages: mpsc::Receiver<Message>,
        runtime: &Handle,
    ) -> Result<(), StoreError> {
        loop {
            let message = match messages.try_recv() {
                Ok(message) => Some(message),
                Err(mpsc::error::TryRecvError::Disconnected) => return Ok(()),
                Err(mpsc::error::TryRecvError::Empty) => {
                    let left = BATCH_TIME.saturating_sub(self.since.elapsed());
                    match runtime.block_on(async { timeout(left, messages.recv()).await }) {
                        Ok(None) => return Ok(()),
                        Ok(message) => message,
                        Err(_elapsed) => None,
                    }
                }
            };
            if let Some(message) = message {
                self.take(message)?;
            }
            if self.rows >= BATCH_ROWS || self.since.elapsed() >= BATCH_TIME {
                self.commit()?;
            }
        }
    }

    fn take(&mut self, message: Message) -> Result<(), StoreError> {
        match message {
            Message::Read { case, digest } => self.add_case(&case, digest),
            Message::Scored { ordinal, scores } => self.add_scores(ordinal, &scores),
        }
    }

    fn add_case(&mut self, case: &Case, digest: Digest) -> Result<(), StoreError> {
        let other = case.other_json();
        let added = self.writer.add_case(&NewCase {
            ordinal: case.ordinal(),
            case_id: case.id(),
            node_id: Some(case.node_id()),
            iteration: case.iteration(),
            attempt: case.attempt(),
            source_name: case.source(),
            source_line: case.line(),
            input: case.raw(Key::Input),
            output: case.output(),
            ground_truth: case.raw(Key::GroundTruth),
            context: case.raw(Key::Context),
            output_schema: case.raw(Key::OutputSchema),
            trace: case.raw(Key::Trace),
            usage: case.raw(Key::Usage),
            metadata: case.raw(Key::Metadata),
            baseline: case.raw(Key::Baseline),
            latency_ms: case.latency_ms(),
            other: other.as_deref(),
            digest,
        })?;
        self.rows += 1;
        let complaint = match added {
            CaseAdded::New(key) | CaseAdded::Known(key) => {
                self.in_flight.insert(case.ordinal(), key);
                return Ok(());
            }
            CaseAdded::Duplicate { first } => format!(
                "the id `{}` is taken by {}:{}",
                case.id(),
                first.source_name,
                first.source_line
            ),
            CaseAdded::Changed { .. } => format!(
                "the case `{}` is not the one that an earlier session of this run stored",
                case.id()
            ),
        };
        let hint = "an id (with iteration and attempt) names one case of a run";
        note_bad_case(
            format!("{}: {complaint}", case.location()),
            Some(hint.to_owned()),
            self.on_bad_case,
            self.control,
        );
        Ok(())
    }

    fn add_scores(&mut self, ordinal: u64, scores: &[Scored]) -> Result<(), StoreError> {
        let Some(case) = self.in_flight.remove(&ordinal) else { return Ok(()) };
        let (mut written, mut errors) = (0, 0);
        for scored in scores {
            if self.writer.add_score(case, scored.scorer, &row(scored))? {
                written += 1;
                errors += u64::from(scored.outcome.result.is_err());
            }
        }
        self.rows += written;
        self.control.note_done(written, errors);
        Ok(())
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.writer.commit()?;
        self.rows = 0;
        self.since = Instant::now();
        Ok(())
    }
}

fn row(scored: &Scored) -> NewScore<'_> {
    let outcome = match &scored.outcome.result {
        Err(error) => {
            Outcome::Error { kind: error.kind.as_str(), message: &error.message, reason: None }
        }
        Ok(result) => match result.score {
            None => Outcome::NotApplicable {
                label: result.label.as_deref(),
                reason: result.reason.as_deref(),
                meta: result.meta.as_deref(),
            },
            Some(score) => Outcome::Scored {
                score,
                label: result.label.as_deref(),
                reason: result.reason.as_deref(),
                meta: result.meta.as_deref(),
                assertions: &result.assertions,
            },
        },
    };
    NewScore {
        outcome,
        fuel: Some(scored.outcome.fuel),
        memory_bytes: Some(scored.outcome.memory_bytes),
        duration_ms: scored.outcome.duration.as_secs_f64() * 1e3,
        scored_at_ms: scored.scored_at_ms,
        log: &scored.outcome.log,
    }
}
