//! `scorebox verify`: computes stored scores again and reports differences; writes and checks receipts. It changes no
//! stored data. `receipts` reads the inputs for checking a receipt, `showing` formats the output.

mod receipts;
mod showing;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use scorebox::{
    digest::Digest,
    judge::JudgeIdentity,
    sandbox::Sandbox,
    store::{RunId, RunState, ScoreFilter, ScoreId, ScorerSpec, Store, StoreError},
    verify::{Receipt, Verdict, VerifyRequest, verify, verify_root},
};
use scorebox_shards::{Merge, Named, ShardError, Shards, sample_of_shards, shard_files};
use tempfile::TempDir;

use self::showing::{Findings, Scope};
use crate::{
    arguments::{Database, JobArguments, WorkspaceArguments, completing, must_be_there},
    failure::{Exit, Failure},
    output::{self, Format},
    report::one_line,
    setup::{self, SandboxArguments},
    shards,
    waiting::{COMPILING, Waiting},
    words,
};

/// The file name of the temporary database with a sample of shards.
const SAMPLE: &str = "sample.db";

/// The most characters of a result in an error.
const RESULT_CHARACTERS: usize = 60;

/// The hint for a shard that does not record what it was scored with.
const NOT_A_SHARD: &str = "`scorebox shard` writes shards; make one of what a data engine wrote: \
     `scorebox merge FILE --suite SUITE -o run.parquet`";

/// Compute stored scores again and show what differs
///
/// Computes every score of the run again from the stored case and component and compares it byte for byte: it
/// is verified, different (what, and how), or not verifiable (why). Scorers are compiled again for this, which
/// takes some seconds each.
///
/// With --root, computes no score, and proves that nothing in the run was changed, added or removed since it
/// ended with that root. --receipt writes what is needed to compute one score again elsewhere; --check does that.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("cache_dir", |arg| arg.help(
        "With --trust-cache: the folder for compiled code [default: scorebox in the user's cache folder]"
    )),
    mut_arg("no_cache", |arg| arg.hide(true).conflicts_with("trust_cache"))
)]
pub(crate) struct Verify {
    /// The run [default: the newest]
    #[arg(conflicts_with = "check", add = completing::runs())]
    run: Option<String>,

    /// Verify a random sample of N scores
    #[arg(long, value_name = "N", help_heading = "Filters")]
    sample: Option<u64>,

    /// Random seed for --sample: the same seed picks the same scores
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        requires = "sample",
        help_heading = "Filters"
    )]
    seed: u64,

    /// Only scores of this scorer
    #[arg(long, value_name = "NAME", help_heading = "Filters", add = completing::stored_scorers())]
    scorer: Option<String>,

    /// Only scores of this node (the task)
    #[arg(long, value_name = "NODE", help_heading = "Filters")]
    node: Option<String>,

    /// Only scores of the case with this id
    #[arg(long, value_name = "ID", add = completing::cases(), help_heading = "Filters")]
    case_id: Option<String>,

    /// Verify a random sample of a run whose shards, or folders of shards, these are, without a database; may be
    /// repeated
    #[arg(long, value_name = "SHARD", requires = "sample", conflicts_with_all = ["run", "root", "receipt", "check"], help_heading = "Filters")]
    shard: Vec<PathBuf>,

    /// Compare the run with the root that `scorebox run` printed when it ended
    #[arg(long, value_name = "DIGEST", conflicts_with_all = ["sample", "scorer", "node", "case_id", "receipt", "check", "jobs", "trust_cache", "workspace", "memory_budget", "compile_timeout", "compile_memory"], help_heading = "Root")]
    root: Option<Digest>,

    /// Write the receipt of a score as JSON: RUN:SCORER:ITERATION:ATTEMPT:CASE
    #[arg(long, value_name = "SCORE-ID", conflicts_with_all = ["run", "sample", "scorer", "node", "case_id", "check", "format", "jobs", "trust_cache", "workspace", "memory_budget", "compile_timeout", "compile_memory"], help_heading = "Receipts")]
    receipt: Option<ScoreId>,

    /// Check a receipt, with the case and the component
    #[arg(long, value_name = "FILE", requires = "case", conflicts_with_all = ["sample", "scorer", "node", "case_id", "jobs"], help_heading = "Receipts")]
    check: Option<PathBuf>,

    /// With --check: a file with the case as one JSON object
    #[arg(long, value_name = "FILE", requires = "check", help_heading = "Receipts")]
    case: Option<PathBuf>,

    /// With --check: the --map options that the run used
    #[arg(long, value_name = "KEY=POINTER", requires = "check", help_heading = "Receipts")]
    map: Vec<String>,

    /// With --check: the component [default: the built-in scorer with the receipt's digest]
    #[arg(long, value_name = "FILE", requires = "check", help_heading = "Receipts")]
    component: Option<PathBuf>,

    /// With --check: recorded answers of judges, as `scorebox calls --format jsonl` prints them [default: those of the
    /// database]
    #[arg(long, value_name = "FILE", requires = "check", help_heading = "Receipts")]
    recordings: Option<PathBuf>,

    /// Exit with 0 even if some scores cannot be verified
    #[arg(long, help_heading = "Output")]
    allow_not_verifiable: bool,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    format: Format,

    #[command(flatten)]
    database: Database,

    #[command(flatten)]
    workspace: WorkspaceArguments,

    #[command(flatten)]
    jobs: JobArguments,

    /// Use compiled code from the cache: faster, but proves nothing against someone who can write there
    #[arg(long, help_heading = "Sandbox")]
    trust_cache: bool,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

