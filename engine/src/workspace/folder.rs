//! The folder that a user names, and the reading of what is below it. Follows no link out of it, and none
//! that is a file of it.

use std::{
    collections::BTreeMap,
    io::{self, Read as _},
    path::Path,
    sync::Arc,
};

use cap_std::{
    ambient_authority,
    fs::{Dir, FileType},
};

use super::{Workspace, WorkspaceError};

/// Files of one workspace.
pub const MAX_WORKSPACE_FILES: usize = 10_000;
/// Files, folders and all else that is met on the way.
pub const MAX_WORKSPACE_ENTRIES: usize = 100_000;
/// Bytes of all files of one workspace with their paths: 64 MiB.
pub const MAX_WORKSPACE_BYTES: u64 = 64 << 20;
/// Folders in folders.
pub const MAX_WORKSPACE_DEPTH: usize = 64;
/// Bytes of the name of a case's folder.
pub const MAX_FOLDER_BYTES: usize = 4096;
/// Folders that nobody who judges a task's work means.
pub const LEFT_OUT: [&str; 2] = [".git", "node_modules"];

/// A folder that scorers may be shown parts of. Cheap to clone.
#[derive(Clone, Debug)]
pub struct WorkspaceFolder(Arc<Dir>);

impl WorkspaceFolder {
    /// Opens the folder.
    ///
    /// # Errors
    /// Where it is none, or cannot be read.
    pub fn open(path: &Path) -> Result<WorkspaceFolder, WorkspaceError> {
        let opened = Dir::open_ambient_dir(path, ambient_authority());
        let folder = opened.map_err(|source| unreadable(&path.display().to_string(), source))?;
        Ok(WorkspaceFolder(Arc::new(folder)))
    }

    /// All files of the folder `name` below this one (`.` is this one): regular files, by their paths from
    /// there. Links are left out, as are the folders of [`LEFT_OUT`].
    ///
    /// # Errors
    /// Where `name` leads out of this folder, by `..` or by a link; where something cannot be read; and
    /// where there is more than the bounds allow.
    pub fn read(&self, name: &str) -> Result<Workspace, WorkspaceError> {
        let folder = self.0.open_dir(name).map_err(|source| unreadable(name, source))?;
        let mut reading = Reading { folder: name, files: BTreeMap::new(), bytes: 0, entries: 0 };
        reading.read_folder(&folder, "", 0)?;
        Ok(Workspace::new(reading.files))
    }
}

fn unreadable(folder: &str, source: io::Error) -> WorkspaceError {
    WorkspaceError::Folder { folder: folder.to_owned(), source }
}

/// The files that were read so far.
struct Reading<'a> {
    folder: &'a str,
    files: BTreeMap<String, Vec<u8>>,
    /// Of contents and of paths.
    bytes: u64,
    /// Files, folders and all else that was met.
    entries: usize,
}

