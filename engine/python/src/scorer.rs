//! One scorer: loaded when it is made, and again in a forked process. Scores cases one at a time; tables are in
//! `table`.

use std::{
    ffi::OsStr,
    mem,
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
    digest::Digest,
    registry::{Reference, Registry},
    row::Answer,
    run::load_scorer,
    sandbox::{Grant, Grants, Limits, LoadedScorer, ScorerConfig},
    suite::{ScorerId, SuiteScorer},
};
use tokio::task::AbortHandle;

use crate::{
    answer::answer_of,
    case::{self, PARTS},
    error::{self, Kind},
    home::{Home, OfProcess, absolute, bytes_of},
    score::Score,
    table::{self, Table},
    value,
    waiting::wait_for,
};

/// What a scorer is loaded from, in any process.
#[derive(Clone, Debug)]
enum Recipe {
    Named(Box<SuiteScorer>),
    Bytes { component: ComponentBytes, config: ScorerConfig, limits: Limits, grants: Grants },
}

impl Recipe {
    /// The same for a process with another current folder.
    fn absolute(mut self) -> Recipe {
        if let Recipe::Named(scorer) = &mut self
            && let Reference::File(path) = &mut scorer.uses
        {
            *path = absolute(mem::take(path));
        }
        self
    }
}

