//! `scorebox verify`: computes stored scores again and says what differs; writes and checks receipts.
//! Changes nothing that is stored.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use scorebox::{
    advice::Advice,
    case::{Case, Location, Mapping},
    component_bytes::ComponentBytes,
    digest::Digest,
    input_file::MOST_CASE_BYTES,
    judge::{JudgeIdentity, RecordedFile, Recordings},
    registry::{Reference, Registry},
    sandbox::Sandbox,
    store::{CallStore, RunId, ScoreFilter, ScoreId, ScorerSpec, Store},
    verify::{Finding, Receipt, Unproved, Verdict, VerifyRequest, verify, verify_root},
};
use scorebox_shards::{Shards, sample_of_shards, shard_files};
use serde::Serialize;
use tempfile::TempDir;

use crate::{
    advice,
    arguments::{Database, JobArguments, WorkspaceArguments, completing, must_be_there},
    failure::{Exit, Failure},
    input::read_file_or_stdin,
    output::{self, Format},
    report::{self, Align, Table},
    setup::{self, SandboxArguments},
    shards,
    waiting::{COMPILING, Waiting},
    words,
};

/// Findings that are shown one by one; all of them are counted.
const SHOWN: usize = 1000;

/// The database with a sample of shards, in its folder.
const SAMPLE: &str = "sample.db";

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
    #[arg(long, value_name = "ID", help_heading = "Filters")]
    case_id: Option<String>,

    /// Verify a random sample of a run whose shards, or folders of shards, these are, without a database; may be repeated
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
        self.show(&findings)?;
        Ok(self.exit(&findings))
    }

    /// What comes of it.
    async fn findings(&self, jobs: usize, sandbox: &Sandbox) -> Result<Findings, Failure> {
        let mut findings = Findings::default();
        match &self.check {
            Some(receipt) => {
                let (receipt, component, case) = self.checked_files(receipt)?;
                let waiting = Waiting::on(self.compiling());
                let recordings = self.recordings(&receipt)?;
                let finding =
                    receipt.check(&component, &case, recordings.as_deref(), sandbox).await;
                drop(waiting);
                self.take(&mut findings, finding)?;
            }
            None => {
                let sampled = self.sampled()?;
                let (store, run) = match &sampled {
                    None => {
                        let store = self.database.read()?;
                        let run = self.database.run(self.run.as_deref(), &store)?.spec.id;
                        (store, run)
                    }
                    Some((folder, run)) => {
                        (Store::open_read_only(folder.path().join(SAMPLE))?, run.clone())
                    }
                };
                let request = self.request(&store, &run, jobs)?;
                findings.of_a_run = Some(self.scope(&store, &request)?);
                findings.judges = judges(&store, request.filter())?;
                if !findings.judges.is_empty() {
                    let mut asked = store.models_asked(store.run(run.as_str())?.key)?;
                    asked.retain(|scorer, _| findings.judges.contains_key(scorer));
                    findings.models_asked = asked;
                }
                let total = store.score_count(request.filter())?;
                let total = self.sample.map_or(total, |sample| sample.min(total));
                let (mut trouble, mut done) = (None, 0);
                let mut waiting = Waiting::on(self.compiling());
                let verifying = verify(&store, &request, sandbox, |finding| {
                    if done == 0 {
                        waiting = Waiting::of("computing scores again", total);
                    }
                    done += 1;
                    waiting.at(done);
                    match self.take(&mut findings, finding) {
                        Ok(()) => true,
                        Err(failure) => {
                            trouble = Some(failure);
                            false
                        }
                    }
                });
                verifying.await?;
                drop(waiting);
                if let Some(failure) = trouble {
                    return Err(failure);
                }
            }
        }
        Ok(findings)
    }

    /// Computes no score.
    fn compare_root(&self, root: Digest) -> Result<Exit, Failure> {
        let store = self.database.read()?;
        let run = self.database.run(self.run.as_deref(), &store)?;
        let waiting = Waiting::of("reading cases", store.case_count(run.key)?);
        let run = run.spec.id.to_string();
        let finding = verify_root(&store, &run, root, |cases| waiting.at(cases))?;
        drop(waiting);
        let mut findings = Findings::default();
        self.take(&mut findings, finding)?;
        self.print(&findings)?;
        match findings.different {
            0 => words::say("the root matches: the run has not changed since it ended"),
            _ => words::say("the root differs: the run has changed since it ended with that root"),
        }
        Ok(self.exit(&findings))
    }

    /// What of the run is looked at beside its scores.
    fn scope(&self, store: &Store, request: &VerifyRequest) -> Result<Scope, Failure> {
        if !request.is_of_the_whole_run() {
            return Ok(Scope::Part);
        }
        let run = request.filter().run.as_deref().unwrap_or_default();
        Ok(match store.run(run)?.root {
            Some(_) => Scope::Whole,
            None => Scope::WholeWithoutRoot,
        })
    }

    /// Why there is nothing to show at first.
    fn compiling(&self) -> &'static str {
        match self.trust_cache {
            true => COMPILING,
            false => "compiling scorers again (--trust-cache uses compiled code from the cache)",
        }
    }

    /// A sample of the shards that are named, in a database of a folder that goes with it.
    fn sampled(&self) -> Result<Option<(TempDir, RunId)>, Failure> {
        if self.shard.is_empty() {
            return Ok(None);
        }
        let files = shard_files(&self.shard).map_err(shards::failure)?;
        let shards = Shards::open(&files, None, None).map_err(shards::failure)?;
        let _waiting = Waiting::on("drawing a sample of the shards");
        let folder = TempDir::new()
            .map_err(|error| Failure::new(format!("cannot make a temporary folder: {error}")))?;
        let cases = self.sample.unwrap_or(u64::MAX);
        let database = folder.path().join(SAMPLE);
        let run = sample_of_shards(&shards, cases, self.seed, &database, &setup::registry());
        Ok(Some((folder, run.map_err(shards::failure)?)))
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

    fn checked_files(&self, receipt: &Path) -> Result<(Receipt, ComponentBytes, Case), Failure> {
        let receipt = Receipt::parse(&read_file_or_stdin(receipt, MOST_CASE_BYTES)?)?;
        let case_file = self.case.as_deref().unwrap_or(Path::new("-"));
        let location = Location::new(case_file.display().to_string(), 1);
        let text = read_file_or_stdin(case_file, MOST_CASE_BYTES)?;
        let case = Case::parse(text.trim_end(), 0, &Mapping::parse(&self.map)?, location)?;
        let registry = setup::registry();
        let component = match &self.component {
            Some(path) => registry.resolve(&Reference::File(path.clone()))?.component,
            None => built_in(&registry, receipt.component.digest).ok_or_else(|| {
                Failure::new(format!(
                    "no built-in scorer has the digest of the receipt's component `{}`",
                    receipt.component.id
                ))
                .hint("name its file: --component FILE")
            })?,
        };
        Ok((receipt, component, case))
    }

    /// Where the answers of judges are that a receipt names; `None` if it names none, or there is no such place.
    fn recordings(&self, receipt: &Receipt) -> Result<Option<Box<dyn Recordings>>, Failure> {
        if let Some(path) = &self.recordings {
            let file = RecordedFile::open(path).map_err(|error| {
                Failure::new(error.to_string())
                    .hint("each line is a recording, as `scorebox calls --format jsonl` prints it")
            })?;
            return Ok(Some(Box::new(file)));
        }
        let is_there = !self.database.is_default() || self.database.path.exists();
        match !receipt.calls.is_empty() && is_there {
            true => Ok(Some(Box::new(CallStore::open_read_only(&self.database.path)?))),
            false => Ok(None),
        }
    }

    fn take(&self, findings: &mut Findings, finding: Finding) -> Result<(), Failure> {
        findings.count(&finding);
        if self.format == Format::Jsonl {
            return output::stdout(|out| output::json_line(out, &finding));
        }
        if finding.verdict != Verdict::Verified && findings.shown.len() < SHOWN {
            findings.shown.push(finding);
        }
        Ok(())
    }

    fn show(&self, findings: &Findings) -> Result<(), Failure> {
        self.print(findings)?;
        let Findings { verified, different, not_verifiable, .. } = findings;
        words::say(&format!(
            "{} verified, {} different, {} not verifiable",
            report::count(*verified),
            report::count(*different),
            report::count(*not_verifiable)
        ));
        findings.advice.iter().filter_map(advice::words).for_each(|words| words::hint(&words));
        if findings.total() == 0 {
            words::warn("there are no scores to verify");
        }
        for (scorer, judge) in &findings.judges {
            let judge = report::judge::named(judge, findings.models_asked.get(scorer));
            words::say(&format!("{scorer} is based on answers of {judge}"));
        }
        if let Some(text) = findings.not_compared() {
            words::say(&format!("not compared: {text}"));
        }
        Ok(())
    }

    fn print(&self, findings: &Findings) -> Result<(), Failure> {
        match self.format {
            Format::Json => output::stdout(|out| output::json(out, findings))?,
            Format::Jsonl => {}
            Format::Table if !findings.shown.is_empty() => {
                output::stdout(|out| write!(out, "{}", table(&findings.shown)))?;
            }
            Format::Table => {}
        }
        let Findings { different, not_verifiable, .. } = findings;
        let listed = (different + not_verifiable) as usize;
        if self.format == Format::Table && listed > SHOWN {
            words::say(&format!("the first {SHOWN} of {listed}; all with --format jsonl"));
        }
        Ok(())
    }

    fn exit(&self, findings: &Findings) -> Exit {
        let doubtful = findings.not_verifiable > 0 && !self.allow_not_verifiable;
        match findings.different > 0 || doubtful || findings.total() == 0 {
            true => Exit::SomeErrors,
            false => Exit::Done,
        }
    }
}

