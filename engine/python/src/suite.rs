//! A suite: its scorers, loaded when they are needed, and what it scores with them: streams of cases, and tables. Reads no
//! file of cases.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use pyo3::prelude::*;
use scorebox::{engine::LoadedSuite, suite::Suite as Plan};

use crate::{
    batches::TableScorer,
    error,
    home::{Home, OfProcess},
    judges::connected,
    rows::{Rows, Stream},
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
        let is_stored = database.is_some();
        let suite = self.loaded(py, database)?;
        let order = self.plan.scorers.iter().map(|scorer| scorer.id.to_string()).collect();
        let cases = cases.try_iter()?;
        let stream =
            Stream { order, skips_bad_cases: skip_bad_cases, most: in_flight.max(1), is_stored };
        Rows::begin(&suite, cases, run_id, stream)
    }
}
