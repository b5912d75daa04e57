//! files: which files were changed, deleted and left alone. It does not look into them (diff).
//!
//! score = checks that hold / all checks; a check is one path or glob
//!
//! The rules are niceeval's `fileChanged` and `fileDeleted`.

mod expected;

use expected::{Expected, is_changed};
use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Negate, Score, ScoreError, Scorer, Severity,
    excerpt, schemars,
};
use scorebox_sdk_workspace::{File, PathPatterns, Workspace};
use serde::{Deserialize, Deserializer, de};
use serde_json::json;

/// The most paths of each kind that `meta` lists.
const SHOWN: usize = 100;

/// Scores which files were changed, deleted and left alone: the fraction of checks that hold. Each
/// path or glob is a check.
///
/// A glob needs at least one matching file. `*` stops at `/`, `**` does not, and `src/` is all in that folder. A
/// renamed file counts as changed under its new path and as deleted under its old one. Without any key, the ground
/// truth says what is expected: an object with these keys, or the paths that must change. If it expects nothing, the
/// result is not-applicable. The workspace is part of the case's data; see docs/workspace.md. Equals niceeval's
/// `fileChanged` and `fileDeleted`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// Files that must be new or modified.
    #[serde(default, deserialize_with = "at_least_one")]
    changed: Vec<String>,
    /// Files that must be new.
    #[serde(default, deserialize_with = "at_least_one")]
    added: Vec<String>,
    /// Files that must be deleted.
    #[serde(default, deserialize_with = "at_least_one")]
    deleted: Vec<String>,
    /// Files that must not be new, modified, deleted or renamed. Here the name of a folder stands for
    /// all that is in it.
    #[serde(default, deserialize_with = "at_least_one")]
    untouched: Vec<String>,
    /// The only files that may be new, modified, deleted or renamed: one check for all of them.
    #[serde(default, deserialize_with = "at_least_one")]
    only: Vec<String>,
    #[serde(default)]
    negate: Negate,
}

/// The keys of [`Config`] that replace the ground truth.
const EXPECTING_KEYS: &str = "`changed`, `added`, `deleted`, `untouched` or `only`";

/// Refuses an empty list: it would silently leave the decision to the ground truth.
fn at_least_one<'de, D: Deserializer<'de>>(given: D) -> Result<Vec<String>, D::Error> {
    let paths = Vec::deserialize(given)?;
    match paths.is_empty() {
        true => {
            Err(de::Error::custom("is an empty list; name at least one path, or leave the key out"))
        }
        false => Ok(paths),
    }
}

/// The scorer, made from its [`Config`].
pub struct Files {
    expected: Option<Expected>,
    negate: Negate,
}

impl Scorer for Files {
    type Config = Config;

    const INFO: Info = Info::new("files", "Files", env!("CARGO_PKG_VERSION"))
        .reads(Workspace::READS.and(Fields::GROUND_TRUTH))
        .severity(Severity::Gate)
        .threshold(1.0);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { changed, added, deleted, untouched, only, negate } = config;
        let expected = Expected {
            changed: PathPatterns::compile("changed", &changed)?,
            added: PathPatterns::compile("added", &added)?,
            deleted: PathPatterns::compile("deleted", &deleted)?,
            untouched: PathPatterns::compile("untouched", &untouched)?,
            only: PathPatterns::compile("only", &only)?,
        };
        Ok(Self { expected: (!expected.is_empty()).then_some(expected), negate })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let workspace = Workspace::of(case)?;
        let changes = workspace.changes()?;
        let checks = match &self.expected {
            Some(expected) => expected.check(&changes),
            None => {
                let truth = case.require_ground_truth();
                let truth = truth.map_err(|missing| missing.nor_configured(EXPECTING_KEYS))?;
                Expected::of(&truth)?.check(&changes)
            }
        };
        if checks.is_empty() {
            return Ok(Score::not_applicable("no file is expected to change"));
        }
        let paths = |test: fn(&File) -> bool| -> Vec<_> {
            let files = changes.iter().filter(|file| test(file)).take(SHOWN);
            files.map(|file| excerpt(file.path(), 200)).collect()
        };
        Ok(checks.negated(self.negate.is_set()).into_score().meta(json!({
            "changed": paths(is_changed), "deleted": paths(|file| !file.exists()),
        })))
    }
}

scorebox_sdk::export!(Files);

#[cfg(test)]
mod tests;
