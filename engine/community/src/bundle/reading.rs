//! Reads a bundle from a file that a stranger may have made: reads a bounded amount, compares each part with its digest
//! before it is used, and writes nothing.

use std::{
    collections::BTreeMap,
    fmt,
    io::{self, Read, Seek, SeekFrom},
};

use bytes::Bytes;
use scorebox::{digest::Digest, input_file::MAX_CONFIGURATION_BYTES};
use serde::de::DeserializeOwned;
use tar::{Archive, EntryType};

use crate::{
    artifact::{MANIFEST_TYPE, MAX_COMPONENT_BYTES, MAX_MANIFEST_BYTES, TITLE},
    lock::MAX_LOCK_BYTES,
};

use super::{
    Bundle, Carried, MAX_BUNDLE_BYTES,
    layout::{
        BLOBS, BUNDLE_TYPE, Config, Descriptor, INDEX, Index, LAYOUT, Manifest, Mark, VERSION,
        Versioned, blob_path,
    },
};

/// The most entries of a bundle: far more than a suite has parts.
const MAX_ENTRIES: usize = 10_000;
/// The most characters of a name from a bundle that an error shows.
const SHOWN: usize = 100;

/// Why a file is not a valid bundle.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotABundle {
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(io::Error),
    /// The file is not a tar.
    #[error("it is not a tar file")]
    NotATar,
    /// The file is a layout of something else, such as an image.
    #[error("it is not a bundle of a suite: {0}")]
    OtherKind(String),
    /// A newer scorebox created the file.
    #[error("it has version {0} of the format; this scorebox reads version {VERSION}")]
    OtherVersion(u64),
    /// The file is cut off, damaged, or not what it claims to be.
    #[error("{0}")]
    Invalid(String),
}

impl From<io::Error> for NotABundle {
    fn from(error: io::Error) -> NotABundle {
        NotABundle::Unreadable(error)
    }
}

fn invalid(what: impl Into<String>) -> NotABundle {
    NotABundle::Invalid(what.into())
}

/// The positions of a layout's files in the tar.
struct Layout<R> {
    file: R,
    extents: BTreeMap<String, Extent>,
    /// How many bytes may still be read.
    left: u64,
}

#[derive(Clone, Copy)]
struct Extent {
    at: u64,
    bytes: u64,
    /// Whether the file was read, and therefore compared with the digest in its name.
    is_read: bool,
}

impl Bundle {
    /// Reads a bundle into memory: at most [`MAX_BUNDLE_BYTES`].
    ///
    /// # Errors
    /// Why the file is not a valid bundle.
    pub fn read(file: impl Read + Seek) -> Result<Bundle, NotABundle> {
        let mut layout = Layout::of(file)?;
        if !layout.extents.contains_key(LAYOUT) || !layout.extents.contains_key(INDEX) {
            let why = format!("it has no `{LAYOUT}` and `{INDEX}`");
            return Err(NotABundle::OtherKind(why));
        }
        let mark: Mark = layout.document(LAYOUT)?;
        if mark.image_layout_version != "1.0.0" {
            let version = shown(&mark.image_layout_version);
            return Err(NotABundle::OtherKind(format!("`{LAYOUT}` has version {version}")));
        }
        let index: Index = layout.document(INDEX)?;
        let [manifest] = &index.manifests[..] else {
            let count = index.manifests.len();
            return Err(NotABundle::OtherKind(format!("`{INDEX}` names {count} manifests")));
        };
        must_be(&manifest.media_type, MANIFEST_TYPE)?;
        let manifest: Manifest = layout.json(manifest, "the manifest")?;
        must_be(&manifest.config.media_type, BUNDLE_TYPE)?;
        let config =
            layout.blob(&manifest.config, MAX_MANIFEST_BYTES as u64, "the configuration")?;
        let Versioned { version } = parsed(&config, "the configuration")?;
        if version != VERSION {
            return Err(NotABundle::OtherVersion(version));
        }
        let bundle = layout.bundle(&manifest, parsed(&config, "the configuration")?)?;
        layout.must_be_read(&manifest)?;
        Ok(bundle)
    }
}

