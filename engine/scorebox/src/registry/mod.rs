//! From a scorer's name to a component's bytes. It loads and runs nothing.
//!
//! - `reference`: how a user names a scorer.
//! - `builtin`: the components that are embedded in the binary, compressed.
//! - `pinned`: published scorers, each pinned to one component in a folder of components.
//! - `script_language`: which files are scripts; `script_files`: a script and the files that it imports;
//!   `python_imports`: the same for Python; `script_component`: the component that runs it.
//! - `error`: why a component is not available.
//! - here: names and files, and the errors if neither exists.

mod builtin;
mod error;
mod pinned;
mod python_imports;
mod reference;
mod script_component;
mod script_files;
mod script_language;

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashSet},
    fmt,
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    component_bytes::{ComponentBytes, Packed as _},
    contract::ScorerInfo,
    digest::Digest,
    input_file::{self, InputFileError},
};
use builtin::{BuiltIn, COMPONENTS, SCRIPT_ENGINES};
use pinned::Pinned;
use script_component::{NotMade, component_of};
use script_files::{NotRead, ScriptFiles};

pub use builtin::Listing;
pub use error::RegistryError;
pub use pinned::{component_file_name, most_component_bytes};
pub use reference::Reference;
pub use script_language::ScriptLanguage;

/// The most bytes of a file that are read: one more than the sandbox accepts, so that it can report that the file is
/// too large.
const MAX_FILE_BYTES: u64 = (128 << 20) + 1;

/// The most scorers that are suggested for a name that does not exist.
const MAX_MEANT: usize = 3;

/// Where a component's bytes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// Embedded in the binary.
    BuiltIn,
    /// Registered by the program that uses the library.
    Registered,
    /// A file.
    File(PathBuf),
    /// Published under this address, and pinned to one component.
    Published(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::BuiltIn => f.write_str("built-in"),
            Origin::Registered => f.write_str("registered"),
            Origin::File(path) => write!(f, "{}", path.display()),
            Origin::Published(address) => write!(f, "{}{address}", reference::PUBLISHED),
        }
    }
}

/// A component, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScorerSource {
    /// Its bytes; not checked yet.
    pub component: ComponentBytes,
    /// Where they come from.
    pub origin: Origin,
}

impl ScorerSource {
    /// These bytes, from this origin.
    pub fn new(bytes: impl Into<Cow<'static, [u8]>>, origin: Origin) -> ScorerSource {
        ScorerSource { component: ComponentBytes::new(bytes), origin }
    }
}

/// The scorers that can be named.
#[derive(Clone, Debug)]
pub struct Registry {
    scorers: BTreeMap<String, Stored>,
    /// The files of script engines that are not embedded, by language and whether scripts ask a judge.
    script_engines: BTreeMap<(ScriptLanguage, bool), PathBuf>,
    pinned: Pinned,
}

#[derive(Clone, Debug)]
enum Stored {
    BuiltIn(&'static BuiltIn),
    Registered(ComponentBytes),
}

impl Default for Registry {
    fn default() -> Registry {
        Registry::with_builtins()
    }
}

impl Registry {
    /// The built-in scorers.
    pub fn with_builtins() -> Registry {
        let scorers =
            COMPONENTS.iter().map(|built| (built.name.to_owned(), Stored::BuiltIn(built)));
        Registry {
            scorers: scorers.collect(),
            script_engines: BTreeMap::new(),
            pinned: Pinned::default(),
        }
    }

    /// The same, with the file of the component that runs scripts in `language` that ask no judge, as built from
    /// `script-engines/` in scorebox's sources. It is read for each script.
    #[must_use]
    pub fn with_script_engine(mut self, language: ScriptLanguage, file: PathBuf) -> Registry {
        self.script_engines.insert((language, false), file);
        self
    }

    /// The same, with the file of the component that runs scripts in `language` that ask a judge. It imports the
    /// contract's `judge`, so each of these scripts needs [`Grant::Judge`](crate::sandbox::Grant::Judge).
    #[must_use]
    pub fn with_judging_script_engine(
        mut self,
        language: ScriptLanguage,
        file: PathBuf,
    ) -> Registry {
        self.script_engines.insert((language, true), file);
        self
    }

