//! The rows of a stream of cases: as many cases in flight as a limit allows, rows in the order of the cases. Ending the
//! stream before its last case ends the run behind it.

use std::{
    collections::{BTreeMap, VecDeque, btree_map::OccupiedEntry},
    mem,
    sync::Arc,
    time::{Duration, Instant},
};

use pyo3::{
    PyTraverseError, PyVisit,
    exceptions::{PyBaseException, PyException},
    prelude::*,
    types::PyIterator,
};
use scorebox::{
    engine::LoadedSuite,
    row::Row,
    run::{Event, OnBadCase, Stop, WhenFull},
};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::{
    behind::{Behind, Open},
    case,
    error::{self, Kind},
    home::Home,
    run_id::run_id_of,
    score::Score,
    waiting::wait_for,
};

/// The divisor of the time that the caller's last case took to arrive: so long a finished row is waited for before the
/// next case is requested. The rows of a slow stream then arrive while it waits, which hardly slows it further.
const PATIENCE: u32 = 10;
/// A stream whose cases arrive faster than this is not slow.
const SLOW: Duration = Duration::from_millis(20);

/// The settings of a stream.
#[derive(Debug)]
pub(crate) struct Stream {
    /// The scorers, in the suite's order.
    pub(crate) order: Vec<String>,
    pub(crate) skips_bad_cases: bool,
    /// The most cases in flight, at least 1.
    pub(crate) most: usize,
    /// Whether the rows are also stored.
    pub(crate) is_stored: bool,
}

/// What happened in the run behind a stream.
#[derive(Debug)]
enum Happened {
    Row { ordinal: u64, row: Box<Row> },
    Finished { ordinal: u64 },
    Refused { ordinal: u64, message: String },
}

fn happened(event: &Event) -> Option<Happened> {
    Some(match event {
        Event::ScorerFinished(ended) | Event::ScorerFailed(ended) => {
            Happened::Row { ordinal: ended.ordinal, row: Box::new(ended.row.clone()) }
        }
        Event::CaseFinished(case) => Happened::Finished { ordinal: case.ordinal },
        Event::BadCase(refused) => {
            Happened::Refused { ordinal: refused.ordinal, message: refused.message.clone() }
        }
        _ => return None,
    })
}

/// A case whose rows are still arriving.
#[derive(Debug, Default)]
struct InFlight {
    /// The number of the caller's item, from 1.
    item: u64,
    rows: Vec<Row>,
    is_over: bool,
    /// Why the run refused it.
    refused: Option<String>,
}

/// Why no more cases are taken: what is raised after the rows of the cases before it, and how the run's end is stored.
#[derive(Debug)]
struct Failure {
    /// Not a `PyErr`, into which the garbage collector cannot look: its traceback may lead back to the stream.
    error: Py<PyBaseException>,
    stop: Stop,
}

/// The rows of a stream of cases, in the order of the cases and, within a case, of the suite.
#[pyclass(module = "scorebox._scorebox")]
#[derive(Debug)]
pub(crate) struct Rows {
    #[pyo3(get)]
    run_id: String,
    home: &'static Home,
    stream: Stream,
    /// The source of the cases; `None` after the last one.
    cases: Option<Py<PyIterator>>,
    failure: Option<Failure>,
    run: Arc<Behind>,
    events: Option<UnboundedReceiver<Happened>>,
    /// Items that were taken from the caller.
    items: u64,
    /// How many of the items have a position among the cases: empty lines have none.
    places: u64,
    /// Until when to wait for a finished row before the caller is asked for another case.
    patient_until: Option<Instant>,
    /// Cases that were passed to the run.
    begun: u64,
    /// Cases whose rows were handed out.
    handed_out: u64,
    /// The cases in flight, by their positions.
    in_flight: BTreeMap<u64, InFlight>,
    ready: VecDeque<Row>,
}

#[pymethods]
impl Rows {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    /// The next row. Takes as many cases from the caller as may be in flight, unless a row is there already.
    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Score>> {
        if !self.run.is_here() {
            let message = "this process was forked from the one that has the stream";
            return Err(error::new(py, Kind::Failed, message.to_owned()));
        }
        let next = self.next_row(py);
        if next.is_err() {
            self.leave();
        }
        next
    }

    /// Ends the stream, and lets go of the caller's cases.
    fn let_go(&mut self) {
        match self.run.is_here() {
            true => self.leave(),
            false => (self.cases, self.failure) = (None, None),
        }
    }

    /// Shows the collector of cycles what belongs to the stream: cases may belong to an object that has the stream.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.cases)?;
        visit.call(self.failure.as_ref().map(|failure| &failure.error))
    }

    /// Ends a stream that only such a cycle holds.
    fn __clear__(&mut self) {
        self.let_go();
    }

    /// What ends the stream from another thread.
    fn end_of(&self) -> EndOfRows {
        EndOfRows(Arc::clone(&self.run))
    }
}

