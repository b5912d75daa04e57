//! Merges the shards of a run. `scorebox-shards` decides what that means.

use std::path::{Path, PathBuf};

use pyo3::{prelude::*, types::PyDict};
use scorebox::store::Store;
use scorebox_cli::{Outcome, Required};
use scorebox_shards::{
    Difference, MAX_EXPECTED_SHARDS, Merge, MergedRun, Named, ShardError, Shards,
    merge_into_database, merge_into_new_file, must_be_all, shard_files,
};

use crate::{
    batches::{TableScorer, refused},
    error::{self, Kind},
    home::Home,
    requirements::Passed,
    suite::Suite,
    value,
    waiting::{Signals, wait_for},
};

/// Where the merged cases are written.
#[derive(Debug)]
enum Target {
    Database(PathBuf),
    File { path: PathBuf, replaces: bool },
}

impl Target {
    fn of(
        py: Python<'_>,
        database: Option<PathBuf>,
        output: Option<PathBuf>,
        replaces: bool,
    ) -> PyResult<Target> {
        match (database, output) {
            (Some(database), None) => Ok(Target::Database(database)),
            (None, Some(path)) => Ok(Target::File { path, replaces }),
            _ => {
                let message = "shards are merged into either `db` or `output`";
                Err(error::new(py, Kind::InvalidArgument, message.to_owned()))
            }
        }
    }
}

/// Puts shards together, each case once; answers with its outcome.
#[pyfunction]
#[pyo3(signature = (shards, database=None, output=None, suite=None, run_id=None, replace=false, seed=None, expect_shards=None, strict=false, fail_below=Vec::new(), min_pass_rate=None, max_errors=None, allow_idle=Vec::new()))]
#[expect(clippy::too_many_arguments, reason = "they are named where they are passed")]
pub(crate) fn merge<'py>(
    py: Python<'py>,
    shards: Vec<PathBuf>,
    database: Option<PathBuf>,
    output: Option<PathBuf>,
    suite: Option<&Suite>,
    run_id: Option<&str>,
    replace: bool,
    seed: Option<&str>,
    expect_shards: Option<i64>,
    strict: bool,
    fail_below: Vec<(String, f64)>,
    min_pass_rate: Option<f64>,
    max_errors: Option<i64>,
    allow_idle: Vec<String>,
) -> PyResult<Bound<'py, PyDict>> {
    // Scores that ended in errors are rows here too, as in their shards: only `max_errors` counts them.
    let required =
        Passed { strict, fail_below, min_pass_rate, max_errors, allow_idle, allow_errors: true };
    let expected = expect_shards.map(|shards| number_of_shards(py, shards)).transpose()?;
    let target = Target::of(py, database, output, replace)?;
    let home = Home::of_this_process(py)?;
    let load = |suite: &Suite| {
        let mut plan = suite.plan().clone();
        plan.seed = seed.map(str::to_owned).or(plan.seed);
        TableScorer::load(py, &plan, suite.components(), suite.workspace(), run_id, None)
    };
    let scorer = suite.map(load).transpose()?;
    let opened = py.detach(|| {
        let plan = scorer.as_ref().map(TableScorer::plan);
        let named = Named { plan, run: run_id, seed };
        let paths = shard_files(&shards)?;
        expected.map_or(Ok(()), |expected| must_be_all(&paths, expected))?;
        Shards::open(&paths, named)
    });
    let shards = opened.map_err(|error| refused(py, error))?;
    let required = required.of_scored(py, &shards.plan().scorers)?;
    let mut signals = Signals::default();
    let compared = py.detach(|| Merge::of(shards, |_| signals.look()));
    let merge = signals.or(compared)?.map_err(|error| refused(py, error))?;
    let all = expected.map_or(Ok(()), |expected| merge.must_be_all(expected));
    all.map_err(|error| refused(py, error))?;
    let (run, outcome) = match target {
        Target::Database(database) => {
            let run = stored(py, home, &merge, &database, suite, &mut signals)?;
            let outcome = required.map(|required| outcome(py, &database, &run, &required));
            (Some(run), outcome.transpose()?)
        }
        Target::File { path, replaces } => {
            let written =
                py.detach(|| merge_into_new_file(&merge, &path, replaces, |_| signals.look()));
            signals.or(written)?.map_err(|error| not_merged(py, &merge, error))?;
            (None, None)
        }
    };
    let report = report(py, &merge, run.as_ref())?;
    let counted = expected.and_then(|_| scorebox_cli::merged_count(&merge));
    let mut warnings: Vec<String> = counted.into_iter().collect();
    if let Some(outcome) = outcome {
        add_outcome(&report, &outcome)?;
        warnings.extend(outcome.warnings);
    }
    if !warnings.is_empty() {
        report.set_item("warnings", warnings)?;
    }
    Ok(report)
}

