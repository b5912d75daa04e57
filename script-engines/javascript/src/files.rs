//! The script and the files that it imports, as scorebox put them into this component; and which of them an import means.
//! Evaluates nothing.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{slot, typescript};

/// Endings that an import may leave out, in the order in which they are tried.
const ENDINGS: [&str; 3] = [".js", ".mjs", ".ts"];

/// The files of a script.
#[derive(Deserialize)]
pub(crate) struct Files {
    /// The name of the script itself.
    main: String,
    /// What their authors wrote, by paths from the script's folder, with `/`.
    files: BTreeMap<String, String>,
    /// The JavaScript of those that are TypeScript.
    #[serde(skip)]
    javascript: BTreeMap<String, String>,
}

/// A place in one of the files.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The file's name.
    pub(crate) file: String,
    /// Its line, from 1.
    pub(crate) line: usize,
    /// Its column, from 1.
    pub(crate) column: usize,
}

impl Files {
    /// Those that scorebox put into this component, with types taken away.
    pub(crate) fn of_this_component() -> Result<Files, String> {
        let content = slot::content().ok_or("this component holds no script")?;
        let mut files: Files = serde_json::from_slice(content)
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
        let typescript = files.files.iter().filter(|(name, _)| typescript::is_typescript(name));
        files.javascript = typescript::strip(typescript, &files)?;
        Ok(files)
    }

    /// The name of the script itself.
    pub(crate) fn main(&self) -> &str {
        &self.main
    }

    /// What the author wrote in a file.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.files.get(name).map(String::as_str)
    }

    /// The module that a file is.
    pub(crate) fn module(&self, name: &str) -> Option<String> {
        let text = self.text(name)?;
        Some(match (self.javascript.get(name), name.ends_with(".json")) {
            (Some(javascript), _) => javascript.clone(),
            (None, true) => format!("export default {text}\n;"),
            (None, false) => text.to_owned(),
        })
    }

    /// One line of a file.
    pub(crate) fn line(&self, place: &Place) -> Option<&str> {
        self.text(&place.file)?.lines().nth(place.line.checked_sub(1)?)
    }

    /// The file that `specifier` means in the file `base`.
    pub(crate) fn resolve(&self, base: &str, specifier: &str) -> Result<String, String> {
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
            .ok_or_else(|| format!("`{specifier}` cannot be imported: there is no file `{path}`"))
    }

    /// Where `specifier` stands in the file `base`.
    pub(crate) fn place_of_import(&self, base: &str, specifier: &str) -> Option<Place> {
        let text = self.text(base)?;
        let quoted = |quote: char| text.find(&format!("{quote}{specifier}{quote}"));
        let at = quoted('"').into_iter().chain(quoted('\'')).min()?;
        let before = text.get(..at)?;
        Some(Place {
            file: base.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1,
        })
    }
}

/// The path `specifier` from `folder`; `None` if it leads out of the outermost folder.
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
