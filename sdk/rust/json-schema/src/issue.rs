//! One place of a value that does not match its schema, and how it is worded. It validates nothing.

use std::borrow::Cow;
use std::fmt;

use boon::{ErrorKind, ValidationError};
use serde::Serialize;
use serde_json::Value;

use scorebox_sdk::excerpt;

use super::formats;
use super::place::Place;
use super::rewrite::Rewritten;

/// The most issues that are reported for one value.
const ISSUE_LIMIT: usize = 20;

/// The longest message of one issue, in characters: it may quote long values.
const MESSAGE_LIMIT: usize = 200;

/// One place where a value does not match. Displayed as `ages.1: want integer, but got string`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Issue {
    /// The place in the value: keys and indices.
    path: Vec<Value>,
    /// What the schema wants, and what was found; at most 200 characters.
    message: String,
    /// The schema keyword that failed, such as `required`; empty if no keyword is to blame.
    keyword: &'static str,
}

impl Issue {
    /// An issue with the value as a whole that is not due to a keyword.
    #[must_use]
    pub fn whole(message: String) -> Self {
        Self { path: Vec::new(), message, keyword: "" }
    }

    fn new(place: Place, kind: &ErrorKind<'_, '_>, message: &str) -> Self {
        let keyword = match kind {
            ErrorKind::FalseSchema => place.keyword,
            // The validator calls this one by another word.
            ErrorKind::AdditionalProperties { .. } => "additionalProperties",
            _ => kind.keyword_path().map_or("", |path| path.keyword),
        };
        Self { path: place.path, message: excerpt(message, MESSAGE_LIMIT).into_owned(), keyword }
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, token) in self.path.iter().enumerate() {
            let dot = if index == 0 { "" } else { "." };
            match token {
                Value::String(key) => write!(out, "{dot}{key}")?,
                position => write!(out, "{dot}{position}")?,
            }
        }
        let colon = if self.path.is_empty() { "" } else { ": " };
        write!(out, "{colon}{}", self.message)
    }
}

/// The issues of a value that does not match, [`ISSUE_LIMIT`] at most.
pub(super) fn issues(error: &ValidationError<'_, '_>, rewritten: &Rewritten) -> Vec<Issue> {
    let mut issues = Vec::new();
    Collector { rewritten, issues: &mut issues }.collect(error, &Place::default());
    issues
}

struct Collector<'a> {
    rewritten: &'a Rewritten,
    issues: &'a mut Vec<Issue>,
}

impl Collector<'_> {
    /// Collects the leaves of the validator's error tree. If no alternative matches, the causes are not separate
    /// issues: they go into the message.
    fn collect(&mut self, error: &ValidationError<'_, '_>, from: &Place) {
        if self.issues.len() >= ISSUE_LIMIT {
            return;
        }
        let place = from.of(error, self.rewritten);
        if error.causes.is_empty() {
            let issue = in_words_of_the_schema(&error.kind, self.rewritten, |kind| {
                Issue::new(place, kind, &words(kind))
            });
            self.issues.push(issue);
            return;
        }
        let inside = place.inside(&error.kind);
        if !matches!(error.kind, ErrorKind::AnyOf | ErrorKind::OneOf(None)) {
            error.causes.iter().for_each(|cause| self.collect(cause, &inside));
            return;
        }
        let mut parts = Vec::new();
        let mut alternatives = Collector { rewritten: self.rewritten, issues: &mut parts };
        error.causes.iter().for_each(|cause| alternatives.collect(cause, &inside));
        let parts: Vec<_> = parts.iter().map(Issue::to_string).collect();
        let message = format!("{}: {}", error.kind, parts.join(", or "));
        self.issues.push(Issue::new(place, &error.kind, &message));
    }
}

/// Turns an error about the rewritten schema into one about the schema that the user wrote.
fn in_words_of_the_schema<T>(
    kind: &ErrorKind<'_, '_>,
    rewritten: &Rewritten,
    with: impl FnOnce(&ErrorKind<'_, '_>) -> T,
) -> T {
    match kind {
        ErrorKind::Pattern { got, want } => {
            let got = Cow::Borrowed(got.as_ref());
            with(&ErrorKind::Pattern { got, want: rewritten.pattern(want) })
        }
        ErrorKind::Format { got, want, .. } => match (got.as_ref(), rewritten.rule(want)) {
            (Value::Number(number), Some(rule)) => with(&rule.failure(number)),
            _ => with(kind),
        },
        _ => with(kind),
    }
}

/// The validator's message. For one format it contains a name that no user wrote.
fn words(kind: &ErrorKind<'_, '_>) -> String {
    let words = kind.to_string();
    match kind {
        ErrorKind::Format { .. } => words.replace(formats::REGEX, "regex"),
        _ => words,
    }
}
