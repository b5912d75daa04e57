//! Matches paths with globs. It is behind the feature `globs`, because it adds a matcher to the component.

use std::fmt;

use globset::{GlobBuilder, GlobMatcher};

use scorebox_sdk::{ConfigError, excerpt};

/// The longest pattern, in bytes.
const PATTERN_LIMIT: usize = 4096;
/// The most opening braces of a pattern. Each is a level for the matcher's own parser, which reports an
/// internal error beyond its limit.
const BRACE_LIMIT: usize = 32;

/// A path, or a glob: `*` is anything but `/`, `**` any folders, `?` one character, `[ab]` one of
/// them, `{a,b}` one of several; `\` makes the next character literal. A pattern that
/// ends in `/` matches everything in that folder.
///
/// A pattern also matches the path that equals it literally, so that `app/[id]/page.tsx` needs no `\`.
#[derive(Debug, Clone)]
pub struct PathPattern {
    written: String,
    matcher: GlobMatcher,
}

impl PathPattern {
    /// Prepares a pattern.
    ///
    /// # Errors
    /// What is wrong with it, worded as the end of a sentence.
    pub fn new(written: &str) -> Result<Self, String> {
        let relative = written.strip_prefix("./").unwrap_or(written);
        if relative.is_empty() || relative.starts_with('/') {
            return Err(format!(
                "should be a path from the workspace's root, or a glob such as `src/**/*.ts`, \
                 found `{}`",
                excerpt(written, 80)
            ));
        }
        let braces = relative.matches('{').count();
        if relative.len() > PATTERN_LIMIT || braces > BRACE_LIMIT {
            return Err(format!(
                "should have at most {PATTERN_LIMIT} bytes and {BRACE_LIMIT} opening braces, found {} and \
                 {braces}",
                relative.len()
            ));
        }
        let glob =
            if relative.ends_with('/') { format!("{relative}**") } else { relative.to_owned() };
        let built = GlobBuilder::new(&glob)
            .literal_separator(true)
            .backslash_escape(true)
            .empty_alternates(true)
            .build();
        let built = built.map_err(|error| format!("is not a valid glob: {}", error.kind()))?;
        let matcher = built.compile_matcher();
        // What the matcher sets up at its first match is then part of the memory that every score starts from.
        let _ = matcher.is_match("src/main.rs");
        Ok(Self { written: relative.to_owned(), matcher })
    }

    /// Whether the path matches.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        self.written == path || self.matcher.is_match(path)
    }

    /// Whether the path matches, or is inside a folder whose path is the pattern.
    #[must_use]
    pub fn covers(&self, path: &str) -> bool {
        let inner = path.strip_prefix(self.written.as_str());
        self.matches(path) || inner.is_some_and(|inner| inner.starts_with('/'))
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", excerpt(&self.written, 120))
    }
}

/// Several patterns.
#[derive(Debug, Clone, Default)]
pub struct PathPatterns(Vec<PathPattern>);

impl PathPatterns {
    /// Prepares the patterns that a configuration has under `key`; `None` if there are none.
    ///
    /// # Errors
    /// A [`ConfigError`] at the pattern that is refused.
    pub fn compile(key: &str, written: &[String]) -> Result<Self, ConfigError> {
        let pattern = |(index, written): (usize, &String)| {
            PathPattern::new(written)
                .map_err(|message| ConfigError::new(format!("{key}[{index}]"), message))
        };
        written.iter().enumerate().map(pattern).collect::<Result<_, _>>().map(Self)
    }

    /// Whether there are no patterns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The patterns, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, PathPattern> {
        self.0.iter()
    }

    /// Whether one of them matches the path.
    #[must_use]
    pub fn match_any(&self, path: &str) -> bool {
        self.0.iter().any(|pattern| pattern.matches(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_know_folders_and_paths_are_patterns_of_themselves() {
        let matches = |pattern: &str, path: &str| PathPattern::new(pattern).unwrap().matches(path);
        assert!(matches("src/*.ts", "src/a.ts"));
        assert!(!matches("src/*.ts", "src/b/a.ts"));
        assert!(matches("src/**/*.ts", "src/a.ts") && matches("src/**/*.ts", "src/b/c/a.ts"));
        assert!(matches("*.{ts,tsx}", "a.tsx") && !matches("*.{ts,tsx}", "src/a.ts"));
        assert!(matches("tests/", "tests/a/b.rs") && !matches("tests/", "src/tests.rs"));
        assert!(matches("./a.ts", "a.ts"));
        assert!(matches("app/[id]/page.tsx", "app/[id]/page.tsx"));
        assert!(matches("app/[id]/page.tsx", "app/i/page.tsx"));
    }

    #[test]
    fn a_folder_covers_what_is_in_it() {
        let covers = |pattern: &str, path: &str| PathPattern::new(pattern).unwrap().covers(path);
        assert!(covers("src", "src") && covers("src", "src/a/b.ts") && covers("./src", "src/a.ts"));
        assert!(covers("app/[id]", "app/[id]/page.tsx") && covers("src/", "src/a.ts"));
        assert!(!covers("src", "src.ts") && !covers("src", "lib/src/a.ts"));
        // A glob is not a folder.
        assert!(!covers("*", "src/a.ts") && !covers("src/*", "src/a/b.ts"));
    }

    #[test]
    fn what_is_not_a_glob_is_refused_at_its_place() {
        let refused = |written: &[&str]| {
            let written: Vec<_> = written.iter().map(|text| (*text).to_owned()).collect();
            PathPatterns::compile("changed", &written).unwrap_err().to_string()
        };
        assert_eq!(
            refused(&["a", "{b"]),
            "`changed[1]` is not a valid glob: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)"
        );
        assert!(refused(&["/etc/passwd"]).contains("should be a path from the workspace's root"));
        let deep = "{a,".repeat(300) + &"}".repeat(300);
        assert_eq!(
            refused(&[&deep]),
            "`changed[0]`: should have at most 4096 bytes and 32 opening braces, found 1200 and 300"
        );
        assert!(refused(&[&"?".repeat(5000)]).contains("found 5000 and 0"));
        let most = "{a,".repeat(BRACE_LIMIT) + &"}".repeat(BRACE_LIMIT) + &"[a-é]".repeat(600);
        assert!(!PathPattern::new(&most).unwrap().matches("b"));
    }
}
