//! Why no component can be made from a core module, and what to do about it.

use crate::advice::{Advice, Advised, Build};

/// Why no component can be made from a core module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModuleError {
    /// It is too large.
    #[error("it has {bytes} bytes, more than {most}")]
    TooLarge {
        /// Its size in bytes.
        bytes: usize,
        /// The largest size in bytes.
        most: usize,
    },
    /// It is a component, not a core module.
    #[error("it is a component already")]
    Component,
    /// It is not WebAssembly, or not valid.
    #[error("it is not a valid WebAssembly module: {0}")]
    Invalid(String),
    /// It imports something that scorers do not have.
    #[error("it imports {}, which a scorer does not have", listed(.0))]
    Imports(Vec<String>),
    /// It imports an existing function, with other parameters or results.
    #[error("it imports {} with other parameters or results than it has here", listed(.0))]
    ImportTypes(Vec<String>),
    /// It lacks exports that a scorer needs.
    #[error("it does not export {}", listed(.0))]
    Missing(Vec<String>),
    /// It exports a function of the contract, with other parameters or results.
    #[error("it exports {} with other parameters or results than the contract has", listed(.0))]
    ExportTypes(Vec<String>),
    /// It is built against another version of the contract.
    #[error("it is built against the contract {found}; this scorebox has {expected}")]
    OtherContract {
        /// The version that it is built against.
        found: String,
        /// The version against which scorers are built here.
        expected: &'static str,
    },
}

impl Advised for ModuleError {
    fn advice(&self) -> Option<Advice> {
        match self {
            ModuleError::Imports(_) => Some(Advice::Build(Build::WithoutSystem)),
            ModuleError::Missing(_) => Some(Advice::Build(Build::WithExports)),
            ModuleError::ImportTypes(_) | ModuleError::ExportTypes(_) => {
                Some(Advice::Build(Build::WithSoundBindings))
            }
            ModuleError::OtherContract { .. } => Some(Advice::Build(Build::WithThisVersion)),
            ModuleError::Component => Some(Advice::Build(Build::NotAgain)),
            ModuleError::TooLarge { .. } | ModuleError::Invalid(_) => None,
        }
    }
}

/// The most names that an error lists.
const MAX_LISTED: usize = 8;
/// The longest name that an error shows completely, in bytes.
const LONGEST_NAME: usize = 100;

/// Lists names in backquotes, up to the limit.
fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MAX_LISTED).map(|name| {
        let end = name.floor_char_boundary(LONGEST_NAME);
        let more = if end < name.len() { "…" } else { "" };
        format!("`{}{more}`", &name[..end])
    });
    let shown: Vec<String> = shown.collect();
    match names.len().checked_sub(MAX_LISTED) {
        Some(others @ 1..) => format!("{} and {others} more", shown.join(", ")),
        _ => shown.join(", "),
    }
}
