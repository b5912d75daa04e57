//! Why a guest could not be built.

use std::{io::ErrorKind, path::PathBuf};

use crate::advice::{Advice, Advised, Build, Compiler, Thing};

use super::module_error::ModuleError;

/// Why a guest could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No compiler on this machine can build for wasm32.
    #[error("no Rust toolchain with a wasm32-unknown-unknown standard library was found")]
    NoToolchain,
    /// The folder does not contain a crate.
    #[error("`{0}` has no Cargo.toml")]
    NotACrate(PathBuf),
    /// The crates of a folder do not belong to a workspace that locks their dependencies.
    #[error(
        "neither `{0}` nor a folder above it has a Cargo.lock: crates that are built together are in one workspace"
    )]
    NoLock(PathBuf),
    /// The manifest is a workspace's, and not a crate's.
    #[error("`{0}` has no [package]: it is not the manifest of a crate")]
    OnlyAWorkspace(PathBuf),
    /// The crate makes no `cdylib`.
    #[error("the crate `{0}` makes no cdylib")]
    NotACdylib(String),
    /// cargo, or a compiler that was found before, could not be started.
    #[error("cannot run `{program}`: {source}")]
    CannotRun {
        /// The program.
        program: String,
        /// Why it could not be started.
        source: std::io::Error,
    },
    /// The crate does not build.
    #[error("cargo failed{}", detail.as_ref().map(|text| format!(":\n{text}")).unwrap_or_default())]
    Cargo {
        /// Its output, if the user has not seen it.
        detail: Option<String>,
    },
    /// cargo's answer is not as expected.
    #[error("cannot make sense of cargo's answer: {0}")]
    Metadata(String),
    /// There is no folder or file with this path.
    #[error("`{}` does not exist", .0.display())]
    NoSource(PathBuf),
    /// No component is built from this folder or file.
    #[error("`{}` is not a scorer in a language that is known here", .0.display())]
    UnknownSource(PathBuf),
    /// The folder has sources, and it is unclear which is the first.
    #[error("`{}` has several files that may be the scorer's first", .0.display())]
    SeveralRoots(PathBuf),
    /// A compiler is missing.
    #[error("no `{name}` was found")]
    NoTool {
        /// Its name.
        name: &'static str,
        /// What it is installed for.
        compiler: Compiler,
    },
    /// A compiler is too old.
    #[error("`{name}` is too old: it is {found}, and {least} is needed")]
    OldTool {
        /// Its name.
        name: &'static str,
        /// What it is installed for.
        compiler: Compiler,
        /// The version that it reports.
        found: String,
        /// The oldest version that is supported.
        least: String,
    },
    /// The sources do not compile.
    #[error("{name} failed{}", detail.as_ref().map(|text| format!(":\n{text}")).unwrap_or_default())]
    Compiler {
        /// Its name.
        name: &'static str,
        /// Its output, if the user has not seen it.
        detail: Option<String>,
    },
    /// The core module is not a scorer.
    #[error("the module cannot be made a component: {0}")]
    Module(#[from] ModuleError),
    /// The resulting module is not a scorer.
    #[error("the module cannot be made a component: {0}")]
    Component(String),
    /// The crate with this name is built for a browser.
    #[error(
        "`{0}` cannot be a scorer: a crate that it depends on uses wasm-bindgen, which needs a browser"
    )]
    NeedsAPage(String),
    /// The schema of the configuration is too large to be passed to the compiler.
    #[error(
        "the schema of the configuration of `{name}` has {bytes} bytes, and {most} are the most"
    )]
    LargeSchema {
        /// The crate's name.
        name: String,
        /// Its size in bytes.
        bytes: usize,
        /// The largest size in bytes.
        most: usize,
    },
    /// The component that was built first, to describe itself, cannot do so.
    #[error("`{name}` cannot say what it is: {message}")]
    Describe {
        /// The crate's name.
        name: String,
        /// Why not.
        message: String,
    },
    /// A component is older than its sources.
    #[error("the sources of `{0}` changed while it was built; run it again")]
    SourcesChanged(String),
    /// A file could not be read or written.
    #[error("`{path}`: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: std::io::Error,
    },
    /// A manifest or lock file is not valid.
    #[error("`{path}` is not as expected: {reason}")]
    Unexpected {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl Advised for BuildError {
    fn advice(&self) -> Option<Advice> {
        match self {
            BuildError::NoToolchain => Some(Advice::InstallToolchain),
            BuildError::CannotRun { source, .. } if source.kind() == ErrorKind::NotFound => {
                Some(Advice::InstallToolchain)
            }
            BuildError::NotACrate(_) | BuildError::OnlyAWorkspace(_) => {
                Some(Advice::Name(Thing::Crate))
            }
            BuildError::NoLock(_) => Some(Advice::Build(Build::InWorkspace)),
            BuildError::NotACdylib(_) => Some(Advice::Build(Build::AsLibrary)),
            BuildError::NoSource(_) | BuildError::UnknownSource(_) => {
                Some(Advice::List(Thing::Source))
            }
            BuildError::SeveralRoots(_) => Some(Advice::Name(Thing::Source)),
            BuildError::NoTool { compiler, .. } | BuildError::OldTool { compiler, .. } => {
                Some(Advice::InstallCompiler(*compiler))
            }
            BuildError::Module(error) => error.advice(),
            BuildError::Component(_) => Some(Advice::Build(Build::WithExport)),
            BuildError::NeedsAPage(_) => Some(Advice::Build(Build::WithoutPage)),
            BuildError::LargeSchema { .. } => Some(Advice::Build(Build::WithSmallSchema)),
            _ => None,
        }
    }
}

impl BuildError {
    pub(super) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> BuildError {
        let path = path.into();
        move |source| BuildError::File { path, source }
    }
}
