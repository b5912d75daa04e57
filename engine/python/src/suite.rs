//! A suite: its scorers, loaded when they are needed, and what it scores with them: streams of cases, and tables. It
//! reads no files of cases.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use pyo3::prelude::*;
use scorebox::{
    digest::Digest,
    engine::LoadedSuite,
    input_file::InputFileError,
    suite::{OnDisk, Suite as Plan, SuiteFiles},
};

use crate::{
    batches::TableScorer,
    components::Components,
    error,
    home::{Home, OfProcess, absolute},
    judges::connected,
    rows::{Rows, Stream},
    scorer::Scorer,
    table::Table,
    waiting::wait_for,
};

/// The files of a suite. The first one is a text that the caller passed; the others are on disk.
struct OfText<'t>(Mutex<Option<&'t str>>);

impl OfText<'_> {
    fn new(text: &str) -> OfText<'_> {
        OfText(Mutex::new(Some(text)))
    }
}

impl SuiteFiles for OfText<'_> {
    fn text(&self, path: &Path) -> Result<String, InputFileError> {
        let first = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        first.map_or_else(|| OnDisk.text(path), |text| Ok(text.to_owned()))
    }

    fn real(&self, path: &Path) -> PathBuf {
        OnDisk.real(path)
    }
}

/// A suite that was read.
#[pyclass(frozen, module = "scorebox._scorebox")]
#[derive(Debug)]
pub(crate) struct Suite {
    plan: Plan,
    workspace: Option<PathBuf>,
    components: Components,
    /// The scorers, loaded without a database. `home` explains the lock.
    loaded: Mutex<Option<OfProcess<LoadedSuite>>>,
    /// The scorers as loaded for tables.
    of_tables: Mutex<Option<OfProcess<TableScorer>>>,
}

impl Suite {
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The components of its scorers, wherever they are loaded.
    pub(crate) fn components(&self) -> &Components {
        &self.components
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
        // Recordings of judges belong to a database, so another database needs another engine.
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
                self.components.must_be_of(py, loaded.scorers())?;
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
    /// Reads a suite file, a bundle, or the text of a suite file, whose paths start in `folder`. Files are then where
    /// they are now, whatever becomes the current folder.
    #[new]
    #[pyo3(signature = (path=None, text=None, workspace=None, folder=None))]
    fn new(
        py: Python<'_>,
        path: Option<PathBuf>,
        text: Option<&str>,
        workspace: Option<PathBuf>,
        folder: Option<PathBuf>,
    ) -> PyResult<Suite> {
        let wrong = |error| error::of_suite(py, &error);
        let plan = match (&path, text) {
            (Some(path), _) if scorebox_cli::is_bundle(path) => {
                let plan = scorebox_cli::bundled_suite(path);
                plan.map_err(|error| error::of_bundle(py, error))?
            }
            // The path is read twice, so that messages about mistakes name it as the caller does.
            (Some(path), _) => {
                let variable = |name: &str| std::env::var(name).ok();
                let plan = Plan::read_with(path, &variable).map_err(wrong)?;
                match path.is_absolute() {
                    true => plan,
                    false => Plan::read_with(&absolute(path.clone()), &variable).map_err(wrong)?,
                }
            }
            (None, text) => {
                let text = text.unwrap_or_default();
                let folder = folder.unwrap_or_default();
                let read = |path: &Path| Plan::read_from(path, &OfText::new(text), &|_| None);
                if folder.as_os_str().is_empty() {
                    read(Path::new("suite")).map_err(wrong)?;
                }
                read(&absolute(folder.join("suite"))).map_err(wrong)?
            }
        };
        let workspace = workspace.map(absolute);
        let (components, loaded, of_tables) = Default::default();
        Ok(Suite { plan, workspace, components, loaded, of_tables })
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

    /// The digests of its components by the names of its scorers, as far as they are known: those that were loaded, or
    /// else that are there.
    fn components_now(&self, py: Python<'_>) -> PyResult<BTreeMap<String, String>> {
        let noted = self.components.noted(py, &self.plan)?;
        Ok(noted.into_iter().map(|(scorer, digest)| (scorer, digest.to_string())).collect())
    }

    /// Refuses it unless its components are these, now and whenever they are loaded.
    fn must_have(&self, py: Python<'_>, components: BTreeMap<String, String>) -> PyResult<()> {
        let known = components
            .iter()
            .filter_map(|(scorer, digest)| Some((scorer.as_str(), digest.parse::<Digest>().ok()?)));
        self.components.must_be(py, known)?;
        self.components.must_be_there(py, &self.plan)
    }

    /// One of its scorers alone.
    fn scorer(&self, py: Python<'_>, name: &str) -> PyResult<Scorer> {
        let mut plan = self.plan.clone();
        let entry = plan.scorer_mut(name).map_err(|error| error::of_suite(py, &error))?.clone();
        let id = entry.id.clone();
        let scorer = Scorer::of_entry(py, entry)?;
        self.components.must_be(py, [(id.as_str(), scorer.component())])?;
        Ok(scorer)
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
                let loaded = TableScorer::load(
                    py,
                    &self.plan,
                    &self.components,
                    self.workspace(),
                    run_id,
                    jobs,
                )?;
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
