//! Words that are stored of a run: how its cases come, and how far it is. Decides neither.

#![expect(
    clippy::exhaustive_enums,
    reason = "who reads a new word must be shown by the compiler where it is read"
)]

use serde::{Deserialize, Serialize};

/// How the cases of a run come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunSource {
    /// From files that were there before.
    Batch,
    /// From a running program, as they happen.
    Live,
}

impl RunSource {
    /// The word that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            RunSource::Batch => "batch",
            RunSource::Live => "live",
        }
    }
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// It runs; or it was killed before it could say otherwise.
    Running,
    /// Every case was seen.
    Finished,
    /// The user stopped it.
    Interrupted,
    /// Something else stopped it: a bad case, a full disk.
    Stopped,
}

impl RunState {
    /// The word that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            RunState::Running => "running",
            RunState::Finished => "finished",
            RunState::Interrupted => "interrupted",
            RunState::Stopped => "stopped",
        }
    }
}
