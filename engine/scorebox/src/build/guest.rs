//! Compiles one crate and makes a component from it. The bytes depend on the sources and the compiler, not on the
//! machine: paths are remapped, and the environment is not passed on.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use wasmparser::{Parser, Payload};

use crate::{
    contract::{EXAMPLE_SECTION, Example, ScorerInfo},
    digest::Digest,
};

use super::{
    BuildError, Packages, SharedBuilds, StandardLibrary, ToolOutput, Toolchain,
    cargo::{cargo, run},
    lean::lean,
    module_place::ModulePlace,
    names,
    package::{Package, must_be_a_crate},
    profile::{
        DESCRIBING_PROFILE, DESCRIBING_SETTINGS, GETRANDOM, INHERITED_PROFILE, PROFILE, SETTINGS,
        SETTINGS_OF_BOTH, small_packages, stack_flag,
    },
    rustc_wrapper::{FOLDER_CFG, Places},
    section::push_length,
    toolchain::TARGET,
};

/// Passes to the SDK's `export!` what is built: if empty, a component that only describes itself; otherwise the schema
/// of the configuration, which replaces the code that derives it.
const SCHEMA_VARIABLE: &str = "SCOREBOX_CONFIG_SCHEMA";
/// The largest schema, in bytes: Linux allows 128 KiB for a variable with its name, its equals sign and a zero.
const MAX_SCHEMA_BYTES: usize = (128 << 10) - SCHEMA_VARIABLE.len() - 2;
/// The prefix of the modules from which wasm-bindgen imports functions: those of a web page.
const PAGE_MODULES: &str = "__wbindgen";

/// A finished component.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BuiltComponent {
    /// The crate's name.
    pub name: String,
    /// The component.
    pub bytes: Vec<u8>,
    /// The example that it contains, as JSON.
    pub example: Option<String>,
    /// What it reports about itself, if it was asked during the build.
    pub info: Option<ScorerInfo>,
    /// The packages that it was compiled from, if it belongs to a gallery.
    pub packages: Packages,
    /// The digest of its sources, if it belongs to a gallery.
    pub sources: Option<Digest>,
}

impl BuiltComponent {
    pub(super) fn new(name: String, bytes: Vec<u8>) -> BuiltComponent {
        let packages = Packages::default();
        BuiltComponent { name, bytes, example: None, info: None, packages, sources: None }
    }

    /// The digest that identifies the component.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.bytes)
    }
}

/// Asks a component to describe itself; the error is for the author.
pub type Describe<'d> = &'d mut dyn FnMut(&[u8]) -> Result<ScorerInfo, String>;

/// Builds the crate in `folder`: in the shared folder, if there is one and the crate depends on no other crate of its
/// workspace; otherwise where cargo builds it.
///
/// A crate that uses the SDK is built twice: first as a component that can only describe itself, which `describe` asks;
/// then with the resulting schema as a constant, so that the component contains no code that derives a schema.
///
/// # Errors
/// If there is no such crate, it does not build, the result is not a component, or it cannot describe itself.
pub fn build_guest(
    folder: &Path,
    toolchain: &Toolchain,
    shared: Option<&SharedBuilds>,
    output: ToolOutput,
    describe: Describe<'_>,
) -> Result<BuiltComponent, BuildError> {
    let manifest = folder.join("Cargo.toml");
    must_be_a_crate(folder)?;
    fetch(&manifest, output)?;
    let package = Package::read(&manifest)?;
    let step = |profile, schema| Step { profile, schema, toolchain, shared, output };
    let info = if package.uses_sdk() {
        let module = step(DESCRIBING_PROFILE, Some("")).compile(&manifest, &package)?;
        let told = describe(&componentize(&package.name, &module)?);
        let name = package.name.clone();
        Some(told.map_err(|message| BuildError::Describe { name, message })?)
    } else {
        None
    };
    let schema = info.as_ref().and_then(|info| info.config_schema.as_deref());
    must_be_passed(&package.name, schema.unwrap_or_default())?;
    let module = step(PROFILE, schema).compile(&manifest, &package)?;
    let mut bytes = componentize(&package.name, &names::shorten(&lean(&module)?)?)?;
    let example = example(folder)?;
    if let Some(example) = &example {
        append_custom_section(&mut bytes, EXAMPLE_SECTION, example.as_bytes());
    }
    Ok(BuiltComponent { example, info, ..BuiltComponent::new(package.name, bytes) })
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

/// Downloads missing packages, so that the folders to remap exist.
fn fetch(manifest: &Path, output: ToolOutput) -> Result<(), BuildError> {
    let mut cargo = cargo();
    cargo.args(["fetch", "--quiet", "--manifest-path"]).arg(manifest);
    run(cargo, output).map(drop)
}

/// One of the two compilations of a crate.
struct Step<'s> {
    profile: &'s str,
    schema: Option<&'s str>,
    toolchain: &'s Toolchain,
    shared: Option<&'s SharedBuilds>,
    output: ToolOutput,
}