/// What ends a stream, also while another thread waits in it for the caller's next case.
#[pyclass(frozen, module = "scorebox._scorebox")]
#[derive(Debug)]
pub(crate) struct EndOfRows(Arc<Behind>);

#[pymethods]
impl EndOfRows {
    /// Ends the stream and, if cases are left, the run; waits until what is computed at the moment is stored.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if !self.0.is_here() {
            return Ok(());
        }
        let ended = self.0.close(py)?;
        ended.map_or(Ok(()), |ended| ended.map(drop)).map_err(|error| error::of_run(py, &error))
    }
}

impl Rows {
    /// Begins a run over these cases.
    pub(crate) fn begin(
        suite: &LoadedSuite,
        cases: Bound<'_, PyIterator>,
        run_id: Option<&str>,
        stream: Stream,
    ) -> PyResult<Rows> {
        let py = cases.py();
        let (to_rows, events) = unbounded_channel();
        let on_bad_case = if stream.skips_bad_cases { OnBadCase::Skip } else { OnBadCase::Stop };
        // The queue is still bounded, because no more cases are in flight than the limit allows.
        let queued = suite.live().queue_cases(stream.most).queue_bytes(usize::MAX);
        let mut live = queued.when_full(WhenFull::Refuse).on_bad_case(on_bad_case).sink(
            move |event: &Event| {
                // If no receiver is left, the event is not needed.
                happened(event).map(|happened| to_rows.send(happened).ok());
                Ok(())
            },
        );
        if let Some(id) = run_id {
            live = live.id(run_id_of(py, id)?);
        }
        let home = Home::of_this_process(py)?;
        let place = home.open_runs.place(py)?;
        let live = wait_for(py, home, live.start())?;
        let live = live.map_err(|error| error::of_engine(py, &error))?;
        Ok(Rows {
            run_id: live.run_id().to_string(),
            run: Behind::new(home, Open { live, place }, stream.is_stored),
            home,
            stream,
            cases: Some(cases.unbind()),
            failure: None,
            events: Some(events),
            items: 0,
            places: 0,
            patient_until: None,
            begun: 0,
            handed_out: 0,
            in_flight: BTreeMap::new(),
            ready: VecDeque::new(),
        })
    }

    fn next_row(&mut self, py: Python<'_>) -> PyResult<Option<Score>> {
        loop {
            if self.run.is_closed() {
                self.leave();
                return Ok(None);
            }
            self.note_all();
            self.move_on(py);
            if let Some(row) = self.ready.pop_front() {
                return Ok(Some(Score::of_row(row.case_id, row.scorer_id, row.answer)));
            }
            if self.cases.is_none() && self.begun == self.handed_out {
                return self.end(py).map(|()| None);
            }
            let may_take =
                self.cases.is_some() && self.begun - self.handed_out < self.stream.most as u64;
            if may_take && !self.is_patient() {
                self.take_case(py)?;
                continue;
            }
            let patient_until = self.patient_until.filter(|_| may_take);
            if !self.wait(py, patient_until)? {
                return self.end(py).map(|()| None);
            }
        }
    }

    /// Whether to wait for a row before the caller is asked for another case.
    fn is_patient(&self) -> bool {
        self.begun > self.handed_out
            && self.patient_until.is_some_and(|until| Instant::now() < until)
    }

    /// Waits for an event, the end of the stream or this point in time; false if the run ended before its cases did.
    /// Its end then reports why.
    fn wait(&mut self, py: Python<'_>, until: Option<Instant>) -> PyResult<bool> {
        let Some(events) = self.events.as_mut() else { return Ok(true) };
        let late = async {
            match until {
                Some(until) => tokio::time::sleep_until(until.into()).await,
                None => std::future::pending().await,
            }
        };
        let happened = wait_for(py, self.home, async {
            tokio::select! {
                happened = events.recv() => Some(happened),
                () = self.run.closed() => None,
                () = late => None,
            }
        })?;
        match happened {
            Some(Some(happened)) => self.note(happened),
            Some(None) => {
                self.failure = None;
                return Ok(false);
            }
            None => {}
        }
        Ok(true)
    }

    fn note_all(&mut self) {
        while let Some(Ok(happened)) = self.events.as_mut().map(|events| events.try_recv()) {
            self.note(happened);
        }
    }

    fn note(&mut self, happened: Happened) {
        let (Happened::Row { ordinal, .. }
        | Happened::Finished { ordinal }
        | Happened::Refused { ordinal, .. }) = happened;
        // Cases that were given up are not in the map.
        let Some(case) = self.in_flight.get_mut(&ordinal) else { return };
        match happened {
            Happened::Row { row, .. } => case.rows.push(*row),
            Happened::Finished { .. } => case.is_over = true,
            Happened::Refused { message, .. } => {
                case.is_over = true;
                case.refused = Some(message);
            }
        }
    }

