//! The configuration key `match` of scorers that compare a call's arguments. The comparison itself is
//! [`ArgumentPattern`](crate::ArgumentPattern)'s.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How arguments are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentMatch {
    /// They have at least what is given in them; `{"regex": …}` is a pattern.
    #[default]
    Partial,
    /// They are what is given and nothing else; nothing is a pattern.
    Exact,
}

impl ArgumentMatch {
    /// Whether arguments must be what is given and nothing else.
    #[must_use]
    pub fn is_exact(self) -> bool {
        self == Self::Exact
    }
}
