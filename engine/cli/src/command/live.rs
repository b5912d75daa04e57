//! `scorebox live`: scores cases as they happen, from standard input or from a file that grows: the arguments, and what
//! they resolve to. What the user reads is in `showing`.

mod showing;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use scorebox::{
    advice::Advised as _,
    case::{CaseReader, Follow, Mapping, Source},
    registry::Registry,
    run::{
        Control, FollowKeeper, OnBadCase, RunError, RunReport, RunRequest, Stop, WhichRun, fresh_id,
    },
    sandbox::Sandbox,
    store::{RunId, RunSource, Store, StoreError},
    suite::Suite,
};

use self::showing::Showing;
use crate::{
    arguments::{
        Database, EventArguments, Events, JobArguments, LimitArguments, WorkspaceArguments,
    },
    failure::{Exit, Failure},
    input::typed_input,
    report::shell_word,
    setup::{self, SandboxArguments},
    signals::Signalled,
    words,
};

/// Score cases as they happen, from standard input or from a file that grows
///
/// `my-agent | scorebox live suite.toml` scores each line when it arrives, until the input ends. With --follow it reads a
/// file that grows, through rotation and truncation, until it is interrupted; the same command continues there.
#[derive(Debug, clap::Args)]
pub(crate) struct Live {
    /// The suite file (TOML or JSON)
    #[arg(value_name = "SUITE")]
    suite: PathBuf,

    /// Follow this file instead of reading standard input; a later run of the command continues where this one ended
    #[arg(long, value_name = "FILE", help_heading = "Cases")]
    follow: Option<PathBuf>,

    /// Where to find a part in each line, as a JSON Pointer: `output=/response/text`
    #[arg(long, value_name = "KEY=POINTER", help_heading = "Cases")]
    map: Vec<String>,

    /// The run's id [default: made from the time; with --follow, `live-` and the file's name]
    #[arg(long, value_name = "ID", help_heading = "Run")]
    run_id: Option<RunId>,

    /// Random seed of sampling: the same seed samples the same cases [default: the suite's name]
    #[arg(long, value_name = "SEED", help_heading = "Run")]
    seed: Option<String>,

    /// Exit with 0 even if some scores are errors
    #[arg(long, help_heading = "Output")]
    allow_errors: bool,

    /// Show nothing while it runs
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,

    #[command(flatten)]
    events: EventArguments,

    #[command(flatten)]
    database: Database,

    #[command(flatten)]
    workspace: WorkspaceArguments,

    #[command(flatten)]
    limits: LimitArguments,

    #[command(flatten)]
    jobs: JobArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

impl Live {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let mut suite = setup::suite(&self.suite)?;
        suite.seed = self.seed.clone().or(suite.seed);
        for scorer in &mut suite.scorers {
            scorer.limits = self.limits.apply(scorer.limits.clone())?;
        }
        let events = self.open_events()?;
        let input = self.input()?;
        let jobs = self.jobs.count();
        let slots = setup::slots(jobs, &suite);
        let sandbox = self.sandbox.open(slots, self.workspace.capabilities()?)?;
        let runtime = self.jobs.runtime()?;
        let (signalled, is_summary_wanted) = (Signalled::default(), !events.go_to_stdout());
        let showing = Showing::new(self.quiet || events.go_to_a_terminal());
        let (sink, events) = events.sink();
        let run = async {
            let mut request = self.request(suite, input, jobs, &sandbox).await?;
            if let Some(sink) = sink {
                request = request.sink(sink);
            }
            let request = request.sink(showing.sink());
            let control = Arc::new(Control::default());
            signalled
                .stop(Arc::clone(&control))
                .map_err(|error| Failure::new(format!("cannot wait for signals: {error}")))?;
            let shown = showing.while_it_runs();
            let report = scorebox::run::run(request, control).await;
            shown.end();
            Ok(report)
        };
        let report = runtime.block_on(run);
        let ended = report.and_then(|report| {
            self.finish(report, &signalled, is_summary_wanted.then_some(&showing))
        });
        // A thread that a file system keeps waiting does not keep the process alive.
        runtime.shutdown_background();
        events.all_told(ended)
    }

    fn open_events(&self) -> Result<Events, Failure> {
        let used = [Some(self.suite.as_path()), self.follow.as_deref()];
        let mut used: Vec<&Path> = used.into_iter().flatten().collect();
        used.push(&self.database.path);
        self.events.open(&used)
    }

