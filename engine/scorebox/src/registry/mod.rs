//! From a scorer's name to a component's bytes. Loads and runs nothing.
//!
//! - `builtin`: the components that are embedded in the binary.
//! - here: the names, files, and what to say where there is neither.

mod builtin;

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt,
    io::Read as _,
    path::{Path, PathBuf},
};

use crate::{
    advice::{Advice, Advised, Thing},
    contract::ScorerInfo,
    input_file::{self, InputFileError},
};

/// Bytes of a file that are read: one more than the sandbox takes, so that it can say that the file is
/// too large.
const MOST_FILE_BYTES: u64 = (128 << 20) + 1;

/// Where a component's bytes came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Embedded in the binary.
    BuiltIn,
    /// Registered by the program that uses the library.
    Registered,
    /// A file.
    File(PathBuf),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::BuiltIn => f.write_str("built-in"),
            Origin::Registered => f.write_str("registered"),
            Origin::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// How a user names a scorer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// By a name of the registry.
    Name(String),
    /// By the path of a `.wasm` file.
    File(PathBuf),
}

impl Reference {
    /// What is written as a path (with a separator, or ending in `.wasm`) is one; relative paths
    /// start at `folder`.
    pub fn parse(written: &str, folder: &Path) -> Reference {
        let is_path = written.contains(['/', '\\']) || written.ends_with(".wasm");
        match is_path {
            true => Reference::File(folder.join(written)),
            false => Reference::Name(written.to_owned()),
        }
    }

    /// A name to call the scorer by, where the user gave none: the name, or the file's stem.
    pub fn default_name(&self) -> String {
        match self {
            Reference::Name(name) => name.clone(),
            Reference::File(path) => path
                .file_stem()
                .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned()),
        }
    }
}

/// A component's bytes, and where they are from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScorerSource {
    /// The bytes; not checked yet.
    pub bytes: Cow<'static, [u8]>,
    /// Where they are from.
    pub origin: Origin,
}

/// Why there is no component.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// No scorer has that name.
    #[error("there is no scorer `{name}`")]
    UnknownName {
        /// The name that was asked for.
        name: String,
        /// The names nearest to it.
        nearest: Vec<String>,
    },
    /// The name is taken.
    #[error("there is a scorer `{0}` already")]
    NameTaken(String),
    /// The file cannot be read.
    #[error("cannot read the scorer `{}`: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: InputFileError,
    },
    /// The path is a folder.
    #[error("the scorer `{}` is a folder", .0.display())]
    Folder(PathBuf),
}

impl Advised for RegistryError {
    fn advice(&self) -> Option<Advice> {
        match self {
            RegistryError::UnknownName { nearest, .. } => {
                Some(Advice::did_you_mean(nearest).unwrap_or(Advice::List(Thing::Scorer)))
            }
            RegistryError::NameTaken(name) => {
                Some(Advice::Rename { what: Thing::Scorer, taken: name.clone() })
            }
            RegistryError::Folder(_) => Some(Advice::Name(Thing::Component)),
            RegistryError::Unreadable { source, .. } => source.advice(),
        }
    }
}

/// The scorers that can be named.
#[derive(Clone, Debug)]
pub struct Registry {
    scorers: BTreeMap<String, ScorerSource>,
}

impl Default for Registry {
    fn default() -> Registry {
        Registry::with_builtins()
    }
}

impl Registry {
    /// The built-in scorers.
    pub fn with_builtins() -> Registry {
        let scorers = builtin::COMPONENTS.iter().map(|(name, bytes, _)| {
            let source = ScorerSource { bytes: Cow::Borrowed(*bytes), origin: Origin::BuiltIn };
            ((*name).to_owned(), source)
        });
        Registry { scorers: scorers.collect() }
    }

    /// Adds a component under a name.
    ///
    /// # Errors
    /// [`RegistryError::NameTaken`].
    pub fn register(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), RegistryError> {
        if self.scorers.contains_key(name) {
            return Err(RegistryError::NameTaken(name.to_owned()));
        }
        let source = ScorerSource { bytes: Cow::Owned(bytes), origin: Origin::Registered };
        self.scorers.insert(name.to_owned(), source);
        Ok(())
    }

    /// The component of that name.
    ///
    /// # Errors
    /// [`RegistryError::UnknownName`], with the nearest names.
    pub fn get(&self, name: &str) -> Result<&ScorerSource, RegistryError> {
        self.scorers.get(name).ok_or_else(|| RegistryError::UnknownName {
            name: name.to_owned(),
            nearest: crate::suggest::nearest(name, self.scorers.keys().map(String::as_str)),
        })
    }

    /// What a built-in scorer says of itself, as it was written down when it was built: known without
    /// compiling anything. None for a component that was registered.
    pub fn info(&self, name: &str) -> Option<ScorerInfo> {
        let (_, _, info) = builtin::COMPONENTS.iter().find(|(of, _, _)| *of == name)?;
        let built_in = self.scorers.get(name)?.origin == Origin::BuiltIn;
        built_in.then(|| serde_json::from_str(info).ok()).flatten()
    }

    /// All names, sorted.
    pub fn list(&self) -> impl Iterator<Item = &str> {
        self.scorers.keys().map(String::as_str)
    }

    /// The component that `reference` names.
    ///
    /// # Errors
    /// Where there is none of that name, or the file cannot be read.
    pub fn resolve(&self, reference: &Reference) -> Result<ScorerSource, RegistryError> {
        match reference {
            Reference::Name(name) => self.get(name).cloned(),
            Reference::File(path) => match read_bounded(path) {
                Ok(bytes) => Ok(ScorerSource {
                    bytes: Cow::Owned(bytes),
                    origin: Origin::File(path.clone()),
                }),
                Err(InputFileError::Folder) => Err(RegistryError::Folder(path.clone())),
                Err(source) => Err(RegistryError::Unreadable { path: path.clone(), source }),
            },
        }
    }
}

/// The file, or as much of it as shows that it is too large to be a component.
fn read_bounded(path: &Path) -> Result<Vec<u8>, InputFileError> {
    let mut bytes = Vec::new();
    let (file, _) = input_file::open(path)?;
    file.take(MOST_FILE_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_unknown_ones_answered_with_the_nearest() {
        let mut registry = Registry { scorers: BTreeMap::new() };
        for name in ["latency", "contains"] {
            registry.register(name, vec![1]).unwrap();
        }
        assert_eq!(registry.list().collect::<Vec<_>>(), ["contains", "latency"]);
        let error = registry.get("latancy").unwrap_err();
        assert_eq!(error.to_string(), "there is no scorer `latancy`");
        assert_eq!(error.advice(), Some(Advice::DidYouMean(vec!["latency".into()])));
        assert!(matches!(registry.register("latency", vec![]), Err(RegistryError::NameTaken(_))));
    }

    #[test]
    fn a_path_is_told_from_a_name_by_its_form() {
        let folder = Path::new("/suite");
        let file = |path: &str| Reference::File(PathBuf::from(path));
        assert_eq!(Reference::parse("latency", folder), Reference::Name("latency".into()));
        assert_eq!(Reference::parse("x.wasm", folder), file("/suite/x.wasm"));
        assert_eq!(Reference::parse("./x", folder), file("/suite/./x"));
        assert_eq!(Reference::parse("/y/x.wasm", folder).default_name(), "x");
    }
}
