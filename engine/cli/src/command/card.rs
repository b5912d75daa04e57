//! `scorebox card`: writes the page of a scorer. `example`, `data`, `showing` and `again` have its contents;
//! `scorebox-pages` has its layout.

mod again;
mod data;
mod example;
mod showing;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use scorebox::{
    aggregate::{AgreementError, AgreementOptions},
    contract::ScorerInfo,
    judge::Judges,
    registry::{Origin, Reference, ScorerSource},
    row::Status,
    run::{Control, ReadyScorer, RunError, RunReport, RunRequest, Stop, WhichRun, fresh_id},
    sandbox::{Anatomy, Capabilities, Grant, Limits, Sandbox},
    store::{RunId, Store},
    suite::Suite,
};
use scorebox_pages::{Card as Page, CardError, CardExample, CardScored, CardWritten};

use tokio::runtime::Runtime;

use self::{
    again::Again,
    data::{Data, Kept},
    showing::{component, keys, machine, signer},
};
use crate::{
    advice,
    arguments::{
        CaseFileArguments, CaseFiles, JobArguments, OneJudgeArguments, PositiveArguments,
        ScorerArguments, WorkspaceArguments, described, labels_at, run_id,
    },
    failure::{Exit, Failure},
    locked,
    new_file::NewFileArguments,
    report,
    setup::{self, SandboxArguments},
    signals::Signalled,
    waiting::{COMPILING, Waiting},
    words,
};

/// How often the progress display is redrawn.
const REDRAW: Duration = Duration::from_millis(200);

/// Write a page about a scorer that others can check
///
/// The page says what the scorer scores and how, what it reads and needs, its configuration, and its example with the
/// score that it has now. With --cases, it scores them, and shows the distribution, the cost, and the agreement with
/// labels, with the digests of component, configuration, cases and scores, and the commands that reproduce them. The
/// page is one file that loads nothing else.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("database", |arg| arg.requires("cases").help_heading("Cases").help(
        "A database that the scores and the answers of judges are stored in, as a run that others can verify [default: nothing is stored, even if SCOREBOX_DB is set]"
    )),
    mut_arg("config", |arg| arg.requires("cases")),
    mut_arg("fuel", |arg| arg.requires("cases")),
    mut_arg("memory", |arg| arg.requires("cases")),
    mut_arg("timeout", |arg| arg.requires("cases")),
    mut_arg("limit", |arg| arg.requires("cases")),
    mut_arg("from", |arg| arg.requires("cases")),
    mut_arg("map", |arg| arg.requires("cases")),
    mut_arg("workspace", |arg| arg.requires("cases")),
    mut_arg("suite", |arg| arg.requires("cases")),
    mut_arg("url", |arg| arg.requires("cases")),
    mut_arg("judge_model", |arg| arg.requires("cases")),
    mut_arg("judge_budget", |arg| arg.requires("cases")),
    mut_arg("judge_cache", |arg| arg.requires("cases")),
    mut_arg("jobs", |arg| arg.requires("cases")),
)]
pub(crate) struct Card {
    #[command(flatten)]
    scorer: ScorerArguments,

    /// Score the cases of this file, in any format of --from; may be repeated
    #[arg(long, value_name = "FILE", help_heading = "Cases")]
    cases: Vec<PathBuf>,

    #[command(flatten)]
    case_files: CaseFileArguments,

    /// With --db: the run's id [default: made from the time]
    #[arg(long, value_name = "ID", value_parser = run_id, requires = "database", help_heading = "Cases")]
    run_id: Option<RunId>,

    /// Show how well the scores agree with labels: a JSON Pointer to the label of each case, as in `agree`
    #[arg(long, value_name = "POINTER", requires = "cases", help_heading = "Labels")]
    with: Option<String>,

    #[command(flatten)]
    positive: PositiveArguments,

    #[command(flatten)]
    output: NewFileArguments,

    /// Leave out times and everything else that differs from one machine to another, so that the same scorer and cases
    /// give the same page, byte for byte
    #[arg(long, help_heading = "Output")]
    repeatable: bool,

    /// Exit with 0 even if some scores are errors, or the example does not have the score that it promises
    #[arg(long, help_heading = "Output")]
    allow_errors: bool,

