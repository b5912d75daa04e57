//! `scorebox toolchain`: builds and lists the engines for scripts in languages that are not embedded. `python_engine`
//! builds the engine itself.

use std::{
    fs, io,
    path::Path,
    time::{Duration, SystemTime},
};

use clap::ValueEnum;
use scorebox::{
    contract::ScorerInput,
    digest::Digest,
    registry::{Reference, Registry},
    sandbox::{Capabilities, Grant, Grants, Limits, ScorerConfig},
};

use crate::{
    failure::{Exit, Failure},
    output::{self, Out},
    python_engine::{self, PythonEngine},
    report,
    setup::{self, SandboxArguments},
    unfinished::Scratch,
    waiting::{COMPILING, Waiting},
    words,
};

/// The prefix of the folders in which engines are made.
const SCRATCH: &str = "python.";
/// A folder in which no file was created or removed for this time was left by a killed process: pip and componentize-py
/// take minutes.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

/// Install the engine for Python scripts, and list the installed engines
///
/// Scripts in JavaScript and TypeScript need nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct Toolchain {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Add(Add),
    List(List),
}

/// Build the engine for Python scripts in the user's data folder
///
/// Needs Python 3.10 or later with pip, and a network: pip downloads componentize-py from the package registry that it
/// is configured for, in the one version that is known here, and checks its digest. It is installed into a folder that
/// is removed afterwards. CPython, as a component, takes some 20 MB; there are two, one for scripts that ask a judge.
#[derive(Debug, clap::Args)]
struct Add {
    /// The language
    #[arg(value_name = "LANGUAGE")]
    language: Addable,

    /// The Python to install with
    #[arg(long, value_name = "PROGRAM", default_value = python_engine::PYTHON, help_heading = "Installing")]
    python: String,

    /// Build it again if it exists
    #[arg(long, help_heading = "Installing")]
    force: bool,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

/// A language whose scripts something can be added for.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Addable {
    Python,
}

/// List the script engines and where they are
#[derive(Debug, clap::Args)]
struct List {}

impl Toolchain {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        match &self.what {
            What::Add(add) => add.run(),
            What::List(list) => list.run(),
        }
    }
}

impl Add {
    fn run(&self) -> Result<Exit, Failure> {
        let Addable::Python = self.language;
        let files = setup::python_engines().ok_or_else(|| {
            Failure::new("no folder to install it in: the environment sets no home folder")
                .hint("name one: SCOREBOX_DATA_DIR=FOLDER scorebox toolchain add python")
        })?;
        if files.iter().all(|file| file.path.is_file()) && !self.force {
            for file in &files {
                words::say(&format!("{} already exists", file.path.display()));
            }
            return Ok(Exit::Done);
        }
        let [first, _] = &files;
        let folder = first.path.parent().unwrap_or(Path::new("."));
        let cannot = |what: &str, error: io::Error| {
            Failure::new(format!("cannot {what} `{}`: {error}", folder.display()))
        };
        fs::create_dir_all(folder).map_err(|error| cannot("make the folder", error))?;
        remove_abandoned(folder);
        // On the same file system, so that renaming it is atomic.
        let scratch = Scratch::beside(&first.path, SCRATCH);
        let scratch = scratch.map_err(|error| cannot("write to the folder", error))?;
        let made = python_engine::make(&self.python, scratch.path())?;
        for engine in &made {
            self.must_score(engine, scratch.path())?;
        }
        for (engine, file) in made.iter().zip(&files) {
            fs::rename(&engine.path, &file.path)
                .map_err(|error| cannot("write to the folder", error))?;
            words::say(&described(&file.path)?);
        }
        Ok(Exit::Done)
    }

    /// Makes the engine run a script, which also compiles it for later scripts.
    fn must_score(&self, engine: &PythonEngine, folder: &Path) -> Result<(), Failure> {
        let script = folder.join("one.py");
        let text = match engine.asks_judge {
            true => {
                "from scorebox.judge import ask_all\n\n\n\
                     def score(case, config):\n    return case[\"output\"] == 1 and ask_all([]) == []\n"
            }
            false => "def score(case, config):\n    return case[\"output\"] == 1\n",
        };
        fs::write(&script, text).map_err(|error| {
            Failure::new(format!("cannot write `{}`: {error}", script.display()))
        })?;
        let registry = engine.clone().added_to(Registry::with_builtins());
        let component = registry.resolve(&Reference::File(script))?.component;
        let sandbox = self.sandbox.open(1, Capabilities::none())?;
        let (config, limits) = (ScorerConfig::default(), Limits::default());
        let grants: Grants = engine.asks_judge.then_some(Grant::Judge).into_iter().collect();
        let _waiting = Waiting::on(COMPILING);
        let score = setup::finish(setup::small_runtime()?, async {
            let scorer = sandbox.load(&component, &config, &limits, grants).await?;
            scorer.score(ScorerInput::of("1")).await.result
        })?;
        match score.score {
            Some(1.0) => Ok(()),
            other => Err(Failure::new(format!(
                "the new engine scores {other:?} instead of 1 in its first test"
            ))),
        }
    }
}

impl List {
    fn run(&self) -> Result<Exit, Failure> {
        let mut python = Vec::new();
        for engine in setup::python_engines().into_iter().flatten() {
            if engine.path.is_file() {
                python.push(described(&engine.path)?);
            }
        }
        if python.len() < 2 {
            python = vec!["not installed; install it: scorebox toolchain add python".to_owned()];
        }
        output::stdout(|out: &mut Out<'_>| {
            writeln!(out, "javascript  embedded")?;
            writeln!(out, "typescript  embedded")?;
            for engine in &python {
                writeln!(out, "python      {}", report::printable(engine))?;
            }
            Ok(())
        })?;
        Ok(Exit::Done)
    }
}

/// Removes the folders that killed processes left while they made engines.
fn remove_abandoned(folder: &Path) {
    let now = SystemTime::now();
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_scratch = file.file_name().to_string_lossy().starts_with(SCRATCH);
        // Does not follow links.
        let modified = file.metadata().ok().filter(|it| it.is_dir() && is_scratch);
        let modified = modified.and_then(|it| it.modified().ok());
        // A time in the future has no age.
        let age = modified.and_then(|modified| now.duration_since(modified).ok());
        if age.is_some_and(|age| age > ABANDONED_AFTER) {
            // A folder that stays only costs disk space.
            let _ = fs::remove_dir_all(file.path());
        }
    }
}

/// Describes a file: its path, its size and its digest.
fn described(file: &Path) -> Result<String, Failure> {
    let bytes = fs::read(file)
        .map_err(|error| Failure::new(format!("cannot read `{}`: {error}", file.display())))?;
    let size = report::bytes(bytes.len() as u64);
    Ok(format!("{}  {size}  sha-256 {}", file.display(), Digest::of(&bytes)))
}
