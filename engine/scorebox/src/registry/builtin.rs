//! The components that are embedded in the binary, compressed, with the manifest's row for each. `build.rs` writes the
//! tables from the manifests in `guest-scorers/dist/` and `script-engines/dist/`; the sources are in `guest-scorers/`
//! and `script-engines/`.

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
    /// The embedded bytes.
    stored: &'static [u8],
    /// Whether these are compressed with zstd.
    compressed: bool,
    /// The dictionary for decompressing them.
    dictionary: &'static Dictionary,
    /// Its row in the manifest, as JSON.
    row: &'static str,
}

/// The manifest's row for a component: available without uncompressing or compiling anything.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Listing {
    /// The size of the component in bytes.
    pub bytes: u64,
    /// The digest of the component.
    pub digest: Digest,
    /// What it reports about itself.
    pub info: ScorerInfo,
    /// The example that it contains, as JSON.
    pub example: Option<Box<RawValue>>,
}

impl BuiltIn {
    /// The component with this name.
    pub(super) fn named(name: &str) -> Option<&'static BuiltIn> {
        COMPONENTS.iter().find(|component| component.name == name)
    }

    /// The manifest's row for it; `None` if this build is broken.
    pub(super) fn listing(&self) -> Option<Listing> {
        serde_json::from_str(self.row).ok()
    }

    /// The component, which is uncompressed when its bytes are requested; `None` if this build is broken.
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

/// The dictionary against which the components of a gallery are compressed.
#[derive(Debug)]
struct Dictionary {
    /// The embedded bytes; empty if there is no dictionary.
    stored: &'static [u8],
    /// Its uncompressed size in bytes.
    bytes: u64,
    /// The uncompressed bytes, computed once.
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
