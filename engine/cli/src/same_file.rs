//! Names of files: whether two paths name one file, since what a command writes must not be what it reads or writes elsewhere; and a file's
//! name without its folder.

use std::{io, path::Path};

/// The name of a file or folder, without those that it is in; the path, if it ends in none.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Whether both are the same file, however they are named.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    // Of a file that is not there yet, the folder is.
    let real = |path: &Path| {
        path.canonicalize().or_else(|_| {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).canonicalize()?;
            Ok::<_, io::Error>(path.file_name().map_or(folder.clone(), |name| folder.join(name)))
        })
    };
    match (real(one), real(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}
