//! Remembers how far a followed file was scored, so that a later process continues there: after each commit, beside the
//! database. A case that was committed after that is read again, and known by its place and name.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    case::{Follow, FollowPosition},
    input_file::{InputFileError, read_text},
};

use super::{
    Event, Refused, Sink,
    unbroken::{Place, Unbroken},
};

/// Bytes of a position's file that are read.
const MOST_BYTES: u64 = 64 << 10;

/// The position of a followed file, in a file.
#[derive(Debug)]
pub struct FollowKeeper {
    follow: Arc<Follow>,
    file: PathBuf,
    unbroken: Unbroken,
    stored: Place,
}

impl FollowKeeper {
    /// A sink that stores the position of `follow` in `file`.
    pub fn new(follow: Arc<Follow>, file: impl Into<PathBuf>) -> FollowKeeper {
        let (unbroken, stored) = (Unbroken::default(), Place::default());
        FollowKeeper { follow, file: file.into(), unbroken, stored }
    }

    /// The position that is stored in a file; `None` if there is none.
    ///
    /// # Errors
    /// It cannot be read, or is not a position.
    pub fn stored(file: &Path) -> io::Result<Option<FollowPosition>> {
        let text = match read_text(file, MOST_BYTES) {
            Ok(text) => text,
            Err(InputFileError::NotFound) => return Ok(None),
            Err(error) => return Err(io::Error::other(error)),
        };
        serde_json::from_str(&text).map(Some).map_err(io::Error::from)
    }

    /// Stores that the file is read from its beginning, where the first line has this ordinal. Without that, a process
    /// that is killed after its first commit would leave nothing to continue from.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn store_beginning(&self, ordinal: u64) -> io::Result<()> {
        self.write(&self.follow.beginning(ordinal))
    }

    fn store(&mut self) -> io::Result<()> {
        let place = self.unbroken.place();
        if place == self.stored {
            return Ok(());
        }
        let position = self.follow.position(place.ordinal, place.line, place.of_file);
        let Some(position) = position else { return Ok(()) };
        self.write(&position)?;
        self.stored = place;
        Ok(())
    }

    fn write(&self, position: &FollowPosition) -> io::Result<()> {
        let folder = self.file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut new = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
        serde_json::to_writer(&mut new, position)?;
        new.write_all(b"\n")?;
        new.persist(&self.file).map_err(|error| error.error)?;
        Ok(())
    }
}

impl Sink for FollowKeeper {
    fn take(&mut self, event: &Event) -> Result<(), Refused> {
        self.unbroken.note(event);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Refused> {
        self.store().map_err(|error| {
            let file = self.file.display();
            Refused::new(format!(
                "cannot write the position of the followed file to `{file}`: {error}"
            ))
        })
    }
}
