//! Publishes an artifact to a registry, under a tag that nothing else has. Creates no artifact and no login.

use scorebox::digest::Digest;

use crate::{
    artifact::{Artifact, Described},
    error::{CommunityError, Failed},
    registry::{Access, Registry},
    signing::{SIGNATURE, SIGNER, Signature},
};

/// The outcome of publishing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Published {
    /// The digest of the manifest.
    pub digest: Digest,
    /// Whether the artifact is new in the registry.
    pub is_new: bool,
    /// Whether the artifact was already in the registry, but missing or damaged parts of it were replaced.
    pub is_repaired: bool,
}

/// Publishes an artifact under the registry's address, and reads its manifest back. An artifact that is already there
/// stays as it is: only missing or damaged parts are replaced, and a signature that does not belong to the component.
///
/// The tag is checked first. If two publish at the same time, both may find it free; the tag then names the second
/// artifact.
///
/// # Errors
/// [`Failed::Taken`] if the tag names something else; [`Failed::StaysDamaged`]; or why the artifact cannot be
/// published.
pub async fn publish(
    registry: &Registry,
    artifact: &Artifact,
) -> Result<Published, CommunityError> {
    let published = in_order(registry, artifact).await;
    published.map_err(|failed| failed.at(registry.address().registry()))
}

/// How what is already published under the tag compares with an artifact.
#[derive(Clone, Copy, PartialEq, Eq)]
enum There {
    /// It is the same. The text of its signature may differ, because each signing produces another one.
    Same,
    /// It is the same, but its signature does not belong to the component.
    BadlySigned,
    /// It is something else.
    Other,
}

impl There {
    fn of(manifest: &[u8], artifact: &Artifact) -> There {
        let described = |manifest: &[u8]| Described::of(manifest).ok();
        let (Some(mut there), Some(mut ours)) =
            (described(manifest), described(artifact.manifest()))
        else {
            return There::Other;
        };
        let signature = Signature::of_annotations(&there.annotations);
        there.annotations.remove(SIGNATURE);
        let is_signed = ours.annotations.remove(SIGNATURE).is_some();
        if there != ours {
            return There::Other;
        }
        match signature {
            Ok(None) if !is_signed => There::Same,
            Ok(Some(signature)) if is_signed && signature.verify(artifact.component()).is_ok() => {
                There::Same
            }
            // Its publisher named the key, but the signature is missing or not valid.
            _ if is_signed && there.annotations.contains_key(SIGNER) => There::BadlySigned,
            _ => There::Other,
        }
    }
}

async fn in_order(registry: &Registry, artifact: &Artifact) -> Result<Published, Failed> {
    let before = registry.manifest(Access::Write).await?;
    let there = before.as_ref().map(|manifest| There::of(manifest, artifact));
    if there == Some(There::Other) {
        let address = registry.address();
        let (name, tag) = (address.name().to_owned(), address.tag().to_owned());
        return Err(Failed::Taken { name, tag });
    }
    let is_new = before.is_none();
    let stays = before.filter(|_| there == Some(There::Same));
    let manifest = stays.as_ref().unwrap_or(artifact.manifest());
    let mut is_sent = false;
    for blob in artifact.blobs_of(manifest) {
        is_sent |= registry.keep_blob(blob).await?;
    }
    if let Some(manifest) = stays {
        let digest = Digest::of(&manifest);
        return Ok(Published { digest, is_new, is_repaired: is_sent });
    }
    // The manifest is stored last, so that the tag never names something that does not exist.
    registry.keep_manifest(artifact.manifest().clone()).await?;
    let digest = artifact.digest();
    match registry.manifest(Access::Write).await? {
        Some(manifest) if Digest::of(&manifest) == digest => {
            Ok(Published { digest, is_new, is_repaired: !is_new })
        }
        _ => Err(Failed::NotKept),
    }
}