impl Step<'_> {
    /// Compiles the crate, and returns the module.
    fn compile(&self, manifest: &Path, package: &Package) -> Result<Vec<u8>, BuildError> {
        let Step { profile, schema, toolchain, shared, output } = *self;
        let is_kept = profile == PROFILE;
        let shares = shared.filter(|_| package.is_alone);
        let target_folder = shares.map_or(package.target_folder.as_path(), |it| it.target_folder());
        let _turn = shares.map(|shared| shared.turn(&package.library_file())).transpose()?;
        let flags = flags(package, toolchain, shared, is_kept);
        let place = ModulePlace::of(package, target_folder, profile);
        place.claim(Digest::of_parts([
            package.identity().as_bytes().as_slice(),
            toolchain.fingerprint().as_bytes(),
            flags.as_encoded_bytes(),
        ]))?;
        let mut cargo = cargo();
        cargo
            .args(["rustc", "--lib", "--target", TARGET, "--profile", profile, "--manifest-path"])
            .arg(manifest)
            .arg("--target-dir")
            .arg(target_folder)
            .env("RUSTC", &toolchain.rustc)
            .env("CARGO_ENCODED_RUSTFLAGS", flags);
        if let Some(shared) = shared {
            let places = Places::of(package, is_kept);
            let wrapped = places.wrap(&mut cargo, &shared.program);
            wrapped.map_err(|error| BuildError::Metadata(error.to_string()))?;
        }
        match schema {
            Some(schema) => cargo.env(SCHEMA_VARIABLE, schema),
            None => cargo.env_remove(SCHEMA_VARIABLE),
        };
        let inherits = format!("inherits=\"{INHERITED_PROFILE}\"");
        let own: &[&str] = if is_kept { &SETTINGS } else { &DESCRIBING_SETTINGS };
        let small = small_packages(|name| is_kept && package.dependencies.contains(name));
        let settings = SETTINGS_OF_BOTH.iter().chain(own).map(|setting| (*setting).to_owned());
        for setting in settings.chain([inherits]).chain(small) {
            cargo.arg("--config").arg(format!("profile.{profile}.{setting}"));
        }
        if let StandardLibrary::FromSource { linker } = &toolchain.library {
            // Building std is an unstable option of cargo; the sources belong to exactly this compiler.
            cargo
                .args(["-Z", "build-std=std,panic_abort"])
                .env("RUSTC_BOOTSTRAP", "1")
                .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
        }
        if shares.is_some() {
            let folder = package.workspace.to_string_lossy();
            let folder = Digest::of(folder.as_bytes()).short();
            cargo.arg("--").arg(format!("{FOLDER_CFG}\"{folder}\""));
        }
        run(cargo, output)?;
        place.read()
    }
}

