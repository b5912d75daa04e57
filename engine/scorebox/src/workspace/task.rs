//! [`TaskFolder`]: the folder that one task left, by its name, and its files once they are needed. It reads them
//! through `folder`.

use std::{fmt, time::Duration};

use tokio::{sync::Mutex, time::timeout};

use super::{Workspace, WorkspaceError, WorkspaceFolder};

/// The folder of one task, by its name below the folder that the user names. Its files are read when the first scorer
/// needs them, and are then the same for all scorers of the case: use one value for each case.
pub struct TaskFolder {
    name: String,
    read: Mutex<Option<Result<Workspace, WorkspaceError>>>,
}

impl TaskFolder {
    /// The folder `name`; `.` is the user's folder itself.
    pub fn new(name: impl Into<String>) -> TaskFolder {
        TaskFolder { name: name.into(), read: Mutex::const_new(None) }
    }

    /// The folder's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All files of the folder below `user_folder`, from [`WorkspaceFolder::read`], or from an earlier call. Ends after
    /// `time`, even if it waits for another scorer of the case to read them.
    ///
    /// # Errors
    /// Like [`WorkspaceFolder::read`]. Only running out of time is not remembered: the next scorer may have more time.
    pub async fn files(
        &self,
        user_folder: &WorkspaceFolder,
        time: Duration,
    ) -> Result<Workspace, WorkspaceError> {
        let files = timeout(time, async {
            let mut read = self.read.lock().await;
            if let Some(read) = &*read {
                return read.clone();
            }
            let files = user_folder.read(&self.name, time).await;
            if !matches!(files, Err(WorkspaceError::TookTooLong { .. })) {
                *read = Some(files.clone());
            }
            files
        });
        files.await.unwrap_or(Err(WorkspaceError::TookTooLong { time }))
    }
}

impl fmt::Debug for TaskFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskFolder").field(&self.name).finish()
    }
}

/// Folders with the same name are equal.
impl PartialEq for TaskFolder {
    fn eq(&self, other: &TaskFolder) -> bool {
        self.name == other.name
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    #[tokio::test]
    async fn the_files_are_read_once_for_all_scorers_of_a_case() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("task")).unwrap();
        fs::write(root.path().join("task/file"), "first").unwrap();
        let folder = WorkspaceFolder::open(root.path()).unwrap();
        let task = TaskFolder::new("task");
        let first = task.files(&folder, LONG).await.unwrap();
        fs::write(root.path().join("task/file"), "second").unwrap();
        assert_eq!(task.files(&folder, LONG).await.unwrap(), first);
        let of_another_case = TaskFolder::new("task");
        assert_ne!(of_another_case.files(&folder, LONG).await.unwrap(), first);
    }

    #[tokio::test]
    async fn what_cannot_be_read_stays_so_but_for_a_time_that_is_over() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("task")).unwrap();
        fs::write(root.path().join("task/file"), "").unwrap();
        let folder = WorkspaceFolder::open(root.path()).unwrap();
        let task = TaskFolder::new("task");
        let over = task.files(&folder, Duration::ZERO).await.unwrap_err();
        assert!(matches!(over, WorkspaceError::TookTooLong { time: Duration::ZERO }), "{over}");
        fs::remove_dir_all(root.path().join("task")).unwrap();
        let missing = task.files(&folder, LONG).await.unwrap_err();
        assert!(matches!(missing, WorkspaceError::Folder { .. }), "{missing}");
        fs::create_dir(root.path().join("task")).unwrap();
        assert!(task.files(&folder, LONG).await.is_err());
    }
}
