//! Sets up the sandbox and its cache folder, from options and the environment. In the command line, only this file,
//! clap, shell completions and `report` read the environment; `report` checks whether a CI service reads the log.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use etcetera::BaseStrategy as _;
use scorebox::{
    advice::{Advice, Advised as _},
    build::SharedBuilds,
    judge::Judges,
    registry::{Reference, Registry},
    run::{DEFAULT_WAITING, ReadyScorer, RunError, load_scorers_watched},
    sandbox::{
        CacheOptions, Capabilities, CompileLimits, Compiler, Grant, Grants, Sandbox, SandboxOptions,
    },
    suite::{
        Location, Mistake, ScorerId, Suite, SuiteError, SuiteJudge, SuiteScorer, TrustPolicy,
        parse_bytes, parse_duration,
    },
};
use scorebox_community::{Components, KeptIndexes};
use zeroize::Zeroizing;

use crate::{
    advice, bundled,
    failure::Failure,
    lock_file::{Locks, locks_of},
    python_engine::PythonEngine,
    report,
    waiting::Waiting,
    words,
};

/// Compiles components: a process of this program, unless another program calls the command line.
static COMPILER: OnceLock<Compiler> = OnceLock::new();

/// Sets the compiler of components. Only the first call has an effect.
pub(crate) fn compile_by(compiler: Compiler) {
    COMPILER.get_or_init(|| compiler);
}

/// Options of the commands that load scorers.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Sandbox")]
pub(crate) struct SandboxArguments {
    /// The folder for compiled code [default: scorebox in the user's cache folder]
    #[arg(long, env = CACHE_VARIABLE, value_name = "FOLDER", hide_env = true)]
    cache_dir: Option<PathBuf>,

    /// Do not read or write compiled code on disk
    #[arg(long)]
    no_cache: bool,

    /// Memory of all sandboxes together; a score waits until its share is free
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, default_value = "4GiB")]
    memory_budget: u64,

    /// Processor time for compiling one scorer, everything included
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "120s")]
    compile_timeout: Duration,

    /// Memory for compiling one scorer
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, default_value = "2GiB")]
    compile_memory: u64,
}

impl SandboxArguments {
    /// Opens a sandbox with `slots` slots, and warns of everything that does not work as it should.
    pub(crate) fn open(&self, slots: u32, capabilities: Capabilities) -> Result<Sandbox, Failure> {
        self.sandbox_with(slots, capabilities, self.cache())
    }

    /// Opens a sandbox that reads no compiled code from disk: it compiles all code that runs in it.
    pub(crate) fn open_distrustful(
        &self,
        slots: u32,
        capabilities: Capabilities,
    ) -> Result<Sandbox, Failure> {
        self.sandbox_with(slots, capabilities, None)
    }

    fn sandbox_with(
        &self,
        slots: u32,
        capabilities: Capabilities,
        cache: Option<CacheOptions>,
    ) -> Result<Sandbox, Failure> {
        let compile_limits = CompileLimits::default()
            .with_timeout(self.compile_timeout)
            .with_memory_bytes(self.compile_memory);
        let sandbox = Sandbox::new(
            &SandboxOptions::default()
                .with_slots(slots)
                .with_memory_budget_bytes(self.memory_budget)
                .with_cache(cache)
                .with_compiler(COMPILER.get().cloned().unwrap_or_default())
                .with_compile_limits(compile_limits)
                .with_capabilities(capabilities),
        )?;
        sandbox.warnings().iter().for_each(|warning| words::warn(warning));
        Ok(sandbox)
    }

    /// Where Rust crates are compiled, so that dependencies that they share are compiled once; `None` if nothing is
    /// cached, or if another program calls the command line, which cargo cannot start.
    pub(crate) fn shared_builds(&self) -> Option<SharedBuilds> {
        if self.no_cache || !matches!(COMPILER.get(), Some(Compiler::Child)) {
            return None;
        }
        let folder = std::path::absolute(cache_folder(self.cache_dir.clone())?).ok()?;
        Some(SharedBuilds::new(folder.join("rust"), std::env::current_exe().ok()?))
    }

