//! Writes a file that gets its name only when it is complete, and replaces a file with that name. It does not interpret
//! the content.

use std::{
    io::{self, Write as _},
    path::Path,
};

use super::BuildError;

/// Writes the file completely, or not at all.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), BuildError> {
    try_to(path, bytes).map_err(BuildError::file(path))
}

fn try_to(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".scorebox-");
    // The permissions are those of a newly created file: the user's mask decides what others may do with it.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut beside = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
    beside.as_file_mut().write_all(bytes)?;
    beside.as_file().sync_all()?;
    beside.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_replaced_by_a_whole_one_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for bytes in [&b"one"[..], b"another"] {
            write_whole(&path, bytes).unwrap();
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
        // A folder cannot be replaced.
        fs::create_dir(folder.path().join("folder")).unwrap();
        assert!(write_whole(&folder.path().join("folder"), b"three").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
