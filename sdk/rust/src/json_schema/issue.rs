//! What is wrong with a value, as a flat list and as one sentence. It decides no score.

use boon::{ErrorKind, InstanceToken, ValidationError};
use scorebox_sdk::excerpt;
use serde::Serialize;
use serde_json::Value;

use crate::compile::CompiledSchema;

/// The most issues that are reported of one output.
const ISSUE_LIMIT: usize = 20;
/// The longest message of one issue, in characters: values inside it may be long.
const MESSAGE_LIMIT: usize = 200;
/// The longest summary, in bytes.
const SUMMARY_LIMIT: usize = 4096;

/// One place of the output that does not match.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Issue {
    /// Where in the output: keys and indices.
    path: Vec<Value>,
    /// What the schema wants, and what was found.
    message: String,
    /// The schema keyword that failed, such as `required`; empty where no keyword is to blame.
    keyword: &'static str,
}

impl Issue {
    /// An issue of the output as a whole, for which no keyword is to blame.
    pub(crate) fn whole(message: String) -> Self {
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

    fn sentence(&self) -> String {
        let plain = |token: &Value| match token {
            Value::String(key) => key.clone(),
            index => index.to_string(),
        };
        let path: Vec<_> = self.path.iter().map(plain).collect();
        match path.join(".") {
            path if path.is_empty() => self.message.clone(),
            path => format!("{path}: {}", self.message),
        }
    }
}

/// The issues of a value, at most [`ISSUE_LIMIT`]; none where it matches.
pub(crate) fn issues(schema: &CompiledSchema, value: &Value) -> Vec<Issue> {
    let mut issues = Vec::new();
    if let Err(error) = schema.schemas.validate(value, schema.root) {
        collect(&error, &mut issues);
    }
    issues
}

/// The leaves of the validator's tree. Of alternatives none of which matched, the parts are no issues
/// of their own: they go into the message.
fn collect(error: &ValidationError<'_, '_>, into: &mut Vec<Issue>) {
    if into.len() >= ISSUE_LIMIT {
        return;
    }
    let alternatives = matches!(error.kind, ErrorKind::AnyOf | ErrorKind::OneOf(None));
    if error.causes.is_empty() {
        into.push(Issue::new(error, &error.kind.to_string()));
    } else if alternatives {
        let mut parts = Vec::new();
        error.causes.iter().for_each(|cause| collect(cause, &mut parts));
        let parts: Vec<_> = parts.iter().map(Issue::sentence).collect();
        into.push(Issue::new(error, &format!("{}: {}", error.kind, parts.join(", or "))));
    } else {
        error.causes.iter().for_each(|cause| collect(cause, into));
    }
}

/// All issues in one sentence, bounded.
pub(crate) fn summary(issues: &[Issue]) -> String {
    let sentences: Vec<_> = issues.iter().map(Issue::sentence).collect();
    let mut summary = format!("Schema validation failed: {}", sentences.join("; "));
    if summary.len() > SUMMARY_LIMIT {
        summary.truncate(summary.floor_char_boundary(SUMMARY_LIMIT - '…'.len_utf8()));
        summary.push('…');
    }
    summary
}
