//! Fetches a published scorer from a registry: the component that a tag names now, or the component with a digest.
//! Stores nothing, and runs nothing.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use scorebox::digest::Digest;
use semver::Version;

use crate::{
    address::Address,
    artifact::{Described, MAX_COMPONENT_BYTES},
    error::{CommunityError, Failed},
    registry::{Access, Registry},
    signing::{BadSignature, Signature, Signer},
};

/// The most versions that an error names.
const MAX_NAMED: usize = 5;

/// A scorer as a registry has it now.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pulled {
    /// The digest of the manifest.
    pub manifest: Digest,
    /// The digest of the component.
    pub digest: Digest,
    /// The component, whose bytes match this digest. Nothing else of it is checked.
    pub component: Bytes,
    /// The annotations of its publisher.
    pub annotations: BTreeMap<String, String>,
}

impl Pulled {
    /// Who signed the component; `None` if it is not signed.
    ///
    /// # Errors
    /// If the signature does not belong to this component and the named key.
    pub fn signer(&self) -> Result<Option<Signer>, BadSignature> {
        let Some(signature) = Signature::of_annotations(&self.annotations)? else {
            return Ok(None);
        };
        signature.verify(&self.component)?;
        Ok(Some(signature.signer().clone()))
    }
}

/// The scorer that the registry has under its address.
///
/// # Errors
/// [`Failed::Missing`], [`Failed::NotAScorer`]; or why it cannot be fetched.
pub async fn pull(registry: &Registry) -> Result<Pulled, CommunityError> {
    pull_in_order(registry).await.map_err(|failed| failed.at(registry.address().registry()))
}

