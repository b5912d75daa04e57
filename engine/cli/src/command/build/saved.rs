//! The files of a scorer's folder, and what is in them: whether one was saved. Looks at them now and then, which works on every
//! file system. Builds nothing.

use std::{
    collections::{BTreeMap, VecDeque},
    ffi::OsStr,
    fs::{self, Metadata},
    path::{Path, PathBuf},
    time::SystemTime,
};

use scorebox::digest::Digest;

/// Files that are looked at: those nearest to the folder.
const MOST_FILES: usize = 5_000;
/// A larger file counts as changed when its size or its time is another: it is not read each time that it is saved.
const MOST_READ_BYTES: u64 = 4 << 20;
/// What builds leave in a folder, besides what begins with a dot.
const NOT_SOURCES: [&str; 5] = ["target", "node_modules", "zig-out", "__pycache__", "Cargo.lock"];

/// What is in files, as far as it is known without reading one twice.
pub(super) struct Saved {
    folder: PathBuf,
    /// Looked at whatever it is called.
    source: PathBuf,
    known: BTreeMap<PathBuf, Known>,
    has_left_out: bool,
}

#[derive(Clone, Copy)]
struct Known {
    modified: Option<SystemTime>,
    bytes: u64,
    digest: Digest,
}

/// All files, each with a digest of what is in it.
pub(super) type Files = BTreeMap<PathBuf, Digest>;

impl Saved {
    /// The files of a folder or, if `source` is a file, of the folder that it is in.
    pub(super) fn of(source: &Path) -> Saved {
        let folder = match source.is_dir() {
            true => source,
            false => match source.parent() {
                Some(parent) if parent != Path::new("") => parent,
                _ => Path::new("."),
            },
        };
        Saved {
            folder: folder.to_owned(),
            source: source.to_owned(),
            known: BTreeMap::new(),
            has_left_out: false,
        }
    }

    /// Where the files are.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the folder had more files than are looked at.
    pub(super) fn has_left_out(&self) -> bool {
        self.has_left_out
    }

    /// What there is now. A file that cannot be read is not there.
    pub(super) fn look(&mut self) -> Files {
        let mut known = BTreeMap::new();
        let mut waiting = VecDeque::from([self.folder.clone()]);
        self.has_left_out = false;
        if let Some(source) = fs::metadata(&self.source).ok().filter(Metadata::is_file)
            && let Some(it) = self.known_of(&self.source, &source)
        {
            known.insert(self.source.clone(), it);
        }
        while let Some(folder) = waiting.pop_front() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                // Not through links, which may lead in circles.
                let Some(metadata) = entry.metadata().ok().filter(|_| is_source(&path)) else {
                    continue;
                };
                if metadata.is_dir() {
                    waiting.push_back(path);
                } else if known.len() >= MOST_FILES {
                    self.has_left_out = true;
                    waiting.clear();
                    break;
                } else if let Some(it) = self.known_of(&path, &metadata) {
                    known.insert(path, it);
                }
            }
        }
        self.known = known;
        self.known.iter().map(|(path, known)| (path.clone(), known.digest)).collect()
    }

    fn known_of(&self, path: &Path, metadata: &Metadata) -> Option<Known> {
        let (modified, bytes) = (metadata.modified().ok(), metadata.len());
        let before = self.known.get(path);
        if let Some(known) = before.filter(|it| it.modified == modified && it.bytes == bytes) {
            return Some(*known);
        }
        let digest = match metadata.is_file() && bytes <= MOST_READ_BYTES {
            true => Digest::of(&fs::read(path).ok()?),
            false => Digest::of(format!("{modified:?} {bytes}").as_bytes()),
        };
        Some(Known { modified, bytes, digest })
    }
}

/// Whether a file or folder of this name may be a part of a scorer, not what was made of it.
fn is_source(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_made = name.starts_with('.')
        || name.starts_with("scorebox.db")
        || path.extension() == Some(OsStr::new("wasm"));
    !is_made && !NOT_SOURCES.contains(&name.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_a_source_shows_and_one_of_what_is_made_of_it_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        for inner in ["lib", "target", ".git"] {
            fs::create_dir(folder.path().join(inner)).unwrap();
        }
        write("a.c", "1");
        let mut saved = Saved::of(folder.path());
        let first = saved.look();
        for name in ["a.wasm", "target/x", ".git/x", "scorebox.db-wal", "Cargo.lock"] {
            write(name, "1");
        }
        // The same text, saved again.
        write("a.c", "1");
        assert!(saved.look() == first);
        write("lib/b.h", "2");
        let second = saved.look();
        assert!(second != first);
        write("lib/b.h", "34");
        assert!(saved.look() != second);
        fs::remove_file(folder.path().join("lib/b.h")).unwrap();
        assert!(saved.look() == first);
    }

    #[test]
    fn a_module_that_is_the_source_is_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let module = folder.path().join("scorer.wasm");
        fs::write(&module, "1").unwrap();
        let mut saved = Saved::of(&module);
        let first = saved.look();
        fs::write(&module, "22").unwrap();
        assert!(saved.look() != first);
        assert_eq!(saved.folder(), folder.path());
    }
}