impl Verify {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        if let Some(id) = &self.receipt {
            let receipt = Receipt::of(&self.database.read()?, id)?;
            output::stdout(|out| output::json(out, &receipt))?;
            return Ok(Exit::Done);
        }
        if let Some(root) = self.root {
            return self.compare_root(root);
        }
        let jobs = self.jobs.count();
        let slots = u32::try_from(jobs).unwrap_or(u32::MAX);
        let capabilities = self.workspace.capabilities()?;
        let sandbox = match self.trust_cache {
            true => self.sandbox.open(slots, capabilities)?,
            false => self.sandbox.open_distrustful(slots, capabilities)?,
        };
        let runtime = self.jobs.runtime()?;
        let findings = setup::finish(runtime, self.findings(jobs, &sandbox))?;
        findings.show(self.format)?;
        Ok(self.exit(&findings))
    }

    /// The findings of the command.
    async fn findings(&self, jobs: usize, sandbox: &Sandbox) -> Result<Findings, Failure> {
        if let Some(receipt) = &self.check {
            return self.checked(receipt, sandbox).await;
        }
        match self.sampled()? {
            Some((folder, run)) => {
                let store = Store::open_read_only(folder.path().join(SAMPLE))?;
                self.computed(&store, &run, jobs, sandbox).await
            }
            None => {
                let store = self.database.read()?;
                let run = self.database.run(self.run.as_deref(), &store)?.spec.id;
                self.computed(&store, &run, jobs, sandbox).await
            }
        }
    }

    /// The findings about a receipt.
    async fn checked(&self, receipt: &Path, sandbox: &Sandbox) -> Result<Findings, Failure> {
        let (receipt, component, case) = self.checked_files(receipt)?;
        let waiting = Waiting::on(self.compiling());
        let recordings = self.recordings(&receipt)?;
        let finding = receipt.check(&component, &case, recordings.as_deref(), sandbox).await;
        drop(waiting);
        let mut findings = Findings::default();
        findings.take(finding, self.format)?;
        Ok(findings)
    }

    /// The findings about the scores of a run.
    async fn computed(
        &self,
        store: &Store,
        run: &RunId,
        jobs: usize,
        sandbox: &Sandbox,
    ) -> Result<Findings, Failure> {
        let request = self.request(store, run, jobs)?;
        let mut findings = before_scores(store, &request)?;
        let total = store.score_count(request.filter())?;
        let total = self.sample.map_or(total, |sample| sample.min(total));
        let (mut trouble, mut done) = (None, 0);
        let mut waiting = Waiting::on(self.compiling());
        let verifying = verify(store, &request, sandbox, |finding| {
            if done == 0 {
                waiting = Waiting::of("computing scores again", total);
            }
            done += 1;
            waiting.at(done);
            match findings.take(finding, self.format) {
                Ok(()) => true,
                Err(failure) => {
                    trouble = Some(failure);
                    false
                }
            }
        });
        verifying.await?;
        drop(waiting);
        match trouble {
            Some(failure) => Err(failure),
            None => Ok(findings),
        }
    }

    /// Compares the run's root with `root`, without computing scores.
    fn compare_root(&self, root: Digest) -> Result<Exit, Failure> {
        let store = self.database.read()?;
        let run = self.database.run(self.run.as_deref(), &store)?;
        let waiting = Waiting::of("reading cases", store.case_count(run.key)?);
        let run = run.spec.id.to_string();
        let finding = verify_root(&store, &run, root, |cases| waiting.at(cases))?;
        drop(waiting);
        let said = of_the_root(&finding.verdict);
        let mut findings = Findings::default();
        findings.take(finding, self.format)?;
        findings.print(self.format)?;
        words::say(said);
        Ok(self.exit(&findings))
    }

    /// The text for the time before there are results.
    fn compiling(&self) -> &'static str {
        match self.trust_cache {
            true => COMPILING,
            false => "compiling scorers again (--trust-cache uses compiled code from the cache)",
        }
    }

    /// A sample of the named shards, in a database in a temporary folder.
    fn sampled(&self) -> Result<Option<(TempDir, RunId)>, Failure> {
        if self.shard.is_empty() {
            return Ok(None);
        }
        let files = shard_files(&self.shard).map_err(shards::failure)?;
        let shards = Shards::open(&files, Named::default()).map_err(|error| match error {
            ShardError::NotAShard { .. } => Failure::new(error.to_string()).hint(NOT_A_SHARD),
            error => shards::failure(error),
        })?;
        let waiting = Waiting::of("comparing cases", shards.rows());
        let merge = Merge::of(shards, |rows| shards::shown(&waiting, rows));
        let merge = merge.map_err(shards::failure)?;
        drop(waiting);
        let _waiting = Waiting::on("drawing a sample of the shards");
        let folder = TempDir::new().map_err(|error| Failure::temporary_folder(&error))?;
        let cases = self.sample.unwrap_or(u64::MAX);
        let database = folder.path().join(SAMPLE);
        let run = sample_of_shards(&merge, cases, self.seed, &database, &setup::registry());
        let run = run.map_err(|error| match error {
            // The database also refuses an invalid plan or row, which is not a lack of disk space.
            ShardError::Store(error @ StoreError::Rejected { .. }) => {
                Failure::new(format!("the shards cannot be stored: {error}"))
            }
            ShardError::Store(error) => Failure::temporary_database(&error),
            error @ ShardError::Different { .. } => contradicting(&error, &merge),
            error => shards::failure(error),
        })?;
        Ok(Some((folder, run)))
    }

    fn request(&self, store: &Store, run: &RunId, jobs: usize) -> Result<VerifyRequest, Failure> {
        let filter = ScoreFilter::of_run(run.to_string())
            .with_scorer(self.scorer.clone())
            .with_node(self.node.clone())
            .with_case(self.case_id.clone());
        must_be_there(store, &filter)?;
        let request = VerifyRequest::new(filter).seed(self.seed).jobs(jobs);
        Ok(match self.sample {
            Some(rows) => request.sample(rows),
            None => request,
        })
    }

    fn exit(&self, findings: &Findings) -> Exit {
        let doubtful = findings.not_verifiable > 0 && !self.allow_not_verifiable;
        match findings.different > 0 || doubtful || findings.total() == 0 {
            true => Exit::SomeErrors,
            false => Exit::Done,
        }
    }
}

