//! A signed index to a registry, in place of an older one. Makes none, and replaces nothing else.

use scorebox::digest::Digest;

use super::{
    artifact::{DescribedIndex, IndexArtifact},
    document::Index,
    error::{IndexError, IndexFailed},
    fetch::AN_INDEX,
    signed::SignedIndex,
};
use crate::{
    error::Failed,
    registry::{Access, Registry},
};

/// Publishes an index under the registry's address, and reads its manifest back. Unlike a scorer, it takes the place of what was published there
/// if that is an index with a lower serial number. The digest of the manifest, and whether anything has changed.
///
/// # Errors
/// [`IndexFailed::NotNewer`]; [`IndexFailed::NotAnArtifact`] if the tag names something else; why it cannot be published.
pub async fn publish_index(
    registry: &Registry,
    signed: &SignedIndex,
) -> Result<(Digest, bool), IndexError> {
    let place = || format!("oci://{}", registry.address());
    in_order(registry, signed).await.map_err(|failed| IndexError { place: place(), failed })
}

async fn in_order(
    registry: &Registry,
    signed: &SignedIndex,
) -> Result<(Digest, bool), IndexFailed> {
    let artifact = IndexArtifact::of(signed);
    let digest = Digest::of(&artifact.manifest);
    if let Some(manifest) = registry.manifest(Access::Write).await? {
        if Digest::of(&manifest) == digest {
            return Ok((digest, false));
        }
        let there = DescribedIndex::of(&manifest).map_err(IndexFailed::NotAnArtifact)?;
        must_be_newer(registry, &there, signed).await?;
    }
    for blob in &artifact.blobs {
        registry.keep_blob(blob).await?;
    }
    registry.keep_manifest(artifact.manifest).await?;
    match registry.manifest(Access::Write).await? {
        Some(manifest) if Digest::of(&manifest) == digest => Ok((digest, true)),
        _ => Err(Failed::NotKept.into()),
    }
}

/// Refuses to replace an index whose serial number is not lower, unless it says the same.
async fn must_be_newer(
    registry: &Registry,
    there: &DescribedIndex,
    signed: &SignedIndex,
) -> Result<(), IndexFailed> {
    if there.document == Digest::of(signed.document()) {
        return Ok(());
    }
    let document = registry.blob_of(there.document, AN_INDEX, there.bytes).await?;
    // What cannot be read as an index has no number that matters to anybody.
    let Ok(index) = Index::parse(&document) else { return Ok(()) };
    let ours = signed.index().serial;
    match index.serial < ours {
        true => Ok(()),
        false => Err(IndexFailed::NotNewer { there: index.serial, ours }),
    }
}
