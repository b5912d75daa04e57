//! Compiled code on disk, private to the user, bounded in size. Whatever is wrong with the cache
//! costs time, never a score.
//!
//! An entry is one file: magic, digest of the rest, key, length of the header, header (JSON), compiled
//! code. It is written to a temporary file and renamed, so that it is there whole or not at all; the
//! digest finds what a full disk or a crash of the machine left of one, the key an entry that stands
//! under the name of another. Compiled code is machine code, so only files in a folder that nobody else
//! can write to are ever read.

use std::{
    fs::{self, File},
    hash::{Hash, Hasher},
    io::Write as _,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::{Deserialize, Serialize};
use wasmtime::{Engine, component::Component};

use crate::{contract::ScorerInfo, digest::Digest};

use super::Start;

/// The first bytes of an entry; a new format gets a new number.
const MAGIC: &[u8; 8] = b"SBXCODE3";
const DIGEST_BYTES: usize = 32;
const PREAMBLE_BYTES: usize = MAGIC.len() + 2 * DIGEST_BYTES + 4;
/// Bytes of a header that are parsed: a description and a schema at their limits, with every character
/// escaped, have less.
const MOST_HEADER_BYTES: usize = 16 << 20;
const SUFFIX: &str = "code";

/// The size that the cache is kept under unless the user says otherwise: 1 GiB.
pub const DEFAULT_CACHE_BYTES: u64 = 1 << 30;

/// Where compiled code is kept, and how much of it.
#[derive(Clone, Debug)]
pub struct CacheOptions {
    /// The folder; made with access for the user alone where it is missing.
    pub folder: PathBuf,
    /// Bytes that the folder is kept under; the entries that were used longest ago go first.
    pub most_bytes: u64,
}

/// What is kept of a scorer: everything that loading it computes.
pub(super) struct Entry {
    pub(super) component: Component,
    pub(super) info: ScorerInfo,
    pub(super) start: Start,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    info: ScorerInfo,
    /// Why `configure` runs in every sandbox; none where the start is frozen.
    unfrozen: Option<String>,
}

/// Under which keys a scorer is kept. One that starts frozen has code of its own; one that cannot be frozen
/// shares the code of its component with all configurations.
#[derive(Clone, Copy)]
pub(super) struct Keys {
    /// Of the component with its configuration.
    pub(super) scorer: Digest,
    /// Of the component alone.
    pub(super) code: Digest,
}

/// A folder of entries.
pub(super) struct Cache {
    folder: PathBuf,
    most_bytes: u64,
}

impl Cache {
    /// Takes the folder into use; a sentence for the user where that cannot be.
    pub(super) fn open(options: &CacheOptions) -> Result<Cache, String> {
        let folder = options.folder.clone();
        let warning = |why: String| {
            format!("compiled code is not cached: the folder `{}` {why}", folder.display())
        };
        create_private(&folder).map_err(|error| warning(format!("cannot be made: {error}")))?;
        must_be_private(&folder).map_err(warning)?;
        // Found out now rather than at every entry.
        tempfile::tempfile_in(&folder)
            .map_err(|error| warning(format!("cannot be written to: {error}")))?;
        Ok(Cache { folder, most_bytes: options.most_bytes })
    }

    /// The entry under `keys`, if there is a whole one for this engine.
    pub(super) fn get(&self, engine: &Engine, keys: Keys) -> Option<Entry> {
        let bytes = self.read(keys.scorer)?;
        let (header, code) = parse(keys.scorer, &bytes)?;
        let start = match header.unfrozen {
            None => Start::Frozen,
            Some(reason) => Start::ConfigureEachTime { reason },
        };
        let component = match start {
            Start::Frozen => component(engine, code)?,
            Start::ConfigureEachTime { .. } => self.get_code(engine, keys.code)?,
        };
        Some(Entry { component, info: header.info, start })
    }

    /// The compiled code of a component as it was given, if it was kept: that of a component which cannot
    /// be frozen.
    pub(super) fn get_code(&self, engine: &Engine, key: Digest) -> Option<Component> {
        component(engine, parse(key, &self.read(key)?)?.1)
    }

    /// Keeps an entry. What fails here is not worth more than the time that it would have saved.
    pub(super) fn put(&self, keys: Keys, entry: &Entry) {
        let Ok(code) = entry.component.serialize() else { return };
        let header = |unfrozen| Header { info: entry.info.clone(), unfrozen };
        match &entry.start {
            Start::Frozen => self.keep(keys.scorer, &header(None), &code),
            Start::ConfigureEachTime { reason } => {
                self.keep(keys.code, &header(None), &code);
                self.keep(keys.scorer, &header(Some(reason.clone())), &[]);
            }
        }
    }

    /// What the scorer under `key` says of itself, if that is kept.
    pub(super) fn get_info(&self, key: Digest) -> Option<ScorerInfo> {
        Some(parse(key, &self.read(key)?)?.0.info)
    }

    /// Keeps what a scorer says of itself: an entry without code.
    pub(super) fn put_info(&self, key: Digest, info: &ScorerInfo) {
        self.keep(key, &Header { info: info.clone(), unfrozen: None }, &[]);
    }

    fn read(&self, key: Digest) -> Option<Vec<u8>> {
        let path = self.path(key);
        let bytes = fs::read(&path).ok()?;
        // Marks the entry as used; only the order of eviction depends on it.
        let _ = File::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        Some(bytes)
    }

    fn keep(&self, key: Digest, header: &Header, code: &[u8]) {
        let Some(bytes) = render(key, header, code) else { return };
        if bytes.len() as u64 <= self.most_bytes && self.write(&self.path(key), &bytes).is_ok() {
            self.evict();
        }
    }

    fn path(&self, key: Digest) -> PathBuf {
        self.folder.join(format!("{key}.{SUFFIX}"))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(bytes)?;
        file.persist(path)?;
        Ok(())
    }

    fn evict(&self) {
        let Ok(files) = fs::read_dir(&self.folder) else { return };
        let mut entries: Vec<(SystemTime, u64, PathBuf)> = files
            .filter_map(Result::ok)
            .filter(|file| file.path().extension().is_some_and(|suffix| suffix == SUFFIX))
            .filter_map(|file| {
                let metadata = file.metadata().ok()?;
                Some((metadata.modified().ok()?, metadata.len(), file.path()))
            })
            .collect();
        entries.sort();
        let mut total: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, path) in entries {
            if total <= self.most_bytes {
                return;
            }
            // Another process may have been faster.
            let _ = fs::remove_file(path);
            total -= bytes;
        }
    }
}

