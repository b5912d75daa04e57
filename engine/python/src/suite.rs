//! A suite over a stream of cases: as many in flight as a bound allows, rows in the order of the cases. Reads no file of
//! cases.

use std::{
    collections::{BTreeMap, VecDeque},
    mem,
    path::{Path, PathBuf},
    process,
    sync::{Arc, Mutex, PoisonError},
};

use pyo3::{prelude::*, types::PyIterator};
use scorebox::{
    engine::{Live, LoadedSuite},
    row::Row,
    run::{Event, WhenFull},
    suite::Suite as Plan,
};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::{
    batches::TableScorer,
    case,
    error::{self, Kind},
    home::{Home, OfProcess},
    judges::connected,
    run_id::run_id_of,
    score::Score,
    scorer::Scorer,
    table::Table,
    waiting::wait_for,
};

/// A suite that was read.
#[pyclass(frozen, module = "scorebox._scorebox")]
#[derive(Debug)]
pub(crate) struct Suite {
    plan: Plan,
    workspace: Option<PathBuf>,
    /// Its scorers, without a database; see `home` on the lock.
    loaded: Mutex<Option<OfProcess<LoadedSuite>>>,
    /// The same for tables.
    of_tables: Mutex<Option<OfProcess<TableScorer>>>,
}

impl Suite {
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(crate) fn workspace(&self) -> Option<&Path> {
        self.workspace.as_deref()
    }

    /// Its scorers, if they are loaded in this process.
    fn known(&self) -> Option<Arc<LoadedSuite>> {
        let loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.as_ref().and_then(OfProcess::get)
    }

    fn loaded(&self, py: Python<'_>, database: Option<PathBuf>) -> PyResult<LoadedSuite> {
        let known = self.known();
        let judged = !self.plan.judges.is_empty();
        // Recordings of judges belong to a database, so another database is another engine.
        let suite = match known.filter(|_| !judged || database.is_none()) {
            Some(known) => LoadedSuite::clone(&known),
            None => {
                let home = Home::of_this_process(py)?;
                let judges = connected(py, &self.plan, database.as_deref())?;
                let engine = home.engine_with(py, judges, self.workspace.clone())?;
                let locked = |error| error::of_lock(py, error);
                let registry = scorebox_cli::registry_of(&self.plan.scorers).map_err(locked)?;
                let engine = engine.with_registry(registry);
                let loaded = wait_for(py, home, engine.load(self.plan.clone()))?;
                let loaded = loaded.map_err(|error| error::of_engine(py, &error))?;
                let (scorers, policies) = (&self.plan.scorers, &self.plan.policies);
                scorebox_cli::must_be_as_locked(scorers, policies, loaded.scorers())
                    .map_err(locked)?;
                if !judged || database.is_none() {
                    let mut known = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
                    *known = Some(OfProcess::new(loaded.clone()));
                }
                loaded
            }
        };
        Ok(match database {
            Some(database) => suite.store(database),
            None => suite,
        })
    }
}

#[pymethods]
impl Suite {
    /// Reads a suite file, a bundle, or the text of a suite file.
    #[new]
    #[pyo3(signature = (path=None, text=None, workspace=None))]
    fn new(
        py: Python<'_>,
        path: Option<PathBuf>,
        text: Option<&str>,
        workspace: Option<PathBuf>,
    ) -> PyResult<Suite> {
        let plan = match (&path, text) {
            (Some(path), _) if scorebox_cli::is_bundle(path) => {
                let plan = scorebox_cli::bundled_suite(path);
                plan.map_err(|error| error::of_bundle(py, error))?
            }
            (Some(path), _) => {
                let plan = Plan::read_with(path, &|name| std::env::var(name).ok());
                plan.map_err(|error| error::of_suite(py, &error))?
            }
            (None, text) => {
                let plan = Plan::parse(text.unwrap_or_default());
                plan.map_err(|error| error::of_suite(py, &error))?
            }
        };
        Ok(Suite { plan, workspace, loaded: Mutex::default(), of_tables: Mutex::default() })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.plan.name
    }

    /// The names of its scorers, in its order.
    #[getter]
    fn scorer_ids(&self) -> Vec<&str> {
        self.plan.scorers.iter().map(|scorer| scorer.id.as_str()).collect()
    }

