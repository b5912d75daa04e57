//! The cache's folder: opened and checked once, and then used through the open handle. It reads a file only if no one
//! but this user can have written it. It knows no formats.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

/// A folder that belongs to this user, and to which no one else can write.
pub(super) struct CacheFolder {
    path: PathBuf,
    /// Files are opened, renamed and removed through this handle, so that replacing the folder at `path` has no effect
    /// here.
    #[cfg(unix)]
    opened: File,
}

/// A file that was found in the folder.
pub(super) struct Found {
    pub(super) name: String,
    /// Its size.
    pub(super) bytes: u64,
    /// When it was written or last used.
    pub(super) modified: SystemTime,
}

impl CacheFolder {
    /// Opens the folder, and creates it for the user alone if it is missing. The error is the end of a sentence about
    /// the folder.
    pub(super) fn open(path: &Path) -> Result<CacheFolder, String> {
        create_private(path).map_err(|error| format!("cannot be made: {error}"))?;
        let folder =
            CacheFolder::opened(path).map_err(|error| format!("cannot be opened: {error}"))?;
        folder.must_be_private()?;
        // This finds the problem now rather than at every file.
        tempfile::tempfile_in(path).map_err(|error| format!("cannot be written to: {error}"))?;
        Ok(folder)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// All of a file, if it is this user's own and has at most `max_bytes`. Marks it as used.
    pub(super) fn read(&self, name: &str, max_bytes: u64) -> Option<Vec<u8>> {
        let file = self.open_file(name).ok()?;
        let metadata = file.metadata().ok()?;
        if !is_ours_alone(&metadata) || metadata.len() > max_bytes {
            return None;
        }
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).ok()?);
        (&file).take(max_bytes).read_to_end(&mut bytes).ok()?;
        // Only the order of eviction depends on it.
        let _ = file.set_modified(SystemTime::now());
        Some(bytes)
    }

    /// Writes a file under a temporary name and renames it, so that the file is either complete or missing.
    pub(super) fn write(&self, name: &str, temporary: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.create_file(temporary)?;
        let written = file.write_all(bytes).and_then(|()| self.rename(temporary, name));
        if written.is_err() {
            self.remove(temporary);
        }
        written
    }

    /// The regular files in it whose names are `wanted`.
    pub(super) fn list(&self, wanted: impl Fn(&str) -> bool) -> Vec<Found> {
        let files = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let found = files.filter_map(|file| {
            let name = file.file_name().into_string().ok().filter(|name| wanted(name))?;
            let metadata = file.metadata().ok().filter(Metadata::is_file)?;
            Some(Found { name, bytes: metadata.len(), modified: metadata.modified().ok()? })
        });
        found.collect()
    }
}

#[cfg(unix)]
impl CacheFolder {
    fn opened(path: &Path) -> io::Result<CacheFolder> {
        use rustix::fs::{Mode, OFlags, open};
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = File::from(open(path, flags, Mode::empty())?);
        Ok(CacheFolder { path: path.to_owned(), opened })
    }

    fn must_be_private(&self) -> Result<(), String> {
        let metadata = self.opened.metadata();
        let metadata = metadata.map_err(|error| format!("cannot be looked at: {error}"))?;
        if !is_of_this_user(&metadata) {
            return Err("belongs to another user".into());
        }
        if is_writable_by_others(&metadata) {
            return Err("can be written to by others, who may have planted code in it: choose \
                        another folder, or remove this one, and it is made again"
                .into());
        }
        Ok(())
    }

    /// Follows no link and never waits; the caller checks that it is a regular file.
    fn open_file(&self, name: &str) -> io::Result<File> {
        use rustix::fs::{Mode, OFlags, openat};
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(openat(&self.opened, name, flags, Mode::empty())?.into())
    }

    fn create_file(&self, name: &str) -> io::Result<File> {
        use rustix::fs::{Mode, OFlags, openat};
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(openat(&self.opened, name, flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.opened, from, &self.opened, to)?)
    }

    /// Removes a file; another process may have been faster.
    pub(super) fn remove(&self, name: &str) {
        let _ = rustix::fs::unlinkat(&self.opened, name, rustix::fs::AtFlags::empty());
    }
}

#[cfg(unix)]
fn create_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Whether it is a regular file that only this user can have written: others cannot write to it, and it has no second
/// name in a folder where they can.
#[cfg(unix)]
fn is_ours_alone(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    metadata.is_file()
        && is_of_this_user(metadata)
        && !is_writable_by_others(metadata)
        && metadata.nlink() == 1
}

#[cfg(unix)]
fn is_of_this_user(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    metadata.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(unix)]
fn is_writable_by_others(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    metadata.mode() & WRITABLE_BY_OTHERS != 0
}

/// On other systems, the location of the user's cache folder makes it private.
#[cfg(not(unix))]
impl CacheFolder {
    fn opened(path: &Path) -> io::Result<CacheFolder> {
        Ok(CacheFolder { path: path.to_owned() })
    }

    fn must_be_private(&self) -> Result<(), String> {
        Ok(())
    }

    fn open_file(&self, name: &str) -> io::Result<File> {
        File::open(self.path.join(name))
    }

    fn create_file(&self, name: &str) -> io::Result<File> {
        File::create_new(self.path.join(name))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    /// Removes a file; another process may have been faster.
    pub(super) fn remove(&self, name: &str) {
        let _ = fs::remove_file(self.path.join(name));
    }
}

#[cfg(not(unix))]
fn create_private(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(not(unix))]
fn is_ours_alone(metadata: &Metadata) -> bool {
    metadata.is_file()
}
