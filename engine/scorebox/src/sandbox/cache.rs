//! Compiled code on disk, private to the user, bounded in size. A problem with the cache costs time, but never a score.
//!
//! There are three kinds of entries: the code of a component, which all of its configurations share, and other
//! components that differ from it only in their data; the image of a component with a configuration, from which its
//! scores start; and what a component reports about itself. An entry is one file: magic, digest of the rest, key,
//! length of the header, header (JSON), compiled code. The digest detects entries that a full disk or a crash of the
//! machine left incomplete; the key detects an entry under the name of another. Neither protects against this user, who
//! can write any entry; `cache_folder` makes sure that no one else can.

use std::{
    hash::{BuildHasher as _, Hash, Hasher, RandomState},
    path::PathBuf,
    sync::OnceLock,
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize};
use wasmtime::{Engine, Module, component::Component};

use crate::{contract::ScorerInfo, digest::Digest};

use super::{
    Anatomy,
    cache_folder::CacheFolder,
    code::{self, Code},
};

/// The first bytes of an entry; a new format gets a new number.
const MAGIC: &[u8; 8] = b"SBXCODEB";
const DIGEST_BYTES: usize = 32;
const PREAMBLE_BYTES: usize = MAGIC.len() + 2 * DIGEST_BYTES + 4;
/// The most bytes of a header that are parsed: a description and a schema at their limits, with every character
/// escaped, are smaller.
const MAX_HEADER_BYTES: usize = 16 << 20;
/// The most bytes of an entry that are read, however large the cache may be.
const MAX_ENTRY_BYTES: u64 = 2 << 30;
/// An entry's name is its key with this suffix.
const SUFFIX: &str = ".code";
/// A temporary file's name is the key, a dot, a random number and this suffix.
const TEMPORARY_SUFFIX: &str = ".code.part";
/// A temporary file of this age was left by a killed process: writing never takes an hour.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

/// The default limit of the cache's size: 1 GiB.
pub const DEFAULT_CACHE_BYTES: u64 = 1 << 30;

/// The folder and the size of the cache.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CacheOptions {
    /// The folder; if it is missing, it is created with access for the user alone.
    pub folder: PathBuf,
    /// The most bytes in the folder; the least recently used entries are removed first.
    pub max_bytes: u64,
}

impl CacheOptions {
    /// A cache in `folder`, limited to [`DEFAULT_CACHE_BYTES`].
    pub fn new(folder: impl Into<PathBuf>) -> CacheOptions {
        CacheOptions { folder: folder.into(), max_bytes: DEFAULT_CACHE_BYTES }
    }

    /// The same with these [`max_bytes`](CacheOptions::max_bytes).
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: u64) -> CacheOptions {
        self.max_bytes = max_bytes;
        self
    }
}

/// The properties of a component that decide how it is loaded. They are kept, so that a component that is compiled
/// already is not parsed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Outside {
    pub(super) anatomy: Anatomy,
    /// The digest of the component without its data; `None` if it is not split.
    pub(super) but_data: Option<Digest>,
}

/// What the cache keeps for a scorer with a configuration.
pub(super) struct Entry {
    pub(super) outside: Outside,
    pub(super) info: ScorerInfo,
    pub(super) image: KeptImage,
}

/// Where every score of a scorer starts.
pub(super) enum KeptImage {
    /// From this module; its code is compiled separately.
    Data(Module),
    /// From this component, which contains its code. If there was a choice, `reason` says why.
    Component { component: Component, reason: Option<String> },
    /// Without an image, from the shared code; `configure` runs each time, and `reason` says why.
    Unfrozen { reason: String },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    kind: Kind,
    /// For an image, and for what a component reports about itself.
    info: Option<ScorerInfo>,
    /// For the same kinds as `info`.
    outside: Option<Outside>,
    /// For an image: why it is not frozen, or why it contains its code.
    reason: Option<String>,
}

/// The kind of an entry, which decides the form of its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// Code as `code::compile` writes it.
    Code,
    /// A module.
    Data,
    /// A component.
    Component,
    /// An image without code.
    Unfrozen,
    /// No image, and no code.
    Info,
}

/// A folder of entries.
pub(super) struct Cache {
    folder: CacheFolder,
    max_bytes: u64,
    /// Why an entry was not kept: the first of them, as a sentence for the user.
    trouble: OnceLock<String>,
}

