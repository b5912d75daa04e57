//! Delivers cases and rows: to the keeper, which decides what is part of the run, and, once the keeper has committed
//! them, to the other sinks as events. One thread does this, one event after the other. It decides nothing about a
//! score.

use std::{
    collections::HashMap,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::{Duration, Instant},
};

use tokio::sync::mpsc;

use crate::{
    advice::{Advice, Form},
    case::{Case, TraceContext},
    row::{Answer, Row},
    sandbox::{self, ErrorKind},
    scoring::{Computed, Finished},
    store::{RunId, StoreError},
};

use super::{
    CaseAccepted, CaseFinished, CaseRefused, Control, Event, OnBadCase, ReadyScorer, ScorerEnded,
    ScorerStarted, Stop,
    control::Refusal,
    deciding::Deciding,
    event::Sinks,
    keeping::{ComputedRow, Keeper, Kept, KeptCase},
    message::{Message, NewCase, ReadCase, RunScorers, RunUnit},
};

/// After this many rows, a batch is committed. A page that many rows of a batch change is written only once, so larger
/// batches write less.
const BATCH_ROWS: u64 = 25_000;
/// After this time, a batch is committed, however small it is.
const BATCH_TIME: Duration = Duration::from_millis(250);
/// The same while judges are asked, because their answers are written separately.
const JUDGED_BATCH_TIME: Duration = Duration::from_millis(10);
/// After this many bytes of events, a batch is committed, because the events wait for that in memory.
const BATCH_EVENT_BYTES: usize = 8 << 20;
/// How long the database stays unlocked between two batches, so that another run that waits for it gets its turn.
const LET_OTHERS_WRITE: Duration = Duration::from_millis(2);

/// The sinks of a run, at work.
pub(super) struct Delivering {
    pub(super) run_id: RunId,
    pub(super) keeper: Keeper,
    pub(super) sinks: Sinks,
    pub(super) scorers: RunScorers,
    pub(super) on_bad_case: OnBadCase,
    pub(super) control: Arc<Control>,
    /// The cases of the run that still wait for rows, by their ordinals. A refused case is not among them, so its rows
    /// are dropped.
    in_flight: HashMap<u64, Box<InFlight>>,
    /// Events that wait for the next commit.
    events: Vec<Event>,
    event_bytes: usize,
    rows: u64,
    since: Instant,
    /// After this time, a batch is committed.
    batch_time: Duration,
}

/// Why the run stops, if it cannot go on: a judge's budget is spent, its provider only asks to wait, the machine has no
/// room, or the run was stopped already.
fn no_more_scores(outcome: &sandbox::Outcome) -> Option<Stop> {
    let error = outcome.result.as_ref().err().filter(|error| error.kind.ends_the_run())?;
    Some(match error.kind {
        ErrorKind::JudgeOverBudget => {
            Stop::OverBudget { message: error.message.clone(), advice: error.advice.clone() }
        }
        ErrorKind::JudgeLimited => Stop::JudgeLimited { message: error.message.clone() },
        ErrorKind::OutOfResources => {
            Stop::OutOfResources { message: error.message.clone(), advice: error.advice.clone() }
        }
        _ => Stop::Interrupted,
    })
}

/// A case that still waits for rows.
struct InFlight {
    read: Arc<ReadCase>,
    case: KeptCase,
    trace: Option<TraceContext>,
    deciding: Deciding,
    rows_to_come: usize,
    /// Whether a row of it must be computed when the run is resumed.
    is_left_open: bool,
}

impl Delivering {
    pub(super) fn new(
        run_id: RunId,
        keeper: Keeper,
        sinks: Sinks,
        scorers: RunScorers,
        on_bad_case: OnBadCase,
        control: Arc<Control>,
    ) -> Delivering {
        let asks_judge = scorers.iter().any(|ready| ready.scorer.asks_judge());
        Delivering {
            batch_time: if asks_judge { JUDGED_BATCH_TIME } else { BATCH_TIME },
            run_id,
            keeper,
            sinks,
            scorers,
            on_bad_case,
            control,
            in_flight: HashMap::new(),
            events: Vec::new(),
            event_bytes: 0,
            rows: 0,
            since: Instant::now(),
        }
    }

