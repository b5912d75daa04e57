//! The files that a task left, of one case: read once, and only where a scorer may see them. Knows no queue
//! and no database.

use std::time::Duration;

use crate::{
    case::Case,
    digest::Digest,
    sandbox::{ErrorKind, LoadedScorer, Outcome, ScoreError},
    workspace::{Workspace, WorkspaceError, WorkspaceFolder},
};

/// The files of one case.
pub(crate) struct CaseFiles<'a> {
    case: &'a Case,
    folder: Option<&'a WorkspaceFolder>,
    read: Option<Result<Option<Workspace>, ScoreError>>,
}

impl<'a> CaseFiles<'a> {
    /// `folder` is where the folders of all cases are.
    pub(crate) fn new(case: &'a Case, folder: Option<&'a WorkspaceFolder>) -> CaseFiles<'a> {
        CaseFiles { case, folder, read: None }
    }

    /// Scores the case; answers with the digest of what the scorer was fed as well. Nothing runs where the
    /// files cannot be read: that is an `invalid-input`, or a `timed-out` where reading them takes longer than
    /// one of this scorer's scores may.
    pub(crate) async fn score(&mut self, scorer: &LoadedScorer) -> (Outcome, Digest) {
        let mut input = self.case.scorer_input(scorer.info().reads);
        let files = match scorer.reads_workspace() {
            true => self.get(scorer.limits().timeout).await,
            false => Ok(None),
        };
        match files {
            Ok(workspace) => {
                input.workspace = workspace.as_ref();
                (scorer.score(input).await, input.digest())
            }
            Err(error) => (Outcome::not_begun(error), input.digest()),
        }
    }

    /// The files; none where the case names no folder, or there is no folder of folders.
    async fn get(&mut self, time: Duration) -> Result<Option<Workspace>, ScoreError> {
        if let Some(read) = &self.read {
            return read.clone();
        }
        let read = read(self.case, self.folder, time).await;
        // Another scorer may have more time.
        if !read.as_ref().is_err_and(|error| error.kind == ErrorKind::TimedOut) {
            self.read = Some(read.clone());
        }
        read
    }
}

async fn read(
    case: &Case,
    folder: Option<&WorkspaceFolder>,
    time: Duration,
) -> Result<Option<Workspace>, ScoreError> {
    let (Some(folder), Some(name)) = (folder, case.workspace()) else { return Ok(None) };
    folder.read(name, time).await.map(Some).map_err(unreadable)
}

fn unreadable(error: WorkspaceError) -> ScoreError {
    let kind = match error {
        WorkspaceError::TookTooLong { .. } => ErrorKind::TimedOut,
        _ => ErrorKind::InvalidInput,
    };
    ScoreError::new(kind, error.to_string()).hint(error.hint())
}
