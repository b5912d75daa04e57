//! Defines a component as a registry stores it, in the Wasm OCI Artifact layout of the CNCF: a configuration, one layer
//! with the component, and a manifest that names both by digest. The same component and annotations produce the same
//! bytes.

use std::{collections::BTreeMap, str::FromStr as _};

use bytes::Bytes;
use scorebox::digest::Digest;
use serde::{Deserialize, Serialize};

/// The most bytes of a manifest that are read or written.
pub const MAX_MANIFEST_BYTES: usize = 1 << 20;

pub(crate) const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG_TYPE: &str = "application/vnd.wasm.config.v0+json";
pub(crate) const COMPONENT_TYPE: &str = "application/wasm";

/// The title of an artifact; for a layer, the name of the file that clients write it to.
pub(crate) const TITLE: &str = "org.opencontainers.image.title";

/// The layout requires a time. The real time would give the same component a new manifest each time.
const CREATED: &str = "1970-01-01T00:00:00Z";

/// A component with its annotations.
#[derive(Clone, Debug)]
pub struct Artifact {
    component: Blob,
    config: Blob,
    manifest: Bytes,
}

/// Bytes with their digest.
#[derive(Clone, Debug)]
pub(crate) struct Blob {
    pub digest: Digest,
    pub bytes: Bytes,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Config<'a> {
    created: &'a str,
    architecture: &'a str,
    os: &'a str,
    layer_digests: [String; 1],
    component: Outside<'a>,
}

#[derive(Serialize)]
struct Outside<'a> {
    exports: &'a [String],
    imports: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Manifest<'a> {
    schema_version: u32,
    media_type: &'a str,
    config: Descriptor<'a>,
    layers: [Descriptor<'a>; 1],
    annotations: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor<'a> {
    media_type: &'a str,
    digest: String,
    size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<BTreeMap<&'a str, String>>,
}

/// The parts of a published manifest that are read.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Published {
    config: PublishedPart,
    #[serde(default)]
    layers: Vec<PublishedPart>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PublishedPart {
    media_type: String,
    digest: String,
    size: u64,
}

/// What a manifest states about a scorer: its component and its annotations. Nothing of it is checked against the
/// component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Described {
    /// The digest of the component.
    pub component: Digest,
    /// The component's size in bytes, which is at most `MAX_COMPONENT_BYTES`.
    pub bytes: usize,
    /// The annotations, by keys such as `org.opencontainers.image.licenses`.
    pub annotations: BTreeMap<String, String>,
}

/// The most bytes of a component.
pub const MAX_COMPONENT_BYTES: usize = 128 << 20;

impl Described {
    /// Reads a manifest.
    ///
    /// # Errors
    /// What the manifest contains instead of one component.
    pub(crate) fn of(manifest: &[u8]) -> Result<Described, &'static str> {
        let manifest: Published =
            serde_json::from_slice(manifest).map_err(|_| "its manifest is not valid")?;
        let [layer] = &manifest.layers[..] else {
            return Err("it has not one layer, as a component has");
        };
        if manifest.config.media_type != CONFIG_TYPE || layer.media_type != COMPONENT_TYPE {
            return Err("it is not a Wasm component");
        }
        let component = digest_of(&layer.digest).ok_or("its component has no SHA-256 digest")?;
        let bytes = usize::try_from(layer.size).ok().filter(|bytes| *bytes <= MAX_COMPONENT_BYTES);
        let bytes = bytes.ok_or("its component is larger than 128 MiB")?;
        Ok(Described { component, bytes, annotations: manifest.annotations })
    }
}

/// Reads a digest in the format of registries.
fn digest_of(written: &str) -> Option<Digest> {
    Digest::from_str(written.strip_prefix("sha256:")?).ok()
}

impl Artifact {
    /// Makes an artifact of a component that imports and exports these names; `annotations` have keys such as
    /// `org.opencontainers.image.version`.
    ///
    /// `None` if its manifest would exceed [`MAX_MANIFEST_BYTES`].
    pub fn new(
        component: impl Into<Bytes>,
        imports: &[String],
        exports: &[String],
        annotations: &BTreeMap<String, String>,
    ) -> Option<Artifact> {
        let component = Blob::of(component.into());
        let config = Blob::of(json(&Config {
            created: CREATED,
            architecture: "wasm",
            os: "wasip2",
            layer_digests: [component.name()],
            component: Outside { exports, imports },
        }));
        let manifest = json(&Manifest {
            schema_version: 2,
            media_type: MANIFEST_TYPE,
            config: config.descriptor(CONFIG_TYPE),
            layers: [Descriptor {
                annotations: annotations.get(TITLE).map(|title| [(TITLE, file_name(title))].into()),
                ..component.descriptor(COMPONENT_TYPE)
            }],
            annotations,
        });
        let artifact = Artifact { component, config, manifest };
        (artifact.manifest.len() <= MAX_MANIFEST_BYTES).then_some(artifact)
    }