    /// Whether compiled code is cached.
    pub(crate) fn has_cache(&self) -> bool {
        !self.no_cache
    }

    fn cache(&self) -> Option<CacheOptions> {
        if self.no_cache {
            return None;
        }
        cache_folder(self.cache_dir.clone()).map(CacheOptions::new)
    }
}

/// The variable that names the folder for compiled code.
pub(crate) const CACHE_VARIABLE: &str = "SCOREBOX_CACHE_DIR";

/// The named folder, or scorebox's in the user's cache folder; `None` if the user has no cache folder.
pub(crate) fn cache_folder(named: Option<PathBuf>) -> Option<PathBuf> {
    let default =
        || etcetera::choose_base_strategy().ok().map(|base| base.cache_dir().join("scorebox"));
    named.or_else(default)
}

/// The folder that the environment names, or the default; for a front end without `--cache-dir`.
pub(crate) fn cache_folder_of_environment() -> Option<PathBuf> {
    let named = std::env::var_os(CACHE_VARIABLE).filter(|folder| !folder.is_empty());
    cache_folder(named.map(PathBuf::from))
}

/// The scorers that can be named, with the components that run scripts in further languages if the user has added them.
pub(crate) fn registry() -> Registry {
    let mut registry = Registry::with_builtins();
    if let Some(folder) = components_folder() {
        registry = registry.with_components(folder);
    }
    for file in python_engines().into_iter().flatten().filter(|file| file.path.is_file()) {
        registry = file.added_to(registry);
    }
    registry
}

/// The scorers that can be named, with the locks of the published ones among `scorers`, and the components of a bundle.
pub(crate) fn registry_of(scorers: &[SuiteScorer]) -> Result<Registry, Failure> {
    Ok(registry_with(scorers, &locks_of(scorers)?))
}

/// The same, with the locks of these scorers.
pub(crate) fn registry_with(scorers: &[SuiteScorer], locks: &Locks) -> Registry {
    let locked = locks.iter();
    let brought = scorers.iter().filter_map(|scorer| scorer.brought.as_ref());
    registry()
        .with_pinned(locked.map(|(address, locked)| (address.clone(), locked.component)))
        .with_brought(brought.map(|brought| Arc::clone(&brought.source)))
}

/// The store of fetched components.
pub(crate) fn components() -> Result<Components, Failure> {
    let folder = components_folder().ok_or_else(|| {
        Failure::new("there is no folder for components that are fetched")
            .hint("SCOREBOX_DATA_DIR names one")
    })?;
    Ok(Components::new(folder))
}

/// Stores a fetched component.
pub(crate) fn keep(components: &Components, component: &[u8]) -> Result<(), Failure> {
    components.keep(component).map(drop).map_err(|error| {
        let folder = components.folder().display();
        let failure = Failure::new(format!("cannot keep the component in `{folder}`: {error}"));
        failure.hint(match error.kind() {
            io::ErrorKind::DirectoryNotEmpty => "remove that folder",
            _ => "make it a folder with room that can be written, or name another one in SCOREBOX_DATA_DIR",
        })
    })
}

/// The store of fetched indexes; `None` if there is no folder for it.
pub(crate) fn kept_indexes() -> Option<KeptIndexes> {
    Some(KeptIndexes::new(data_folder()?.join("indexes")))
}

/// The components that run Python scripts, which need not exist yet; `None` if there is no folder for them.
pub(crate) fn python_engines() -> Option<[PythonEngine; 2]> {
    let folder = data_folder()?;
    Some([false, true].map(|asks_judge| PythonEngine::in_folder(&folder, asks_judge)))
}

/// The folder of fetched components; `None` if the user has no data folder.
fn components_folder() -> Option<PathBuf> {
    Some(data_folder()?.join("components"))
}

/// The folder for what the user adds to scorebox.
fn data_folder() -> Option<PathBuf> {
    match std::env::var_os("SCOREBOX_DATA_DIR").filter(|folder| !folder.is_empty()) {
        Some(folder) => Some(folder.into()),
        None => etcetera::choose_base_strategy().ok().map(|base| base.data_dir().join("scorebox")),
    }
}

