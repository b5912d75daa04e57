//! One place of a value that does not match its schema, and its wording. Validates nothing.

use std::fmt;

use boon::{ErrorKind, InstanceToken, ValidationError};
use serde::Serialize;
use serde_json::Value;

use scorebox_sdk::excerpt;

use super::formats;

/// The most issues that are reported of one value.
const ISSUE_LIMIT: usize = 20;

/// The longest message of one issue, in characters: values inside it may be long.
const MESSAGE_LIMIT: usize = 200;

/// One place of a value that does not match. Displayed as `ages.1: want integer, but got string`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Issue {
    /// Where in the value: keys and indices.
    path: Vec<Value>,
    /// What the schema wants, and what was found; at most 200 characters.
    message: String,
    /// The schema keyword that failed, such as `required`; empty if no keyword is to blame.
    keyword: &'static str,
}

impl Issue {
    /// An issue of the value as a whole, for which no keyword is to blame.
    #[must_use]
    pub fn whole(message: String) -> Self {
        Self { path: Vec::new(), message, keyword: "" }
    }

    fn new(error: &ValidationError<'_, '_>, message: &str) -> Self {
        let token = |token: &InstanceToken<'_>| match token {
            InstanceToken::Prop(key) => Value::from(key.as_ref()),
            InstanceToken::Item(index) => Value::from(*index),
        };
        Self {
            path: error.instance_location.tokens.iter().map(token).collect(),
            message: excerpt(message, MESSAGE_LIMIT).into_owned(),
            keyword: error.kind.keyword_path().map_or("", |path| path.keyword),
        }
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

/// The issues of a value that does not match, at most [`ISSUE_LIMIT`].
pub(super) fn issues(error: &ValidationError<'_, '_>) -> Vec<Issue> {
    let mut issues = Vec::new();
    collect(error, &mut issues);
    issues
}

/// The leaves of the validator's tree. If no alternative matches, the parts are not separate issues:
/// they go into the message.
fn collect(error: &ValidationError<'_, '_>, into: &mut Vec<Issue>) {
    if into.len() >= ISSUE_LIMIT {
        return;
    }
    let alternatives = matches!(error.kind, ErrorKind::AnyOf | ErrorKind::OneOf(None));
    if error.causes.is_empty() {
        into.push(Issue::new(error, &words(&error.kind)));
    } else if alternatives {
        let mut parts = Vec::new();
        error.causes.iter().for_each(|cause| collect(cause, &mut parts));
        let parts: Vec<_> = parts.iter().map(Issue::to_string).collect();
        into.push(Issue::new(error, &format!("{}: {}", error.kind, parts.join(", or "))));
    } else {
        error.causes.iter().for_each(|cause| collect(cause, into));
    }
}

/// The validator's message. One format has a name there that no user wrote.
fn words(kind: &ErrorKind<'_, '_>) -> String {
    let words = kind.to_string();
    match kind {
        ErrorKind::Format { .. } => words.replace(formats::REGEX, "regex"),
        _ => words,
    }
}
