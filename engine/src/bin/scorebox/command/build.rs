//! `scorebox build`: from a Rust crate to a component, or the built-in scorers to `guest-scorers/dist/`.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use scorebox::{
    build::{BuiltComponent, CargoOutput, Toolchain, build_guest, builtins},
    report,
};

use crate::{
    failure::{Exit, Failure},
    words,
};

/// Compile a scorer's Rust crate to a component
///
/// Finds a Rust compiler with a standard library for wasm32 (rustup's target, or a compiler with its
/// sources and a linker, as Debian's packages have them), compiles, makes a component of the module
/// and checks it. The same sources and the same compiler give the same bytes on every machine.
#[derive(Debug, clap::Args)]
pub struct Build {
    /// The folder of the crate
    #[arg(value_name = "CRATE-FOLDER", default_value = ".")]
    folder: PathBuf,

    /// Where the component goes [default: NAME.wasm in the current folder]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Build the built-in scorers of scorebox's own sources into guest-scorers/dist, with the manifest
    #[arg(long, conflicts_with = "output")]
    builtins: bool,

    /// With --builtins: write nothing; say whether what is built equals what is there
    #[arg(long, requires = "builtins")]
    check: bool,
}

impl Build {
    pub fn run(&self) -> Result<Exit, Failure> {
        let toolchain = Toolchain::find()?;
        words::say(&format!("compiler: {}", toolchain.fingerprint()));
        match self.builtins {
            true => self.build_builtins(&toolchain),
            false => self.build_one(&toolchain),
        }
    }

    fn build_one(&self, toolchain: &Toolchain) -> Result<Exit, Failure> {
        let built = build_guest(&self.folder, toolchain, CargoOutput::Inherited)?;
        let path = match &self.output {
            Some(path) => path.clone(),
            None => PathBuf::from(format!("{}.wasm", built.name)),
        };
        fs::write(&path, &built.bytes)
            .map_err(|error| Failure::new(format!("cannot write `{}`: {error}", path.display())))?;
        words::say(&format!("{} -> {}", described(&built), path.display()));
        Ok(Exit::Done)
    }

    fn build_builtins(&self, toolchain: &Toolchain) -> Result<Exit, Failure> {
        let workspace = env::current_dir()
            .map_err(|error| Failure::new(format!("there is no current folder: {error}")))?;
        if !workspace.join("guest-scorers").is_dir() {
            return Err(Failure::new("there is no folder guest-scorers here")
                .hint("run it where scorebox's own Cargo.toml is"));
        }
        let built = builtins::build(&workspace, toolchain, CargoOutput::Inherited, |component| {
            words::say(&described(component));
        })?;
        match self.check {
            true => check(&workspace, toolchain, &built),
            false => {
                builtins::install(&workspace, toolchain, &built)?;
                Ok(Exit::Done)
            }
        }
    }
}

fn check(
    workspace: &Path,
    toolchain: &Toolchain,
    built: &[BuiltComponent],
) -> Result<Exit, Failure> {
    let manifest = builtins::Manifest::read(workspace)?;
    if manifest.compiler != toolchain.fingerprint() {
        words::warn(&format!(
            "dist was built with {}; this is another compiler, so the bytes are not compared",
            manifest.compiler
        ));
        return Ok(Exit::Done);
    }
    let differences = builtins::differences(&manifest, built);
    if differences.is_empty() {
        words::say(&format!("{} components, equal to dist byte for byte", built.len()));
        return Ok(Exit::Done);
    }
    Err(Failure::new(differences.join("\n")).hint("build them anew: `scorebox build --builtins`"))
}

fn described(built: &BuiltComponent) -> String {
    format!(
        "{}  {}  sha-256 {}",
        built.name,
        report::bytes(built.bytes.len() as u64),
        built.digest()
    )
}
