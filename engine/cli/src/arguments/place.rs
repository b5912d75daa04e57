//! Opens the files and pipes that a command writes while it runs. It refuses a pipe that no program reads, instead of
//! waiting.

use std::{
    fs::{File, OpenOptions},
    io,
    path::Path,
};

use crate::{failure::Failure, new_file::cannot_make};

/// Opens the file or pipe. Later writes wait for a slow reader of a pipe.
pub(super) fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
        use std::os::unix::fs::OpenOptionsExt as _;

        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = options.custom_flags(flags.bits().cast_signed()).open(path)?;
        fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
        Ok(file)
    }
    #[cfg(not(unix))]
    options.open(path)
}

/// The failure that `what` cannot be written to `path`.
pub(super) fn cannot_open(what: &str, path: &Path, error: &io::Error) -> Failure {
    let place = path.display();
    #[cfg(unix)]
    if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) {
        return Failure::new(format!("cannot write {what} to `{place}`: no program reads it"))
            .hint("start the program that reads this pipe first");
    }
    cannot_make(&format!("cannot write {what} to `{place}`"), path, error)
}
