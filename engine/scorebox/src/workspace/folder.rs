//! The folder that a user names, and reading what is below it. It follows no link out of the folder, and omits
//! links among the files. The user decides what else to omit, except for two folders that are always omitted.

use std::{collections::BTreeMap, io, path::Path, sync::Arc, time::Duration};

use cap_std::{
    ambient_authority,
    fs::{Dir, FileType},
};
use globset::{GlobBuilder, GlobSet};
use tokio::{sync::Semaphore, time::timeout};

use super::{
    Workspace, WorkspaceError,
    bounds::{
        MAX_WORKSPACE_BYTES, MAX_WORKSPACE_DEPTH, MAX_WORKSPACE_ENTRIES, MAX_WORKSPACE_FILES,
    },
    listed::open_listed,
    until::Until,
};

/// How many workspaces are read at the same time. Each uses a thread, and a file system that does not answer blocks it:
/// the limit keeps the other threads of the process available.
const MAX_READERS: usize = 128;
static READERS: Semaphore = Semaphore::const_new(MAX_READERS);
/// Folders that are never part of a task's work.
pub const LEFT_OUT: [&str; 2] = [".git", "node_modules"];

/// A folder of which scorers may read parts. Cheap to clone.
#[derive(Clone, Debug)]
pub struct WorkspaceFolder {
    folder: Arc<Dir>,
    left_out: GlobSet,
}

impl WorkspaceFolder {
    /// Opens the folder.
    ///
    /// # Errors
    /// If it is not a folder, or cannot be read.
    pub fn open(path: &Path) -> Result<WorkspaceFolder, WorkspaceError> {
        let opened = Dir::open_ambient_dir(path, ambient_authority());
        let folder = opened.map_err(|source| unreadable(&path.display().to_string(), source))?;
        Ok(WorkspaceFolder { folder: Arc::new(folder), left_out: GlobSet::empty() })
    }

    /// The same folder without the files and folders that match one of these patterns: a path from a case's folder, or
    /// a glob (`*` is anything but `/`, `**` any folders). They are neither opened nor counted.
    ///
    /// # Errors
    /// If a pattern is not a valid glob, or not a relative path.
    pub fn without(self, patterns: &[String]) -> Result<WorkspaceFolder, WorkspaceError> {
        let globs = patterns.iter().map(|pattern| glob(pattern)).collect::<Result<Vec<_>, _>>()?;
        let left_out = GlobSet::new(globs)
            .map_err(|error| unusable(error.glob().unwrap_or_default(), error.kind()))?;
        Ok(WorkspaceFolder { left_out, ..self })
    }

    /// All files of the folder `name` below this one (`.` is this one): regular files, by their paths from there. Links
    /// are omitted, as are the folders of [`LEFT_OUT`] and the patterns of [`without`](Self::without).
    ///
    /// Ends after `time`, whatever the folder contains: the reading thread checks the clock after every 64 KiB, and is
    /// abandoned if the file system itself does not answer. Needs a tokio runtime.
    ///
    /// # Errors
    /// If `name` leads out of this folder, by `..` or by a link; if something cannot be read, or is replaced while it
    /// is read; if a limit is exceeded; or if the time runs out.
    pub async fn read(&self, name: &str, time: Duration) -> Result<Workspace, WorkspaceError> {
        let too_long = || WorkspaceError::TookTooLong { time };
        // Waiting for other readers does not count as reading, but if they hang, this reader never gets a turn.
        let turn = timeout(time, READERS.acquire()).await.map_err(|_elapsed| too_long())?;
        let (folder, owned, until) = (self.clone(), name.to_owned(), Until::after(time));
        let reading = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            folder.read_until(&owned, until)
        });
        match timeout(time, reading).await {
            Ok(Ok(read)) => read,
            Ok(Err(broken)) => Err(unreadable(name, io::Error::other(broken))),
            Err(_elapsed) => Err(too_long()),
        }
    }

    /// Like [`read`](Self::read), on this thread.
    fn read_until(&self, name: &str, until: Until) -> Result<Workspace, WorkspaceError> {
        let folder = self.folder.open_dir(name).map_err(|source| unreadable(name, source))?;
        let (files, left_out) = (BTreeMap::new(), &self.left_out);
        let mut reading = Reading { folder: name, left_out, until, files, bytes: 0, entries: 0 };
        reading.read_folder(&folder, "", 0)?;
        Ok(Workspace::new(reading.files))
    }
}

