//! Detects whether a file was saved that a scorer is made from or tested with. It polls the files, which works on every
//! file system. It builds nothing.

use std::{
    collections::{BTreeMap, VecDeque},
    ffi::OsStr,
    fs::{self, Metadata},
    path::{Path, PathBuf},
    time::SystemTime,
};

use scorebox::{
    digest::Digest,
    registry::{Reference, ScriptLanguage},
};

use crate::same_file::Redirected;

/// The most files that are watched: those closest to the folder.
const MAX_FILES: usize = 5_000;
/// A larger file counts as changed if its size or its time changes; it is not read.
const MAX_READ_BYTES: u64 = 4 << 20;
/// Names that builds leave in a folder, in addition to those that begin with a dot.
const NOT_SOURCES: [&str; 5] = ["target", "node_modules", "zig-out", "__pycache__", "Cargo.lock"];

/// Extensions of the outputs and logs of builds.
const MADE: [&str; 3] = ["wasm", "log", "out"];
/// Extensions of files that scripts import, and of suites and cases, in addition to those of scripts. In a compiled
/// language, any file may be compiled in.
const DATA: [&str; 5] = [".json", ".jsonl", ".toml", ".gz", ".zst"];

/// Watches files, and remembers a digest of each, so that no unchanged file is read twice.
pub(super) struct Saved {
    folder: PathBuf,
    /// Watched whatever their names are.
    named: Vec<PathBuf>,
    /// Whether the scorer is a script.
    is_script: bool,
    /// The files to which this process's output goes, which change with each build.
    redirected: Redirected,
    known: BTreeMap<PathBuf, Known>,
    has_left_out: bool,
}

#[derive(Clone, Copy)]
struct Known {
    modified: Option<SystemTime>,
    bytes: u64,
    digest: Digest,
}

/// All files, each with a digest of its contents.
pub(super) type Files = BTreeMap<PathBuf, Digest>;

impl Saved {
    /// The files of a folder or, if `source` is a file, of its folder.
    pub(super) fn of(source: &Path) -> Saved {
        let folder = match source.is_dir() {
            true => source,
            false => match source.parent() {
                Some(parent) if parent != Path::new("") => parent,
                _ => Path::new("."),
            },
        };
        let reference = Reference::parse(&source.to_string_lossy(), Path::new(""));
        Saved {
            folder: folder.to_owned(),
            named: vec![source.to_owned()],
            is_script: reference.is_script() && !source.is_dir(),
            redirected: Redirected::of_this_process(),
            known: BTreeMap::new(),
            has_left_out: false,
        }
    }

    /// The same with this file, wherever it is.
    pub(super) fn with(mut self, file: Option<&Path>) -> Saved {
        self.named.extend(file.map(Path::to_owned));
        self
    }

    /// The folder of the files.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the folder had more files than are watched.
    pub(super) fn has_left_out(&self) -> bool {
        self.has_left_out
    }

    /// The current files. A file that cannot be read counts as missing.
    pub(super) fn look(&mut self) -> Files {
        let mut known = BTreeMap::new();
        let mut waiting = VecDeque::from([self.folder.clone()]);
        self.has_left_out = false;
        for named in &self.named {
            if let Some(metadata) = fs::metadata(named).ok().filter(Metadata::is_file)
                && let Some(it) = self.known_of(named, &metadata)
            {
                known.insert(named.clone(), it);
            }
        }
        while let Some(folder) = waiting.pop_front() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                // Does not follow links, which may be circular.
                let Some(metadata) = entry.metadata().ok().filter(|_| is_source(&path)) else {
                    continue;
                };
                if metadata.is_dir() {
                    waiting.push_back(path);
                } else if !self.may_count(&path, &metadata) {
                    continue;
                } else if known.len() >= MAX_FILES {
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

    /// Whether a file may be a part of this scorer, or of its test.
    fn may_count(&self, path: &Path, metadata: &Metadata) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let of_scripts = ScriptLanguage::ALL.into_iter().flat_map(ScriptLanguage::endings);
        let counts =
            !self.is_script || of_scripts.copied().chain(DATA).any(|ending| name.ends_with(ending));
        counts && !self.redirected.has(metadata)
    }

    fn known_of(&self, path: &Path, metadata: &Metadata) -> Option<Known> {
        let (modified, bytes) = (metadata.modified().ok(), metadata.len());
        let before = self.known.get(path);
        if let Some(known) = before.filter(|it| it.modified == modified && it.bytes == bytes) {
            return Some(*known);
        }
        let digest = match metadata.is_file() && bytes <= MAX_READ_BYTES {
            true => Digest::of(&fs::read(path).ok()?),
            false => Digest::of(format!("{modified:?} {bytes}").as_bytes()),
        };
        Some(Known { modified, bytes, digest })
    }
}

/// Whether a file or folder of this name may be a part of a scorer, not an output of its build.
fn is_source(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_made = name.starts_with('.')
        || name.starts_with("scorebox.db")
        || path.extension().and_then(OsStr::to_str).is_some_and(|it| MADE.contains(&it));
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
        for name in ["a.wasm", "w.log", "target/x", ".git/x", "scorebox.db-wal", "Cargo.lock"] {
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
    fn of_a_script_only_what_it_may_import_and_its_test_count_and_the_file_that_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let write = |name: &str, text: &str| fs::write(path(name), text).unwrap();
        write("a.js", "1");
        let mut saved = Saved::of(&path("a.js")).with(Some(&path("cases")));
        let mut last = saved.look();
        for name in ["notes.txt", "README.md", "w.log"] {
            write(name, "1");
            assert!(saved.look() == last, "{name}");
        }
        for name in ["b.js", "c.mts", "d.json", "test.toml", "test.jsonl", "cases"] {
            write(name, "1");
            let now = saved.look();
            assert!(now != last, "{name}");
            last = now;
        }
        let mut all = Saved::of(folder.path());
        let before = all.look();
        write("notes.txt", "2");
        assert!(all.look() != before);
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
