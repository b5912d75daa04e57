//! The one writer: cases and scores in batches, each batch a transaction. Decides nothing about a
//! score.

use std::{
    collections::{HashMap, hash_map::Entry},
    time::{Duration, Instant},
};

use tokio::{runtime::Handle, sync::mpsc, time::timeout};

use crate::{
    advice::{Advice, Advised, Form},
    scoring::Finished,
    store::{self, CaseAdded, CaseKey, NewScore, Outcome, RunWriter, StoreError},
};

use super::{
    Control, OnBadCase, Stop,
    message::{Message, NewCase, ReadCase, RunUnit},
};

/// Rows after which a batch is committed. A page that many rows of a batch touch is written once, so
/// that larger batches write less.
const BATCH_ROWS: u64 = 25_000;
/// Time after which a batch is committed, however small.
const BATCH_TIME: Duration = Duration::from_millis(250);
/// How long the database is free between two batches, so that another run that waits for it gets its turn.
const LET_OTHERS_WRITE: Duration = Duration::from_millis(2);

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
    /// The stored cases of which rows are still to come. A case that was refused is not among them,
    /// so its rows are not written.
    in_flight: HashMap<u64, InFlight>,
    rows: u64,
    since: Instant,
}

/// A stored case of which rows are still to come.
struct InFlight {
    key: CaseKey,
    rows_to_come: usize,
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
            Message::Read(cases) => cases.iter().try_for_each(|case| self.add_new(case).map(drop)),
            Message::Doubtful { case, answer } => {
                let is_stored = self.add_new(&case)?;
                // The reader waits for the answer, unless it has ended.
                let _ = answer.send(is_stored);
                Ok(())
            }
            Message::Scored(batch) => batch.rows.iter().try_for_each(|row| self.add_row(row)),
        }
    }

    /// Stores a case and the rows that an earlier run has of it; answers whether it is stored.
    fn add_new(&mut self, case: &NewCase) -> Result<bool, StoreError> {
        let Some(key) = self.add_case(&case.read)? else { return Ok(false) };
        let mut reused = 0;
        for (scorer, from) in &case.reused {
            reused += u64::from(self.writer.reuse_score(key, *scorer, *from)?);
        }
        self.rows += reused;
        self.control.note_rows(reused, 0, reused);
        match case.computed {
            0 => self.control.note_case_done(),
            rows_to_come => {
                let ordinal = case.read.in_flight.case().ordinal();
                self.in_flight.insert(ordinal, InFlight { key, rows_to_come });
            }
        }
        Ok(true)
    }

    /// None where it is refused.
    fn add_case(&mut self, read: &ReadCase) -> Result<Option<CaseKey>, StoreError> {
        let case = read.in_flight.case();
        let added = self.writer.add_case(&store::NewCase {
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
                self.control.note_accepted();
                return Ok(Some(key));
            }
            CaseAdded::Duplicate { first } => {
                let (id, place, line) = (case.id(), &first.source_name, first.source_line);
                self.control.bad_case(
                    format!("{}: duplicate id `{id}`, first used at {place}:{line}", case.location()),
                    Some(Advice::Write(Form::CaseId)),
                    self.on_bad_case,
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
        Ok(None)
    }

    /// A row that comes after its case was refused is let go.
    fn add_row(&mut self, row: &Finished<RunUnit>) -> Result<(), StoreError> {
        let ordinal = row.unit.read.in_flight.case().ordinal();
        let Entry::Occupied(mut case) = self.in_flight.entry(ordinal) else { return Ok(()) };
        let key = case.get().key;
        case.get_mut().rows_to_come -= 1;
        let is_last = case.get().rows_to_come == 0;
        if is_last {
            case.remove();
        }
        if self.writer.add_score(key, row.unit.scorer_key(), &new_score(row))? {
            self.rows += 1;
            self.control.note_rows(1, u64::from(row.outcome.result.is_err()), 0);
        }
        if is_last {
            self.control.note_case_done();
        }
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

fn new_score(scored: &Finished<RunUnit>) -> NewScore<'_> {
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