    /// Delivers messages until the last sender is gone, and commits.
    pub(super) fn deliver_all(
        &mut self,
        mut messages: mpsc::Receiver<Message>,
    ) -> Result<(), StoreError> {
        loop {
            match received_before(self.since + self.batch_time, &mut messages) {
                Received::Message(message) => self.take(message)?,
                Received::Nothing => {}
                Received::End => return self.commit(),
            }
            let is_full = self.rows >= BATCH_ROWS || self.event_bytes >= BATCH_EVENT_BYTES;
            if is_full || self.since.elapsed() >= self.batch_time {
                self.commit()?;
            }
        }
    }

    fn take(&mut self, message: Message) -> Result<(), StoreError> {
        match message {
            Message::Read(cases) => cases.iter().try_for_each(|case| self.case(case).map(drop)),
            Message::Doubtful { case, answer } => {
                let is_kept = self.case(&case)?;
                // The reader waits for this answer, unless it has ended.
                let _ = answer.send(is_kept);
                Ok(())
            }
            Message::Refused(refused) => {
                self.report(|run| Event::BadCase(CaseRefused::new(run.clone(), refused)));
                Ok(())
            }
            Message::Scored(batch) => batch.rows.into_iter().try_for_each(|row| self.row(row)),
        }
    }

    /// Delivers a case, its rows from an earlier run, and the rows of scorers that skip it; returns whether the case is
    /// part of the run.
    fn case(&mut self, new: &NewCase) -> Result<bool, StoreError> {
        let Some(kept) = self.keep(&new.read)? else { return Ok(false) };
        let case = new.read.in_flight.case();
        // Only sinks need it.
        let trace = if self.sinks.is_empty() { None } else { case.trace_context() };
        self.report(|run| Event::Case(CaseAccepted::of(run, case, trace)));
        let rows = new.reused.len() + new.skipped.len() + new.computed;
        let mut deciding = Deciding::new(case, rows == self.scorers.len());
        for (scorer_index, from) in &new.reused {
            if self.keeper.copy(kept, *scorer_index, *from)? {
                self.rows += 1;
                self.control.note_row(false, true);
                self.report_copied(case, kept, *scorer_index, trace, &mut deciding)?;
            } else {
                deciding.lose();
            }
        }
        // Nothing ran, so there is nothing to report to sinks.
        for (scorer_index, skip) in &new.skipped {
            deciding.skipped(&self.scorers[*scorer_index].policy);
            if self.keeper.skip(kept, case, *scorer_index, &skip.reason(case.skip()))? {
                self.rows += 1;
                self.control.note_skipped();
            }
        }
        match new.computed {
            0 => self.case_done(case, deciding),
            rows_to_come => {
                let read = Arc::clone(&new.read);
                let is_left_open = false;
                let in_flight =
                    InFlight { read, case: kept, trace, deciding, rows_to_come, is_left_open };
                self.in_flight.insert(case.ordinal(), Box::new(in_flight));
            }
        }
        Ok(true)
    }

    /// Passes a case to the keeper; `None` if the keeper refuses it.
    fn keep(&mut self, read: &ReadCase) -> Result<Option<KeptCase>, StoreError> {
        let case = read.in_flight.case();
        let kept = self.keeper.case(read)?;
        self.rows += 1;
        match kept {
            Kept::Yes(kept) => {
                self.control.note_accepted();
                return Ok(Some(kept));
            }
            Kept::Duplicate { first } => {
                let (at, id) = (case.location(), case.id());
                let refused = Refusal {
                    ordinal: case.ordinal(),
                    line: case.line(),
                    message: format!("{at}: duplicate id `{id}`, first used at {first}"),
                    advice: Some(Advice::Write(Form::CaseId)),
                };
                self.control.forget_read();
                self.control.bad_case(&refused, self.on_bad_case);
                self.report(|run| Event::BadCase(CaseRefused::new(run.clone(), refused)));
            }
            // Bad lines may be skipped, but here the session reads other content.
            Kept::Changed { stored_id } => {
                let (at, id) = (case.location(), case.id());
                let message = match id == stored_id {
                    true => format!(
                        "{at}: the content of the case `{id}` has changed since an earlier session of \
                         this run stored it"
                    ),
                    false => format!(
                        "{at}: the case `{id}` is not the one that an earlier session of this run \
                         stored in its place, `{stored_id}`"
                    ),
                };
                let advice = Some(Advice::SameCases);
                self.control.end_reading(Stop::Incomplete { message, advice });
            }
            Kept::ErrorIsNew => {
                let (at, id) = (case.location(), case.id());
                let message = format!(
                    "{at}: the case `{id}` has an `error`, and an earlier session of this run stored it \
                     without one"
                );
                let advice = Some(Advice::WithoutErrors);
                self.control.end_reading(Stop::Incomplete { message, advice });
            }
        }
        Ok(None)
    }

