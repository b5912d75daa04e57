//! Compiles a pattern within limits, and captures groups with it. It compares nothing.

use regex_automata::util::syntax;
use regex_automata::{PatternID, meta};
use regex_syntax::Error;
use regex_syntax::ast::{self, ErrorKind};
use regex_syntax::hir::{Hir, Look};

/// The longest pattern, in bytes: a longer one is a list that should be stored elsewhere.
const PATTERN_LIMIT: usize = 10_000;

/// The largest compiled pattern, in bytes, because it is part of the memory that every score starts from.
const COMPILED_LIMIT: usize = 4 << 20;

/// How deeply groups may be nested, because the compiler recurses.
const NEST_LIMIT: u32 = 50;

/// A compiled pattern.
pub(crate) struct Pattern {
    regex: meta::Regex,
}

/// How a pattern is interpreted.
pub(crate) struct Flags {
    pub(crate) ignore_case: bool,
    pub(crate) multi_line: bool,
    pub(crate) dot_all: bool,
    /// Whether it must match the whole text.
    pub(crate) full: bool,
}

impl Pattern {
    /// Compiles `pattern`. The error says what is wrong with it, in one line.
    pub(crate) fn new(pattern: &str, flags: &Flags) -> Result<Self, String> {
        if pattern.len() > PATTERN_LIMIT {
            let length = pattern.len();
            return Err(format!("should have at most {PATTERN_LIMIT} bytes, found {length}"));
        }
        let config = syntax::Config::new()
            .case_insensitive(flags.ignore_case)
            .multi_line(flags.multi_line)
            .dot_matches_new_line(flags.dot_all)
            .nest_limit(NEST_LIMIT);
        let mut parsed = syntax::parse_with(pattern, &config).map_err(|error| explain(&error))?;
        if flags.full {
            parsed = Hir::concat(vec![Hir::look(Look::Start), parsed, Hir::look(Look::End)]);
        }
        let config = meta::Regex::config().nfa_size_limit(Some(COMPILED_LIMIT));
        let regex = meta::Regex::builder().configure(config).build_from_hir(&parsed);
        let regex = regex.map_err(|error| match error.size_limit() {
            Some(limit) => format!("is too large: compiled it takes more than {limit} bytes"),
            None => format!("is not a valid regular expression: {error}"),
        })?;
        let compiled = Self { regex };
        compiled.warm(pattern);
        Ok(compiled)
    }

    /// Matches once, so that what an engine sets up at its first match is part of the memory that every score starts
    /// from.
    fn warm(&self, pattern: &str) {
        const SAMPLE: &str = "The quick brown fox, 12.5% of 34: \"ANSWER\" (x = y)\n- end!\n";
        for text in ["", SAMPLE, pattern] {
            let _ = self.catch(text);
        }
    }

    /// The captures of the first match: the whole match, then its groups, some of which may not take part.
    pub(crate) fn catch<'t>(&self, text: &'t str) -> Option<Vec<Option<&'t str>>> {
        let mut captures = self.regex.create_captures();
        self.regex.captures(text, &mut captures);
        let groups = captures.iter().map(|span| span.map(|span| &text[span.range()]));
        captures.is_match().then(|| groups.collect())
    }

    /// The names of the groups, by number; 0 is the whole match and has none.
    pub(crate) fn names(&self) -> impl Iterator<Item = Option<&str>> {
        self.regex.group_info().pattern_names(PatternID::ZERO)
    }
}

/// The parser's message, without its drawing of the place.
fn explain(error: &Error) -> String {
    let (kind, span) = match error {
        Error::Parse(error) => (error.kind().to_string(), Some(error.span())),
        Error::Translate(error) => (error.kind().to_string(), Some(error.span())),
        other => (other.to_string(), None),
    };
    let place = span.map_or(1, |span| span.start.column);
    let meant = match error {
        Error::Parse(error) if is_python_end(error) => "; the end of the output is `\\z` here",
        _ => "",
    };
    format!("is not a valid regular expression: {kind}, at character {place}{meant}")
}

/// Whether an error is about `\Z`, the end of a text in Python.
fn is_python_end(error: &ast::Error) -> bool {
    let span = error.span();
    *error.kind() == ErrorKind::EscapeUnrecognized
        && error.pattern().get(span.start.offset..span.end.offset) == Some("\\Z")
}
