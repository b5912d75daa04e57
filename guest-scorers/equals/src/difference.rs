//! Finds the first place where two values differ. It applies no options.

use scorebox_sdk::{equal, excerpt};
use serde_json::Value;

/// The first place where two values differ, and both values there.
#[derive(Debug, PartialEq)]
pub(crate) struct Difference {
    /// Keys and indices that lead there.
    pub(crate) path: Vec<Value>,
    /// The output's value there; `None` if it has none.
    found: Option<String>,
    /// The expected value there; `None` if there is none.
    expected: Option<String>,
}

impl Difference {
    pub(crate) fn sentence(&self) -> String {
        let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        let (found, expected) = (shown(&self.found), shown(&self.expected));
        if self.path.is_empty() {
            return format!("is {found}, expected {expected}");
        }
        let plain = |step: &Value| match step {
            Value::String(key) => key.clone(),
            index => index.to_string(),
        };
        let path: Vec<_> = self.path.iter().map(plain).collect();
        format!("differs at {}: is {found}, expected {expected}", excerpt(&path.join("."), 120))
    }
}

/// The first difference, if there is one; keys are compared in order, then indices.
pub(crate) fn first_difference(mut output: &Value, mut expected: &Value) -> Difference {
    let mut path = Vec::new();
    loop {
        let step = match (output, expected) {
            (Value::Object(left), Value::Object(right)) => (left.keys().chain(right.keys()))
                .find(|key| differ(left.get(*key), right.get(*key)))
                .map(|key| (Value::from(key.as_str()), left.get(key), right.get(key))),
            (Value::Array(left), Value::Array(right)) => (0..left.len().max(right.len()))
                .find(|index| differ(left.get(*index), right.get(*index)))
                .map(|index| (Value::from(index), left.get(index), right.get(index))),
            _ => None,
        };
        let Some((step, left, right)) = step else {
            return Difference { path, found: Some(show(output)), expected: Some(show(expected)) };
        };
        path.push(step);
        match (left, right) {
            (Some(left), Some(right)) => (output, expected) = (left, right),
            (left, right) => {
                return Difference { path, found: left.map(show), expected: right.map(show) };
            }
        }
    }
}

fn differ(left: Option<&Value>, right: Option<&Value>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => !equal(left, right),
        _ => true,
    }
}

fn show(value: &Value) -> String {
    excerpt(&value.to_string(), 80).into_owned()
}
