//! What the scorers of a sandbox can see of the outside: nothing, unless the program that makes the sandbox gives more.
//! This file has what is given once; [`Granted`] has one score's share. Which import needs which grant is in `grants`,
//! the host's side of the imports in `imports`.
//!
//! A capability reaches a guest in two ways. What can be read before the score begins is read then
//! ([`Capabilities::for_score`]), so that a score's input has one digest. What depends on the guest's questions is
//! requested in the host call itself, through a handle in [`Granted`]. If the guest must wait for it, its run ends, and
//! it runs again when the answer is there (`asking`).

use std::sync::Arc;

use crate::{
    advice::Advised as _,
    contract::ScorerInput,
    digest::Digest,
    judge::{Asker, Judges, Recording},
    workspace::{Workspace, WorkspaceError, WorkspaceFolder},
};

use super::{ErrorKind, Grant, Grants, Limits, ScoreError, asking::Calls};

/// What scorers with a grant can see of the outside. The default is nothing. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Capabilities {
    workspace: Option<WorkspaceFolder>,
    judges: Judges,
}

impl Capabilities {
    /// Nothing.
    pub fn none() -> Capabilities {
        Capabilities::default()
    }

    /// These capabilities, and the files that tasks left: the folders that cases name are below `folder`.
    #[must_use]
    pub fn with_workspace(self, folder: WorkspaceFolder) -> Capabilities {
        Capabilities { workspace: Some(folder), ..self }
    }

    /// These capabilities, and the language models that scorers may ask.
    #[must_use]
    pub fn with_judges(self, judges: Judges) -> Capabilities {
        Capabilities { judges, ..self }
    }

    /// The language models that scorers may ask.
    pub fn judges(&self) -> &Judges {
        &self.judges
    }

    /// The folder below which cases name their folders.
    pub fn workspace(&self) -> Option<&WorkspaceFolder> {
        self.workspace.as_ref()
    }

    /// Whether `grant` gives access to something.
    pub fn has(&self, grant: Grant) -> bool {
        match grant {
            Grant::Wasi => true,
            Grant::Workspace => self.workspace.is_some(),
            Grant::Judge => !self.judges.is_empty(),
        }
    }

    /// What a scorer whose imports need the grants `needs` gets for one case; `asker` is its access to a judge. Reading
    /// may take as long as the limits allow.
    ///
    /// # Errors
    /// `invalid-input` if it is not available for this case, `timed-out` if reading takes too long.
    pub(super) async fn for_score(
        &self,
        (needs, asker): (Grants, Option<&Asker>),
        input: &ScorerInput<'_>,
        limits: &Limits,
    ) -> Result<Granted, ScoreError> {
        let workspace = match (&self.workspace, input.workspace) {
            (Some(folder), Some(task)) if needs.contains(Grant::Workspace) => {
                Some(task.files(folder, limits.host_timeout).await.map_err(unreadable)?)
            }
            _ => None,
        };
        let asker = asker.filter(|_| needs.contains(Grant::Judge));
        let calls = asker.map(|asker| Box::new(Calls::new(asker.clone(), input.repeat)));
        Ok(Granted { workspace, calls })
    }
}

/// One score's share of the capabilities; empty while a scorer is loaded or summarizes.
#[derive(Default)]
pub(super) struct Granted {
    /// The files that the task left.
    workspace: Option<Workspace>,
    /// The score's questions to a judge. Boxed, because few scores ask and all of them move this value.
    calls: Option<Box<Calls>>,
}

impl Granted {
    /// The same, with a judge's answers that need not be asked for.
    pub(super) fn knowing(self, answers: &[Arc<Recording>]) -> Granted {
        Granted { calls: self.calls.map(|calls| Box::new(calls.knowing(answers))), ..self }
    }

    /// The score's questions to a judge; `None` if it has no access to one.
    pub(super) fn calls(&mut self) -> Option<&mut Calls> {
        self.calls.as_deref_mut()
    }

    /// The digest of the files, which are part of the score's input.
    pub(super) fn files_digest(&self) -> Option<Digest> {
        self.workspace.as_ref().map(Workspace::digest)
    }

    /// The files, or the message for the guest if there are none.
    pub(super) fn files(&self) -> Result<&Workspace, String> {
        let none = || "the case has no workspace: no folder is named for it".to_owned();
        self.workspace.as_ref().ok_or_else(none)
    }
}

fn unreadable(error: WorkspaceError) -> ScoreError {
    let kind = match error {
        WorkspaceError::TookTooLong { .. } => ErrorKind::TimedOut,
        _ => ErrorKind::InvalidInput,
    };
    let unreadable = ScoreError::new(kind, error.to_string());
    ScoreError { advice: error.advice(), ..unreadable }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::workspace::TaskFolder;

    use super::*;

    /// The files digest that a scorer with `needs` gets from a folder with one task; `named` says whether the case
    /// names the task.
    async fn of_a_task(capabilities: &Capabilities, needs: Grants, named: bool) -> Option<Digest> {
        let task = TaskFolder::new("task");
        let input = ScorerInput { workspace: named.then_some(&task), ..ScorerInput::default() };
        let granted = capabilities.for_score((needs, None), &input, &Limits::default()).await;
        granted.unwrap().files_digest()
    }

    #[tokio::test]
    async fn files_are_read_where_they_are_given_needed_and_named_and_nowhere_else() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("task")).unwrap();
        fs::write(root.path().join("task/file"), "").unwrap();
        let folder = WorkspaceFolder::open(root.path()).unwrap();
        let given = Capabilities::none().with_workspace(folder);
        let needs = Grants::NONE.with(Grant::Workspace);
        assert!(of_a_task(&given, needs, true).await.is_some());
        assert_eq!(of_a_task(&Capabilities::none(), needs, true).await, None);
        assert_eq!(of_a_task(&given, Grants::NONE.with(Grant::Wasi), true).await, None);
        assert_eq!(of_a_task(&given, needs, false).await, None);
    }

    #[test]
    fn nothing_of_the_outside_is_there_by_default() {
        let outside = Grant::ALL.into_iter().filter(|grant| *grant != Grant::Wasi);
        for grant in outside {
            assert!(!Capabilities::default().has(grant), "{grant}");
        }
    }
}
