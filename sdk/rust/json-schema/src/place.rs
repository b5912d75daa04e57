//! Where in a value an error of the validator is, and which keyword of the schema leads there. The validator counts
//! items from the end of `prefixItems`, and names no keyword for a schema that is `false`: following the schema's
//! location provides both. It contains no wording.

use boon::{ErrorKind, InstanceToken, ValidationError};
use serde_json::Value;

use super::rewrite::Rewritten;

/// The place of an error, and where its causes start from.
#[derive(Clone, Default)]
pub(super) struct Place {
    /// Keys and indices.
    pub(super) path: Vec<Value>,
    /// The last keyword on the way to a subschema; empty at the root.
    pub(super) keyword: &'static str,
    /// The schema's location, with percent-encoding removed.
    location: String,
}

/// Keywords whose schemas apply to parts of the value or to the value itself; whether a name or an index follows in the
/// location, and whether the schema applies to the items after the first ones.
const KEYWORDS: [(&str, Step); 19] = [
    ("properties", Step::Named { deeper: true }),
    ("patternProperties", Step::Named { deeper: true }),
    ("prefixItems", Step::Named { deeper: true }),
    ("allOf", Step::Named { deeper: false }),
    ("anyOf", Step::Named { deeper: false }),
    ("oneOf", Step::Named { deeper: false }),
    ("dependentSchemas", Step::Named { deeper: false }),
    ("dependencies", Step::Named { deeper: false }),
    ("items", Step::Rest),
    ("additionalItems", Step::Rest),
    ("additionalProperties", Step::Deeper),
    ("contains", Step::Deeper),
    ("unevaluatedItems", Step::Deeper),
    ("unevaluatedProperties", Step::Deeper),
    ("propertyNames", Step::Same),
    ("not", Step::Same),
    ("if", Step::Same),
    ("then", Step::Same),
    ("else", Step::Same),
];

/// What a keyword's schema applies to.
#[derive(Clone, Copy)]
enum Step {
    /// A name or an index follows in the location; whether the schema applies to a part of the value.
    Named { deeper: bool },
    /// The items without their own schema.
    Rest,
    /// A part of the value.
    Deeper,
    /// The value itself.
    Same,
}

impl Place {
    /// The place of an error, given the place of the error that it is a cause of.
    pub(super) fn of(&self, error: &ValidationError<'_, '_>, rewritten: &Rewritten) -> Self {
        let token = |token: &InstanceToken<'_>| match token {
            InstanceToken::Prop(key) => Value::from(key.as_ref()),
            InstanceToken::Item(index) => Value::from(*index),
        };
        let mut place = Self {
            path: error.instance_location.tokens.iter().map(token).collect(),
            keyword: self.keyword,
            location: decoded(error.schema_url),
        };
        let shared = self.path.len();
        if place.location.starts_with(&self.location) && shared <= place.path.len() {
            place.path[..shared].clone_from_slice(&self.path);
            place.follow(self.location.len(), shared, rewritten);
        }
        place
    }

    /// Where the causes of this error start from.
    pub(super) fn inside(&self, kind: &ErrorKind<'_, '_>) -> Self {
        let mut inside = self.clone();
        match kind {
            ErrorKind::Reference { kw, url } => {
                inside.location = decoded(url);
                inside.keyword = kw;
            }
            // A property name is validated as a separate value.
            ErrorKind::PropertyName { .. } => {
                inside.location.push_str("/propertyNames");
                inside.keyword = "propertyNames";
                inside.path.clear();
            }
            _ => {}
        }
        inside
    }

    /// Follows the schema from an earlier location to this one, and extends the path accordingly.
    fn follow(&mut self, start: usize, shared: usize, rewritten: &Rewritten) {
        let location = std::mem::take(&mut self.location);
        let (mut at, mut depth) = (start, shared);
        let mut tokens = location[start..].split('/').skip(1).peekable();
        while let Some(token) = tokens.next() {
            let holder = &location[..at];
            at += 1 + token.len();
            let Some((name, step)) = KEYWORDS.iter().find(|(name, _)| *name == token) else {
                continue;
            };
            self.keyword = name;
            let is_index = |token: &&str| token.bytes().all(|byte| byte.is_ascii_digit());
            let (named, deeper) = match step {
                Step::Named { deeper } => (true, *deeper),
                Step::Rest => (tokens.peek().is_some_and(is_index), true),
                Step::Deeper => (false, true),
                Step::Same => (false, false),
            };
            if named {
                at += tokens.next().map_or(0, |name| 1 + name.len());
            }
            if matches!(step, Step::Rest) && !named {
                self.shift(depth, rewritten.prefix(holder));
            }
            depth += usize::from(deeper);
        }
        self.location = location;
    }

    /// Adds the items that the validator did not count.
    fn shift(&mut self, depth: usize, count: usize) {
        if let Some(token) = self.path.get_mut(depth)
            && let Some(index) = token.as_u64()
        {
            *token = Value::from(index + count as u64);
        }
    }
}

/// A location without its percent-encoding.
fn decoded(location: &str) -> String {
    let mut bytes = Vec::with_capacity(location.len());
    let mut rest = location.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).filter(|_| *first == b'%');
        let hex = hex.and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => (bytes.push(byte), rest = &after[2..]),
            None => (bytes.push(*first), rest = after),
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
