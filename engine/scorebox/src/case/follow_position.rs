//! Where the reading of a followed file continues: the position that is stored, and the files that it refers to, under
//! whatever names they have by now. It reads no cases.

use std::{
    fs::{self, File, Metadata},
    io::{self, BufRead as _, BufReader, Read, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{digest::Digest, input_file};

/// How many bytes of a file's first line identify its content.
pub(super) const HEAD_BYTES: usize = 512;

/// What distinguishes a file from others on this machine; both are 0 if there is no file, or the system does not report
/// them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct FileIdentity {
    /// The device.
    pub device: u64,
    /// The inode.
    pub inode: u64,
}

impl FileIdentity {
    /// No file, or a file on a system that reports no identity.
    pub(super) const NONE: FileIdentity = FileIdentity { device: 0, inode: 0 };

    #[cfg(unix)]
    pub(super) fn of(metadata: &Metadata) -> FileIdentity {
        use std::os::unix::fs::MetadataExt as _;
        FileIdentity { device: metadata.dev(), inode: metadata.ino() }
    }

    #[cfg(not(unix))]
    pub(super) fn of(_: &Metadata) -> FileIdentity {
        FileIdentity::NONE
    }

    /// The identity of the file at a path, if there is one.
    pub(super) fn at(path: &Path) -> Option<FileIdentity> {
        fs::metadata(path).ok().map(|metadata| FileIdentity::of(&metadata))
    }
}

/// Where the reading of a followed file continues: the file, and how much of it was read. It can be stored as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct FollowPosition {
    /// The version of the format: 3. Version 2 has no `before_run`, and its `head` is meaningful only if there are lines
    /// before the position; version 1 has no `replacements` either.
    pub version: u32,
    /// The path that was followed, absolute, as text.
    pub path: String,
    /// What distinguishes the file from others on this machine; 0 if it did not exist yet, or the system does not
    /// report it.
    pub device: u64,
    /// Like `device`.
    pub inode: u64,
    /// The digest of the beginning of the file's first line; the digest of nothing, if that line was not complete.
    pub head: Digest,
    /// How many of its lines need not be read again.
    pub line: u64,
    /// The ordinal of the next line.
    pub ordinal: u64,
    /// The files that got the path after it, one after the other, and have yet to be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replacements: Vec<FileIdentity>,
    /// Whether no run had begun when it was stored: all lines before it are invalid or blank.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub before_run: bool,
}

impl FollowPosition {
    /// The version that is written.
    pub(super) const VERSION: u32 = 3;
    /// The first version whose `head` identifies the file even before its first line.
    const WITH_HEAD_AT_LINE_0: u32 = 3;
    /// The first version that records whether a run had begun.
    const WITH_BEFORE_RUN: u32 = 3;

    /// Whether this program supports its version.
    pub(super) fn is_known(&self) -> bool {
        (1..=FollowPosition::VERSION).contains(&self.version)
    }

    /// Whether it is valid without a run, because no run had begun when it was stored. Otherwise the run was removed
    /// since.
    pub fn holds_without_a_run(&self) -> bool {
        // Older versions do not record it; after the first line there may have been a run.
        let is_before = match self.version {
            FollowPosition::WITH_BEFORE_RUN.. => self.before_run,
            _ => self.ordinal == 0,
        };
        is_before && self.inode != 0
    }

    /// Whether a file that begins with `bytes` may be the position's file, as far as the position allows to tell.
    fn may_begin_with(&self, bytes: &[u8]) -> bool {
        let says_of_line_0 = self.version >= FollowPosition::WITH_HEAD_AT_LINE_0;
        let is_stated = self.line > 0 || (says_of_line_0 && self.head != head(b""));
        !is_stated || head(bytes) == self.head
    }
}

/// A file that waits to be read from its beginning.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) file: File,
    pub(super) identity: FileIdentity,
}

impl Waiting {
    pub(super) fn open(path: &Path) -> io::Result<Waiting> {
        let file = opened(path)?;
        let identity = FileIdentity::of(&file.metadata()?);
        Ok(Waiting { file, identity })
    }

    /// Its first bytes; empty if they cannot be read.
    pub(super) fn beginning(&self) -> Vec<u8> {
        beginning(&self.file).unwrap_or_default()
    }
}

/// A file whose reading starts at an offset.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) file: File,
    pub(super) identity: FileIdentity,
    /// The beginning of its first line, if that is before the offset.
    pub(super) head: Vec<u8>,
    pub(super) offset: u64,
    pub(super) line: u64,
    pub(super) ordinal: u64,
}

impl Start {
    /// The beginning of its first line.
    pub(super) fn beginning(&self) -> Vec<u8> {
        match self.offset {
            0 => beginning(&self.file).unwrap_or_default(),
            _ => self.head.clone(),
        }
    }
}