impl Reading<'_> {
    fn read_folder(
        &mut self,
        folder: &Dir,
        prefix: &str,
        depth: usize,
    ) -> Result<(), WorkspaceError> {
        let here = || if prefix.is_empty() { self.folder } else { prefix };
        if depth > MAX_WORKSPACE_DEPTH {
            return Err(WorkspaceError::TooDeep { path: prefix.to_owned() });
        }
        for entry in folder.entries().map_err(|source| unreadable(here(), source))? {
            let entry = entry.map_err(|source| unreadable(self.folder, source))?;
            self.entries += 1;
            if self.entries > MAX_WORKSPACE_ENTRIES {
                return Err(WorkspaceError::TooMany { folder: self.folder.to_owned() });
            }
            let path = match entry.file_name().into_string() {
                Ok(name) if LEFT_OUT.contains(&name.as_str()) => continue,
                Ok(name) => format!("{prefix}{name}"),
                Err(name) => {
                    let path = format!("{prefix}{}", name.display());
                    return Err(WorkspaceError::Name { path });
                }
            };
            let failed = |source| WorkspaceError::File { path: path.clone(), source };
            let mut kind = entry.file_type().map_err(failed)?;
            if kind == FileType::unknown() {
                // Some file systems do not say it in a folder's list.
                kind = entry.metadata().map_err(failed)?.file_type();
            }
            if kind.is_dir() {
                let below = entry.open_dir().map_err(failed)?;
                self.read_folder(&below, &format!("{path}/"), depth + 1)?;
            } else if kind.is_file() {
                let file = entry.open().map_err(failed)?;
                self.read_file(file, path)?;
            }
        }
        Ok(())
    }

    fn read_file(&mut self, file: cap_std::fs::File, path: String) -> Result<(), WorkspaceError> {
        if self.files.len() == MAX_WORKSPACE_FILES {
            return Err(WorkspaceError::TooMany { folder: self.folder.to_owned() });
        }
        let room = MAX_WORKSPACE_BYTES.saturating_sub(self.bytes + path.len() as u64);
        let mut content = Vec::new();
        let read = file.take(room + 1).read_to_end(&mut content);
        read.map_err(|source| WorkspaceError::File { path: path.clone(), source })?;
        if content.len() as u64 > room {
            return Err(WorkspaceError::TooLarge { folder: self.folder.to_owned() });
        }
        self.bytes += (path.len() + content.len()) as u64;
        self.files.insert(path, content);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn paths(workspace: &Workspace) -> Vec<&str> {
        workspace.paths().collect()
    }

    #[test]
    fn regular_files_are_read_by_their_paths() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        fs::create_dir_all(at("task/src/deep")).unwrap();
        fs::create_dir_all(at("task/node_modules/big")).unwrap();
        fs::create_dir_all(at("task/.git")).unwrap();
        for path in
            ["task/b", "task/src/a.rs", "task/src/deep/c", "task/node_modules/big/x", "other"]
        {
            fs::write(at(path), path).unwrap();
        }
        let folder = WorkspaceFolder::open(root.path()).unwrap();
        let workspace = folder.read("task").unwrap();
        assert_eq!(paths(&workspace), ["b", "src/a.rs", "src/deep/c"]);
        assert_eq!(workspace.read("src/a.rs"), Some(&b"task/src/a.rs"[..]));
        assert_eq!(workspace.read("other"), None);
        assert_eq!(folder.read(".").unwrap().paths().count(), 4);
        assert_eq!(folder.read("task/../task").unwrap(), workspace);
    }

    #[test]
    fn nothing_leads_out_of_the_folder() {
        let root = tempfile::tempdir().unwrap();
        let inside = root.path().join("inside");
        fs::create_dir(&inside).unwrap();
        fs::write(root.path().join("secret"), "secret").unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../secret", inside.join("link")).unwrap();
            std::os::unix::fs::symlink("..", inside.join("up")).unwrap();
        }
        let folder = WorkspaceFolder::open(&inside).unwrap();
        assert_eq!(paths(&folder.read(".").unwrap()), [""; 0]);
        let absolute = root.path().to_str().unwrap();
        for name in ["..", "up", "x/../..", absolute, "/", "missing", ""] {
            let error = folder.read(name).unwrap_err();
            assert!(matches!(error, WorkspaceError::Folder { .. }), "{name}: {error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_regular_file_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        // A socket: opening one fails, and a pipe would wait for ever.
        let _listening =
            std::os::unix::net::UnixListener::bind(root.path().join("socket")).unwrap();
        let folder = WorkspaceFolder::open(root.path()).unwrap();
        assert_eq!(folder.read(".").unwrap().paths().count(), 0);
    }

    #[test]
    fn there_is_an_end_to_it() {
        let root = tempfile::tempdir().unwrap();
        let large = fs::File::create(root.path().join("large")).unwrap();
        large.set_len(MAX_WORKSPACE_BYTES + 1).unwrap();
        let folder = WorkspaceFolder::open(root.path()).unwrap();
        assert!(matches!(folder.read("."), Err(WorkspaceError::TooLarge { .. })));
        large.set_len(MAX_WORKSPACE_BYTES - "large".len() as u64).unwrap();
        assert!(folder.read(".").is_ok());
        large.set_len(0).unwrap();

        for number in 1..MAX_WORKSPACE_FILES {
            fs::write(root.path().join(number.to_string()), "").unwrap();
        }
        assert!(folder.read(".").is_ok());
        fs::write(root.path().join("one more"), "").unwrap();
        assert!(matches!(folder.read("."), Err(WorkspaceError::TooMany { .. })));

        let deep = tempfile::tempdir().unwrap();
        let folders = "d/".repeat(MAX_WORKSPACE_DEPTH);
        fs::create_dir_all(deep.path().join(&folders)).unwrap();
        let folder = WorkspaceFolder::open(deep.path()).unwrap();
        assert!(folder.read(".").is_ok());
        fs::create_dir(deep.path().join(folders).join("d")).unwrap();
        assert!(matches!(folder.read("."), Err(WorkspaceError::TooDeep { .. })));
    }
}
