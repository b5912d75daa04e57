//! `scorebox build`: builds a component from sources in any language, a core module or a script, or the `dist/` of a
//! folder of crates.

mod samples;
mod saved;
mod watch;

use std::{
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
};

use scorebox::{
    build::{
        BuildError, BuiltComponent, Language, Source, ToolOutput, Toolchain, build_guest,
        build_source, gallery, must_be_a_crate,
    },
    component_bytes::ComponentBytes,
    contract::ScorerInfo,
    digest::Digest,
    registry::Reference,
    sandbox::{Anatomy, Capabilities, Grant, Grants, Limits, Sandbox, ScoreError},
};

use self::{samples::Samples, saved::Saved};
use crate::{
    arguments::{self, LimitArguments},
    failure::{Exit, Failure},
    new_file::NewFile,
    report,
    setup::{self, SandboxArguments},
    words,
};

/// The longest list of imports that is shown, in columns.
const MAX_SHOWN_IMPORTS: usize = 200;
/// The first bytes of a component and of a core module.
const WASM_MAGIC: &[u8; 4] = b"\0asm";

/// Make a component from a scorer, whatever language it is written in
///
/// A folder or a file says by its name what it is: Cargo.toml (Rust), go.mod (Go), build.zig or *.zig (Zig), *.c,
/// *.cpp, asconfig.json (AssemblyScript), a core WebAssembly module (*.wasm), or a script (*.js, *.ts, *.py), which
/// needs no compiler. Runs the language's own compiler, and installs nothing: a compiler that is missing is named with
/// the line that installs it. The rest needs no tool: the contract is put in, and functions of WASI that a language's
/// runtime imports are replaced inside the module, so that the scorer needs no grant.
///
/// The same sources and compiler give the same bytes in any folder. docs/languages.md shows a first scorer in each
/// language.
#[derive(Debug, clap::Args)]
pub(crate) struct Build {
    /// The scorer's folder or file; with --all, a folder of crates' folders
    #[arg(value_name = "PATH", default_value = ".")]
    folder: PathBuf,

    /// The file to write [default: NAME.wasm in the current folder]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Build again whenever a file of the scorer is saved, until Ctrl-C, and score the cases of its `test.jsonl`, by
    /// the suite `test.toml` if that exists. The component is written beside the sources
    #[arg(long, conflicts_with = "all", help_heading = "While you write")]
    watch: bool,

    /// With --watch: the sample cases, in place of those of the scorer's `test.jsonl`
    #[arg(long, value_name = "FILE", requires = "watch", help_heading = "While you write")]
    cases: Option<PathBuf>,

    /// Build every crate in the folder into the folder `dist`, with a manifest of digests; a component is kept if its
    /// sources and its compiler are the same
    #[arg(long, conflicts_with = "output", help_heading = "Gallery")]
    all: bool,

    /// With --all: compress the components in `dist`; kept from then on
    #[arg(long, requires = "all", help_heading = "Gallery")]
    compress: bool,

    /// With --all: write nothing, but compare what is built with `dist`
    #[arg(long, requires = "all", help_heading = "Gallery")]
    check: bool,

