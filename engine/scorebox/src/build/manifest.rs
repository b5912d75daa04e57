//! The manifest of a gallery: its components, what each was built from and what it reports about itself, and where
//! their files are. It builds nothing.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{contract::ScorerInfo, digest::Digest, packing::unpack};

use super::{BuildError, Packages, whole_file::write_whole};

/// The dictionary for compressed components, in the same folder.
pub(super) const DICTIONARY_FILE: &str = "dictionary.zst";

/// The version of the manifest's format.
pub const MANIFEST_VERSION: u32 = 5;
/// The oldest version that can be read. It has no dictionary, and neither it nor version 4 has packages.
const OLDEST_VERSION: u32 = 3;

/// The content of a gallery's `dist/manifest.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Manifest {
    /// [`MANIFEST_VERSION`].
    pub version: u32,
    /// The compiler and its standard library; equal ones give equal bytes.
    pub compiler: String,
    /// Whether the components are compressed with zstd: `NAME.wasm.zst` instead of `NAME.wasm`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compressed: bool,
    /// The dictionary against which all compressed components are compressed: `dictionary.zst`. `None` if they have
    /// nothing in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dictionary: Option<ManifestDictionary>,
    /// The scorers, sorted by name.
    pub scorers: Vec<ManifestScorer>,
}

/// The dictionary of a gallery's components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ManifestDictionary {
    /// Its uncompressed size in bytes.
    pub bytes: u64,
    /// The digest of its uncompressed bytes.
    pub digest: Digest,
}

/// One scorer of a gallery.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ManifestScorer {
    /// The scorer's name, and the name of its file.
    pub name: String,
    /// The uncompressed size of the component in bytes.
    pub bytes: u64,
    /// The digest of the uncompressed component.
    pub digest: Digest,
    /// The digest of the sources from which it was built.
    pub sources: Digest,
    /// The packages that count in that digest; empty if all packages in Cargo.lock did.
    #[serde(default, skip_serializing_if = "Packages::is_empty")]
    pub packages: Packages,
    /// What it reports about itself.
    pub info: ScorerInfo,
    /// The example that it contains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<Box<RawValue>>,
}

impl Manifest {
    /// The path of a gallery's manifest.
    pub fn path(gallery: &Path) -> PathBuf {
        dist(gallery).join("manifest.json")
    }

    /// Reads the manifest of a gallery.
    ///
    /// # Errors
    /// If it is missing, or has another format.
    pub fn read(gallery: &Path) -> Result<Manifest, BuildError> {
        let path = Manifest::path(gallery);
        let text = fs::read_to_string(&path).map_err(BuildError::file(&path))?;
        let unexpected = |reason: String| BuildError::Unexpected { path: path.clone(), reason };
        let manifest: Manifest =
            serde_json::from_str(&text).map_err(|error| unexpected(error.to_string()))?;
        if !(OLDEST_VERSION..=MANIFEST_VERSION).contains(&manifest.version) {
            return Err(unexpected(format!("version {} of the format", manifest.version)));
        }
        Ok(manifest)
    }

    /// The path of a scorer's component.
    pub fn component_path(&self, gallery: &Path, name: &str) -> PathBuf {
        dist(gallery).join(component_file(name, self.compressed))
    }

    /// The component of a scorer, uncompressed.
    ///
    /// # Errors
    /// If it cannot be read, or is not the one in the manifest.
    pub fn component(&self, gallery: &Path, name: &str) -> Result<Vec<u8>, BuildError> {
        let path = self.component_path(gallery, name);
        let unexpected =
            |reason: &str| BuildError::Unexpected { path: path.clone(), reason: reason.to_owned() };
        let scorer = self.scorers.iter().find(|scorer| scorer.name == name);
        let scorer = scorer.ok_or_else(|| unexpected("the manifest does not list it"))?;
        let stored = fs::read(&path).map_err(BuildError::file(&path))?;
        let bytes = match self.compressed {
            false => stored,
            true => unpack(&stored, &self.dictionary(gallery)?, scorer.bytes)
                .ok_or_else(|| unexpected("it cannot be uncompressed"))?,
        };
        match Digest::of(&bytes) == scorer.digest {
            true => Ok(bytes),
            false => Err(unexpected("it is not the component that the manifest lists")),
        }
    }

    /// The dictionary of the components; empty if there is none.
    pub(super) fn dictionary(&self, gallery: &Path) -> Result<Vec<u8>, BuildError> {
        let Some(ManifestDictionary { bytes, digest }) = self.dictionary else {
            return Ok(Vec::new());
        };
        let path = dist(gallery).join(DICTIONARY_FILE);
        let stored = fs::read(&path).map_err(BuildError::file(&path))?;
        let dictionary = unpack(&stored, b"", bytes).filter(|it| Digest::of(it) == digest);
        let reason = "it is not the dictionary that the manifest lists".to_owned();
        dictionary.ok_or(BuildError::Unexpected { path, reason })
    }

    pub(super) fn write(&self, gallery: &Path) -> Result<(), BuildError> {
        let path = Manifest::path(gallery);
        let unexpected = |error: serde_json::Error| BuildError::Unexpected {
            path: path.clone(),
            reason: error.to_string(),
        };
        let text = serde_json::to_string_pretty(self).map_err(unexpected)? + "\n";
        write_whole(&path, text.as_bytes())
    }
}

/// The name of a component's file.
pub(super) fn component_file(name: &str, compressed: bool) -> String {
    if compressed { format!("{name}.wasm.zst") } else { format!("{name}.wasm") }
}

/// The folder with a gallery's components.
pub(super) fn dist(gallery: &Path) -> PathBuf {
    gallery.join("dist")
}
