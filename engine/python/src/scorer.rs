//! One scorer: loaded when it is made, and again in a process that was forked. Its cases come one at a time here; tables
//! are in `table`.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict, PyTuple},
};
use scorebox::{
    case::Case,
    component_bytes::ComponentBytes,
    registry::{Reference, Registry},
    run::load_scorer,
    sandbox::{Grant, Grants, Limits, LoadedScorer, ScorerConfig},
    suite::{ScorerId, SuiteScorer},
};
use tokio::task::AbortHandle;

use crate::{
    answer::answer_of,
    case::{self, PARTS},
    error::{self, Kind},
    home::{Home, OfProcess, bytes_of},
    score::Score,
    table::{self, Table},
    value,
    waiting::wait_for,
};

/// What a scorer is loaded from, in whatever process.
#[derive(Clone, Debug)]
enum Recipe {
    Named(Box<SuiteScorer>),
    Bytes { component: ComponentBytes, config: ScorerConfig, limits: Limits, grants: Grants },
}

/// A scorer that is ready.
#[pyclass(frozen, module = "scorebox._scorebox")]
#[derive(Debug)]
pub(crate) struct Scorer {
    recipe: Recipe,
    /// Locked by threads that are attached to the interpreter, for a moment in which they do not detach; see `home`.
    loaded: Mutex<OfProcess<LoadedScorer>>,
}

#[pymethods]
impl Scorer {
    #[new]
    #[pyo3(signature = (source, config=None, timeout=None, fuel=None, memory=None, grants=None))]
    fn new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        config: Option<&Bound<'_, PyAny>>,
        timeout: Option<f64>,
        fuel: Option<u64>,
        memory: Option<&Bound<'_, PyAny>>,
        grants: Option<Vec<String>>,
    ) -> PyResult<Scorer> {
        let config = config.map(value::object).transpose()?.unwrap_or_default();
        let config = ScorerConfig::new(&config);
        let limits = limits(py, timeout, fuel, memory)?;
        let grants = granted(py, grants.unwrap_or_default())?;
        Scorer::of_recipe(py, recipe(source, config, limits, grants)?)
    }

    /// What the scorer says about itself.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let scorer = self.loaded(py)?;
        let info = scorer.info();
        let dictionary = PyDict::new(py);
        dictionary.set_item("id", &info.id)?;
        dictionary.set_item("name", &info.name)?;
        dictionary.set_item("description", &info.description)?;
        dictionary.set_item("version", &info.version)?;
        dictionary.set_item("scale", info.scale.as_str())?;
        dictionary.set_item("direction", info.direction.as_str())?;
        let reads: Vec<&str> = info.reads.iter().map(|field| field.key()).collect();
        dictionary.set_item("reads", reads)?;
        dictionary.set_item("severity", info.severity.as_str())?;
        dictionary.set_item("threshold", info.threshold)?;
        let schema = info.config_schema.as_deref().map(|schema| value::read(py, schema));
        dictionary.set_item("config_schema", schema.transpose()?)?;
        dictionary.set_item("digest", scorer.digest().to_string())?;
        Ok(dictionary)
    }

    /// The score of one case, of its parts in the order of [`PARTS`].
    #[pyo3(signature = (*parts))]
    fn score(&self, py: Python<'_>, parts: &Bound<'_, PyTuple>) -> PyResult<Score> {
        let case = case_of(parts)?;
        let (home, scorer) = (Home::of_this_process(py)?, self.loaded(py)?);
        let answer = wait_for(py, home, answer_of(&scorer, &case))?;
        Score::of_one(py, answer)
    }

    /// Begins to score one case; `done(score, error)` is called on another thread, and one of the two is `None`.
    #[pyo3(signature = (done, *parts))]
    fn submit(
        &self,
        py: Python<'_>,
        done: Py<PyAny>,
        parts: &Bound<'_, PyTuple>,
    ) -> PyResult<Pending> {
        let case = case_of(parts)?;
        let (home, scorer) = (Home::of_this_process(py)?, self.loaded(py)?);
        let scoring = home.runtime.spawn(async move {
            let answer = answer_of(&scorer, &case).await;
            // The interpreter may be gone, and then no one waits.
            let _ = Python::try_attach(|py| {
                let (score, error) = match Score::of_one(py, answer) {
                    Ok(score) => (Some(score), None),
                    Err(error) => (None, Some(error.into_value(py))),
                };
                if let Err(error) = done.call1(py, (score, error)) {
                    error.write_unraisable(py, None);
                }
            });
        });
        Ok(Pending(scoring.abort_handle()))
    }

    /// Scores a table; see `table`.
    #[pyo3(signature = (table, columns, jobs=None))]
    fn score_table(
        &self,
        py: Python<'_>,
        table: &Bound<'_, PyAny>,
        columns: Vec<(String, String)>,
        jobs: Option<usize>,
    ) -> PyResult<Table> {
        let home = Home::of_this_process(py)?;
        let jobs = jobs.unwrap_or(home.jobs).max(1);
        table::score(py, home, &self.loaded(py)?, table, &columns, jobs)
    }
}

impl Scorer {
    /// The scorer of an entry of a suite.
    pub(crate) fn of_entry(py: Python<'_>, entry: SuiteScorer) -> PyResult<Scorer> {
        Scorer::of_recipe(py, Recipe::Named(Box::new(entry)))
    }

    fn of_recipe(py: Python<'_>, recipe: Recipe) -> PyResult<Scorer> {
        let loaded = Mutex::new(load(py, &recipe)?);
        Ok(Scorer { recipe, loaded })
    }

