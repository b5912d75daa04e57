//! Decides whether the arguments of two calls match. Which calls are compared is decided elsewhere.

use scorebox_sdk::{JsonSchema, equal, schemars};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How arguments are compared.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ArgumentMode {
    /// They are equal.
    #[default]
    Exact,
    /// They do not matter.
    Ignore,
    /// The second call has every argument of the first, with an equal value.
    Subset,
    /// The first call has every argument of the second, with an equal value.
    Superset,
}

/// The comparison for one tool.
#[derive(Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "should be `exact`, `ignore`, `subset`, `superset`, or a list of arguments"
)]
pub(crate) enum PerTool {
    /// Another mode.
    Mode(ArgumentMode),
    /// The arguments that must be equal; the others do not matter. A dot leads into an object. A
    /// missing argument equals `null`.
    Keys(Vec<String>),
}

impl ArgumentMode {
    pub(crate) fn fits(self, first: &Value, second: &Value) -> bool {
        match self {
            Self::Exact => equal(first, second),
            Self::Ignore => true,
            Self::Subset => is_in(first, second),
            Self::Superset => is_in(second, first),
        }
    }
}

impl PerTool {
    /// Whether this is a list that names no argument.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Keys(keys) if keys.is_empty())
    }

    pub(crate) fn fits(&self, first: &Value, second: &Value) -> bool {
        match self {
            Self::Mode(mode) => mode.fits(first, second),
            Self::Keys(keys) => keys.iter().all(|key| equal(inner(first, key), inner(second, key))),
        }
    }
}

/// Whether every member of one object is in another. Any other value must be equal.
fn is_in(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|found| equal(value, found)))
        }
        _ => equal(part, whole),
    }
}

/// The value at a path of keys, or null.
fn inner<'v>(value: &'v Value, path: &str) -> &'v Value {
    path.split('.').try_fold(value, |value, key| value.get(key)).unwrap_or(&Value::Null)
}