    /// Delivers a row; the row of a refused case is dropped.
    fn row(&mut self, row: Finished<RunUnit>) -> Result<(), StoreError> {
        let ordinal = row.unit.read.in_flight.case().ordinal();
        let Some(mut in_flight) = self.in_flight.remove(&ordinal) else { return Ok(()) };
        in_flight.rows_to_come -= 1;
        self.computed(&mut in_flight, row)?;
        match in_flight.rows_to_come {
            // It must not be reported as finished: a followed file is read again from there.
            0 if in_flight.is_left_open => {}
            0 => self.case_done(in_flight.read.in_flight.case(), in_flight.deciding),
            _ => drop(self.in_flight.insert(ordinal, in_flight)),
        }
        Ok(())
    }

    /// Delivers what was computed for a case. If nothing ran, there is nothing to report to sinks.
    fn computed(
        &mut self,
        in_flight: &mut InFlight,
        row: Finished<RunUnit>,
    ) -> Result<(), StoreError> {
        let (case, trace) = (in_flight.case, in_flight.trace);
        let policy = &self.scorers[row.unit.scorer_index].policy;
        let (outcome, input_digest) = match row.computed {
            Computed::Outcome(outcome, digest) => (outcome, Some(digest)),
            Computed::NotRun(outcome) => (outcome, None),
            Computed::Skipped(skip) => {
                in_flight.deciding.skipped(policy);
                let read = row.unit.read.in_flight.case();
                if self.keeper.skip(case, read, row.unit.scorer_index, &skip.reason(None))? {
                    self.rows += 1;
                    self.control.note_skipped();
                }
                return Ok(());
            }
        };
        if let Some(stop) = no_more_scores(&outcome) {
            // Not a score: it is computed when the run is resumed.
            in_flight.deciding.lose();
            in_flight.is_left_open = true;
            self.control.stop(stop);
            return Ok(());
        }
        in_flight.deciding.outcome(policy, &outcome);
        let row =
            ComputedRow { unit: row.unit, outcome, input_digest, scored_at_ms: row.scored_at_ms };
        if self.keeper.row(case, &row)? {
            self.rows += 1;
            self.control.note_row(row.outcome.result.is_err(), false);
            self.report_beginning(&row.unit.read, row.unit.scorer_index);
            let scorers = Arc::clone(&self.scorers);
            self.report(|run| {
                let ready = &scorers[row.unit.scorer_index];
                Event::of_scorer(ScorerEnded {
                    run_id: run.clone(),
                    scorer_name: ready.name.clone(),
                    ordinal: row.unit.read.in_flight.case().ordinal(),
                    is_reused: false,
                    trace,
                    row: reported(ready, row),
                })
            });
        }
        Ok(())
    }

    fn case_done(&mut self, case: &Case, deciding: Deciding) {
        self.control.note_case_done();
        self.report(|run| Event::CaseFinished(CaseFinished::of(run, case, deciding)));
    }

    fn report_copied(
        &mut self,
        case: &Case,
        kept: KeptCase,
        scorer_index: usize,
        trace: Option<TraceContext>,
        deciding: &mut Deciding,
    ) -> Result<(), StoreError> {
        if self.sinks.is_empty() {
            return Ok(());
        }
        if let Some(row) = self.keeper.copied(kept, scorer_index)? {
            deciding.copied(&self.scorers[scorer_index].policy, &row.answer);
            let scorer_name = self.scorers[scorer_index].name.clone();
            self.report(|run| {
                Event::of_scorer(ScorerEnded {
                    run_id: run.clone(),
                    scorer_name,
                    ordinal: case.ordinal(),
                    is_reused: true,
                    trace,
                    row,
                })
            });
        }
        Ok(())
    }

