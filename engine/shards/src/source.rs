//! What a shard is made of, beside its plan: a file, the columns of it that are parts of a case, and the folder with the
//! files of tasks. Written into the shard, so that another one is not taken for it. Reads no rows.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf, absolute},
};

use scorebox::sandbox::Grant;
use serde::{Deserialize, Serialize};

use crate::{
    columns::Columns,
    input::{Input, InputName},
    plan::Plan,
};

/// What a shard is made of.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    input: &'a Input,
    columns: &'a Columns,
    workspace: Option<TaskFiles<'a>>,
}

/// The files of tasks.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers make it, and it is complete")]
pub struct TaskFiles<'a> {
    /// The folder that they are in.
    pub folder: &'a Path,
    /// What of it is left out.
    pub without: &'a [String],
}

impl<'a> Source<'a> {
    /// The cases in these columns of a file, with the files of their tasks.
    pub fn new(
        input: &'a Input,
        columns: &'a Columns,
        workspace: Option<TaskFiles<'a>>,
    ) -> Source<'a> {
        Source { input, columns, workspace }
    }

    /// As it is written into a shard of this plan.
    pub(crate) fn named(&self, plan: &Plan) -> SourceName {
        let workspace = self.workspace.filter(|_| reads_files(plan));
        SourceName {
            input: self.input.named().clone(),
            columns: Some(self.columns.names(self.input.schema())),
            workspace: workspace.map(TaskFilesName::of),
        }
    }

    /// What differs from the source that a shard of this plan names; `None` if nothing does.
    pub(crate) fn difference(&self, there: &SourceName, plan: &Plan) -> Option<String> {
        let here = self.named(plan);
        if there.input.digest != here.input.digest {
            return Some(format!("it was made of `{}` with other content", there.input.name));
        }
        let usual = || {
            let columns = Columns::find(self.input.schema(), &[], None);
            columns.map(|columns| columns.names(self.input.schema())).unwrap_or_default()
        };
        let of_here = here.columns.unwrap_or_default();
        let Some(of_there) = &there.columns else {
            let why = "it does not say which columns it was made of, and these are not those that are found by name";
            return (usual() != of_here).then(|| why.to_owned());
        };
        let key =
            of_here.keys().chain(of_there.keys()).find(|it| of_here.get(*it) != of_there.get(*it));
        if let Some(key) = key {
            let [there, here] = [of_there, &of_here].map(|columns| in_words(columns.get(key)));
            return Some(format!(
                "its `{key}` was read from {there}, and now would be from {here}"
            ));
        }
        (there.workspace != here.workspace).then(|| {
            let said = |files: &Option<TaskFilesName>| {
                files.as_ref().map_or_else(|| "no folder".to_owned(), TaskFilesName::in_words)
            };
            let [there, here] = [&there.workspace, &here.workspace].map(said);
            format!("files of tasks were read in {there}, and now would be in {here}")
        })
    }
}

/// What a shard says that it was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SourceName {
    #[serde(flatten)]
    input: InputName,
    /// The columns of each key of a case; `None` in shards that do not say.
    #[serde(default)]
    columns: Option<BTreeMap<String, Vec<String>>>,
    /// The files of tasks, if scorers may read them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workspace: Option<TaskFilesName>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct TaskFilesName {
    folder: PathBuf,
    without: Vec<String>,
}

impl TaskFilesName {
    fn of(files: TaskFiles<'_>) -> TaskFilesName {
        let folder = absolute(files.folder).unwrap_or_else(|_| files.folder.to_owned());
        TaskFilesName { folder, without: files.without.to_vec() }
    }

    fn in_words(&self) -> String {
        let folder = format!("`{}`", self.folder.display());
        match self.without.is_empty() {
            true => folder,
            false => format!("{folder} without `{}`", self.without.join("`, `")),
        }
    }
}

/// Whether results depend on files.
fn reads_files(plan: &Plan) -> bool {
    plan.scorers.iter().any(|scorer| {
        let grants: Result<Vec<Grant>, _> = serde_json::from_str(&scorer.grants_json);
        grants.is_ok_and(|grants| grants.contains(&Grant::Workspace))
    })
}

fn in_words(columns: Option<&Vec<String>>) -> String {
    let Some(columns) = columns else { return "no column".to_owned() };
    let names: Vec<String> = columns.iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [one] => format!("the column {one}"),
        several => format!("the columns {}", several.join(", ")),
    }
}
