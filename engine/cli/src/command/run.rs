//! `scorebox run`: runs a suite over cases: the arguments, and what they resolve to. `report` has the output, and
//! `named` parses the names of scorers.

mod named;
mod report;

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use scorebox::{
    case::CaseReader,
    judge::Judges,
    run::{
        Control, OnBadCase, ReadyScorer, RunError, RunReport, RunRequest, Stop, WhichRun, fresh_id,
    },
    sandbox::Sandbox,
    store::{RunId, StoreError},
    suite::{Suite, SuiteError},
    verdict::Requirements,
};

use self::{
    named::{named_grant, named_twice, scorer, targeting},
    report::Printed,
};
use crate::{
    arguments::{
        CaseFileArguments, CaseFiles, Reported, Reports, RequirementArguments, RunEnded,
        ScoringArguments, Unmatched, completing, parse_config, reports_again, run_id, seed,
        split_named,
    },
    bundled,
    failure::{Exit, Failure},
    lock_file::{Locks, locks_while},
    lock_holder::held_database,
    locked,
    output::Format,
    report::shell_word,
    run_end::{broke_off, stopped},
    setup,
    signals::Signalled,
    waiting::Waiting,
    words,
};

/// Run a suite of scorers over cases and store the scores
///
/// The suite is a TOML file, or is made of the scorers named with -s. Cases are JSON Lines, also
/// compressed with gzip or zstd; `-` reads standard input. Files of other tools are read as well: see --from.
#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// Files with cases, in any format of --from, and at most one suite: a file (.toml; see --suite for JSON) or a
    /// bundle (.tar)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The suite file (TOML or JSON), if it is neither a .toml file nor a bundle among FILES
    #[arg(long = "suite", value_name = "FILE", help_heading = "Scorers")]
    suite_file: Option<PathBuf>,

    /// A scorer: the name of a built-in one, or the path of a .wasm file or a script (.js, .mjs, .ts, .mts, .py);
    /// `NAME=…` gives it another name
    #[arg(long = "scorer", short = 's', value_name = "[NAME=]SCORER", add = completing::named_scorers(), help_heading = "Scorers")]
    scorers: Vec<String>,

    /// Score the results of this scorer instead of the cases' outputs: an entry of the suite, or a scorer
    /// as in -s
    #[arg(long, value_name = "[NAME=]SCORER", add = completing::targets(), help_heading = "Scorers")]
    target: Option<String>,

    /// A scorer's configuration: a JSON object, or @FILE
    #[arg(long, value_name = "NAME=JSON", add = completing::configurations(), help_heading = "Scorers")]
    config: Vec<String>,

    /// Grant a scorer an import: `wasi` (an empty WASI: no files, network or clock), `workspace` (the files of the
    /// case; see --workspace) or `judge` (questions to a language model)
    #[arg(long, value_name = "NAME=WHAT", add = completing::suite_grants(), help_heading = "Scorers")]
    grant: Vec<String>,

    #[command(flatten)]
    case_files: CaseFileArguments,

    /// What to do with an invalid line: stop, or skip it (it is counted)
    #[arg(long, value_name = "WHAT", default_value = "stop", help_heading = "Cases")]
    on_bad_case: OnBadCaseArgument,

    /// The run's id [default: made from the time]
    #[arg(long, value_name = "ID", value_parser = run_id, conflicts_with = "resume", help_heading = "Run")]
    run_id: Option<RunId>,

    /// Continue an interrupted run: score only what is missing
    #[arg(long, value_name = "ID", value_parser = run_id, add = completing::runs(), help_heading = "Run")]
    resume: Option<RunId>,

    /// Random seed of sampling: the same seed samples the same cases [default: the suite's `seed`, or else its name]
    #[arg(long, value_name = "SEED", value_parser = seed, help_heading = "Run")]
    seed: Option<String>,

    /// Copy scores that an earlier run in the database already has (same component, configuration, limits and input)
    #[arg(long, help_heading = "Run")]
    reuse: bool,

    /// Show the 95 % interval of each mean; attempts at a case count as one
    #[arg(long, help_heading = "Output")]
    ci: bool,

    /// How to print the summary
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    format: Format,

    /// Exit with 0 even if some scores are errors
    #[arg(long, help_heading = "Output")]
    allow_errors: bool,

    /// Show no progress
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,

    #[command(flatten)]
    scoring: ScoringArguments,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum OnBadCaseArgument {
    Stop,
    Skip,
}

