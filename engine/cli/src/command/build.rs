//! `scorebox build`: from a Rust crate or a script to a component, or from a folder of crates to its `dist/`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use scorebox::{
    build::{BuiltComponent, CargoOutput, Toolchain, build_guest, gallery, must_be_a_crate},
    contract::ScorerInfo,
    digest::Digest,
    registry::Reference,
    sandbox::{Capabilities, Grant, Grants, Limits, Sandbox, ScoreError, ScorerConfig},
};

use crate::{
    failure::{Exit, Failure},
    report,
    setup::{self, SandboxArguments},
    words,
};

/// Make a component from a scorer's Rust crate or script
///
/// A script (JavaScript, TypeScript or Python) needs no compiler: it is checked and, with the files that it imports, put into
/// a component with an interpreter. A crate is compiled.
///
/// Finds a Rust compiler with a standard library for wasm32 (rustup's target, or a compiler with its
/// sources and a linker, as Debian's packages have them), compiles, turns the module into a component
/// and checks it. The same sources in the same folder, built by the same compiler, give the same bytes.
#[derive(Debug, clap::Args)]
pub(crate) struct Build {
    /// The folder of the crate, or the file of the script; with --all, a folder of crates' folders
    #[arg(value_name = "FOLDER|SCRIPT", default_value = ".")]
    folder: PathBuf,

    /// The file to write [default: NAME.wasm in the current folder]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Build every crate in the folder into the folder `dist`, with a manifest of digests; what is there is kept where
    /// sources and compiler are the same
    #[arg(long, conflicts_with = "output", help_heading = "Gallery")]
    all: bool,

    /// With --all: compress the components in `dist`; kept from then on
    #[arg(long, requires = "all", help_heading = "Gallery")]
    compress: bool,

    /// With --all: write nothing, but compare what is built with `dist`
    #[arg(long, requires = "all", help_heading = "Gallery")]
    check: bool,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

/// Said before a compiler is looked for, which a user would install in vain.
fn must_be_there(folder: &Path) -> Result<(), Failure> {
    if folder.join("Cargo.toml").is_file() {
        return Ok(must_be_a_crate(folder)?);
    }
    let what = if folder.exists() {
        "has no Cargo.toml, so it is not a Rust crate"
    } else {
        "does not exist"
    };
    Err(Failure::new(format!("`{}` {what}", folder.display()))
        .hint("name the folder of a crate; `cargo new --lib NAME` makes one"))
}

/// As [`must_be_there`], for all crates of a folder.
fn must_have_crates(folder: &Path) -> Result<(), Failure> {
    let names = gallery::names(folder)?;
    if names.is_empty() {
        return Err(Failure::new(format!("there are no crates in `{}`", folder.display()))
            .hint("--all takes a folder of crates' folders; without it, name a crate's folder"));
    }
    Ok(names.iter().try_for_each(|name| must_be_a_crate(&folder.join(name)))?)
}

impl Build {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let written = Reference::parse(&self.folder.to_string_lossy(), Path::new(""));
        if written.is_script() && !self.all && !self.folder.is_dir() {
            return self.build_script(&written);
        }
        match self.all {
            true => must_have_crates(&self.folder)?,
            false => must_be_there(&self.folder)?,
        }
        let toolchain = Toolchain::find()?;
        words::say(&format!("compiler: {}", toolchain.fingerprint()));
        match self.all {
            true => self.build_all(&toolchain),
            false => self.build_one(&toolchain),
        }
    }

    fn build_one(&self, toolchain: &Toolchain) -> Result<Exit, Failure> {
        let asked = Asked::new(&self.sandbox)?;
        let built =
            build_guest(&self.folder, toolchain, CargoOutput::Inherited, &mut |component| {
                asked.describe(component).map_err(|error| error.to_string())
            })?;
        self.write(&built.name, &built.bytes, &described(&built))
    }