    /// The scorer in this process.
    fn loaded(&self, py: Python<'_>) -> PyResult<Arc<LoadedScorer>> {
        let of_this_process = || self.loaded.lock().unwrap_or_else(PoisonError::into_inner).get();
        if let Some(scorer) = of_this_process() {
            return Ok(scorer);
        }
        let again = load(py, &self.recipe)?;
        *self.loaded.lock().unwrap_or_else(PoisonError::into_inner) = again;
        of_this_process().ok_or_else(|| {
            error::new(
                py,
                Kind::Failed,
                "the process was forked while it loaded a scorer".to_owned(),
            )
        })
    }
}

/// A score that is being computed.
#[pyclass(frozen, module = "scorebox._scorebox")]
#[derive(Debug)]
pub(crate) struct Pending(AbortHandle);

#[pymethods]
impl Pending {
    /// Ends it; `done` is not called any more.
    fn cancel(&self) {
        self.0.abort();
    }
}

fn case_of(parts: &Bound<'_, PyTuple>) -> PyResult<Case> {
    let part = |place| parts.get_item(place).ok().filter(|part| !part.is_none());
    case::of_parts(parts.py(), std::array::from_fn::<_, { PARTS.len() }, _>(part))
}

fn recipe(
    source: &Bound<'_, PyAny>,
    config: ScorerConfig,
    limits: Limits,
    grants: Grants,
) -> PyResult<Recipe> {
    let py = source.py();
    if let Ok(bytes) = source.cast::<PyBytes>() {
        let component = ComponentBytes::new(bytes.as_bytes().to_vec());
        return Ok(Recipe::Bytes { component, config, limits, grants });
    }
    let uses = match source.extract::<String>() {
        Ok(written) => Reference::parse(&written, std::path::Path::new("")),
        Err(_) => match source.extract::<PathBuf>() {
            Ok(path) => Reference::File(path),
            Err(_) => {
                let message = "a scorer is a name, a path, or the bytes of a component";
                return Err(error::new(py, Kind::InvalidArgument, message.to_owned()));
            }
        },
    };
    // What rows would call it; a file may be called otherwise than a scorer may.
    let id = ScorerId::new(&uses.default_name()).or_else(|error| match uses {
        Reference::File(_) => ScorerId::new("scorer"),
        Reference::Name(_) | Reference::Published(_) => Err(error),
    });
    let id = id.map_err(|error| error::of_suite(py, &error))?;
    let scorer = SuiteScorer::new(id, uses).with_config(config).with_limits(limits);
    Ok(Recipe::Named(Box::new(scorer.with_grants(grants))))
}

fn limits(
    py: Python<'_>,
    timeout: Option<f64>,
    fuel: Option<u64>,
    memory: Option<&Bound<'_, PyAny>>,
) -> PyResult<Limits> {
    let mut limits = Limits::default();
    if let Some(seconds) = timeout {
        let timeout = Duration::try_from_secs_f64(seconds).map_err(|_| {
            let message = format!("`timeout` is not a number of seconds: {seconds}");
            error::new(py, Kind::InvalidArgument, message)
        })?;
        limits = limits.with_timeout(timeout);
    }
    if let Some(fuel) = fuel {
        limits = limits.with_fuel(fuel);
    }
    if let Some(size) = memory {
        let bytes = bytes_of(size, "memory")?;
        if bytes > Limits::MOST_MEMORY_BYTES {
            let message = format!("`memory` is at most {} bytes", Limits::MOST_MEMORY_BYTES);
            return Err(error::new(py, Kind::InvalidArgument, message));
        }
        limits = limits.with_memory_bytes(bytes);
    }
    Ok(limits)
}

fn granted(py: Python<'_>, words: Vec<String>) -> PyResult<Grants> {
    words.iter().try_fold(Grants::NONE, |grants, word| {
        let grant: Grant = word.parse().map_err(|_| {
            let known: Vec<String> = Grant::ALL.iter().map(|grant| format!("`{grant}`")).collect();
            let message = format!("there is no grant `{word}`: there are {}", known.join(", "));
            error::new(py, Kind::InvalidArgument, message)
        })?;
        Ok(grants.with(grant))
    })
}

fn load(py: Python<'_>, recipe: &Recipe) -> PyResult<OfProcess<LoadedScorer>> {
    let home = Home::of_this_process(py)?;
    let sandbox = home.engine.sandbox();
    let loaded = match recipe {
        Recipe::Bytes { component, config, limits, grants } => {
            wait_for(py, home, sandbox.load(component, config, limits, *grants))?
                .map_err(|error| error::of_score(py, &error))?
        }
        Recipe::Named(scorer) => {
            let locked = |error| error::of_lock(py, error);
            let scorers = [SuiteScorer::clone(scorer)];
            let registry = scorebox_cli::registry_of(&scorers).map_err(locked)?;
            let [scorer] = scorers.clone();
            let ready = wait_for(py, home, load_scorer(scorer, &registry, sandbox))?
                .map_err(|error| error::of_run(py, &error))?;
            scorebox_cli::must_be_as_locked(&scorers, &[], std::slice::from_ref(&ready))
                .map_err(locked)?;
            ready.scorer
        }
    };
    Ok(OfProcess::new(loaded))
}

/// The names of the built-in scorers, with what each says about itself in a sentence.
#[pyfunction]
pub(crate) fn scorers(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let (registry, all) = (Registry::with_builtins(), PyDict::new(py));
    for name in registry.list() {
        let listing = registry.listing(name).ok().flatten();
        let description = listing.map(|listing| listing.info.description);
        let sentence = description.as_deref().and_then(|text| text.split("\n\n").next());
        all.set_item(name, sentence.map(|text| text.replace('\n', " ")))?;
    }
    Ok(all)
}