impl Run {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let (suite_file, case_files) = self.split_files()?;
        self.scoring.telemetry.must_have_its_address(&case_files)?;
        let mut suite = self.suite(suite_file)?;
        self.scoring.locked.check(&suite)?;
        let requirements = self.scoring.requirements.of(&mut suite)?;
        let used = suite_file.into_iter().chain(suite.files()).chain(case_files.iter().copied());
        let used = used.chain(self.configuration_files());
        let used: Vec<&Path> = used.chain([self.scoring.database.path.as_path()]).collect();
        let reports = self.scoring.reports.open(&used)?;
        let events = self.scoring.events.open_with(&used, &reports)?;
        if suite.target.is_some() {
            self.must_have_outputs(&case_files)?;
        }
        let CaseFiles { reader: cases, left_out, unmatched, .. } =
            self.case_files.open(&case_files)?;
        let jobs = self.scoring.jobs.count();
        let judges = self.scoring.judges.judges(&mut suite, Some(&self.scoring.database.path))?;
        let capabilities = self.scoring.workspace.capabilities()?.with_judges(judges.clone());
        let watched = judges;
        let slots = setup::slots(jobs, &suite);
        let (sandbox, locks) =
            locks_while(&suite.scorers, || self.scoring.sandbox.open(slots, capabilities))?;
        let runtime = self.scoring.jobs.runtime()?;
        let signalled = Signalled::default();
        let summary = !events.go_to_stdout();
        let outputs = Outputs { reports, summary, unmatched, judges: watched.clone() };
        let shows_progress = !self.quiet && !events.go_to_a_terminal();
        let (sink, events) = events.sink(&signalled);
        let exporting = self.scoring.telemetry.start(true, self.scoring.judges.is_offline())?;
        let control = Arc::new(Control::default());
        let run = async {
            let mut request =
                self.request(suite, &requirements, cases, jobs, (&sandbox, &locks)).await?;
            if let Some(sink) = sink {
                request = request.sink(sink);
            }
            if let Some(sink) = exporting.sink(&control) {
                request = request.sink(sink);
            }
            run_watched(request, &control, (shows_progress, watched), &signalled).await
        };
        let report = runtime.block_on(run);
        left_out.say();
        let ended =
            report.and_then(|report| self.finish(report, &requirements, outputs, &signalled));
        let ended = events.with_failure(ended);
        exporting.end();
        // A thread that waits for a file system must not keep the process alive.
        runtime.shutdown_background();
        ended
    }

    async fn request(
        &self,
        suite: Suite,
        requirements: &Requirements,
        cases: CaseReader,
        jobs: usize,
        (sandbox, locks): (&Sandbox, &Locks),
    ) -> Result<RunRequest, Failure> {
        let scorers = locked::loaded_as(locks, &suite, sandbox).await?;
        self.scoring.must_serve(&scorers)?;
        self.say_unused_grants(&scorers)?;
        RequirementArguments::must_be_on_scale(requirements, &scorers)?;
        let which = match &self.resume {
            Some(id) => WhichRun::Resume(id.clone()),
            None => WhichRun::New(self.run_id.clone().unwrap_or_else(fresh_id)),
        };
        Ok(RunRequest::new(suite, scorers, cases)
            .which(which)
            .store(&self.scoring.database.path)
            .waiting_for_the_database(|path| words::warn(&held_database(path)))
            .jobs(jobs)
            .on_bad_case(match self.on_bad_case {
                OnBadCaseArgument::Stop => OnBadCase::Stop,
                OnBadCaseArgument::Skip => OnBadCase::Skip,
            })
            .reuse(self.reuse))
    }

    /// Warns of grants on the command line that the scorer does not need.
    fn say_unused_grants(&self, scorers: &[ReadyScorer]) -> Result<(), Failure> {
        for written in &self.grant {
            let (name, grant) = named_grant(written)?;
            let is_unused = |ready: &ReadyScorer| {
                ready.id.as_str() == name && !ready.scorer.anatomy().grants().contains(grant)
            };
            if scorers.iter().any(is_unused) {
                words::warn(&format!(
                    "--grant {written} has no effect: the scorer does not import what it gives"
                ));
            }
        }
        Ok(())
    }

    /// Prints the end of the run, and returns the exit code.
    fn finish(
        &self,
        report: Result<RunReport, RunError>,
        requirements: &Requirements,
        outputs: Outputs,
        signalled: &Signalled,
    ) -> Result<Exit, Failure> {
        let Outputs { reports, summary, unmatched, judges } = outputs;
        let report = match report {
            Err(stopped @ RunError::Stopped) => {
                words::say(&stopped.to_string());
                return Ok(signalled.exit());
            }
            Err(RunError::BrokeOff { run, error }) => {
                let exit = broke_off::say(&error, signalled);
                // A finished run that was changed stays as it is, and a moved database is at another path.
                if !matches!(error, StoreError::Changed { .. } | StoreError::Moved { .. }) {
                    stopped::say_what_is_kept("", "Resume with", Some(&resume_command(&run)));
                }
                return Ok(exit);
            }
            report => &report?,
        };
        let store = self.scoring.database.read()?;
        let asked = report::Asked {
            requirements,
            strict: self.scoring.requirements.strict,
            summary: summary && !reports.go_to_stdout(),
            intervals: self.ci,
            format: self.format,
            database: &self.scoring.database,
            judges: &judges.counts(),
        };
        let reported = report::print(&store, report, &asked)?;
        let again = reports_again(report.run.as_str(), asked.strict, &self.scoring.database);
        let runs = [report.run.to_string()];
        let documents = Reported {
            intervals: self.ci,
            broken: &reported.broken,
            ..Reported::new(&runs, asked.strict)
        };
        let written = reports.write(&store, documents, &again);
        if let (Some(_), Err(failure)) = (&report.stopped, &written) {
            words::failure(failure);
        }
        match &report.stopped {
            Some(Stop::Interrupted) => {
                let resume = resume_command(&report.run);
                stopped::say_what_is_kept("Interrupted.", "Resume with", Some(&resume));
                return Ok(signalled.exit());
            }
            Some(stop) => return Ok(stopped::say(stop, Some(&resume_command(&report.run)))),
            None => {}
        }
        written?;
        let Printed { errors, has_summary_error, broken } = reported;
        let exit = self.scoring.requirements.exit(RunEnded {
            is_broken: !broken.is_empty(),
            errors,
            has_other_error: has_summary_error,
            allows_errors: self.allow_errors,
        });
        Ok(if unmatched.say() { Exit::BadInput } else { exit })
    }

    fn split_files(&self) -> Result<(Option<&Path>, Vec<&Path>), Failure> {
        let is_suite = |path: &Path| {
            path.extension().is_some_and(|suffix| suffix == "toml") || bundled::is_bundle(path)
        };
        let (suites, cases): (Vec<&Path>, Vec<&Path>) =
            self.files.iter().map(PathBuf::as_path).partition(|path| is_suite(path));
        let suites: Vec<&Path> = self.suite_file.as_deref().into_iter().chain(suites).collect();
        if let [first, second, ..] = suites[..] {
            return Err(Failure::new(format!(
                "two suite files: `{}` and `{}`",
                first.display(),
                second.display()
            ))
            .hint("a run has one suite"));
        }
        if cases.is_empty() {
            return Err(Failure::new("no file with cases is named")
                .hint("name a JSON Lines file, or `-` for standard input"));
        }
        if let Some(failure) =
            cases.iter().find_map(|path| setup::scorer_not(path, "a file of cases"))
        {
            return Err(failure.hint("a scorer is named with `-s`, and a suite by a file in TOML"));
        }
        Ok((suites.first().copied(), cases))
    }

    /// Refuses files that have a line which is not a valid item, such as one without an `output`, before a target is
    /// run over any of them. A pipe or a device can be read only once.
    fn must_have_outputs(&self, files: &[&Path]) -> Result<(), Failure> {
        let files: Vec<&Path> = files.iter().copied().filter(|path| path.is_file()).collect();
        if files.is_empty() || matches!(self.on_bad_case, OnBadCaseArgument::Skip) {
            return Ok(());
        }
        let mut items = self.case_files.open(&files)?.reader;
        let _waiting = Waiting::on("checking the items");
        while let Some(item) = items.next_case() {
            item?;
        }
        Ok(())
    }

    /// The suite file's scorers, then those of the command line, with the command line's options.
    fn suite(&self, file: Option<&Path>) -> Result<Suite, Failure> {
        if let Some(path) = file {
            return setup::suite_to_load(path, &self.scoring.sandbox, |suite| {
                self.changed(suite, &self.scorers)
            });
        }
        let of_one = |first| {
            let suite = Suite::new("command line".to_owned(), Vec::from_iter(first));
            suite.map_err(|error| self.no_suite(error))
        };
        match (&self.scorers[..], &self.target) {
            ([first, others @ ..], _) => self.changed(of_one(Some(scorer(first)?))?, others),
            ([], Some(target)) => {
                let target = scorer(target)?;
                let id = target.id.clone();
                self.configured(of_one(Some(target))?.with_scorer_as_target(&id)?)
            }
            ([], None) => self.configured(of_one(None)?),
        }
    }

    /// The failure that the command line gives no valid suite. A suite in JSON that is not named as one is read as
    /// cases, and so is YAML.
    fn no_suite(&self, error: SuiteError) -> Failure {
        let yaml = self.files.iter().find_map(|path| setup::not_yaml(path));
        if let (SuiteError::NoScorers, Some(failure)) = (&error, yaml) {
            return failure;
        }
        let json = self.files.iter().find(|path| path.extension().is_some_and(|it| it == "json"));
        match (error, json) {
            (SuiteError::NoScorers, Some(file)) => Failure::new(SuiteError::NoScorers.to_string())
                .hint(format!(
                    "name one with `-s`, or a suite in JSON with `--suite {}`",
                    shell_word(file)
                )),
            (error, _) => error.into(),
        }
    }

    /// The files of configurations on the command line.
    fn configuration_files(&self) -> impl Iterator<Item = &Path> {
        let written = self.config.iter().filter_map(|written| written.split_once("=@"));
        written.map(|(_, file)| Path::new(file))
    }

    /// The suite with the changes of the command line, and with `others` as further scorers.
    fn changed(&self, mut suite: Suite, others: &[String]) -> Result<Suite, Failure> {
        for written in others {
            let added = scorer(written)?;
            suite = suite.with_scorer(added.clone()).map_err(|error| match error {
                SuiteError::SameId(_) => named_twice(&added),
                error => error.into(),
            })?;
        }
        if let Some(written) = &self.target {
            suite = targeting(suite, written)?;
        }
        self.configured(suite)
    }

    /// The suite with the seed, the limits, the configurations and the grants of the command line.
    fn configured(&self, mut suite: Suite) -> Result<Suite, Failure> {
        suite.seed = self.seed.clone().or(suite.seed);
        for scorer in &mut suite.scorers {
            scorer.limits = self.scoring.limits.apply(scorer.limits.clone())?;
        }
        let mut configured = HashSet::new();
        for written in &self.config {
            let (name, config) = split_named("config", written)?;
            let scorer = suite.scorer_mut(&name)?;
            if !configured.insert(name.clone()) {
                return Err(Failure::new(format!("--config names `{name}` twice"))
                    .hint("a scorer has one configuration: put all keys into one JSON object"));
            }
            scorer.config = parse_config(&config)?;
            // The configuration is not in the suite file.
            scorer.config_location = None;
        }
        for written in &self.grant {
            let (name, grant) = named_grant(written)?;
            let scorer = suite.scorer_mut(&name)?;
            scorer.grants = scorer.grants.with(grant);
        }
        Ok(suite)
    }
}

