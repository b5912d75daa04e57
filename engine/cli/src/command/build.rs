//! `scorebox build`: from a Rust crate to a component, or from a folder of crates to its `dist/`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use scorebox::{
    build::{BuiltComponent, CargoOutput, Toolchain, build_guest, gallery},
    contract::ScorerInfo,
    sandbox::{Capabilities, Grant, Grants, Limits, Sandbox, ScoreError},
};

use crate::{
    failure::{Exit, Failure},
    report,
    setup::{self, SandboxArguments},
    words,
};

/// Compile a scorer's Rust crate to a component
///
/// Finds a Rust compiler with a standard library for wasm32 (rustup's target, or a compiler with its
/// sources and a linker, as Debian's packages have them), compiles, makes a component of the module
/// and checks it. The same sources in the same folder, built by the same compiler, give the same bytes.
#[derive(Debug, clap::Args)]
pub(crate) struct Build {
    /// The folder of the crate; with --all, a folder of such folders
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,

    /// The file to write [default: NAME.wasm in the current folder]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Build every crate in the folder into the folder `dist`, with a manifest of digests
    #[arg(long, conflicts_with = "output")]
    all: bool,

    /// With --all: compress the components in `dist`; kept from then on
    #[arg(long, requires = "all")]
    compress: bool,

    /// With --all: write nothing, but compare what is built with `dist`
    #[arg(long, requires = "all")]
    check: bool,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

/// Said before a compiler is looked for, which a user would install in vain.
fn must_be_a_crate(folder: &Path) -> Result<(), Failure> {
    if folder.join("Cargo.toml").is_file() {
        return Ok(());
    }
    let what = if folder.exists() {
        "has no Cargo.toml, so it is not a Rust crate"
    } else {
        "does not exist"
    };
    Err(Failure::new(format!("`{}` {what}", folder.display()))
        .hint("name the folder of a crate; `cargo new --lib NAME` makes one"))
}

impl Build {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        if !self.all {
            must_be_a_crate(&self.folder)?;
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
        let path = match &self.output {
            Some(path) => path.clone(),
            None => PathBuf::from(format!("{}.wasm", built.name)),
        };
        fs::write(&path, &built.bytes)
            .map_err(|error| Failure::new(format!("cannot write `{}`: {error}", path.display())))?;
        words::say(&format!("{} -> {}", described(&built), path.display()));
        Ok(Exit::Done)
    }

    fn build_all(&self, toolchain: &Toolchain) -> Result<Exit, Failure> {
        let gallery = self.folder.as_path();
        let asked = Asked::new(&self.sandbox)?;
        let built = gallery::build(
            gallery,
            toolchain,
            CargoOutput::Inherited,
            &mut |component| asked.describe(component).map_err(|error| error.to_string()),
            |component| words::say(&described(component)),
        )?;
        if built.is_empty() {
            return Err(Failure::new(format!("there are no crates in `{}`", gallery.display()))
                .hint(
                    "--all takes a folder of crates' folders; without it, name a crate's folder",
                ));
        }
        if self.check {
            return check(gallery, toolchain, &built);
        }
        let before = gallery::Manifest::read(gallery);
        let compressed = self.compress || before.is_ok_and(|manifest| manifest.compressed);
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
    format!(
        "{}  {}  sha-256 {}",
        built.name,
        report::bytes(built.bytes.len() as u64),
        built.digest()
    )
}
