//! An artifact to a registry, under a tag that nothing else has. Makes no artifact, and logs nobody in.

use scorebox::digest::Digest;

use crate::{
    artifact::{Artifact, Described},
    error::{CommunityError, Failed},
    registry::{Access, Registry},
    signing::{SIGNATURE, SIGNER, Signature},
};

/// What is in the registry now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Published {
    /// The digest of the manifest.
    pub digest: Digest,
    /// Whether it was not there before.
    pub is_new: bool,
    /// Whether it was there, and something of it was missing or damaged, which is there again now.
    pub is_repaired: bool,
}

/// Publishes an artifact under the registry's address, and reads its manifest back. If it is there already, it stays as
/// it is: only what is missing of it or damaged is put back, and a signature that is not one of the component is
/// replaced.
///
/// The tag is looked at before: two who publish at once may both find it free, and the second one's artifact has it
/// then.
///
/// # Errors
/// [`Failed::Taken`] if the tag names something else; [`Failed::StaysDamaged`]; why it cannot be published.
pub async fn publish(
    registry: &Registry,
    artifact: &Artifact,
) -> Result<Published, CommunityError> {
    let published = in_order(registry, artifact).await;
    published.map_err(|failed| failed.at(registry.address().registry()))
}

/// What is published under the tag already, held against an artifact.
#[derive(Clone, Copy, PartialEq, Eq)]
enum There {
    /// It says the same. The text of its signature may be another one: each time that a key signs a component, it is.
    Same,
    /// It says the same, with a signature that is not one of the component.
    BadlySigned,
    /// It says something else.
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
            // Its publisher named the key, and the signature is missing or bad.
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
    // Last, so that the tag never names what is not there.
    registry.keep_manifest(artifact.manifest().clone()).await?;
    let digest = artifact.digest();
    match registry.manifest(Access::Write).await? {
        Some(manifest) if Digest::of(&manifest) == digest => {
            Ok(Published { digest, is_new, is_repaired: !is_new })
        }
        _ => Err(Failed::NotKept),
    }
}
