//! Compiles one crate and makes a component of it. The bytes depend on the sources and the compiler,
//! not on the machine: paths are remapped, nothing of the environment is taken along.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde::Deserialize;
use serde_json::Value;

use crate::{
    contract::{EXAMPLE_SECTION, Example},
    digest::Digest,
};

use super::{BuildError, StandardLibrary, Toolchain, toolchain::TARGET};

/// The profile that guests are built with, passed to cargo so that no author has to write it.
const PROFILE: &str = "scorebox-guest";
/// Bytes of a guest's stack: deep enough for JSON nested as deep as serde_json reads it.
const STACK_BYTES: u32 = 256 << 10;

/// Where cargo's own words go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CargoOutput {
    /// To this process's standard error.
    Inherited,
    /// Into the error, if there is one.
    Captured,
}

/// A finished component.
#[derive(Clone, Debug)]
pub struct BuiltComponent {
    /// The crate's name.
    pub name: String,
    /// The component.
    pub bytes: Vec<u8>,
}

impl BuiltComponent {
    /// The digest that names the component.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.bytes)
    }
}

/// Builds the crate in `folder`.
///
/// # Errors
/// Where there is no such crate, it does not build, or what comes out is no component.
pub fn build_guest(
    folder: &Path,
    toolchain: &Toolchain,
    output: CargoOutput,
) -> Result<BuiltComponent, BuildError> {
    let manifest = folder.join("Cargo.toml");
    if !manifest.is_file() {
        return Err(BuildError::NotACrate(folder.to_owned()));
    }
    fetch(&manifest, output)?;
    let package = Package::read(&manifest)?;
    compile(&manifest, &package, toolchain, output)?;
    let module = package
        .target_folder
        .join(TARGET)
        .join(PROFILE)
        .join(format!("{}.wasm", package.library.replace('-', "_")));
    let module = fs::read(&module).map_err(BuildError::file(&module))?;
    let mut bytes = componentize(&module)?;
    if let Some(example) = example(folder)? {
        append_custom_section(&mut bytes, EXAMPLE_SECTION, example.as_bytes());
    }
    Ok(BuiltComponent { name: package.name, bytes })
}

/// The crate's `example.json` in one line, if it has one.
fn example(folder: &Path) -> Result<Option<String>, BuildError> {
    let path = folder.join("example.json");
    if !path.is_file() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).map_err(BuildError::file(&path))?;
    let unexpected = |reason: String| BuildError::Unexpected { path: path.clone(), reason };
    let example = Example::parse(&text).map_err(unexpected)?;
    let case: Value =
        serde_json::from_str(example.case.get()).map_err(|error| unexpected(error.to_string()))?;
    let line = serde_json::json!({
        "config": example.config, "case": case, "score": example.score,
    });
    Ok(Some(line.to_string()))
}

/// Adds a custom section to the end of a component: id 0, size, name, content (the binary format's
/// section 5.5.3).
fn append_custom_section(component: &mut Vec<u8>, name: &str, content: &[u8]) {
    let mut section = Vec::new();
    push_length(&mut section, name.len());
    section.extend_from_slice(name.as_bytes());
    section.extend_from_slice(content);
    component.push(0);
    push_length(component, section.len());
    component.extend_from_slice(&section);
}

/// Unsigned LEB128.
fn push_length(bytes: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        bytes.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
}

