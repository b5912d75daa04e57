//! A run over files of cases, as on the command line. The Python code shows its progress to the user.

use std::{
    path::{Path, PathBuf},
    process,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use pyo3::prelude::*;
use scorebox::{
    advice::Advised as _,
    case::{CaseReader, Mapping, UnmatchedRules},
    run::{
        Control, OnBadCase, RunError, RunReport, RunRequest, Stop, WhichRun, fresh_id,
        load_scorers, run,
    },
    store::{Store, StoreError},
};
use scorebox_cli::Required;
use scorebox_readers::{Format, LeftOut, Settings};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::{
    error::{self, Kind},
    home::Home,
    judges::connected,
    requirements::{Passed, must_be_on_scale},
    run_id::run_id_of,
    suite::Suite,
    value,
    waiting::wait_for,
};

/// How often an aborted run is checked for its end.
const LOOK: Duration = Duration::from_millis(10);
/// The longest wait for that end: a file that is being read may never end.
const LONGEST_END: Duration = Duration::from_secs(5);

/// A run that is under way.
#[pyclass(frozen, module = "scorebox._scorebox")]
#[derive(Debug)]
pub(crate) struct Running {
    #[pyo3(get)]
    run_id: String,
    process: u32,
    database: PathBuf,
    required: Required,
    control: Arc<Control>,
    /// The rules of the mapping that found nothing; complete once all cases were read.
    unmatched: UnmatchedRules,
    /// What each file contains that is not a case, by reason.
    left_out: Vec<(String, LeftOut)>,
    /// `None` once its end was read. Threads lock it only briefly while they are attached to the interpreter; see
    /// `home`.
    ending: Mutex<Option<JoinHandle<Result<RunReport, RunError>>>>,
    report: Mutex<Option<RunReport>>,
}

#[pymethods]
impl Running {
    /// Begins a run.
    #[new]
    #[pyo3(signature = (suite, cases, database, mapping, run_id=None, resume=None, reuse=false, skip_bad_cases=false, format=None, strict=false, fail_below=Vec::new(), min_pass_rate=None, max_errors=None, allow_idle=Vec::new(), allow_errors=false, seed=None))]
    #[expect(clippy::too_many_arguments, reason = "they are named where they are passed")]
    fn new(
        py: Python<'_>,
        suite: &Suite,
        cases: Vec<PathBuf>,
        database: PathBuf,
        mapping: Vec<String>,
        run_id: Option<&str>,
        resume: Option<&str>,
        reuse: bool,
        skip_bad_cases: bool,
        format: Option<&str>,
        strict: bool,
        fail_below: Vec<(String, f64)>,
        min_pass_rate: Option<f64>,
        max_errors: Option<i64>,
        allow_idle: Vec<String>,
        allow_errors: bool,
        seed: Option<String>,
    ) -> PyResult<Running> {
        let mut plan = suite.plan().clone();
        plan.seed = seed.or(plan.seed);
        let required =
            Passed { strict, fail_below, min_pass_rate, max_errors, allow_idle, allow_errors };
        let required = required.of(py, &mut plan)?;
        let which = which(py, run_id, resume)?;
        let mapping = Mapping::parse(&mapping);
        let mapping = mapping.map_err(|error| error::of(py, Kind::InvalidArgument, &error))?;
        let (cases, left_out) = opened(py, &cases, mapping, format)?;
        let unmatched = cases.unmatched_rules();
        let home = Home::of_this_process(py)?;
        let place = home.open_runs.place(py)?;
        let judges = connected(py, &plan, Some(&database))?;
        let engine = home.engine_with(py, judges, suite.workspace().map(Path::to_owned))?;
        let locked = |error| error::of_lock(py, error);
        let registry = scorebox_cli::registry_of(&plan.scorers).map_err(locked)?;
        let scorers = wait_for(py, home, load_scorers(&plan, &registry, engine.sandbox()))?;
        let scorers = scorers.map_err(|error| error::of_run(py, &error))?;
        scorebox_cli::must_be_as_locked(&plan.scorers, &plan.policies, &scorers).map_err(locked)?;
        suite.components().must_be_of(py, &scorers)?;
        must_be_on_scale(py, &required.requirements, &scorers)?;
        let run_id = which.id().to_string();
        let request = RunRequest::new(plan, scorers, cases)
            .which(which)
            .store(&database)
            .reuse(reuse)
            .jobs(home.jobs)
            .on_bad_case(if skip_bad_cases { OnBadCase::Skip } else { OnBadCase::Stop });
        let control = Arc::new(Control::default());
        let running = home.runtime.spawn({
            let control = Arc::clone(&control);
            async move {
                let _place = place;
                run(request, control).await
            }
        });
        Ok(Running {
            run_id,
            process: process::id(),
            database,
            required,
            control,
            unmatched,
            left_out,
            ending: Mutex::new(Some(running)),
            report: Mutex::default(),
        })
    }

    /// Waits so many seconds for the end of the run; answers whether it has come.
    fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        if self.process != process::id() {
            let message = "this process was forked from the one that has the run";
            return Err(error::new(py, Kind::Failed, message.to_owned()));
        }
        let taken = self.ending.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut running) = taken else { return Ok(true) };
        let most = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let home = Home::of_this_process(py)?;
        let waited = wait_for(py, home, async { tokio::time::timeout(most, &mut running).await });
        let ended = match waited {
            Ok(Ok(ended)) => ended,
            Ok(Err(_elapsed)) => {
                *self.ending.lock().unwrap_or_else(PoisonError::into_inner) = Some(running);
                return Ok(false);
            }
            Err(signal) => {
                *self.ending.lock().unwrap_or_else(PoisonError::into_inner) = Some(running);
                return Err(signal);
            }
        };
        let report = ended.unwrap_or_else(|error| Err(RunError::Broken(error.to_string())));
        let report = report.map_err(|error| error::of_run(py, &error))?;
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
        Ok(true)
    }

    /// Ends the run in good order: what is in flight is finished and stored.
    fn stop(&self) {
        self.control.stop(Stop::Interrupted);
    }

    /// Ends the run at once: what is in flight is dropped, and is computed again when the run is resumed. Waits until
    /// no part of the run is left, because only one at a time may write a run.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        let taken = self.ending.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(running) = taken.filter(|_| self.process == process::id()) else { return Ok(()) };
        running.abort();
        let home = Home::of_this_process(py)?;
        // Each part of the run holds the control as long as it lives.
        let ended = async {
            while Arc::strong_count(&self.control) > 1 {
                tokio::time::sleep(LOOK).await;
            }
        };
        let waited = wait_for(py, home, async { tokio::time::timeout(LONGEST_END, ended).await });
        waited.map(drop)
    }

    /// Refuses a mapping of which a rule found nothing in any case, once the run has ended: it is stored, and probably
    /// not what was meant.
    fn must_have_found(&self, py: Python<'_>) -> PyResult<()> {
        let rules = self.unmatched.get();
        if rules.is_empty() {
            return Ok(());
        }
        let messages: Vec<String> = rules.iter().map(|rule| format!("`mapping`: {rule}")).collect();
        let advice = rules.iter().filter_map(|rule| error::in_words(rule.advice().as_ref()));
        let stored = format!("what was scored is stored, as the run `{}`", self.run_id);
        let advice = advice.chain([stored]).collect::<Vec<_>>().join("\n");
        Err(error::advised(py, Kind::InvalidArgument, messages.join("\n"), Some(advice)))
    }

    /// How far the run is: cases read and done, scores, errors, bytes.
    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let progress = self.control.progress();
        value::read(py, &serde_json::to_string(&progress).unwrap_or_default())
    }

    /// How the run went, as JSON's values; `None` before its end.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let report = self.report.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(report) = report else { return Ok(None) };
        let read = py.detach(|| figures(&self.database, &report, &self.required, &self.left_out));
        let figures = read.map_err(|error| error::of(py, Kind::Database, &error))?;
        Ok(Some(value::read(py, &figures.to_string())?))
    }
}

