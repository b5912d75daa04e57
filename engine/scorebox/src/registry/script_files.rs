//! A script and the imported files in its folder, read within limits. The engine decides which file an import refers to
//! (`script-engines/javascript/src/files.rs`, `script-engines/python/engine.py`); this reads all files that it can
//! refer to.

use std::{
    collections::BTreeMap,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use cap_std::{ambient_authority, fs::Dir};
use serde::Serialize;

use super::{ScriptLanguage, python_imports};
use crate::input_file::{self, InputFileError};

/// The most bytes of a script and all that it imports.
pub(super) const MAX_BYTES: u64 = 1 << 20;
/// The most files that a script imports, itself or through others.
pub(super) const MAX_FILES: usize = 500;
/// Endings of files that can be imported.
const ENDINGS: [&str; 5] = [".js", ".mjs", ".ts", ".mts", ".json"];
/// Endings that an import may leave out.
const LEFT_OUT: [&str; 4] = [".js", ".mjs", ".ts", ".mts"];
/// The JavaScript module that asks a language model.
const JUDGE: &str = "scorebox:judge";
/// The path that the corresponding Python module would have as a file.
const PYTHON_JUDGE: &str = "scorebox/judge.py";
/// The longest path of an import, in bytes.
const PATH_BYTES: usize = 1000;

/// A script with its imports, in the form that the engine reads.
#[derive(Debug, Serialize)]
pub(super) struct ScriptFiles {
    /// The name of the script itself.
    main: String,
    /// The texts, by their paths from the script's folder, with `/`.
    files: BTreeMap<String, String>,
}

/// Why a script cannot be read.
#[derive(Debug)]
pub(super) enum NotRead {
    /// This file cannot be read.
    File(PathBuf, InputFileError),
    /// The files together exceed the limit.
    TooLarge,
    /// There are more files than the limit.
    TooMany,
    /// This file, named by its path from the script's folder, leads out of that folder through a link.
    LeadsOut(String),
}

impl ScriptFiles {
    /// Reads the script at `path` and its imports.
    pub(super) fn read(path: &Path, language: ScriptLanguage) -> Result<ScriptFiles, NotRead> {
        let imports_of = match language {
            ScriptLanguage::JavaScript => imports_of,
            ScriptLanguage::Python => python_imports::imports_of,
        };
        let unreadable = |error| NotRead::File(path.to_owned(), error);
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let main = name.ok_or_else(|| unreadable(InputFileError::Folder))?;
        let (file, _) = input_file::open(path).map_err(unreadable)?;
        let mut left = MAX_BYTES;
        let text = text_of(file, &mut left, path)?;
        let mut files = ScriptFiles { main: main.clone(), files: BTreeMap::new() };
        let mut waiting = imports_of(&main, &text);
        files.files.insert(main, text);
        // The folder is opened only for a script with imports; nothing outside it can be read.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        while let Some(name) = waiting.pop() {
            if files.files.contains_key(&name) {
                continue;
            }
            let Some(text) = files.imported(folder, &name, &mut left)? else { continue };
            if files.files.len() > MAX_FILES {
                return Err(NotRead::TooMany);
            }
            waiting.extend(imports_of(&name, &text));
            files.files.insert(name, text);
        }
        match files.leading_out(folder, language) {
            Some(name) => Err(NotRead::LeadsOut(name)),
            None => Ok(files),
        }
    }

    /// An imported file that leads out of the folder, so that it was not read. In Python the import may refer to a
    /// module of the language instead.
    fn leading_out(&self, folder: &Path, language: ScriptLanguage) -> Option<String> {
        if language != ScriptLanguage::JavaScript {
            return None;
        }
        let imports = self.files.iter().flat_map(|(file, text)| imports(file, text));
        imports
            .filter(|names| !names.iter().any(|name| self.files.contains_key(name)))
            // The path as it is written comes first.
            .flat_map(|names| names.into_iter().rev())
            .find(|name| leads_out(folder, name))
    }

    /// Reads a file of the script's folder; `None` if no file has this name, or if it leads out of the folder.
    fn imported(
        &self,
        folder: &Path,
        name: &str,
        left: &mut u64,
    ) -> Result<Option<String>, NotRead> {
        let whole = folder.join(name);
        let Ok(opened) = Dir::open_ambient_dir(folder, ambient_authority()) else {
            return Ok(None);
        };
        // Opening a pipe would wait for a writer.
        let Some(metadata) = opened.metadata(name).ok().filter(|it| it.is_file()) else {
            return Ok(None);
        };
        if metadata.len() > MAX_BYTES {
            let error = InputFileError::TooLarge { max_bytes: MAX_BYTES };
            return Err(NotRead::File(whole, error));
        }
        let file = opened.open(name).map_err(|error| NotRead::File(whole.clone(), error.into()))?;
        text_of(file, left, &whole).map(Some)
    }

    /// Whether one of the files imports the module that asks a language model, in the way of its language. An import in
    /// a comment counts too: then the script requires a grant without need.
    pub(super) fn asks_judge(&self, language: ScriptLanguage) -> bool {
        match language {
            ScriptLanguage::JavaScript => self.files.values().any(|text| imports_judge(text)),
            // If the script has its own file with the module's name, the import refers to that.
            ScriptLanguage::Python => {
                let is_own = ["scorebox.py", "scorebox/__init__.py", PYTHON_JUDGE];
                !is_own.iter().any(|own| self.files.contains_key(*own))
                    && self.files.iter().any(|(file, text)| {
                        python_imports::imports_of(file, text).iter().any(|it| it == PYTHON_JUDGE)
                    })
            }
        }
    }

    /// Whether the script itself contains the name of a function `summarize`, which it may export.
    pub(super) fn may_summarize(&self) -> bool {
        self.files.get(&self.main).is_some_and(|text| text.contains("summarize"))
    }
}