impl Cache {
    /// Opens the folder; the error is a sentence for the user.
    pub(super) fn open(options: &CacheOptions) -> Result<Cache, String> {
        let folder = CacheFolder::open(&options.folder).map_err(|why| {
            let folder = options.folder.display();
            format!("compiled code is not cached: the folder `{folder}` {why}")
        })?;
        let cache = Cache { folder, max_bytes: options.max_bytes, trouble: OnceLock::new() };
        cache.remove_abandoned();
        Ok(cache)
    }

    /// The image under `key`, if the cache has a complete one for this engine.
    pub(super) fn get(&self, engine: &Engine, key: Digest) -> Option<Entry> {
        let bytes = self.read(key)?;
        let (Header { kind, info, outside, reason }, code) = parse(key, &bytes)?;
        let image = match kind {
            Kind::Data => KeptImage::Data(module(engine, code)?),
            Kind::Component => KeptImage::Component { component: component(engine, code)?, reason },
            Kind::Unfrozen => KeptImage::Unfrozen { reason: reason? },
            Kind::Code | Kind::Info => return None,
        };
        Some(Entry { outside: outside?, info: info?, image })
    }

    /// Keeps an image. Failing only costs the time that it would have saved.
    pub(super) fn put(&self, key: Digest, entry: &Entry) {
        let (kind, reason, code) = match &entry.image {
            KeptImage::Data(module) => (Kind::Data, None, module.serialize()),
            KeptImage::Component { component, reason } => {
                (Kind::Component, reason.clone(), component.serialize())
            }
            KeptImage::Unfrozen { reason } => {
                (Kind::Unfrozen, Some(reason.clone()), Ok(Vec::new()))
            }
        };
        let Ok(code) = code else { return };
        let (info, outside) = (Some(entry.info.clone()), Some(entry.outside.clone()));
        self.keep(key, &Header { kind, info, outside, reason }, &code);
    }

    /// The code of a component, if the cache has it.
    pub(super) fn get_code(&self, engine: &Engine, key: Digest) -> Option<Code> {
        let bytes = self.read(key)?;
        let (header, code) = parse(key, &bytes)?;
        (header.kind == Kind::Code).then_some(())?;
        // SAFETY: the bytes are what `code::compile` gave (only `put_code` writes this kind), and as safe as
        // those of `component`.
        #[expect(unsafe_code, reason = "wasmtime reads machine code only so")]
        unsafe { code::read(engine, code, None) }.ok()
    }

    /// Keeps the code of a component, as `code::compile` returned it.
    pub(super) fn put_code(&self, key: Digest, code: &[u8]) {
        self.keep(key, &Header { kind: Kind::Code, info: None, outside: None, reason: None }, code);
    }

    /// What the scorer under `key` reports about itself, and its outside, if the cache has it.
    pub(super) fn get_info(&self, key: Digest) -> Option<(ScorerInfo, Outside)> {
        let (Header { info, outside, .. }, _) = parse(key, &self.read(key)?)?;
        info.zip(outside)
    }

    /// Keeps what a scorer reports about itself.
    pub(super) fn put_info(&self, key: Digest, info: &ScorerInfo, outside: &Outside) {
        let (info, outside) = (Some(info.clone()), Some(outside.clone()));
        self.keep(key, &Header { kind: Kind::Info, info, outside, reason: None }, &[]);
    }

    fn read(&self, key: Digest) -> Option<Vec<u8>> {
        self.folder.read(&name_of(key), self.max_bytes.min(MAX_ENTRY_BYTES))
    }

    fn keep(&self, key: Digest, header: &Header, code: &[u8]) {
        let Some(bytes) = render(key, header, code) else { return };
        if bytes.len() as u64 > self.max_bytes.min(MAX_ENTRY_BYTES) {
            return;
        }
        let random = RandomState::new().build_hasher().finish();
        let temporary = format!("{key}.{random:016x}{TEMPORARY_SUFFIX}");
        match self.folder.write(&name_of(key), &temporary, &bytes) {
            Ok(()) => self.evict(),
            Err(error) => {
                let folder = self.folder.path().display();
                let why = || format!("compiled code is not kept in the folder `{folder}`: {error}");
                self.trouble.get_or_init(why);
            }
        }
    }

    /// Why an entry was not kept; `None` if all were.
    pub(super) fn trouble(&self) -> Option<&str> {
        self.trouble.get().map(String::as_str)
    }