/// A position's files that still exist: at the path, or rotated to longer names in the same folder.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The position's own file; `None` if it is missing, or has other content.
    pub(super) start: Option<Start>,
    /// The files that got the path after it, the oldest first.
    pub(super) replacements: Vec<Waiting>,
    /// How many of those files are missing.
    pub(super) lost: usize,
}

impl Found {
    pub(super) fn of(path: &Path, position: &FollowPosition) -> Found {
        let mut paths = vec![path.to_owned()];
        paths.extend(beside(path).unwrap_or_default());
        let start = paths.iter().find_map(|path| start_in(path, position));
        let mut found = Found { start, ..Found::default() };
        for replacement in &position.replacements {
            let is_there = |path: &&PathBuf| FileIdentity::at(path) == Some(*replacement);
            match paths.iter().find(is_there).and_then(|path| Waiting::open(path).ok()) {
                Some(waiting) => found.add(waiting),
                None => found.lost += 1,
            }
        }
        found
    }

    /// Adds a file to be read, unless it is known already.
    fn add(&mut self, waiting: Waiting) {
        let start = self.start.iter().map(|start| start.identity);
        let mut known = start.chain(self.replacements.iter().map(|known| known.identity));
        if !known.any(|known| known == waiting.identity) {
            self.replacements.push(waiting);
        }
    }
}

/// The files in the folder of a path whose names are longer and begin like its name.
fn beside(path: &Path) -> Option<Vec<PathBuf>> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let files = fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let paths = files.filter_map(|file| Some(file.ok()?.path()));
    let is_longer = |path: &PathBuf| {
        path.file_name().is_some_and(|other| {
            let other = other.to_string_lossy();
            other.starts_with(&name) && other.len() > name.len()
        })
    };
    Some(paths.filter(is_longer).collect())
}

fn start_in(path: &Path, position: &FollowPosition) -> Option<Start> {
    let mut file = opened(path).ok()?;
    let expected = FileIdentity { device: position.device, inode: position.inode };
    let identity = FileIdentity::of(&file.metadata().ok()?);
    // If no file existed when the position was stored, any file at the path is right.
    if expected != FileIdentity::NONE && identity != expected {
        return None;
    }
    let mut first = beginning(&file).ok()?;
    if !position.may_begin_with(&first) {
        return None;
    }
    if position.line == 0 {
        // Its whole first line has yet to be read.
        first.clear();
    }
    let offset = after_lines(&file, position.line)?;
    file.seek(SeekFrom::Start(offset)).ok()?;
    let (line, ordinal) = (position.line, position.ordinal);
    Some(Start { file, identity, head: first, offset, line, ordinal })
}

/// Reads the first bytes of a file, and rewinds it.
fn beginning(mut file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(HEAD_BYTES as u64).read_to_end(&mut bytes)?;
    file.rewind()?;
    Ok(bytes)
}

/// The offset after this many lines; `None` if there are fewer.
fn after_lines(file: &File, lines: u64) -> Option<u64> {
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let (mut offset, mut left) = (0, lines);
    while left > 0 {
        let bytes = reader.fill_buf().ok()?;
        if bytes.is_empty() {
            return None;
        }
        let mut used = 0;
        for (offset, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            used = offset + 1;
            left -= 1;
            if left == 0 {
                break;
            }
        }
        let used = if left == 0 { used } else { bytes.len() };
        offset += used as u64;
        reader.consume(used);
    }
    Some(offset)
}

/// Opens a regular file.
fn opened(path: &Path) -> io::Result<File> {
    let not_regular = || io::Error::other("only a regular file can be followed");
    match input_file::kind(path) {
        Ok(input_file::Kind::Regular { .. }) => File::open(path),
        Ok(input_file::Kind::Pipe) => Err(not_regular()),
        Err(input_file::InputFileError::Device) => Err(not_regular()),
        Err(input_file::InputFileError::NotFound) => Err(io::ErrorKind::NotFound.into()),
        Err(input_file::InputFileError::Folder) => Err(io::ErrorKind::IsADirectory.into()),
        Err(input_file::InputFileError::PermissionDenied) => {
            Err(io::ErrorKind::PermissionDenied.into())
        }
        Err(error) => Err(io::Error::other(error)),
    }
}

/// The digest of the beginning of a file's first line, if later writes cannot change it; otherwise the digest of
/// nothing.
pub(super) fn settled_head(bytes: &[u8]) -> Digest {
    let is_settled = bytes.len() >= HEAD_BYTES || bytes.contains(&b'\n');
    head(if is_settled { bytes } else { b"" })
}

/// The digest of the beginning of a file's first line.
fn head(bytes: &[u8]) -> Digest {
    let bytes = &bytes[..bytes.len().min(HEAD_BYTES)];
    Digest::of(bytes.split(|byte| *byte == b'\n').next().unwrap_or_default())
}
