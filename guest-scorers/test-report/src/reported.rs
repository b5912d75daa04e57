//! One test in a report, how its name is composed, and the message for a report that cannot be read.

use scorebox_sdk::excerpt;

/// The most of a failure's text that is kept, in characters.
const WHY: usize = 2000;
/// The most of a name that is kept, in characters.
const NAME: usize = 500;

/// A reported test.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reported {
    /// The full name.
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
}

/// How a test ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    Passed,
    /// With the reason, if the report states one.
    Failed(String),
    /// Not run, to do, or expected to fail.
    Skipped,
}

impl Reported {
    pub(crate) fn new(name: impl AsRef<str>, outcome: Outcome) -> Self {
        Self { name: excerpt(name.as_ref(), NAME).into_owned(), outcome }
    }

    pub(crate) fn failed(name: impl AsRef<str>, why: &str) -> Self {
        Self::new(name, Outcome::failed(why))
    }

    pub(crate) fn is_failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed(_))
    }
}

impl Outcome {
    pub(crate) fn failed(why: &str) -> Self {
        let why = without_colours(why.trim());
        let end = why.char_indices().nth(WHY).map_or(why.len(), |(end, _)| end);
        Self::Failed(if why.is_empty() { "it failed".to_owned() } else { why[..end].to_owned() })
    }
}

/// A name with the names around it: `suite > test`. A part that the name already begins with is not repeated.
pub(crate) fn full_name<'n>(outer: impl IntoIterator<Item = &'n str>, name: &str) -> String {
    let mut full = String::new();
    for part in outer.into_iter().map(str::trim).filter(|part| !part.is_empty()) {
        if !name.starts_with(part) {
            full.push_str(part);
            full.push_str(" > ");
        }
    }
    full.push_str(name.trim());
    full
}

/// Test runners may colour their messages, even in reports.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len().min(WHY * 4));
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(parameters) = rest.strip_prefix('[') {
            let end = parameters.find(|c: char| c.is_ascii_alphabetic());
            rest = end.map_or("", |end| &parameters[end + 1..]);
        }
    }
    plain.push_str(rest);
    plain
}

/// The message for a report that should be JSON but is not.
pub(crate) fn not_json(error: &serde_json::Error) -> String {
    format!("it is not valid JSON: {error}")
}