/// The compiler's flags, with cargo's separator.
///
/// Paths are remapped only in the component that is kept: errors in a crate appear when building the one that describes
/// itself too, and the author wants to open the files that the compiler names. In the shared folder, all crates have
/// the same flags, because otherwise cargo would compile what they have in common again: the wrapper adds the flags for
/// a crate's own folders.
fn flags(
    package: &Package,
    toolchain: &Toolchain,
    shared: Option<&SharedBuilds>,
    is_kept: bool,
) -> OsString {
    let mut flags: Vec<OsString> = vec![GETRANDOM.into(), stack_flag().into()];
    if !is_kept {
        return flags.join(OsString::from("\u{1f}").as_os_str());
    }
    let mut remap = |from: &Path, to: &str| {
        let mut flag = OsString::from("--remap-path-prefix=");
        flag.push(from);
        flag.push(format!("={to}"));
        flags.push(flag);
    };
    if shared.is_none() {
        remap(&package.workspace, "/src");
        for (name, folder) in &package.outside {
            remap(folder, &format!("/{name}"));
        }
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

fn must_be_passed(name: &str, schema: &str) -> Result<(), BuildError> {
    let (name, bytes, most) = (name.to_owned(), schema.len(), MAX_SCHEMA_BYTES);
    if bytes > most { Err(BuildError::LargeSchema { name, bytes, most }) } else { Ok(()) }
}

fn componentize(name: &str, module: &[u8]) -> Result<Vec<u8>, BuildError> {
    let encode =
        || wit_component::ComponentEncoder::default().validate(true).module(module)?.encode();
    encode().map_err(|error| match needs_a_page(module) {
        true => BuildError::NeedsAPage(name.to_owned()),
        false => BuildError::Component(format!("{error:#}")),
    })
}

/// Whether a module imports what wasm-bindgen gets from a web page.
fn needs_a_page(module: &[u8]) -> bool {
    let sections = Parser::new(0).parse_all(module).filter_map(|section| match section {
        Ok(Payload::ImportSection(imports)) => Some(imports.into_imports()),
        _ => None,
    });
    let mut imports = sections.flatten().flatten();
    imports.any(|import| import.module.starts_with(PAGE_MODULES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::{Advice, Advised as _, Build};

    #[test]
    fn a_module_with_functions_of_a_page_is_refused_with_the_reason() {
        let module = |from: &str| {
            wat::parse_str(format!(r#"(module (import "{from}" "f" (func)))"#)).unwrap()
        };
        let refused = |from| componentize("mine", &module(from)).unwrap_err();
        for from in ["__wbindgen_placeholder__", "__wbindgen_externref_xform__"] {
            let error = refused(from);
            assert_eq!(
                error.to_string(),
                "`mine` cannot be a scorer: a crate that it depends on uses wasm-bindgen, which needs a browser"
            );
            assert_eq!(error.advice(), Some(Advice::Build(Build::WithoutPage)));
        }
        assert!(matches!(refused("env"), BuildError::Component(_)));
    }

    #[test]
    fn a_schema_that_no_variable_holds_is_refused_with_its_size() {
        assert!(must_be_passed("mine", &"x".repeat(MAX_SCHEMA_BYTES)).is_ok());
        let error = must_be_passed("mine", &"x".repeat(MAX_SCHEMA_BYTES + 1)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the schema of the configuration of `mine` has 131049 bytes, and 131048 are the most"
        );
        assert_eq!(error.advice(), Some(Advice::Build(Build::WithSmallSchema)));
    }

    /// Tests the limit against the system.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_largest_schema_can_be_passed() {
        let starts = |bytes: usize| {
            let mut command = std::process::Command::new("true");
            command.env(SCHEMA_VARIABLE, "x".repeat(bytes)).status().is_ok()
        };
        assert!(starts(MAX_SCHEMA_BYTES) && !starts(MAX_SCHEMA_BYTES + 1));
    }
}
