//! Compares two JSON values part by part, as `JSONDiff` of autoevals does. Which value is expected is decided
//! elsewhere.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rapidfuzz::distance::levenshtein;
use scorebox_sdk_texts::similarity::{of_edits, of_numbers};
use serde_json::{Map, Value};

use crate::compact::compact;

/// How deeply texts inside values are read as JSON, because each may contain another one.
const DEEPEST_TEXT: usize = 128;

/// How to compare.
#[derive(Clone, Copy)]
pub(crate) struct Diff {
    /// Texts that contain JSON stay texts.
    pub(crate) preserve_strings: bool,
}

/// The similarity of two values.
pub(crate) struct Alike {
    /// 0 to 1.
    pub(crate) score: f64,
    /// The similarity for each key or index; `None` if the values have no parts.
    pub(crate) parts: Vec<(String, f64)>,
}

impl Diff {
    /// The similarity of two values as a whole, and of each of their parts.
    pub(crate) fn alike(self, output: &Value, expected: &Value) -> Alike {
        let parts: Vec<_> = match (&*self.read(output), &*self.read(expected)) {
            (Value::Object(left), Value::Object(right)) => (keys(left, right).into_iter())
                .map(|key| (key.clone(), self.member(left.get(key), right.get(key), 1)))
                .collect(),
            (Value::Array(left), Value::Array(right)) => (0..left.len().max(right.len()))
                .map(|index| {
                    let pair = left.get(index).zip(right.get(index));
                    (index.to_string(), pair.map_or(0.0, |(l, r)| self.compare(l, r, 1)))
                })
                .collect(),
            _ => Vec::new(),
        };
        let score = match parts.len() {
            0 => self.compare(output, expected, 0),
            count => parts.iter().map(|(_, alike)| alike).sum::<f64>() / count as f64,
        };
        Alike { score, parts }
    }

    /// The content of a text, if it contains an object or a list.
    pub(crate) fn read(self, value: &Value) -> Cow<'_, Value> {
        let content = match value {
            Value::String(text) if !self.preserve_strings => serde_json::from_str(text).ok(),
            _ => None,
        };
        let content = content.filter(|content: &Value| content.is_object() || content.is_array());
        content.map_or(Cow::Borrowed(value), Cow::Owned)
    }

    fn compare(self, output: &Value, expected: &Value, depth: usize) -> f64 {
        let deeper = depth + 1;
        let read =
            |value| if depth < DEEPEST_TEXT { self.read(value) } else { Cow::Borrowed(value) };
        let (output, expected) = (read(output), read(expected));
        match (&*output, &*expected) {
            (Value::Object(left), Value::Object(right)) => {
                let keys = keys(left, right);
                if keys.is_empty() {
                    return 1.0;
                }
                let alike = |key: &&String| self.member(left.get(*key), right.get(*key), deeper);
                keys.iter().map(alike).sum::<f64>() / keys.len() as f64
            }
            (Value::Array(left), Value::Array(right)) => {
                let longer = left.len().max(right.len());
                if longer == 0 {
                    return 1.0;
                }
                let pairs = left.iter().zip(right);
                pairs.map(|(l, r)| self.compare(l, r, deeper)).sum::<f64>() / longer as f64
            }
            (Value::String(left), Value::String(right)) => alike_texts(left, right),
            (Value::Null, Value::Null) => 1.0,
            (Value::Null, _) | (_, Value::Null) => 0.0,
            (left, right) => match (number(left), number(right)) {
                (Some(left), Some(right)) => of_numbers(left, right),
                _ => alike_texts(&compact(left), &compact(right)),
            },
        }
    }

    /// The similarity of a member; a key that one side lacks counts as `null` there.
    fn member(self, output: Option<&Value>, expected: Option<&Value>, depth: usize) -> f64 {
        self.compare(output.unwrap_or(&Value::Null), expected.unwrap_or(&Value::Null), depth)
    }
}

/// The keys of both objects.
fn keys<'v>(left: &'v Map<String, Value>, right: &'v Map<String, Value>) -> BTreeSet<&'v String> {
    left.keys().chain(right.keys()).collect()
}

/// In Python, `True` is the number 1 and `False` the number 0.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
        other => other.as_f64(),
    }
}

/// The similarity of the scorer levenshtein.
fn alike_texts(left: &str, right: &str) -> f64 {
    of_edits(levenshtein::distance(left.chars(), right.chars()), left, right)
}
