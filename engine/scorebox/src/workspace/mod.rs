//! The files that a task left, for scorers that were granted to look at them. Reads, and writes nothing;
//! knows no sandbox and no case.
//!
//! - `folder`: the folder that a user names, and the reading of what is below it.
//! - `listed`: opening a file of a folder's list, which may have changed since.
//! - `until`: the time that the reading may take.
//! - `files`: [`Workspace`], the files of one case as they were when it was scored.
//! - `task`: [`TaskFolder`], the folder that a case names, read when the first scorer looks.
//! - `bounds`: what is read at most.
//! - `error`: why there are none.
//!
//! The files are read as a whole before the score begins, within bounds, so that what a scorer can see is
//! one thing with one digest, however long it looks.

mod bounds;
mod error;
mod files;
mod folder;
mod listed;
mod task;
mod until;

pub use bounds::{MAX_FOLDER_BYTES, MAX_WORKSPACE_BYTES, MAX_WORKSPACE_DEPTH, MAX_WORKSPACE_FILES};
pub use error::WorkspaceError;
pub use files::Workspace;
pub use folder::{LEFT_OUT, WorkspaceFolder};
pub use task::TaskFolder;
