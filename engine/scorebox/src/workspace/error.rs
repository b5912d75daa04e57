//! Why the files of a task are not available. It contains only the errors.

use std::{io, sync::Arc, time::Duration};

use crate::advice::{Advice, Advised, Form, LeaveOut};

use super::bounds::{
    MAX_WORKSPACE_BYTES, MAX_WORKSPACE_DEPTH, MAX_WORKSPACE_ENTRIES, MAX_WORKSPACE_FILES,
};

/// Why the files of a task are not available.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// The folder that the user named, or the one below it that a case names, cannot be read.
    #[error("cannot read the folder `{folder}` of the workspace: {source}")]
    Folder {
        /// The folder.
        folder: String,
        /// The system's error.
        source: Arc<io::Error>,
    },
    /// One of its files cannot be read.
    #[error("cannot read `{path}` of the workspace: {source}")]
    File {
        /// The file.
        path: String,
        /// The system's error.
        source: Arc<io::Error>,
    },
    /// A name that is not valid text.
    #[error("the workspace has a file whose name is not Unicode: `{path}`")]
    Name {
        /// The name, with its invalid parts replaced.
        path: String,
    },
    /// More files, or more entries of all kinds, than are read.
    #[error(
        "the workspace `{folder}` has more than {MAX_WORKSPACE_FILES} files, or \
         {MAX_WORKSPACE_ENTRIES} entries"
    )]
    TooMany {
        /// The folder.
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
    /// A pattern of files to omit that is not valid.
    #[error("invalid exclude pattern `{pattern}`: {why}")]
    Pattern {
        /// The pattern as written.
        pattern: String,
        /// The reason.
        why: String,
    },
    /// The time for reading ran out.
    #[error("reading the files of the case took longer than {} ms", time.as_millis())]
    TookTooLong {
        /// The time limit.
        time: Duration,
    },
    /// Folders are nested more deeply than is read.
    #[error("the workspace has folders more than {MAX_WORKSPACE_DEPTH} deep: `{path}`")]
    TooDeep {
        /// The path.
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