    /// Its digest, as it is stored with a run.
    #[getter]
    fn digest(&self) -> String {
        self.plan.digest().to_string()
    }

    /// One of its scorers alone.
    fn scorer(&self, py: Python<'_>, name: &str) -> PyResult<Scorer> {
        let mut plan = self.plan.clone();
        let entry = plan.scorer_mut(name).map_err(|error| error::of_suite(py, &error))?;
        Scorer::of_entry(py, entry.clone())
    }

    /// A table scored by all scorers; see `batches`.
    #[pyo3(signature = (table, columns, run_id=None, jobs=None))]
    fn score_table(
        &self,
        py: Python<'_>,
        table: &Bound<'_, PyAny>,
        columns: Vec<(String, String)>,
        run_id: Option<&str>,
        jobs: Option<usize>,
    ) -> PyResult<Table> {
        let known = || {
            let known = self.of_tables.lock().unwrap_or_else(PoisonError::into_inner);
            known.as_ref().and_then(OfProcess::get)
        };
        let known = known().filter(|known| known.is_of(&self.plan, run_id, jobs));
        let scorer = match known {
            Some(known) => known,
            None => {
                let loaded = TableScorer::load(py, &self.plan, self.workspace(), run_id, jobs)?;
                let loaded_here = OfProcess::new(loaded.clone());
                *self.of_tables.lock().unwrap_or_else(PoisonError::into_inner) = Some(loaded_here);
                Arc::new(loaded)
            }
        };
        scorer.score(py, table, &columns)
    }

    /// The id of a run that is given none.
    fn default_run_id(&self) -> String {
        scorebox_shards::Plan::default_run_id(&self.plan)
    }

    /// The rows of cases, as they are computed.
    #[pyo3(signature = (cases, database=None, run_id=None, in_flight=1024, skip_bad_cases=false))]
    fn iter(
        &self,
        py: Python<'_>,
        cases: &Bound<'_, PyAny>,
        database: Option<PathBuf>,
        run_id: Option<&str>,
        in_flight: usize,
        skip_bad_cases: bool,
    ) -> PyResult<Rows> {
        let suite = self.loaded(py, database)?;
        let most = in_flight.max(1);
        let (to_rows, events) = unbounded_channel();
        // Bounded all the same, because no more cases are in flight than the bound allows.
        let queued = suite.live().queue_cases(most).queue_bytes(usize::MAX);
        let mut live = queued.when_full(WhenFull::Refuse).sink(move |event: &Event| {
            // If no one reads any more, no one needs it.
            happened(event).map(|happened| to_rows.send(happened).ok());
            Ok(())
        });
        if let Some(id) = run_id {
            live = live.id(run_id_of(py, id)?);
        }
        let home = Home::of_this_process(py)?;
        let live = wait_for(py, home, live.start())?;
        let live = live.map_err(|error| error::of_engine(py, &error))?;
        Ok(Rows {
            run_id: live.run_id().to_string(),
            cases: Some(cases.try_iter()?.unbind()),
            of_run: OfRun { process: process::id(), live: Some(live), events: Some(events) },
            order: self.plan.scorers.iter().map(|scorer| scorer.id.to_string()).collect(),
            skips_bad_cases: skip_bad_cases,
            most,
            items: 0,
            begun: 0,
            handed_out: 0,
            in_flight: BTreeMap::new(),
            ready: VecDeque::new(),
        })
    }
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

/// A case whose rows come.
#[derive(Debug, Default)]
struct InFlight {
    rows: Vec<Row>,
    is_over: bool,
    /// Why the run does not take it.
    refused: Option<String>,
}

/// The run behind a stream. In a process that was forked it is left as it is: what dropping it waits for is not there.
#[derive(Debug)]
struct OfRun {
    process: u32,
    /// `None` after the end.
    live: Option<Live>,
    events: Option<UnboundedReceiver<Happened>>,
}

impl Drop for OfRun {
    fn drop(&mut self) {
        if self.process != process::id() {
            mem::forget((self.live.take(), self.events.take()));
        }
    }
}

/// The rows of a stream of cases, in the order of the cases and, within a case, of the suite.
#[pyclass(module = "scorebox._scorebox")]
#[derive(Debug)]
pub(crate) struct Rows {
    #[pyo3(get)]
    run_id: String,
    /// What cases come from; `None` after the last.
    cases: Option<Py<PyIterator>>,
    of_run: OfRun,
    /// The scorers, in the suite's order.
    order: Vec<String>,
    skips_bad_cases: bool,
    /// Cases that may be in flight.
    most: usize,
    /// Items that were taken from the caller.
    items: u64,
    /// Cases that the run was given.
    begun: u64,
    /// Cases whose rows were handed out.
    handed_out: u64,
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
        if self.of_run.process != process::id() {
            let message = "this process was forked from the one that has the stream";
            return Err(error::new(py, Kind::Failed, message.to_owned()));
        }
        loop {
            self.note_all();
            if let Some(refused) = self.move_on() {
                return Err(error::new(py, Kind::InvalidCase, refused));
            }
            if let Some(row) = self.ready.pop_front() {
                return Ok(Some(Score::of_row(row.case_id, row.scorer_id, row.answer)));
            }
            if self.begun - self.handed_out < self.most as u64 && self.take_case(py)? {
                continue;
            }
            if self.cases.is_none() && self.begun == self.handed_out {
                self.end(py)?;
                return Ok(None);
            }
            let Some(events) = self.of_run.events.as_mut() else { return Ok(None) };
            match wait_for(py, Home::of_this_process(py)?, events.recv())? {
                Some(happened) => self.note(happened),
                // The run ended before its cases did, and says why.
                None => {
                    self.end(py)?;
                    return Ok(None);
                }
            }
        }
    }
}

