//! One file of a workspace, and what happened to it. Which lines changed is determined elsewhere.

use std::ops::Range;

use serde::Deserialize;

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileStatus {
    /// It did not exist before.
    Added,
    /// It existed before, and has other content now.
    Modified,
    /// It no longer exists.
    Deleted,
    /// It had another path before; it may have changed as well.
    Renamed,
    /// It has not changed.
    Unchanged,
}

/// One file, by its path from the root of the workspace.
#[derive(Debug, Clone, Default)]
pub struct File {
    pub(super) path: String,
    /// `None` if it is not known.
    pub(super) status: Option<FileStatus>,
    pub(super) from: Option<String>,
    pub(super) content: Option<String>,
    pub(super) before: Option<String>,
    pub(super) is_binary: bool,
    /// Its sections of the diff: usually one.
    pub(super) sections: Vec<Range<usize>>,
    pub(super) hunks: Vec<Hunk>,
}

/// A hunk of a diff: the first line's numbers, and where its lines are in the diff's text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hunk {
    pub(super) old_start: usize,
    pub(super) new_start: usize,
    pub(super) lines: Range<usize>,
}

impl File {
    /// The path, with `/`, from the root of the workspace.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What happened to it, if that is known.
    #[must_use]
    pub fn status(&self) -> Option<FileStatus> {
        self.status
    }

    /// The path of the file that it was renamed or copied from.
    #[must_use]
    pub fn from(&self) -> Option<&str> {
        self.from.as_deref()
    }

    /// Its content now, if that is known.
    #[must_use]
    pub fn content(&self) -> Option<&str> {
        self.content.as_deref()
    }

    /// Its content before, if that is known.
    #[must_use]
    pub fn before(&self) -> Option<&str> {
        self.before.as_deref()
    }

    /// Whether the diff says that it is binary.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        self.is_binary
    }

    /// Whether it exists now, as all but deleted files do.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.status != Some(FileStatus::Deleted)
    }

    /// Merges a later section of the diff about the same file, as in a series of commits.
    pub(super) fn append(&mut self, later: File) {
        let was_there = self.status != Some(FileStatus::Added);
        self.status = Some(match (was_there, later.exists()) {
            (false, true) => FileStatus::Added,
            (true, false) => FileStatus::Deleted,
            (true, true) if self.status == Some(FileStatus::Renamed) => FileStatus::Renamed,
            (true, true) => FileStatus::Modified,
            (false, false) => FileStatus::Unchanged,
        });
        let is_as_it_was = later.exists() && later.hunks.is_empty() && !later.is_binary;
        if !is_as_it_was || later.content.is_some() {
            self.content = later.content;
        }
        self.from = self.from.take().or(later.from);
        self.is_binary |= later.is_binary;
        self.sections.extend(later.sections);
        self.hunks.extend(later.hunks);
    }

    /// Merges a later section of the diff that renames the file.
    pub(super) fn rename(&mut self, mut later: File) {
        let path = std::mem::replace(&mut self.path, std::mem::take(&mut later.path));
        if self.status != Some(FileStatus::Added) {
            self.status = Some(FileStatus::Renamed);
            self.from.get_or_insert(path);
        }
        later.from = None;
        self.append(later);
    }
}
