//! A gallery: a folder with a crate for each of several scorers, and what they build to in its folder
//! `dist`, with a manifest: which sources and which compiler each was built from, and what it says of
//! itself. `guest-scorers/` is one. Embeds nothing; `registry` does.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{contract::ScorerInfo, digest::Digest};

use super::{BuildError, BuiltComponent, CargoOutput, Toolchain, build_guest, sources_digest};

/// The version of the manifest's format.
pub const MANIFEST_VERSION: u32 = 2;

/// What a gallery's `dist/manifest.json` says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`MANIFEST_VERSION`].
    pub version: u32,
    /// The compiler and its standard library; equal ones give equal bytes.
    pub compiler: String,
    /// The scorers, sorted by name.
    pub scorers: Vec<ManifestScorer>,
}

/// One scorer of a gallery.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestScorer {
    /// The scorer's name, and that of its file, `NAME.wasm`.
    pub name: String,
    /// Bytes of the component.
    pub bytes: u64,
    /// Digest of the component.
    pub digest: Digest,
    /// Digest of what it was built from.
    pub sources: Digest,
    /// What it says of itself.
    pub info: ScorerInfo,
}

impl Manifest {
    /// Where the manifest of a gallery is.
    pub fn path(gallery: &Path) -> PathBuf {
        dist(gallery).join("manifest.json")
    }

    /// Reads the manifest of a gallery.
    ///
    /// # Errors
    /// Where it is missing, or not of this format.
    pub fn read(gallery: &Path) -> Result<Manifest, BuildError> {
        let path = Manifest::path(gallery);
        let text = fs::read_to_string(&path).map_err(BuildError::file(&path))?;
        let unexpected = |reason: String| BuildError::Unexpected { path: path.clone(), reason };
        let manifest: Manifest =
            serde_json::from_str(&text).map_err(|error| unexpected(error.to_string()))?;
        if manifest.version != MANIFEST_VERSION {
            return Err(unexpected(format!("version {} of the format", manifest.version)));
        }
        Ok(manifest)
    }

    fn write(&self, gallery: &Path) -> Result<(), BuildError> {
        let path = Manifest::path(gallery);
        let unexpected = |error: serde_json::Error| BuildError::Unexpected {
            path: path.clone(),
            reason: error.to_string(),
        };
        let text = serde_json::to_string_pretty(self).map_err(unexpected)? + "\n";
        fs::write(&path, text).map_err(BuildError::file(&path))
    }
}

/// The names of the scorers of a gallery, sorted: its folders with a crate in them.
///
/// # Errors
/// Where the folder cannot be read.
pub fn names(gallery: &Path) -> Result<Vec<String>, BuildError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(gallery).map_err(BuildError::file(gallery))? {
        let entry = entry.map_err(BuildError::file(gallery))?;
        if entry.path().join("Cargo.toml").is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Builds all scorers of a gallery; `done` hears of each.
///
/// # Errors
/// Where one of them does not build.
pub fn build(
    gallery: &Path,
    toolchain: &Toolchain,
    output: CargoOutput,
    mut done: impl FnMut(&BuiltComponent),
) -> Result<Vec<BuiltComponent>, BuildError> {
    names(gallery)?
        .iter()
        .map(|name| {
            let built = build_guest(&gallery.join(name), toolchain, output)?;
            done(&built);
            Ok(built)
        })
        .collect()
}

/// Puts built components and their manifest in place; beside each component is what it says of itself.
///
/// # Errors
/// Where a file cannot be written, or the sources cannot be read.
pub fn install(
    gallery: &Path,
    toolchain: &Toolchain,
    components: Vec<(BuiltComponent, ScorerInfo)>,
) -> Result<Manifest, BuildError> {
    let folder = dist(gallery);
    fs::create_dir_all(&folder).map_err(BuildError::file(&folder))?;
    let mut scorers = Vec::new();
    for (component, info) in components {
        let path = folder.join(format!("{}.wasm", component.name));
        fs::write(&path, &component.bytes).map_err(BuildError::file(&path))?;
        scorers.push(ManifestScorer {
            name: component.name.clone(),
            bytes: component.bytes.len() as u64,
            digest: component.digest(),
            sources: sources_digest(gallery, &component.name)?,
            info,
        });
    }
    let manifest =
        Manifest { version: MANIFEST_VERSION, compiler: toolchain.fingerprint(), scorers };
    manifest.write(gallery)?;
    Ok(manifest)
}

/// How freshly built components differ from the committed ones: a sentence each.
pub fn differences(manifest: &Manifest, components: &[BuiltComponent]) -> Vec<String> {
    let built = |name: &str| components.iter().find(|component| component.name == name);
    let committed = |name: &str| manifest.scorers.iter().any(|scorer| scorer.name == name);
    let changed = manifest.scorers.iter().filter_map(|scorer| match built(&scorer.name) {
        None => Some(format!("`{}` is in dist, but has no sources", scorer.name)),
        Some(component) if component.digest() != scorer.digest => Some(format!(
            "`{}` builds to {}; dist has {}",
            scorer.name,
            component.digest().short(),
            scorer.digest.short()
        )),
        Some(_) => None,
    });
    let new = components
        .iter()
        .filter(|component| !committed(&component.name))
        .map(|component| format!("`{}` is not in dist", component.name));
    changed.chain(new).collect()
}

fn dist(gallery: &Path) -> PathBuf {
    gallery.join("dist")
}
