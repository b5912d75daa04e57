//! The digest of everything that a guest is built from: its crate, the crates of its workspace that it depends on, the
//! contract, the locked versions of the packages that are compiled into it, and the workspace's settings for compiling
//! them. Tests, examples and benches do not count. It does not build.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::digest::Digest;

use super::{
    BuildError,
    profile::{self, PROFILES},
};

/// Files and folders of a crate that are not in its component.
const NOT_BUILT: [&str; 5] = ["target", "tests", "tests.rs", "examples", "benches"];
/// The tables of a Cargo.toml with the dependencies of a component.
const DEPENDENCIES: [&str; 2] = ["dependencies", "build-dependencies"];

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    #[serde(default)]
    checksum: String,
    #[serde(default)]
    dependencies: Vec<String>,
}

/// The packages that a component is compiled from, each as `name version`.
///
/// Cargo.lock contains more than that: it has what a package needs with the features that any crate of the workspace
/// enables, on any machine. Only cargo knows what is compiled, so it is asked when a component is built, and the
/// gallery's manifest keeps the answer, as one text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Packages(BTreeSet<String>);

impl Packages {
    /// Whether the packages are unknown: then all packages in Cargo.lock count.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn has(&self, package: &Locked) -> bool {
        self.is_empty() || self.0.contains(&format!("{} {}", package.name, package.version))
    }

    /// Whether a profile's settings for `spec` (`name`, `name@version`, `*`, an address) can apply to one of them.
    pub(super) fn may_have(&self, spec: &str) -> bool {
        let name = spec.split_once('@').map_or(spec, |(name, _)| name);
        let is_name =
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        let is_listed = |package: &String| package.split(' ').next() == Some(name);
        self.is_empty() || !is_name || self.0.iter().any(is_listed)
    }
}

impl FromIterator<String> for Packages {
    fn from_iter<I: IntoIterator<Item = String>>(packages: I) -> Packages {
        Packages(packages.into_iter().collect())
    }
}

impl From<String> for Packages {
    fn from(text: String) -> Packages {
        text.split(", ").filter(|package| !package.is_empty()).map(str::to_owned).collect()
    }
}

impl From<Packages> for String {
    fn from(packages: Packages) -> String {
        Vec::from_iter(packages.0).join(", ")
    }
}

/// The digest of everything that the crate `name` of a gallery is built from. Its workspace is the nearest folder above
/// with a Cargo.lock; crates and the contract count if they are part of it. Of the packages in Cargo.lock, those in
/// `compiled` count: with the same manifests, they change only if the version of one of them does.
///
/// # Errors
/// If a file cannot be read; [`BuildError::NoLock`]; or if Cargo.lock does not list the crate.
pub fn sources_digest(
    gallery: &Path,
    name: &str,
    compiled: &Packages,
) -> Result<Digest, BuildError> {
    let gallery = fs::canonicalize(gallery).map_err(BuildError::file(gallery))?;
    let workspace = gallery
        .ancestors()
        .find(|folder| folder.join("Cargo.lock").is_file())
        .ok_or_else(|| BuildError::NoLock(gallery.clone()))?;
    let root = manifest(workspace)?;
    let mut sources = Sources::of(workspace, &root, &gallery.join(name))?;
    let mut parts: Vec<Vec<u8>> = Vec::new();
    let contract = workspace.join("wit");
    if contract.is_dir() {
        sources.folders.insert(contract);
    }
    for folder in &sources.folders {
        for file in files(folder)? {
            let path = file.strip_prefix(workspace).unwrap_or(&file);
            parts.push(path.to_string_lossy().replace('\\', "/").into_bytes());
            parts.push(fs::read(&file).map_err(BuildError::file(&file))?);
        }
    }
    parts.extend(sources.inherited.into_iter().map(String::into_bytes));
    parts.extend(profile_settings(&root, compiled).into_iter().map(String::into_bytes));
    for locked in locked(&workspace.join("Cargo.lock"), &sources.outside, compiled)? {
        parts.push(locked.into_bytes());
    }
    Ok(Digest::of_parts(parts.iter().map(Vec::as_slice)))
}

/// What is in the manifests of the crates of one workspace that make up a guest.
#[derive(Default)]
struct Sources {
    /// The crates' folders.
    folders: BTreeSet<PathBuf>,
    /// The lines of the workspace's manifest that they inherit.
    inherited: BTreeSet<String>,
    /// The names of their dependencies outside the workspace.
    outside: BTreeSet<String>,
}