/// The user's configuration file, and whether the user named it; `None` if there is no folder for one.
pub(crate) fn configuration_file() -> Option<(PathBuf, bool)> {
    match std::env::var_os("SCOREBOX_CONFIG").filter(|file| !file.is_empty()) {
        Some(file) => Some((file.into(), true)),
        None => {
            let base = etcetera::choose_base_strategy().ok()?;
            Some((base.config_dir().join("scorebox/config.toml"), false))
        }
    }
}

/// Reads a suite file with variables from the environment, or the suite of a bundle, which contains their values.
pub(crate) fn suite(path: &Path) -> Result<Suite, Failure> {
    must_not_be_else(path)?;
    match bundled::is_bundle(path) {
        true => bundled::suite(path),
        false => Suite::read_with(path, &variable).map_err(|error| no_suite(path, error)),
    }
}

/// The error that the file is not a valid suite.
fn no_suite(path: &Path, error: SuiteError) -> Failure {
    match error {
        SuiteError::NoScorers => Failure::new(format!(
            "`{}` names no scorer",
            report::printable(&path.display().to_string())
        ))
        .hint("a suite has one: `[scorers.NAME]`; what takes a file of judges alone is `score --judges FILE` and `judges check FILE`"),
        error => error.into(),
    }
}

/// The judges of a suite file, which need not have scorers, or those of a bundle's suite.
pub(crate) fn judges(path: &Path) -> Result<BTreeMap<String, SuiteJudge>, Failure> {
    must_not_be_else(path)?;
    match bundled::is_bundle(path) {
        true => Ok(bundled::suite(path)?.judges),
        false => Ok(Suite::judges_of(path, &variable)?),
    }
}

/// Refuses a scorer's file or YAML in place of a suite: read as TOML, it would be full of mistakes.
fn must_not_be_else(path: &Path) -> Result<(), Failure> {
    if path == Path::new("-") {
        return Err(Failure::new("a suite cannot come from standard input")
            .hint("name a file: relative paths in a suite start at its folder; a file called `-` is `./-`"));
    }
    match scorer_not(path, "a suite") {
        None if path.extension().is_some_and(|it| it == "jsonl" || it == "ndjson") => {
            let file = report::printable(&path.to_string_lossy());
            Err(Failure::new(format!("`{file}` is JSON Lines, and a suite is TOML or JSON"))
                .hint(format!("if these are the cases, name the suite before them: scorebox run SUITE {}", report::shell_word(path))))
        }
        None => not_yaml(path).map_or(Ok(()), Err),
        Some(failure) => Err(failure.hint(
            "a suite is a file in TOML or JSON that names its scorers; `scorebox run -s FILE CASES` runs a scorer without one",
        )),
    }
}

/// The error that a YAML file, by its extension, is not a suite; `None` for any other file.
pub(crate) fn not_yaml(path: &Path) -> Option<Failure> {
    path.extension().filter(|it| *it == "yaml" || *it == "yml")?;
    let failure =
        Failure::new(format!("`{}` is YAML, and a suite is TOML or JSON", path.display()));
    Some(failure.hint(format!(
        "`scorebox migrate {}` makes a suite of a configuration of promptfoo",
        report::shell_word(path)
    )))
}

/// The error that a scorer's file, by its extension, is not `wanted`; `None` for any other file.
pub(crate) fn scorer_not(path: &Path, wanted: &str) -> Option<Failure> {
    let written = path.to_string_lossy();
    let what = match Reference::parse(&written, Path::new("")) {
        script if script.is_script() => "script",
        _ if written.ends_with(".wasm") => "component",
        _ => return None,
    };
    let written = report::printable(&written);
    Some(Failure::new(format!("`{written}` is a {what}, not {wanted}")))
}

/// The value of a variable that a suite or one of its judges names; `None` if it is not set.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The policies of a suite file about published scorers; the rest of the file need not be valid.
pub(crate) fn policies(path: &Path) -> Result<Vec<TrustPolicy>, SuiteError> {
    Suite::policies_of(path, &|name| std::env::var(name).ok())
}

