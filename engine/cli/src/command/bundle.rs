//! `scorebox bundle`: writes a suite with its lock and its components to one file. `scorebox-community` has the file's
//! format.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use scorebox::{
    digest::Digest,
    input_file::InputFileError,
    registry::{Reference, Registry},
    run::ReadyScorer,
    suite::{OnDisk, Suite, SuiteFiles},
};
use scorebox_community::{Bundle as Bundled, Carried, LOCK_FILE, Lock};

use crate::{
    bundled,
    failure::{Exit, Failure, WriteError},
    lock_file::locks_of,
    locked,
    new_file::NewFileArguments,
    report::{bytes, counted, printable},
    setup::{self, SandboxArguments},
    words,
};

/// Write a suite with its lock and its components to one file, for clusters and machines without a network
///
/// `run`, `live`, `shard`, `merge`, `compile`, `suite`, `judges` and `bundle` take the bundle in place of a suite file,
/// and so does --judges; `add`, `update` and `remove` do not change one. It has the suite's files, `scorebox.lock`,
/// published scorers, .wasm files, scripts as components, and the values of the variables that the suite names;
/// built-in scorers by digest. It is an OCI image layout in a tar. The same suite gives the same bytes.
#[derive(Debug, clap::Args)]
pub(crate) struct Bundle {
    /// The suite file (TOML or JSON), or a bundle (.tar)
    suite: PathBuf,

    #[command(flatten)]
    output: NewFileArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

/// A suite, and every file that was read for it.
struct Read {
    suite: Suite,
    /// The folder that paths in the bundle start at.
    folder: PathBuf,
    /// The first file, from that folder.
    first: String,
    texts: BTreeMap<PathBuf, String>,
    variables: BTreeMap<String, String>,
}

impl Bundle {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        if self.output.path().is_none() && io::stdout().is_terminal() {
            return Err(Failure::new("a bundle is not text for a terminal")
                .hint("name the file to write: -o suite.tar"));
        }
        let read = self.read()?;
        let suite_files = || [self.suite.as_path()].into_iter().chain(read.suite.files());
        let locks: Vec<PathBuf> =
            suite_files().map(|file| file.with_file_name(LOCK_FILE)).collect();
        self.output.must_be_apart(suite_files().chain(locks.iter().map(PathBuf::as_path)))?;
        bundled::must_be_bundled(&read.suite)?;
        let sandbox = self.sandbox.open(1, setup::unasked_judges(&read.suite))?;
        let loaded = locked::loaded(&read.suite, &sandbox);
        let scorers = setup::finish(setup::small_runtime()?, loaded)?;
        let bundle = bundle_of(&read, &scorers)?;
        let file = bundle.file().map_err(|error| {
            let path = self.suite.display();
            Failure::new(format!("`{path}` cannot be bundled: {error}"))
        })?;
        let written = self.output.write(|out| file.write(out).map_err(WriteError::Io))?;
        if written.is_some() {
            let path = self.output.path().map(|path| path.display().to_string());
            let here = |component: &&Carried| matches!(component, Carried::Here(_));
            let components = bundle.components.values().filter(here).count();
            words::say(&format!(
                "{}: {} of suite {}, {} and {}, {}",
                printable(&path.unwrap_or_else(|| "bundle".to_owned())),
                counted(scorers.len() as u64, "scorer", "scorers"),
                printable(&bundle.name),
                counted(components as u64, "component", "components"),
                counted(bundle.files.len() as u64, "suite file", "suite files"),
                bytes(file.bytes()),
            ));
            words::say(&format!("manifest sha256:{}", file.digest()));
            if !bundle.variables.is_empty() {
                let names: Vec<&str> = bundle.variables.keys().map(String::as_str).collect();
                let names = names.join(", ");
                words::say(&format!("it has the values of these variables: {names}"));
            }
        }
        Ok(Exit::Done)
    }

