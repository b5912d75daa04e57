//! Lists the files that paths of shards name; a path may be a folder. Opens none of them.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::error::ShardError;

/// The named files, and the `.parquet` files of named folders in the order of their names. A file in a folder whose
/// name begins with `.` or `_` is not a shard, but an incomplete file or a marker of a data engine.
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