/// Reads a suite file whose scorers are about to be loaded, and changes it as the command line says. If the file has
/// mistakes, those that only loading finds are reported with them.
pub(crate) fn suite_to_load(
    path: &Path,
    sandbox: &SandboxArguments,
    change: impl FnOnce(Suite) -> Result<Suite, Failure>,
) -> Result<Suite, Failure> {
    must_not_be_else(path)?;
    if bundled::is_bundle(path) {
        return change(bundled::suite(path)?);
    }
    let (mistakes, clear) = match Suite::read_with(path, &variable) {
        Ok(suite) => return change(suite),
        Err(SuiteError::Invalid { mistakes, clear }) => (mistakes, clear),
        Err(error) => return Err(no_suite(path, error)),
    };
    // The command line may name a scorer that has a mistake in the file; that is not an error of the command line.
    let errors = change(*clear).map_or_else(|_| Vec::new(), |clear| load_errors(&clear, sandbox));
    Err(all_mistakes(&mistakes, &errors))
}

/// The judges of a suite for scorers that are only loaded: their names are known, and none is asked.
pub(crate) fn unasked_judges(suite: &Suite) -> Capabilities {
    let judges = suite.judges.iter().fold(Judges::builder(), |builder, (name, judge)| {
        builder.judge(name, judge.settings.clone(), None)
    });
    Capabilities::none().with_judges(judges.build())
}

/// Why scorers of a suite cannot be loaded.
fn load_errors(suite: &Suite, sandbox: &SandboxArguments) -> Vec<RunError> {
    if suite.scorers.is_empty() {
        return Vec::new();
    }
    let (Ok(sandbox), Ok(runtime)) = (sandbox.open(1, unasked_judges(suite)), small_runtime())
    else {
        return Vec::new();
    };
    // An error of a lock is reported once the suite has no mistakes.
    let Ok(registry) = registry_of(&suite.scorers) else { return Vec::new() };
    match finish(runtime, loaded(suite, &registry, &sandbox)) {
        Ok(_) => Vec::new(),
        Err(RunError::Unusable(errors)) => errors,
        Err(error) => vec![error],
    }
}

/// Mistakes of a suite and errors of its scorers, file by file, in the order of the lines.
fn all_mistakes(mistakes: &[Mistake], errors: &[RunError]) -> Failure {
    let words = |advice: Option<Advice>| advice.as_ref().and_then(advice::words);
    let mistakes = mistakes.iter().map(|mistake| {
        (Some(&mistake.location), mistake.to_string(), words(mistake.advice.clone()))
    });
    let errors = errors.iter().flat_map(|error| {
        let each = error.each().into_iter();
        each.map(move |(message, advice)| (error.location(), message, words(advice)))
    });
    let mut all: Vec<(Option<&Location>, String, Option<String>)> =
        mistakes.chain(errors).collect();
    let mut files: Vec<&Path> = Vec::new();
    for location in all.iter().filter_map(|(location, ..)| *location) {
        if !files.contains(&location.file.as_path()) {
            files.push(&location.file);
        }
    }
    all.sort_by_key(|(location, ..)| match location {
        Some(location) => {
            (files.iter().position(|file| *file == location.file), location.line, location.column)
        }
        None => (Some(files.len()), 0, 0),
    });
    let each = all.into_iter().map(|(_, message, hint)| (message, hint));
    Failure::of_each(each).unwrap_or_else(|| Failure::new("the suite is not valid"))
}

/// The password of the signing key; `None` if the variable is not set or is blank.
pub(crate) fn signing_password() -> Option<Zeroizing<String>> {
    let password = variable("SCOREBOX_SIGNING_PASSWORD").map(Zeroizing::new);
    password.filter(|password| !password.trim().is_empty())
}

/// The scorers of a suite that are not loaded yet, for a user who waits.
pub(crate) struct Pending {
    ids: Vec<ScorerId>,
    of: usize,
}

impl Pending {
    pub(crate) fn all_of(suite: &Suite) -> Pending {
        let ids: Vec<ScorerId> = suite.scorers.iter().map(|scorer| scorer.id.clone()).collect();
        Pending { of: ids.len(), ids }
    }

