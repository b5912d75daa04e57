//! An artifact to a registry, under a tag that nothing else has. Makes no artifact, and logs nobody in.

use scorebox::digest::Digest;

use crate::{
    artifact::{Artifact, Described},
    error::{CommunityError, Failed},
    registry::{Access, Registry},
    signing::{SIGNATURE, Signature},
};

/// What is in the registry now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Published {
    /// The digest of the manifest.
    pub digest: Digest,
    /// Whether it was not there before.
    pub is_new: bool,
}

/// Publishes an artifact under the registry's address, and reads its manifest back. If it is there already, it stays as it is.
///
/// The tag is looked at before: two who publish at once may both find it free, and the second one's artifact has it then.
///
/// # Errors
/// [`Failed::Taken`] if the tag names something else; why it cannot be published.
pub async fn publish(
    registry: &Registry,
    artifact: &Artifact,
) -> Result<Published, CommunityError> {
    let published = in_order(registry, artifact).await;
    published.map_err(|failed| failed.at(registry.address().registry()))
}

/// Whether a manifest that is there is the artifact's but for the text of its signature, which is another one each time that the same key
/// signs the same component.
fn says_the_same(manifest: &[u8], artifact: &Artifact) -> bool {
    let without_signature = |manifest: &[u8]| {
        let mut described = Described::of(manifest).ok()?;
        let is_signed = match Signature::of_annotations(&described.annotations) {
            Ok(signature) => signature.is_some(),
            Err(_) => return None,
        };
        described.annotations.remove(SIGNATURE);
        Some((described, is_signed))
    };
    let there = without_signature(manifest);
    there.is_some() && there == without_signature(artifact.manifest())
}

async fn in_order(registry: &Registry, artifact: &Artifact) -> Result<Published, Failed> {
    let digest = artifact.digest();
    match registry.manifest(Access::Write).await? {
        Some(manifest) if says_the_same(&manifest, artifact) => {
            return Ok(Published { digest: Digest::of(&manifest), is_new: false });
        }
        Some(_) => {
            let address = registry.address();
            let (name, tag) = (address.name().to_owned(), address.tag().to_owned());
            return Err(Failed::Taken { name, tag });
        }
        None => {}
    }
    for blob in artifact.blobs() {
        registry.keep_blob(blob).await?;
    }
    // Last, so that the tag never names what is not there.
    registry.keep_manifest(artifact.manifest().clone()).await?;
    match registry.manifest(Access::Write).await? {
        Some(manifest) if Digest::of(&manifest) == digest => Ok(Published { digest, is_new: true }),
        _ => Err(Failed::NotKept),
    }
}
