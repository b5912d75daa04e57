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
    /// The folder is not one of a crate.
    #[error("`{0}` has no Cargo.toml")]
    NotACrate(PathBuf),
    /// The crates of a folder are in no workspace that locks what they depend on.
    #[error(
        "neither `{0}` nor a folder above it has a Cargo.lock: crates that are built together are in one workspace"
    )]
    NoLock(PathBuf),
    /// The manifest is one of a workspace, and of no crate itself.
    #[error("`{0}` has no [package]: it is not the manifest of a crate")]
    OnlyAWorkspace(PathBuf),
    /// The crate makes no `cdylib`.
    #[error("the crate `{0}` makes no cdylib")]
    NotACdylib(String),
    /// cargo, or a compiler that was found before, could not be started.
    #[error("cannot run `{program}`: {source}")]
    CannotRun {
        /// What was to run.
        program: String,
        /// Why it could not.
        source: std::io::Error,
    },
    /// The crate does not build.
    #[error("cargo failed{}", detail.as_ref().map(|text| format!(":\n{text}")).unwrap_or_default())]
    Cargo {
        /// Its output, if the user has not seen it.
        detail: Option<String>,
    },
    /// cargo's answer is not what it should be.
    #[error("cannot make sense of cargo's answer: {0}")]
    Metadata(String),
    /// There is no folder and no file of this path.
    #[error("`{}` does not exist", .0.display())]
    NoSource(PathBuf),
    /// It is a folder or a file of which no component is built.
    #[error("`{}` is not a scorer in a language that is known here", .0.display())]
    UnknownSource(PathBuf),
    /// The folder has sources, and nothing says which comes first.
    #[error("`{}` has several files that may be the scorer's first", .0.display())]
    SeveralRoots(PathBuf),
    /// A compiler is not there.
    #[error("no `{name}` was found")]
    NoTool {
        /// What it is called.
        name: &'static str,
        /// For what it is installed.
        compiler: Compiler,
    },
    /// A compiler is too old.
    #[error("`{name}` is too old: it is {found}, and {least} is needed")]
    OldTool {
        /// What it is called.
        name: &'static str,
        /// For what it is installed.
        compiler: Compiler,
        /// What it says that it is.
        found: String,
        /// The oldest version that will do.
        least: String,
    },
    /// The sources do not compile.
    #[error("{name} failed{}", detail.as_ref().map(|text| format!(":\n{text}")).unwrap_or_default())]
    Compiler {
        /// What it is called.
        name: &'static str,
        /// Its output, if the user has not seen it.
        detail: Option<String>,
    },
    /// The core module is not a scorer.
    #[error("the module cannot be made a component: {0}")]
    Module(#[from] ModuleError),
    /// The module that came out is not a scorer.
    #[error("the module cannot be made a component: {0}")]
    Component(String),
    /// The crate is built for a browser: this is its name.
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
        /// Bytes that it has.
        bytes: usize,
        /// Bytes that it may have.
        most: usize,
    },
    /// The component that was built first, to describe itself, does not.
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
    /// A manifest or lock file could not be understood.
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
