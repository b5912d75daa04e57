//! Describes the file that a reader reads: its path, and its name in ids and origins. Opens nothing.

use std::path::{Path, PathBuf};

use scorebox::case::Mapping;

/// A file or a folder that a reader reads, with its name for origins.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    pub path: PathBuf,
    /// The name of the file, without its folders, so that a case is the same on every machine.
    pub file: String,
    pub mapping: Mapping,
}

impl SourceFile {
    /// The file at `path`, whose lines are read with `mapping`.
    pub(crate) fn of(path: &Path, mapping: Mapping) -> SourceFile {
        SourceFile { path: path.to_owned(), file: file_name(path), mapping }
    }

    /// The name of the file without its last suffix, for ids.
    pub(crate) fn stem(&self) -> &str {
        match self.file.rsplit_once('.') {
            Some((stem, _)) if !stem.is_empty() => stem,
            _ => &self.file,
        }
    }
}

/// The last part of a path, as text that can be in an id.
fn file_name(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let name = absolute.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    name.chars().map(|it| if it.is_control() { '_' } else { it }).collect()
}