    /// Reports that a scorer began with a case, if it began and this was not reported before.
    fn report_beginning(&mut self, read: &ReadCase, scorer_index: usize) {
        let Some(at_ms) = read.beginnings.report(scorer_index) else { return };
        let (case, scorers) = (read.in_flight.case(), Arc::clone(&self.scorers));
        self.report(|run| {
            Event::ScorerStarted(Box::new(ScorerStarted {
                run_id: run.clone(),
                scorer_id: scorers[scorer_index].id.clone(),
                scorer_name: scorers[scorer_index].name.clone(),
                node_id: case.node_id().to_owned(),
                case_id: case.id().to_owned(),
                iteration: case.iteration(),
                attempt: case.attempt(),
                at_ms,
            }))
        });
    }

    /// Reports the scorers that began but have no row yet, because they are slow.
    fn report_beginnings(&mut self) {
        if self.sinks.is_empty() {
            return;
        }
        let reads: Vec<_> = self.in_flight.values().map(|case| Arc::clone(&case.read)).collect();
        for read in reads {
            (0..self.scorers.len())
                .for_each(|scorer_index| self.report_beginning(&read, scorer_index));
        }
    }

    /// Passes an event to the sinks with the next commit of the keeper; at once if nothing is stored.
    pub(super) fn report(&mut self, event: impl FnOnce(&RunId) -> Event) {
        if self.sinks.is_empty() {
            return;
        }
        let event = event(&self.run_id);
        if self.keeper.stores_nothing() {
            return self.sinks.take(&event, &self.control);
        }
        self.event_bytes += event.bytes();
        self.events.push(event);
    }

    /// Commits, and passes on the events of what is now stored. A sink may be slow, because the database is unlocked
    /// meanwhile.
    pub(super) fn commit(&mut self) -> Result<(), StoreError> {
        self.keeper.commit()?;
        self.report_beginnings();
        self.event_bytes = 0;
        for event in self.events.drain(..) {
            self.sinks.take(&event, &self.control);
        }
        self.sinks.flush(&self.control);
        if self.rows > 0 && !self.keeper.stores_nothing() {
            thread::sleep(LET_OTHERS_WRITE);
        }
        self.rows = 0;
        self.since = Instant::now();
        Ok(())
    }
}

/// The outcome of waiting for a message.
enum Received {
    Message(Message),
    Nothing,
    /// All senders are gone.
    End,
}

/// The next message, if one comes before `deadline`. It does not use a timer of the runtime, which may end before the
/// run does: the run's end must be stored even then.
fn received_before(deadline: Instant, messages: &mut mpsc::Receiver<Message>) -> Received {
    let waker = Waker::from(Arc::new(Unparking(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match messages.poll_recv(&mut context) {
            Poll::Ready(Some(message)) => return Received::Message(message),
            Poll::Ready(None) => return Received::End,
            Poll::Pending => {}
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Received::Nothing;
        }
        thread::park_timeout(left);
    }
}

/// Wakes a parked thread.
struct Unparking(Thread);

impl Wake for Unparking {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl CaseAccepted {
    fn of(run: &RunId, case: &Case, trace: Option<TraceContext>) -> CaseAccepted {
        CaseAccepted {
            run_id: run.clone(),
            case_id: case.id().to_owned(),
            node_id: case.node_id().to_owned(),
            iteration: case.iteration(),
            attempt: case.attempt(),
            ordinal: case.ordinal(),
            source: case.source().to_owned(),
            line: case.line(),
            trace,
        }
    }
}

impl CaseFinished {
    fn of(run: &RunId, case: &Case, deciding: Deciding) -> CaseFinished {
        let verdict = deciding.verdict();
        CaseFinished {
            run_id: run.clone(),
            case_id: case.id().to_owned(),
            node_id: case.node_id().to_owned(),
            iteration: case.iteration(),
            attempt: case.attempt(),
            ordinal: case.ordinal(),
            verdict: verdict.map(|(verdict, _)| verdict),
            regressions: verdict.map(|(_, regressions)| regressions),
        }
    }
}

/// The row that is reported for a computed score.
fn reported(ready: &ReadyScorer, row: ComputedRow) -> Row {
    let case = row.unit.read.in_flight.case();
    let computed = ready.row(case, Answer::from(row.outcome), row.scored_at_ms);
    Row { input_digest: row.input_digest, ..computed }
}