impl<R: Read + Seek> Layout<R> {
    /// Finds the files of a layout without reading them.
    fn of(mut file: R) -> Result<Layout<R>, NotABundle> {
        let length = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(0))?;
        let mut tar = Archive::new(file);
        let mut extents = BTreeMap::new();
        // Entries are read raw, because an entry that describes the next one is not a file of a layout either.
        for (count, entry) in tar.entries_with_seek()?.raw(true).enumerate() {
            let entry = match entry {
                Ok(entry) => entry,
                // The first block is not a tar header.
                Err(_) if count == 0 => return Err(NotABundle::NotATar),
                Err(error) => {
                    let error = error.to_string();
                    return Err(invalid(format!("it is damaged: {}", shown(&error))));
                }
            };
            if count == MAX_ENTRIES {
                return Err(invalid(format!("it has more than {MAX_ENTRIES} entries")));
            }
            let path = entry.path_bytes();
            let path = String::from_utf8_lossy(&path);
            let (at, bytes) = (entry.raw_file_position(), entry.size());
            let extent = Extent { at, bytes, is_read: false };
            if extent.at.checked_add(extent.bytes).is_none_or(|end| end > length) {
                return Err(invalid(format!("it is cut off in `{}`", shown(&path))));
            }
            let name = path.strip_prefix("./").unwrap_or(&path);
            match entry.header().entry_type() {
                EntryType::Directory if is_folder(name) && extent.bytes == 0 => continue,
                EntryType::Regular if is_file(name) => {}
                EntryType::Regular | EntryType::Directory => {
                    let name = shown(&path);
                    return Err(invalid(format!("`{name}` is not a file of an image layout")));
                }
                _ => {
                    let why =
                        "is not a regular file; a bundle has no links, devices or extended headers";
                    return Err(invalid(format!("`{}` {why}", shown(&path))));
                }
            }
            if extents.insert(name.to_owned(), extent).is_some() {
                return Err(invalid(format!("`{}` is in it twice", shown(&path))));
            }
        }
        match extents.is_empty() {
            true => Err(NotABundle::NotATar),
            false => Ok(Layout { file: tar.into_inner(), extents, left: MAX_BUNDLE_BYTES }),
        }
    }

    /// The bytes of a file, which must exist and have at most `most` bytes.
    fn bytes(&mut self, path: &str, most: u64, what: &str) -> Result<Bytes, NotABundle> {
        let missing = || invalid(format!("{what} is missing: it has no `{path}`"));
        let extent = self.extents.get_mut(path).ok_or_else(missing)?;
        extent.is_read = true;
        let Extent { at, bytes, .. } = *extent;
        if bytes > most {
            let most = most >> 20;
            return Err(invalid(format!("{what} has more than {most} MiB")));
        }
        self.left = self.left.checked_sub(bytes).ok_or_else(|| {
            invalid(format!("its parts have more than {} MiB", MAX_BUNDLE_BYTES >> 20))
        })?;
        self.file.seek(SeekFrom::Start(at))?;
        let mut read = Vec::new();
        (&mut self.file).take(bytes).read_to_end(&mut read)?;
        match read.len() as u64 == bytes {
            true => Ok(read.into()),
            false => Err(invalid(format!("it is cut off in `{path}`"))),
        }
    }

    fn document<T: DeserializeOwned>(&mut self, path: &str) -> Result<T, NotABundle> {
        let what = format!("`{path}`");
        let bytes = self.bytes(path, MAX_MANIFEST_BYTES as u64, &what)?;
        parsed(&bytes, &what)
    }

    fn json<T: DeserializeOwned>(
        &mut self,
        descriptor: &Descriptor,
        what: &str,
    ) -> Result<T, NotABundle> {
        let bytes = self.blob(descriptor, MAX_MANIFEST_BYTES as u64, what)?;
        parsed(&bytes, what)
    }

    /// The blob of a descriptor, which must have its size and digest.
    fn blob(
        &mut self,
        descriptor: &Descriptor,
        most: u64,
        what: &str,
    ) -> Result<Bytes, NotABundle> {
        let bytes = self.bytes(&blob_path(descriptor.digest), most, what)?;
        if bytes.len() as u64 != descriptor.size {
            let (found, size) = (bytes.len(), descriptor.size);
            return Err(invalid(format!("{what} has {found} bytes, and should have {size}")));
        }
        match Digest::of(&bytes) == descriptor.digest {
            true => Ok(bytes),
            false => Err(invalid(format!("{what} has other bytes than its digest says"))),
        }
    }

    /// Refuses a part that the manifest or the file contains, but that does not belong to the suite: it was not
    /// compared with its digest.
    fn must_be_read(&self, manifest: &Manifest) -> Result<(), NotABundle> {
        let is_read = |path: &String| self.extents.get(path).is_some_and(|extent| extent.is_read);
        if let Some(layer) = manifest.layers.iter().find(|it| !is_read(&blob_path(it.digest))) {
            let digest = layer.digest;
            return Err(invalid(format!(
                "the manifest names sha256:{digest}, and the configuration does not"
            )));
        }
        match self.extents.iter().find(|(_, extent)| !extent.is_read) {
            Some((path, _)) => Err(invalid(format!("`{path}` is in it, and nothing names it"))),
            None => Ok(()),
        }
    }

    /// The bundle that the configuration describes.
    fn bundle(&mut self, manifest: &Manifest, config: Config) -> Result<Bundle, NotABundle> {
        let layers: BTreeMap<Digest, &Descriptor> =
            manifest.layers.iter().map(|layer| (layer.digest, layer)).collect();
        let layer = |digest: Digest, what: &str| {
            let layer = layers.get(&digest).copied();
            layer
                .ok_or_else(|| invalid(format!("{what} is missing: the manifest does not name it")))
        };
        let mut files = BTreeMap::new();
        for (path, named) in config.files {
            let what = format!("the file `{}`", shown(&path));
            let bytes = self.blob(layer(named.0, &what)?, MAX_CONFIGURATION_BYTES, &what)?;
            files.insert(path, text(&bytes, &what)?);
        }
        if !files.contains_key(&config.suite) {
            let suite = shown(&config.suite);
            return Err(invalid(format!("the suite is missing: there is no file `{suite}`")));
        }
        let lock = match config.lock {
            None => None,
            Some(named) => {
                let bytes = self.blob(layer(named.0, "the lock")?, MAX_LOCK_BYTES, "the lock")?;
                Some(text(&bytes, "the lock")?)
            }
        };
        let mut components = BTreeMap::new();
        // Several names may have the same component, which is read only once.
        let mut read: BTreeMap<Digest, Bytes> = BTreeMap::new();
        for (name, named) in config.components {
            let what = format!("the component `{}`", shown(&name));
            let bytes = match read.get(&named.0) {
                Some(bytes) => bytes.clone(),
                None => {
                    let most = MAX_COMPONENT_BYTES as u64;
                    self.blob(layer(named.0, &what)?, most, &what)?
                }
            };
            read.insert(named.0, bytes.clone());
            components.insert(name, Carried::Here(bytes));
        }
        for (name, named) in config.builtins {
            if components.contains_key(&name) {
                let name = shown(&name);
                return Err(invalid(format!(
                    "`{name}` is listed both as built-in and with a component"
                )));
            }
            components.insert(name, Carried::BuiltIn(named.0));
        }
        Ok(Bundle {
            name: manifest.annotations.get(TITLE).cloned().unwrap_or_default(),
            scorebox: config.scorebox,
            suite: config.suite,
            files,
            variables: config.variables,
            lock,
            components,
        })
    }
}

