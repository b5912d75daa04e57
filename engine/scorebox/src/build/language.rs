//! The language in which a scorer is written, from its folder or its file. It reads no sources.

use std::{
    ffi::OsStr,
    fmt, fs,
    path::{Path, PathBuf},
};

use super::BuildError;

/// A language that components are built from, with its own compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// A crate: `Cargo.toml`.
    Rust,
    /// `*.c`.
    C,
    /// `*.cpp`, `*.cc`, `*.cxx`, optionally together with C.
    Cpp,
    /// `build.zig`, or one `*.zig`.
    Zig,
    /// A module: `go.mod`.
    Go,
    /// `asconfig.json`.
    AssemblyScript,
    /// A core WebAssembly module of any language: `*.wasm`.
    Module,
}

impl Language {
    /// All languages.
    pub const ALL: [Language; 7] = [
        Language::Rust,
        Language::C,
        Language::Cpp,
        Language::Zig,
        Language::Go,
        Language::AssemblyScript,
        Language::Module,
    ];

    /// The file in a folder that identifies this language.
    fn marker(self) -> Option<&'static str> {
        match self {
            Language::Rust => Some("Cargo.toml"),
            Language::Go => Some("go.mod"),
            Language::Zig => Some("build.zig"),
            Language::AssemblyScript => Some("asconfig.json"),
            Language::C | Language::Cpp | Language::Module => None,
        }
    }

    /// The language of a single file.
    fn of_file(path: &Path) -> Option<Language> {
        match path.extension().and_then(OsStr::to_str)? {
            "c" => Some(Language::C),
            "cpp" | "cc" | "cxx" => Some(Language::Cpp),
            "zig" => Some(Language::Zig),
            "wasm" => Some(Language::Module),
            _ => None,
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Language::Rust => "Rust",
            Language::C => "C",
            Language::Cpp => "C++",
            Language::Zig => "Zig",
            Language::Go => "Go",
            Language::AssemblyScript => "AssemblyScript",
            Language::Module => "a core module",
        })
    }
}

/// What a scorer is built from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Source {
    /// Its language.
    pub language: Language,
    /// The folder in which its compiler runs.
    pub folder: PathBuf,
    /// The files to compile, as names in the folder, sorted; empty if the compiler finds them itself.
    pub files: Vec<PathBuf>,
    /// The name of the scorer's file: the folder's name, or the stem of the file.
    pub name: String,
}

impl Source {
    /// Determines what a folder or a file contains.
    ///
    /// # Errors
    /// [`BuildError::NoSource`] if the path does not exist; [`BuildError::UnknownSource`] if it contains nothing to
    /// build; [`BuildError::SeveralRoots`] if it is unclear which file comes first.
    pub fn find(path: &Path) -> Result<Source, BuildError> {
        match fs::metadata(path) {
            Err(_) => Err(BuildError::NoSource(path.to_owned())),
            Ok(it) if it.is_dir() => Source::of_folder(path),
            Ok(_) => Source::of_file(path),
        }
    }

    fn of_file(path: &Path) -> Result<Source, BuildError> {
        let unknown = || BuildError::UnknownSource(path.to_owned());
        let name = path.file_name().ok_or_else(unknown)?;
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        // The file of a project refers to its folder.
        if let Some(language) =
            Language::ALL.into_iter().find(|it| it.marker().map(OsStr::new) == Some(name))
        {
            return Ok(Source { language, name: name_of(&folder)?, files: Vec::new(), folder });
        }
        let language = Language::of_file(path).ok_or_else(unknown)?;
        let stem = path.file_stem().unwrap_or(name).to_string_lossy().into_owned();
        Ok(Source { language, folder, files: vec![PathBuf::from(name)], name: stem })
    }

