//! The components that are embedded in the binary, compressed, and what the manifest says about each. The
//! tables are written by `build.rs` from the manifests under `guest-scorers/dist/` and `script-engines/dist/`; their
//! sources are in `guest-scorers/` and `script-engines/`.

use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    component_bytes::{ComponentBytes, Packed},
    contract::ScorerInfo,
    digest::Digest,
    packing,
};

/// One embedded component.
#[derive(Debug)]
pub(super) struct BuiltIn {
    /// Its name.
    pub(super) name: &'static str,
    /// What is embedded.
    stored: &'static [u8],
    /// Whether that is compressed with zstd.
    compressed: bool,
    /// What it is compressed against.
    dictionary: &'static Dictionary,
    /// Its row in the manifest, as JSON.
    row: &'static str,
}

/// What the manifest says about a component: known without uncompressing or compiling anything.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Listing {
    /// Bytes of the component.
    pub bytes: u64,
    /// Digest of the component.
    pub digest: Digest,
    /// What it says about itself.
    pub info: ScorerInfo,
    /// The example that it carries, as JSON.
    pub example: Option<Box<RawValue>>,
}

impl BuiltIn {
    /// The component of that name.
    pub(super) fn named(name: &str) -> Option<&'static BuiltIn> {
        COMPONENTS.iter().find(|component| component.name == name)
    }

    /// What the manifest says about it; `None` if this build is broken.
    pub(super) fn listing(&self) -> Option<Listing> {
        serde_json::from_str(self.row).ok()
    }

    /// The component, which is uncompressed when its bytes are asked for; `None` if this build is broken.
    pub(super) fn component(&'static self) -> Option<ComponentBytes> {
        let Listing { digest, bytes, .. } = self.listing()?;
        Some(ComponentBytes::packed(self, digest, bytes))
    }
}

impl Packed for BuiltIn {
    fn unpacked(&self) -> Option<Vec<u8>> {
        let listing = self.listing()?;
        let bytes = match self.compressed {
            false => self.stored.to_vec(),
            true => packing::unpack(self.stored, self.dictionary.uncompressed()?, listing.bytes)?,
        };
        (Digest::of(&bytes) == listing.digest).then_some(bytes)
    }
}

/// What the components of a gallery are compressed against.
#[derive(Debug)]
struct Dictionary {
    /// What is embedded; empty if they are compressed against nothing.
    stored: &'static [u8],
    /// Bytes of it, uncompressed.
    bytes: u64,
    /// It, uncompressed once.
    uncompressed: OnceLock<Option<Vec<u8>>>,
}

impl Dictionary {
    fn uncompressed(&self) -> Option<&[u8]> {
        let uncompressed = self.uncompressed.get_or_init(|| match self.stored {
            [] => Some(Vec::new()),
            stored => packing::unpack(stored, b"", self.bytes),
        });
        uncompressed.as_deref()
    }
}

include!(concat!(env!("OUT_DIR"), "/builtin_components.rs"));
