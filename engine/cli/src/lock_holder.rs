//! Which process has a file locked, where the system says so: on Linux, in `/proc/locks`. Locks nothing, and waits for
//! nobody.

use std::fs::File;

/// The process that has the file locked, in words; `None` if that is not known.
#[cfg(target_os = "linux")]
pub(crate) fn holder_of(file: &File) -> Option<String> {
    use std::{fs, os::unix::fs::MetadataExt as _};

    use crate::report::one_line;

    let there = file.metadata().ok()?;
    let process = holder_in(&fs::read_to_string("/proc/locks").ok()?, there.dev(), there.ino())?;
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    Some(match line.trim() {
        "" => format!("process {process}"),
        line => format!("process {process}: {}", one_line(line, 80)),
    })
}

/// The process that has the file locked, in words; `None` if that is not known.
#[cfg(not(target_os = "linux"))]
pub(crate) fn holder_of(_: &File) -> Option<String> {
    None
}

/// The process that has a lock on the file of this device and number, by the text of `/proc/locks`.
#[cfg(target_os = "linux")]
fn holder_in(locks: &str, device: u64, number: u64) -> Option<u32> {
    let major = ((device >> 8) & 0xfff) | ((device >> 32) & !0xfff);
    let minor = (device & 0xff) | ((device >> 12) & 0xfff_ff00);
    let file = format!("{major:02x}:{minor:02x}:{number}");
    // `1: FLOCK  ADVISORY  WRITE 4242 fe:00:131 0 EOF`; who waits has `->` behind the colon.
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [_, "FLOCK", _, _, process, place, ..] if place == file => process.parse().ok(),
            _ => None,
        }
    })
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
        // Another one's view of the same folder.
        let holder = holder_of(&File::open(folder.path()).unwrap());
        let own = format!("process {}: ", std::process::id());
        assert!(holder.is_some_and(|holder| holder.starts_with(&own)));
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