/// Stores the run of these shards in a database.
fn stored(
    py: Python<'_>,
    home: &Home,
    merge: &Merge,
    database: &Path,
    suite: Option<&Suite>,
    signals: &mut Signals,
) -> PyResult<MergedRun> {
    let scorers = suite.map_or(&[][..], |suite| &suite.plan().scorers);
    let registry = scorebox_cli::registry_of(scorers);
    let registry = registry.map_err(|error| error::of_lock(py, error))?;
    let look = |_| signals.look();
    let stored = merge_into_database(merge, database, &registry, home.engine.sandbox(), look);
    let stored = wait_for(py, home, stored)?;
    signals.or(stored)?.map_err(|error| not_merged(py, merge, error))
}

/// Checks that a run can have this number of shards.
fn number_of_shards(py: Python<'_>, passed: i64) -> PyResult<u64> {
    let number = u64::try_from(passed).ok();
    number.filter(|number| (1..=MAX_EXPECTED_SHARDS).contains(number)).ok_or_else(|| {
        let message =
            format!("`expect_shards` is {passed}: not a number from 1 to {MAX_EXPECTED_SHARDS}");
        error::new(py, Kind::InvalidArgument, message)
    })
}

/// What is stored of the run, checked against its requirements.
fn outcome(
    py: Python<'_>,
    database: &Path,
    run: &MergedRun,
    required: &Required,
) -> PyResult<Outcome> {
    let decided = py.detach(|| {
        let store = Store::open_read_only(database)?;
        scorebox_cli::outcome(&store, &run.id, required)
    });
    decided.map_err(|error| error::of(py, Kind::Database, &error))
}

fn add_outcome(report: &Bound<'_, PyDict>, outcome: &Outcome) -> PyResult<()> {
    let py = report.py();
    let decided = serde_json::to_string(&outcome.decided).unwrap_or_default();
    let verdict = outcome.decided.decides.then(|| value::read(py, &decided)).transpose()?;
    report.set_item("verdict", verdict)?;
    report.set_item("passed", outcome.passed)?;
    report.set_item("verdict_lines", &outcome.verdict)?;
    report.set_item("broken", &outcome.broken)
}

fn report<'py>(
    py: Python<'py>,
    merge: &Merge,
    run: Option<&MergedRun>,
) -> PyResult<Bound<'py, PyDict>> {
    let (duplicates, report) = (merge.duplicates(), PyDict::new(py));
    report.set_item("run_id", &merge.shards().plan().run_id)?;
    report.set_item("cases", duplicates.cases)?;
    report.set_item("shards", merge.shards().count())?;
    report.set_item("repeated", duplicates.repeated)?;
    report.set_item("timed_out", duplicates.timed_out)?;
    report.set_item("root", run.map(|run| run.root.to_string()))?;
    report.set_item("summarized", run.map_or(&[][..], |run| &run.summarized))?;
    Ok(report)
}

/// The exception for shards that cannot be merged; it names the results that differ.
fn not_merged(py: Python<'_>, merge: &Merge, error: ShardError) -> PyErr {
    if !matches!(error, ShardError::Different { .. }) {
        return refused(py, error);
    }
    let differences = merge.duplicates().differences.iter().map(in_words);
    let lines: Vec<String> = [error.to_string()].into_iter().chain(differences).collect();
    let advice = "nothing was written; score one of the two shards again, or leave one out";
    error::advised(py, Kind::Different, lines.join("\n"), Some(advice.to_owned()))
}

fn in_words(difference: &Difference) -> String {
    let Difference { case_id, scorer, results: [one, other], shards, .. } = difference;
    let what =
        scorer.as_deref().map_or_else(|| "the case itself".to_owned(), |it| format!("`{it}`"));
    format!("case `{case_id}`, {what}: {one} in `{}`, {other} in `{}`", shards[0], shards[1])
}