    #[command(flatten)]
    workspace: WorkspaceArguments,

    #[command(flatten)]
    judge: OneJudgeArguments,

    #[command(flatten)]
    jobs: JobArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

/// A described scorer, which is also loaded if it must score cases.
struct Known {
    source: ScorerSource,
    anatomy: Anatomy,
    suite: Suite,
    info: ScorerInfo,
    ready: Option<ReadyScorer>,
    example: CardExample,
}

/// The scored cases.
struct Scored {
    report: RunReport,
    data: Data,
    kept: Kept,
}

/// Why there is no page.
enum Ended {
    /// The user or another program interrupted the command.
    Interrupted,
    Failed(Failure),
}

impl<E: Into<Failure>> From<E> for Ended {
    fn from(error: E) -> Ended {
        Ended::Failed(error.into())
    }
}

/// A complete page.
struct Made {
    page: Vec<u8>,
    example: CardExample,
    scored: Option<CardWritten>,
}

impl Card {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        self.must_be_apart()?;
        self.must_have_a_pointer()?;
        self.output.must_be_writable()?;
        let signalled = Signalled::default();
        let runtime = self.jobs.runtime()?;
        let made = self.make(&runtime, &signalled);
        // A thread that waits for a file system must not keep the process alive.
        runtime.shutdown_background();
        match made {
            Ok(made) => {
                self.output.write(|out| Ok(out.write_all(&made.page)?))?;
                Ok(self.exit(&made))
            }
            Err(Ended::Failed(failure)) => Err(failure),
            Err(Ended::Interrupted) => {
                words::say(match self.judge.database() {
                    Some(_) => "Interrupted: no page was written. Scores so far are kept.",
                    None => "Interrupted: no page was written.",
                });
                Ok(signalled.exit())
            }
        }
    }

    /// Refuses to write the page to one of its input files.
    fn must_be_apart(&self) -> Result<(), Failure> {
        let component = match Reference::parse(&self.scorer.scorer, Path::new("")) {
            Reference::File(path) => Some(path),
            _ => None,
        };
        let read = component.as_deref().into_iter().chain(self.judge.database());
        self.output.must_be_apart(read.chain(self.cases.iter().map(PathBuf::as_path)))
    }

    /// Refuses an invalid location of labels before anything is scored.
    fn must_have_a_pointer(&self) -> Result<(), Failure> {
        match self.with.as_deref().filter(|with| !with.starts_with('/')) {
            Some(with) => Err(Failure::new(format!(
                "`{with}` is not a valid JSON Pointer: it does not begin with `/`"
            ))
            .hint("a label of the cases is a JSON Pointer: --with /label")),
            None => Ok(()),
        }
    }

    fn make(&self, runtime: &Runtime, signalled: &Signalled) -> Result<Made, Ended> {
        let data = Data::read(&self.cases)?;
        let mut known = runtime.block_on(self.known(data.is_some()))?;
        let scored = match data.zip(known.ready.take()) {
            Some((data, ready)) => Some(self.scored(runtime, signalled, &known, data, ready)?),
            None => None,
        };
        let made = self.page(known, scored.as_ref())?;
        match signalled.came() {
            true => Err(Ended::Interrupted),
            false => Ok(made),
        }
    }

    /// Describes the scorer, and scores its example.
    async fn known(&self, has_cases: bool) -> Result<Known, Failure> {
        let source = self.scorer.source()?;
        let anatomy = Anatomy::read(source.component.bytes()?)?;
        let mut suite = Suite::new("card".to_owned(), vec![self.scorer.configured()?])?;
        let judges = match has_cases {
            true => self.judges(&mut suite, &anatomy)?,
            false => Judges::default(),
        };
        let capabilities = self.workspace.capabilities()?.with_judges(judges);
        let slots = setup::slots(self.jobs.count(), &suite);
        let sandbox = self.sandbox.open(slots, capabilities)?;
        let (info, ready) = match has_cases {
            true => loaded(&suite, &sandbox).await?,
            false => (self.described(&source, &anatomy, &sandbox).await?, None),
        };
        let example = self.example(&source, &anatomy).await?;
        Ok(Known { source, anatomy, suite, info, ready, example })
    }

