//! The script and the files that it imports, as scorebox stored them in this component, and which file an import means.
//! It evaluates nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value as Json;

use crate::{place::Place, slot};

/// Endings that an import may leave out, in the order in which they are tried.
const ENDINGS: [&str; 4] = [".js", ".mjs", ".ts", ".mts"];

/// The length in bytes from which the interpreter's messages cut a name.
const CUT_NAME_BYTES: usize = 60;
/// The module that asks a language model. scorebox provides it only if the name occurs in an import, because only then
/// does the script need a grant.
pub(crate) const JUDGE: &str = "scorebox:judge";

/// The files of a script.
#[derive(Deserialize)]
pub(crate) struct Files {
    /// The name of the script itself.
    main: String,
    /// The sources, by their paths from the script's folder, with `/`.
    files: BTreeMap<String, String>,
    /// The JavaScript compiled from the TypeScript files.
    #[serde(skip)]
    javascript: BTreeMap<String, String>,
}

impl Files {
    /// The files that scorebox stored in this component.
    pub(crate) fn of_this_component() -> Result<Files, String> {
        let content = slot::content().ok_or("this component holds no script")?;
        let files: Files = serde_json::from_slice(content)
            .map_err(|error| format!("the script in this component cannot be read: {error}"))?;
        for (name, text) in &files.files {
            // The interpreter would take it for the end of the text.
            if let Some(at) = text.find('\0') {
                let line = text[..at].matches('\n').count() + 1;
                return Err(format!(
                    "{name}:{line}: the file has a NUL character; it is not a script"
                ));
            }
        }
        Ok(files)
    }

    /// The names and sources of the TypeScript files.
    pub(crate) fn typescript(&self) -> impl Iterator<Item = (&String, &String)> {
        self.files.iter().filter(|(name, _)| name.ends_with(".ts") || name.ends_with(".mts"))
    }

    /// The same files, with the JavaScript of the TypeScript files, by name.
    pub(crate) fn with_javascript(self, javascript: BTreeMap<String, String>) -> Files {
        Files { javascript, ..self }
    }

    /// The name of the script itself.
    pub(crate) fn main(&self) -> &str {
        &self.main
    }

    /// The source of a file.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.files.get(name).map(String::as_str)
    }

    /// The module for a file; the error says why the file is not JSON, and where.
    pub(crate) fn module(&self, name: &str) -> Result<String, (String, Place)> {
        let text = self.text(name).unwrap_or_default();
        match (self.javascript.get(name), name.ends_with(".json")) {
            (Some(javascript), _) => Ok(javascript.clone()),
            (None, true) => json_module(name, text),
            (None, false) => Ok(text.to_owned()),
        }
    }

    /// One line of a file.
    pub(crate) fn line(&self, place: &Place) -> Option<&str> {
        self.text(&place.file)?.lines().nth(place.line.checked_sub(1)?)
    }

    /// The file that `specifier` in the file `base` refers to.
    pub(crate) fn resolve(&self, base: &str, specifier: &str) -> Result<String, String> {
        if specifier == JUDGE {
            return match cfg!(feature = "judge") {
                true => Ok(JUDGE.to_owned()),
                false => Err(format!(
                    "`{JUDGE}` is not there, because its name is computed; write `import {{ ask }} from \"{JUDGE}\"`"
                )),
            };
        }
        if specifier.starts_with("scorebox") {
            return Err(format!("there is no module `{specifier}`; there is `{JUDGE}`"));
        }
        if !specifier.starts_with("./") && !specifier.starts_with("../") {
            return Err(format!(
                "`{specifier}` is not a file of the script; an import begins with `./` or `../`"
            ));
        }
        let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
        let path = joined(folder, specifier).ok_or_else(|| {
            format!("`{specifier}` is outside the folder of the script, where imports may not lead")
        })?;
        let typescript = path
            .strip_suffix(".js")
            .map(|stem| format!("{stem}.ts"))
            .or_else(|| path.strip_suffix(".mjs").map(|stem| format!("{stem}.mts")));
        let mut candidates = std::iter::once(path.clone())
            .chain(typescript)
            .chain(ENDINGS.map(|ending| format!("{path}{ending}")));
        candidates
            .find(|candidate| self.files.contains_key(candidate))
            .ok_or_else(|| match self.place_of_import(base, specifier) {
                Some(_) => format!("`{specifier}` cannot be imported: there is no file `{path}`"),
                None => format!(
                    "`{specifier}` cannot be imported: only files whose names are written out are there; write `import(\"{specifier}\")`"
                ),
            })
    }

    /// The place of `specifier` in the file `base`.
    pub(crate) fn place_of_import(&self, base: &str, specifier: &str) -> Option<Place> {
        let text = self.text(base)?;
        let quoted = |quote: char| text.find(&format!("{quote}{specifier}{quote}"));
        let at = quoted('"').into_iter().chain(quoted('\'')).min()?;
        Place::at(base, text, at)
    }

    /// The place where a file imports `name` from the file `from`, or re-exports it.
    pub(crate) fn place_of_imported(&self, name: &str, from: &str) -> Option<Place> {
        // The script itself comes first: its author is less likely to look at the other files.
        let main = self.files.get_key_value(&self.main).into_iter();
        let others = self.files.iter().filter(|(file, _)| **file != self.main);
        main.chain(others).find_map(|(file, text)| {
            let at = clauses(text).find_map(|(start, clause, specifier)| {
                // The interpreter cuts a long name.
                let found = self.resolve(file, specifier).ok()?;
                let same =
                    found == from || (from.len() >= CUT_NAME_BYTES && found.starts_with(from));
                let at = if same { place_in_clause(clause, name) } else { None };
                at.map(|at| start + at)
            })?;
            Place::at(file, text, at)
        })
    }
}

