//! The files that a task left, for scorers with the grant to read them. It only reads; it knows no sandbox and no case.
//!
//! - `folder`: the folder that a user names, and reading what is below it.
//! - `listed`: opens a file from a folder's list, which may have changed since.
//! - `until`: the time limit for reading.
//! - `files`: [`Workspace`], the files of one case as they were when it was scored.
//! - `task`: [`TaskFolder`], the folder that a case names, read when the first scorer needs it.
//! - `bounds`: the limits for reading.
//! - `error`: why the files are not available.
//!
//! All files are read before the score begins, within limits, so that what a scorer sees is constant and has one
//! digest, however long it runs.

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