/// The judges of the scorers that `filter` names, as they are stored.
fn judges(store: &Store, filter: &ScoreFilter) -> Result<BTreeMap<String, JudgeIdentity>, Failure> {
    let run = store.run(filter.run.as_deref().unwrap_or_default())?;
    let scorers = store.scorers(run.key)?.into_iter().map(|scorer| scorer.spec);
    let wanted = scorers.filter(|it| filter.scorer.as_ref().is_none_or(|id| *id == it.scorer_id));
    // What is damaged is a finding of its scores.
    let judge = |it: ScorerSpec| {
        let judge = serde_json::from_str(&it.judge_json?).ok()?;
        Some((it.scorer_id, judge))
    };
    Ok(wanted.filter_map(judge).collect())
}

/// How many there are of each, and the ones that are shown.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Findings {
    verified: u64,
    different: u64,
    not_verifiable: u64,
    /// How many of the verified leave what unproved.
    unproved: BTreeMap<Unproved, u64>,
    #[serde(rename = "findings")]
    shown: Vec<Finding>,
    /// What to do about those that are not verifiable.
    #[serde(skip)]
    advice: Vec<Advice>,
    #[serde(skip)]
    of_a_run: Option<Scope>,
    /// The judges whose recorded answers the scores are based on, by scorer.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    judges: BTreeMap<String, JudgeIdentity>,
    /// The models that were asked for them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    models_asked: BTreeMap<String, BTreeSet<String>>,
}

