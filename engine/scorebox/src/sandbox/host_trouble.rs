//! What the system had none left of when a call failed through no fault of the guest: open files, memory, threads, room
//! in a file. Its errors have codes, so no words are matched.

use std::io;

use crate::advice::Resource;

/// What the system lacks, if that is why the call failed.
pub(super) fn lacking(error: &wasmtime::Error) -> Option<Resource> {
    error.chain().find_map(of_cause)
}

fn of_cause(cause: &(dyn std::error::Error + 'static)) -> Option<Resource> {
    #[cfg(unix)]
    if let Some(errno) = cause.downcast_ref::<rustix::io::Errno>() {
        return Resource::lacking(&io::Error::from(*errno));
    }
    cause.downcast_ref::<io::Error>().and_then(Resource::lacking)
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn the_systems_errors_are_found_among_the_causes_and_a_guests_are_not() {
        let of_system = |errno: Errno| io::Error::from_raw_os_error(errno.raw_os_error());
        let files = wasmtime::Error::from(of_system(Errno::MFILE)).context("an image");
        assert_eq!(lacking(&files), Some(Resource::Files));
        assert_eq!(lacking(&wasmtime::Error::from(Errno::NOMEM)), Some(Resource::Memory));
        let large = wasmtime::Error::from(of_system(Errno::FBIG));
        assert_eq!(lacking(&large), Some(Resource::FileSize));
        assert_eq!(lacking(&wasmtime::Error::from(of_system(Errno::NOENT))), None);
        assert_eq!(lacking(&wasmtime::Trap::UnreachableCodeReached.into()), None);
        let words = wasmtime::format_err!("Too many open files (os error 24)");
        assert_eq!(lacking(&words), None);
    }
}