impl Sources {
    fn of(workspace: &Path, root: &Table, crate_folder: &Path) -> Result<Sources, BuildError> {
        let shared = root.get("workspace").and_then(Value::as_table);
        let shared_dependencies = shared.and_then(|shared| shared.get("dependencies"));
        let mut sources = Sources::default();
        if let Some(package) = shared.and_then(|shared| shared.get("package")) {
            sources.inherited.insert(format!("package = {package}"));
        }
        let mut waiting = vec![crate_folder.to_owned()];
        while let Some(folder) = waiting.pop() {
            if !sources.folders.insert(folder.clone()) {
                continue;
            }
            let manifest = manifest(&folder)?;
            // The sources may be in another crate's folder.
            let library = manifest.get("lib").and_then(|library| library.get("path")?.as_str());
            if let Some(library) = library.and_then(|path| fs::canonicalize(folder.join(path)).ok())
                && let Some(other) = library.ancestors().find(|it| it.join("Cargo.toml").is_file())
                && other.starts_with(workspace)
            {
                waiting.push(other.to_owned());
            }
            for (name, written) in dependencies(&manifest) {
                let inherits = written.get("workspace").and_then(Value::as_bool) == Some(true);
                let shared = shared_dependencies.and_then(|shared| shared.get(&name));
                let (written, base) = match shared {
                    Some(shared) if inherits => {
                        sources.inherited.insert(format!("{name} = {shared}"));
                        (shared.clone(), workspace)
                    }
                    _ => (written, folder.as_path()),
                };
                let path = written.get("path").and_then(Value::as_str).map(|path| base.join(path));
                match path.and_then(|path| fs::canonicalize(path).ok()) {
                    Some(path) if path.starts_with(workspace) => waiting.push(path),
                    _ => {
                        let package = written.get("package").and_then(Value::as_str);
                        sources.outside.insert(package.unwrap_or(&name).to_owned());
                    }
                }
            }
        }
        Ok(sources)
    }
}

/// The settings for compiling a guest: those of all guests, and those of the workspace's manifest for their profiles,
/// for all packages and for those that are compiled. Settings for build scripts do not affect the bytes.
fn profile_settings(root: &Table, compiled: &Packages) -> Vec<String> {
    let profiles = root.get("profile").and_then(Value::as_table);
    let mut settings = profile::settings(|name| compiled.may_have(name));
    for name in PROFILES {
        let profile = profiles.and_then(|profiles| profiles.get(name)).and_then(Value::as_table);
        for (key, value) in profile.into_iter().flatten() {
            match (key.as_str(), value.as_table()) {
                ("build-override", _) => {}
                ("package", Some(packages)) => {
                    let counting = packages.iter().filter(|(spec, _)| compiled.may_have(spec));
                    settings.extend(counting.map(|(spec, set)| format!("{name}.{spec}: {set}")));
                }
                _ => settings.push(format!("{name}.{key} = {value}")),
            }
        }
    }
    settings
}

/// The dependencies in a manifest, for any target, with their values.
fn dependencies(manifest: &Table) -> Vec<(String, Value)> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let targets = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    let mut all = Vec::new();
    for table in targets.chain([manifest]) {
        for key in DEPENDENCIES {
            let listed = table.get(key).and_then(Value::as_table).into_iter().flatten();
            all.extend(listed.map(|(name, written)| (name.clone(), written.clone())));
        }
    }
    all
}

fn manifest(folder: &Path) -> Result<Table, BuildError> {
    let path = folder.join("Cargo.toml");
    let text = fs::read_to_string(&path).map_err(BuildError::file(&path))?;
    text.parse().map_err(|error: toml::de::Error| BuildError::Unexpected {
        path,
        reason: error.to_string(),
    })
}

/// All files below a folder from which something is built, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).map_err(BuildError::file(&folder))? {
            let path = entry.map_err(BuildError::file(&folder))?.path();
            if path.file_name().is_some_and(|name| NOT_BUILT.iter().any(|not| name == *not)) {
                continue;
            }
            match path.is_dir() {
                true => waiting.push(path),
                false => found.push(path),
            }
        }
    }
    found.sort();
    Ok(found)
}

/// `name version checksum` of these packages and of all their dependencies, sorted, if they are compiled.
fn locked(
    lock: &Path,
    names: &BTreeSet<String>,
    compiled: &Packages,
) -> Result<BTreeSet<String>, BuildError> {
    let unexpected = |reason: String| BuildError::Unexpected { path: lock.to_owned(), reason };
    let text = fs::read_to_string(lock).map_err(BuildError::file(lock))?;
    let parsed: Lock = toml::from_str(&text).map_err(|error| unexpected(error.to_string()))?;
    let mut by_name: BTreeMap<&str, Vec<&Locked>> = BTreeMap::new();
    for package in &parsed.package {
        by_name.entry(&package.name).or_default().push(package);
    }
    if let Some(unknown) = names.iter().find(|name| !by_name.contains_key(name.as_str())) {
        return Err(unexpected(format!("it does not know the package `{unknown}`")));
    }
    let mut seen = BTreeSet::new();
    let mut waiting: Vec<String> = names.iter().cloned().collect();
    while let Some(wanted) = waiting.pop() {
        // `name`, or `name version` if several versions are locked.
        let (name, version) = wanted
            .split_once(' ')
            .map_or((wanted.as_str(), None), |(name, rest)| (name, rest.split(' ').next()));
        for package in by_name.get(name).into_iter().flatten() {
            if version.is_none_or(|version| version == package.version)
                && compiled.has(package)
                && seen.insert(format!("{} {} {}", package.name, package.version, package.checksum))
            {
                waiting.extend(package.dependencies.iter().cloned());
            }
        }
    }
    Ok(seen)
}

#[cfg(test)]
mod tests;
