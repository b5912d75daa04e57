//! Reads the work that was done: the files that a task left, what it changed in them, the commands that were run on
//! them and what their tests reported. It judges nothing itself.
//!
//! A case carries it as data, in the form that docs/workspace.md describes, or the user grants the files to the scorer.
//! [`Workspace`] reads the data; [`Files`] gives access to the files from either source.
//!
//! ```
//! use scorebox_sdk_workspace::{Change, Workspace};
//! use scorebox_sdk::Case;
//!
//! let case = Case::new(serde_json::json!("done")).with_metadata(serde_json::json!({
//!     "workspace": {"diff": "--- a/x.txt\n+++ b/x.txt\n@@ -1 +1,2 @@\n one\n+two\n"}
//! }));
//! let workspace = Workspace::of(&case).unwrap();
//! let file = workspace.changes().unwrap()[0];
//! let line = workspace.changed_lines(file)[0];
//! assert_eq!((file.path(), line.change, line.number, line.text), ("x.txt", Change::Added, 2, "two"));
//! ```
//!
//! # Map
//!
//! `written` is the form in a case; `find` looks for it; `diff` reads unified diffs, with `diff_path` for the names in
//! them; `file` is the result of both, and `lines` is what changed in one. `files` unites data and grant. `glob`, with
//! the feature `globs`, matches paths.

#![deny(missing_docs)]

mod diff;
mod diff_path;
mod file;
mod files;
mod find;
#[cfg(feature = "globs")]
mod glob;
mod lines;
mod written;

use std::borrow::Cow;
use std::collections::BTreeMap;

use scorebox_sdk::{Case, Fields, ScoreError, excerpt};

// A separate world: a component imports `workspace` only if its code calls it.
#[cfg(target_arch = "wasm32")]
#[allow(missing_docs, unsafe_code)]
mod bindings {
    wit_bindgen::generate!({
        path: "../../../wit/0.1.0",
        inline: "
            package scorebox:sdk;

            world granted-files {
                import scorebox:scorer/workspace@0.1.0;
            }
        ",
        generate_all,
    });
}

pub use file::{File, FileStatus};
pub use files::Files;
#[cfg(feature = "globs")]
pub use glob::{PathPattern, PathPatterns};
pub use lines::{Change, Line};
pub use written::{Command, TestReport};

/// The work that a case contains as data.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    /// Its name in errors: `metadata.workspace`.
    place: String,
    /// The keys that the workspace has, even if they are empty.
    keys: Vec<&'static str>,
    files: Option<BTreeMap<String, File>>,
    diff: String,
    commands: Option<Vec<Command>>,
    test_reports: Option<Vec<TestReport>>,
}

impl Workspace {
    /// The parts of a case that may contain it: for [`Info::reads`](scorebox_sdk::Info::reads).
    pub const READS: Fields = Fields::METADATA.and(Fields::CONTEXT);

    /// The workspace of a case: `metadata.workspace`, `context.workspace`, or the `context` itself.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] that says what was found, if there is none or it is not in
    /// the documented shape.
    pub fn of(case: &Case) -> Result<Self, ScoreError> {
        find::find(case)
    }

    /// All files that the case names, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = &File> {
        self.files.iter().flat_map(BTreeMap::values)
    }

    /// One of the files, by its path.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.as_ref()?.get(path)
    }

    /// The files that were added, modified, deleted or renamed, sorted by path.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if the case has neither `files` nor a `diff`, or does not
    /// say whether a file changed.
    pub fn changes(&self) -> Result<Vec<&File>, ScoreError> {
        let files = self.files.as_ref().ok_or_else(|| self.lacks("`files` or `diff`"))?;
        if let Some(file) = files.values().find(|file| file.status.is_none()) {
            let path = excerpt(&file.path, 120);
            return Err(ScoreError::invalid_input(format!(
                "`{}.files` does not say whether `{path}` changed; give it a `status`, or its \
                 content `before`, or give a `diff`",
                self.place
            )));
        }
        Ok(files.values().filter(|file| file.status != Some(FileStatus::Unchanged)).collect())
    }

    /// The lines that were added to a file and removed from it, in order.
    ///
    /// They come from the diff or, if it does not contain the file, from the file's content before and after. If only
    /// the content of a changed file is known, all its lines count as added.
    #[must_use]
    pub fn changed_lines<'w>(&'w self, file: &'w File) -> Vec<Line<'w>> {
        lines::changed(file, &self.diff)
    }

    /// Whether the changed lines of a file are known: from the diff, or from its content. For a deleted file, that is
    /// the content `before`.
    #[must_use]
    pub fn knows_change(&self, file: &File) -> bool {
        lines::are_known(file)
    }

    /// The diff of one file: its section of the case's diff or, if there is none, a diff of the content before and
    /// after. If only the content of a changed file is known, the content.
    #[must_use]
    pub fn diff_of<'w>(&'w self, file: &'w File) -> Cow<'w, str> {
        lines::text(file, &self.diff)
    }

    /// The recorded commands, in order.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if the case has no list of them.
    pub fn commands(&self) -> Result<&[Command], ScoreError> {
        self.commands.as_deref().ok_or_else(|| self.lacks("`commands`"))
    }

    /// The reports of test runs.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if the case has no list of them.
    pub fn test_reports(&self) -> Result<&[TestReport], ScoreError> {
        self.test_reports.as_deref().ok_or_else(|| self.lacks("`testReports`"))
    }

    fn lacks(&self, what: &str) -> ScoreError {
        let keys = self.keys.join("`, `");
        ScoreError::invalid_input(format!(
            "`{}` has no {what}, which this scorer needs; it has `{keys}`",
            self.place
        ))
    }
}

#[cfg(test)]
mod tests;