/// The meaning of a verdict on a root for the run.
fn of_the_root(verdict: &Verdict) -> &'static str {
    let Verdict::Different { differences } = verdict else {
        return "the root matches: the run has not changed since it ended";
    };
    let named = differences.iter().filter(|it| it.is_of_what_a_root_names()).count();
    match differences.iter().any(|it| it.what == "root") {
        true => "the root differs: the run has changed since it ended with that root",
        // For example, a case that is not under a key of its run.
        false if named == 0 => {
            "the run has changed since it ended, in what the root does not cover"
        }
        false if named == differences.len() => {
            "the run has changed since it ended: its rows have that root, but components, questions or answers are not \
             those that the root names by their digests"
        }
        false => {
            "the run has changed since it ended, in what the root names by its digest and in what it does not cover"
        }
    }
}

/// The failure that shards have two results for one case, so that it is unclear which one to sample.
fn contradicting(error: &ShardError, merge: &Merge) -> Failure {
    let first = merge.duplicates().differences.first();
    let first = first.map(|it| {
        let scorer = it.scorer.as_deref().map_or_else(String::new, |name| format!("`{name}` of "));
        let [one, other] = &it.results.each_ref().map(|text| one_line(text, RESULT_CHARACTERS));
        let place = shards::where_it_is(&it.shards);
        format!(", such as {scorer}case `{}`: {one} and {other} ({place})", it.case_id)
    });
    let first = first.unwrap_or_default();
    Failure::new(format!("{error}{first}"))
        .hint("nothing was verified; leave out a shard, or score the case again")
}

/// The findings before scores are computed: what else is checked, and the judges that the scores are based on.
fn before_scores(store: &Store, request: &VerifyRequest) -> Result<Findings, Failure> {
    let judges = judges(store, request.filter())?;
    let mut asked = BTreeMap::new();
    if !judges.is_empty() {
        let run = request.filter().run.as_deref().unwrap_or_default();
        asked = store.models_asked(store.run(run)?.key)?;
        asked.retain(|scorer, _| judges.contains_key(scorer));
    }
    Ok(Findings::of_a_run(scope(store, request)?, judges, asked))
}

/// The parts of the run that are checked in addition to its scores.
fn scope(store: &Store, request: &VerifyRequest) -> Result<Scope, Failure> {
    if !request.is_of_the_whole_run() {
        return Ok(Scope::Part);
    }
    let run = request.filter().run.as_deref().unwrap_or_default();
    let run = store.run(run)?;
    Ok(match (run.root, run.state) {
        (Some(_), _) => Scope::Whole,
        (None, RunState::Running) => Scope::Unended,
        (None, _) => Scope::WholeWithoutRoot,
    })
}

/// The stored judges of the scorers that `filter` names.
fn judges(store: &Store, filter: &ScoreFilter) -> Result<BTreeMap<String, JudgeIdentity>, Failure> {
    let run = store.run(filter.run.as_deref().unwrap_or_default())?;
    let scorers = store.scorers(run.key)?.into_iter().map(|scorer| scorer.spec);
    let wanted = scorers.filter(|it| filter.scorer.as_ref().is_none_or(|id| *id == it.scorer_id));
    // Damaged data becomes a finding about its scores.
    let judge = |it: ScorerSpec| {
        let judge = serde_json::from_str(&it.judge_json?).ok()?;
        Some((it.scorer_id, judge))
    };
    Ok(wanted.filter_map(judge).collect())
}
