//! Defines the documents of a bundle's image layout: index, manifest and configuration, as in the OCI Image Format
//! Specification 1.1. Reads no file.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use scorebox::digest::Digest;
use serde::{Deserialize, Serialize};

use crate::artifact::{Blob, COMPONENT_TYPE, MANIFEST_TYPE, TITLE, json};

use super::{Bundle, Carried};

/// The file that identifies a layout.
pub(super) const LAYOUT: &str = "oci-layout";
/// The content of that file.
pub(super) const MARK: &str = r#"{"imageLayoutVersion":"1.0.0"}"#;
/// The file that lists the content of a layout.
pub(super) const INDEX: &str = "index.json";
/// The folder of the blobs.
pub(super) const BLOBS: &str = "blobs/sha256/";

const INDEX_TYPE: &str = "application/vnd.oci.image.index.v1+json";
/// The type that distinguishes a bundle from any other layout.
pub(super) const BUNDLE_TYPE: &str = "application/vnd.scorebox.bundle.config+json";
const TOML_TYPE: &str = "application/toml";
const JSON_TYPE: &str = "application/json";

/// The version of the format.
pub(super) const VERSION: u64 = 1;

/// A blob with its type.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) media_type: &'static str,
    pub(super) blob: Blob,
}

/// The path of a blob in a layout.
pub(super) fn blob_path(digest: Digest) -> String {
    format!("{BLOBS}{digest}")
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Mark {
    pub(super) image_layout_version: String,
}

/// The reference to a blob, with its size.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor {
    pub(super) media_type: String,
    #[serde(with = "crate::named_digest")]
    pub(super) digest: Digest,
    pub(super) size: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Index {
    schema_version: u64,
    #[serde(default)]
    media_type: String,
    pub(super) manifests: Vec<Descriptor>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    schema_version: u64,
    #[serde(default)]
    media_type: String,
    pub(super) config: Descriptor,
    #[serde(default)]
    pub(super) layers: Vec<Descriptor>,
    #[serde(default)]
    pub(super) annotations: BTreeMap<String, String>,
}

/// The version of a configuration, whatever else it contains.
#[derive(Debug, Deserialize)]
pub(super) struct Versioned {
    pub(super) version: u64,
}

/// The content of a bundle, with its parts by their digests.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    version: u64,
    pub(super) scorebox: String,
    pub(super) suite: String,
    pub(super) files: BTreeMap<String, Named>,
    pub(super) variables: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lock: Option<Named>,
    pub(super) components: BTreeMap<String, Named>,
    /// The digests of the built-in scorers that the suite uses.
    pub(super) builtins: BTreeMap<String, Named>,
}

/// A digest in the format of registries.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Named(#[serde(with = "crate::named_digest")] pub(super) Digest);

/// All parts: suite files, the lock, and components in the order of their digests.
pub(super) fn parts(bundle: &Bundle) -> Vec<Part> {
    let is_json = |path: &str| path.ends_with(".json");
    let text = |media_type, text: &str| Part { media_type, blob: blob_of(text) };
    let files = bundle
        .files
        .iter()
        .map(|(path, file)| text(if is_json(path) { JSON_TYPE } else { TOML_TYPE }, file));
    let lock = bundle.lock.iter().map(|lock| text(TOML_TYPE, lock));
    let components: BTreeMap<Digest, Part> = bundle
        .components
        .values()
        .filter_map(|component| match component {
            Carried::BuiltIn(_) => None,
            Carried::Here(bytes) => {
                let blob = Blob::of(bytes.clone());
                Some((blob.digest, Part { media_type: COMPONENT_TYPE, blob }))
            }
        })
        .collect();
    let mut seen = BTreeSet::new();
    let all = files.chain(lock).chain(components.into_values());
    all.filter(|part| seen.insert(part.blob.digest)).collect()
}

fn blob_of(text: &str) -> Blob {
    Blob::of(text.as_bytes().to_vec().into())
}

pub(super) fn config(bundle: &Bundle) -> Blob {
    let Bundle { scorebox, suite, files, variables, lock, components, .. } = bundle.clone();
    let (mut here, mut builtins) = (BTreeMap::new(), BTreeMap::new());
    for (name, component) in components {
        match component {
            Carried::BuiltIn(digest) => builtins.insert(name, Named(digest)),
            Carried::Here(bytes) => here.insert(name, Named(Digest::of(&bytes))),
        };
    }
    let digest = |text: &str| Named(Digest::of(text.as_bytes()));
    Blob::of(json(&Config {
        version: VERSION,
        scorebox,
        suite,
        files: files.into_iter().map(|(path, text)| (path, digest(&text))).collect(),
        variables,
        lock: lock.as_deref().map(digest),
        components: here,
        builtins,
    }))
}

pub(super) fn manifest(bundle: &Bundle, config: &Blob, parts: &[Part]) -> Blob {
    let layers = parts.iter().map(|part| described(&part.blob, part.media_type));
    Blob::of(json(&Manifest {
        schema_version: 2,
        media_type: MANIFEST_TYPE.to_owned(),
        config: described(config, BUNDLE_TYPE),
        layers: layers.collect(),
        annotations: [(TITLE.to_owned(), bundle.name.clone())].into(),
    }))
}

pub(super) fn index(manifest: &Blob) -> Bytes {
    json(&Index {
        schema_version: 2,
        media_type: INDEX_TYPE.to_owned(),
        manifests: vec![described(manifest, MANIFEST_TYPE)],
    })
}

fn described(blob: &Blob, media_type: &str) -> Descriptor {
    let size = blob.bytes.len() as u64;
    Descriptor { media_type: media_type.to_owned(), digest: blob.digest, size }
}
