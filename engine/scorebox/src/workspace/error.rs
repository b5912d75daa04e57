//! Why the files of a task cannot be had. Only the words.

use std::{io, sync::Arc, time::Duration};

use crate::advice::{Advice, Advised, Form, LeaveOut};

use super::bounds::{
    MAX_WORKSPACE_BYTES, MAX_WORKSPACE_DEPTH, MAX_WORKSPACE_ENTRIES, MAX_WORKSPACE_FILES,
};

/// Why the files of a task cannot be had.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// The folder that the user named, or the one below it that a case names, cannot be read.
    #[error("cannot read the folder `{folder}` of the workspace: {source}")]
    Folder {
        /// Which.
        folder: String,
        /// What the system says.
        source: Arc<io::Error>,
    },
    /// One of its files cannot be read.
    #[error("cannot read `{path}` of the workspace: {source}")]
    File {
        /// Which.
        path: String,
        /// What the system says.
        source: Arc<io::Error>,
    },
    /// A name that is not text.
    #[error("the workspace has a file whose name is not Unicode: `{path}`")]
    Name {
        /// The name, as far as it is text.
        path: String,
    },
    /// More files than are read, or more of all else than is looked at.
    #[error(
        "the workspace `{folder}` has more than {MAX_WORKSPACE_FILES} files, or \
         {MAX_WORKSPACE_ENTRIES} entries"
    )]
    TooMany {
        /// Which.
        folder: String,
    },
    /// More bytes than are read.
    #[error(
        "the workspace `{folder}` has more than {} MiB",
        MAX_WORKSPACE_BYTES >> 20
    )]
    TooLarge {
        /// Which.
        folder: String,
    },
    /// An invalid pattern of what to leave out.
    #[error("invalid exclude pattern `{pattern}`: {why}")]
    Pattern {
        /// As it was written.
        pattern: String,
        /// What is wrong with it.
        why: String,
    },
    /// The time for reading is over.
    #[error("reading the files of the case took longer than {} ms", time.as_millis())]
    TookTooLong {
        /// How long it may take.
        time: Duration,
    },
    /// Deeper than is read.
    #[error("the workspace has folders more than {MAX_WORKSPACE_DEPTH} deep: `{path}`")]
    TooDeep {
        /// Where.
        path: String,
    },
}

impl Advised for WorkspaceError {
    fn advice(&self) -> Option<Advice> {
        Some(match self {
            WorkspaceError::Folder { .. } => Advice::Write(Form::WorkspaceFolder),
            WorkspaceError::File { .. } => Advice::LeaveOut(LeaveOut::Unreadable),
            WorkspaceError::Name { .. } => Advice::LeaveOut(LeaveOut::Unnameable),
            WorkspaceError::Pattern { .. } => Advice::Write(Form::ExcludePattern),
            WorkspaceError::TookTooLong { .. } => Advice::LeaveOut(LeaveOut::Slow),
            WorkspaceError::TooMany { .. }
            | WorkspaceError::TooLarge { .. }
            | WorkspaceError::TooDeep { .. } => Advice::LeaveOut(LeaveOut::TooMuch),
        })
    }
}