    fn read(&self) -> Result<Read, Failure> {
        let path = self.suite.as_path();
        if bundled::is_bundle(path) {
            let bundle = bundled::bundle(path)?;
            let texts = bundle.files.into_iter().map(|(path, text)| (path.into(), text)).collect();
            let (first, variables) = (bundle.suite, bundle.variables);
            let suite = bundled::suite(path)?;
            return Ok(Read { suite, folder: PathBuf::new(), first, texts, variables });
        }
        let (files, variables) = (Recorded::default(), Mutex::new(BTreeMap::new()));
        let variable = |name: &str| {
            let value = setup::variable(name)?;
            let mut variables = variables.lock().unwrap_or_else(PoisonError::into_inner);
            variables.insert(name.to_owned(), value.clone());
            Some(value)
        };
        let suite = match Suite::read_from(path, &files, &variable) {
            Ok(suite) => suite,
            // Also reports the mistakes that only loading finds.
            Err(error) => {
                let all = setup::suite_to_load(path, &self.sandbox, Ok);
                return Err(all.err().unwrap_or_else(|| Failure::from(error)));
            }
        };
        let first = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| {
            Failure::new(format!("`{}` has a name that is not UTF-8", path.display()))
                .hint("give the suite file another name")
        })?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let texts = files.texts.into_inner().unwrap_or_else(PoisonError::into_inner);
        let variables = variables.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Read { suite, folder, first: first.to_owned(), texts, variables })
    }
}

/// The files of this machine, with the texts that were read.
#[derive(Default)]
struct Recorded {
    texts: Mutex<BTreeMap<PathBuf, String>>,
}

impl SuiteFiles for Recorded {
    fn text(&self, path: &Path) -> Result<String, InputFileError> {
        let text = OnDisk.text(path)?;
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        // A file that several others include has one text, even if it changes in the meantime.
        Ok(texts.entry(path.to_owned()).or_insert(text).clone())
    }

    fn real(&self, path: &Path) -> PathBuf {
        OnDisk.real(path)
    }
}

/// The texts that were read, by paths from the folder of the first file; and which of them are requested.
struct FromFolder<'r> {
    read: &'r Read,
    asked: Mutex<BTreeMap<String, String>>,
}

impl SuiteFiles for FromFolder<'_> {
    fn text(&self, path: &Path) -> Result<String, InputFileError> {
        let text = self.read.texts.get(&self.read.folder.join(path));
        let text = text.ok_or(InputFileError::NotFound)?;
        // Paths in a suite are text.
        let path = path.to_str().ok_or(InputFileError::NotFound)?.to_owned();
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.insert(path, text.clone());
        Ok(text.clone())
    }
}

/// The suite as it is in the folder of its first file, wherever that is, with its scorers.
fn bundle_of(read: &Read, scorers: &[ReadyScorer]) -> Result<Bundled, Failure> {
    let files = FromFolder { read, asked: Mutex::default() };
    let variable = |name: &str| read.variables.get(name).cloned();
    let suite = Suite::read_from(Path::new(&read.first), &files, &variable)?;
    let mut bundle = Bundled::new(suite.name.as_str(), read.first.as_str());
    let mut lock = Lock::default();
    locks_of(&read.suite.scorers)?.into_values().for_each(|locked| lock.insert(locked));
    bundle.lock = lock.iter().next().is_some().then(|| lock.text());
    bundle.variables.clone_from(&read.variables);
    bundle.files = files.asked.into_inner().unwrap_or_else(PoisonError::into_inner);
    let registry = Registry::with_builtins();
    for (scorer, ready) in suite.scorers.iter().zip(scorers) {
        let component = match &scorer.uses {
            Reference::Name(_) => Carried::BuiltIn(ready.scorer.digest()),
            Reference::File(_) | Reference::Published(_) => {
                Carried::Here(ready.component.bytes()?.to_vec().into())
            }
        };
        put(&mut bundle, scorer.uses.to_string(), component)?;
        if let Some(condition) = &ready.condition {
            let digest = condition.scorer.digest();
            if let Some(name) = name_of(&registry, digest) {
                put(&mut bundle, name, Carried::BuiltIn(digest))?;
            }
        }
    }
    Ok(bundle)
}

fn put(bundle: &mut Bundled, name: String, component: Carried) -> Result<(), Failure> {
    match bundle.components.insert(name.clone(), component.clone()) {
        Some(other) if other != component => {
            Err(Failure::new(format!("`{name}` was changed while it was read"))
                .hint("make the bundle again"))
        }
        _ => Ok(()),
    }
}

/// The name of the built-in scorer with this digest.
fn name_of(registry: &Registry, digest: Digest) -> Option<String> {
    let is_it = |name: &&str| {
        let listing = registry.listing(name).ok().flatten();
        listing.is_some_and(|listing| listing.digest == digest)
    };
    registry.list().find(is_it).map(str::to_owned)
}
