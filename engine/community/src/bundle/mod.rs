//! Defines a suite with its lock and its components in one file: an OCI image layout in a tar, which any registry
//! client can copy. Unpacks nothing: no name in such a file becomes a path on a disk.
//!
//! - `layout`: writes and reads the documents of a layout.
//! - `reading`: reads a bundle from a file, within limits, and compares each of its parts with its digest.
//! - this file: the content of a bundle, and a bundle as a file.
//!
//! The same content produces the same bytes: the file contains no time, user or folder.

mod layout;
mod reading;

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::Path,
};

use bytes::Bytes;
use scorebox::{
    digest::Digest,
    input_file::{InputFileError, MAX_CONFIGURATION_BYTES},
    suite::SuiteFiles,
};
use tar::{EntryType, Header};

use crate::{
    artifact::{Blob, MAX_COMPONENT_BYTES, MAX_MANIFEST_BYTES},
    lock::MAX_LOCK_BYTES,
};
use layout::{INDEX, LAYOUT, Part, blob_path};

pub use reading::NotABundle;

/// The most bytes of the content of a bundle.
pub const MAX_BUNDLE_BYTES: u64 = 1 << 30;

/// The content of a bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bundle {
    /// The name of the suite.
    pub name: String,
    /// The version of scorebox that created the bundle.
    pub scorebox: String,
    /// The path of the suite file that includes the others.
    pub suite: String,
    /// The texts of the suite files by their paths, which are written as in the suite, relative to the folder of the
    /// first file. These paths do not refer to a disk.
    pub files: BTreeMap<String, String>,
    /// The values of the variables that the files use.
    pub variables: BTreeMap<String, String>,
    /// The lock of the published scorers, as text.
    pub lock: Option<String>,
    /// The components, by their names in the suite.
    pub components: BTreeMap<String, Carried>,
}

/// A component of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "who decides by it must decide about each")]
pub enum Carried {
    /// The built-in scorer with this name, which must have this digest. The bundle does not contain its bytes.
    BuiltIn(Digest),
    /// A component that the bundle contains.
    Here(Bytes),
}

/// Why something cannot be bundled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotBundled {
    /// A part is larger than allowed.
    #[error("`{name}` has more than {} MiB, the most that a bundle takes of it", max_bytes >> 20)]
    TooLarge {
        /// The part's name in the suite.
        name: String,
        /// The most bytes that the part may have.
        max_bytes: u64,
    },
    /// All parts together exceed [`MAX_BUNDLE_BYTES`].
    #[error("all parts together have more than {} MiB, the most of a bundle", MAX_BUNDLE_BYTES >> 20)]
    AllTooLarge,
    /// Names and variables exceed [`MAX_MANIFEST_BYTES`].
    #[error("names and values of variables have more than {} MiB, the most that a bundle has of them", MAX_MANIFEST_BYTES >> 20)]
    TooManyNames,
}

/// A bundle that is ready to be written.
#[derive(Clone, Debug)]
pub struct BundleFile {
    index: Bytes,
    manifest: Blob,
    config: Blob,
    /// The parts in the order of the manifest; no two have the same digest.
    parts: Vec<Part>,
}

impl Bundle {
    /// A bundle of a suite whose first file has this path; the bundle is otherwise empty.
    pub fn new(name: impl Into<String>, suite: impl Into<String>) -> Bundle {
        let (name, suite) = (name.into(), suite.into());
        Bundle { name, suite, scorebox: env!("CARGO_PKG_VERSION").to_owned(), ..Bundle::default() }
    }

    /// The bundle as a file.
    ///
    /// # Errors
    /// The part that is too large.
    pub fn file(&self) -> Result<BundleFile, NotBundled> {
        let mut all_bytes = 0;
        let mut must_fit = |name: &str, bytes: usize, max_bytes: u64| {
            all_bytes += bytes as u64;
            match bytes as u64 > max_bytes {
                true => Err(NotBundled::TooLarge { name: name.to_owned(), max_bytes }),
                false => Ok(()),
            }
        };
        for (path, text) in &self.files {
            must_fit(path, text.len(), MAX_CONFIGURATION_BYTES)?;
        }
        if let Some(lock) = &self.lock {
            must_fit(crate::lock::LOCK_FILE, lock.len(), MAX_LOCK_BYTES)?;
        }
        for (name, component) in &self.components {
            if let Carried::Here(bytes) = component {
                must_fit(name, bytes.len(), MAX_COMPONENT_BYTES as u64)?;
            }
        }
        if all_bytes > MAX_BUNDLE_BYTES {
            return Err(NotBundled::AllTooLarge);
        }
        let parts = layout::parts(self);
        let config = layout::config(self);
        let manifest = layout::manifest(self, &config, &parts);
        let index = layout::index(&manifest);
        let documents = [&config.bytes, &manifest.bytes, &index];
        match documents.iter().all(|document| document.len() <= MAX_MANIFEST_BYTES) {
            true => Ok(BundleFile { index, manifest, config, parts }),
            false => Err(NotBundled::TooManyNames),
        }
    }
}

impl BundleFile {
    /// The digest of the manifest, which identifies the bundle with its content.
    pub fn digest(&self) -> Digest {
        self.manifest.digest
    }

    /// The size of the file in bytes.
    pub fn bytes(&self) -> u64 {
        const BLOCK: u64 = 512;
        let documents = [layout::MARK.len(), self.index.len()].into_iter();
        let blobs = self.blobs().map(|blob| blob.bytes.len());
        let entries =
            documents.chain(blobs).map(|bytes| BLOCK + (bytes as u64).next_multiple_of(BLOCK));
        // Two empty blocks end a tar.
        entries.sum::<u64>() + 2 * BLOCK
    }

    /// The manifest and the configuration, then everything that the manifest names.
    fn blobs(&self) -> impl Iterator<Item = &Blob> {
        let documents = [&self.manifest, &self.config].into_iter();
        documents.chain(self.parts.iter().map(|part| &part.blob))
    }

    /// Writes the file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut tar = tar::Builder::new(out);
        put(&mut tar, LAYOUT, layout::MARK.as_bytes())?;
        put(&mut tar, INDEX, &self.index)?;
        for blob in self.blobs() {
            put(&mut tar, &blob_path(blob.digest), &blob.bytes)?;
        }
        tar.into_inner()?.flush()
    }
}

/// Adds an entry whose header is the same on every machine.
fn put(tar: &mut tar::Builder<&mut dyn Write>, path: &str, bytes: &[u8]) -> io::Result<()> {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_path(path)?;
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_cksum();
    tar.append(&header, bytes)
}

/// Provides the bundle's texts in place of files with the same paths.
impl SuiteFiles for Bundle {
    fn text(&self, path: &Path) -> Result<String, InputFileError> {
        let text = path.to_str().and_then(|path| self.files.get(path));
        text.cloned().ok_or(InputFileError::NotFound)
    }
}

#[cfg(test)]
mod tests;