    /// The same, with a folder of fetched components, each in the file that [`component_file_name`] names. Each is
    /// compared with its digest when it is read.
    #[must_use]
    pub fn with_components(mut self, folder: PathBuf) -> Registry {
        self.pinned.set_folder(folder);
        self
    }

    /// The same, with pins for published scorers: addresses without `oci://`, and the digests of their components.
    #[must_use]
    pub fn with_pinned(mut self, scorers: impl IntoIterator<Item = (String, Digest)>) -> Registry {
        self.pinned.pin(scorers);
        self
    }

    /// The same, with components that came with a suite, which [`Registry::fetched`] finds by their digests.
    #[must_use]
    pub fn with_brought(
        mut self,
        components: impl IntoIterator<Item = Arc<ScorerSource>>,
    ) -> Registry {
        self.pinned.bring(components);
        self
    }

    /// Adds a component under a name.
    ///
    /// # Errors
    /// [`RegistryError::NameTaken`].
    pub fn register(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), RegistryError> {
        if self.scorers.contains_key(name) {
            return Err(RegistryError::NameTaken(name.to_owned()));
        }
        self.scorers.insert(name.to_owned(), Stored::Registered(ComponentBytes::new(bytes)));
        Ok(())
    }

    /// The component with this name. The bytes of a built-in component are uncompressed, and compared with the digest,
    /// when they are requested.
    ///
    /// # Errors
    /// [`RegistryError::UnknownName`], with the closest names; [`RegistryError::Damaged`].
    pub fn get(&self, name: &str) -> Result<ScorerSource, RegistryError> {
        let (component, origin) = match self.stored(name)? {
            Stored::Registered(component) => (Some(component.clone()), Origin::Registered),
            Stored::BuiltIn(built) => (built.component(), Origin::BuiltIn),
        };
        let component = component.ok_or_else(|| RegistryError::Damaged(name.to_owned()))?;
        Ok(ScorerSource { component, origin })
    }

    /// What the manifest recorded about a built-in scorer when it was built: available without uncompressing or
    /// compiling anything. `None` for a registered component.
    ///
    /// # Errors
    /// As [`Registry::get`].
    pub fn listing(&self, name: &str) -> Result<Option<Listing>, RegistryError> {
        match self.stored(name)? {
            Stored::Registered(_) => Ok(None),
            Stored::BuiltIn(built) => {
                let listing = built.listing();
                listing.map(Some).ok_or_else(|| RegistryError::Damaged(name.to_owned()))
            }
        }
    }

    /// The built-in component with this digest.
    pub fn built_in(&self, digest: Digest) -> Option<ScorerSource> {
        let same = |name: &&str| {
            let listing = BuiltIn::named(name).and_then(BuiltIn::listing);
            listing.is_some_and(|listing| listing.digest == digest)
        };
        let name = self.list().find(same)?;
        self.get(name).ok().filter(|source| source.origin == Origin::BuiltIn)
    }

    /// The component with this digest among those that came with a suite, or in the folder of components; `None` if it
    /// is missing, or has other bytes.
    pub fn fetched(&self, digest: Digest) -> Option<ScorerSource> {
        if let Some(brought) = self.pinned.brought(digest) {
            return Some(brought.clone());
        }
        let component = self.pinned.component(digest)?;
        let origin = Origin::File(self.pinned.file(digest)?);
        Some(ScorerSource { component, origin })
    }

    /// What the scorer `reference` reports about itself, if that is known without compiling it.
    pub fn info_of(&self, reference: &Reference) -> Option<ScorerInfo> {
        match reference {
            Reference::Name(name) => Some(self.listing(name).ok()??.info),
            Reference::File(_) | Reference::Published(_) => None,
        }
    }

    /// All names, sorted.
    pub fn list(&self) -> impl Iterator<Item = &str> {
        self.scorers.keys().map(String::as_str)
    }

    /// The component of `reference`.
    ///
    /// # Errors
    /// If no scorer has this name; if the file cannot be read or, for a script, no component can be made from it; if a
    /// published scorer is not pinned, or its component is missing.
    pub fn resolve(&self, reference: &Reference) -> Result<ScorerSource, RegistryError> {
        match reference {
            Reference::Name(name) => self.get(name),
            Reference::File(path) => match reference.script_language() {
                Some(language) => {
                    let bytes = self.script_component(path, language)?;
                    Ok(ScorerSource::new(bytes, Origin::File(path.clone())))
                }
                None => component_file(path),
            },
            Reference::Published(address) => self.pinned.resolve(address),
        }
    }

