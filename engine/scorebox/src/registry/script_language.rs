//! The languages of scripts, by the endings of their files. It knows nothing of the engines that run them.

use std::fmt;

/// A language for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ScriptLanguage {
    /// JavaScript, and TypeScript, whose types are removed: `.js`, `.mjs`, `.ts`, `.mts`. Its engine is embedded.
    JavaScript,
    /// Python: `.py`. The program provides its engine
    /// ([`Registry::with_script_engine`](super::Registry::with_script_engine)).
    Python,
}

impl ScriptLanguage {
    /// All languages.
    pub const ALL: [ScriptLanguage; 2] = [ScriptLanguage::JavaScript, ScriptLanguage::Python];

    /// The language of the script at `path`; `None` if it is not a script.
    pub(super) fn of(path: &str) -> Option<ScriptLanguage> {
        ScriptLanguage::ALL
            .into_iter()
            .find(|language| language.endings().iter().any(|ending| path.ends_with(ending)))
    }

    /// The endings of its files' names.
    pub const fn endings(self) -> &'static [&'static str] {
        match self {
            ScriptLanguage::JavaScript => &[".js", ".mjs", ".ts", ".mts"],
            ScriptLanguage::Python => &[".py"],
        }
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
