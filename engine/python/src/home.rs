//! What one process has: a runtime, an engine, and its process id. A forked process gets its own, because threads are
//! not forked. Scores nothing.

use std::{
    ffi::OsString,
    mem,
    path::{self, PathBuf},
    process,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use pyo3::prelude::*;
use scorebox::{
    engine::{Engine, EngineBuilder},
    judge::Judges,
    sandbox::Compiler,
    suite::parse_bytes,
};
use tokio::{runtime::Runtime, sync::Semaphore};

use crate::{
    error::{self, Kind},
    open_runs::{BLOCKING_THREADS, OpenRuns},
};

/// What the user set before the first scorer.
#[derive(Clone, Debug, Default)]
struct Settings {
    jobs: Option<usize>,
    cache: Option<PathBuf>,
    memory_budget_bytes: Option<u64>,
    workspace: Option<PathBuf>,
}

/// A runtime and an engine of this process. They live as long as the process: dropping a runtime waits for its threads,
/// which a forked process does not have.
#[derive(Debug)]
pub(crate) struct Home {
    process: u32,
    pub(crate) runtime: Runtime,
    pub(crate) engine: Engine,
    pub(crate) jobs: usize,
    /// A permit for each single score that computes; as many as there are jobs, and never closed.
    pub(crate) turns: Semaphore,
    /// The permits of open runs.
    pub(crate) open_runs: OpenRuns,
    /// What the interpreter waits for before it ends; see [`Home::unfinished`].
    unfinished: AtomicUsize,
    is_ending: AtomicBool,
    settings: Settings,
}

/// The settings, and the home that was made with them. Threads lock it only while they are attached to the interpreter,
/// run no Python code and do not detach. So no thread holds it while another one forks or waits for it: both need the
/// interpreter.
static HOME: Mutex<(Option<Settings>, Option<&'static Home>)> = Mutex::new((None, None));

impl Home {
    /// The home of this process, which is made if there is none yet.
    pub(crate) fn of_this_process(py: Python<'_>) -> PyResult<&'static Home> {
        let there = || {
            let home = HOME.lock().unwrap_or_else(PoisonError::into_inner);
            (home.1.filter(|home| home.process == process::id()), home.0.clone())
        };
        let settings = match there() {
            (Some(home), _) => return Ok(home),
            (None, settings) => settings.unwrap_or_default(),
        };
        let made = Box::new(Home::new(py, settings)?);
        let mut home = HOME.lock().unwrap_or_else(PoisonError::into_inner);
        match home.1 {
            // Another thread was faster.
            Some(home) if home.process == process::id() => Ok(home),
            _ => Ok(*home.1.insert(Box::leak(made))),
        }
    }

    fn new(py: Python<'_>, mut settings: Settings) -> PyResult<Home> {
        settings.cache = settings.cache.or_else(scorebox_cli::cache_folder).map(absolute);
        let cores = thread::available_parallelism().map_or(1, Into::into);
        let jobs = settings.jobs.unwrap_or(cores);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(jobs.min(cores))
            .max_blocking_threads(BLOCKING_THREADS)
            .thread_name("scorebox")
            .enable_all()
            .build()
            .map_err(|error| error::new(py, Kind::Failed, format!("cannot start: {error}")))?;
        let engine = builder(py, &settings, jobs)?;
        let engine = engine.build().map_err(|error| error::of_engine(py, &error))?;
        warn_of(py, &engine)?;
        let turns = Semaphore::new(jobs.min(Semaphore::MAX_PERMITS));
        Ok(Home {
            process: process::id(),
            runtime,
            engine,
            jobs,
            turns,
            open_runs: OpenRuns::new(),
            unfinished: AtomicUsize::new(0),
            is_ending: AtomicBool::new(false),
            settings,
        })
    }

    /// Registers work that the end of the interpreter must not cut off: a call of Python from a thread of the runtime,
    /// or the end of a run that is being stored. `None` if the interpreter is already ending.
    pub(crate) fn unfinished(&'static self) -> Option<Unfinished> {
        self.unfinished.fetch_add(1, Ordering::SeqCst);
        let noted = Unfinished(self);
        (!self.is_ending.load(Ordering::SeqCst)).then_some(noted)
    }

    /// The home of this process, if there is one.
    pub(crate) fn started() -> Option<&'static Home> {
        let home = HOME.lock().unwrap_or_else(PoisonError::into_inner).1;
        home.filter(|home| home.process == process::id())
    }

    /// Lets no more such work begin, and waits for what is unfinished.
    pub(crate) async fn finish(&self) {
        self.is_ending.store(true, Ordering::SeqCst);
        while self.unfinished.load(Ordering::SeqCst) > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// An engine for scorers that may ask these judges or read files below this folder, with the script runtimes that
    /// are installed now.
    pub(crate) fn engine_with(
        &self,
        py: Python<'_>,
        judges: Judges,
        workspace: Option<PathBuf>,
    ) -> PyResult<Engine> {
        if judges.is_empty() && workspace.is_none() {
            return Ok(self.engine.clone().with_registry(scorebox_cli::registry()));
        }
        let mut engine = builder(py, &self.settings, self.jobs)?.judges(judges);
        if let Some(folder) = workspace {
            engine = engine.workspace(folder);
        }
        let engine = engine.build().map_err(|error| error::of_engine(py, &error))?;
        warn_of(py, &engine)?;
        Ok(engine.with_registry(scorebox_cli::registry()))
    }
}

/// Work that is unfinished until this is dropped.
#[derive(Debug)]
pub(crate) struct Unfinished(&'static Home);

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.0.unfinished.fetch_sub(1, Ordering::SeqCst);
    }
}

/// An engine for a process in which others handle signals, and which cannot be started again to compile.
fn builder(py: Python<'_>, settings: &Settings, jobs: usize) -> PyResult<EngineBuilder> {
    let mut engine =
        Engine::builder().jobs(jobs).compiler(compiler(py)?).signals_based_traps(false);
    if let Some(folder) = &settings.cache {
        engine = engine.cache(folder);
    }
    if let Some(bytes) = settings.memory_budget_bytes {
        engine = engine.memory_budget_bytes(bytes);
    }
    if let Some(folder) = &settings.workspace {
        engine = engine.workspace(folder);
    }
    Ok(engine)
}

/// The process that compiles components: an interpreter that loads this extension module from its file and nothing
/// else.
pub(crate) fn compiler(py: Python<'_>) -> PyResult<Compiler> {
    let arguments = py.import("scorebox._compile")?.call_method0("command")?;
    let mut arguments: Vec<OsString> = arguments.extract()?;
    let program = arguments.remove(0).into();
    Ok(Compiler::Process { program, arguments })
}

fn warn_of(py: Python<'_>, engine: &Engine) -> PyResult<()> {
    for warning in engine.warnings() {
        py.import("warnings")?.call_method1("warn", (format!("scorebox: {warning}"),))?;
    }
    Ok(())
}

/// Says how this process, and those that are forked from it, score: before the first scorer is made.
#[pyfunction]
#[pyo3(signature = (*, jobs=None, cache_dir=None, memory_budget=None, workspace=None))]
pub(crate) fn configure(
    py: Python<'_>,
    jobs: Option<Bound<'_, PyAny>>,
    cache_dir: Option<PathBuf>,
    memory_budget: Option<Bound<'_, PyAny>>,
    workspace: Option<PathBuf>,
) -> PyResult<()> {
    let jobs = jobs.map(|jobs| jobs_of(&jobs)).transpose()?;
    let memory_budget_bytes = memory_budget.map(|size| bytes_of(&size, "memory_budget"));
    let memory_budget_bytes = memory_budget_bytes.transpose()?;
    let mut home = HOME.lock().unwrap_or_else(PoisonError::into_inner);
    if home.1.is_some_and(|home| home.process == process::id()) {
        let message = "`configure` comes too late: this process has scorers already";
        let advice = "call `scorebox.configure` before the first `Scorer`, `Suite` or `run`";
        return Err(error::advised(py, Kind::InvalidArgument, message.into(), Some(advice.into())));
    }
    // Settings that this call does not name stay as an earlier call set them.
    let before = home.0.take().unwrap_or_default();
    home.0 = Some(Settings {
        jobs: jobs.or(before.jobs),
        cache: cache_dir.map(absolute).or(before.cache),
        memory_budget_bytes: memory_budget_bytes.or(before.memory_budget_bytes),
        workspace: workspace.map(absolute).or(before.workspace),
    });
    Ok(())
}

/// The absolute path, for a process whose current folder may have changed by then.
pub(crate) fn absolute(path: PathBuf) -> PathBuf {
    path::absolute(&path).unwrap_or(path)
}

/// A number of jobs, checked like every integer that callers pass.
fn jobs_of(jobs: &Bound<'_, PyAny>) -> PyResult<usize> {
    let arguments = jobs.py().import("scorebox._arguments")?;
    arguments.call_method1("whole", ("jobs", jobs, 1))?.extract()
}

/// A number of bytes: an integer, or text such as `64MiB`.
pub(crate) fn bytes_of(size: &Bound<'_, PyAny>, name: &str) -> PyResult<u64> {
    let py = size.py();
    if let Ok(bytes) = size.extract::<u64>() {
        return Ok(bytes);
    }
    let refused = |why: String| {
        error::new(py, Kind::InvalidArgument, format!("`{name}` is not a number of bytes: {why}"))
    };
    let text: String = size.extract().map_err(|_| refused(value_for_people(size)))?;
    parse_bytes(&text).map_err(|error| refused(error.to_string()))
}

fn value_for_people(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "?".to_owned(), |repr| repr.to_string())
}

/// A value that belongs to the process that made it: a forked process neither uses nor drops it, because the threads
/// that dropping waits for may not exist there.
#[derive(Debug)]
pub(crate) struct OfProcess<T> {
    process: u32,
    value: Option<Arc<T>>,
}

impl<T> OfProcess<T> {
    pub(crate) fn new(value: T) -> OfProcess<T> {
        OfProcess { process: process::id(), value: Some(Arc::new(value)) }
    }

    /// The value, if this process made it.
    pub(crate) fn get(&self) -> Option<Arc<T>> {
        self.value.clone().filter(|_| self.process == process::id())
    }
}

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        if self.process != process::id() {
            mem::forget(self.value.take());
        }
    }
}
