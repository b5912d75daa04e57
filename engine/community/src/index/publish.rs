//! Publishes a signed index to a registry, in place of an older one. Creates no index, and replaces nothing else.

use scorebox::digest::Digest;

use super::{
    artifact::{DescribedIndex, IndexArtifact},
    error::{IndexError, IndexFailed},
    fetch::AN_INDEX,
    signed::SignedIndex,
};
use crate::{
    error::Failed,
    publish::Published,
    registry::{Access, Registry},
};

/// What an index may replace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an index is replaced by its own signer or by anyone")]
pub enum InPlaceOf {
    /// An older index that the same key signed.
    #[default]
    Own,
    /// Also any index that the same key did not sign.
    Others,
}

/// Publishes an index under the registry's address, and reads its manifest back. Unlike a scorer, it replaces what was
/// published there if that is an index with a lower serial number, signed by the same key; `in_place_of` allows more.
///
/// # Errors
/// [`IndexFailed::NotNewer`]; [`IndexFailed::NotOwn`]; [`IndexFailed::NotAnArtifact`] if the tag names something else;
/// or why the index cannot be published.
pub async fn publish_index(
    registry: &Registry,
    signed: &SignedIndex,
    in_place_of: InPlaceOf,
) -> Result<Published, IndexError> {
    let place = || format!("oci://{}", registry.address());
    let published = in_order(registry, signed, in_place_of).await;
    published.map_err(|failed| IndexError { place: place(), failed })
}

async fn in_order(
    registry: &Registry,
    signed: &SignedIndex,
    in_place_of: InPlaceOf,
) -> Result<Published, IndexFailed> {
    let artifact = IndexArtifact::of(signed);
    let digest = Digest::of(&artifact.manifest);
    let mut is_there = false;
    if let Some(manifest) = registry.manifest(Access::Write).await? {
        is_there = Digest::of(&manifest) == digest;
        if !is_there {
            let there = DescribedIndex::of(&manifest).map_err(IndexFailed::NotAnArtifact)?;
            must_be_replaceable(registry, &there, signed, in_place_of).await?;
        }
    }
    let mut is_sent = false;
    for blob in &artifact.blobs {
        is_sent |= registry.keep_blob(blob).await?;
    }
    if is_there {
        return Ok(Published { digest, is_new: false, is_repaired: is_sent });
    }
    registry.keep_manifest(artifact.manifest).await?;
    match registry.manifest(Access::Write).await? {
        Some(manifest) if Digest::of(&manifest) == digest => {
            Ok(Published { digest, is_new: true, is_repaired: false })
        }
        _ => Err(Failed::NotKept.into()),
    }
}

/// Refuses to replace an index that another key signed, or one whose serial number is not lower, unless its content is
/// the same.
async fn must_be_replaceable(
    registry: &Registry,
    there: &DescribedIndex,
    signed: &SignedIndex,
    in_place_of: InPlaceOf,
) -> Result<(), IndexFailed> {
    let own = match own(registry, there, signed).await {
        Err(IndexFailed::NotOwn(_)) if in_place_of == InPlaceOf::Others => return Ok(()),
        own => own?,
    };
    let (there, ours) = (own.index().serial, signed.index().serial);
    match there < ours || own.document() == signed.document() {
        true => Ok(()),
        false => Err(IndexFailed::NotNewer { there, ours }),
    }
}

/// The published index, which the signer of `signed` must have signed.
async fn own(
    registry: &Registry,
    there: &DescribedIndex,
    signed: &SignedIndex,
) -> Result<SignedIndex, IndexFailed> {
    let not_own = |failed: IndexFailed| IndexFailed::NotOwn(Box::new(failed));
    let signature = there.signature.as_deref().ok_or_else(|| not_own(IndexFailed::NotSigned))?;
    let document = match registry.blob_of(there.document, AN_INDEX, there.bytes).await {
        Ok(document) => document,
        // Nobody can read this one.
        Err(
            failed @ (Failed::NoComponent(_) | Failed::OtherBytes(_) | Failed::TooLarge { .. }),
        ) => {
            return Err(not_own(failed.into()));
        }
        Err(failed) => return Err(failed.into()),
    };
    SignedIndex::open(document, signature, signed.signature().signer()).map_err(not_own)
}
