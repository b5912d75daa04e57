//! The configuration key `match` of scorers that compare a call's arguments.
//! [`ArgumentPattern`](crate::ArgumentPattern) does the comparison.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How arguments are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentMatch {
    /// They contain at least the given ones; `{"regex": …}` is a pattern.
    #[default]
    Partial,
    /// They equal the given ones; there are no patterns.
    Exact,
}

impl ArgumentMatch {
    /// Whether arguments must equal the given ones.
    #[must_use]
    pub fn is_exact(self) -> bool {
        self == Self::Exact
    }
}
