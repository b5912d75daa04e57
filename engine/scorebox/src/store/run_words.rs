//! Stored words of a run: the source of its cases, and its state. It decides neither.

#![expect(
    clippy::exhaustive_enums,
    reason = "who reads a new word must be shown by the compiler where it is read"
)]

use serde::{Deserialize, Serialize};

/// The source of a run's cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunSource {
    /// Files that existed before the run.
    Batch,
    /// A running program, with cases as they happen.
    Live,
}

impl RunSource {
    /// The word in the database and in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            RunSource::Batch => "batch",
            RunSource::Live => "live",
        }
    }
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// It is running, or it was killed before it could store another state.
    Running,
    /// All cases were read.
    Finished,
    /// The user stopped it.
    Interrupted,
    /// Something else stopped it: a bad case, a full disk.
    Stopped,
}

impl RunState {
    /// The word in the database and in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            RunState::Running => "running",
            RunState::Finished => "finished",
            RunState::Interrupted => "interrupted",
            RunState::Stopped => "stopped",
        }
    }
}
