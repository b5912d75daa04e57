//! The command line of scorebox: turns arguments into calls of the library, and their results into messages, colours
//! and exit codes. It knows neither wasmtime nor SQL. It is a library because both the program `scorebox` and the
//! Python package call it.
//!
//! - `command`: one file per command.
//! - `arguments`: arguments that several commands share.
//! - `input`: text that a user names, from a file or standard input.
//! - `setup`: the sandbox and its cache folder, from options and the environment.
//! - `user_configuration`: the user's configuration file.
//! - `signals`: what ends a run early.
//! - `report`: from data to text, safe for a terminal.
//! - `output`: data to standard output, in the requested format.
//! - `bundled`: a suite from a bundle, which contains its components.
//! - `lock_file`: the `scorebox.lock` beside a suite; `lock_use`: which of its entries suites use; `lock_holder`: the
//!   process that holds a lock; `locked`: compares loaded scorers with it.
//! - `published`: a published scorer before a suite uses it; `trust`: the policies about published scorers.
//! - `indexes`: the indexes of scorers that the user has configured; `names`: warnings about names that could be
//!   confused with others.
//! - `signing_key`: signatures with a key in a file.
//! - `suite_edit`: entries of a suite file, added and removed; `suite_entries`: which scorers they use, with the values
//!   of variables.
//! - `decision`: the verdict of a stored run and the requirements that it breaks.
//! - `run_end`: what the user reads at the end of a run.
//! - `shards`: which shards are merges, and what to do about an error of shards.
//! - `scaffold`: the files of a new scorer.
//! - `process_limits`: the system's limits on open files and file sizes.
//! - `waiting`: what a user at a terminal sees while they wait; `judge_waiting`: the same while one score waits for its
//!   judges.
//! - `question`: a question to the user at a terminal.
//! - `usage`: errors of arguments, where clap does not report what is allowed.
//! - `words`: messages to standard error: errors, hints, warnings.
//! - `migration`: converts a promptfoo configuration to a suite.
//! - `new_file`: a file that is written whole or not at all; `unfinished`: the temporary file until then.
//! - `same_file`: whether two paths name one file, which files this process's output goes to, and a file's name without
//!   its folder.
//! - `failure`: why a command ends, and its exit code.
//! - `advice`: what to do about an error, in terms of the command line.
//! - `answered`: a scorer's answer on one case, as data and as messages.
//! - `python_engine`: makes and finds the components that run Python scripts.

mod advice;
mod answered;
mod arguments;
mod bundled;
mod command;
mod decision;
mod failure;
mod indexes;
mod input;
mod judge_waiting;
mod lock_file;
mod lock_holder;
mod lock_use;
mod locked;
mod migration;
mod names;
mod new_file;
mod output;
mod process_limits;
mod published;
mod python_engine;
mod question;
mod report;
mod run_end;
mod same_file;
mod scaffold;
mod setup;
mod shards;
mod signals;
mod signing_key;
mod suite_edit;
mod suite_entries;
mod trust;
mod unfinished;
mod usage;
mod user_configuration;
mod waiting;
mod words;

use std::{
    env,
    ffi::OsString,
    panic,
    path::{Path, PathBuf},
    thread,
};

use clap::CommandFactory as _;
use clap_complete::CompleteEnv;
use scorebox::{
    advice::Advice,
    aggregate::{Aggregate, DecidedRun},
    registry::Registry,
    run::ReadyScorer,
    sandbox::{Compiler, PARSERS_NAME},
    store::{RunId, RunRecord, Store, StoreError, SummaryRecord},
    suite::{Suite, SuiteScorer, TrustPolicy},
    verdict::Requirements,
};
use scorebox_readers::READERS_NAME;

use arguments::completing;
use command::{Arguments, Color};
use decision::Decision;
use failure::{Exit, Failure};
pub use shards::merged_count;

/// Runs the command in `arguments`, whose first item is the program's name. `compiler` compiles components. Returns the
/// exit code, one of those that docs/commands.md lists. If a user interrupts it twice, it ends the process itself.
pub fn run(arguments: impl IntoIterator<Item = OsString>, compiler: Compiler) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    keep_parsers_quiet();
    setup::compile_by(compiler);
    exit_of(arguments) as u8
}

/// The text for advice about an error, for a front end without its own texts. It names options and commands of the
/// command line. `None` for advice of a newer library.
pub fn words_of(advice: &Advice) -> Option<String> {
    advice::words(advice)
}

/// The scorers that can be named, with the components that run scripts in further languages if the user has added them.
pub fn registry() -> Registry {
    setup::registry()
}

