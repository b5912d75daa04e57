//! Compiles an expression within limits. What it is searched in is decided elsewhere.

use std::fmt;

use regex_automata::{meta, util::syntax};
use scorebox_sdk::{ConfigError, excerpt};

/// The longest expression, in bytes.
const PATTERN_LIMIT: usize = 10_000;
/// The largest compiled expression, in bytes, because it is part of the memory that every score starts from.
const COMPILED_LIMIT: usize = 4 << 20;
/// How deeply groups may be nested, because the compiler recurses.
const NEST_LIMIT: u32 = 50;

/// A compiled expression, and its source.
pub(crate) struct Pattern {
    written: String,
    regex: meta::Regex,
}

impl Pattern {
    /// Compiles the expressions that the configuration has under `key`.
    pub(crate) fn compile_all(key: &str, written: &[String]) -> Result<Vec<Self>, ConfigError> {
        let compile = |(index, written): (usize, &String)| {
            Self::new(written).map_err(|why| ConfigError::new(format!("{key}[{index}]"), why))
        };
        written.iter().enumerate().map(compile).collect()
    }

    fn new(written: &str) -> Result<Self, String> {
        if written.is_empty() {
            return Err("is empty, and would match everywhere".to_owned());
        }
        if written.len() > PATTERN_LIMIT {
            let length = written.len();
            return Err(format!("should have at most {PATTERN_LIMIT} bytes, found {length}"));
        }
        let config = meta::Regex::config().nfa_size_limit(Some(COMPILED_LIMIT));
        let syntax = syntax::Config::new().nest_limit(NEST_LIMIT);
        let built = meta::Builder::new().configure(config).syntax(syntax).build(written);
        let regex = built.map_err(|error| {
            match (error.size_limit(), error.syntax_error()) {
                (Some(limit), _) => {
                    format!("is too large: compiled it takes more than {limit} bytes")
                }
                (_, Some(syntax)) => {
                    // The last line of the parser's message says what is wrong; the others draw the place.
                    let text = syntax.to_string();
                    let why = text.lines().last().unwrap_or_default();
                    format!(
                        "is not a valid regular expression: {}",
                        why.trim_start_matches("error: ")
                    )
                }
                _ => format!("is not a valid regular expression: {error}"),
            }
        })?;
        let pattern = Self { written: written.to_owned(), regex };
        // What the engine sets up at its first match is then part of the frozen memory.
        pattern.is_in("+const key = \"sk-123\";\n-<div style={{ top: 0 }}>\n");
        Ok(pattern)
    }

    /// Whether the expression matches somewhere in the text.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", excerpt(&self.written, 80))
    }
}