/// Compiled code that was read, as the component that it is.
fn component(engine: &Engine, code: &[u8]) -> Option<Component> {
    // SAFETY: the bytes are what `Component::serialize` gave on this machine. They come from a folder that
    // only this user can write to (`must_be_private`), are whole and of the key that was asked for
    // (`parse`), and were made by an engine of these settings (part of the key; wasmtime checks its
    // version and flags once more).
    #[allow(unsafe_code)]
    unsafe { Component::deserialize(engine, code) }.ok()
}

fn render(key: Digest, header: &Header, code: &[u8]) -> Option<Vec<u8>> {
    let header = serde_json::to_vec(header).ok().filter(|json| json.len() <= MOST_HEADER_BYTES)?;
    let length = u32::try_from(header.len()).ok()?.to_le_bytes();
    let digest = digest_of(key.as_bytes(), &length, &header, code);
    Some([MAGIC.as_slice(), digest.as_bytes(), key.as_bytes(), &length, &header, code].concat())
}

/// Header and code of an entry, where it is whole and the one of `key`.
fn parse(key: Digest, bytes: &[u8]) -> Option<(Header, &[u8])> {
    let (preamble, rest) = bytes.split_at_checked(PREAMBLE_BYTES)?;
    let (magic, preamble) = preamble.split_at_checked(MAGIC.len())?;
    let (digest, preamble) = preamble.split_at_checked(DIGEST_BYTES)?;
    let (written_key, length) = preamble.split_at_checked(DIGEST_BYTES)?;
    let header_bytes = u32::from_le_bytes(length.try_into().ok()?) as usize;
    let (header, code) = rest.split_at_checked(header_bytes)?;
    let fits = magic == MAGIC && written_key == key.as_bytes() && header_bytes <= MOST_HEADER_BYTES;
    let whole = || digest_of(written_key, length, header, code).as_bytes() == digest;
    (fits && whole()).then_some(())?;
    Some((serde_json::from_slice(header).ok()?, code))
}

fn digest_of(key: &[u8], length: &[u8], header: &[u8], code: &[u8]) -> Digest {
    Digest::of_parts([key, length, header, code])
}

/// The digest of everything about an engine that compiled code depends on.
pub(super) fn engine_digest(engine: &Engine) -> Digest {
    let mut bytes = CollectedBytes(MAGIC.to_vec());
    engine.precompile_compatibility_hash().hash(&mut bytes);
    Digest::of(&bytes.0)
}

/// A hasher that keeps what it is fed, because a key for other processes needs more than 64 bits of
/// an unspecified function.
struct CollectedBytes(Vec<u8>);

impl Hasher for CollectedBytes {
    fn finish(&self) -> u64 {
        self.0.len() as u64
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

#[cfg(unix)]
fn create_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn create_private(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(unix)]
fn must_be_private(folder: &Path) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt as _;
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    let metadata = fs::metadata(folder).map_err(|error| format!("cannot be looked at: {error}"))?;
    if !metadata.is_dir() {
        return Err("is not a folder".into());
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err("belongs to another user".into());
    }
    if metadata.mode() & WRITABLE_BY_OTHERS != 0 {
        return Err("can be written to by others (hint: chmod go-w)".into());
    }
    Ok(())
}

#[cfg(not(unix))]
fn must_be_private(_folder: &Path) -> Result<(), String> {
    // Elsewhere the user's own cache folder is private by its place.
    Ok(())
}