/// Why published scorers cannot be used as they are locked.
#[derive(Debug)]
#[non_exhaustive]
pub struct NotAsLocked {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl From<Failure> for NotAsLocked {
    fn from(Failure { message, hint, .. }: Failure) -> NotAsLocked {
        NotAsLocked { message, hint }
    }
}

/// The scorers that can be named, with the locks of the published ones among `scorers`, from the `scorebox.lock` beside
/// the file that names each, or in the current folder.
///
/// # Errors
/// If a lock is not valid.
pub fn registry_of(scorers: &[SuiteScorer]) -> Result<Registry, NotAsLocked> {
    Ok(setup::registry_of(scorers)?)
}

/// Checks that published scorers match their locks, and that these policies and the user's allow them.
///
/// # Errors
/// If a scorer differs from its lock, or a policy does not allow it.
pub fn must_be_as_locked(
    scorers: &[SuiteScorer],
    policies: &[TrustPolicy],
    loaded: &[ReadyScorer],
) -> Result<(), NotAsLocked> {
    Ok(locked::must_be_as_locked(scorers, policies, loaded)?)
}

/// Why a bundle cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub struct UnusableBundle {
    /// What is wrong; several mistakes of its suite have a line each.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl From<Failure> for UnusableBundle {
    fn from(Failure { message, hint, others }: Failure) -> UnusableBundle {
        let others = others.into_iter().map(|(message, _)| format!("\n{message}"));
        UnusableBundle { message: message + &others.collect::<String>(), hint }
    }
}

/// Whether the suite at `path` is a bundle, as `scorebox bundle` writes it: a file whose name ends in `.tar`.
pub fn is_bundle(path: &Path) -> bool {
    bundled::is_bundle(path)
}

/// The suite of the bundle at `path`, with its components.
///
/// # Errors
/// If it cannot be used.
pub fn bundled_suite(path: &Path) -> Result<Suite, UnusableBundle> {
    Ok(bundled::suite(path)?)
}

/// The default folder for compiled code: that of the variable `SCOREBOX_CACHE_DIR`, or scorebox's in the user's cache
/// folder. `None` if the user has no cache folder.
pub fn cache_folder() -> Option<PathBuf> {
    setup::cache_folder_of_environment()
}

/// The requirements of a run, as the options of `scorebox run` give them.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers make it, and must not leave out what counts"
)]
pub struct Required {
    /// What is required of the run as a whole.
    pub requirements: Requirements,
    /// Whether soft scorers with a threshold count as gates.
    pub strict: bool,
    /// Whether scores may be errors, however many.
    pub allow_errors: bool,
}

/// The figures of a stored run, and the verdict of `scorebox run` on them.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The figures of each scorer.
    pub aggregates: Vec<Aggregate>,
    /// The verdicts of its cases.
    pub decided: DecidedRun,
    /// The verdict as lines of text; empty if the scorers only measure.
    pub verdict: Vec<String>,
    /// The broken requirements, a line each.
    pub broken: Vec<String>,
    /// Why the figures or the verdict may not mean what the user thinks, a line each.
    pub warnings: Vec<String>,
    /// Whether the exit code of a run that ended is 0: no requirement is broken, and no score is an error unless errors
    /// are allowed.
    pub passed: bool,
}

/// The outcome of a stored run.
///
/// # Errors
/// If the database cannot be read.
pub fn outcome(store: &Store, run: &RunId, required: &Required) -> Result<Outcome, StoreError> {
    let Required { requirements, strict, allow_errors } = required;
    let decision = Decision::of_run(store, run, requirements, *strict)?;
    let record = store.run(run.as_str())?;
    let said = store.summaries(record.key)?;
    let are_counted = requirements.most_errors.is_some();
    let scores_are_bad = decision.errors() > 0 && !are_counted;
    let is_bad = scores_are_bad || report::summaries::have_error(&said);
    let passed = decision.broken.is_empty() && (*allow_errors || !is_bad);
    let warnings = warnings(store, &record, &decision, &said)?;
    let Decision { aggregates, decided, broken, .. } = decision;
    let verdict = report::verdict::of_run(&decided);
    let broken = broken.iter().map(ToString::to_string).collect();
    Ok(Outcome { aggregates, decided, verdict, broken, warnings, passed })
}

/// The warnings of `scorebox run` that follow from stored data, in its order.
fn warnings(
    store: &Store,
    run: &RunRecord,
    decision: &Decision,
    summaries: &[SummaryRecord],
) -> Result<Vec<String>, StoreError> {
    let mut warnings = report::judge::silent_jurors(&store.call_counts(run.key)?);
    let Decision { aggregates, decided, broken, .. } = decision;
    let unshown = run_end::warnings(store, run, aggregates, decided, broken)?;
    warnings.extend(unshown.into_iter().map(|warning| warning.message));
    warnings.extend(report::summaries::errors_in_short(summaries));
    warnings.extend(decision.warnings("`strict`"));
    Ok(warnings)
}

fn exit_of(arguments: Vec<OsString>) -> Exit {
    let completing = CompleteEnv::with_factory(Arguments::command)
        .var(completing::VARIABLE)
        .shells(completing::shells());
    match completing.try_complete(arguments.iter().cloned(), env::current_dir().ok().as_deref()) {
        Ok(true) => return Exit::Done,
        Ok(false) => {}
        Err(error) => return words::usage(&error),
    }
    let arguments = match Arguments::parse_all(&arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            Color::typed(&arguments).write_global();
            return words::usage(&error);
        }
    };
    arguments.color.write_global();
    if let Err(failure) = process_limits::prepare() {
        return words::failure(&failure);
    }
    match arguments.command.run() {
        Ok(exit) => exit,
        Err(failure) => words::failure(&failure),
    }
}

/// Silences panics on parser threads: their callers report those failures themselves.
fn keep_parsers_quiet() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panicked| {
        let of_parsers = [Some(PARSERS_NAME), Some(READERS_NAME)];
        if !of_parsers.contains(&thread::current().name()) {
            usual(panicked);
        }
    }));
}
