//! Follows a file that grows, through rotation and truncation, line after line without an end. Parses no line; where a
//! later process continues is for the caller to store.

use std::{
    collections::VecDeque,
    fs::{self, File, Metadata},
    io::{self, BufRead as _, BufReader, Read, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{digest::Digest, input_file};

use super::{source_error::SourceError, stop::StopSign};

/// How often a file at its end is looked at again.
const LOOK: Duration = Duration::from_millis(100);
/// Bytes of a file's first line that tell its content from another's.
const HEAD_BYTES: usize = 512;
/// What stands for the device and inode of a file that is not there yet.
const NO_FILE: (u64, u64) = (0, 0);
/// Files that are remembered as having been read: more rotations than happen while cases are in flight.
const MOST_REMEMBERED: usize = 64;

/// Where the reading of a followed file is to continue: the file, and what was read of it. As JSON it can be stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct FollowPosition {
    /// 1.
    pub version: u32,
    /// The path that was followed, as text.
    pub path: String,
    /// What distinguishes the file from others on this machine; 0 if it was not there yet, or the system does not say.
    pub device: u64,
    /// As `device`.
    pub inode: u64,
    /// The digest of the beginning of its first line.
    pub head: Digest,
    /// Lines of it that need not be read again.
    pub line: u64,
    /// The ordinal of the next line.
    pub ordinal: u64,
}

impl FollowPosition {
    /// The only version.
    const VERSION: u32 = 1;
}

/// A file that is followed.
#[derive(Debug)]
pub struct Follow {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Where the first file is to be read from; later ones are read from their beginning.
    start: Option<Start>,
    /// The files that were read, the newest last.
    files: VecDeque<OneFile>,
}

#[derive(Debug)]
struct Start {
    file: File,
    offset: u64,
    line: u64,
    ordinal: u64,
}

/// A file that is or was read.
#[derive(Debug)]
struct OneFile {
    first_ordinal: u64,
    device: u64,
    inode: u64,
    head: Vec<u8>,
}

impl Follow {
    /// Follows the file at `path`, which need not exist yet, from its beginning; or from a position, if the file of the
    /// position is there, under this name or beside it under a longer one, to which it was rotated.
    ///
    /// # Errors
    /// What is there is not a regular file, or cannot be read.
    pub fn new(
        path: impl Into<PathBuf>,
        position: Option<&FollowPosition>,
    ) -> Result<Follow, SourceError> {
        let path = path.into();
        let name = path.display().to_string();
        match opened(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(SourceError::opening(&name, error.into())),
            Ok(_) => {}
        }
        let position = position.filter(|position| position.version == FollowPosition::VERSION);
        let start = position.and_then(|position| start(&path, position));
        Ok(Follow { path, state: Mutex::new(State { start, files: VecDeque::new() }) })
    }

    /// The ordinal of the first line that will be read; `None` if it is read from its beginning.
    pub fn continues_at(&self) -> Option<u64> {
        self.lock().start.as_ref().map(|start| start.ordinal)
    }

    /// The position before the first line of the file that has the path now, which will have this ordinal.
    pub fn beginning(&self, ordinal: u64) -> FollowPosition {
        let (device, inode) =
            fs::metadata(&self.path).map_or(NO_FILE, |metadata| identity(&metadata));
        FollowPosition {
            version: FollowPosition::VERSION,
            path: self.name(),
            device,
            inode,
            head: head(b""),
            line: 0,
            ordinal,
        }
    }

    /// The position before the line of `ordinal`, after `line` lines of the file that has the line of `of_file`. `None` if
    /// that file was not read.
    pub(crate) fn position(&self, ordinal: u64, line: u64, of_file: u64) -> Option<FollowPosition> {
        let mut state = self.lock();
        let place = state.files.iter().rposition(|file| file.first_ordinal <= of_file)?;
        // Positions only advance.
        state.files.drain(..place);
        let file = state.files.front()?;
        Some(FollowPosition {
            version: FollowPosition::VERSION,
            path: self.path.display().to_string(),
            device: file.device,
            inode: file.inode,
            head: head(&file.head),
            line,
            ordinal,
        })
    }

    /// The path.
    pub(super) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Lines of the next file that are passed over.
    pub(super) fn next_line(&self) -> u64 {
        self.lock().start.as_ref().map_or(0, |start| start.line)
    }

    /// The next file, whose first line that is read has this ordinal.
    pub(super) fn next_file(self: &Arc<Follow>, ordinal: u64, stop: StopSign) -> Followed {
        Followed { follow: Arc::clone(self), ordinal, stop, open: None }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // What is behind the lock is consistent after every statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One file, read until it is replaced or truncated.
pub(super) struct Followed {
    follow: Arc<Follow>,
    ordinal: u64,
    stop: StopSign,
    open: Option<Open>,
}

struct Open {
    file: File,
    offset: u64,
    /// Another file has the path: what is left of this one is read, and no more is waited for.
    is_replaced: bool,
}

impl Followed {
    /// The file, if it is there.
    fn open(&mut self) -> io::Result<Option<&mut Open>> {
        if self.open.is_none() {
            let mut state = self.follow.lock();
            let (mut file, offset) = match state.start.take() {
                Some(start) => (start.file, start.offset),
                None => match opened(&self.follow.path) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                    opened => (opened?, 0),
                },
            };
            let (device, inode) = identity(&file.metadata()?);
            let mut head = Vec::new();
            if offset > 0 {
                file.rewind()?;
                Read::by_ref(&mut file).take(HEAD_BYTES as u64).read_to_end(&mut head)?;
                file.seek(SeekFrom::Start(offset))?;
            }
            let first_ordinal = self.ordinal;
            state.files.push_back(OneFile { first_ordinal, device, inode, head });
            if state.files.len() > MOST_REMEMBERED {
                state.files.pop_front();
            }
            drop(state);
            self.open = Some(Open { file, offset, is_replaced: false });
        }
        Ok(self.open.as_mut())
    }
}

impl Read for Followed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.stop.check()?;
            let follow = Arc::clone(&self.follow);
            let Some(open) = self.open()? else {
                thread::sleep(LOOK);
                continue;
            };
            let count = open.file.read(buffer)?;
            if count > 0 {
                if open.offset < HEAD_BYTES as u64
                    && let Some(file) = follow.lock().files.back_mut()
                {
                    let missing = HEAD_BYTES.saturating_sub(file.head.len()).min(count);
                    file.head.extend_from_slice(&buffer[..missing]);
                }
                open.offset += count as u64;
                return Ok(count);
            }
            if open.is_replaced || open.file.metadata()?.len() < open.offset {
                return Ok(0);
            }
            match fs::metadata(&follow.path) {
                Ok(there) if identity(&there) != identity(&open.file.metadata()?) => {
                    // Something may have been written to it just before.
                    open.is_replaced = true;
                }
                // Between the two steps of a rotation nothing is there.
                _ => thread::sleep(LOOK),
            }
        }
    }
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