    /// The digest of the manifest, which identifies the artifact with its content.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.manifest)
    }

    /// The digest of the component.
    pub fn component_digest(&self) -> Digest {
        self.component.digest
    }

    pub(crate) fn component(&self) -> &[u8] {
        &self.component.bytes
    }

    /// The blobs that a manifest names: another client may write another configuration for the same component.
    pub(crate) fn blobs_of(&self, manifest: &[u8]) -> impl Iterator<Item = &Blob> {
        let text = String::from_utf8_lossy(manifest).into_owned();
        [&self.component, &self.config].into_iter().filter(move |blob| text.contains(&blob.name()))
    }

    pub(crate) fn manifest(&self) -> &Bytes {
        &self.manifest
    }
}

impl Blob {
    pub(crate) fn of(bytes: Bytes) -> Blob {
        Blob { digest: Digest::of(&bytes), bytes }
    }

    /// The digest in the format of registries.
    pub(crate) fn name(&self) -> String {
        format!("sha256:{}", self.digest)
    }

    fn descriptor<'a>(&self, media_type: &'a str) -> Descriptor<'a> {
        Descriptor { media_type, digest: self.name(), size: self.bytes.len(), annotations: None }
    }
}

/// The name of the file that clients write a component to, in the folder that the user chooses.
fn file_name(title: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
    format!("{}.wasm", title.chars().filter(|character| is_plain(*character)).collect::<String>())
}

pub(crate) fn json(document: &impl Serialize) -> Bytes {
    // The document consists of texts, numbers, and maps with text keys, so this cannot fail.
    serde_json::to_vec(document).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_manifest_names_configuration_and_component_by_their_digests() {
        let annotations = BTreeMap::from([("a".to_owned(), "b".to_owned())]);
        let exports = ["scorebox:scorer/scoring@0.1.0".to_owned()];
        let artifact = Artifact::new(&b"abc"[..], &[], &exports, &annotations).unwrap();
        // This digest is from FIPS 180-2, appendix B.1.
        let abc = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let config: Value = serde_json::from_slice(&artifact.config.bytes).unwrap();
        assert_eq!(
            config,
            json!({
                "created": "1970-01-01T00:00:00Z",
                "architecture": "wasm",
                "os": "wasip2",
                "layerDigests": [abc],
                "component": {"exports": exports, "imports": []},
            })
        );
        let manifest: Value = serde_json::from_slice(artifact.manifest()).unwrap();
        assert_eq!(
            manifest,
            json!({
                "schemaVersion": 2,
                "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": {
                    "mediaType": "application/vnd.wasm.config.v0+json",
                    "digest": artifact.config.name(),
                    "size": artifact.config.bytes.len(),
                },
                "layers": [{"mediaType": "application/wasm", "digest": abc, "size": 3}],
                "annotations": {"a": "b"},
            })
        );
    }

    #[test]
    fn a_layer_has_the_name_of_a_file_in_no_other_folder() {
        let annotations = BTreeMap::from([(TITLE.to_owned(), "../a/grade".to_owned())]);
        let artifact = Artifact::new(&b"abc"[..], &[], &[], &annotations).unwrap();
        let manifest: Value = serde_json::from_slice(artifact.manifest()).unwrap();
        assert_eq!(manifest["layers"][0]["annotations"], json!({TITLE: "agrade.wasm"}));
    }

    #[test]
    fn a_published_manifest_is_one_component_or_refused() {
        let artifact = Artifact::new(&b"abc"[..], &[], &[], &BTreeMap::new()).unwrap();
        let described = Described::of(artifact.manifest()).unwrap();
        assert_eq!((described.component, described.bytes), (Digest::of(b"abc"), 3));
        let manifest: Value = serde_json::from_slice(artifact.manifest()).unwrap();
        let with = |pointer: &str, value: Value| {
            let mut other = manifest.clone();
            *other.pointer_mut(pointer).unwrap() = value;
            Described::of(other.to_string().as_bytes()).unwrap_err()
        };
        let layer = manifest["layers"][0].clone();
        assert!(with("/layers", json!([])).contains("not one layer"));
        assert!(with("/layers", json!([layer, layer])).contains("not one layer"));
        assert!(with("/layers/0/mediaType", json!("text/plain")).contains("not a Wasm component"));
        assert!(with("/config/mediaType", json!("text/plain")).contains("not a Wasm component"));
        assert!(with("/layers/0/digest", json!("sha512:00")).contains("SHA-256"));
        assert!(with("/layers/0/digest", json!("sha256:../..")).contains("SHA-256"));
        assert!(with("/layers/0/size", json!(u64::MAX)).contains("larger"));
        assert!(with("/layers/0/size", json!(-1)).contains("not valid"));
        assert!(Described::of(b"{").unwrap_err().contains("not valid"));
    }

    #[test]
    fn the_same_component_makes_the_same_artifact_and_another_annotation_another() {
        let of = |value: &str| {
            let annotations = BTreeMap::from([("a".to_owned(), value.to_owned())]);
            Artifact::new(&b"abc"[..], &[], &[], &annotations)
        };
        assert_eq!(of("b").unwrap().digest(), of("b").unwrap().digest());
        assert_ne!(of("b").unwrap().digest(), of("c").unwrap().digest());
        assert!(of(&"b".repeat(MAX_MANIFEST_BYTES)).is_none());
    }
}