/// The outputs of a run in addition to its rows.
struct Outputs {
    reports: Reports,
    /// Whether standard output is free for the summary.
    summary: bool,
    unmatched: Unmatched,
    /// The judges, after the run has asked them.
    judges: Judges,
}

/// Runs, with a progress bar if the user wants one, until the end or a signal.
async fn run_watched(
    request: RunRequest,
    control: &Arc<Control>,
    (shows_progress, judges): (bool, Judges),
    signalled: &Signalled,
) -> Result<Result<RunReport, RunError>, Failure> {
    signalled.stop(Arc::clone(control))?;
    let bar = shows_progress.then(|| report::progress_bar(Arc::clone(control), judges));
    let report = scorebox::run::run(request, Arc::clone(control)).await;
    if let Some(bar) = bar {
        bar.finish();
    }
    Ok(report)
}

/// The user's command, changed to resume this run.
fn resume_command(run: &RunId) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut typed = std::env::args_os();
    words.extend(typed.next().map(shell_word));
    let mut skip_value = false;
    for argument in typed {
        let names_the_run = argument == "--run-id" || argument == "--resume";
        let begins = |name: &&str| argument.as_encoded_bytes().starts_with(name.as_bytes());
        let with_value = ["--run-id=", "--resume="].iter().any(begins);
        if !skip_value && !names_the_run && !with_value {
            words.push(shell_word(&argument));
        }
        skip_value = names_the_run;
    }
    format!("{} --resume {}", words.join(" "), run)
}
