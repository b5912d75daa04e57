//! The files that a task left, of one case: read once, and only where a scorer may see them. Knows no queue
//! and no database.

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
    /// files cannot be read: that is an `invalid-input`.
    pub(crate) async fn score(&mut self, scorer: &LoadedScorer) -> (Outcome, Digest) {
        let mut input = self.case.scorer_input(scorer.info().reads);
        let files = match scorer.reads_workspace() {
            true => self.get().await,
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
    async fn get(&mut self) -> Result<Option<Workspace>, ScoreError> {
        if self.read.is_none() {
            self.read = Some(read(self.case, self.folder).await);
        }
        self.read.clone().unwrap_or(Ok(None))
    }
}

async fn read(
    case: &Case,
    folder: Option<&WorkspaceFolder>,
) -> Result<Option<Workspace>, ScoreError> {
    let (Some(folder), Some(name)) = (folder, case.workspace()) else { return Ok(None) };
    let (folder, name) = (folder.clone(), name.to_owned());
    let read = tokio::task::spawn_blocking(move || folder.read(&name)).await;
    match read {
        Ok(read) => read.map(Some).map_err(unreadable),
        Err(broken) => Err(ScoreError::new(ErrorKind::InvalidInput, broken.to_string())),
    }
}

fn unreadable(error: WorkspaceError) -> ScoreError {
    ScoreError::new(ErrorKind::InvalidInput, error.to_string()).hint(error.hint())
}
