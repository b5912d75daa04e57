//! Follows a file that grows, through rotation and truncation, line after line without an end. Parses no line; where a
//! later process continues is for the caller to store.

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

/// How often a file at its end is looked at again.
const LOOK: Duration = Duration::from_millis(100);
/// How long nothing may be written to a file that was renamed away before the next one is read: a program goes on writing
/// to it until a signal makes it open the new one. Fluent Bit waits as long (`rotate_wait`).
const QUIET: Duration = Duration::from_secs(5);
/// Files that are remembered as having been read: more rotations than happen while cases are in flight.
const MOST_REMEMBERED: usize = 64;

/// A file that is followed.
#[derive(Debug)]
pub struct Follow {
    path: PathBuf,
    /// How long a file that was renamed away must be quiet.
    quiet: Duration,
    /// Files that are gone although they were to be read.
    lost: usize,
    state: Mutex<State>,
    listener: Listener,
}

/// What is called when there are other files to read than before.
#[derive(Default)]
struct Listener(OnceLock<Box<dyn Fn() -> io::Result<()> + Send + Sync>>);

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

#[derive(Debug, Default)]
struct State {
    /// Where the first file is to be read from; later ones are read from their beginning.
    start: Option<Start>,
    /// The file that had the path before anything was read, if it is read from its beginning.
    first: Option<Waiting>,
    /// Files that got the path while the one before was still read, the oldest first.
    replacements: VecDeque<Waiting>,
    /// The files that were read, the newest last.
    files: VecDeque<OneFile>,
}

/// A file that is or was read.
#[derive(Debug)]
struct OneFile {
    first_ordinal: u64,
    identity: FileIdentity,
    head: Vec<u8>,
}

impl State {
    /// Opens the file at the path if nothing else is known to be read, so that it is read even if it is renamed away before the
    /// reading begins, for which scorers may have to be compiled first.
    fn hold_first(&mut self, path: &Path) {
        let is_known = self.start.is_some()
            || self.first.is_some()
            || !self.replacements.is_empty()
            || !self.files.is_empty();
        if !is_known {
            self.first = Waiting::open(path).ok();
        }
    }

    /// Notes whether another file has the path by now. It is kept open, so that it is read even if it is renamed away in its
    /// turn before its turn comes. Answers whether it was not noted before.
    fn look_at(&mut self, path: &Path) -> bool {
        let newest = self.replacements.back().map(|waiting| waiting.identity);
        let start = self.start.as_ref().map(|start| start.identity);
        let start = start.or(self.first.as_ref().map(|first| first.identity));
        let newest = newest.or(start).or_else(|| self.files.back().map(|file| file.identity));
        let Some(newest) = newest else { return false };
        // Between the two steps of a rotation nothing is there.
        let is_another = FileIdentity::at(path).is_some_and(|there| there != newest);
        if is_another
            && self.replacements.len() < MOST_REMEMBERED
            && let Ok(another) = Waiting::open(path)
        {
            self.replacements.push_back(another);
            return true;
        }
        false
    }
}

impl Follow {
    /// Follows the file at `path`, which need not exist yet, from its beginning; or from a position, if the file of the
    /// position is there, under this name or beside it under a longer one, to which it was rotated.
    ///
    /// # Errors
    /// What is there is not a regular file of plain text, or cannot be read.
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

    /// Has `listener` called by the reader whenever it opens a file, and when another one gets the path, also if there is no
    /// case yet: the position is to be stored then. An error ends the reading. Only the first listener is called.
    pub(crate) fn listen(&self, listener: impl Fn() -> io::Result<()> + Send + Sync + 'static) {
        let _ = self.listener.0.set(Box::new(listener));
    }

    /// Not for a caller who holds the lock, which the listener takes.
    fn tell(&self) -> io::Result<()> {
        self.listener.0.get().map_or(Ok(()), |listener| listener())
    }

    /// How many files are gone that had the path while it was followed and were not read.
    pub fn lost(&self) -> usize {
        self.lost
    }

    /// The ordinal of the first line that will be read; `None` if it is read from its beginning.
    pub fn continues_at(&self) -> Option<u64> {
        self.lock().start.as_ref().map(|start| start.ordinal)
    }

    /// The position before the first line that is read, which has this ordinal if it is the first one of its file.
    pub fn beginning(&self, ordinal: u64) -> FollowPosition {
        let mut state = self.lock();
        // Another file may have got the path while nothing followed it.
        state.hold_first(&self.path);
        state.look_at(&self.path);
        let waiting = state.replacements.iter().map(|waiting| waiting.identity);
        if let Some(start) = &state.start {
            let (bytes, Start { identity, line, ordinal, .. }) = (start.beginning(), start);
            return self.position_in(*identity, &bytes, *line, *ordinal, waiting);
        }
        // The file that is read first is not among those that follow it.
        let first = state.first.as_ref().or(state.replacements.front());
        let first = first.map(|first| (first.identity, first.beginning()));
        let (identity, bytes) = first.unwrap_or((FileIdentity::NONE, Vec::new()));
        self.position_in(identity, &bytes, 0, ordinal, waiting)
    }

