//! How a user names a scorer: by name, by file, or by the address where it is published. It looks nothing up.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::ScriptLanguage;

/// The prefix of a published scorer's address.
pub(super) const PUBLISHED: &str = "oci://";

/// How a user names a scorer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "who decides by it must decide about each")]
pub enum Reference {
    /// By a name in the registry.
    Name(String),
    /// By the path of a file: a component, or a script.
    File(PathBuf),
    /// By the address where it is published: `REGISTRY/NAME:VERSION`, which is not checked here.
    Published(String),
}

impl Reference {
    /// A text with the prefix `oci://` is an address; a text that looks like a path (with a separator, or with the
    /// ending of a component's or a script's file) is a path; relative paths start at `folder`.
    pub fn parse(written: &str, folder: &Path) -> Reference {
        if let Some(address) = written.strip_prefix(PUBLISHED) {
            return Reference::Published(address.to_owned());
        }
        let is_file = written.ends_with(".wasm") || ScriptLanguage::of(written).is_some();
        let is_path = written.contains(['/', '\\']) || is_file;
        match is_path {
            true => Reference::File(folder.join(written)),
            false => Reference::Name(written.to_owned()),
        }
    }

    /// Whether it is the path of a script (`.js`, `.mjs`, `.ts`, `.mts`, `.py`), from which a component is made.
    pub fn is_script(&self) -> bool {
        self.script_language().is_some()
    }

    /// The language of the script, if it is the path of a script.
    pub(super) fn script_language(&self) -> Option<ScriptLanguage> {
        match self {
            Reference::File(path) => ScriptLanguage::of(&path.to_string_lossy()),
            Reference::Name(_) | Reference::Published(_) => None,
        }
    }

    /// A name for the scorer, if the user gave none: the name, the file's stem, or the last part of the address.
    pub fn default_name(&self) -> String {
        match self {
            Reference::Name(name) => name.clone(),
            Reference::File(path) => path
                .file_stem()
                .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned()),
            Reference::Published(address) => {
                let name = address.rsplit('/').next().unwrap_or_default();
                name.split(':').next().unwrap_or_default().to_owned()
            }
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reference::Name(name) => f.write_str(name),
            Reference::File(path) => write!(f, "{}", path.display()),
            Reference::Published(address) => write!(f, "{PUBLISHED}{address}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_differs_from_a_name_by_its_form() {
        let folder = Path::new("/suite");
        let file = |path: &str| Reference::File(PathBuf::from(path));
        assert_eq!(Reference::parse("latency", folder), Reference::Name("latency".into()));
        assert_eq!(Reference::parse("x.wasm", folder), file("/suite/x.wasm"));
        assert_eq!(Reference::parse("./x", folder), file("/suite/./x"));
        assert_eq!(Reference::parse("/y/x.wasm", folder).default_name(), "x");
        for script in ["grade.js", "grade.mjs", "grade.ts", "./grade.mts", "grade.py"] {
            let reference = Reference::parse(script, folder);
            assert!(reference.is_script(), "{script}");
            assert_eq!(reference.default_name(), "grade");
        }
        assert!(!Reference::parse("js", folder).is_script());
    }

    #[test]
    fn an_address_begins_with_its_scheme_and_is_not_a_path() {
        let written = "oci://registry.example.com:5000/team/grade:1.2.0";
        let reference = Reference::parse(written, Path::new("/suite"));
        let address = "registry.example.com:5000/team/grade:1.2.0";
        assert_eq!(reference, Reference::Published(address.into()));
        assert_eq!(reference.to_string(), written);
        assert_eq!(reference.default_name(), "grade");
        assert!(!Reference::parse("oci://a.test/grade.py:1", Path::new("")).is_script());
        assert_eq!(Reference::parse("oci://", Path::new("")).default_name(), "");
    }
}