/// What of a run is looked at beside its scores.
#[derive(Clone, Copy)]
enum Scope {
    /// Nothing: only some of the scores were asked for.
    Part,
    /// All that can be computed, and the rest by its root.
    Whole,
    /// All that can be computed.
    WholeWithoutRoot,
}

impl Findings {
    fn count(&mut self, finding: &Finding) {
        if let Some(advice) = finding.advice()
            && !self.advice.contains(advice)
        {
            self.advice.push(advice.clone());
        }
        for unproved in &finding.unproved {
            *self.unproved.entry(*unproved).or_default() += 1;
        }
        match &finding.verdict {
            Verdict::Verified => self.verified += 1,
            Verdict::Different { .. } => self.different += 1,
            Verdict::NotVerifiable { .. } => self.not_verifiable += 1,
        }
    }

    /// What was taken as it stands, in words.
    fn not_compared(&self) -> Option<String> {
        let unproved = self.unproved.iter().map(|(what, count)| match self.of_a_run {
            Some(_) => format!("{} of {}", name(*what), report::counted(*count, "score", "scores")),
            None => name(*what).to_owned(),
        });
        let rest = match self.of_a_run {
            Some(Scope::Part) => Some("the run as a whole"),
            Some(Scope::WholeWithoutRoot) => Some(
                "which cases and scores there are, their names, versions, origins and times: \
                     the run has no root that this version of scorebox can read",
            ),
            Some(Scope::Whole) | None => None,
        };
        let all: Vec<String> = unproved.chain(rest.map(str::to_owned)).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    fn total(&self) -> u64 {
        self.verified + self.different + self.not_verifiable
    }
}

fn name(unproved: Unproved) -> &'static str {
    match unproved {
        Unproved::ScoreId => "which run, scorer and case it belongs to",
        Unproved::Origin => "the component's origin",
        Unproved::EngineVersion => "the version of scorebox",
        Unproved::WasmtimeVersion => "the version of wasmtime",
        Unproved::ContractVersion => "the contract's patch version",
        Unproved::Time => "the time",
        Unproved::UnreachedLimits => "limits that were not reached",
        Unproved::UnusedGrants => "grants that it does not need",
        Unproved::Answers => "that the judge gave the recorded answers",
        Unproved::Fuel => "fuel",
        Unproved::Memory => "peak memory",
        Unproved::ErrorMessage => "error messages",
        _ => "something that this program has no words for",
    }
}

fn table(findings: &[Finding]) -> Table {
    let mut table = Table::new(&[
        ("score", Align::Left),
        ("verdict", Align::Left),
        ("what", Align::Left),
        ("stored", Align::Left),
        ("computed", Align::Left),
    ]);
    for finding in findings {
        let id = output::cell(&finding.score_id, 80);
        match &finding.verdict {
            Verdict::Verified => {}
            Verdict::NotVerifiable { reason, .. } => {
                let reason = output::cell(reason, 120);
                table.row([id, "not verifiable".into(), reason, String::new(), String::new()]);
            }
            Verdict::Different { differences } => {
                for difference in differences {
                    table.row([
                        id.clone(),
                        "different".into(),
                        output::cell(&difference.what, 80),
                        side(difference.stored.as_deref()),
                        side(difference.computed.as_deref()),
                    ]);
                }
            }
        }
    }
    table
}

/// One side of a difference. In brackets, so that it is not taken for a text: what is not there.
fn side(text: Option<&str>) -> String {
    text.map_or_else(|| "(absent)".to_owned(), |text| output::cell(text, 48))
}

fn built_in(registry: &Registry, digest: Digest) -> Option<ComponentBytes> {
    registry.built_in(digest).map(|source| source.component)
}