async fn pull_in_order(registry: &Registry) -> Result<Pulled, Failed> {
    let address = registry.address();
    let named = || (address.name().to_owned(), address.tag().to_owned());
    let manifest = registry.manifest(Access::Read).await?.ok_or_else(|| {
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

/// The registry with the address of the newest version that its address means: for `1.2` or `1`, the newest release of
/// that line; otherwise the tag itself, which may move from release to release.
///
/// # Errors
/// [`Failed::Missing`]; or why the versions cannot be listed.
pub async fn newest(registry: Registry) -> Result<Registry, CommunityError> {
    let host = registry.address().registry().to_owned();
    newest_of(registry).await.map_err(|failed| failed.at(&host))
}

/// The versions of a scorer: the tags that are versions, including pre-releases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Releases {
    /// In ascending order.
    versions: Vec<Version>,
    /// All tags.
    tags: BTreeSet<String>,
}

/// The versions of the scorer that the registry has under its address, whatever the tag is.
///
/// # Errors
/// Why the versions cannot be listed.
pub async fn releases(registry: &Registry) -> Result<Releases, CommunityError> {
    let tags = registry.tags().await;
    let tags = tags.map_err(|failed| failed.at(registry.address().registry()))?;
    Ok(Releases::of(&tags))
}

impl Releases {
    fn of(tags: &[String]) -> Releases {
        let versions = tags.iter().filter_map(|tag| Version::parse(tag).ok());
        let mut versions: Vec<Version> = versions.filter(|it| it.build.is_empty()).collect();
        versions.sort_unstable();
        Releases { versions, tags: tags.iter().cloned().collect() }
    }

    /// Whether a tag is a semantic version, so that versions can be compared.
    pub fn are_compared_with(tag: &str) -> bool {
        Version::parse(tag).is_ok()
    }

    /// Whether the registry lists this tag. If it does not, nothing is known about newer ones: the list may be
    /// incomplete or belong to something else.
    pub fn has(&self, tag: &str) -> bool {
        self.tags.contains(tag)
    }

    /// The newest release.
    pub fn newest(&self) -> Option<String> {
        self.versions.iter().rfind(|it| is_release(it)).map(Version::to_string)
    }

    /// The newest versions, including pre-releases, at most this many, the newest first.
    pub fn newest_of_all(&self, most: usize) -> Vec<String> {
        self.versions.iter().rev().take(most).map(Version::to_string).collect()
    }

    /// The newest version that is newer than `version` and compatible with it by Semantic Versioning, as cargo
    /// interprets it: only parts after the first one that is not 0 may change. A pre-release counts only for a
    /// pre-release of the same version.
    pub fn newest_compatible(&self, version: &str) -> Option<String> {
        let now = Version::parse(version).ok()?;
        let compatible = self.versions.iter().rfind(|it| {
            **it > now && line(it) == line(&now) && (is_release(it) || is_of_the_same(it, &now))
        });
        compatible.map(Version::to_string)
    }

    /// The newest release, if it is newer than `version`; otherwise, if `version` is a pre-release, the newest
    /// pre-release of the same version.
    pub fn newer(&self, version: &str) -> Option<String> {
        let now = Version::parse(version).ok()?;
        let newer = || self.versions.iter().rev().take_while(|it| **it > now);
        let release = newer().find(|it| is_release(it));
        release.or_else(|| newer().find(|it| is_of_the_same(it, &now))).map(Version::to_string)
    }

    /// The newest release of the line that `1.2` or `1` means.
    pub fn newest_of_line(&self, written: &str) -> Option<String> {
        self.of_line(written).rfind(|it| is_release(it)).map(Version::to_string)
    }

    /// The versions of this line, if it has only pre-releases: the newest first, at most this many; empty if the text
    /// is not a line.
    pub fn not_out_yet(&self, written: &str, most: usize) -> Vec<String> {
        match self.newest_of_line(written) {
            Some(_) => Vec::new(),
            None => self.of_line(written).rev().take(most).map(Version::to_string).collect(),
        }
    }

    fn of_line(&self, written: &str) -> impl DoubleEndedIterator<Item = &Version> {
        let line = line_of(written);
        self.versions.iter().filter(move |it| {
            line.as_ref().is_some_and(|line| [it.major, it.minor].starts_with(line))
        })
    }
}

fn is_release(version: &Version) -> bool {
    version.pre.is_empty()
}

/// Whether `version` and `now` are pre-releases of the same release.
fn is_of_the_same(version: &Version, now: &Version) -> bool {
    let number = |it: &Version| (it.major, it.minor, it.patch);
    !is_release(version) && !is_release(now) && number(version) == number(now)
}

/// The part that is the same in all compatible versions.
fn line(version: &Version) -> [u64; 3] {
    match (version.major, version.minor, version.patch) {
        (0, 0, patch) => [0, 0, patch],
        (0, minor, _) => [0, minor, 0],
        (major, ..) => [major, 0, 0],
    }
}

async fn newest_of(registry: Registry) -> Result<Registry, Failed> {
    let address = registry.address();
    let missing = || {
        let (name, tag) = (address.name().to_owned(), address.tag().to_owned());
        Failed::Missing { name, tag }
    };
    if line_of(address.tag()).is_none() {
        return Ok(registry);
    }
    let releases = Releases::of(&registry.tags().await?);
    let newest = match releases.newest_of_line(address.tag()) {
        Some(newest) => newest,
        None if releases.has(address.tag()) => return Ok(registry),
        None => {
            let versions = releases.not_out_yet(address.tag(), MAX_NAMED);
            return Err(match versions.is_empty() {
                true => missing(),
                false => not_out_yet(address, versions),
            });
        }
    };
    let address = address.with_tag(&newest).map_err(|_| missing())?;
    Ok(registry.with_tag(address))
}

fn not_out_yet(address: &Address, versions: Vec<String>) -> Failed {
    let (name, line) = (address.name().to_owned(), address.tag().to_owned());
    Failed::NotOutYet { name, line, versions }
}

/// The line that `1.2` or `1` means; `None` if the tag has another format, and means only itself.
fn line_of(tag: &str) -> Option<Vec<u64>> {
    let parts: Vec<&str> = tag.split('.').collect();
    let is_line = parts.len() <= 2 && parts.iter().all(|part| is_number(part));
    is_line.then(|| parts.iter().filter_map(|part| part.parse().ok()).collect())
}

fn is_number(part: &str) -> bool {
    part.parse::<u64>().is_ok_and(|number| number.to_string() == part)
}

/// The component with that digest, whatever a tag names now.
///
/// # Errors
/// [`Failed::NoComponent`], [`Failed::OtherBytes`]; or why it cannot be fetched.
pub async fn pull_component(registry: &Registry, digest: Digest) -> Result<Bytes, CommunityError> {
    let blob = registry.blob(digest, MAX_COMPONENT_BYTES).await;
    blob.map_err(|failed| failed.at(registry.address().registry()))
}

/// The annotations in the manifest with that digest, whatever a tag names now.
///
/// # Errors
/// [`Failed::Missing`], [`Failed::NotAScorer`]; or why they cannot be fetched.
pub async fn pull_annotations(
    registry: &Registry,
    manifest: Digest,
) -> Result<BTreeMap<String, String>, CommunityError> {
    let (name, tag) = (registry.address().name().to_owned(), format!("sha256:{manifest}"));
    let pulled = async {
        let bytes = registry.manifest_of(manifest).await?;
        let bytes =
            bytes.ok_or_else(|| Failed::Missing { name: name.clone(), tag: tag.clone() })?;
        let described = Described::of(&bytes);
        described.map_err(|reason| Failed::NotAScorer { name, tag, reason })
    };
    let described = pulled.await.map_err(|failed| failed.at(registry.address().registry()))?;
    Ok(described.annotations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stands_for_its_newest_release() {
        let tags =
            ["1.2.0", "1.10.0", "1.2.11", "1.2.3-rc.1", "2.0.0-beta", "latest", "v1.9.0", "1.2"];
        let tags = tags.map(str::to_owned);
        let newest = |tag: &str| Releases::of(&tags).newest_of_line(tag);
        assert_eq!(newest("1.2").as_deref(), Some("1.2.11"));
        assert_eq!(newest("1").as_deref(), Some("1.10.0"));
        assert_eq!(newest("2"), None, "a release that is not out yet is not asked for");
        let releases = Releases::of(&tags);
        assert_eq!(releases.not_out_yet("2", 5), ["2.0.0-beta"]);
        assert!(releases.not_out_yet("1.2", 5).is_empty(), "it has releases");
        assert!(releases.not_out_yet("2.0.0", 5).is_empty(), "it is no line");
        for exact in ["1.2.0", "latest", "v1", "01", "1.", ""] {
            assert_eq!(line_of(exact), None, "{exact}");
        }
    }

    #[test]
    fn a_newer_release_is_compatible_or_not() {
        let tags = ["0.1.0", "0.1.9", "0.2.0", "1.0.0", "1.4.2", "2.0.0", "2.1.0-rc.1", "latest"];
        let releases = Releases::of(&tags.map(str::to_owned));
        let compatible = |now: &str| releases.newest_compatible(now);
        assert_eq!(compatible("0.1.0").as_deref(), Some("0.1.9"));
        assert_eq!(compatible("0.1.9"), None);
        assert_eq!(compatible("0.0.3"), None);
        assert_eq!(compatible("1.0.0").as_deref(), Some("1.4.2"));
        assert_eq!(compatible("1.9.0"), None, "what is older is no update");
        assert_eq!(compatible("latest"), None);
        assert_eq!(releases.newer("1.4.2").as_deref(), Some("2.0.0"));
        assert_eq!(releases.newer("2.0.0"), None);
        assert_eq!(releases.newest().as_deref(), Some("2.0.0"));
    }

    #[test]
    fn who_has_a_version_that_is_not_out_yet_takes_newer_ones_of_the_same_number_too() {
        let tags = ["1.0.0-rc.1", "1.0.0-rc.2", "1.0.0-rc.10", "1.1.0-rc.1", "2.0.0-beta"];
        let before = Releases::of(&tags.map(str::to_owned));
        let now = "1.0.0-rc.1";
        assert_eq!(before.newest_compatible(now).as_deref(), Some("1.0.0-rc.10"));
        assert_eq!(before.newer(now).as_deref(), Some("1.0.0-rc.10"));
        assert_eq!(before.newest_compatible("1.0.0-rc.10"), None);
        assert_eq!(before.newer("1.0.0-rc.10"), None, "of another number");
        assert_eq!(before.newer("0.9.0"), None, "a release");
        let after = Releases::of(
            &[&tags[..], &["1.0.0", "1.0.1"]]
                .concat()
                .iter()
                .map(|tag| (*tag).to_owned())
                .collect::<Vec<_>>(),
        );
        assert_eq!(after.newest_compatible(now).as_deref(), Some("1.0.1"));
        assert_eq!(after.newer(now).as_deref(), Some("1.0.1"));
    }
}