/// Whether a layout may have a folder with this name. Some tools also write the folders of a layout.
fn is_folder(name: &str) -> bool {
    let blobs = BLOBS.trim_end_matches('/');
    ["", ".", "blobs", blobs].contains(&name.trim_end_matches('/'))
}

/// Whether a layout may have a file with this name.
fn is_file(name: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_digest = |digits: &str| digits.len() == 64 && digits.bytes().all(is_digit);
    name == LAYOUT || name == INDEX || name.strip_prefix(BLOBS).is_some_and(is_digest)
}

fn must_be(media_type: &str, expected: &str) -> Result<(), NotABundle> {
    match media_type == expected {
        true => Ok(()),
        false => Err(NotABundle::OtherKind(format!("it has `{}`", shown(media_type)))),
    }
}

fn parsed<T: DeserializeOwned>(bytes: &[u8], what: &str) -> Result<T, NotABundle> {
    let invalid = |error: serde_json::Error| {
        invalid(format!("{what} is not valid: {}", shown(&error.to_string())))
    };
    serde_json::from_slice(bytes).map_err(invalid)
}

fn text(bytes: &[u8], what: &str) -> Result<String, NotABundle> {
    let text = String::from_utf8(bytes.to_vec());
    text.map_err(|_| invalid(format!("{what} is not UTF-8 text")))
}

/// A name from a stranger, shortened to one line.
fn shown(name: &str) -> impl fmt::Display {
    name.chars().take(SHOWN).flat_map(char::escape_debug).collect::<String>()
}
