//! The configuration keys that judged scorers share: which model is asked, whether it reasons first, and what an
//! unreadable answer means.

use schemars::JsonSchema;
use scorebox_sdk::{Score, ScoreError};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Unread, host};

/// The configuration key `model`, as a field of that name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, description = "The judge model, in place of the suite's.")]
pub struct Model(pub Option<String>);

/// The configuration key `reasoning`, as a field of that name; `true` unless it is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, description = "Whether the judge gives its reasons before its verdict.")]
pub struct Reasoning(pub bool);

impl Default for Reasoning {
    fn default() -> Self {
        Self(true)
    }
}

/// The configuration key `unreadable`, as a field of that name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(
    description = "What to do if the judge's answer cannot be read, even after asking again."
)]
pub enum Unreadable {
    /// The error `judge-unreadable`.
    #[default]
    Error,
    /// The score 0, as in Smithers; the reason says why. A number of JSON that is off the scale is the end of the scale
    /// that it is beyond, as there, and `meta.clamped` says so.
    Zero,
}

/// What a scorer's configuration says about asking.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// The model in place of the suite's.
    pub model: Model,
    /// Whether the judge reasons first.
    pub reasoning: Reasoning,
    /// What an unreadable answer means.
    pub unreadable: Unreadable,
}

impl Settings {
    /// Made from the three keys.
    #[must_use]
    pub fn new(model: Model, reasoning: Reasoning, unreadable: Unreadable) -> Self {
        Self { model, reasoning, unreadable }
    }
}

impl Unreadable {
    /// The score of a case whose judge's answer could not be read.
    ///
    /// # Errors
    /// In native tests [`ScoreError::Failed`]; in a component the host ends the score with `judge-unreadable`.
    pub fn settle(self, unread: Unread) -> Result<Score, ScoreError> {
        let why = format!("the judge's answer cannot be read: {}", unread.why);
        match self {
            Self::Zero => Ok(Score::new(0.0).reason(why).meta(json!({ "unreadable": true }))),
            Self::Error => {
                host::unreadable(&why);
                Err(ScoreError::failed(why))
            }
        }
    }
}
