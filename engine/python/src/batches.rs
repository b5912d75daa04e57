//! Scores a table with all scorers of a suite: one wide row for each case, as in the shards of a run. `scorebox-shards`
//! defines the rows.

use std::{io, path::Path, sync::Arc};

use arrow_schema::Schema;
use pyo3::prelude::*;
use scorebox::{
    judge::Judges,
    run::load_scorers,
    store::{RunId, StoreError},
    suite::Suite as Plan,
};
use scorebox_shards::{BatchScorer, ShardError};

use crate::{
    capsule::Batches,
    components::Components,
    error::{self, Kind},
    home::Home,
    run_id::run_id_of,
    selecting::Selected,
    table::{self, Table},
    waiting::wait_for,
};

/// Rows that are handed over at a time, so that signals are noticed and no table is copied as a whole.
const ROWS_AT_ONCE: usize = 4096;

/// A suite that scores tables for one run.
#[derive(Clone, Debug)]
pub(crate) struct TableScorer {
    run: RunId,
    jobs: usize,
    scorer: BatchScorer,
}

impl TableScorer {
    /// Loads the scorers of a suite, whose components must be `components`. A run without an id is named after the
    /// suite.
    pub(crate) fn load(
        py: Python<'_>,
        plan: &Plan,
        components: &Components,
        workspace: Option<&Path>,
        run: Option<&str>,
        jobs: Option<usize>,
    ) -> PyResult<TableScorer> {
        let run = run_id_of(py, run.unwrap_or(&scorebox_shards::Plan::default_run_id(plan)))?;
        let home = Home::of_this_process(py)?;
        let jobs = jobs.unwrap_or(home.jobs);
        // These judges are never asked: a suite that would ask them is refused below, with the reason.
        let judges = plan.judges.iter().fold(Judges::builder(), |builder, (name, judge)| {
            builder.judge(name, judge.settings.clone(), None)
        });
        let engine = home.engine_with(py, judges.build(), workspace.map(Into::into))?;
        let locked = |error| error::of_lock(py, error);
        let registry = scorebox_cli::registry_of(&plan.scorers).map_err(locked)?;
        let loaded = wait_for(py, home, load_scorers(plan, &registry, engine.sandbox()))?;
        let loaded = loaded.map_err(|error| error::of_run(py, &error))?;
        scorebox_cli::must_be_as_locked(&plan.scorers, &plan.policies, &loaded).map_err(locked)?;
        components.must_be_of(py, &loaded)?;
        let scorer = BatchScorer::new(plan.clone(), loaded, &run, jobs);
        Ok(TableScorer { scorer: scorer.map_err(|error| refused(py, error))?, run, jobs })
    }

    /// Whether it is for this run, with this number of jobs if one is given.
    pub(crate) fn is_of(&self, plan: &Plan, run: Option<&str>, jobs: Option<usize>) -> bool {
        let wanted = || scorebox_shards::Plan::default_run_id(plan);
        let run = run.map_or_else(wanted, str::to_owned);
        self.run.as_str() == run && jobs.is_none_or(|jobs| jobs == self.jobs)
    }

    /// The plan that its rows name.
    pub(crate) fn plan(&self) -> &scorebox_shards::Plan {
        self.scorer.plan()
    }

    pub(crate) fn score(
        &self,
        py: Python<'_>,
        table: &Bound<'_, PyAny>,
        mapped: &[(String, String)],
    ) -> PyResult<Table> {
        let home = Home::of_this_process(py)?;
        let find = |schema: &Schema, mapped: &[(String, String)]| {
            self.scorer.columns(schema, mapped).map_err(|error| refused(py, error))
        };
        let selected = Selected::of(table, mapped, |names| find(names, mapped))?;
        let mut batches = Batches::of(&selected.table)?;
        let columns = find(&batches.schema(), &selected.mapped)?;
        let (mut scored, mut before) = (Vec::new(), 0);
        while let Some(batch) = batches.next(py)? {
            for start in (0..batch.num_rows()).step_by(ROWS_AT_ONCE) {
                let rows = batch.slice(start, ROWS_AT_ONCE.min(batch.num_rows() - start));
                let results = self.scorer.score(&rows, &columns, before, "<table>");
                let results = wait_for(py, home, results)?;
                scored.extend(results.map_err(|error| refused(py, error))?);
                before += rows.num_rows() as u64;
            }
        }
        Ok(Table::new(Arc::clone(self.scorer.schema()), scored))
    }
}

/// The exception for a table that cannot be scored, or for shards that cannot be merged.
pub(crate) fn refused(py: Python<'_>, error: ShardError) -> PyErr {
    let advised = |kind: Kind, advice: &str| {
        error::advised(py, kind, error.to_string(), Some(advice.to_owned()))
    };
    match error {
        ShardError::File { ref error, .. } if error.kind() == io::ErrorKind::AlreadyExists => {
            advised(Kind::InvalidArgument, "name another file, or replace it: `replace=True`")
        }
        ShardError::File { .. } | ShardError::EmptyFolder { .. } => {
            error::new(py, Kind::Unreadable, error.to_string())
        }
        ShardError::NotParquet { .. } | ShardError::DamagedRow { .. } => {
            advised(Kind::InvalidShard, "make the shard again")
        }
        ShardError::BrokenSeal { .. } => advised(
            Kind::InvalidShard,
            "copy it again from the machine that made it, or score it again",
        ),
        ShardError::NoShards => {
            advised(Kind::InvalidArgument, "name the files, or a folder that they are in")
        }
        ShardError::NotAll { ref missing, .. } => {
            let advice = missing.as_deref().map_or_else(
                || "nothing was written; name all shards of the run, once each".to_owned(),
                |missing| format!("nothing was written; missing: {missing}"),
            );
            advised(Kind::InvalidShard, &advice)
        }
        ShardError::NotAShard { .. } => advised(
            Kind::InvalidShard,
            "of what a data engine wrote without the plan, name the suite: `merge(…, suite=…)`",
        ),
        ShardError::Mixed { .. } => advised(
            Kind::InvalidShard,
            "shards of one run need one suite, the same components and one version of scorebox",
        ),
        ShardError::NotThePlan { .. } => advised(
            Kind::InvalidShard,
            "name `suite`, `run_id` and `seed` as it was scored; a shard that names its plan needs none of them",
        ),
        ShardError::NoComponent { .. } => {
            advised(Kind::UnknownScorer, "put the file where it was when the shards were made")
        }
        ShardError::AnotherComponent { .. } => advised(
            Kind::Changed,
            "put back the file as it was, or make the shards again with the one that is there",
        ),
        ShardError::OtherRun { .. } => {
            advised(Kind::Database, "name the same shards in the same order, or another database")
        }
        ShardError::Store(StoreError::RunExists { .. }) => {
            advised(Kind::Database, "the run is finished; name another database")
        }
        ShardError::Store(ref error) => error::of(py, Kind::Database, error),
        ShardError::Summary { ref error, .. } => error::of_score(py, error),
        ShardError::Different { .. } | ShardError::TooDifferent { .. } => {
            error::new(py, Kind::Different, error.to_string())
        }
        ShardError::Table(ref error) => table::refused(py, error),
        ShardError::BadRow { ref error } => error::of_answer(py, error),
        ShardError::Run(ref error) => error::of_run(py, error),
        ShardError::AsksJudge { .. } => advised(
            Kind::InvalidArgument,
            "use `scorebox.run` or `Suite.iter`; or leave the scorer out",
        ),
        _ => error::new(py, Kind::Failed, error.to_string()),
    }
}