/// A scorer that is ready.
#[pyclass(frozen, module = "scorebox._scorebox")]
#[derive(Debug)]
pub(crate) struct Scorer {
    recipe: Recipe,
    /// The digest of its component: a scorer that is loaded again must be the same.
    digest: Digest,
    /// Threads lock it only briefly while they are attached to the interpreter, and do not detach meanwhile; see
    /// `home`.
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
        fuel: Option<&Bound<'_, PyAny>>,
        memory: Option<&Bound<'_, PyAny>>,
        grants: Option<Vec<String>>,
    ) -> PyResult<Scorer> {
        let config = config.map(value::object).transpose()?.unwrap_or_default();
        let config = ScorerConfig::new(&config);
        let limits = limits(py, timeout, fuel, memory)?;
        let grants = granted(py, grants.unwrap_or_default())?;
        Scorer::of_recipe(py, recipe(source, config, limits, grants)?)
    }

    /// The file that it is made from, if it is one, wherever the process is.
    #[getter]
    fn path(&self) -> Option<&OsStr> {
        match &self.recipe {
            Recipe::Named(scorer) => match &scorer.uses {
                Reference::File(path) => Some(path.as_os_str()),
                Reference::Name(_) | Reference::Published(_) => None,
            },
            Recipe::Bytes { .. } => None,
        }
    }

    /// Its configuration.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let config = match &self.recipe {
            Recipe::Named(scorer) => &scorer.config,
            Recipe::Bytes { config, .. } => config,
        };
        value::read(py, config.as_str())
    }

    /// The digest of the component.
    #[getter]
    fn digest(&self) -> String {
        self.digest.to_string()
    }

    /// Refuses it unless it is the scorer of this digest, which was pickled.
    fn must_be(&self, py: Python<'_>, digest: &str) -> PyResult<()> {
        match self.digest() == digest {
            true => Ok(()),
            false => Err(changed(py)),
        }
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
        let (home, scorer) = (Home::of_this_process(py)?, self.loaded(py)?);
        let case = case_of(parts, &scorer)?;
        let answer = wait_for(py, home, answer_in_turn(home, &scorer, &case))?;
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
        let (home, scorer) = (Home::of_this_process(py)?, self.loaded(py)?);
        let case = case_of(parts, &scorer)?;
        let scoring = home.runtime.spawn(async move {
            let answer = answer_in_turn(home, &scorer, &case).await;
            // The interpreter may be ending or gone, and then no caller waits.
            let Some(_calling) = home.unfinished() else { return };
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
        let jobs = jobs.unwrap_or(home.jobs);
        table::score(py, home, &self.loaded(py)?, table, &columns, jobs)
    }
}

impl Scorer {
    /// The scorer of an entry of a suite.
    ///
    /// # Errors
    /// The entry is also refused if it is on one value of a case: a scorer alone is given outputs.
    pub(crate) fn of_entry(py: Python<'_>, entry: SuiteScorer) -> PyResult<Scorer> {
        if let Some(pointer) = &entry.output_from {
            let message = format!("the scorer `{}` is on `{pointer}` of a case", entry.id);
            let advice = "score with the suite, which knows what it is on; a scorer alone is given the output";
            return Err(error::advised(
                py,
                Kind::InvalidArgument,
                message,
                Some(advice.to_owned()),
            ));
        }
        Scorer::of_recipe(py, Recipe::Named(Box::new(entry)))
    }

    /// The digest of its component.
    pub(crate) fn component(&self) -> Digest {
        self.digest
    }

    fn of_recipe(py: Python<'_>, recipe: Recipe) -> PyResult<Scorer> {
        // Loads first, so that messages name the file as the caller does.
        let loaded = load(py, &recipe)?;
        let (digest, loaded) = (loaded.digest(), Mutex::new(OfProcess::new(loaded)));
        Ok(Scorer { recipe: recipe.absolute(), digest, loaded })
    }

    /// The scorer in this process.
    fn loaded(&self, py: Python<'_>) -> PyResult<Arc<LoadedScorer>> {
        let of_this_process = || self.loaded.lock().unwrap_or_else(PoisonError::into_inner).get();
        if let Some(scorer) = of_this_process() {
            return Ok(scorer);
        }
        let again = load(py, &self.recipe)?;
        if again.digest() != self.digest {
            return Err(changed(py));
        }
        let again = OfProcess::new(again);
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

/// The answer of the scorer on the case, once it has a turn. Scores that compute at the same time take turns, and time
/// that a score spends waiting for a processor counts as computing time. So however many scores are requested at once,
/// no more compute than there are jobs, and each has its full time-out.
async fn answer_in_turn(home: &Home, scorer: &LoadedScorer, case: &Case) -> Answer {
    let _turn = home.turns.acquire().await;
    answer_of(scorer, case).await
}

/// The exception that prevents scores of two scorers under one name.
fn changed(py: Python<'_>) -> PyErr {
    let message = "the scorer changed since it was loaded: its component has another digest";
    let advice = "make the scorer again, from what it is now";
    error::advised(py, Kind::Changed, message.to_owned(), Some(advice.to_owned()))
}

fn case_of(parts: &Bound<'_, PyTuple>, scorer: &LoadedScorer) -> PyResult<Case> {
    let part = |index| parts.get_item(index).ok().filter(|part| !part.is_none());
    let parts_given = std::array::from_fn::<_, { PARTS.len() }, _>(part);
    case::of_parts(parts.py(), parts_given, scorer.info().reads)
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
    // The name that rows would show. A file name may not be a valid name for a scorer.
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
    fuel: Option<&Bound<'_, PyAny>>,
    memory: Option<&Bound<'_, PyAny>>,
) -> PyResult<Limits> {
    let mut limits = Limits::default();
    if let Some(seconds) = timeout {
        let timeout = Duration::try_from_secs_f64(seconds).ok().filter(|it| !it.is_zero());
        let timeout = timeout.ok_or_else(|| {
            let message = format!("`timeout` is not a number of seconds above 0: {seconds}");
            error::new(py, Kind::InvalidArgument, message)
        })?;
        limits = limits.with_timeout(timeout);
    }
    if let Some(fuel) = fuel {
        let fuel = fuel.extract().map_err(|_| {
            let message = format!("`fuel` is not a number of instructions: {fuel}");
            error::new(py, Kind::InvalidArgument, message)
        })?;
        limits = limits.with_fuel(fuel);
    }
    if let Some(size) = memory {
        let bytes = bytes_of(size, "memory")?;
        if bytes > Limits::MAX_MEMORY_BYTES {
            let message = format!("`memory` is at most {} bytes", Limits::MAX_MEMORY_BYTES);
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

fn load(py: Python<'_>, recipe: &Recipe) -> PyResult<LoadedScorer> {
    let home = Home::of_this_process(py)?;
    let sandbox = home.engine.sandbox();
    Ok(match recipe {
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
    })
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
