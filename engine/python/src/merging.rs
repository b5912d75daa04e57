//! The shards of a run put together. What that means is `scorebox-shards`' to say.

use std::path::PathBuf;

use pyo3::{prelude::*, types::PyDict};
use scorebox_shards::{
    Difference, Merge, MergedRun, Named, ShardError, Shards, merge_into_database,
    merge_into_new_file, shard_files,
};

use crate::{
    batches::{TableScorer, refused},
    error::{self, Kind},
    home::Home,
    suite::Suite,
    waiting::{Signals, wait_for},
};

/// Where the cases go.
#[derive(Debug)]
enum Target {
    Database(PathBuf),
    File { path: PathBuf, replaces: bool },
}

/// Puts shards together, each case once; answers with what came of it.
#[pyfunction]
#[pyo3(signature = (shards, database=None, output=None, suite=None, run_id=None, replace=false, seed=None))]
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
) -> PyResult<Bound<'py, PyDict>> {
    let target = match (database, output) {
        (Some(database), None) => Target::Database(database),
        (None, Some(path)) => Target::File { path, replaces: replace },
        _ => {
            let message = "shards are merged into either `db` or `output`";
            return Err(error::new(py, Kind::InvalidArgument, message.to_owned()));
        }
    };
    let home = Home::of_this_process(py)?;
    let load = |suite: &Suite| {
        let mut plan = suite.plan().clone();
        plan.seed = seed.map(str::to_owned).or(plan.seed);
        TableScorer::load(py, &plan, suite.workspace(), run_id, None)
    };
    let scorer = suite.map(load).transpose()?;
    let mut signals = Signals::default();
    let compared = py.detach(|| {
        let plan = scorer.as_ref().map(TableScorer::plan);
        let named = Named { plan, run: run_id, seed };
        let shards = Shards::open(&shard_files(&shards)?, named)?;
        Merge::of(shards, |_| signals.look())
    });
    let merge = signals.or(compared)?.map_err(|error| refused(py, error))?;
    let run = match target {
        Target::Database(database) => {
            let scorers = suite.map_or(&[][..], |suite| &suite.plan().scorers);
            let registry = scorebox_cli::registry_of(scorers);
            let registry = registry.map_err(|error| error::of_lock(py, error))?;
            let sandbox = home.engine.sandbox();
            let look = |_| signals.look();
            let stored = merge_into_database(&merge, &database, &registry, sandbox, look);
            let stored = wait_for(py, home, stored)?;
            Some(signals.or(stored)?.map_err(|error| not_merged(py, &merge, error))?)
        }
        Target::File { path, replaces } => {
            let written =
                py.detach(|| merge_into_new_file(&merge, &path, replaces, |_| signals.look()));
            signals.or(written)?.map_err(|error| not_merged(py, &merge, error))?;
            None
        }
    };
    report(py, &merge, run.as_ref())
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

/// Why shards are not put together; results that differ are named.
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