    /// The component that runs the script at `path`.
    fn script_component(
        &self,
        path: &Path,
        language: ScriptLanguage,
    ) -> Result<Vec<u8>, RegistryError> {
        let too_large =
            |max_bytes| RegistryError::ScriptTooLarge { path: path.to_owned(), max_bytes };
        let files = ScriptFiles::read(path, language).map_err(|error| match error {
            NotRead::File(path, InputFileError::Folder) => RegistryError::Folder(path),
            NotRead::File(path, source) => RegistryError::Unreadable { path, source },
            NotRead::TooLarge => too_large(script_files::MAX_BYTES),
            NotRead::TooMany => RegistryError::ScriptHasTooManyFiles {
                path: path.to_owned(),
                most_files: script_files::MAX_FILES,
            },
            NotRead::LeadsOut(import) => {
                RegistryError::ScriptImportLeadsOut { path: path.to_owned(), import }
            }
        })?;
        let no_engine = || RegistryError::NoScriptEngine { path: path.to_owned(), language };
        let asks_judge = files.asks_judge(language);
        let engine = self.script_engine(language, asks_judge)?.ok_or_else(no_engine)?;
        // Texts and their names can always be written as JSON.
        let script = serde_json::to_vec(&files).map_err(|_| no_engine())?;
        let made = component_of(&engine, language.as_str(), &script, files.may_summarize());
        let engine_file = self.script_engines.get(&(language, asks_judge)).cloned();
        made.map_err(|error| match (error, engine_file) {
            (NotMade::TooLarge { max_bytes }, _) => too_large(max_bytes as u64),
            (NotMade::NoEngine, Some(path)) => RegistryError::NotAScriptEngine { path, language },
            (NotMade::NoEngine, None) => no_engine(),
        })
    }

    /// The engine for scripts in `language` that do or do not ask a judge; `None` if there is none. Asking needs a
    /// grant, so there is a separate engine for scripts that do not ask.
    fn script_engine(
        &self,
        language: ScriptLanguage,
        asks_judge: bool,
    ) -> Result<Option<Vec<u8>>, RegistryError> {
        if let Some(path) = self.script_engines.get(&(language, asks_judge)) {
            let bytes = read_bounded(path)
                .map_err(|source| RegistryError::Unreadable { path: path.clone(), source })?;
            return Ok(Some(bytes));
        }
        let name = match asks_judge {
            true => format!("{}-judging", language.as_str()),
            false => language.as_str().to_owned(),
        };
        let embedded = SCRIPT_ENGINES.iter().find(|engine| engine.name == name);
        let Some(embedded) = embedded else { return Ok(None) };
        let damaged = || RegistryError::Damaged(embedded.name.to_owned());
        embedded.unpacked().map(Some).ok_or_else(damaged)
    }

    fn stored(&self, name: &str) -> Result<&Stored, RegistryError> {
        self.scorers.get(name).ok_or_else(|| RegistryError::UnknownName {
            name: name.to_owned(),
            nearest: self.meant_by(name),
        })
    }

