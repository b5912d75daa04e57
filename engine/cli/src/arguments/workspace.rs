//! The options for the folder with the files that tasks left. It does not read them.

use std::path::PathBuf;

use scorebox::{sandbox::Capabilities, workspace::WorkspaceFolder};
use scorebox_shards::TaskFiles;

use crate::{failure::Failure, same_file::file_name, words};

/// Where the files of cases are.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Workspace")]
pub(crate) struct WorkspaceArguments {
    /// Folder with the files that tasks left, for scorers that are granted `workspace`: a case's `workspace` names its
    /// own folder in it (`score` and `inspect` take all of it for a case that names none)
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,

    /// Leave out files and folders of a workspace: a relative path, or a glob such as `**/*.log`; may be
    /// repeated (`.git` and `node_modules` are always left out)
    #[arg(long, value_name = "GLOB", requires = "workspace")]
    workspace_exclude: Vec<String>,
}

impl WorkspaceArguments {
    /// The settings of the files as a shard records them.
    pub(crate) fn of_shard(&self) -> Option<TaskFiles<'_>> {
        let folder = self.workspace.as_deref()?;
        Some(TaskFiles { folder, without: &self.workspace_exclude })
    }

    /// The options as the user gave them, as command-line arguments; only the last part of the folder's path.
    pub(crate) fn words(&self) -> Vec<String> {
        let folder =
            self.workspace.as_deref().map(|path| ["--workspace".to_owned(), file_name(path)]);
        let without = self
            .workspace_exclude
            .iter()
            .map(|glob| ["--workspace-exclude".to_owned(), glob.clone()]);
        folder.into_iter().chain(without).flatten().collect()
    }

    /// Warns of a folder that no scorer reads; `is_read` is whether one does.
    pub(crate) fn say_if_unused(&self, is_read: bool) {
        if self.workspace.is_some() && !is_read {
            words::warn("--workspace has no effect: no scorer reads the files of a case");
        }
    }

    /// What scorers with a grant may see: the files in the folder, if the user named one.
    pub(crate) fn capabilities(&self) -> Result<Capabilities, Failure> {
        let Some(folder) = &self.workspace else { return Ok(Capabilities::none()) };
        let folder = WorkspaceFolder::open(folder)?.without(&self.workspace_exclude)?;
        Ok(Capabilities::none().with_workspace(folder))
    }
}
