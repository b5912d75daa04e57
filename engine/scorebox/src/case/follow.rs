//! Follows a file that grows, through rotation and truncation, line after line without an end. Parses no line; where a
//! later process continues is for the caller to store.

use std::{
    collections::VecDeque,
    fs::{self, File, Metadata},
    io::{self, BufRead as _, BufReader, Read, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::{digest::Digest, input_file};

use super::{source_error::SourceError, stop::StopSign};

/// How often a file at its end is looked at again.
const LOOK: Duration = Duration::from_millis(100);
/// How long nothing may be written to a file that was renamed away before the next one is read: a program goes on writing
/// to it until a signal makes it open the new one. Fluent Bit waits as long (`rotate_wait`).
const QUIET: Duration = Duration::from_secs(5);
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
    /// How long a file that was renamed away must be quiet.
    quiet: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Where the first file is to be read from; later ones are read from their beginning.
    start: Option<Start>,
    /// Files that got the path while the one before was still read, the oldest first.
    replacements: VecDeque<File>,
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
        let state = Mutex::new(State { start, ..State::default() });
        Ok(Follow { path, quiet: QUIET, state })
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

    /// Whether another file has the path of this one by now. It is kept open, so that it is read even if it is renamed
    /// away in its turn before this one is read to its end.
    fn is_replaced(&self, file: &File) -> io::Result<bool> {
        let mut state = self.lock();
        let newest = identity(&state.replacements.back().unwrap_or(file).metadata()?);
        // Between the two steps of a rotation nothing is there.
        let is_another = fs::metadata(&self.path).is_ok_and(|there| identity(&there) != newest);
        if is_another
            && state.replacements.len() < MOST_REMEMBERED
            && let Ok(another) = opened(&self.path)
        {
            state.replacements.push_back(another);
        }
        Ok(is_another || !state.replacements.is_empty())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // What is behind the lock is consistent after every statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One file, read until it is truncated, or replaced and quiet.
pub(super) struct Followed {
    follow: Arc<Follow>,
    ordinal: u64,
    stop: StopSign,
    open: Option<Open>,
}

struct Open {
    file: File,
    offset: u64,
    /// Since when nothing more was in it, if another file has its path.
    quiet_since: Option<Instant>,
}

impl Open {
    /// Whether what comes next is in another file: this one was truncated, or replaced and not written to for long enough.
    fn is_over(&mut self, follow: &Follow) -> io::Result<bool> {
        if self.file.metadata()?.len() < self.offset {
            return Ok(true);
        }
        if !follow.is_replaced(&self.file)? {
            return Ok(false);
        }
        Ok(self.quiet_since.get_or_insert_with(Instant::now).elapsed() >= follow.quiet)
    }

    /// Notes that so much was read of it.
    fn advance(&mut self, bytes: &[u8], follow: &Follow) {
        if self.offset < HEAD_BYTES as u64
            && let Some(file) = follow.lock().files.back_mut()
        {
            let missing = HEAD_BYTES.saturating_sub(file.head.len()).min(bytes.len());
            file.head.extend_from_slice(&bytes[..missing]);
        }
        self.offset += bytes.len() as u64;
        self.quiet_since = None;
    }
}

impl Followed {
    /// The file, if it is there.
    fn open(&mut self) -> io::Result<Option<&mut Open>> {
        if self.open.is_none() {
            let mut state = self.follow.lock();
            let (mut file, offset) = match state.start.take() {
                Some(start) => (start.file, start.offset),
                None => match state.replacements.pop_front() {
                    Some(file) => (file, 0),
                    None => match opened(&self.follow.path) {
                        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                        opened => (opened?, 0),
                    },
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
            self.open = Some(Open { file, offset, quiet_since: None });
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
                open.advance(&buffer[..count], &follow);
                return Ok(count);
            }
            if open.is_over(&follow)? {
                return Ok(0);
            }
            thread::sleep(LOOK);
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

    /// All that is read of one file, until the reading moves on to the next.
    fn to_its_end(file: &mut Followed) -> String {
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        text
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_was_renamed_away_is_read_until_it_is_quiet_and_none_between_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.jsonl");
        let mut old = File::create(&path).unwrap();
        old.write_all(b"0\n").unwrap();
        let follow = Follow { quiet: Duration::from_secs(1), ..Follow::new(&path, None).unwrap() };
        let follow = Arc::new(follow);
        let mut buffer = [0; 100];
        let mut first = follow.next_file(0, StopSign::default());
        assert_eq!(first.read(&mut buffer).unwrap(), 2);
        let reading = thread::spawn(move || to_its_end(&mut first));
        // Renamed twice while the program still writes to the first one.
        for (number, name) in ["agent.jsonl.1", "agent.jsonl.2"].iter().enumerate() {
            fs::rename(&path, folder.path().join(name)).unwrap();
            fs::write(&path, format!("new {number}\n")).unwrap();
            for _ in 0..3 {
                thread::sleep(LOOK * 2);
                old.write_all(b"late\n").unwrap();
            }
        }
        assert_eq!(reading.join().unwrap(), "late\n".repeat(6));
        let second = to_its_end(&mut follow.next_file(7, StopSign::default()));
        let mut third = follow.next_file(8, StopSign::default());
        let count = third.read(&mut buffer).unwrap();
        assert_eq!((second.as_str(), &buffer[..count]), ("new 0\n", &b"new 1\n"[..]));
        // Positions are in the file of their line.
        let lines = [(7, 7, 6), (8, 1, 7), (9, 1, 8)];
        let positions = lines.map(|(ordinal, line, of_file)| {
            let position = follow.position(ordinal, line, of_file).unwrap();
            (position.inode, position.line)
        });
        let inode = |name: &str| identity(&fs::metadata(folder.path().join(name)).unwrap()).1;
        let names = [("agent.jsonl.1", 7), ("agent.jsonl.2", 1), ("agent.jsonl", 1)];
        assert_eq!(positions, names.map(|(name, line)| (inode(name), line)));
    }

    #[cfg(unix)]
    #[test]
    fn a_stop_does_not_wait_until_a_file_is_quiet() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.jsonl");
        fs::write(&path, "0\n").unwrap();
        let follow = Follow { quiet: Duration::MAX, ..Follow::new(&path, None).unwrap() };
        let follow = Arc::new(follow);
        let is_replaced = Arc::clone(&follow);
        let stop = StopSign::new(move || !is_replaced.lock().replacements.is_empty());
        let mut file = follow.next_file(0, stop);
        assert_eq!(file.read(&mut [0; 100]).unwrap(), 2);
        fs::rename(&path, folder.path().join("agent.jsonl.1")).unwrap();
        fs::write(&path, "1\n").unwrap();
        let error = file.read(&mut [0; 100]).unwrap_err();
        assert_eq!(error.to_string(), "the reading was stopped");
    }
}
