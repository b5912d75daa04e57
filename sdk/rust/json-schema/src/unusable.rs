//! Explains why a schema cannot be used, in one line of bounded length. It compiles nothing.

use boon::{CompileError, ErrorKind, ValidationError};

use scorebox_sdk::excerpt;

use super::rewrite::Rewritten;
use super::{PROBLEM_ISSUES, PROBLEM_LENGTH, ROOT, ROOT_FOLDER, formats};

/// The compiler's message, without the addresses and names that only this crate knows.
pub(super) fn explain(error: &CompileError, rewritten: &Rewritten) -> String {
    let text = format!("{error:#}");
    let why = rewritten.blame(&text).unwrap_or_else(|| match error {
        CompileError::ValidationError { url, src } => misshapen(url, src),
        _ => {
            let lines: Vec<_> = text.lines().map(str::trim).collect();
            lines.join("; ").replace(ROOT, "the schema").replace(formats::REGEX, "regex")
        }
    });
    format!("is not a usable JSON Schema: {why}")
}

/// Where a document does not match its draft's metaschema.
fn misshapen(url: &str, error: &ValidationError<'_, '_>) -> String {
    let (document, pointer) = url.split_once('#').unwrap_or((url, ""));
    let mut found = Vec::new();
    for Problem { place, words } in problems(error) {
        let at = match format!("{pointer}{place}").as_str() {
            "" => String::new(),
            pointer => format!("at `{pointer}`: "),
        };
        let problem = excerpt(&format!("{at}{words}"), PROBLEM_LENGTH).into_owned();
        if !found.contains(&problem) {
            found.push(problem);
        }
    }
    found.truncate(PROBLEM_ISSUES);
    let document = match document.strip_prefix(ROOT_FOLDER) {
        _ if document == ROOT => String::new(),
        name => format!("in \"{}\" ", name.unwrap_or(document)),
    };
    format!("{document}{}", found.join("; "))
}

/// What is wrong at one place of a document.
struct Problem {
    /// A JSON Pointer.
    place: String,
    words: String,
}

/// The leaves of the validator's error tree; alternatives for one place are one problem.
fn problems(error: &ValidationError<'_, '_>) -> Vec<Problem> {
    if error.causes.is_empty() {
        let words = error.kind.to_string().replace(formats::REGEX, "regex");
        return vec![Problem { place: error.instance_location.to_string(), words }];
    }
    let inside: Vec<_> = error.causes.iter().flat_map(problems).collect();
    let [first, rest @ ..] = inside.as_slice() else { return inside };
    let is_choice = matches!(error.kind, ErrorKind::AnyOf | ErrorKind::OneOf(None));
    if !is_choice || rest.iter().any(|other| other.place != first.place) {
        return inside;
    }
    let words: Vec<_> = inside.iter().map(|problem| problem.words.as_str()).collect();
    vec![Problem { place: first.place.clone(), words: words.join(", or ") }]
}
