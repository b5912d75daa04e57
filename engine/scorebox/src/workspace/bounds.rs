//! What is read of a workspace at most.

/// Files of one workspace.
pub const MAX_WORKSPACE_FILES: usize = 10_000;
/// Files, folders and all else that is met on the way.
pub(super) const MAX_WORKSPACE_ENTRIES: usize = 100_000;
/// Bytes of all files of one workspace with their paths: 64 MiB.
pub const MAX_WORKSPACE_BYTES: u64 = 64 << 20;
/// Folders in folders.
pub const MAX_WORKSPACE_DEPTH: usize = 64;
/// Bytes of the name of a case's folder.
pub const MAX_FOLDER_BYTES: usize = 4096;
