//! A suite with its lock and its components in one file: an OCI image layout in a tar, which any client of a registry
//! copies. Unpacks nothing: no name in such a file is a place on a disk.
//!
//! - `layout`: the documents of a layout, written and read.
//! - `reading`: a bundle from a file, within bounds, with each of its parts compared with its digest.
//! - here: what is in a bundle, and a bundle as a file.
//!
//! The same contents make the same bytes: the file knows no time, no user and no folder.

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

/// The most bytes of all that is in a bundle.
pub const MAX_BUNDLE_BYTES: u64 = 1 << 30;

/// What a bundle has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bundle {
    /// What the suite is called.
    pub name: String,
    /// The version of scorebox that made the bundle.
    pub scorebox: String,
    /// The path of the suite file that the others are included by.
    pub suite: String,
    /// The texts of the suite files, by their paths: as their suite writes them, from the folder of the first. They
    /// lead to nothing on a disk.
    pub files: BTreeMap<String, String>,
    /// The values of the variables that the files name.
    pub variables: BTreeMap<String, String>,
    /// The lock of the published scorers, as text.
    pub lock: Option<String>,
    /// The components, by what the suite calls them.
    pub components: BTreeMap<String, Carried>,
}

/// A component of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "who decides by it must decide about each")]
pub enum Carried {
    /// The built-in scorer of this name, which must have this digest. Its bytes are not in the bundle.
    BuiltIn(Digest),
    /// A component that is in the bundle.
    Here(Bytes),
}

/// Why no bundle can be made of something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotBundled {
    /// A part has more bytes than such a part can have.
    #[error("`{name}` has more than {} MiB, the most that a bundle takes of it", max_bytes >> 20)]
    TooLarge {
        /// What the suite calls the part.
        name: String,
        /// The most bytes of such a part.
        max_bytes: u64,
    },
    /// All of it has more than [`MAX_BUNDLE_BYTES`].
    #[error("all parts together have more than {} MiB, the most of a bundle", MAX_BUNDLE_BYTES >> 20)]
    AllTooLarge,
    /// Names and variables have more than [`MAX_MANIFEST_BYTES`].
    #[error("names and values of variables have more than {} MiB, the most that a bundle has of them", MAX_MANIFEST_BYTES >> 20)]
    TooManyNames,
}

/// A bundle that can be written.
#[derive(Clone, Debug)]
pub struct BundleFile {
    index: Bytes,
    manifest: Blob,
    config: Blob,
    /// In the order of the manifest; no two with one digest.
    parts: Vec<Part>,
}

impl Bundle {
    /// A bundle of a suite whose first file has this path, and of nothing else yet.
    pub fn new(name: impl Into<String>, suite: impl Into<String>) -> Bundle {
        let (name, suite) = (name.into(), suite.into());
        Bundle { name, suite, scorebox: env!("CARGO_PKG_VERSION").to_owned(), ..Bundle::default() }
    }

    /// The bundle as a file.
    ///
    /// # Errors
    /// What is larger than a bundle takes.
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
    /// The digest of the manifest, which names the bundle with all that is in it.
    pub fn digest(&self) -> Digest {
        self.manifest.digest
    }

    /// How many bytes the file has.
    pub fn bytes(&self) -> u64 {
        const BLOCK: u64 = 512;
        let documents = [layout::MARK.len(), self.index.len()].into_iter();
        let blobs = self.blobs().map(|blob| blob.bytes.len());
        let entries =
            documents.chain(blobs).map(|bytes| BLOCK + (bytes as u64).next_multiple_of(BLOCK));
        // Two empty blocks end a tar.
        entries.sum::<u64>() + 2 * BLOCK
    }

    /// Manifest and configuration, then all that the manifest names.
    fn blobs(&self) -> impl Iterator<Item = &Blob> {
        let documents = [&self.manifest, &self.config].into_iter();
        documents.chain(self.parts.iter().map(|part| &part.blob))
    }

    /// Writes the file.
    ///
    /// # Errors
    /// If it cannot be written.
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

/// An entry with nothing in its header that another machine would write differently.
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

/// Its texts stand for the files of the same paths.
impl SuiteFiles for Bundle {
    fn text(&self, path: &Path) -> Result<String, InputFileError> {
        let text = path.to_str().and_then(|path| self.files.get(path));
        text.cloned().ok_or(InputFileError::NotFound)
    }
}

#[cfg(test)]
mod tests;
