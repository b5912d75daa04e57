//! Follows a file that grows, through rotation and truncation, line after line without an end. It parses no lines; the
//! caller stores where a later process continues.

use std::{
    collections::VecDeque,
    fmt,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    thread,
    time::{Duration, Instant},
};

use super::{
    decode::must_be_plain,
    follow_position::{
        FileIdentity, FollowPosition, Found, HEAD_BYTES, Start, Waiting, settled_head,
    },
    source_error::SourceError,
    stop::StopSign,
};

/// How often a file is checked again at its end.
const LOOK: Duration = Duration::from_millis(100);
/// How long a file that was renamed away must not be written to before the next one is read: a program keeps writing to
/// it until a signal makes it open the new one. Fluent Bit waits as long (`rotate_wait`).
const QUIET: Duration = Duration::from_secs(5);
/// How many files that were read are remembered: more than the rotations that happen while cases are in flight.
const MAX_REMEMBERED: usize = 64;

/// A file that is followed.
#[derive(Debug)]
pub struct Follow {
    path: PathBuf,
    /// How long a file that was renamed away must not be written to.
    quiet: Duration,
    /// How many files are missing that should have been read.
    lost: usize,
    state: Mutex<State>,
    listener: Listener,
}

/// Called when the set of files to read changes.
#[derive(Default)]
struct Listener(OnceLock<Box<dyn Fn() -> io::Result<()> + Send + Sync>>);

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

#[derive(Debug, Default)]
struct State {
    /// Where reading the first file starts; later files are read from their beginning.
    start: Option<Start>,
    /// The file that had the path before reading began, if it is read from its beginning.
    first: Option<Waiting>,
    /// Files that got the path while the previous one was still being read, the oldest first.
    replacements: VecDeque<Waiting>,
    /// The files that were read, the newest last.
    files: VecDeque<OneFile>,
}

/// A file that is being read or was read.
#[derive(Debug)]
struct OneFile {
    first_ordinal: u64,
    identity: FileIdentity,
    head: Vec<u8>,
}

impl State {
    /// Opens the file at the path if no other file is to be read, so that it is read even if it is renamed away before
    /// reading begins, because scorers may have to be compiled first.
    fn hold_first(&mut self, path: &Path) {
        let is_known = self.start.is_some()
            || self.first.is_some()
            || !self.replacements.is_empty()
            || !self.files.is_empty();
        if !is_known {
            self.first = Waiting::open(path).ok();
        }
    }

    /// Checks whether another file has the path by now, and notes it. That file is kept open, so that it is read even
    /// if it is renamed away before its turn. Returns whether it is new.
    fn look_at(&mut self, path: &Path) -> bool {
        let newest = self.replacements.back().map(|waiting| waiting.identity);
        let start = self.start.as_ref().map(|start| start.identity);
        let start = start.or(self.first.as_ref().map(|first| first.identity));
        let newest = newest.or(start).or_else(|| self.files.back().map(|file| file.identity));
        let Some(newest) = newest else { return false };
        // Between the two steps of a rotation, no file has the path.
        let is_another = FileIdentity::at(path).is_some_and(|there| there != newest);
        if is_another
            && self.replacements.len() < MAX_REMEMBERED
            && let Ok(another) = Waiting::open(path)
        {
            self.replacements.push_back(another);
            return true;
        }
        false
    }
}