    /// The position before the line of `ordinal`, after `line` lines of the file that has the line of `of_file`. `None` if
    /// that file was not read.
    pub(crate) fn position(&self, ordinal: u64, line: u64, of_file: u64) -> Option<FollowPosition> {
        let mut state = self.lock();
        // The reader looks when it comes to the end of a file, which may take it longer than a rotation.
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
            // A file that was truncated is there twice.
            replacements: later.filter(|it| *it != file && *it != FileIdentity::NONE).collect(),
            // For the caller to say, who knows the run.
            before_run: false,
        }
    }

    /// The path.
    pub(super) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Lines of the next file that are passed over.
    pub(crate) fn next_line(&self) -> u64 {
        self.lock().start.as_ref().map_or(0, |start| start.line)
    }

    /// The next file, whose first line that is read has this ordinal.
    pub(super) fn next_file(self: &Arc<Follow>, ordinal: u64, stop: StopSign) -> Followed {
        Followed { follow: Arc::clone(self), ordinal, stop, open: None }
    }

    /// Whether another file has the path of the one that is read by now.
    fn is_replaced(&self) -> io::Result<bool> {
        let mut state = self.lock();
        let is_news = state.look_at(&self.path);
        let is_replaced = !state.replacements.is_empty();
        drop(state);
        if is_news {
            self.tell()?;
        }
        Ok(is_replaced)
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
        if !follow.is_replaced()? {
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
            // What an earlier process read is in the first one.
            let first_ordinal = if state.files.is_empty() { 0 } else { self.ordinal };
            state.files.push_back(OneFile { first_ordinal, identity, head });
            if state.files.len() > MOST_REMEMBERED {
                state.files.pop_front();
            }
            drop(state);
            self.open = Some(Open { file, offset, quiet_since: None });
            self.follow.tell()?;
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
                    // One that was empty at the start, or not there.
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
mod tests {
    use std::{fs, io::Write as _};

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
        let inode = |name: &str| FileIdentity::at(&folder.path().join(name)).unwrap().inode;
        let names = [("agent.jsonl.1", 7), ("agent.jsonl.2", 1), ("agent.jsonl", 1)];
        assert_eq!(positions, names.map(|(name, line)| (inode(name), line)));
    }

    /// The numbers of files that are gone are given to new ones.
    #[cfg(unix)]
    #[test]
    fn a_file_of_which_nothing_was_read_is_found_by_its_first_line_too_if_it_had_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.jsonl");
        for (written, is_known) in [("one\ntwo\n", true), ("on", false), ("", false)] {
            fs::write(&path, written).unwrap();
            let position = Follow::new(&path, None).unwrap().beginning(0);
            let resumed = Follow::new(&path, Some(&position)).unwrap();
            assert_eq!(resumed.beginning(7), position);
            fs::write(&path, "one\ntwo\nmore\n").unwrap();
            assert!(rest(&path, &position).is_some());
            fs::write(&path, "another\n").unwrap();
            assert_eq!(rest(&path, &position).is_none(), is_known, "{written}");
            // An older version says nothing of the first line there.
            let mut older = serde_json::to_value(&position).unwrap();
            older["version"] = 2.into();
            let older = serde_json::from_value(older).unwrap();
            assert_eq!(rest(&path, &older).as_deref(), Some("another\n"));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_renamed_away_before_the_reading_begins_is_read_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.jsonl");
        fs::write(&path, "one\n").unwrap();
        let follow = Follow::new(&path, None).unwrap();
        let follow = Arc::new(Follow { quiet: Duration::ZERO, ..follow });
        let identity = FileIdentity::at(&path).unwrap();
        fs::rename(&path, folder.path().join("agent.jsonl.1")).unwrap();
        fs::write(&path, "two\n").unwrap();
        let beginning = follow.beginning(0);
        assert_eq!((follow.continues_at(), beginning.inode), (None, identity.inode));
        assert_eq!(beginning.replacements, [FileIdentity::at(&path).unwrap()]);
        let one = to_its_end(&mut follow.next_file(0, StopSign::default()));
        let mut buffer = [0; 100];
        let count = follow.next_file(1, StopSign::default()).read(&mut buffer).unwrap();
        assert_eq!((&*one, &buffer[..count]), ("one\n", &b"two\n"[..]));
    }

    #[cfg(unix)]
    #[test]
    fn files_that_waited_are_read_by_the_next_process() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.jsonl");
        let [first, second] = ["agent.jsonl.1", "agent.jsonl.2"].map(|it| folder.path().join(it));
        fs::write(&path, "one\n").unwrap();
        let follow = Arc::new(Follow::new(&path, None).unwrap());
        assert_eq!(follow.next_file(0, StopSign::default()).read(&mut [0; 100]).unwrap(), 4);
        fs::rename(&path, &first).unwrap();
        fs::write(&path, "two\n").unwrap();
        // The reader has not come to the end of the first one yet.
        let position = follow.position(1, 1, 0).unwrap();
        assert_eq!(position.replacements, [FileIdentity::at(&path).unwrap()]);
        fs::rename(&first, &second).unwrap();
        fs::rename(&path, &first).unwrap();
        fs::write(&path, "three\n").unwrap();

        let next = Follow::new(&path, Some(&position)).unwrap();
        assert_eq!((next.continues_at(), next.lost()), (Some(1), 0));
        let next = Arc::new(Follow { quiet: Duration::ZERO, ..next });
        let [rest, two] =
            [1, 1].map(|ordinal| to_its_end(&mut next.next_file(ordinal, StopSign::default())));
        let mut buffer = [0; 100];
        let count = next.next_file(2, StopSign::default()).read(&mut buffer).unwrap();
        assert_eq!((&*rest, &*two, &buffer[..count]), ("", "two\n", &b"three\n"[..]));

        let mut older = serde_json::to_value(&position).unwrap();
        older["version"] = 1.into();
        older.as_object_mut().unwrap().remove("replacements");
        let older = serde_json::from_value(older).unwrap();
        assert_eq!(Follow::new(&path, Some(&older)).unwrap().continues_at(), Some(1));
        fs::remove_file(&first).unwrap();
        assert_eq!(Follow::new(&path, Some(&position)).unwrap().lost(), 1);
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
