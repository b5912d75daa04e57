//! Why a component is not available, and what to do about it. Apart from the error's own message, it contains no text
//! for people.

use std::path::{Path, PathBuf};

use super::ScriptLanguage;
use crate::{
    advice::{Advice, Advised, Thing},
    digest::Digest,
    input_file::InputFileError,
};

/// Why a component is not available.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// No scorer has this name.
    #[error("there is no scorer `{name}`")]
    UnknownName {
        /// The requested name.
        name: String,
        /// The scorers that may be meant: those whose descriptions have the name as another tool's, and then the
        /// closest names.
        nearest: Vec<String>,
    },
    /// The name is already in use.
    #[error("there is a scorer `{0}` already")]
    NameTaken(String),
    /// The file cannot be read.
    #[error("cannot read the scorer `{}`: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why it cannot be read.
        source: InputFileError,
    },
    /// The path is a folder.
    #[error("the scorer `{}` is a folder", .0.display())]
    Folder(PathBuf),
    /// The script, together with all that it imports, exceeds the limit.
    #[error(
        "the script `{}` has more than {max_bytes} bytes, with what it imports",
        path.display()
    )]
    ScriptTooLarge {
        /// The file.
        path: PathBuf,
        /// The most bytes that are allowed.
        max_bytes: u64,
    },
    /// The script imports more files than the limit.
    #[error("the script `{}` imports more than {most_files} files", path.display())]
    ScriptHasTooManyFiles {
        /// The file.
        path: PathBuf,
        /// The most files that are allowed.
        most_files: usize,
    },
    /// The path of an import leads out of the script's folder through a link, so the file is not read.
    #[error(
        "the script `{}` imports `{import}`, which leads out of the script's folder through a link",
        path.display()
    )]
    ScriptImportLeadsOut {
        /// The script.
        path: PathBuf,
        /// The path of the file from the script's folder.
        import: String,
    },
    /// No engine runs scripts in this language: this build of the library embeds none, or the program provided none.
    #[error("the script `{}` cannot be run: there is no interpreter for {language}", path.display())]
    NoScriptEngine {
        /// The script.
        path: PathBuf,
        /// Its language.
        language: ScriptLanguage,
    },
    /// The file that should be the engine is damaged, or is another component.
    #[error("the interpreter for {language} in `{}` does not run scripts", path.display())]
    NotAScriptEngine {
        /// The interpreter's file.
        path: PathBuf,
        /// The language.
        language: ScriptLanguage,
    },
    /// The scorer is published, but not pinned to a component.
    #[error("`{address}` is not locked to a component")]
    NotPinned {
        /// The address, without `oci://`.
        address: String,
        /// The closest pinned addresses.
        nearest: Vec<String>,
    },
    /// The component that a published scorer is pinned to is not on this machine.
    #[error("the component of `{address}` is not on this machine (sha256:{digest})")]
    NotFetched {
        /// The address, without `oci://`.
        address: String,
        /// The component's digest.
        digest: Digest,
    },
    /// The file that should be the component of a published scorer has other bytes.
    #[error("`{}` is damaged: it is not the component that `{address}` is locked to", path.display())]
    NotTheComponent {
        /// The address, without `oci://`.
        address: String,
        /// The file.
        path: PathBuf,
    },
    /// The embedded bytes under this name are not the component in the manifest.
    #[error("the built-in scorer `{0}` is damaged")]
    Damaged(String),
}

impl Advised for RegistryError {
    fn advice(&self) -> Option<Advice> {
        match self {
            RegistryError::UnknownName { name, nearest } => {
                Some(Advice::did_you_mean(nearest).unwrap_or_else(|| {
                    // It looks like the name of a file, with an ending that no scorer's file has.
                    match Path::new(name).extension() {
                        Some(_) => Advice::Name(Thing::ScorerFile),
                        None => Advice::List(Thing::Scorer),
                    }
                }))
            }
            RegistryError::NameTaken(name) => {
                Some(Advice::Rename { what: Thing::Scorer, taken: name.clone() })
            }
            RegistryError::Folder(_) => Some(Advice::Name(Thing::Component)),
            RegistryError::Unreadable { source, .. } => source.advice(),
            RegistryError::ScriptTooLarge { .. } => Some(Advice::Check(Thing::File)),
            RegistryError::NoScriptEngine { language: ScriptLanguage::Python, .. }
            | RegistryError::NotAScriptEngine { .. } => Some(Advice::AddScriptEngine),
            RegistryError::NotPinned { address, nearest } => {
                let lock = || Advice::Lock { address: address.clone(), suite: None };
                Some(Advice::did_you_mean(nearest).unwrap_or_else(lock))
            }
            RegistryError::NotFetched { .. } | RegistryError::NotTheComponent { .. } => {
                Some(Advice::Fetch { suite: None })
            }
            RegistryError::Damaged(_)
            | RegistryError::ScriptImportLeadsOut { .. }
            | RegistryError::NoScriptEngine { .. }
            | RegistryError::ScriptHasTooManyFiles { .. } => None,
        }
    }
}