/// What cargo knows of a crate.
struct Package {
    name: String,
    library: String,
    workspace: PathBuf,
    target_folder: PathBuf,
    /// The folders of path dependencies outside the workspace, with their crates' names.
    outside: Vec<(String, PathBuf)>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<MetadataPackage>,
    workspace_root: PathBuf,
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct MetadataPackage {
    name: String,
    manifest_path: PathBuf,
    source: Option<String>,
    targets: Vec<MetadataTarget>,
}

#[derive(Deserialize)]
struct MetadataTarget {
    name: String,
    crate_types: Vec<String>,
}

impl Metadata {
    fn folders_outside(&self) -> Vec<(String, PathBuf)> {
        let paths = self.packages.iter().filter(|package| package.source.is_none());
        paths
            .filter_map(|package| Some((&package.name, package.manifest_path.parent()?)))
            .filter(|(_, folder)| !folder.starts_with(&self.workspace_root))
            .map(|(name, folder)| (name.clone(), folder.to_owned()))
            .collect()
    }
}

impl Package {
    fn read(manifest: &Path) -> Result<Package, BuildError> {
        let mut cargo = cargo();
        cargo.args(["metadata", "--format-version=1", "--manifest-path"]).arg(manifest);
        let answer = run(cargo, CargoOutput::Captured)?;
        let metadata: Metadata = serde_json::from_slice(&answer)
            .map_err(|error| BuildError::Metadata(error.to_string()))?;
        let manifest = fs::canonicalize(manifest).map_err(BuildError::file(manifest))?;
        let outside = metadata.folders_outside();
        let package = metadata
            .packages
            .into_iter()
            .find(|package| {
                fs::canonicalize(&package.manifest_path).is_ok_and(|path| path == manifest)
            })
            .ok_or_else(|| BuildError::NotACrate(manifest.clone()))?;
        let library = package
            .targets
            .into_iter()
            .find(|target| target.crate_types.iter().any(|kind| kind == "cdylib"))
            .ok_or_else(|| BuildError::NotACdylib(package.name.clone()))?;
        Ok(Package {
            name: package.name,
            library: library.name,
            workspace: metadata.workspace_root,
            target_folder: metadata.target_directory,
            outside,
        })
    }
}

/// Downloads what is missing, so that the folders that have to be remapped are there.
fn fetch(manifest: &Path, output: CargoOutput) -> Result<(), BuildError> {
    let mut cargo = cargo();
    cargo.args(["fetch", "--quiet", "--manifest-path"]).arg(manifest);
    run(cargo, output).map(drop)
}

fn compile(
    manifest: &Path,
    package: &Package,
    toolchain: &Toolchain,
    output: CargoOutput,
) -> Result<(), BuildError> {
    let mut cargo = cargo();
    cargo
        .args(["build", "--lib", "--target", TARGET, "--profile", PROFILE, "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(&package.target_folder)
        .env("RUSTC", &toolchain.rustc)
        .env("CARGO_ENCODED_RUSTFLAGS", flags(package, toolchain));
    for setting in [
        "inherits=\"release\"",
        "opt-level=3",
        "lto=true",
        "codegen-units=1",
        "panic=\"abort\"",
        "debug=false",
        // Function names stay: a trap's backtrace is made of them.
        "strip=\"debuginfo\"",
        "incremental=false",
    ] {
        cargo.arg("--config").arg(format!("profile.{PROFILE}.{setting}"));
    }
    if let StandardLibrary::FromSource { linker } = &toolchain.library {
        // Building std is an unstable option of cargo; the sources belong to this very compiler.
        cargo
            .args(["-Z", "build-std=std,panic_abort"])
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
    }
    run(cargo, output).map(drop)
}

/// The compiler's flags, separated as cargo wants them.
fn flags(package: &Package, toolchain: &Toolchain) -> OsString {
    let mut flags: Vec<OsString> = vec![
        "--cfg=getrandom_backend=\"custom\"".into(),
        format!("-Clink-arg=-zstack-size={STACK_BYTES}").into(),
    ];
    let mut remap = |from: &Path, to: &str| {
        let mut flag = OsString::from("--remap-path-prefix=");
        flag.push(from);
        flag.push(format!("={to}"));
        flags.push(flag);
    };
    remap(&package.workspace, "/src");
    for (name, folder) in &package.outside {
        remap(folder, &format!("/{name}"));
    }
    remap(&toolchain.sysroot, "/rust");
    for folder in registry_folders() {
        // The folder is named after the registry's host.
        remap(&folder, "/registry");
    }
    flags.join(OsString::from("\u{1f}").as_os_str())
}

fn registry_folders() -> Vec<PathBuf> {
    let home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let sources = home.map(|home| home.join("registry/src"));
    let folders = sources.into_iter().filter_map(|sources| fs::read_dir(sources).ok());
    folders.flatten().flatten().map(|folder| folder.path()).collect()
}

fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What an outer cargo or the user set for native code is not meant for guests.
    for variable in ["RUSTFLAGS", "CARGO_BUILD_TARGET", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"]
    {
        cargo.env_remove(variable);
    }
    cargo
}

fn run(mut command: Command, output: CargoOutput) -> Result<Vec<u8>, BuildError> {
    if output == CargoOutput::Inherited {
        command.stderr(Stdio::inherit());
    }
    let program = command.get_program().to_string_lossy().into_owned();
    let answer = command.output().map_err(|source| BuildError::CannotRun { program, source })?;
    if answer.status.success() {
        return Ok(answer.stdout);
    }
    let detail = String::from_utf8_lossy(&answer.stderr).trim().to_owned();
    Err(BuildError::Cargo { detail: (!detail.is_empty()).then_some(detail) })
}

fn componentize(module: &[u8]) -> Result<Vec<u8>, BuildError> {
    let encode =
        || wit_component::ComponentEncoder::default().validate(true).module(module)?.encode();
    encode().map_err(|error| BuildError::Component(format!("{error:#}")))
}
