//! Finds the process that has a file or a database locked, on Linux from `/proc/locks`. It locks nothing, and does not
//! wait.

use std::{fs::File, path::Path};

/// The message that scores wait for the process that has locked the database at `path`.
pub(crate) fn held_database(path: &Path) -> String {
    let holder = match writer_of(path) {
        Some(holder) => format!("another process ({holder})"),
        None => "another process, such as `scorebox rm`".to_owned(),
    };
    let path = path.display();
    format!("`{path}` is locked by {holder}: scores wait until it is free, or until a signal comes")
}

/// The process that has locked the file, as text; `None` if that is not known.
#[cfg(target_os = "linux")]
pub(crate) fn holder_of(file: &File) -> Option<String> {
    use std::{fs, os::unix::fs::MetadataExt as _};

    let there = file.metadata().ok()?;
    let locks = fs::read_to_string("/proc/locks").ok()?;
    holder_in(&locks, there.dev(), there.ino()).map(in_words)
}

/// The process that writes the database, as text; `None` if that is not known. It opens no file of the database:
/// closing one would release the locks that this process has on it.
#[cfg(target_os = "linux")]
fn writer_of(database: &Path) -> Option<String> {
    use std::{fs, os::unix::fs::MetadataExt as _};

    // The bytes that SQLite locks to write, with a write-ahead log and without one.
    const IN_THE_INDEX_OF_THE_LOG: u64 = 120;
    const IN_THE_DATABASE: u64 = 0x4000_0001;
    let mut index = database.as_os_str().to_owned();
    index.push("-shm");
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let places = [(Path::new(&index), IN_THE_INDEX_OF_THE_LOG), (database, IN_THE_DATABASE)];
    let process = places.into_iter().find_map(|(path, byte)| {
        let there = fs::metadata(path).ok()?;
        writer_in(&locks, there.dev(), there.ino(), byte)
    })?;
    (process != std::process::id()).then(|| in_words(process))
}

/// The process that writes the database, as text; `None` on this system.
#[cfg(not(target_os = "linux"))]
fn writer_of(_: &Path) -> Option<String> {
    None
}

/// A process, with its command line if that can be read.
#[cfg(target_os = "linux")]
fn in_words(process: u32) -> String {
    use std::fs;

    use crate::report::one_line;

    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    match line.trim() {
        "" => format!("process {process}"),
        line => format!("process {process}: {}", one_line(line, 80)),
    }
}

/// The process that has locked the file, as text; `None` if that is not known.
#[cfg(not(target_os = "linux"))]
pub(crate) fn holder_of(_: &File) -> Option<String> {
    None
}

/// The process that has a lock on the file with this device and inode number, from the text of `/proc/locks`.
#[cfg(target_os = "linux")]
fn holder_in(locks: &str, device: u64, number: u64) -> Option<u32> {
    let file = place(device, number);
    // `1: FLOCK  ADVISORY  WRITE 4242 fe:00:131 0 EOF`; a process that waits has `->` after the colon.
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [_, "FLOCK", _, _, process, place, ..] if place == file => process.parse().ok(),
            _ => None,
        }
    })
}

/// The process that has a write lock on a byte of the file.
#[cfg(target_os = "linux")]
fn writer_in(locks: &str, device: u64, number: u64, byte: u64) -> Option<u32> {
    let file = place(device, number);
    // `1: POSIX  ADVISORY  WRITE 4242 fe:00:131 120 120`; a process in another container is 0.
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [_, "POSIX", _, "WRITE", process, place, first, last] if place == file => {
                let first: u64 = first.parse().ok()?;
                let last = last.parse().unwrap_or(u64::MAX);
                let process = process.parse().ok().filter(|process| *process > 0)?;
                (first..=last).contains(&byte).then_some(process)
            }
            _ => None,
        }
    })
}

/// A file as `/proc/locks` names it.
#[cfg(target_os = "linux")]
fn place(device: u64, number: u64) -> String {
    let major = ((device >> 8) & 0xfff) | ((device >> 32) & !0xfff);
    let minor = (device & 0xff) | ((device >> 12) & 0xfff_ff00);
    format!("{major:02x}:{minor:02x}:{number}")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_process_that_has_a_folder_locked_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = File::open(folder.path()).unwrap();
        assert_eq!(holder_of(&file), None);
        file.lock().unwrap();
        // The same folder, as another process opens it.
        let holder = holder_of(&File::open(folder.path()).unwrap());
        let own = format!("process {}: ", std::process::id());
        assert!(holder.is_some_and(|holder| holder.starts_with(&own)));
    }

    #[test]
    fn who_has_the_byte_locked_that_a_writer_needs_is_the_one() {
        let locks = "1: POSIX  ADVISORY  READ 7 fe:00:131 120 120\n\
                     2: POSIX  ADVISORY  WRITE 8 fe:00:131 121 EOF\n\
                     3: -> POSIX  ADVISORY  WRITE 9 fe:00:131 120 120\n\
                     4: POSIX  ADVISORY  WRITE 0 fe:00:131 120 120\n\
                     5: POSIX  ADVISORY  WRITE 10 fe:00:131 120 120\n";
        assert_eq!(writer_in(locks, 0xfe00, 131, 120), Some(10));
        assert_eq!(writer_in(locks, 0xfe00, 131, 200), Some(8));
        assert_eq!(writer_in(locks, 0xfe00, 132, 120), None);
    }

    #[test]
    fn who_waits_and_who_has_another_file_locked_is_not_the_one() {
        let locks = "1: FLOCK  ADVISORY  WRITE 7 fe:00:130 0 EOF\n\
                     2: POSIX  ADVISORY  WRITE 8 fe:00:131 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 9 fe:00:131 0 EOF\n\
                     3: -> FLOCK  ADVISORY  WRITE 10 fe:00:131 0 EOF\n";
        assert_eq!(holder_in(locks, 0xfe00, 131), Some(9));
        assert_eq!(holder_in(locks, 0xfe00, 132), None);
        assert_eq!(holder_in("nonsense\n\n1:\n", 0xfe00, 131), None);
    }
}
