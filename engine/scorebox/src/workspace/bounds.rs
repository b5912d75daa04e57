//! The limits for reading a workspace.

/// The number of files of one workspace.
pub const MAX_WORKSPACE_FILES: usize = 10_000;
/// The number of files, folders and all other entries.
pub(super) const MAX_WORKSPACE_ENTRIES: usize = 100_000;
/// The bytes of all files of one workspace with their paths: 64 MiB.
pub const MAX_WORKSPACE_BYTES: u64 = 64 << 20;
/// The depth of nested folders.
pub const MAX_WORKSPACE_DEPTH: usize = 64;
/// The length of the name of a case's folder in bytes.
pub const MAX_FOLDER_BYTES: usize = 4096;
