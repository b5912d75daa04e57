//! The digest of all that a guest is built from: its crate, the SDK, the contract, and the locked
//! versions of what they depend on. Does not build.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::digest::Digest;

use super::BuildError;

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

/// The digest of everything that the crate `name` of a gallery is built from. Its workspace is the
/// nearest folder above with a Cargo.lock; the SDK and the contract count where they are part of that.
///
/// # Errors
/// Where a file cannot be read, or Cargo.lock does not know the crate.
pub fn sources_digest(gallery: &Path, name: &str) -> Result<Digest, BuildError> {
    let gallery = fs::canonicalize(gallery).map_err(BuildError::file(gallery))?;
    let workspace = gallery
        .ancestors()
        .find(|folder| folder.join("Cargo.lock").is_file())
        .ok_or_else(|| BuildError::NotACrate(gallery.clone()))?;
    let mut parts: Vec<Vec<u8>> = Vec::new();
    let shared = [workspace.join("sdk/rust"), workspace.join("wit")];
    let folders = shared.into_iter().filter(|folder| folder.is_dir()).chain([gallery.join(name)]);
    for folder in folders {
        for file in files(&folder)? {
            let path = file.strip_prefix(workspace).unwrap_or(&file);
            parts.push(path.to_string_lossy().replace('\\', "/").into_bytes());
            parts.push(fs::read(&file).map_err(BuildError::file(&file))?);
        }
    }
    for locked in dependencies(&workspace.join("Cargo.lock"), name)? {
        parts.push(locked.into_bytes());
    }
    Ok(Digest::of_parts(parts.iter().map(Vec::as_slice)))
}

/// All files below a folder, sorted; what cargo writes itself is left out.
fn files(folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).map_err(BuildError::file(&folder))? {
            let path = entry.map_err(BuildError::file(&folder))?.path();
            let generated = path.file_name().is_some_and(|name| name == "target");
            match path.is_dir() {
                true if !generated => waiting.push(path),
                true => {}
                false => found.push(path),
            }
        }
    }
    found.sort();
    Ok(found)
}

/// `name version checksum` of everything that a package depends on, sorted.
fn dependencies(lock: &Path, name: &str) -> Result<BTreeSet<String>, BuildError> {
    let unexpected = |reason: String| BuildError::Unexpected { path: lock.to_owned(), reason };
    let text = fs::read_to_string(lock).map_err(BuildError::file(lock))?;
    let parsed: Lock = toml::from_str(&text).map_err(|error| unexpected(error.to_string()))?;
    let mut by_name: BTreeMap<&str, Vec<&Locked>> = BTreeMap::new();
    for package in &parsed.package {
        by_name.entry(&package.name).or_default().push(package);
    }
    if !by_name.contains_key(name) {
        return Err(unexpected(format!("it does not know the package `{name}`")));
    }
    let mut seen = BTreeSet::new();
    let mut waiting = vec![name.to_owned()];
    while let Some(wanted) = waiting.pop() {
        // `name`, or `name version` where several versions are locked.
        let (name, version) = wanted
            .split_once(' ')
            .map_or((wanted.as_str(), None), |(name, rest)| (name, rest.split(' ').next()));
        for package in by_name.get(name).into_iter().flatten() {
            if version.is_none_or(|version| version == package.version)
                && seen.insert(format!("{} {} {}", package.name, package.version, package.checksum))
            {
                waiting.extend(package.dependencies.iter().cloned());
            }
        }
    }
    Ok(seen)
}
