//! Stores how far a followed file was scored, in a file beside the database, so that a later process continues there.
//! It does so at the start, after each commit, and when there is another file to read. A case that was committed after
//! that is read again, and recognized by its position and name.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    case::{Follow, FollowPosition},
    input_file::{InputFileError, read_text},
};

use super::{
    Event, Refused, Sink,
    unbroken::{Position, Unbroken},
};

/// The most bytes of a position's file that are read.
const MAX_BYTES: u64 = 64 << 10;

/// The position of a followed file, stored in a file. Clones share the position.
#[derive(Clone, Debug)]
pub struct FollowKeeper(Arc<Mutex<Kept>>);

/// The state of a keeper, and where it is stored.
#[derive(Debug)]
struct Kept {
    follow: Arc<Follow>,
    file: PathBuf,
    unbroken: Unbroken,
    stored: Option<FollowPosition>,
    /// Whether the run has begun, in this process or an earlier one.
    has_run: bool,
}

impl FollowKeeper {
    /// A sink that stores the position of `follow` in `file`. The reader of `follow` also stores it when there is
    /// another file to read.
    pub fn new(follow: Arc<Follow>, file: impl Into<PathBuf>) -> FollowKeeper {
        let unbroken = match follow.continues_at() {
            Some(ordinal) => Unbroken::from(before(ordinal, follow.next_line())),
            None => Unbroken::default(),
        };
        let (of_kept, file) = (Arc::clone(&follow), file.into());
        let kept = Kept { follow: of_kept, file, unbroken, stored: None, has_run: false };
        let kept = Arc::new(Mutex::new(kept));
        let of_keeper = Arc::downgrade(&kept);
        follow.listen(move || of_keeper.upgrade().map_or(Ok(()), |kept| lock(&kept).store()));
        FollowKeeper(kept)
    }

    /// The same for a run that an earlier process began. For a new run, the keeper learns of its beginning from an
    /// event.
    #[must_use]
    pub fn resuming(self) -> FollowKeeper {
        lock(&self.0).has_run = true;
        self
    }

    /// The position that is stored in a file; `None` if the file does not exist.
    ///
    /// # Errors
    /// The file cannot be read, or is not a valid position.
    pub fn stored(file: &Path) -> io::Result<Option<FollowPosition>> {
        let text = match read_text(file, MAX_BYTES) {
            Ok(text) => text,
            Err(InputFileError::NotFound) => return Ok(None),
            Err(error) => return Err(io::Error::other(error)),
        };
        serde_json::from_str(&text).map(Some).map_err(io::Error::from)
    }

    /// Stores where the reading begins, before a line is read; the first line has the ordinal `ordinal` if it is read
    /// from the beginning of a file. Otherwise a process that is killed after its first commit would leave no position
    /// to continue from, and a process that is killed before it would lose track of the files that wait.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn store_beginning(&mut self, ordinal: u64) -> io::Result<()> {
        lock(&self.0).store_beginning(ordinal)
    }
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    // The state behind the lock is consistent after every statement.
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    fn store_beginning(&mut self, ordinal: u64) -> io::Result<()> {
        if self.follow.continues_at().is_none() {
            self.unbroken = Unbroken::from(before(ordinal, 0));
        }
        let position = self.follow.beginning(ordinal);
        self.write(self.with_run(position))
    }

    /// The position, with whether the run has begun.
    fn with_run(&self, position: FollowPosition) -> FollowPosition {
        FollowPosition { before_run: !self.has_run, ..position }
    }

    fn store(&mut self) -> io::Result<()> {
        let next = self.unbroken.position();
        let position = self.follow.position(next.ordinal, next.line, next.of_file);
        let position = position.map(|position| self.with_run(position));
        // This applies even if nothing was read: another file may have got the path.
        let is_new = |position: &FollowPosition| self.stored.as_ref() != Some(position);
        position.filter(is_new).map_or(Ok(()), |position| self.write(position))
    }

    fn write(&mut self, position: FollowPosition) -> io::Result<()> {
        write(&self.file, &position).map_err(|error| {
            let file = self.file.display();
            io::Error::other(format!(
                "cannot write the position of the followed file to `{file}`: {error}"
            ))
        })?;
        self.stored = Some(position);
        Ok(())
    }
}

fn write(file: &Path, position: &FollowPosition) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut new = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    serde_json::to_writer(&mut new, position)?;
    new.write_all(b"\n")?;
    new.persist(file).map_err(|error| error.error)?;
    Ok(())
}

/// The position before the first line that is read, which has this ordinal and follows `line` lines of its file.
fn before(ordinal: u64, line: u64) -> Position {
    Position { ordinal, line, of_file: ordinal.saturating_sub(1) }
}

impl Sink for FollowKeeper {
    fn take(&mut self, event: &Event) -> Result<(), Refused> {
        let mut kept = lock(&self.0);
        kept.has_run |= matches!(event, Event::Started(_));
        kept.unbroken.note(event);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Refused> {
        lock(&self.0).store().map_err(|error| Refused::new(error.to_string()))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;
    use crate::case::{CaseReader, Mapping};

    #[test]
    fn a_file_that_gets_the_path_is_stored_before_a_case_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let [path, rotated, file] =
            ["agent.jsonl", "agent.jsonl.1", "position"].map(|name| folder.path().join(name));
        fs::write(&path, "{\"output\": 1}\n").unwrap();
        let follow = Arc::new(Follow::new(&path, None).unwrap());
        let mut keeper = FollowKeeper::new(Arc::clone(&follow), &file);
        keeper.store_beginning(7).unwrap();
        let stored = || FollowKeeper::stored(&file).unwrap().unwrap();
        let beginning = stored();
        let mut cases = CaseReader::follow(follow, Mapping::NONE, 7);
        assert!(cases.next_case().unwrap().is_ok());
        fs::rename(&path, &rotated).unwrap();
        fs::write(&path, "{\"output\": 2}\n").unwrap();
        keeper.flush().unwrap();
        let position = stored();
        assert_eq!((position.line, position.ordinal), (0, 7));
        assert_eq!((position.device, position.inode), (beginning.device, beginning.inode));
        assert_eq!((beginning.replacements.len(), position.replacements.len()), (0, 1));
    }
}
