//! Compares files by path: whether two paths name one file, because a command must not write a file that it reads or
//! writes elsewhere; which files this process's output is redirected to; and a file's name without its folder.

use std::{fs::Metadata, io, path::Path};

/// The suffixes of the files that SQLite keeps beside a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The last part of a path; the whole path if it does not end in a name.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Whether both are the same file, however they are named.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    is_linked(one, other) || is_same_name(one, other)
}

/// The files that standard output and standard error are redirected to.
pub(crate) struct Redirected {
    #[cfg(unix)]
    files: Vec<(u64, u64)>,
}

#[cfg(unix)]
impl Redirected {
    pub(crate) fn of_this_process() -> Redirected {
        use std::{
            fs::File,
            os::{
                fd::{AsFd as _, BorrowedFd},
                unix::fs::MetadataExt as _,
            },
        };
        let file = |stream: BorrowedFd<'_>| {
            let file = File::from(stream.try_clone_to_owned().ok()?).metadata().ok()?;
            Some((file.dev(), file.ino()))
        };
        let files = [file(io::stdout().as_fd()), file(io::stderr().as_fd())];
        Redirected { files: files.into_iter().flatten().collect() }
    }

    /// Whether a file is one of them.
    pub(crate) fn has(&self, file: &Metadata) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        self.files.contains(&(file.dev(), file.ino()))
    }
}

#[cfg(not(unix))]
impl Redirected {
    pub(crate) fn of_this_process() -> Redirected {
        Redirected {}
    }

    /// Whether a file is one of them, which is not known on this system.
    pub(crate) fn has(&self, _file: &Metadata) -> bool {
        false
    }
}

/// Whether `path` has the name of a file that SQLite keeps beside a database, and that database exists.
pub(crate) fn is_beside_a_database(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let database = BESIDE.iter().find_map(|suffix| name.strip_suffix(suffix));
    database.is_some_and(|name| !name.is_empty() && path.with_file_name(name).is_file())
}

/// Whether `path` is one of the files that SQLite keeps beside `database`.
pub(crate) fn is_beside_database(path: &Path, database: &Path) -> bool {
    BESIDE.iter().any(|suffix| {
        let mut beside = database.as_os_str().to_owned();
        beside.push(suffix);
        is_same(path, Path::new(&beside))
    })
}

/// Whether both exist and are one file, which may have several names (hard links).
#[cfg(unix)]
fn is_linked(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let file = |path: &Path| path.metadata().ok().map(|file| (file.dev(), file.ino()));
    file(one).is_some_and(|one| Some(one) == file(other))
}

#[cfg(not(unix))]
fn is_linked(_one: &Path, _other: &Path) -> bool {
    false
}

fn is_same_name(one: &Path, other: &Path) -> bool {
    // A file that does not exist yet is compared by its folder and name.
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