/// What distinguishes a file from others.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> (u64, u64) {
    NO_FILE
}

/// The digest of the beginning of a file's first line.
fn head(bytes: &[u8]) -> Digest {
    let bytes = &bytes[..bytes.len().min(HEAD_BYTES)];
    Digest::of(bytes.split(|byte| *byte == b'\n').next().unwrap_or_default())
}

/// Where to continue, if the file of the position is there: at the path, or rotated to a longer name beside it.
fn start(path: &Path, position: &FollowPosition) -> Option<Start> {
    let beside = || {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let files = fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
        let paths = files.filter_map(|file| Some(file.ok()?.path()));
        let longer = |path: &PathBuf| {
            path.file_name().is_some_and(|other| other.to_string_lossy().starts_with(&name))
        };
        Some(paths.filter(longer).collect::<Vec<PathBuf>>())
    };
    start_in(path, position).or_else(|| beside()?.iter().find_map(|path| start_in(path, position)))
}

fn start_in(path: &Path, position: &FollowPosition) -> Option<Start> {
    let mut file = opened(path).ok()?;
    let expected = (position.device, position.inode);
    // A file that was not there when the position was stored is whichever has the path.
    if expected != NO_FILE && identity(&file.metadata().ok()?) != expected {
        return None;
    }
    let mut first = Vec::new();
    Read::by_ref(&mut file).take(HEAD_BYTES as u64).read_to_end(&mut first).ok()?;
    if position.line > 0 && head(&first) != position.head {
        return None;
    }
    file.rewind().ok()?;
    let offset = after_lines(&file, position.line)?;
    file.seek(SeekFrom::Start(offset)).ok()?;
    Some(Start { file, offset, line: position.line, ordinal: position.ordinal })
}

/// The offset after so many lines; `None` if there are fewer.
fn after_lines(file: &File, lines: u64) -> Option<u64> {
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let (mut offset, mut left) = (0, lines);
    while left > 0 {
        let bytes = reader.fill_buf().ok()?;
        if bytes.is_empty() {
            return None;
        }
        let mut used = 0;
        for (place, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            used = place + 1;
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

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// Reads all of the file that is there, and answers with the position after `line` lines.
    fn read_to(path: &Path, line: u64) -> FollowPosition {
        let follow = Arc::new(Follow::new(path, None).unwrap());
        let mut file = follow.next_file(0, StopSign::default());
        let mut buffer = [0; 4096];
        assert!(file.read(&mut buffer).unwrap() > 0);
        follow.position(line, line, 0).unwrap()
    }

    fn rest(path: &Path, position: &FollowPosition) -> Option<String> {
        let follow = Arc::new(Follow::new(path, Some(position)).unwrap());
        assert_eq!(follow.continues_at()?, position.ordinal);
        let mut buffer = vec![0; 4096];
        let count = follow.next_file(position.ordinal, StopSign::default()).read(&mut buffer);
        buffer.truncate(count.unwrap());
        Some(String::from_utf8(buffer).unwrap())
    }

    #[cfg(unix)]
    #[test]
    fn a_position_is_found_in_its_file_under_whatever_name_and_in_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.jsonl");
        fs::write(&path, "one\ntwo\nthree\n").unwrap();
        let position = read_to(&path, 2);
        let json = serde_json::to_string(&position).unwrap();
        assert_eq!(serde_json::from_str::<FollowPosition>(&json).unwrap(), position);
        assert_eq!(rest(&path, &position).as_deref(), Some("three\n"));
        // Truncated, and written again: other lines in the same file.
        fs::write(&path, "1\n2\n3\n").unwrap();
        assert_eq!(rest(&path, &position), None);
        // Fewer lines of the same.
        fs::write(&path, "one\n").unwrap();
        assert_eq!(rest(&path, &position), None);
        // Rotated, and written to since.
        fs::write(&path, "one\ntwo\n").unwrap();
        fs::rename(&path, folder.path().join("agent.jsonl.1")).unwrap();
        let mut old = File::options().append(true).open(folder.path().join("agent.jsonl.1"));
        old.as_mut().unwrap().write_all(b"late\n").unwrap();
        fs::write(&path, "new\n").unwrap();
        assert_eq!(rest(&path, &position).as_deref(), Some("late\n"));
    }
}
