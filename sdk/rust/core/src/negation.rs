//! The configuration key `negate`, which turns a score s into 1 - s, and the wording of an inverted check, which says
//! that the opposite is wanted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Assertion, Score};

/// The configuration key `negate`, as a field of that name.
///
/// ```
/// # use scorebox_sdk::{JsonSchema, Negate, schemars};
/// #[derive(serde::Deserialize, JsonSchema)]
/// struct Config {
///     #[serde(default)]
///     negate: Negate,
/// }
/// let config: Config = serde_json::from_str(r#"{"negate": true}"#).unwrap();
/// assert_eq!(config.negate.score(0.25).score, Some(0.75));
/// assert_eq!(config.negate.pass(true).score, Some(0.0));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(
    inline,
    description = "Inverts the score s: 1 - s. Assertions, if there are any, then require the opposite."
)]
pub struct Negate(bool);

impl Negate {
    /// Whether the key is set.
    #[must_use]
    pub fn is_set(self) -> bool {
        self.0
    }

    /// A score of 0 to 1, inverted if the key is set.
    #[must_use]
    pub fn score(self, score: f64) -> Score {
        Score::new(if self.0 { 1.0 - score } else { score })
    }

    /// The score of something that `holds` or does not, inverted if the key is set.
    #[must_use]
    pub fn pass(self, holds: bool) -> Score {
        Score::pass(holds != self.0)
    }
}

impl From<bool> for Negate {
    fn from(negate: bool) -> Self {
        Self(negate)
    }
}

impl Assertion {
    /// Inverts the check if `negate` is set: its value v becomes 1 - v, and its name begins with `not: `. The reason
    /// stays, because it says what was found. Meant for a check without its own threshold, which would not be inverted.
    #[must_use]
    pub fn negated(mut self, negate: bool) -> Self {
        if negate {
            self.name = format!("not: {}", self.name);
            self.score = 1.0 - self.score;
        }
        self
    }
}

/// The reason of a failed check: the finding, and what was wanted instead, which is `wanted` or its opposite. Without
/// `wanted`, the finding is enough, unless its opposite was wanted.
pub(crate) fn unmet(found: &str, wanted: Option<&str>, negate: bool) -> String {
    match (wanted, negate) {
        (Some(wanted), false) => format!("{found}; wanted: {wanted}"),
        (Some(wanted), true) => format!("{found}; wanted: not {wanted}"),
        (None, false) => found.to_owned(),
        (None, true) => format!("{found}; wanted: the opposite"),
    }
}