    /// The judges that the scorer may ask. Their answers must be recorded, or no one could check the page.
    fn judges(&self, suite: &mut Suite, anatomy: &Anatomy) -> Result<Judges, Failure> {
        self.judge.must_be_named("card", &self.scorer, anatomy)?;
        if anatomy.grants().contains(Grant::Judge) && self.judge.database().is_none() {
            return Err(Failure::new(
                "the scorer asks a judge, and nothing says where its answers are kept",
            )
            .hint("without the recorded answers the page cannot be checked; name a database: --db FILE"));
        }
        self.judge.judges_of(suite, self.judge.database())
    }

    /// What the scorer reports about itself, which needs no configuration.
    async fn described(
        &self,
        source: &ScorerSource,
        anatomy: &Anatomy,
        sandbox: &Sandbox,
    ) -> Result<ScorerInfo, Failure> {
        let waiting = Waiting::on(COMPILING);
        let limits = Limits::default();
        let describing = described(sandbox, &source.component, anatomy, &limits, anatomy.grants());
        let info = describing.await.map_err(|error| {
            let failure = Failure::from(error);
            let message = format!("scorer `{}`: {}", self.scorer.scorer, failure.message);
            Failure { message, ..failure }
        })?;
        drop(waiting);
        if matches!(source.origin, Origin::Published(_)) {
            let outside = (anatomy, &source.component);
            locked::must_be_this(&self.scorer.of_a_suite()?, &info, outside)?;
        }
        Ok(info)
    }

    /// Scores its own example in a sandbox that shows it nothing but the case.
    async fn example(
        &self,
        source: &ScorerSource,
        anatomy: &Anatomy,
    ) -> Result<CardExample, Failure> {
        let sandbox = self.sandbox.open(1, Capabilities::none())?;
        let _waiting = Waiting::on("scoring its example");
        Ok(example::scored(anatomy, &source.component, &sandbox).await)
    }

    /// Scores the cases.
    fn scored(
        &self,
        runtime: &Runtime,
        signalled: &Signalled,
        known: &Known,
        data: Data,
        ready: ReadyScorer,
    ) -> Result<Scored, Ended> {
        let paths: Vec<&Path> = self.cases.iter().map(PathBuf::as_path).collect();
        let CaseFiles { reader, left_out, unmatched, .. } = self.case_files.open(&paths)?;
        let kept = Kept::of(self.judge.database())?;
        let id = self.run_id.clone().unwrap_or_else(fresh_id);
        let request = RunRequest::new(known.suite.clone(), vec![ready], reader)
            .which(WhichRun::New(id))
            .store(kept.path())
            .jobs(self.jobs.count());
        let report = runtime.block_on(watched(request, signalled))?;
        let report = must_be_whole(report, &kept)?;
        left_out.say();
        if let Some(failure) = unmatched.failure() {
            return Err(Ended::Failed(failure));
        }
        data.must_be_the_same(&self.cases)?;
        Ok(Scored { report, data, kept })
    }

    fn page(&self, known: Known, scored: Option<&Scored>) -> Result<Made, Failure> {
        let Known { source, anatomy, suite, info, example, .. } = known;
        let open = |scored: &Scored| {
            let store = Store::open_read_only(scored.kept.path());
            store.map_err(|error| scored.kept.failure(error))
        };
        let store = scored.map(open).transpose()?;
        let labels = self.with.as_deref().map(|with| {
            let options = AgreementOptions::new(labels_at(with));
            (with, options.with_positive(self.positive.positive()))
        });
        let again = Again {
            card: self,
            scorer: &suite.scorers[0],
            asks_judge: anatomy.grants().contains(Grant::Judge),
            run: scored
                .filter(|scored| scored.kept.is_named() && !self.repeatable)
                .map(|scored| &scored.report),
        };
        let machine = machine(self.jobs.count());
        let page = Page {
            info: &info,
            component: &component(
                &source,
                &anatomy,
                signer(&suite.scorers[0], source.component.bytes()?)?,
            ),
            keys: &keys(&info),
            example: &example,
            scored: scored.zip(store.as_ref()).map(|(scored, store)| CardScored {
                store,
                run: scored.report.run.as_str(),
                is_kept: scored.kept.is_named(),
                files: &scored.data.files,
                labels,
            }),
            commands: &again.commands(),
            machine: (!self.repeatable).then_some(machine.as_str()),
        };
        let _waiting = store.as_ref().map(|it| Waiting::counting("reading scores", it.rows_read()));
        let mut written = Vec::new();
        let scored = page.write(&mut written).map_err(|error| why(error, scored))?;
        Ok(Made { page: written, example, scored })
    }