fn unreadable(folder: &str, source: io::Error) -> WorkspaceError {
    WorkspaceError::Folder { folder: folder.to_owned(), source: Arc::new(source) }
}

/// `target`, `./target` and `target/` are the same folder.
fn glob(pattern: &str) -> Result<globset::Glob, WorkspaceError> {
    let path = pattern.strip_prefix("./").unwrap_or(pattern).trim_end_matches('/');
    if path.is_empty() || path.starts_with('/') {
        return Err(unusable(pattern, &"it must be relative to the case's folder"));
    }
    let built = GlobBuilder::new(path).literal_separator(true).backslash_escape(true).build();
    built.map_err(|error| unusable(pattern, error.kind()))
}

fn unusable(pattern: &str, why: &dyn std::fmt::Display) -> WorkspaceError {
    WorkspaceError::Pattern { pattern: pattern.to_owned(), why: why.to_string() }
}

/// The files that were read so far.
struct Reading<'a> {
    folder: &'a str,
    left_out: &'a GlobSet,
    until: Until,
    files: BTreeMap<String, Vec<u8>>,
    /// The bytes of contents and of paths.
    bytes: u64,
    /// The number of files, folders and all other entries.
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
            self.until.check()?;
            let entry = entry.map_err(|source| unreadable(self.folder, source))?;
            let name = entry.file_name();
            if LEFT_OUT.iter().any(|left_out| name == *left_out)
                || self.left_out.is_match(Path::new(prefix).join(&name))
            {
                continue;
            }
            self.entries += 1;
            if self.entries > MAX_WORKSPACE_ENTRIES {
                return Err(WorkspaceError::TooMany { folder: self.folder.to_owned() });
            }
            let path = match name.into_string() {
                Ok(name) => format!("{prefix}{name}"),
                Err(name) => {
                    let path = format!("{prefix}{}", name.display());
                    return Err(WorkspaceError::Name { path });
                }
            };
            let failed = |source: io::Error| WorkspaceError::File {
                path: path.clone(),
                source: Arc::new(source),
            };
            let mut kind = entry.file_type().map_err(failed)?;
            if kind == FileType::unknown() {
                // Some file systems do not report it in a folder's list.
                kind = entry.metadata().map_err(failed)?.file_type();
            }
            if kind.is_dir() {
                let below = entry.open_dir().map_err(failed)?;
                self.read_folder(&below, &format!("{path}/"), depth + 1)?;
            } else if kind.is_file() {
                let file = open_listed(&entry).map_err(failed)?;
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
        let content = self.until.read(file, room + 1, &path)?;
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

    impl WorkspaceFolder {
        fn all(&self, name: &str) -> Result<Workspace, WorkspaceError> {
            self.read_until(name, Until::after(Duration::from_secs(3600)))
        }
    }

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
        let workspace = folder.all("task").unwrap();
        assert_eq!(paths(&workspace), ["b", "src/a.rs", "src/deep/c"]);
        assert_eq!(workspace.read("src/a.rs"), Some(&b"task/src/a.rs"[..]));
        assert_eq!(workspace.read("other"), None);
        assert_eq!(folder.all(".").unwrap().paths().count(), 4);
        assert_eq!(folder.all("task/../task").unwrap(), workspace);
    }

    #[test]
    fn what_the_user_names_is_left_out_and_not_opened() {
        let root = tempfile::tempdir().unwrap();
        for path in
            ["app/target/debug/x", "app/src/a.rs", "app/src/target/b", "app/run.log", "app/z"]
        {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let large = fs::File::create(root.path().join("app/target/large")).unwrap();
        large.set_len(MAX_WORKSPACE_BYTES + 1).unwrap();
        let without = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.into()).collect();
            WorkspaceFolder::open(root.path()).unwrap().without(&patterns)
        };
        let left = |patterns: &[&str]| {
            let workspace = without(patterns).unwrap().all("app").unwrap();
            paths(&workspace).join(" ")
        };
        assert_eq!(left(&["target"]), "run.log src/a.rs src/target/b z");
        assert_eq!(left(&["./target/", "*.log"]), "src/a.rs src/target/b z");
        assert_eq!(left(&["**/target", "src/*.rs"]), "run.log z");
        assert!(without(&["*"]).unwrap().all("app").unwrap().paths().next().is_none());
        for pattern in ["", "./", "/", "/target", "a[", "{a"] {
            let error = without(&[pattern]).unwrap_err();
            assert!(matches!(error, WorkspaceError::Pattern { .. }), "{pattern}: {error}");
        }
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
        assert_eq!(paths(&folder.all(".").unwrap()), [""; 0]);
        let absolute = root.path().to_str().unwrap();
        for name in ["..", "up", "x/../..", absolute, "/", "missing", ""] {
            let error = folder.all(name).unwrap_err();
            assert!(matches!(error, WorkspaceError::Folder { .. }), "{name}: {error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_not_a_regular_file_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        // A socket: opening it fails, while opening a pipe would wait forever.
        let _listening =
            std::os::unix::net::UnixListener::bind(root.path().join("socket")).unwrap();
        let folder = WorkspaceFolder::open(root.path()).unwrap();
        assert_eq!(folder.all(".").unwrap().paths().count(), 0);
    }

    #[test]
    fn a_file_in_the_place_of_the_folder_of_a_case_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("file"), "").unwrap();
        let error = WorkspaceFolder::open(root.path()).unwrap().all("file").unwrap_err();
        assert!(matches!(error, WorkspaceError::Folder { .. }), "{error}");
    }

    #[tokio::test]
    async fn the_time_that_is_given_ends_the_reading() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("file"), "x").unwrap();
        let folder = WorkspaceFolder::open(root.path()).unwrap();
        let error = folder.read(".", Duration::ZERO).await.unwrap_err();
        assert_eq!(error.to_string(), "reading the files of the case took longer than 0 ms");
        // The thread ends by itself, even if nothing waits for it any more.
        let error = folder.read_until(".", Until::after(Duration::ZERO)).unwrap_err();
        assert!(matches!(error, WorkspaceError::TookTooLong { .. }), "{error}");
        assert!(folder.read(".", Duration::from_secs(600)).await.is_ok());
    }

    #[test]
    fn there_is_an_end_to_it() {
        let root = tempfile::tempdir().unwrap();
        let large = fs::File::create(root.path().join("large")).unwrap();
        large.set_len(MAX_WORKSPACE_BYTES + 1).unwrap();
        let folder = WorkspaceFolder::open(root.path()).unwrap();
        assert!(matches!(folder.all("."), Err(WorkspaceError::TooLarge { .. })));
        large.set_len(MAX_WORKSPACE_BYTES - "large".len() as u64).unwrap();
        assert!(folder.all(".").is_ok());
        large.set_len(0).unwrap();

        for number in 1..MAX_WORKSPACE_FILES {
            fs::write(root.path().join(number.to_string()), "").unwrap();
        }
        assert!(folder.all(".").is_ok());
        fs::write(root.path().join("one more"), "").unwrap();
        assert!(matches!(folder.all("."), Err(WorkspaceError::TooMany { .. })));

        let deep = tempfile::tempdir().unwrap();
        let folders = "d/".repeat(MAX_WORKSPACE_DEPTH);
        fs::create_dir_all(deep.path().join(&folders)).unwrap();
        let folder = WorkspaceFolder::open(deep.path()).unwrap();
        assert!(folder.all(".").is_ok());
        fs::create_dir(deep.path().join(folders).join("d")).unwrap();
        assert!(matches!(folder.all("."), Err(WorkspaceError::TooDeep { .. })));
    }
}
