//! The one writer: cases and scores in batches, each batch a transaction. Decides nothing about a
//! score.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, mpsc, oneshot},
    time::timeout,
};

use crate::{
    advice::{Advice, Advised, Form},
    digest::Digest,
    sandbox,
    store::{
        CaseAdded, CaseKey, NewCase, NewScore, Outcome, Reusable, RunWriter, ScorerKey, StoreError,
    },
};

use super::{
    Control, OnBadCase, Stop,
    reading::{ReadCase, note_bad_case},
};

/// Rows after which a batch is committed. A page that many rows of a batch touch is written once, so
/// that larger batches write less.
const BATCH_ROWS: u64 = 25_000;
/// Time after which a batch is committed, however small.
const BATCH_TIME: Duration = Duration::from_millis(250);
/// How long the database is free between two batches, so that another run that waits for it gets its turn.
const LET_OTHERS_WRITE: Duration = Duration::from_millis(2);

/// What the writer hears.
pub(super) enum Message {
    /// Cases were read; their scores will follow.
    Read(Vec<Arc<ReadCase>>),
    /// A case was read whose name may have come before; the answer is whether it was stored.
    Doubtful { case: Arc<ReadCase>, answer: oneshot::Sender<bool> },
    /// Cases were scored; the share of the memory for results is given back when they are written.
    Scored { cases: Vec<ScoredCase>, _share: Option<OwnedSemaphorePermit> },
}

/// What was scored of a case.
pub(super) struct ScoredCase {
    pub(super) ordinal: u64,
    pub(super) scores: Vec<Scored>,
    /// Scores that an earlier run has.
    pub(super) reused: Vec<(ScorerKey, Reusable)>,
}

/// What one scorer said of a case.
pub(super) struct Scored {
    pub(super) scorer: ScorerKey,
    pub(super) outcome: sandbox::Outcome,
    /// The digest of what the scorer was fed.
    pub(super) input_digest: Digest,
    pub(super) scored_at_ms: i64,
}

impl Scored {
    /// About how much memory it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let log: usize = self.outcome.log.iter().map(|line| line.message.len() + 32).sum();
        let result = match &self.outcome.result {
            Err(error) => error.message.len(),
            Ok(result) => {
                let assertions = result.assertions.iter();
                length(&result.label)
                    + length(&result.reason)
                    + length(&result.meta)
                    + assertions.map(|it| it.name.len() + length(&it.reason) + 96).sum::<usize>()
            }
        };
        size_of::<Scored>() + result + log
    }
}

/// Writes until nobody sends any more; gives the writer back for what is left to be written.
pub(super) fn write_all(
    writer: RunWriter,
    messages: mpsc::Receiver<Message>,
    on_bad_case: OnBadCase,
    control: &Control,
    runtime: &Handle,
) -> Result<RunWriter, StoreError> {
    let mut writing = Writing {
        writer,
        on_bad_case,
        control,
        in_flight: HashMap::new(),
        rows: 0,
        since: Instant::now(),
    };
    match writing.take_all(messages, runtime).and_then(|()| writing.commit()) {
        Ok(()) => Ok(writing.writer),
        Err(error) => {
            // Nothing that is scored from here on could be kept.
            control.stop(Stop::Unreadable { message: error.to_string(), advice: error.advice() });
            Err(error)
        }
    }
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
            Message::Read(cases) => cases.iter().try_for_each(|read| self.add_case(read)),
            Message::Doubtful { case, answer } => {
                self.add_case(&case)?;
                // The reader waits for the answer, unless it has ended.
                let _ = answer.send(self.in_flight.contains_key(&case.case.ordinal()));
                Ok(())
            }
            Message::Scored { cases, .. } => {
                cases.iter().try_for_each(|case| self.add_scores(case))
            }
        }
    }

    fn add_case(&mut self, read: &ReadCase) -> Result<(), StoreError> {
        let case = &read.case;
        let added = self.writer.add_case(&NewCase {
            ordinal: case.ordinal(),
            case_id: case.id(),
            node_id: Some(case.node_id()),
            iteration: case.iteration(),
            attempt: case.attempt(),
            source_name: case.source(),
            source_line: case.line(),
            output: case.output(),
            parts: case.parts(),
            workspace: case.workspace(),
            latency_ms: case.latency_ms(),
            other: case.other_json(),
            digest: read.digest,
        })?;
        self.rows += 1;
        match added {
            CaseAdded::New(key) | CaseAdded::Known(key) => {
                self.in_flight.insert(case.ordinal(), key);
                self.control.note_accepted();
            }
            CaseAdded::Duplicate { first } => {
                let (id, place, line) = (case.id(), &first.source_name, first.source_line);
                note_bad_case(
                    format!("{}: duplicate id `{id}`, first used at {place}:{line}", case.location()),
                    Some(Advice::Write(Form::CaseId)),
                    self.on_bad_case,
                    self.control,
                );
            }
            // Bad lines may be skipped; what is read now is another file.
            CaseAdded::Changed { stored } => self.control.end_reading(Stop::Incomplete {
                message: format!(
                    "{}: the case `{}` is not the one that an earlier session of this run stored in \
                     its place, `{}`",
                    case.location(),
                    case.id(),
                    stored.case_id
                ),
                advice: Some(Advice::SameCases),
            }),
        }
        Ok(())
    }

    fn add_scores(&mut self, scored_case: &ScoredCase) -> Result<(), StoreError> {
        let Some(case) = self.in_flight.remove(&scored_case.ordinal) else { return Ok(()) };
        let (mut written, mut errors) = (0, 0);
        for scored in &scored_case.scores {
            if self.writer.add_score(case, scored.scorer, &row(scored))? {
                written += 1;
                errors += u64::from(scored.outcome.result.is_err());
            }
        }
        let mut reused = 0;
        for (scorer, from) in &scored_case.reused {
            reused += u64::from(self.writer.reuse_score(case, *scorer, *from)?);
        }
        self.rows += written + reused;
        self.control.note_done(written + reused, errors, reused);
        Ok(())
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.writer.commit()?;
        std::thread::sleep(LET_OTHERS_WRITE);
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
        fuel: scored.outcome.fuel,
        memory_bytes: Some(scored.outcome.memory_bytes),
        duration_ms: scored.outcome.duration.as_secs_f64() * 1e3,
        scored_at_ms: scored.scored_at_ms,
        log: &scored.outcome.log,
        input_digest: Some(scored.input_digest),
    }
}
