//! The languages of scripts, by the endings of their files. Knows nothing of what runs them.

use std::fmt;

/// A language that scripts are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ScriptLanguage {
    /// JavaScript, and TypeScript, whose types are taken away: `.js`, `.mjs`, `.ts`, `.mts`. What runs it is embedded.
    JavaScript,
    /// Python: `.py`. What runs it is brought by the program ([`Registry::with_script_engine`](super::Registry::with_script_engine)).
    Python,
}

impl ScriptLanguage {
    /// The language of the script at `path`; `None` if it is not a script.
    pub(super) fn of(path: &str) -> Option<ScriptLanguage> {
        let ends = |endings: &[&str]| endings.iter().any(|ending| path.ends_with(ending));
        if ends(&[".js", ".mjs", ".ts", ".mts"]) {
            return Some(ScriptLanguage::JavaScript);
        }
        ends(&[".py"]).then_some(ScriptLanguage::Python)
    }

    /// Its name, in lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            ScriptLanguage::JavaScript => "javascript",
            ScriptLanguage::Python => "python",
        }
    }
}

impl fmt::Display for ScriptLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ScriptLanguage::JavaScript => "JavaScript",
            ScriptLanguage::Python => "Python",
        })
    }
}
