//! The time limit for reading a workspace, which is checked during reading. It knows no folder.

use std::{
    io::Read,
    sync::Arc,
    time::{Duration, Instant},
};

use super::WorkspaceError;

/// How many bytes are read between two checks of the clock.
const CHUNK_BYTES: u64 = 64 << 10;

/// A point in time at which reading ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Until {
    /// `None` if the clock does not go that far.
    deadline: Option<Instant>,
    time: Duration,
}

impl Until {
    /// The time limit that ends after `time`.
    pub(super) fn after(time: Duration) -> Until {
        Until { deadline: Instant::now().checked_add(time), time }
    }

    /// Checks whether there is time left.
    ///
    /// # Errors
    /// [`WorkspaceError::TookTooLong`] if there is none.
    pub(super) fn check(&self) -> Result<(), WorkspaceError> {
        match self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            true => Err(WorkspaceError::TookTooLong { time: self.time }),
            false => Ok(()),
        }
    }

    /// Reads at most `most` bytes of the file at `path`.
    pub(super) fn read(
        &self,
        mut file: impl Read,
        most: u64,
        path: &str,
    ) -> Result<Vec<u8>, WorkspaceError> {
        let mut content = Vec::new();
        loop {
            self.check()?;
            let chunk = CHUNK_BYTES.min(most - content.len() as u64);
            let read = file.by_ref().take(chunk).read_to_end(&mut content);
            let read = read.map_err(|source| WorkspaceError::File {
                path: path.to_owned(),
                source: Arc::new(source),
            })?;
            if read as u64 != chunk || content.len() as u64 == most {
                return Ok(content);
            }
        }
    }
}