    fn evict(&self) {
        self.remove_abandoned();
        let mut entries = self.folder.list(|name| key_in(name, SUFFIX).is_some());
        entries.sort_by_key(|entry| entry.modified);
        let mut total: u64 = entries.iter().map(|entry| entry.bytes).sum();
        for entry in entries {
            if total <= self.max_bytes {
                return;
            }
            self.folder.remove(&entry.name);
            total -= entry.bytes;
        }
    }

    /// Removes the temporary files of processes that were killed.
    fn remove_abandoned(&self) {
        let now = SystemTime::now();
        for file in self.folder.list(is_temporary) {
            // A time in the future has no age.
            if now.duration_since(file.modified).is_ok_and(|age| age > ABANDONED_AFTER) {
                self.folder.remove(&file.name);
            }
        }
    }
}

fn name_of(key: Digest) -> String {
    format!("{key}{SUFFIX}")
}

/// The key in a file's name that ends in `rest`; `None` if the file does not belong to this cache.
fn key_in(name: &str, rest: &str) -> Option<Digest> {
    let key = name.strip_suffix(rest)?;
    key.parse().ok().filter(|digest: &Digest| digest.to_string() == key)
}

fn is_temporary(name: &str) -> bool {
    let random = |text: &str| text.len() == 16 && u64::from_str_radix(text, 16).is_ok();
    let parts = name.strip_suffix(TEMPORARY_SUFFIX).and_then(|name| name.split_once('.'));
    parts.is_some_and(|(key, number)| key_in(key, "").is_some() && random(number))
}

/// Deserializes compiled code as a component.
fn component(engine: &Engine, code: &[u8]) -> Option<Component> {
    // SAFETY: the bytes are what `Component::serialize` gave on this machine: no one but this user can
    // have written the file (`CacheFolder::read`). They are complete and of the key that was asked for
    // (`parse`), and were made by an engine of these settings (part of the key; wasmtime checks its
    // version and flags once more).
    #[expect(unsafe_code, reason = "wasmtime reads machine code only so")]
    unsafe { Component::deserialize(engine, code) }.ok()
}

/// Deserializes compiled code as a module.
fn module(engine: &Engine, code: &[u8]) -> Option<Module> {
    // SAFETY: as of `component`, with `Module::serialize`: the kind in the header says which it was.
    #[expect(unsafe_code, reason = "wasmtime reads machine code only so")]
    unsafe { Module::deserialize(engine, code) }.ok()
}

fn render(key: Digest, header: &Header, code: &[u8]) -> Option<Vec<u8>> {
    let header = serde_json::to_vec(header).ok().filter(|json| json.len() <= MAX_HEADER_BYTES)?;
    let length = u32::try_from(header.len()).ok()?.to_le_bytes();
    let digest = digest_of(key.as_bytes(), &length, &header, code);
    Some([MAGIC.as_slice(), digest.as_bytes(), key.as_bytes(), &length, &header, code].concat())
}

/// Header and code of an entry, if it is complete and has `key`.
fn parse(key: Digest, bytes: &[u8]) -> Option<(Header, &[u8])> {
    let (preamble, rest) = bytes.split_at_checked(PREAMBLE_BYTES)?;
    let (magic, preamble) = preamble.split_at_checked(MAGIC.len())?;
    let (digest, preamble) = preamble.split_at_checked(DIGEST_BYTES)?;
    let (written_key, length) = preamble.split_at_checked(DIGEST_BYTES)?;
    let header_bytes = u32::from_le_bytes(length.try_into().ok()?) as usize;
    let (header, code) = rest.split_at_checked(header_bytes)?;
    let fits = magic == MAGIC && written_key == key.as_bytes() && header_bytes <= MAX_HEADER_BYTES;
    let whole = || digest_of(written_key, length, header, code).as_bytes() == digest;
    (fits && whole()).then_some(())?;
    Some((serde_json::from_slice(header).ok()?, code))
}

fn digest_of(key: &[u8], length: &[u8], header: &[u8], code: &[u8]) -> Digest {
    Digest::of_parts([key, length, header, code])
}

/// The digest of everything in an engine that compiled code depends on.
pub(super) fn engine_digest(engine: &Engine) -> Digest {
    let mut bytes = CollectedBytes(MAGIC.to_vec());
    engine.precompile_compatibility_hash().hash(&mut bytes);
    Digest::of(&bytes.0)
}

/// A hasher that collects its input, because a key that other processes use needs more than 64 bits, and a specified
/// function.
struct CollectedBytes(Vec<u8>);

impl Hasher for CollectedBytes {
    fn finish(&self) -> u64 {
        self.0.len() as u64
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}