    /// Records that `id` is loaded, and returns how many are.
    pub(crate) fn ready(&mut self, id: &ScorerId) -> usize {
        self.ids.retain(|pending| pending != id);
        self.of - self.ids.len()
    }

    /// The text about the scorers that are not loaded; `None` if all are. They load concurrently, so it names the first
    /// of those that are not ready.
    pub(crate) fn words(&self) -> Option<String> {
        let first = self.ids.first()?;
        let number = self.of - self.ids.len() + 1;
        let of = self.of;
        Some(format!("compiling scorer {number} of {of}, `{first}` (first use; cached afterwards)"))
    }
}

/// Loads the scorers of a suite. If loading takes long, a user at a terminal sees how many of them are ready.
pub(crate) async fn loaded(
    suite: &Suite,
    registry: &Registry,
    sandbox: &Sandbox,
) -> Result<Vec<ReadyScorer>, RunError> {
    let mut pending = Pending::all_of(suite);
    let waiting = Waiting::on(pending.words().unwrap_or_default());
    let loaded = load_scorers_watched(suite, registry, sandbox, |scorer| {
        pending.ready(&scorer.id);
        pending.words().into_iter().for_each(|words| waiting.say(words));
    })
    .await;
    drop(waiting);
    say_what_is_not_cached(sandbox);
    loaded
}

/// Warns if compiled code was not cached: the next command compiles it again.
pub(crate) fn say_what_is_not_cached(sandbox: &Sandbox) {
    sandbox.cache_trouble().into_iter().for_each(words::warn);
}

/// A runtime that works on this thread, for commands that score one case.
pub(crate) fn small_runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::new(format!("cannot start: {error}")))
}

/// The result of `work`. A thread that is still blocked then, by a pipe without a writer or a file system that does not
/// answer, is left behind, so that it does not keep the process alive.
pub(crate) fn finish<T>(runtime: tokio::runtime::Runtime, work: impl Future<Output = T>) -> T {
    let done = runtime.block_on(work);
    runtime.shutdown_background();
    done
}

/// Refuses scorers that read files if no folder is named.
pub(crate) fn must_have_files(scorers: &[ReadyScorer]) -> Result<(), Failure> {
    let lacks_files =
        |ready: &&ReadyScorer| ready.scorer.lacks().any(|grant| grant == Grant::Workspace);
    match scorers.iter().find(lacks_files) {
        Some(ready) => Err(Failure::new(format!(
            "scorer `{}` reads the files of a case, but no folder is named",
            ready.id
        ))
        .hint(
            "name the folder that the `workspace` of each case is relative to: --workspace FOLDER",
        )),
        None => Ok(()),
    }
}

/// A slot for every scorer of every job, so that a scorer's memory stays warm from case to case, within reason; and one
/// for every score that may wait.
pub(crate) fn slots(jobs: usize, suite: &Suite) -> u32 {
    const MAX_WARM: usize = 256;
    let warm = jobs.saturating_mul(suite.scorers.len().max(1)).min(MAX_WARM).max(jobs);
    // Only a scorer with grants can wait.
    let waits = suite.scorers.iter().any(|scorer| scorer.grants != Grants::NONE);
    let slots = if waits { warm.saturating_add(DEFAULT_WAITING) } else { warm };
    u32::try_from(slots).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_scorer_that_is_not_ready_is_named() {
        let suite = "[scorers.contains]\n[scorers.regex]\n";
        let suite = Suite::parse(suite).unwrap();
        let mut pending = Pending::all_of(&suite);
        let words = |pending: &Pending| pending.words().unwrap_or_default();
        let about = "(first use; cached afterwards)";
        assert_eq!(words(&pending), format!("compiling scorer 1 of 2, `contains` {about}"));
        assert_eq!(pending.ready(&suite.scorers[0].id), 1);
        assert_eq!(words(&pending), format!("compiling scorer 2 of 2, `regex` {about}"));
        assert_eq!(pending.ready(&suite.scorers[1].id), 2);
        assert_eq!(pending.words(), None);
    }
}