    /// The scorers that may be meant by an unknown name. The description of a scorer has the name that another tool
    /// uses for it in backquotes; a word that is in many descriptions is ignored.
    fn meant_by(&self, name: &str) -> Vec<String> {
        let quoted = format!("`{name}`");
        let stands_for_it = |scorer: &&String| {
            let listing = self.listing(scorer).ok().flatten();
            listing.is_some_and(|listing| listing.info.description.contains(&quoted))
        };
        let mut meant: Vec<String> =
            self.scorers.keys().filter(stands_for_it).take(MAX_MEANT + 1).cloned().collect();
        if meant.len() > MAX_MEANT {
            meant.clear();
        }
        let closest = crate::suggest::closest(name, self.scorers.keys().map(String::as_str));
        meant.extend(closest);
        let mut seen = HashSet::new();
        meant.retain(|scorer| seen.insert(scorer.clone()));
        meant.truncate(MAX_MEANT);
        meant
    }
}

/// The component in a file.
fn component_file(path: &Path) -> Result<ScorerSource, RegistryError> {
    match read_bounded(path) {
        Ok(bytes) => Ok(ScorerSource::new(bytes, Origin::File(path.to_owned()))),
        Err(InputFileError::Folder) => Err(RegistryError::Folder(path.to_owned())),
        Err(source) => Err(RegistryError::Unreadable { path: path.to_owned(), source }),
    }
}

/// Reads the file, or enough of it to show that it is too large for a component.
fn read_bounded(path: &Path) -> Result<Vec<u8>, InputFileError> {
    let (file, _) = input_file::open(path)?;
    bounded(&file)
}

fn bounded(file: &File) -> Result<Vec<u8>, InputFileError> {
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::{Advice, Advised as _, Thing};

    #[test]
    fn names_are_sorted_and_unknown_ones_answered_with_the_closest() {
        let mut registry = Registry { scorers: BTreeMap::new(), ..Registry::with_builtins() };
        for name in ["latency", "contains"] {
            registry.register(name, vec![1]).unwrap();
        }
        assert_eq!(registry.list().collect::<Vec<_>>(), ["contains", "latency"]);
        let error = registry.get("latancy").unwrap_err();
        assert_eq!(error.to_string(), "there is no scorer `latancy`");
        assert_eq!(error.advice(), Some(Advice::DidYouMean(vec!["latency".into()])));
        assert!(matches!(registry.register("latency", vec![]), Err(RegistryError::NameTaken(_))));
    }

    #[cfg(feature = "builtins")]
    #[test]
    fn what_another_tool_calls_a_scorer_finds_it() {
        let registry = Registry::with_builtins();
        let meant = |name: &str| registry.get(name).unwrap_err().advice();
        let only = |name: &str| Some(Advice::DidYouMean(vec![name.to_owned()]));
        assert_eq!(meant("llmJudge"), only("rubric"));
        assert_eq!(meant("schemaAdherenceScorer"), only("schema-adherence"));
        assert_eq!(meant("WeightedScorer"), only("weighted"));
        // The descriptions of many scorers contain this part of a case.
        assert_eq!(meant("groundTruth"), Some(Advice::List(Thing::Scorer)));
    }

    #[cfg(feature = "builtins")]
    #[test]
    fn every_built_in_scorer_is_the_component_that_is_listed() {
        let registry = Registry::with_builtins();
        assert!(registry.list().count() > 50);
        for name in registry.list() {
            let (source, listing) = (registry.get(name).unwrap(), registry.listing(name).unwrap());
            let listing = listing.unwrap();
            let bytes = source.component.bytes().unwrap();
            assert_eq!(bytes.len() as u64, listing.bytes, "{name}");
            assert_eq!(Digest::of(bytes), listing.digest, "{name}");
            assert_eq!(source.component.digest(), listing.digest, "{name}");
            assert_eq!(listing.info.id, name);
            assert_eq!(registry.built_in(listing.digest).unwrap(), source);
        }
        assert!(registry.built_in(Digest::of(b"no component")).is_none());
    }

    #[test]
    fn a_python_script_needs_an_engine_that_the_program_brings() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("grade.py");
        std::fs::write(&script, "def score(case, config): return 1\n").unwrap();
        let reference = Reference::File(script);
        let error = Registry::with_builtins().resolve(&reference).unwrap_err();
        assert!(matches!(error, RegistryError::NoScriptEngine { .. }), "{error}");
        assert_eq!(error.advice(), Some(Advice::AddScriptEngine));
        let engine = folder.path().join("engine.wasm");
        std::fs::write(&engine, "no component").unwrap();
        let registry = Registry::with_builtins();
        let registry = registry.with_script_engine(ScriptLanguage::Python, engine);
        let error = registry.resolve(&reference).unwrap_err();
        assert!(matches!(error, RegistryError::NotAScriptEngine { .. }), "{error}");
        // Scripts that ask a judge need another engine.
        std::fs::write(folder.path().join("grade.py"), "from scorebox.judge import ask\n").unwrap();
        let error = registry.resolve(&reference).unwrap_err();
        assert!(matches!(error, RegistryError::NoScriptEngine { .. }), "{error}");
    }
}
