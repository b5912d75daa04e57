//! `scorebox verify`: computes stored scores again and says what differs; writes and checks receipts.
//! Changes nothing that is stored.

use std::{
    cell::Cell,
    fs,
    path::{Path, PathBuf},
};

use scorebox::{
    case::{Case, Location, Mapping},
    digest::Digest,
    registry::{Reference, Registry},
    report::{self, Align, Table},
    store::{ScoreFilter, ScoreId, Store},
    verify::{Finding, Receipt, Verdict, VerifyRequest, verify},
    workspace::WorkspaceFolder,
};
use serde::Serialize;

use super::{
    run::{cores, jobs_parser},
    scores::DEFAULT_DATABASE,
};
use crate::{
    failure::{Exit, Failure},
    output::{self, Format},
    setup::{self, Global},
    words,
};

/// Findings that are shown one by one; all of them are counted.
const SHOWN: usize = 1000;

/// Compute stored scores again and show what differs
///
/// Every score of the run is computed anew from the stored case and component, and compared to the last
/// byte: verified, different (what, and how), or not verifiable (why). With --receipt, writes what is
/// needed to compute one score again elsewhere; with --check, does that. Scorers are compiled anew
/// for it, which takes some seconds each.
#[derive(Debug, clap::Args)]
pub struct Verify {
    /// The run [default: the newest]
    #[arg(conflicts_with = "check")]
    run: Option<String>,

    /// Only so many scores, drawn at random
    #[arg(long, value_name = "N")]
    sample: Option<u64>,

    /// What the draw is made of: the same seed draws the same scores
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Only scores of this scorer
    #[arg(long, value_name = "NAME")]
    scorer: Option<String>,

    /// Only scores of the case with this id
    #[arg(long, value_name = "ID")]
    case_id: Option<String>,

    /// Write the receipt of a score as JSON: RUN:SCORER:ITERATION:ATTEMPT:CASE
    #[arg(long, value_name = "SCORE-ID", conflicts_with_all = ["run", "sample", "check"])]
    receipt: Option<ScoreId>,

    /// Check a receipt, with the case and the component
    #[arg(long, value_name = "FILE", requires = "case")]
    check: Option<PathBuf>,

    /// For --check: a file with the case as one JSON object
    #[arg(long, value_name = "FILE", requires = "check")]
    case: Option<PathBuf>,

    /// For --check: where the case has a part, as it was in the run
    #[arg(long, value_name = "KEY=POINTER", requires = "check")]
    map: Vec<String>,

    /// For --check: the component [default: the built-in scorer with the receipt's digest]
    #[arg(long, value_name = "FILE", requires = "check")]
    component: Option<PathBuf>,

    /// Where the folders are that cases name in `workspace`, for scorers that read them
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,

    /// Leave out files and folders of a workspace: a path from there, or a glob such as `**/*.log`; may be
    /// repeated (`.git` and `node_modules` are always left out)
    #[arg(long, value_name = "GLOB", requires = "workspace")]
    workspace_exclude: Vec<String>,

    /// Exit with 0 also where some scores cannot be verified
    #[arg(long)]
    allow_not_verifiable: bool,

    /// Take compiled code from the cache: faster, and proves nothing against somebody who can write there
    #[arg(long)]
    trust_cache: bool,

    /// Scores that are computed at once [default: the number of cores]
    #[arg(long, short, value_name = "N", value_parser = jobs_parser())]
    jobs: Option<u16>,

    /// The database
    #[arg(long, value_name = "FILE", env = "SCOREBOX_DB", hide_env = true, default_value = DEFAULT_DATABASE)]
    db: PathBuf,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
}