    /// Makes the rows of the next case ready, if all of them have arrived.
    fn move_on(&mut self, py: Python<'_>) {
        while self.ready.is_empty() {
            let next = self.in_flight.first_entry();
            let next = next.filter(|it| it.get().is_over);
            let Some(mut case) = next.map(OccupiedEntry::remove) else { return };
            self.handed_out += 1;
            let refused = case.refused.take().filter(|_| !self.stream.skips_bad_cases);
            if let Some(message) = refused {
                // The run does not know the number of the caller's item.
                let why = message.strip_prefix("<program>: ").unwrap_or(&message);
                let message = case::at(case.item, None, why);
                let error = error::new(py, Kind::InvalidCase, message.clone());
                self.fail(py, error, Stop::BadCase { message, advice: None });
                // The run takes none of the cases after it.
                self.give_up_the_rest();
                return;
            }
            let order = &self.stream.order;
            case.rows.sort_by_key(|row| order.iter().position(|id| *id == row.scorer_id));
            self.ready.extend(case.rows);
        }
    }

    /// Passes the caller's next case to the run, if there is one.
    fn take_case(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(cases) = &self.cases else { return Ok(()) };
        let asked = Instant::now();
        let next = cases.clone_ref(py).into_bound(py).next();
        let took = asked.elapsed();
        self.patient_until = (took >= SLOW).then(|| Instant::now() + took / PATIENCE);
        let item = match next {
            Some(Ok(item)) => item,
            Some(Err(error)) if error.is_instance_of::<PyException>(py) => {
                let message = format!("<cases>: {error}");
                self.fail(py, error, Stop::Unreadable { message, advice: None });
                return Ok(());
            }
            // Ctrl-C, or another exception that ends a program, is raised at once.
            Some(Err(error)) => return Err(error),
            None => {
                self.cases = None;
                return Ok(());
            }
        };
        self.items += 1;
        if case::is_empty_line(&item) {
            return Ok(());
        }
        let place = self.places;
        self.places += 1;
        match case::of_item(&item, self.items, place) {
            Ok(case) => {
                if self.run.take(case) {
                    self.begun += 1;
                    let in_flight = InFlight { item: self.items, ..InFlight::default() };
                    self.in_flight.insert(place, in_flight);
                } else {
                    // The run has ended; its end reports the reason.
                    self.cases = None;
                }
            }
            Err(_) if self.stream.skips_bad_cases => self.run.leave_empty(),
            Err(error) => {
                let message = message_of(py, &error);
                self.fail(py, error, Stop::BadCase { message, advice: None });
            }
        }
        Ok(())
    }

    /// Takes no more cases: an exception is raised after the rows of the cases that were taken.
    fn fail(&mut self, py: Python<'_>, error: PyErr, stop: Stop) {
        self.cases = None;
        // The error that comes first in the stream is raised.
        self.failure = Some(Failure { error: error.into_value(py), stop });
    }

    /// Whether all cases were handed out and there is no error with the next one.
    fn is_over(&self) -> bool {
        self.cases.is_none() && self.failure.is_none() && self.begun == self.handed_out
    }

    fn give_up_the_rest(&mut self) {
        self.handed_out = self.begun;
        self.in_flight.clear();
    }

    /// Ends the run before its last case, without waiting for it.
    fn leave(&mut self) {
        (self.cases, self.failure, self.events) = (None, None, None);
        self.ready.clear();
        self.give_up_the_rest();
        self.run.leave();
    }

    /// Ends the run, and waits for its end.
    fn end(&mut self, py: Python<'_>) -> PyResult<()> {
        (self.cases, self.events) = (None, None);
        let failure = self.failure.take();
        let stop = failure.as_ref().map(|failure| failure.stop.clone());
        let Some(ended) = self.run.end(py, stop)? else { return Ok(()) };
        if let Some(Failure { error, .. }) = failure {
            return Err(PyErr::from_value(error.into_bound(py).into_any()));
        }
        let report = ended.map_err(|error| error::of_run(py, &error))?;
        match report.and_then(|report| report.stopped) {
            // The caller who left the stream knows why.
            None | Some(Stop::Interrupted) => Ok(()),
            Some(stop) => Err(error::new(py, Kind::Failed, stop.to_string())),
        }
    }
}

/// The message of an exception; if it is of this package, without its kind.
fn message_of(py: Python<'_>, error: &PyErr) -> String {
    let message = error.value(py).getattr("message").and_then(|message| message.extract());
    message.unwrap_or_else(|_| error.to_string())
}

/// In a forked process, the run is left as it is: the threads that dropping it waits for do not exist there.
impl Drop for Rows {
    fn drop(&mut self) {
        if !self.run.is_here() {
            mem::forget(self.events.take());
            return;
        }
        if !self.is_over() {
            self.leave();
        }
        self.run.end_alone();
    }
}
