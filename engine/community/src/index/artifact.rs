//! Defines an index as a registry stores it: an empty configuration, one layer with the document, and the signature in
//! the annotations of the manifest. The same document and signature produce the same bytes.

use std::collections::BTreeMap;

use bytes::Bytes;
use scorebox::digest::Digest;
use serde::Deserialize;
use serde_json::json;

use super::{document::MAX_INDEX_BYTES, signed::SignedIndex};
use crate::{
    artifact::{Blob, MANIFEST_TYPE, TITLE},
    signing::Signature,
};

/// The type of the document, and of the artifact.
pub(super) const INDEX_TYPE: &str = "application/vnd.scorebox.index.v1+json";
/// The type of an artifact without a configuration in the OCI image specification, and its content.
const EMPTY_TYPE: &str = "application/vnd.oci.empty.v1+json";
const EMPTY: &[u8] = b"{}";
/// The name of the file that clients write the document to.
const FILE: &str = "index.json";

/// A manifest, and the blobs that it names.
pub(super) struct IndexArtifact {
    pub(super) blobs: [Blob; 2],
    pub(super) manifest: Bytes,
}

impl IndexArtifact {
    pub(super) fn of(signed: &SignedIndex) -> IndexArtifact {
        let document = Blob::of(signed.document().clone());
        let empty = Blob::of(Bytes::from_static(EMPTY));
        let mut annotations: BTreeMap<String, String> = signed.signature().annotations().into();
        annotations.insert(TITLE.to_owned(), signed.index().name.clone());
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST_TYPE,
            "artifactType": INDEX_TYPE,
            "config": {"mediaType": EMPTY_TYPE, "digest": empty.name(), "size": EMPTY.len()},
            "layers": [{
                "mediaType": INDEX_TYPE,
                "digest": document.name(),
                "size": document.bytes.len(),
                "annotations": {TITLE: FILE},
            }],
            "annotations": annotations,
        });
        IndexArtifact { blobs: [document, empty], manifest: manifest.to_string().into() }
    }
}

/// What a manifest states about an index. Nothing of it is checked against the document.
pub(super) struct DescribedIndex {
    pub(super) document: Digest,
    pub(super) bytes: usize,
    /// `None` if the index is not signed.
    pub(super) signature: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Published {
    #[serde(default)]
    layers: Vec<PublishedPart>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PublishedPart {
    media_type: String,
    digest: String,
    size: u64,
}

impl DescribedIndex {
    /// Reads a manifest.
    ///
    /// # Errors
    /// What the manifest contains instead of one index.
    pub(super) fn of(manifest: &[u8]) -> Result<DescribedIndex, &'static str> {
        let manifest: Published =
            serde_json::from_slice(manifest).map_err(|_| "its manifest is not valid")?;
        let [layer] = &manifest.layers[..] else {
            return Err("it has not one layer, as an index has");
        };
        if layer.media_type != INDEX_TYPE {
            return Err("it is something else");
        }
        let document = layer.digest.strip_prefix("sha256:").and_then(|it| it.parse().ok());
        let document = document.ok_or("its document has no SHA-256 digest")?;
        let bytes = usize::try_from(layer.size).ok().filter(|bytes| *bytes <= MAX_INDEX_BYTES);
        let bytes = bytes.ok_or("its document is larger than 32 MiB")?;
        let signature = Signature::text_of_annotations(&manifest.annotations).map(str::to_owned);
        Ok(DescribedIndex { document, bytes, signature })
    }
}