impl Verify {
    pub fn run(&self, global: &Global) -> Result<Exit, Failure> {
        if let Some(id) = &self.receipt {
            let receipt = Receipt::of(&Store::open_read_only(&self.db)?, id)?;
            output::stdout(|out| output::json(out, &receipt))?;
            return Ok(Exit::Done);
        }
        let jobs = self.jobs.map_or_else(cores, usize::from);
        let slots = u32::try_from(jobs).unwrap_or(u32::MAX);
        let sandbox = match self.trust_cache {
            true => global.sandbox(slots)?,
            false => global.distrustful_sandbox(slots)?,
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(jobs.min(cores()))
            .enable_all()
            .build()
            .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
        let mut findings = Findings::default();
        let open = |folder| WorkspaceFolder::open(folder)?.without(&self.workspace_exclude);
        let workspaces = self.workspace.as_deref().map(open).transpose()?;
        match &self.check {
            Some(receipt) => {
                let (receipt, component, case) = self.checked_files(receipt)?;
                let checking = receipt.check(&component, &case, &sandbox, workspaces.as_ref());
                let finding = runtime.block_on(self.waited_for(checking, || true));
                self.take(&mut findings, finding)?;
            }
            None => {
                let store = Store::open_read_only(&self.db)?;
                let request = self.request(&store, jobs, workspaces)?;
                let (mut trouble, waiting) = (None, Cell::new(true));
                let verifying = verify(&store, &request, &sandbox, |finding| {
                    waiting.set(false);
                    match self.take(&mut findings, finding) {
                        Ok(()) => true,
                        Err(failure) => {
                            trouble = Some(failure);
                            false
                        }
                    }
                });
                runtime.block_on(self.waited_for(verifying, || waiting.get()))?;
                if let Some(failure) = trouble {
                    return Err(failure);
                }
            }
        }
        self.show(&findings)?;
        Ok(self.exit(&findings))
    }

    /// What `work` gives; where it takes long until there is something to show, a word about why.
    async fn waited_for<T>(
        &self,
        work: impl Future<Output = T>,
        waiting: impl FnOnce() -> bool,
    ) -> T {
        let word = match self.trust_cache {
            true => setup::COMPILING,
            false => "compiling scorers anew; --trust-cache takes them from the cache …",
        };
        setup::waited_for(work, word, waiting).await
    }

    fn request(
        &self,
        store: &Store,
        jobs: usize,
        workspaces: Option<WorkspaceFolder>,
    ) -> Result<VerifyRequest, Failure> {
        let run = super::scores::run_or_newest(self.run.as_deref(), store, &self.db)?;
        let filter = ScoreFilter {
            run: Some(run),
            scorer: self.scorer.clone(),
            case: self.case_id.clone(),
            ..ScoreFilter::default()
        };
        Ok(VerifyRequest { filter, sample: self.sample, seed: self.seed, jobs, workspaces })
    }

    fn checked_files(&self, receipt: &Path) -> Result<(Receipt, Vec<u8>, Case), Failure> {
        let receipt = Receipt::parse(&read(receipt)?)?;
        let case_file = self.case.as_deref().unwrap_or(Path::new("-"));
        let location = Location::new(case_file.display().to_string(), 1);
        let text = read(case_file)?;
        let case = Case::parse(text.trim_end(), 0, &Mapping::parse(&self.map)?, location)?;
        let registry = Registry::with_builtins();
        let component = match &self.component {
            Some(path) => registry.resolve(&Reference::File(path.clone()))?.bytes.into_owned(),
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

    fn take(&self, findings: &mut Findings, finding: Finding) -> Result<(), Failure> {
        findings.count(&finding.verdict);
        if self.format == Format::Jsonl {
            return output::stdout(|out| output::json_line(out, &finding));
        }
        if finding.verdict != Verdict::Verified && findings.shown.len() < SHOWN {
            findings.shown.push(finding);
        }
        Ok(())
    }

    fn show(&self, findings: &Findings) -> Result<(), Failure> {
        match self.format {
            Format::Json => output::stdout(|out| output::json(out, findings))?,
            Format::Jsonl => {}
            Format::Table if !findings.shown.is_empty() => {
                output::stdout(|out| write!(out, "{}", table(&findings.shown)))?;
            }
            Format::Table => {}
        }
        let Findings { verified, different, not_verifiable, .. } = findings;
        let listed = (different + not_verifiable) as usize;
        if self.format == Format::Table && listed > SHOWN {
            words::say(&format!("the first {SHOWN} of {listed}; all with --format jsonl"));
        }
        words::say(&format!(
            "{} verified, {} different, {} not verifiable",
            report::count(*verified),
            report::count(*different),
            report::count(*not_verifiable)
        ));
        if findings.total() == 0 {
            words::warn("there was no score to verify");
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

/// How many there are of each, and the ones that are shown.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Findings {
    verified: u64,
    different: u64,
    not_verifiable: u64,
    #[serde(rename = "findings")]
    shown: Vec<Finding>,
}

impl Findings {
    fn count(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Verified => self.verified += 1,
            Verdict::Different { .. } => self.different += 1,
            Verdict::NotVerifiable { .. } => self.not_verifiable += 1,
        }
    }

    fn total(&self) -> u64 {
        self.verified + self.different + self.not_verifiable
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
        let id = report::one_line(&finding.score_id, 80);
        match &finding.verdict {
            Verdict::Verified => {}
            Verdict::NotVerifiable { reason } => {
                let reason = report::one_line(reason, 120);
                table.row([id, "not verifiable".into(), reason, String::new(), String::new()]);
            }
            Verdict::Different { differences } => {
                for difference in differences {
                    table.row([
                        id.clone(),
                        "different".into(),
                        difference.what.clone(),
                        report::one_line(&difference.stored, 48),
                        report::one_line(&difference.computed, 48),
                    ]);
                }
            }
        }
    }
    table
}

fn built_in(registry: &Registry, digest: Digest) -> Option<Vec<u8>> {
    let names: Vec<&str> = registry.list().collect();
    let sources = names.into_iter().filter_map(|name| registry.get(name).ok());
    let mut same = sources.filter(|source| Digest::of(&source.bytes) == digest);
    same.next().map(|source| source.bytes.to_vec())
}

fn read(path: &Path) -> Result<String, Failure> {
    let read = match path == Path::new("-") {
        true => std::io::read_to_string(std::io::stdin()),
        false => fs::read_to_string(path),
    };
    read.map_err(|error| Failure::new(format!("cannot read `{}`: {error}", path.display())))
}