impl Follow {
    /// Follows the file at `path`, which need not exist yet, from its beginning. With a position, it continues there if
    /// the position's file still exists, under this name or in the same folder under a longer one, to which it was
    /// rotated.
    ///
    /// # Errors
    /// The file is not a regular file with plain text, or cannot be read.
    pub fn new(
        path: impl Into<PathBuf>,
        position: Option<&FollowPosition>,
    ) -> Result<Follow, SourceError> {
        let path = path.into();
        let name = path.display().to_string();
        match Waiting::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(SourceError::opening(&name, error.into())),
            Ok(there) => must_be_plain(&name, &there.beginning())?,
        }
        let position = position.filter(|position| position.is_known());
        let found = position.map_or_else(Found::default, |position| Found::of(&path, position));
        let (start, replacements) = (found.start, found.replacements.into());
        let mut state = State { start, replacements, ..State::default() };
        state.hold_first(&path);
        let state = Mutex::new(state);
        let listener = Listener::default();
        Ok(Follow { path, quiet: QUIET, lost: found.lost, state, listener })
    }

    /// Makes the reader call `listener` whenever it opens a file, and when another file gets the path, even if there is
    /// no case yet, because the position must be stored then. An error ends the reading. Only the first listener is
    /// called.
    pub(crate) fn listen(&self, listener: impl Fn() -> io::Result<()> + Send + Sync + 'static) {
        let _ = self.listener.0.set(Box::new(listener));
    }

    /// Calls the listener. The caller must not hold the lock, because the listener takes it.
    fn report_position(&self) -> io::Result<()> {
        self.listener.0.get().map_or(Ok(()), |listener| listener())
    }

    /// How many files had the path while it was followed, but are missing and were not read.
    pub fn lost(&self) -> usize {
        self.lost
    }

    /// The ordinal of the first line that will be read; `None` if reading starts at the beginning.
    pub fn continues_at(&self) -> Option<u64> {
        self.lock().start.as_ref().map(|start| start.ordinal)
    }

    /// The position before the first line that is read; `ordinal` is that line's ordinal if it is the first line of its
    /// file.
    pub fn beginning(&self, ordinal: u64) -> FollowPosition {
        let mut state = self.lock();
        // Another file may have got the path while nobody followed it.
        state.hold_first(&self.path);
        state.look_at(&self.path);
        let waiting = state.replacements.iter().map(|waiting| waiting.identity);
        if let Some(start) = &state.start {
            let (bytes, Start { identity, line, ordinal, .. }) = (start.beginning(), start);
            return self.position_in(*identity, &bytes, *line, *ordinal, waiting);
        }
        // The file that is read first does not count as one of its replacements.
        let first = state.first.as_ref().or(state.replacements.front());
        let first = first.map(|first| (first.identity, first.beginning()));
        let (identity, bytes) = first.unwrap_or((FileIdentity::NONE, Vec::new()));
        self.position_in(identity, &bytes, 0, ordinal, waiting)
    }

    /// The position before the line with the ordinal `ordinal`, after `line` lines of the file that contains the line
    /// with the ordinal `of_file`. `None` if that file was not read.
    pub(crate) fn position(&self, ordinal: u64, line: u64, of_file: u64) -> Option<FollowPosition> {
        let mut state = self.lock();
        // The reader checks at the end of a file, which it may reach only after several rotations.
        state.look_at(&self.path);
        let index = state.files.iter().rposition(|file| file.first_ordinal <= of_file)?;
        // Positions only advance.
        state.files.drain(..index);
        let file = state.files.front()?;
        let later = state.files.iter().skip(1).map(|file| file.identity);
        let later = later.chain(state.replacements.iter().map(|waiting| waiting.identity));
        Some(self.position_in(file.identity, &file.head, line, ordinal, later))
    }

    fn position_in(
        &self,
        file: FileIdentity,
        beginning: &[u8],
        line: u64,
        ordinal: u64,
        later: impl Iterator<Item = FileIdentity>,
    ) -> FollowPosition {
        FollowPosition {
            version: FollowPosition::VERSION,
            path: std::path::absolute(&self.path)
                .as_deref()
                .unwrap_or(&self.path)
                .display()
                .to_string(),
            device: file.device,
            inode: file.inode,
            head: settled_head(beginning),
            line,
            ordinal,
            // A truncated file is listed twice.
            replacements: later.filter(|it| *it != file && *it != FileIdentity::NONE).collect(),
            // The caller sets it, because it knows the run.
            before_run: false,
        }
    }

    /// The path.
    pub(super) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// How many lines of the next file are skipped.
    pub(crate) fn next_line(&self) -> u64 {
        self.lock().start.as_ref().map_or(0, |start| start.line)
    }

    /// The next file; `ordinal` is that of the first line that is read.
    pub(super) fn next_file(self: &Arc<Follow>, ordinal: u64, stop: StopSign) -> Followed {
        Followed { follow: Arc::clone(self), ordinal, stop, open: None }
    }

    /// Whether another file has the path of the current one by now.
    fn is_replaced(&self) -> io::Result<bool> {
        let mut state = self.lock();
        let is_news = state.look_at(&self.path);
        let is_replaced = !state.replacements.is_empty();
        drop(state);
        if is_news {
            self.report_position()?;
        }
        Ok(is_replaced)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state behind the lock is consistent after every statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One file, read until it is truncated, or until it is replaced and no longer written to.
pub(super) struct Followed {
    follow: Arc<Follow>,
    ordinal: u64,
    stop: StopSign,
    open: Option<Open>,
}

struct Open {
    file: File,
    offset: u64,
    /// Since when there was nothing more to read, if another file has its path.
    quiet_since: Option<Instant>,
}

impl Open {
    /// Whether reading continues in another file: this one was truncated, or was replaced and not written to for long
    /// enough.
    fn is_over(&mut self, follow: &Follow) -> io::Result<bool> {
        if self.file.metadata()?.len() < self.offset {
            return Ok(true);
        }
        if !follow.is_replaced()? {
            return Ok(false);
        }
        Ok(self.quiet_since.get_or_insert_with(Instant::now).elapsed() >= follow.quiet)
    }

    /// Records the bytes that were read.
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
    /// The file, if it exists.
    fn open(&mut self) -> io::Result<Option<&mut Open>> {
        if self.open.is_none() {
            let mut state = self.follow.lock();
            let (file, identity, head, offset) = match state.start.take() {
                Some(start) => (start.file, start.identity, start.head, start.offset),
                None => {
                    let held = state.first.take().or_else(|| state.replacements.pop_front());
                    let waiting = match held {
                        Some(waiting) => waiting,
                        None => match Waiting::open(&self.follow.path) {
                            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                                return Ok(None);
                            }
                            opened => opened?,
                        },
                    };
                    (waiting.file, waiting.identity, Vec::new(), 0)
                }
            };
            // The first file includes the lines that an earlier process read.
            let first_ordinal = if state.files.is_empty() { 0 } else { self.ordinal };
            state.files.push_back(OneFile { first_ordinal, identity, head });
            if state.files.len() > MAX_REMEMBERED {
                state.files.pop_front();
            }
            drop(state);
            self.open = Some(Open { file, offset, quiet_since: None });
            self.follow.report_position()?;
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
                if open.offset == 0 {
                    // This file was empty, or did not exist, at the start.
                    must_be_plain(&follow.name(), &buffer[..count])
                        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
                }
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

#[cfg(test)]
mod tests;
