//! Opens a file from a folder's list, and makes sure that it still is a regular file. It reads nothing.

use std::io;

use cap_std::fs::{DirEntry, File, OpenOptions};

/// Opens the regular file `entry`. It may have changed since it was listed: the program that left the files may still
/// be running, and opening a pipe waits for a writer. So this does not wait, follows no link, and checks what was
/// opened before anyone reads it.
pub(super) fn open_listed(entry: &DirEntry) -> io::Result<File> {
    let file = entry.open_with(&options()).map_err(|error| match exchanged(&error) {
        true => no_longer_a_file(),
        false => error,
    })?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(no_longer_a_file()),
    }
}

#[cfg(unix)]
fn options() -> OpenOptions {
    use cap_std::fs::OpenOptionsExt as _;
    use rustix::fs::OFlags;

    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    options
}

#[cfg(not(unix))]
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    options
}

/// Whether it is the error of opening a link, a socket or a device without a driver.
#[cfg(unix)]
fn exchanged(error: &io::Error) -> bool {
    use rustix::io::Errno;

    let errno = Errno::from_io_error(error);
    errno.is_some_and(|errno| [Errno::LOOP, Errno::NXIO, Errno::NODEV].contains(&errno))
}

#[cfg(not(unix))]
fn exchanged(_: &io::Error) -> bool {
    false
}

fn no_longer_a_file() -> io::Error {
    io::Error::other("it was replaced by something that is not a file while the folder was read")
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, io::Read as _, os::unix, path::Path, process::Command};

    use cap_std::{ambient_authority, fs::Dir};

    use super::*;

    /// Lists a folder with one file, lets `exchange` replace the file, and opens what was listed.
    fn opened_after(exchange: impl FnOnce(&Path)) -> io::Result<File> {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("listed");
        fs::write(&path, "content").unwrap();
        let folder = Dir::open_ambient_dir(root.path(), ambient_authority()).unwrap();
        let entry = folder.entries().unwrap().next().unwrap().unwrap();
        assert!(entry.file_type().unwrap().is_file());
        fs::rename(&path, root.path().join("moved")).unwrap();
        exchange(&path);
        open_listed(&entry)
    }

    #[track_caller]
    fn refused(exchange: impl FnOnce(&Path)) {
        let error = opened_after(exchange).unwrap_err();
        let words = "it was replaced by something that is not a file while the folder was read";
        assert_eq!(error.to_string(), words);
    }

    #[test]
    fn a_pipe_that_takes_the_place_of_a_file_is_not_waited_for() {
        refused(|path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success()));
    }

    #[test]
    fn a_link_a_socket_or_a_folder_that_takes_the_place_of_a_file_is_not_opened() {
        refused(|path| unix::fs::symlink("moved", path).unwrap());
        refused(|path| unix::fs::symlink("/dev/zero", path).unwrap());
        refused(|path| drop(unix::net::UnixListener::bind(path).unwrap()));
        refused(|path| fs::create_dir(path).unwrap());
    }

    #[test]
    fn another_file_in_its_place_is_a_file() {
        let mut content = String::new();
        let mut file = opened_after(|path| fs::write(path, "other").unwrap()).unwrap();
        file.read_to_string(&mut content).unwrap();
        assert_eq!(content, "other");
    }
}
