//! Lists the files that paths of shards name; a path may be a folder. Opens none of them.

use std::{
    collections::HashSet,
    io,
    path::{Path, PathBuf},
};

use crate::error::ShardError;

/// The files that are named, those of folders in the order of their names, each once however often and in whatever
/// spelling it is named. What begins with `.` or
/// `_` is not a shard: files that are not complete,
/// and marks of data engines.
///
/// # Errors
/// A folder cannot be read; [`ShardError::EmptyFolder`].
pub fn shard_files(named: &[PathBuf]) -> Result<Vec<PathBuf>, ShardError> {
    let mut files = Vec::new();
    for path in named {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let of_folder = parquet_files(path);
        let mut of_folder =
            of_folder.map_err(|error| ShardError::File { path: path.clone(), error })?;
        if of_folder.is_empty() {
            return Err(ShardError::EmptyFolder { path: path.clone() });
        }
        of_folder.sort();
        files.append(&mut of_folder);
    }
    let mut seen = HashSet::new();
    // What cannot be found is for its reader to say.
    files.retain(|path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
    Ok(files)
}

fn parquet_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in folder.read_dir()? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_hidden = name.starts_with(['.', '_']);
        if !is_hidden && path.extension().is_some_and(|it| it == "parquet") && path.is_file() {
            files.push(path);
        }
    }
    Ok(files)
}