    /// Makes the component of a script, and has it take its configuration, so that what is wrong with the script is
    /// said here.
    fn build_script(&self, script: &Reference) -> Result<Exit, Failure> {
        let component = setup::registry().resolve(script)?.bytes;
        let asked = Asked::new(&self.sandbox)?;
        asked.load(&component).map_err(|error| {
            let failure = Failure::from(error);
            let message = format!("script `{}`: {}", self.folder.display(), failure.message);
            Failure { message, ..failure }
        })?;
        let name = script.default_name();
        self.write(&name, &component, &size_and_digest(&name, &component))
    }

    fn write(&self, name: &str, component: &[u8], described: &str) -> Result<Exit, Failure> {
        let path = match &self.output {
            Some(path) => path.clone(),
            None => PathBuf::from(format!("{name}.wasm")),
        };
        fs::write(&path, component)
            .map_err(|error| Failure::new(format!("cannot write `{}`: {error}", path.display())))?;
        words::say(&format!("{described} -> {}", path.display()));
        Ok(Exit::Done)
    }

    fn build_all(&self, toolchain: &Toolchain) -> Result<Exit, Failure> {
        let gallery = self.folder.as_path();
        let asked = Asked::new(&self.sandbox)?;
        let before = gallery::Manifest::read(gallery).ok();
        let built = gallery::build(
            gallery,
            toolchain,
            // Comparing is building again.
            before.as_ref().filter(|_| !self.check),
            CargoOutput::Inherited,
            &mut |component| asked.describe(component).map_err(|error| error.to_string()),
            |component| words::say(&described(component)),
        )?;
        if self.check {
            return check(gallery, toolchain, &built);
        }
        let compressed = self.compress || before.is_some_and(|manifest| manifest.compressed);
        let described = built.into_iter().map(|built| asked.with_info(built));
        gallery::install(gallery, toolchain, compressed, described.collect::<Result<_, _>>()?)?;
        Ok(Exit::Done)
    }
}

/// Asks components what they are. Whatever they import is granted: there is nothing to be seen yet.
struct Asked {
    sandbox: Sandbox,
    runtime: tokio::runtime::Runtime,
}

impl Asked {
    fn new(sandbox: &SandboxArguments) -> Result<Asked, Failure> {
        Ok(Asked {
            sandbox: sandbox.open(1, Capabilities::none())?,
            runtime: setup::small_runtime()?,
        })
    }

    fn describe(&self, component: &[u8]) -> Result<ScorerInfo, ScoreError> {
        let grants: Grants = Grant::ALL.into_iter().collect();
        self.runtime.block_on(self.sandbox.describe(component, &Limits::default(), grants))
    }

    /// Loads a component without a configuration.
    fn load(&self, component: &[u8]) -> Result<(), ScoreError> {
        let (limits, config) = (Limits::default(), ScorerConfig::default());
        let loading = self.sandbox.load(component, &config, &limits, Grants::NONE);
        self.runtime.block_on(loading).map(drop)
    }

    fn with_info(
        &self,
        mut built: BuiltComponent,
    ) -> Result<(BuiltComponent, ScorerInfo), Failure> {
        let info = match built.info.take() {
            Some(info) => info,
            None => self.describe(&built.bytes).map_err(|error| {
                let failure = Failure::from(error);
                Failure { message: format!("`{}`: {}", built.name, failure.message), ..failure }
            })?,
        };
        Ok((built, info))
    }
}

fn check(gallery: &Path, toolchain: &Toolchain, built: &[BuiltComponent]) -> Result<Exit, Failure> {
    let manifest = gallery::Manifest::read(gallery)?;
    if manifest.compiler != toolchain.fingerprint() {
        words::warn(&format!(
            "dist was built with {}, which is another compiler, so the bytes are not compared",
            manifest.compiler
        ));
        return Ok(Exit::Done);
    }
    let differences = gallery::differences(&manifest, built);
    if differences.is_empty() {
        words::say(&format!("{} components, equal to dist byte for byte", built.len()));
        return Ok(Exit::Done);
    }
    Err(Failure::new(differences.join("\n")).hint("rebuild them: the same command without --check"))
}

fn described(built: &BuiltComponent) -> String {
    size_and_digest(&built.name, &built.bytes)
}

fn size_and_digest(name: &str, component: &[u8]) -> String {
    let size = report::bytes(component.len() as u64);
    format!("{name}  {size}  sha-256 {}", Digest::of(component))
}