    /// Prints the last messages, and returns the exit code.
    fn exit(&self, made: &Made) -> Exit {
        let mut exit = Exit::Done;
        if let CardExample::Scored(answers) = &made.example {
            if !answers.is_as_promised {
                words::warn("the scorer's own example does not have the score that it promises");
                exit = Exit::SomeErrors;
            }
            if !answers.is_twice_the_same {
                words::warn("the scorer's own example was scored twice, with two answers");
                exit = Exit::SomeErrors;
            }
            if answers.answer.status == Status::Error {
                exit = Exit::SomeErrors;
            }
        }
        if let Some(written) = made.scored {
            if written.errors > 0 {
                let errors =
                    report::counted(written.errors, "score is an error", "scores are errors");
                words::warn(&format!("{errors}; the page says which"));
                exit = Exit::SomeErrors;
            }
            words::say(&format!("scores sha256:{}", written.scores));
        }
        if self.allow_errors { Exit::Done } else { exit }
    }
}

/// The scorer of a suite, loaded.
async fn loaded(
    suite: &Suite,
    sandbox: &Sandbox,
) -> Result<(ScorerInfo, Option<ReadyScorer>), Failure> {
    let mut scorers = locked::loaded(suite, sandbox).await?;
    setup::must_have_files(&scorers)?;
    let ready = scorers.pop().ok_or_else(|| Failure::new("the scorer was not loaded"))?;
    Ok((ready.scorer.info().clone(), Some(ready)))
}

/// Scores the cases, until the end or a signal.
async fn watched(
    request: RunRequest,
    signalled: &Signalled,
) -> Result<Result<RunReport, RunError>, Failure> {
    let control = Arc::new(Control::default());
    signalled.stop(Arc::clone(&control))?;
    let waiting = Waiting::counting("scoring cases", Arc::default());
    let running = scorebox::run::run(request, Arc::clone(&control));
    tokio::pin!(running);
    let mut every = tokio::time::interval(REDRAW);
    loop {
        tokio::select! {
            report = &mut running => return Ok(report),
            _ = every.tick() => waiting.at(control.progress().cases_done),
        }
    }
}

/// Refuses a run that ended before its last case.
fn must_be_whole(report: Result<RunReport, RunError>, kept: &Kept) -> Result<RunReport, Ended> {
    let report = match report {
        Err(RunError::Stopped) => return Err(Ended::Interrupted),
        Err(RunError::Store(error) | RunError::BrokeOff { error, .. }) => {
            return Err(Ended::Failed(kept.failure(error)));
        }
        report => report?,
    };
    let (message, advice) = match &report.stopped {
        None => return Ok(report),
        Some(Stop::Interrupted) => return Err(Ended::Interrupted),
        Some(
            Stop::BadCase { message, advice }
            | Stop::Unreadable { message, advice }
            | Stop::Incomplete { message, advice }
            | Stop::OverBudget { message, advice }
            | Stop::OutOfResources { message, advice },
        ) => (message.clone(), advice.as_ref()),
        Some(stop) => (stop.to_string(), None),
    };
    let hint = advice.and_then(advice::words);
    Err(Ended::Failed(Failure { hint, ..Failure::new(message) }))
}

/// Why there is no page of these scores.
fn why(error: CardError, scored: Option<&Scored>) -> Failure {
    match (error, scored) {
        (
            CardError::Store(error) | CardError::Agreement(AgreementError::Store(error)),
            Some(scored),
        ) => scored.kept.failure(error),
        (CardError::Store(error), None) => error.into(),
        (CardError::Agreement(error), _) => error.into(),
        (error, _) => Failure::new(error.to_string()),
    }
}
