//! Why something cannot start. It contains only the errors.

use crate::{
    advice::{Advice, Advised},
    run::RunError,
    sandbox::ScoreError,
    suite::SuiteError,
    workspace::WorkspaceError,
};

/// Why an engine, a scorer or a run cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The sandbox cannot be set up.
    #[error(transparent)]
    Sandbox(Box<ScoreError>),
    /// The folder with the files of tasks cannot be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// A configuration must be a JSON object.
    #[error("the configuration of `{scorer}` is not a JSON object")]
    ConfigIsNoObject {
        /// The scorer, as it was named.
        scorer: String,
    },
    /// A name that no scorer can have.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// A scorer does not exist or cannot be used.
    #[error(transparent)]
    Scorer(#[from] RunError),
}

impl Advised for EngineError {
    fn advice(&self) -> Option<Advice> {
        match self {
            EngineError::Sandbox(error) => error.advice(),
            EngineError::Workspace(error) => error.advice(),
            EngineError::ConfigIsNoObject { .. } => None,
            EngineError::Suite(error) => error.advice(),
            EngineError::Scorer(error) => error.advice(),
        }
    }
}
