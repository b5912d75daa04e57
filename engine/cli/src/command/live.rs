//! `scorebox live`: scores cases as they happen, from standard input or from a file that grows: the arguments, and what
//! they resolve to. `showing` has the output.

mod showing;

use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    sync::Arc,
};

use scorebox::{
    case::{CaseReader, Follow, FollowPosition, Mapping, ReadError, Source, SourceError},
    judge::Consumed,
    run::{
        Control, FollowKeeper, OnBadCase, Progress, RunError, RunReport, RunRequest, Sink as _,
        Stop, WhichRun, fresh_id,
    },
    sandbox::Sandbox,
    store::{RunId, RunSource, Store, StoreError},
    suite::Suite,
    verdict::Requirements,
};

use self::showing::Showing;
use crate::{
    arguments::{
        Events, Reported, Reports, RequirementArguments, RunEnded, ScoringArguments, Unmatched,
        reports_again, run_id, seed,
    },
    decision::Decision,
    failure::{Exit, Failure},
    input::typed_input,
    lock_file::{Locks, locks_while},
    lock_holder::held_database,
    locked, output,
    report::{counted, shell_word, summaries},
    run_end::{self, broke_off, stopped},
    setup,
    signals::Signalled,
    words,
};

/// What to do if a run with the requested id exists.
const ONE_RUN_A_PROCESS: &str = "a run takes the lines of one process: give this one another id, or have the tasks of a workflow append to one file, \
     which --follow reads into one run";

/// What to do if standard input ended without a line.
const NOTHING_CAME: &str = "the program before the pipe wrote nothing to its standard output: see what it says by itself; to read a file that \
     grows: --follow FILE";

/// Score cases as they happen, from standard input or from a file that grows
///
/// `my-agent | scorebox live suite.toml` scores each line when it arrives, until the input ends. With --follow it reads
/// a file that grows, through rotation and truncation, until it is interrupted; the same command continues there.
#[derive(Debug, clap::Args)]
pub(crate) struct Live {
    /// The suite file (TOML or JSON), or a bundle (.tar)
    #[arg(value_name = "SUITE")]
    suite: PathBuf,

    /// Follow this file instead of reading standard input; a later run of the command continues where this one ended
    #[arg(long, value_name = "FILE", help_heading = "Cases")]
    follow: Option<PathBuf>,

    /// Where to find a part in each line, as a JSON Pointer: `output=/response/text`
    #[arg(long, value_name = "KEY=POINTER", help_heading = "Cases")]
    map: Vec<String>,

    /// The run's id [default: made from the time; with --follow, `live-` and the file's name]
    #[arg(long, value_name = "ID", value_parser = run_id, help_heading = "Run")]
    run_id: Option<RunId>,

    /// Random seed of sampling: the same seed samples the same cases [default: the suite's `seed`, or else its name]
    #[arg(long, value_name = "SEED", value_parser = seed, help_heading = "Run")]
    seed: Option<String>,

    /// Exit with 0 even if some scores are errors
    #[arg(long, help_heading = "Output")]
    allow_errors: bool,

    /// Show nothing while it runs
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,

    #[command(flatten)]
    scoring: ScoringArguments,
}