/// A module whose default export is the value of a JSON text. Read as JavaScript, the text might have another value.
fn json_module(name: &str, text: &str) -> Result<String, (String, Place)> {
    let wrong = match serde_json::from_slice::<IgnoredAny>(text.as_bytes()) {
        // A JSON string is a JavaScript string too.
        Ok(_) => return Ok(format!("export default JSON.parse({});", Json::from(text))),
        Err(wrong) => wrong,
    };
    let line = text.split('\n').nth(wrong.line().saturating_sub(1)).unwrap_or_default();
    // The error counts columns in bytes.
    let before = line.as_bytes().get(..wrong.column().saturating_sub(1)).unwrap_or_default();
    let column = String::from_utf8_lossy(before).chars().count() + 1;
    let why = match wrong.is_eof() {
        true => "it ends too early".to_owned(),
        false => wrong.to_string(),
    };
    let why = why.rsplit_once(" at line ").map_or(why.as_str(), |(why, _)| why);
    let place = Place { file: name.to_owned(), line: wrong.line(), column };
    Err((format!("the file is not valid JSON: {why}"), place))
}

/// The text between `import` or `export` and the `from` before a quoted name: its position, the text, and the name.
fn clauses(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    text.match_indices(['"', '\'']).filter_map(|(at, quote)| {
        let before = text.get(..at)?.trim_end().strip_suffix("from")?;
        let specifier = text.get(at + 1..)?.split(quote).next()?;
        let word = |word: &str| before.rfind(word).map(|at| at + word.len());
        let start = word("import").max(word("export"))?;
        Some((start, before.get(start..)?, specifier))
    })
}

/// The position in a clause of an export of the other file: among the names in braces, or the default before them.
fn place_in_clause(clause: &str, name: &str) -> Option<usize> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    let braces = clause.find('{');
    let word = |at: usize| {
        let around =
            [clause.get(..at)?.chars().last(), clause.get(at + name.len()..)?.chars().next()];
        (!around.into_iter().flatten().any(is_part)).then_some(at)
    };
    let mut named = clause.match_indices(name).filter_map(|(at, _)| word(at));
    let in_braces = named.find(|at| braces.is_some_and(|braces| *at > braces));
    let first = clause.find(is_part).filter(|at| braces.is_none_or(|braces| *at < braces));
    in_braces.or_else(|| first.filter(|_| name == "default"))
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
