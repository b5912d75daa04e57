//! Whether two paths name one file: what a command writes must not be what it reads or writes elsewhere.

use std::{io, path::Path};

/// Whether both are the same file, however they are named.
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
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
