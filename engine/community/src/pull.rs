//! A published scorer from a registry: which component a tag names now, and the component of a digest. Keeps nothing, and runs nothing.

use std::collections::BTreeMap;

use bytes::Bytes;
use scorebox::digest::Digest;
use semver::Version;

use crate::{
    artifact::{Described, MOST_COMPONENT_BYTES},
    error::{CommunityError, Failed},
    registry::Registry,
    signing::{BadSignature, Signature, Signer},
};

/// A scorer as a registry has it now.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pulled {
    /// The digest of the manifest.
    pub manifest: Digest,
    /// The digest of the component.
    pub digest: Digest,
    /// The component, whose bytes have this digest. Nothing else of it is checked.
    pub component: Bytes,
    /// What its publisher says about it.
    pub annotations: BTreeMap<String, String>,
}

impl Pulled {
    /// Whose signature of the component it carries; `None` if it is not signed.
    ///
    /// # Errors
    /// If the signature is not one of this component by the key beside it.
    pub fn signer(&self) -> Result<Option<Signer>, BadSignature> {
        let Some(signature) = Signature::of_annotations(&self.annotations)? else {
            return Ok(None);
        };
        signature.verify(&self.component)?;
        Ok(Some(signature.signer().clone()))
    }
}

/// What the registry has under its address.
///
/// # Errors
/// [`Failed::Missing`], [`Failed::NotAScorer`]; why it cannot be had.
pub async fn pull(registry: &Registry) -> Result<Pulled, CommunityError> {
    pull_in_order(registry).await.map_err(|failed| failed.at(registry.address().registry()))
}

async fn pull_in_order(registry: &Registry) -> Result<Pulled, Failed> {
    let address = registry.address();
    let named = || (address.name().to_owned(), address.tag().to_owned());
    let manifest = registry.manifest().await?.ok_or_else(|| {
        let (name, tag) = named();
        Failed::Missing { name, tag }
    })?;
    let described = Described::of(&manifest).map_err(|reason| {
        let (name, tag) = named();
        Failed::NotAScorer { name, tag, reason }
    })?;
    let component = registry.blob(described.component, described.bytes).await?;
    Ok(Pulled {
        manifest: Digest::of(&manifest),
        digest: described.component,
        component,
        annotations: described.annotations,
    })
}

/// The registry with the address of the newest version that `address` stands for: its own if there is such a tag, and else, for `1.2` or `1`,
/// the newest release of that line.
///
/// # Errors
/// [`Failed::Missing`]; why the registry does not say.
pub async fn newest(registry: Registry) -> Result<Registry, CommunityError> {
    let host = registry.address().registry().to_owned();
    newest_of(registry).await.map_err(|failed| failed.at(&host))
}

async fn newest_of(registry: Registry) -> Result<Registry, Failed> {
    let address = registry.address();
    let missing = || {
        let (name, tag) = (address.name().to_owned(), address.tag().to_owned());
        Failed::Missing { name, tag }
    };
    let Some(line) = line_of(address.tag()) else { return Ok(registry) };
    let tags = registry.tags().await?;
    if tags.iter().any(|tag| tag == address.tag()) {
        return Ok(registry);
    }
    let newest = newest_in(&line, &tags).ok_or_else(missing)?;
    let address = address.with_tag(&newest).map_err(|_| missing())?;
    Ok(registry.with_tag(address))
}

/// The releases that `1.2` or `1` stands for; `None` if a tag is written in another way, and stands for itself.
fn line_of(tag: &str) -> Option<Vec<u64>> {
    let parts: Vec<&str> = tag.split('.').collect();
    let is_line = parts.len() <= 2 && parts.iter().all(|part| is_number(part));
    is_line.then(|| parts.iter().filter_map(|part| part.parse().ok()).collect())
}

fn is_number(part: &str) -> bool {
    part.parse::<u64>().is_ok_and(|number| number.to_string() == part)
}

fn newest_in(line: &[u64], tags: &[String]) -> Option<String> {
    let releases = tags.iter().filter_map(|tag| Version::parse(tag).ok());
    let in_line = releases.filter(|version| {
        let parts = [version.major, version.minor];
        version.pre.is_empty() && version.build.is_empty() && parts.starts_with(line)
    });
    in_line.max().map(|version| version.to_string())
}

/// The component of that digest, whatever a tag names now.
///
/// # Errors
/// [`Failed::NoComponent`], [`Failed::OtherBytes`]; why it cannot be had.
pub async fn pull_component(registry: &Registry, digest: Digest) -> Result<Bytes, CommunityError> {
    let blob = registry.blob(digest, MOST_COMPONENT_BYTES).await;
    blob.map_err(|failed| failed.at(registry.address().registry()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stands_for_its_newest_release() {
        let tags =
            ["1.2.0", "1.10.0", "1.2.11", "1.2.3-rc.1", "2.0.0-beta", "latest", "v1.9.0", "1.2"];
        let tags = tags.map(str::to_owned);
        let newest = |tag: &str| newest_in(&line_of(tag)?, &tags);
        assert_eq!(newest("1.2").as_deref(), Some("1.2.11"));
        assert_eq!(newest("1").as_deref(), Some("1.10.0"));
        assert_eq!(newest("2"), None, "a release that is not out yet is not asked for");
        for exact in ["1.2.0", "latest", "v1", "01", "1.", ""] {
            assert_eq!(line_of(exact), None, "{exact}");
        }
    }
}
