//! What of the outside a sandbox has for its scorers: refuse-all, unless the program that makes the sandbox gives
//! more. Here is what is given once; what one score has of it is [`Granted`]. Which import needs which grant is
//! in `grants`, the host's side of the imports in `imports`.
//!
//! A capability reaches a guest in two ways. What can be read before the score begins is read then
//! ([`Capabilities::for_score`]), so that a score's input has one digest. What depends on the guest's questions is
//! asked for in the host call itself: a handle goes into [`Granted`]. If the guest must wait for it, its run ends, and
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

/// What scorers with a grant can see of the outside. By default nothing. Cheap to clone.
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

    /// These, and the files that tasks left: the folders that cases name are below `folder`.
    #[must_use]
    pub fn with_workspace(self, folder: WorkspaceFolder) -> Capabilities {
        Capabilities { workspace: Some(folder), ..self }
    }

    /// These, and the language models that scorers may ask.
    #[must_use]
    pub fn with_judges(self, judges: Judges) -> Capabilities {
        Capabilities { judges, ..self }
    }

    /// The language models that scorers may ask.
    pub fn judges(&self) -> &Judges {
        &self.judges
    }

    /// The folder below which cases name theirs.
    pub fn workspace(&self) -> Option<&WorkspaceFolder> {
        self.workspace.as_ref()
    }

    /// Whether there is something behind `grant`.
    pub fn has(&self, grant: Grant) -> bool {
        match grant {
            Grant::Wasi => true,
            Grant::Workspace => self.workspace.is_some(),
            Grant::Judge => !self.judges.is_empty(),
        }
    }

    /// What a scorer that imports what `needs` grants has for one case; `asker` is its access to a judge. What is read
    /// for it may take as long as the limits say.
    ///
    /// # Errors
    /// `invalid-input` if it cannot be had for this case, `timed-out` if that takes too long.
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

/// What one score has of the capabilities; nothing while a scorer is loaded or sums up.
#[derive(Default)]
pub(super) struct Granted {
    /// The files that the task left.
    workspace: Option<Workspace>,
    /// What it asks a judge. Boxed, because few scores ask and all move this.
    calls: Option<Box<Calls>>,
}

impl Granted {
    /// The same, with answers of a judge that need not be asked for.
    pub(super) fn knowing(self, answers: &[Arc<Recording>]) -> Granted {
        Granted { calls: self.calls.map(|calls| Box::new(calls.knowing(answers))), ..self }
    }

    /// What the score asks a judge; `None` if it has no access to one.
    pub(super) fn calls(&mut self) -> Option<&mut Calls> {
        self.calls.as_deref_mut()
    }

    /// The digest of the files, which are part of the score's input.
    pub(super) fn files_digest(&self) -> Option<Digest> {
        self.workspace.as_ref().map(Workspace::digest)
    }

    /// The files, or what the guest is answered if there are none.
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

    /// What a scorer with `needs` has of a folder with one task, whose name the case has or has not.
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