impl Live {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let mut suite = self.suite()?;
        self.scoring.locked.check(&suite)?;
        let requirements = self.scoring.requirements.of(&mut suite)?;
        let (reports, events) = self.outputs(&suite)?;
        let mut input = self.input()?;
        let _only_follower = input.lock.take();
        let unmatched = Unmatched::of(&input.cases);
        let before_a_case = input.keeper.clone();
        let jobs = self.scoring.jobs.count();
        let slots = setup::slots(jobs, &suite);
        let before = self.asked_before(&input.which)?;
        let judges = self.scoring.judges.judges_after(
            &mut suite,
            Some(&self.scoring.database.path),
            before,
        )?;
        let capabilities = self.scoring.workspace.capabilities()?.with_judges(judges);
        let (sandbox, locks) =
            locks_while(&suite.scorers, || self.scoring.sandbox.open(slots, capabilities))?;
        let runtime = self.scoring.jobs.runtime()?;
        let signalled = Signalled::default();
        let is_summary_wanted = !events.go_to_stdout() && !reports.go_to_stdout();
        let showing = Showing::new(self.quiet || events.go_to_a_terminal());
        let (sink, events) = events.sink(&signalled);
        let exporting = self.scoring.telemetry.start(false, self.scoring.judges.is_offline())?;
        let control = Arc::new(Control::default());
        let run = async {
            let mut request = self
                .request(suite, &requirements, input, jobs, (&sandbox, &locks), &showing)
                .await?;
            if let Some(sink) = sink {
                request = request.sink(sink);
            }
            if let Some(sink) = exporting.sink(&control) {
                request = request.sink(sink);
            }
            let request = request.sink(showing.sink());
            signalled.stop(Arc::clone(&control))?;
            let shown = showing.while_it_runs();
            let report = scorebox::run::run(request, Arc::clone(&control)).await;
            shown.end();
            Ok(report)
        };
        let report = runtime.block_on(run);
        if let (Ok(Err(RunError::Stopped)), Some(mut keeper)) = (&report, before_a_case)
            && let Err(refused) = keeper.flush()
        {
            // No run had begun that could have heard of files which got the name meanwhile.
            words::warn(&refused.to_string());
        }
        let ended = report.and_then(|report| match report {
            Err(RunError::BrokeOff { run, error }) => {
                Ok(self.say_broke_off(&run, &error, &control.progress(), &signalled))
            }
            report => self.finish(report, &requirements, reports, &signalled, is_summary_wanted),
        });
        // Of what a signal ends, more may have come.
        let ended = ended.map(|exit| match exit {
            Exit::Interrupted | Exit::Terminated => exit,
            _ if unmatched.say() => Exit::BadInput,
            exit => exit,
        });
        let ended = events.with_failure(ended);
        exporting.end();
        // A thread that waits for a file system must not keep the process alive.
        runtime.shutdown_background();
        ended
    }

    /// The suite, with the changes of the options.
    fn suite(&self) -> Result<Suite, Failure> {
        setup::suite_to_load(&self.suite, &self.scoring.sandbox, |mut suite| {
            suite.seed = self.seed.clone().or(suite.seed);
            for scorer in &mut suite.scorers {
                scorer.limits = self.scoring.limits.apply(scorer.limits.clone())?;
            }
            Ok(suite)
        })
    }

    /// The output files, none of which may be a file that the command reads.
    fn outputs(&self, suite: &Suite) -> Result<(Reports, Events), Failure> {
        let used = [Some(self.suite.as_path()), self.follow.as_deref()];
        let used = used.into_iter().flatten().chain(suite.files());
        let used = used.chain([self.scoring.database.path.as_path()]);
        let used: Vec<&Path> = used.collect();
        let reports = self.scoring.reports.open(&used)?;
        let events = self.scoring.events.open_with(&used, &reports)?;
        Ok((reports, events))
    }

    /// The source of the cases, and their run.
    fn input(&self) -> Result<Input, Failure> {
        let mapping = Mapping::parse(&self.map)?;
        let Some(path) = &self.follow else {
            typed_input();
            let which = WhichRun::New(self.run_id.clone().unwrap_or_else(fresh_id));
            let cases = CaseReader::open(vec![Source::stdin()], mapping)?;
            return Ok(Input { cases, which, keeper: None, lock: None });
        };
        let id = self.run_id.clone().map_or_else(|| id_of(path), Ok)?;
        let place = beside(&self.scoring.database.path, &id, "json");
        let lock = only_follower(&beside(&self.scoring.database.path, &id, "lock"), &id)?;
        let position = FollowKeeper::stored(&place).map_err(|error| {
            let place = place.display();
            Failure::new(format!("cannot read the position in `{place}`: {error}"))
                .hint("remove that file to read the followed file from its beginning")
        })?;
        let (which, next) = match self.next_ordinal(&id)? {
            Some(next) => (WhichRun::Resume(id), next),
            None => (WhichRun::New(id), 0),
        };
        let is_resumed = matches!(which, WhichRun::Resume(_));
        let position = position.filter(|position| is_resumed || is_before_its_run(path, position));
        let follow = Arc::new(Follow::new(path, position.as_ref())?);
        if let Some(position) = &position {
            self.must_be_followed_before(path, position, &follow)?;
            say_what_is_gone(path, &follow);
        }
        if !path.exists() {
            words::say(&format!("waiting for `{}`, which does not exist yet", path.display()));
        }
        let cases = CaseReader::follow(Arc::clone(&follow), mapping, next);
        let keeper = FollowKeeper::new(follow, &place);
        let mut keeper = if is_resumed { keeper.resuming() } else { keeper };
        keeper.store_beginning(next).map_err(|error| Failure::new(error.to_string()))?;
        Ok(Input { cases, which, keeper: Some(keeper), lock: Some(lock) })
    }

    /// Refuses to continue a run of another followed file with the same name, unless the user named the run.
    fn must_be_followed_before(
        &self,
        path: &Path,
        position: &FollowPosition,
        follow: &Follow,
    ) -> Result<(), Failure> {
        let before = Path::new(&position.path);
        // A file whose folder was renamed is the same file.
        let is_found = position.inode != 0 && follow.continues_at().is_some();
        if self.run_id.is_some() || is_found || is_same_place(path, before) {
            return Ok(());
        }
        let (path, before) = (path.display(), before.display());
        Err(Failure::new(format!(
            "`{path}` would continue the run of another file of this name, `{before}`"
        ))
        .hint("give it its own run: --run-id ID"))
    }

    /// The ordinal after the last stored case of a run, if the run is stored.
    fn next_ordinal(&self, id: &RunId) -> Result<Option<u64>, Failure> {
        if !self.scoring.database.path.exists() {
            return Ok(None);
        }
        let store = Store::open(&self.scoring.database.path)?;
        match store.run(id.as_str()) {
            Ok(run) if run.spec.source == RunSource::Live => Ok(Some(store.next_ordinal(run.key)?)),
            Ok(_) => Err(Failure::new(format!("the run `{id}` is not live"))
                .hint("name another id: --run-id ID")),
            Err(StoreError::NoSuchRun { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// What earlier sessions of a run spent on its judges, even without a score.
    fn asked_before(&self, which: &WhichRun) -> Result<Consumed, Failure> {
        let mut before = Consumed::default();
        let WhichRun::Resume(id) = which else { return Ok(before) };
        let store = self.scoring.database.read()?;
        for counts in store.call_counts(store.run(id.as_str())?.key)? {
            before.calls += counts.calls.saturating_sub(counts.recorded);
            before.cost_usd += counts.cost_usd.unwrap_or_default();
        }
        Ok(before)
    }

    /// Reports why the run stopped before its input ended, and what is left to score.
    fn say_stop(&self, stop: &Stop, report: &RunReport) -> Exit {
        let exit = stopped::say(stop, None);
        let before = match stop {
            Stop::OverBudget { .. } => "with a larger budget, ",
            _ => "",
        };
        self.say_what_is_left(&report.run, &report.progress, before);
        exit
    }

    /// Reports why the database stored no more, and what is left to score, if that is known: it is not if a batch was
    /// not committed.
    fn say_broke_off(
        &self,
        run: &RunId,
        error: &StoreError,
        progress: &Progress,
        signalled: &Signalled,
    ) -> Exit {
        let exit = broke_off::say(error, signalled);
        if !matches!(error, StoreError::Moved { .. }) {
            words::say(&format!("Scores so far are kept in the run {run}."));
        }
        if matches!(error, StoreError::Locked { .. }) {
            self.say_what_is_left(run, progress, "");
        }
        exit
    }

    /// Reports how many lines were read and not scored, and the command that scores them; `before` is the text about
    /// what to do first if a file is followed.
    fn say_what_is_left(&self, run: &RunId, progress: &Progress, before: &str) {
        let settled = progress.cases_done + progress.cases_finished_before;
        let left = progress.cases_read.saturating_sub(settled);
        let lines = match left {
            1 => "1 line was read and not scored".to_owned(),
            more => format!("{} were read and not scored", counted(more, "line", "lines")),
        };
        let suite = shell_word(&self.suite);
        let run = format!("{suite} LINES --resume {run}");
        let command = self.scoring.database.command("run", &run);
        words::say(&match &self.follow {
            Some(_) => {
                format!("{lines}: {before}the same command scores them, and continues there.")
            }
            None => format!(
                "{lines}, and what the pipe held then was not read. If there is a file with all that came through it, resume with:\n  {command}"
            ),
        });
    }

    async fn request(
        &self,
        suite: Suite,
        requirements: &Requirements,
        input: Input,
        jobs: usize,
        (sandbox, locks): (&Sandbox, &Locks),
        showing: &Showing,
    ) -> Result<RunRequest, Failure> {
        let scorers = locked::loaded_as(locks, &suite, sandbox).await?;
        self.scoring.must_serve(&scorers)?;
        RequirementArguments::must_be_on_scale(requirements, &scorers)?;
        showing.loaded(&scorers);
        let request = RunRequest::new(suite, scorers, input.cases)
            .which(input.which)
            .source(RunSource::Live)
            .store(&self.scoring.database.path)
            .waiting_for_the_database({
                let showing = showing.clone();
                move |path| showing.warn(&held_database(path))
            })
            .jobs(jobs)
            .on_bad_case(OnBadCase::Skip);
        Ok(match input.keeper {
            Some(keeper) => request.sink(keeper),
            None => request,
        })
    }

    /// Prints the end of the run, and returns the exit code. For a followed file, a signal is the normal end, so
    /// requirements are checked; a stream that a signal cuts off is not complete.
    fn finish(
        &self,
        report: Result<RunReport, RunError>,
        requirements: &Requirements,
        reports: Reports,
        signalled: &Signalled,
        is_summary_wanted: bool,
    ) -> Result<Exit, Failure> {
        let report = match reported(report, signalled)? {
            Ok(report) => report,
            Err(exit) => return Ok(exit),
        };
        let (run, store) = (&report.run, self.scoring.database.read()?);
        let strict = self.scoring.requirements.strict;
        let decision = Decision::of_run(&store, run, requirements, strict)?;
        let record = store.run(run.as_str())?;
        let said = store.summaries(record.key)?;
        if is_summary_wanted {
            output::stdout(|out| {
                write!(out, "{}", run_end::table(&decision.aggregates, false))?;
                said.iter()
                    .try_for_each(|said| write!(out, "\n{}", summaries::said(said, record.state)))
            })?;
        }
        showing::totals(&report, &self.scoring.database.command("scores", run.as_str()));
        let has_ended = match &report.stopped {
            None => true,
            Some(Stop::Interrupted) => self.follow.is_some(),
            Some(_) => false,
        };
        let broken = if has_ended { &decision.broken[..] } else { &[] };
        let database = &self.scoring.database;
        let Decision { aggregates, decided, .. } = &decision;
        run_end::say_what_is_wrong(&store, &record, aggregates, decided, broken, database)?;
        decision.say_verdict();
        let is_broken = !broken.is_empty();
        if is_broken {
            decision.say_broken(run, database);
        }
        let again = reports_again(run.as_str(), strict, &self.scoring.database);
        let runs = [run.to_string()];
        let documents = Reported { broken, ..Reported::new(&runs, strict) };
        let written = reports.write(&store, documents, &again);
        // The user did not ask to skip invalid lines.
        let has_other_error = summaries::have_error(&said) || report.progress.cases_bad > 0;
        let exit = self.scoring.requirements.exit(RunEnded {
            is_broken,
            errors: decision.errors(),
            has_other_error,
            allows_errors: self.allow_errors,
        });
        if let (Some(_), Err(failure)) = (&report.stopped, &written) {
            words::failure(failure);
        }
        match &report.stopped {
            None => written.map(|()| exit),
            Some(Stop::Interrupted) => {
                Ok(if exit == Exit::BrokenRequirement { exit } else { signalled.exit() })
            }
            Some(stop) => Ok(self.say_stop(stop, &report)),
        }
    }
}

/// The input, and the run that it belongs to.
struct Input {
    cases: CaseReader,
    which: WhichRun,
    /// Stores how far a followed file was scored.
    keeper: Option<FollowKeeper>,
    /// Keeps other processes from following into the run, as long as it is open.
    lock: Option<File>,
}

/// The report of a run, or the exit code of one that has none.
fn reported(
    report: Result<RunReport, RunError>,
    signalled: &Signalled,
) -> Result<Result<RunReport, Exit>, Failure> {
    match report {
        Err(RunError::Stopped) => Ok(Err(signalled.exit())),
        Err(RunError::Cases(ReadError::Source(empty @ SourceError::Empty { .. }))) => {
            Err(Failure::new(empty.to_string()).hint(NOTHING_CAME))
        }
        Err(RunError::Store(taken @ StoreError::RunExists { .. })) => {
            Err(Failure::new(taken.to_string()).hint(ONE_RUN_A_PROCESS))
        }
        report => Ok(Ok(report?)),
    }
}

/// Reports data that should have been read and no longer exists.
fn say_what_is_gone(path: &Path, follow: &Follow) {
    let path = path.display();
    if follow.continues_at().is_none() {
        words::warn(&format!(
            "`{path}` is not the file that was followed before: it is read from its beginning"
        ));
    }
    if follow.lost() > 0 {
        let files = counted(follow.lost() as u64, "file", "files");
        words::warn(&format!("not read: {files} that had the name `{path}` before, gone by now"));
    }
}

/// Whether a position without a run is still valid: no case came before it, so it only records which files of this path
/// to read, and from which line. Otherwise the run was removed, and following begins again.
fn is_before_its_run(path: &Path, position: &FollowPosition) -> bool {
    position.holds_without_a_run() && is_same_place(path, Path::new(&position.path))
}

/// Whether two paths name the same location, whether or not it exists.
fn is_same_place(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let path = std::path::absolute(path).ok()?;
        let folder = path.parent()?;
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        Some(folder.join(path.file_name()?))
    };
    place(one) == place(other)
}

/// The id of the run that follows a file.
fn id_of(path: &Path) -> Result<RunId, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let letters = name.chars().map(|letter| if allowed(letter) { letter } else { '_' });
    let id: String = "live-".chars().chain(letters).take(64).collect();
    Ok(id.parse::<RunId>()?)
}

/// A file beside the database, for following a file.
fn beside(database: &Path, run: &RunId, suffix: &str) -> PathBuf {
    let mut name = database.file_name().unwrap_or_default().to_owned();
    name.push(format!("-follow-{run}.{suffix}"));
    database.with_file_name(name)
}

/// The lock of the process that follows a file into this run, as long as it is open. On file systems without locks,
/// such as some network file systems, it reports no error.
fn only_follower(lock: &Path, run: &RunId) -> Result<File, Failure> {
    let opened = File::options().create(true).truncate(false).write(true).open(lock);
    let file = opened.map_err(|error| {
        let lock = lock.display();
        Failure::new(format!("cannot write `{lock}`, which keeps other followers away: {error}"))
    })?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err(Failure::new(format!("another process follows a file into the run `{run}`"))
                .hint("end that one first, or name another run: --run-id ID"))
        }
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}