    fn of_folder(folder: &Path) -> Result<Source, BuildError> {
        let made = |language, files| {
            Ok(Source { language, folder: folder.to_owned(), files, name: name_of(folder)? })
        };
        let has = |language: &Language| {
            language.marker().is_some_and(|marker| folder.join(marker).is_file())
        };
        if let Some(language) = Language::ALL.into_iter().find(has) {
            return made(language, Vec::new());
        }
        let mut found: Vec<(Language, PathBuf)> = Vec::new();
        for entry in fs::read_dir(folder).map_err(BuildError::file(folder))? {
            let name = PathBuf::from(entry.map_err(BuildError::file(folder))?.file_name());
            if let Some(language) = Language::of_file(&name) {
                found.push((language, name));
            }
        }
        found.sort_by(|(_, one), (_, other)| one.cmp(other));
        let of = |languages: &[Language]| -> Vec<PathBuf> {
            let found = found.iter().filter(|(language, _)| languages.contains(language));
            found.map(|(_, name)| name.clone()).collect()
        };
        let (zig, c, all_c) =
            (of(&[Language::Zig]), of(&[Language::C]), of(&[Language::C, Language::Cpp]));
        // The SDK may be in the scorer's folder.
        let roots: Vec<PathBuf> =
            zig.into_iter().filter(|name| name != Path::new("scorebox.zig")).collect();
        match (roots.len(), all_c.len()) {
            (1, 0) => made(Language::Zig, roots),
            (0, 1..) if c.len() == all_c.len() => made(Language::C, all_c),
            (0, 1..) => made(Language::Cpp, all_c),
            (0, 0) => Err(BuildError::UnknownSource(folder.to_owned())),
            _ => Err(BuildError::SeveralRoots(folder.to_owned())),
        }
    }
}

/// The name of a folder, even of `.`.
fn name_of(folder: &Path) -> Result<String, BuildError> {
    let whole = fs::canonicalize(folder).map_err(BuildError::file(folder))?;
    let name = whole.file_name().unwrap_or(OsStr::new("scorer"));
    Ok(name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_of(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            fs::write(folder.path().join(file), "").unwrap();
        }
        folder
    }

    #[test]
    fn a_folder_is_of_the_language_that_its_files_say() {
        for (files, expected, compiled) in [
            (&["Cargo.toml", "a.c"][..], Language::Rust, &[][..]),
            (&["go.mod", "main.go"], Language::Go, &[]),
            (&["build.zig", "a.zig", "b.zig"], Language::Zig, &[]),
            (&["asconfig.json", "scorer.ts"], Language::AssemblyScript, &[]),
            (&["scorer.zig", "scorebox.zig", "README.md"], Language::Zig, &["scorer.zig"]),
            (&["b.c", "a.c", "scorebox.h"], Language::C, &["a.c", "b.c"]),
            (&["b.c", "a.cpp", "c.cc"], Language::Cpp, &["a.cpp", "b.c", "c.cc"]),
        ] {
            let folder = folder_of(files);
            let source = Source::find(folder.path()).unwrap();
            assert_eq!(source.language, expected);
            let compiled: Vec<PathBuf> = compiled.iter().map(PathBuf::from).collect();
            assert_eq!(source.files, compiled);
            assert_eq!(Some(source.name.as_ref()), folder.path().file_name());
        }
    }

    #[test]
    fn a_file_is_of_the_language_that_its_ending_says() {
        let folder =
            folder_of(&["a.c", "b.cxx", "c.zig", "d.wasm", "go.mod", "main.go", "Makefile"]);
        let found = |name: &str| Source::find(&folder.path().join(name)).map(|it| it.language);
        assert_eq!(found("a.c").unwrap(), Language::C);
        assert_eq!(found("b.cxx").unwrap(), Language::Cpp);
        assert_eq!(found("c.zig").unwrap(), Language::Zig);
        assert_eq!(found("d.wasm").unwrap(), Language::Module);
        assert_eq!(found("go.mod").unwrap(), Language::Go);
        assert!(matches!(found("main.go"), Err(BuildError::UnknownSource(_))));
        assert!(matches!(found("Makefile"), Err(BuildError::UnknownSource(_))));
        assert!(matches!(found("nothing.c"), Err(BuildError::NoSource(_))));
    }

    #[test]
    fn a_folder_whose_first_file_is_not_known_is_refused() {
        for files in [&["a.zig", "b.zig"][..], &["a.zig", "b.c"]] {
            let folder = folder_of(files);
            assert!(matches!(Source::find(folder.path()), Err(BuildError::SeveralRoots(_))));
        }
        assert!(matches!(
            Source::find(folder_of(&["README.md"]).path()),
            Err(BuildError::UnknownSource(_))
        ));
    }
}