/// The run to begin or to resume.
fn which(py: Python<'_>, run_id: Option<&str>, resume: Option<&str>) -> PyResult<WhichRun> {
    match (resume, run_id) {
        (Some(id), None) => Ok(WhichRun::Resume(run_id_of(py, id)?)),
        (None, Some(id)) => Ok(WhichRun::New(run_id_of(py, id)?)),
        (None, None) => Ok(WhichRun::New(fresh_id())),
        (Some(_), Some(_)) => {
            let message = "a run is resumed under its own id: name `run_id` or `resume`";
            Err(error::new(py, Kind::InvalidArgument, message.to_owned()))
        }
    }
}

/// Opens the cases of files, whichever tool wrote them, and what each file contains that is not a case.
fn opened(
    py: Python<'_>,
    files: &[PathBuf],
    mapping: Mapping,
    format: Option<&str>,
) -> PyResult<(CaseReader, Vec<(String, LeftOut)>)> {
    let format = format.map(str::parse::<Format>).transpose().map_err(|error| {
        let known: Vec<String> = Format::ALL.iter().map(|it| format!("`{}`", it.name())).collect();
        let advice = format!("the formats are {}", known.join(", "));
        error::advised(py, Kind::InvalidArgument, error.to_string(), Some(advice))
    })?;
    let settings = Settings::new().with_format(format).with_mapping(mapping.clone());
    let (mut sources, mut left_out) = (Vec::new(), Vec::new());
    for path in files {
        let opened = scorebox_readers::open(path, &settings)
            .map_err(|error| error::of(py, Kind::Unreadable, &error))?;
        sources.push(opened.source);
        left_out.push((path.display().to_string(), opened.left_out));
    }
    let cases = CaseReader::open(sources, mapping);
    Ok((cases.map_err(|error| error::of(py, Kind::Unreadable, &error))?, left_out))
}

/// The stored figures of the run.
fn figures(
    database: &Path,
    report: &RunReport,
    required: &Required,
    left_out: &[(String, LeftOut)],
) -> Result<Value, StoreError> {
    let store = Store::open_read_only(database)?;
    let outcome = scorebox_cli::outcome(&store, &report.run, required)?;
    Ok(json!({
        "runId": report.run.as_str(),
        "stopped": report.stopped,
        "root": report.root,
        "progress": report.progress,
        "badCases": report.bad_cases,
        "leftOut": left_out.iter().map(|(file, left_out)| (file, left_out.counts())).collect::<Vec<_>>(),
        "seconds": report.duration.as_secs_f64(),
        "scorers": outcome.aggregates,
        "decides": outcome.decided.decides,
        "verdict": outcome.decided,
        "verdictLines": outcome.verdict,
        "broken": outcome.broken,
        "warnings": outcome.warnings,
        "passed": outcome.passed && report.stopped.is_none(),
    }))
}
