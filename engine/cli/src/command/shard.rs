//! `scorebox shard`: runs a suite over one Parquet file, and writes the results to another: a part of a run that many
//! machines share.

use std::path::PathBuf;

use scorebox::{run::RunError, store::RunId, suite::Suite};
use scorebox_shards::{BatchScorer, Columns, Input, Plan, ShardError, ShardFile, Source, Written};
use tokio::sync::mpsc;

use crate::{
    arguments::{JobArguments, LockedArguments, WorkspaceArguments, run_id, seed},
    failure::{Exit, Failure},
    locked,
    report::{counted, printable},
    setup::{self, SandboxArguments},
    shards::failure,
    signals::Signals,
    waiting::Waiting,
    words,
};

/// The most batches that are read ahead.
const WAITING_BATCHES: usize = 2;

/// Score one part of a run that many machines share: Parquet in, Parquet out
///
/// The output gets its name when it is complete. If it exists already, made of these columns of this input with this
/// suite, nothing is done. Scores that are errors are rows; they do not change the exit code, so that a cluster does not try again.
/// `scorebox merge` puts the shards of a run together.
#[derive(Debug, clap::Args)]
pub(crate) struct Shard {
    /// The suite file (TOML or JSON), or a bundle (.tar)
    suite: PathBuf,

    /// The Parquet file with the cases; each row needs a unique `id`
    input: PathBuf,

    /// The Parquet file to write
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: PathBuf,

    /// Read a key of the case from this column: `output=answer`; may be repeated
    #[arg(long, value_name = "KEY=COLUMN", value_parser = key_and_column, help_heading = "Cases")]
    column: Vec<(String, String)>,

    /// The run that the shard is a part of: the same for all of them [default: derived from the suite]
    #[arg(long, value_name = "ID", value_parser = run_id, help_heading = "Run")]
    run_id: Option<RunId>,

    /// Random seed of sampling: the same seed samples the same cases [default: the suite's `seed`, or else its name]
    #[arg(long, value_name = "SEED", value_parser = seed, help_heading = "Run")]
    seed: Option<String>,

    /// Print nothing but errors
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,

    #[command(flatten)]
    workspace: WorkspaceArguments,

    #[command(flatten)]
    jobs: JobArguments,

    #[command(flatten)]
    locked: LockedArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

fn key_and_column(written: &str) -> Result<(String, String), String> {
    match written.split_once('=') {
        Some((key, column)) if !key.is_empty() && !column.is_empty() => {
            Ok((key.to_owned(), column.to_owned()))
        }
        _ => Err("it is written KEY=COLUMN".to_owned()),
    }
}

impl Shard {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let suite = setup::suite_to_load(&self.suite, &self.sandbox, |mut suite| {
            suite.seed = self.seed.clone().or(suite.seed);
            Ok(suite)
        })?;
        self.locked.check(&suite)?;
        let input = Input::open(&self.input).map_err(failure)?;
        let jobs = self.jobs.count();
        let capabilities = self.workspace.capabilities()?;
        let capabilities = match suite.judges.is_empty() {
            true => capabilities,
            // A suite that asks judges is refused later, with the right reason.
            false => setup::unasked_judges(&suite),
        };
        let sandbox = self.sandbox.open(setup::slots(jobs, &suite), capabilities)?;
        let runtime = self.jobs.runtime()?;
        let exit = runtime.block_on(async {
            let scorers = locked::loaded(&suite, &sandbox).await?;
            let reads_files = scorers.iter().any(|ready| ready.scorer.reads_workspace());
            self.workspace.say_if_unused(reads_files);
            let run = self.run_id(&suite)?;
            let scorer = BatchScorer::new(suite, scorers, &run, jobs).map_err(failure)?;
            self.write(&scorer, &input).await
        });
        runtime.shutdown_background();
        exit
    }

    fn run_id(&self, suite: &Suite) -> Result<RunId, Failure> {
        match &self.run_id {
            Some(id) => Ok(id.clone()),
            None => Ok(Plan::default_run_id(suite).parse::<RunId>()?),
        }
    }

    async fn write(&self, scorer: &BatchScorer, input: &Input) -> Result<Exit, Failure> {
        let said = printable(&self.output.display().to_string());
        let plan = scorer.plan();
        let columns = scorer.columns(input.schema(), &self.column).map_err(failure)?;
        let source = Source::new(input, &columns, self.workspace.of_shard());
        if ShardFile::is_there(&self.output, plan, &source).map_err(failure)? {
            self.say(&format!("{said} already exists: the same input, scored with the same suite"));
            return Ok(Exit::Done);
        }
        if !plan.summaries.is_empty() {
            self.say(&format!(
                "left out: what {} says about all cases of the run; `scorebox merge --db` asks",
                plan.summaries.join(", ")
            ));
        }
        let mut signals = Signals::listen()?;
        let file = ShardFile::create(&self.output, scorer.schema(), plan, &source);
        let mut file = file.map_err(failure)?;
        let waiting = (!self.quiet).then(|| Waiting::of("scoring cases", input.rows()));
        let progress = |cases| waiting.iter().for_each(|waiting| waiting.at(cases));
        let cases = tokio::select! {
            scored = score(scorer, input, &columns, &mut file, progress) => scored.map_err(failure)?,
            // The unfinished file, which does not have its name yet, is removed as well.
            Some(exit) = signals.next() => return Ok(exit),
        };
        drop(waiting);
        let written = file.finish(plan, &source).map_err(failure)?;
        let scores = counted(cases * plan.scorers.len() as u64, "result", "results");
        let cases = counted(cases, "case", "cases");
        self.say(&match written {
            Written::Meanwhile => {
                format!("{said} already exists: another process wrote the same")
            }
            _ => format!("{said}: {cases}, {scores} of run {}", plan.run_id),
        });
        Ok(Exit::Done)
    }

    fn say(&self, text: &str) {
        if !self.quiet {
            words::say(text);
        }
    }
}

/// Scores the cases while others are read, and writes their results; returns how many there are.
async fn score(
    scorer: &BatchScorer,
    input: &Input,
    columns: &Columns,
    file: &mut ShardFile,
    progress: impl Fn(u64),
) -> Result<u64, ShardError> {
    let batches = input.batches(&columns.indices())?;
    let columns = columns.projected();
    let (to_scoring, mut to_score) = mpsc::channel(WAITING_BATCHES);
    let reading = tokio::task::spawn_blocking(move || {
        for batch in batches {
            let is_broken = batch.is_err();
            if to_scoring.blocking_send(batch).is_err() || is_broken {
                return;
            }
        }
    });
    let mut cases = 0;
    while let Some(batch) = to_score.recv().await {
        let batch = batch?;
        let mut scoring = scorer.scoring(&batch, &columns, cases, input.name());
        while let Some(results) = scoring.next().await? {
            for results in results {
                file.put(&results)?;
                cases += results.num_rows() as u64;
            }
            progress(cases);
        }
    }
    reading.await.map_err(|error| RunError::Broken(error.to_string()))?;
    Ok(cases)
}
