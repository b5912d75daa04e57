//! files: which files were changed, deleted and left alone. It does not look into them (diff).
//!
//! score = checks that hold / all checks; a check is one path or glob
//!
//! The rules are niceeval's `fileChanged` and `fileDeleted`.

mod expected;

use expected::{Expected, is_changed};
use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, Severity, excerpt,
    schemars,
};
use scorebox_sdk_workspace::{File, PathPatterns, Workspace};
use serde::Deserialize;
use serde_json::json;

/// The most paths that `meta` lists of a kind.
const SHOWN: usize = 100;

/// Scores which files were changed, deleted and left alone: the fraction of the checks that hold,
/// of which every path or glob is one.
///
/// A glob is met by one file at least. `*` stops at `/`, `**` does not. A renamed file counts as
/// changed under its new path, and as deleted under its old one. Without any key, the ground truth
/// says what is expected: an object with these keys, or the paths that have to change. The
/// workspace is data of the case; see docs/workspace.md. Equals niceeval's `fileChanged` and
/// `fileDeleted`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Files {
    /// Files that have to be new or modified.
    #[serde(default)]
    changed: Vec<String>,
    /// Files that have to be new.
    #[serde(default)]
    added: Vec<String>,
    /// Files that have to be deleted.
    #[serde(default)]
    deleted: Vec<String>,
    /// Files of which none may be new, modified, deleted or renamed.
    #[serde(default)]
    untouched: Vec<String>,
    /// The only files that may be new, modified, deleted or renamed: one check for all.
    #[serde(default)]
    only: Vec<String>,
    /// Turns the score s around: 1 - s. Each assertion then wants the opposite.
    #[serde(default)]
    negate: bool,
    #[serde(skip)]
    expected: Option<Expected>,
}

impl Scorer for Files {
    const INFO: Info = Info::new("files", "Files", env!("CARGO_PKG_VERSION"))
        .reads(Workspace::READS.and(Fields::GROUND_TRUTH))
        .severity(Severity::Gate)
        .threshold(1.0);

    fn prepare(&mut self) -> Result<(), ConfigError> {
        let expected = Expected {
            changed: PathPatterns::compile("changed", &self.changed)?,
            added: PathPatterns::compile("added", &self.added)?,
            deleted: PathPatterns::compile("deleted", &self.deleted)?,
            untouched: PathPatterns::compile("untouched", &self.untouched)?,
            only: PathPatterns::compile("only", &self.only)?,
        };
        self.expected = (!expected.is_empty()).then_some(expected);
        Ok(())
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let workspace = Workspace::of(case)?;
        let changes = workspace.changes()?;
        let checks = match &self.expected {
            Some(expected) => expected.check(&changes),
            None => Expected::of(&case.require_ground_truth()?)?.check(&changes),
        };
        if checks.is_empty() {
            return Ok(Score::not_applicable("no file is expected to change"));
        }
        let paths = |test: fn(&File) -> bool| -> Vec<_> {
            let files = changes.iter().filter(|file| test(file)).take(SHOWN);
            files.map(|file| excerpt(file.path(), 200)).collect()
        };
        Ok(checks.negated(self.negate).into_score().meta(json!({
            "changed": paths(is_changed), "deleted": paths(|file| !file.exists()),
        })))
    }
}

scorebox_sdk::export!(Files);

#[cfg(test)]
mod tests;