    /// The cases, and the run that they belong to.
    fn input(&self) -> Result<Input, Failure> {
        let mapping = Mapping::parse(&self.map)?;
        let Some(path) = &self.follow else {
            typed_input();
            let which = WhichRun::New(self.run_id.clone().unwrap_or_else(fresh_id));
            let cases = CaseReader::open(vec![Source::stdin()], mapping)?;
            return Ok(Input { cases, which, keeper: None });
        };
        let id = self.run_id.clone().map_or_else(|| id_of(path), Ok)?;
        let place = position_file(&self.database.path, &id);
        let position = FollowKeeper::stored(&place).map_err(|error| {
            let place = place.display();
            Failure::new(format!("cannot read the position in `{place}`: {error}"))
                .hint("remove that file to read the followed file from its beginning")
        })?;
        let (which, next) = match self.next_ordinal(&id)? {
            Some(next) => (WhichRun::Resume(id), next),
            None => (WhichRun::New(id), 0),
        };
        // A position without its run says nothing.
        let position = position.filter(|_| matches!(which, WhichRun::Resume(_)));
        let follow = Arc::new(Follow::new(path, position.as_ref())?);
        if position.is_some() && follow.continues_at().is_none() {
            words::warn(&format!(
                "`{}` is not the file that was followed before: it is read from its beginning",
                path.display()
            ));
        }
        if !path.exists() {
            words::say(&format!("waiting for `{}`, which does not exist yet", path.display()));
        }
        let begins = follow.continues_at().is_none();
        let cases = CaseReader::follow(Arc::clone(&follow), mapping, next);
        let keeper = FollowKeeper::new(follow, &place);
        if begins {
            keeper.store_beginning(next).map_err(|error| {
                let place = place.display();
                Failure::new(format!(
                    "cannot write the position of the followed file to `{place}`: {error}"
                ))
            })?;
        }
        Ok(Input { cases, which, keeper: Some(keeper) })
    }

    /// The ordinal after all that is stored of a run, if it is stored.
    fn next_ordinal(&self, id: &RunId) -> Result<Option<u64>, Failure> {
        if !self.database.path.exists() {
            return Ok(None);
        }
        let store = Store::open(&self.database.path)?;
        match store.run(id.as_str()) {
            Ok(run) if run.spec.source == RunSource::Live => Ok(Some(store.next_ordinal(run.key)?)),
            Ok(_) => Err(Failure::new(format!("the run `{id}` is not live"))
                .hint("name another id: --run-id ID")),
            Err(StoreError::NoSuchRun { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn request(
        &self,
        suite: Suite,
        input: Input,
        jobs: usize,
        sandbox: &Sandbox,
    ) -> Result<RunRequest, Failure> {
        let scorers = setup::loaded(&suite, &Registry::with_builtins(), sandbox).await?;
        setup::must_have_files(&scorers)?;
        let request = RunRequest::new(suite, scorers, input.cases)
            .which(input.which)
            .source(RunSource::Live)
            .store(&self.database.path)
            .jobs(jobs)
            .on_bad_case(OnBadCase::Skip);
        Ok(match input.keeper {
            Some(keeper) => request.sink(keeper),
            None => request,
        })
    }

    /// What the user reads at the end, and the exit code.
    fn finish(
        &self,
        report: Result<RunReport, RunError>,
        signalled: &Signalled,
        summary: Option<&Showing>,
    ) -> Result<Exit, Failure> {
        let report = match report {
            Err(RunError::Stopped) => return Ok(signalled.exit()),
            Err(RunError::BrokeOff { run, error }) => {
                words::error_with(&error.to_string(), error.advice().as_ref());
                words::say(&format!("Scores so far are kept in the run {run}."));
                return Ok(Exit::BadInput);
            }
            report => report?,
        };
        if let Some(showing) = summary {
            showing.summarize()?;
        }
        showing::totals(&report, &self.scores_command(&report.run));
        match &report.stopped {
            None if report.progress.errors > 0 && !self.allow_errors => Ok(Exit::SomeErrors),
            None => Ok(Exit::Done),
            Some(Stop::Interrupted) => Ok(signalled.exit()),
            Some(stop) => Err(Failure::new(stop.to_string())),
        }
    }

    /// The command that shows the scores of the run.
    fn scores_command(&self, run: &RunId) -> String {
        let db = match self.database.is_default() {
            true => String::new(),
            false => format!(" --db {}", shell_word(&self.database.path.display().to_string())),
        };
        format!("scorebox scores {run}{db}")
    }
}

/// What is read, and what it belongs to.
struct Input {
    cases: CaseReader,
    which: WhichRun,
    keeper: Option<FollowKeeper>,
}

/// The id of the run that follows a file.
fn id_of(path: &Path) -> Result<RunId, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let letters = name.chars().map(|letter| if allowed(letter) { letter } else { '_' });
    let id: String = "live-".chars().chain(letters).take(64).collect();
    Ok(id.parse::<RunId>()?)
}

/// Where the position of a followed file is stored: beside the database.
fn position_file(database: &Path, run: &RunId) -> PathBuf {
    let mut name = database.file_name().unwrap_or_default().to_owned();
    name.push(format!("-follow-{run}.json"));
    database.with_file_name(name)
}