    #[command(flatten)]
    limits: LimitArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

/// Refuses a folder without crates before it looks for a compiler, which the user would install in vain.
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
        if self.output.as_deref() == Some(Path::new("-")) {
            return Err(Failure::new("a component is not written to standard output")
                .hint("name a file to write: --output FILE; `./-` is a file of that name"));
        }
        if self.all {
            must_have_crates(&self.folder)?;
            return self.build_all(&toolchain()?);
        }
        if self.watch {
            return self.watch();
        }
        self.build().map(|_| Exit::Done)
    }

    /// Builds after each change. It ends only if the path does not exist, or is not a scorer's folder or file.
    fn watch(&self) -> Result<Exit, Failure> {
        if !self.folder.exists() {
            return Err(BuildError::NoSource(self.folder.clone()).into());
        }
        let is_script =
            || Reference::parse(&self.folder.to_string_lossy(), Path::new("")).is_script();
        if let Err(error @ BuildError::UnknownSource(_)) = Source::find(&self.folder)
            && !is_script()
        {
            return Err(self.no_source(error));
        }
        let saved = Saved::of(&self.folder).with(self.cases.as_deref());
        let folder = saved.folder().to_owned();
        watch::watch(saved, || {
            let component = self.build()?;
            match Samples::find(self.cases.as_deref(), &folder) {
                Some(samples) => {
                    let limits = self.limits.apply(Limits::default())?;
                    samples.score(&component, limits, &self.sandbox)
                }
                None => {
                    words::say(
                        "there is no test.jsonl with sample cases; --cases FILE names others",
                    );
                    Ok(())
                }
            }
        })
    }

    /// Builds once, and returns the path of the component.
    fn build(&self) -> Result<PathBuf, Failure> {
        let written = Reference::parse(&self.folder.to_string_lossy(), Path::new(""));
        if written.is_script() && !self.folder.is_dir() {
            return self.build_script(&written);
        }
        let source = Source::find(&self.folder).map_err(|error| self.no_source(error))?;
        match source.language {
            Language::Rust => self.build_crate(&source.folder),
            _ => self.build_source(&source),
        }
    }

    /// The failure that the folder has no sources. A script in it is built if the user names the script.
    fn no_source(&self, error: BuildError) -> Failure {
        let is_unknown = matches!(error, BuildError::UnknownSource(_));
        match script_in(&self.folder).filter(|_| is_unknown) {
            Some(script) => Failure::from(error).hint(format!(
                "name the script in it: scorebox build {}",
                report::shell_word(&script)
            )),
            None => error.into(),
        }
    }

    fn build_crate(&self, folder: &Path) -> Result<PathBuf, Failure> {
        must_be_a_crate(folder)?;
        self.output.as_deref().map_or(Ok(()), must_be_replaceable)?;
        let toolchain = toolchain()?;
        let asked = Asked::new(&self.sandbox, &self.limits)?;
        let shared = self.sandbox.shared_builds();
        let (shared, output) = (shared.as_ref(), ToolOutput::Inherited);
        let built = build_guest(folder, &toolchain, shared, output, &mut |component| {
            asked.describe(component).map_err(|error| error.to_string())
        })?;
        self.write(&built.name, &built.bytes)
    }

    /// Makes the component of another language's scorer, and makes it describe itself, so that its errors are reported
    /// here.
    fn build_source(&self, source: &Source) -> Result<PathBuf, Failure> {
        let files = source.files.iter().map(|file| source.folder.join(file));
        self.must_not_overwrite(files)?;
        self.output.as_deref().map_or(Ok(()), must_be_replaceable)?;
        let built = build_source(source, ToolOutput::Inherited, &mut |compiler| {
            words::say(&format!("compiler: {compiler}"));
        });
        let built = built.map_err(|error| match error {
            BuildError::Module(_) if source.language == Language::Module => {
                let failure = Failure::from(error);
                let path = self.folder.display();
                Failure { message: format!("`{path}`: {}", failure.message), ..failure }
            }
            error => error.into(),
        })?;
        Asked::new(&self.sandbox, &self.limits)?.describe(&built.bytes).map_err(|error| {
            let failure = Failure::from(error);
            let message = format!("`{}` cannot say what it is: {}", built.name, failure.message);
            Failure { message, ..failure }
        })?;
        self.write(&built.name, &built.bytes)
    }

    fn output(&self, name: &str) -> PathBuf {
        match &self.output {
            Some(path) => path.clone(),
            // The path at which the scorer's test expects it.
            None if self.watch => Saved::of(&self.folder).folder().join(format!("{name}.wasm")),
            None => PathBuf::from(format!("{name}.wasm")),
        }
    }

    /// Refuses to write a component over its own sources.
    fn must_not_overwrite(&self, sources: impl Iterator<Item = PathBuf>) -> Result<(), Failure> {
        for source in sources {
            let name = source.file_stem().unwrap_or_default().to_string_lossy();
            let (from, to) = (fs::canonicalize(&source), fs::canonicalize(self.output(&name)));
            if from.is_ok_and(|from| to.is_ok_and(|to| from == to)) {
                let source = source.display();
                return Err(Failure::new(format!("the component would replace `{source}`"))
                    .hint("name another file to write: --output FILE"));
            }
        }
        Ok(())
    }

    /// Makes the component of a script, and makes it describe itself, so that errors of the script are reported here.
    fn build_script(&self, script: &Reference) -> Result<PathBuf, Failure> {
        let name = script.default_name();
        must_be_replaceable(&self.output(&name))?;
        let component = setup::registry().resolve(script)?.component;
        let asked = Asked::new(&self.sandbox, &self.limits)?;
        asked.describe_script(&component).map_err(|failure| {
            let message = format!("script `{}`: {}", self.folder.display(), failure.message);
            Failure { message, ..failure }
        })?;
        self.write(&name, component.bytes()?)
    }

    fn write(&self, name: &str, component: &[u8]) -> Result<PathBuf, Failure> {
        let path = self.output(name);
        must_be_replaceable(&path)?;
        NewFile::create(&path, true)?.write(|out| Ok(out.write_all(component)?))?;
        let described = size_and_digest(name, component);
        words::say(&format!("{described}  {} -> {}", imports(component)?, path.display()));
        Ok(path)
    }

    fn build_all(&self, toolchain: &Toolchain) -> Result<Exit, Failure> {
        let gallery = self.folder.as_path();
        let asked = Asked::new(&self.sandbox, &self.limits)?;
        let before = gallery::Manifest::read(gallery).ok();
        let built = gallery::build(
            gallery,
            toolchain,
            // `--check` builds everything again, to compare it.
            before.as_ref().filter(|_| !self.check),
            ToolOutput::Inherited,
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

/// The script in the folder, if there is exactly one. Files with type declarations do not count.
fn script_in(folder: &Path) -> Option<PathBuf> {
    let is_script = |path: &PathBuf| {
        let written = path.to_string_lossy();
        Reference::parse(&written, Path::new("")).is_script() && !written.ends_with(".d.ts")
    };
    let files = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut scripts = files.filter(is_script);
    scripts.next().filter(|_| scripts.next().is_none())
}

/// A component may only replace another component, and not, for example, a source or a file that a source imports.
fn must_be_replaceable(path: &Path) -> Result<(), Failure> {
    let mut magic = [0; WASM_MAGIC.len()];
    let is_wasm = |mut file: File| file.read_exact(&mut magic).is_ok() && magic == *WASM_MAGIC;
    match path.metadata() {
        Ok(there) if there.is_file() && there.len() > 0 && !File::open(path).is_ok_and(is_wasm) => {
            Err(Failure::new(format!(
                "`{}` already exists and is not a WebAssembly file",
                path.display()
            ))
            .hint("name another file to write: --output FILE"))
        }
        // Writing reports any other error of the file.
        _ => Ok(()),
    }
}

fn toolchain() -> Result<Toolchain, Failure> {
    let toolchain = Toolchain::find()?;
    words::say(&format!("compiler: {}", toolchain.fingerprint()));
    Ok(toolchain)
}

/// Makes components describe themselves. All of their imports are granted, because there is no data for them to see.
struct Asked {
    sandbox: Sandbox,
    limits: Limits,
    runtime: tokio::runtime::Runtime,
}

impl Asked {
    fn new(sandbox: &SandboxArguments, limits: &LimitArguments) -> Result<Asked, Failure> {
        Ok(Asked {
            sandbox: sandbox.open(1, Capabilities::none())?,
            limits: limits.apply(Limits::default())?,
            runtime: setup::small_runtime()?,
        })
    }

    fn describe(&self, component: &[u8]) -> Result<ScorerInfo, ScoreError> {
        let component = ComponentBytes::new(component.to_vec());
        let describing = self.sandbox.describe(&component, &self.limits, Self::grants());
        self.runtime.block_on(describing)
    }

    fn grants() -> Grants {
        Grant::ALL.into_iter().collect()
    }

    /// Makes a script describe itself. It is not a mistake if the script needs a configuration to load.
    fn describe_script(&self, component: &ComponentBytes) -> Result<(), Failure> {
        let anatomy = Anatomy::read(component.bytes()?)?;
        let (sandbox, limits, grants) = (&self.sandbox, &self.limits, Self::grants());
        let describing = arguments::described(sandbox, component, &anatomy, limits, grants);
        Ok(self.runtime.block_on(describing).map(drop)?)
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

/// The imports of a component, as a short text.
fn imports(component: &[u8]) -> Result<String, Failure> {
    let imports = Anatomy::read(component)?.imports;
    Ok(match imports.is_empty() {
        true => "imports nothing".to_owned(),
        false => format!("imports {}", report::one_line(&imports.join(", "), MAX_SHOWN_IMPORTS)),
    })
}