/// Reads the text of a file, with at most `left` bytes.
fn text_of(file: impl std::io::Read, left: &mut u64, path: &Path) -> Result<String, NotRead> {
    let unreadable = |error| NotRead::File(path.to_owned(), error);
    let mut bytes = Vec::new();
    file.take(*left + 1).read_to_end(&mut bytes).map_err(|error| unreadable(error.into()))?;
    *left = left.checked_sub(bytes.len() as u64).ok_or(NotRead::TooLarge)?;
    let text = input_file::utf8(bytes).map_err(unreadable)?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// The specifiers of a file's imports, each with the text before it. It may find too many, if an import is in a
/// comment.
fn specifiers(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices(['"', '\'']).filter_map(|(at, quote)| {
        let (before, behind) = (&text[..at], &text[at + 1..]);
        let before = without_comments(before.trim_end());
        let imports = ["from", "import", "import("].iter().any(|word| before.ends_with(word));
        let specifier = behind.split([quote.chars().next().unwrap_or('"'), '\n']).next()?;
        (imports && specifier.len() <= PATH_BYTES).then_some((before, specifier))
    })
}

/// The text without block comments at its end.
fn without_comments(mut text: &str) -> &str {
    while let Some(at) = text.strip_suffix("*/").and_then(|text| text.rfind("/*")) {
        text = text[..at].trim_end();
    }
    text
}

/// Whether a file imports the module that asks a language model, and not only its types.
fn imports_judge(text: &str) -> bool {
    specifiers(text).any(|(before, specifier)| specifier == JUDGE && !imports_types_only(before))
}

/// Whether the text before an import's specifier imports only types.
fn imports_types_only(before: &str) -> bool {
    let clause = before.strip_suffix("from").and_then(|it| it.rsplit("import").next());
    let types = clause.and_then(|clause| clause.trim_start().strip_prefix("type"));
    // `import type from` imports the default export.
    types.is_some_and(|names| names.starts_with([' ', '{', '\t', '\n']) && !names.trim().is_empty())
}

/// The paths that the imports of a file can refer to, relative to the script's folder.
fn imports_of(file: &str, text: &str) -> Vec<String> {
    imports(file, text).flatten().collect()
}

/// For each import of a file, the paths that it can refer to.
fn imports(file: &str, text: &str) -> impl Iterator<Item = Vec<String>> {
    specifiers(text).map(move |(before, specifier)| {
        let mut names = meanings(file, specifier);
        if imports_types_only(before) {
            // A file with types may not exist; a path without a script's ending is not one that the import refers to.
            names.retain(|name| ENDINGS.iter().any(|ending| name.ends_with(ending)));
        }
        names
    })
}

/// The paths that an import in `file` can refer to, relative to the script's folder.
fn meanings(file: &str, specifier: &str) -> Vec<String> {
    if !specifier.starts_with("./") && !specifier.starts_with("../") {
        return Vec::new();
    }
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let Some(path) = joined(folder, specifier) else { return Vec::new() };
    let typescript = path
        .strip_suffix(".js")
        .map(|stem| format!("{stem}.ts"))
        .or_else(|| path.strip_suffix(".mjs").map(|stem| format!("{stem}.mts")));
    let left_out = LEFT_OUT.map(|ending| format!("{path}{ending}"));
    typescript.into_iter().chain(left_out).chain([path]).collect()
}

/// Whether a path from `folder` leads out of it through a link, whether or not a file exists there.
fn leads_out(folder: &Path, name: &str) -> bool {
    let Ok(opened) = Dir::open_ambient_dir(folder, ambient_authority()) else { return false };
    // An error of the system has a number; this one is from cap-std.
    opened.metadata(name).is_err_and(|error| {
        error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
    })
}

/// The path `specifier` relative to `folder`; `None` if it leads out of the outermost folder.
fn joined(folder: &str, specifier: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in specifier.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn names(files: &ScriptFiles) -> Vec<&str> {
        files.files.keys().map(String::as_str).collect()
    }

    #[test]
    fn what_is_imported_is_read_through_other_files_and_in_every_form() {
        let folder = folder(&[
            ("grade.js", "import a from './a.js'\nimport'./lib/b'; export * from \"./lib/c.js\""),
            ("a.js", "const later = () => import(/* a */ /* b */ './d.json')"),
            ("d.json", "{}"),
            ("lib/b.ts", "import type { T } from '../grade.js';"),
            ("lib/c.ts", ""),
            ("unused.js", ""),
        ]);
        let files =
            ScriptFiles::read(&folder.path().join("grade.js"), ScriptLanguage::JavaScript).unwrap();
        assert_eq!(names(&files), ["a.js", "d.json", "grade.js", "lib/b.ts", "lib/c.ts"]);
    }

    #[test]
    fn a_program_that_has_the_name_of_imported_types_is_not_read_and_one_that_is_imported_is_named()
    {
        let program = "\0".repeat(MAX_BYTES as usize + 1);
        let folder = folder(&[
            ("grade.ts", "import type { Scorer } from './scorebox';"),
            ("types.ts", "import type { T } from './grade'; import { type U } from './grade.js'"),
            ("runs.js", "import { score } from './scorebox'"),
            ("scorebox", &program),
        ]);
        let read =
            |name: &str| ScriptFiles::read(&folder.path().join(name), ScriptLanguage::JavaScript);
        assert_eq!(names(&read("grade.ts").unwrap()), ["grade.ts"]);
        assert_eq!(names(&read("types.ts").unwrap()), ["grade.ts", "types.ts"]);
        let refused = read("runs.js");
        assert!(
            matches!(&refused, Err(NotRead::File(path, InputFileError::TooLarge { .. })) if path.ends_with("scorebox")),
            "{refused:?}"
        );
    }

    #[test]
    fn a_script_asks_a_judge_if_one_of_its_files_imports_the_module() {
        for asks in [
            "import { ask } from 'scorebox:judge';",
            "import*as judge from\"scorebox:judge\"",
            "const { ask } = await import('scorebox:judge');",
            "export { ask } from 'scorebox:judge';",
            "import { type Answer, ask } from 'scorebox:judge';",
            "import type from 'scorebox:judge';",
            "import { a } from './a.js'; import {\n  ask,\n} from 'scorebox:judge';",
        ] {
            assert!(imports_judge(asks), "{asks}");
        }
        for asks_not in [
            "import type { Answer } from 'scorebox:judge';",
            "import type * as judge from 'scorebox:judge';",
            "const name = 'scorebox:judge';",
            "import { ask } from 'scorebox:judges';",
            "import { ask } from './scorebox:judge';",
        ] {
            assert!(!imports_judge(asks_not), "{asks_not}");
        }
        let folder = folder(&[
            ("grade.js", "import { polite } from './polite.js'"),
            ("polite.js", "import { ask } from 'scorebox:judge'"),
        ]);
        let language = ScriptLanguage::JavaScript;
        for (name, asks) in [("grade.js", true), ("polite.js", true)] {
            let files = ScriptFiles::read(&folder.path().join(name), language).unwrap();
            assert_eq!(files.asks_judge(language), asks, "{name}");
        }
    }

    #[test]
    fn a_script_in_python_asks_a_judge_if_one_of_its_files_imports_the_module_and_has_none_of_that_name()
     {
        let asks = |files: &[(&str, &str)]| {
            let folder = folder(files);
            let language = ScriptLanguage::Python;
            let files = ScriptFiles::read(&folder.path().join("grade.py"), language).unwrap();
            files.asks_judge(language)
        };
        for text in [
            "from scorebox.judge import ask",
            "import json, scorebox.judge as judge",
            "def score(case, config):\n    from scorebox import judge\n",
        ] {
            assert!(asks(&[("grade.py", text)]), "{text}");
            assert!(asks(&[("grade.py", "import lib.a"), ("lib/a.py", text)]), "{text}");
            assert!(!asks(&[("grade.py", text), ("scorebox/judge.py", "")]), "{text}");
            assert!(!asks(&[("grade.py", text), ("scorebox.py", "")]), "{text}");
        }
        for text in ["import scorebox", "from scorebox.judges import ask", "import judge", ""] {
            assert!(!asks(&[("grade.py", text)]), "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn nothing_outside_the_folder_is_read() {
        let outer = folder(&[
            ("secret.js", "1"),
            ("scripts/grade.js", "import '../secret.js'; import './folder.js'; import './there'"),
            ("scripts/folder.js/x", ""),
            ("scripts/there.ts", ""),
            ("scripts/linked.js", "import './link.js'"),
            ("scripts/deeper.js", "import './outer/secret.js'"),
        ]);
        let scripts = outer.path().join("scripts");
        let link = |to: &str, name| std::os::unix::fs::symlink(to, scripts.join(name)).unwrap();
        link("../secret.js", "link.js");
        link("..", "outer");
        // The import refers to another file.
        link("../secret.js", "there.js");
        let read = |name: &str| ScriptFiles::read(&scripts.join(name), ScriptLanguage::JavaScript);
        assert_eq!(names(&read("grade.js").unwrap()), ["grade.js", "there.ts"]);
        for (name, out) in [("linked.js", "link.js"), ("deeper.js", "outer/secret.js")] {
            let refused = read(name);
            assert!(matches!(&refused, Err(NotRead::LeadsOut(it)) if it == out), "{refused:?}");
        }
    }

    #[test]
    fn a_script_with_its_imports_is_bounded() {
        let half = " ".repeat(512 << 10);
        let folder = folder(&[
            ("one.js", &format!("{half}import './two.js'")),
            ("two.js", &half),
            ("large.js", &half.repeat(3)),
        ]);
        for name in ["one.js", "large.js"] {
            let read = ScriptFiles::read(&folder.path().join(name), ScriptLanguage::JavaScript);
            assert!(matches!(read, Err(NotRead::TooLarge)), "{name}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_a_script_and_other_encodings_are_refused_with_the_line() {
        let folder = folder(&[("grade.js", "\u{feff}1")]);
        let path = folder.path().join("grade.js");
        assert_eq!(
            ScriptFiles::read(&path, ScriptLanguage::JavaScript).unwrap().files["grade.js"],
            "1"
        );
        fs::write(&path, b"1\n\xff").unwrap();
        let Err(NotRead::File(_, InputFileError::NotUtf8 { line: 2 })) =
            ScriptFiles::read(&path, ScriptLanguage::JavaScript)
        else {
            panic!("not UTF-8");
        };
    }
}