impl Rows {
    fn note_all(&mut self) {
        while let Some(Ok(happened)) = self.of_run.events.as_mut().map(|events| events.try_recv()) {
            self.note(happened);
        }
    }

    fn note(&mut self, happened: Happened) {
        match happened {
            Happened::Row { ordinal, row } => {
                self.in_flight.entry(ordinal).or_default().rows.push(*row);
            }
            Happened::Finished { ordinal } => {
                self.in_flight.entry(ordinal).or_default().is_over = true;
            }
            Happened::Refused { ordinal, message } => {
                let case = self.in_flight.entry(ordinal).or_default();
                case.is_over = true;
                case.refused = Some(message);
            }
        }
    }

    /// Makes the rows of the next case ready, if it has all of them; why the run does not take it, if it does not.
    fn move_on(&mut self) -> Option<String> {
        while self.ready.is_empty() && self.in_flight.get(&self.handed_out)?.is_over {
            let mut case = self.in_flight.remove(&self.handed_out)?;
            self.handed_out += 1;
            if let Some(refused) = case.refused.take().filter(|_| !self.skips_bad_cases) {
                return Some(refused);
            }
            case.rows.sort_by_key(|row| self.order.iter().position(|id| *id == row.scorer_id));
            self.ready.extend(case.rows);
        }
        None
    }

    /// Hands the run the caller's next case; false if there is none.
    fn take_case(&mut self, py: Python<'_>) -> PyResult<bool> {
        let Some(cases) = &self.cases else { return Ok(false) };
        let Some(item) = cases.clone_ref(py).into_bound(py).next().transpose()? else {
            self.cases = None;
            return Ok(false);
        };
        let place = self.items;
        self.items += 1;
        let case = match case::of_item(&item, place) {
            Err(_) if self.skips_bad_cases => return Ok(true),
            case => case?,
        };
        let Some(live) = &self.of_run.live else { return Ok(false) };
        match live.score_live(case) {
            true => self.begun += 1,
            // The run has ended; what is behind it says why.
            false => self.cases = None,
        }
        Ok(true)
    }

    /// Ends the run.
    fn end(&mut self, py: Python<'_>) -> PyResult<()> {
        self.cases = None;
        self.of_run.events = None;
        let Some(live) = self.of_run.live.take() else { return Ok(()) };
        let ended = wait_for(py, Home::of_this_process(py)?, live.shutdown())?;
        let report = ended.map_err(|error| error::of_run(py, &error))?;
        match report.and_then(|report| report.stopped) {
            Some(stop) => Err(error::new(py, Kind::Failed, stop.to_string())),
            None => Ok(()),
        }
    }
}
