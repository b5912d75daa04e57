//! `scorebox merge`: checks the shards of a run against each other and merges them, each case once.

use std::path::{Path, PathBuf};

use scorebox::{
    registry::Registry,
    sandbox::Capabilities,
    store::{RunId, RunState, Store},
    suite::Suite,
    verdict::Requirements,
};
use scorebox_shards::{
    BatchScorer, Difference, Duplicates, MAX_EXPECTED_SHARDS, Merge as Merged, Named, Plan,
    ShardError, Shards, merge_into_database, merge_into_file, must_be_all, shard_files,
};

use crate::{
    arguments::{Database, LockedArguments, RequirementArguments, RunEnded, run_id, seed},
    decision::Decision,
    failure::{Exit, Failure, WriteError},
    locked,
    new_file::{must_be_apart, write_to},
    output,
    report::{Align, Table, counted, printable, summaries},
    setup::{self, SandboxArguments},
    shards::{failure, merged_count, shown, where_it_is},
    waiting::Waiting,
    words,
};

/// Put the shards of a run together, each case once
///
/// All shards must be of one run: one suite, the same components, one version of scorebox. A case that is in several
/// shards must have the same results in each; a result that a time-out ended is taken from another shard. If results
/// differ, they are shown and nothing is written. Repeat the command to continue a merge that was interrupted.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("into").args(["db", "output"]).required(true)))]
pub(crate) struct Merge {
    /// Shards, or folders of shards
    #[arg(required = true, value_name = "SHARD")]
    shards: Vec<PathBuf>,

    /// Refuse to merge unless there are N shards, each with a case that no other one brings; a shard does not know how
    /// many others there are
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_EXPECTED_SHARDS), help_heading = "Run")]
    expect_shards: Option<u64>,

    /// Store the run in this database, as if one machine had scored it; SCOREBOX_DB does not name it
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    db: Option<PathBuf>,

    /// Write one Parquet file, which is a shard of the same run
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Replace the file if it exists
    #[arg(long, requires = "output", help_heading = "Output")]
    force: bool,

    /// Check the shards against this suite or bundle; needed for shards that a data engine wrote without their plan,
    /// and for components that only the bundle has
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    suite: Option<PathBuf>,

    /// With --suite: the run that the shards are parts of [default: derived from the suite]
    #[arg(long, value_name = "ID", value_parser = run_id, requires = "suite", help_heading = "Run")]
    run_id: Option<RunId>,

    /// With --suite: the seed that the shards were scored with, if it was an option [default: that of the suite, or of
    /// shards that have their plan]
    #[arg(long, value_name = "SEED", value_parser = seed, requires = "suite", help_heading = "Run")]
    seed: Option<String>,

    #[command(flatten)]
    requirements: RequirementArguments,

    #[command(flatten)]
    locked: LockedArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

impl Merge {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let suite = self.suite.as_ref();
        let seeded = |mut suite: Suite| {
            suite.seed = self.seed.clone().or(suite.seed);
            Ok(suite)
        };
        let suite = suite.map(|path| setup::suite_to_load(path, &self.sandbox, seeded));
        let suite = suite.transpose()?;
        // A bundle also contains the components.
        let registry = setup::registry_of(suite.as_ref().map_or(&[], |suite| &suite.scorers))?;
        let plan = suite.map(|suite| self.plan(suite)).transpose()?;
        let paths = shard_files(&self.shards).map_err(failure)?;
        if let Some(expected) = self.expect_shards {
            must_be_all(&paths, expected).map_err(failure)?;
        }
        if let Some(output) = &self.output {
            must_be_apart(output, paths.iter().map(PathBuf::as_path))?;
        }
        let named = Named {
            plan: plan.as_ref(),
            run: self.run_id.as_ref().map(RunId::as_str),
            seed: self.seed.as_deref(),
        };
        let shards = Shards::open(&paths, named).map_err(failure)?;
        let requirements = self.requirements(&shards)?;
        let waiting = Waiting::of("comparing cases", shards.rows());
        let merge = Merged::of(shards, |rows| shown(&waiting, rows)).map_err(failure)?;
        drop(waiting);
        show(&merge.duplicates().differences)?;
        if let Some(expected) = self.expect_shards {
            merge.must_be_all(expected).map_err(failure)?;
            merged_count(&merge).iter().for_each(|line| words::warn(line));
        }
        let mut stored = None;
        match (&self.db, &self.output) {
            (Some(path), _) => {
                stored = Some((self.store(&merge, path, &registry)?, path));
            }
            (None, Some(path)) => {
                if !self.write(&merge, path)? {
                    return Ok(Exit::Done);
                }
            }
            (None, None) => {}
        }
        say_duplicates(merge.duplicates());
        let Some((Stored { run, summary_failed }, path)) = stored else { return Ok(Exit::Done) };
        let exit = match requirements {
            Some(requirements) => self.decide(&run, path, &requirements)?,
            None => Exit::Done,
        };
        // Scorers' summaries of the whole run are computed here, so no shard has reported their errors.
        Ok(match exit {
            Exit::Done if summary_failed => Exit::SomeErrors,
            exit => exit,
        })
    }

    /// Writes one shard; returns whether it is complete, because the reader may close standard output.
    fn write(&self, merge: &Merged, path: &Path) -> Result<bool, Failure> {
        let waiting = Waiting::of("writing cases", merge.duplicates().cases);
        let written = write_to(path, self.force, |out| {
            let written = merge_into_file(merge, out, |cases| shown(&waiting, cases));
            written.map_err(|error| match error {
                ShardError::Write(error) => WriteError::Io(error),
                other => WriteError::Failure(failure(other)),
            })
        });
        drop(waiting);
        let is_whole = written?.is_some();
        if is_whole {
            words::say(&format!("{}: {}", said(path), of_shards(merge)));
        }
        Ok(is_whole)
    }

    /// The requirements of the run; `None` if there are none.
    fn requirements(&self, shards: &Shards) -> Result<Option<Requirements>, Failure> {
        let requirements = self.requirements.of_scored(&shards.plan().scorers)?;
        match requirements.is_some() && self.db.is_none() {
            true => Err(Failure::new(
                "requirements such as --min-pass-rate need --db: a file of shards has no verdict",
            )
            .hint("store it with --db")),
            false => Ok(requirements),
        }
    }

    /// The exit code from the requirements of the run. Its errors are rows, as in its shards: only --max-errors counts
    /// them.
    fn decide(
        &self,
        run: &RunId,
        path: &Path,
        requirements: &Requirements,
    ) -> Result<Exit, Failure> {
        let database = Database { path: path.to_owned() };
        let store = database.read()?;
        let decision = Decision::of_run(&store, run, requirements, self.requirements.strict)?;
        decision.say_verdict();
        let is_broken = !decision.broken.is_empty();
        if is_broken {
            decision.say_broken(run, &database);
        }
        Ok(self.requirements.exit(RunEnded {
            is_broken,
            errors: decision.errors(),
            has_other_error: false,
            allows_errors: true,
        }))
    }

    fn store(
        &self,
        merge: &Merged,
        database: &Path,
        registry: &Registry,
    ) -> Result<Stored, Failure> {
        let sandbox = self.sandbox.open(1, Capabilities::none())?;
        let waiting = Waiting::of("storing cases", merge.duplicates().cases);
        let progress = |cases| shown(&waiting, cases);
        let merged = merge_into_database(merge, database, registry, &sandbox, progress);
        let run = setup::finish(setup::small_runtime()?, merged).map_err(failure)?;
        drop(waiting);
        words::say(&format!("{}: run {} with {}", said(database), run.id, of_shards(merge)));
        let said = match run.summarized.is_empty() {
            true => Vec::new(),
            false => {
                let store = Store::open_read_only(database)?;
                store.summaries(store.run(run.id.as_str())?.key)?
            }
        };
        output::stdout(|out| {
            said.iter()
                .try_for_each(|it| write!(out, "{}", summaries::said(it, RunState::Finished)))
        })?;
        summaries::errors_in_short(&said).for_each(|line| words::warn(&line));
        words::limit_hints(summaries::error_kinds(&said));
        words::say(&format!("root {}", run.root));
        Ok(Stored { run: run.id, summary_failed: summaries::have_error(&said) })
    }

    /// The plan of the suite on this machine.
    fn plan(&self, suite: Suite) -> Result<Plan, Failure> {
        self.locked.check(&suite)?;
        let sandbox = self.sandbox.open(1, setup::unasked_judges(&suite))?;
        let run = match &self.run_id {
            Some(id) => id.clone(),
            None => Plan::default_run_id(&suite).parse()?,
        };
        let loaded = locked::loaded(&suite, &sandbox);
        let scorers = setup::finish(setup::small_runtime()?, loaded)?;
        let scorer = BatchScorer::new(suite, scorers, &run, 1).map_err(failure)?;
        Ok(scorer.plan().clone())
    }
}

/// A run that was merged from shards.
struct Stored {
    run: RunId,
    /// Whether a scorer's summary of the run is an error.
    summary_failed: bool,
}

fn said(path: &Path) -> String {
    printable(&path.display().to_string())
}

fn of_shards(merge: &Merged) -> String {
    let shards = counted(merge.shards().count() as u64, "shard", "shards");
    format!("{} of {shards}", counted(merge.duplicates().cases, "case", "cases"))
}

/// Reports which rows were replaced by other rows of the same case.
fn say_duplicates(duplicates: &Duplicates) {
    let within = duplicates.repeated_within;
    let but = if duplicates.unequal > 0 { ", except where one timed out" } else { "" };
    for (rows, which) in [
        (duplicates.repeated - within, "another shard has"),
        (within, "the same file has in another row"),
    ] {
        if rows > 0 {
            let again = counted(rows, "row is", "rows are");
            words::say(&format!("{again} of cases that {which}, with the same results{but}"));
        }
    }
    if duplicates.timed_out > 0 {
        let results = counted(duplicates.timed_out, "result", "results");
        words::say(&format!("{results} that timed out in one row: taken from another"));
    }
}

/// Shows results that differ, as data.
fn show(differences: &[Difference]) -> Result<(), Failure> {
    if differences.is_empty() {
        return Ok(());
    }
    let columns = ["case", "scorer", "in one shard", "in another", "shards"];
    let mut table = Table::new(&columns.map(|name| (name, Align::Left)));
    for difference in differences {
        let [one, other] = &difference.results;
        table.row([
            output::cell(&difference.case_id, 48),
            difference.scorer.as_deref().map_or_else(|| "(the case itself)".into(), str::to_owned),
            output::cell(one, 48),
            output::cell(other, 48),
            output::cell(&where_it_is(&difference.shards), 80),
        ]);
    }
    output::stdout(|out| write!(out, "{table}"))
}
