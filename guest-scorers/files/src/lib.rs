//! files: which files were changed, deleted and left alone. It does not look into them (diff).
//!
//! score = checks that hold / all checks; a check is one path or glob
//!
//! The rules are niceeval's `fileChanged` and `fileDeleted`.

use scorebox_sdk::workspace::{File, FileStatus, PathPattern, PathPatterns, Workspace};
use scorebox_sdk::{
    Case, Checks, ConfigError, Fields, Info, JsonSchema, Part, Score, ScoreError, Scorer, Severity,
    excerpt, schemars,
};
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
    /// Turns the score s around: 1 - s.
    #[serde(default)]
    negate: bool,
    #[serde(skip)]
    expected: Option<Expected>,
}

/// What is expected, ready to be checked.
#[derive(Default)]
struct Expected {
    changed: PathPatterns,
    added: PathPatterns,
    deleted: PathPatterns,
    untouched: PathPatterns,
    only: PathPatterns,
}

/// The ground truth: the keys of the configuration.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Truth {
    #[serde(default)]
    changed: Vec<String>,
    #[serde(default)]
    added: Vec<String>,
    #[serde(default)]
    deleted: Vec<String>,
    #[serde(default)]
    untouched: Vec<String>,
    #[serde(default)]
    only: Vec<String>,
}

impl Scorer for Files {
    const INFO: Info = Info::new("files", "Files", env!("CARGO_PKG_VERSION"))
        .reads(Workspace::READS.and(Fields::GROUND_TRUTH))
        .severity(Severity::Gate)
        .threshold(1.0);

    fn prepare(&mut self) -> Result<(), ConfigError> {
        let Self { changed, added, deleted, untouched, only, .. } = self;
        let expected = Expected {
            changed: PathPatterns::compile("changed", changed)?,
            added: PathPatterns::compile("added", added)?,
            deleted: PathPatterns::compile("deleted", deleted)?,
            untouched: PathPatterns::compile("untouched", untouched)?,
            only: PathPatterns::compile("only", only)?,
        };
        self.expected = (!expected.is_empty()).then_some(expected);
        Ok(())
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let of_case;
        let expected = match &self.expected {
            Some(expected) => expected,
            None => {
                of_case = Expected::of(&case.require_ground_truth()?)?;
                &of_case
            }
        };
        let workspace = Workspace::of(case)?;
        let changes = workspace.changes()?;
        let checks = expected.check(&changes);
        if checks.is_empty() {
            return Ok(Score::not_applicable("no file is expected to change"));
        }
        let paths = |test: fn(&File) -> bool| -> Vec<_> {
            let files = changes.iter().filter(|file| test(file)).take(SHOWN);
            files.map(|file| excerpt(file.path(), 200)).collect()
        };
        let mut score = checks.into_score().meta(json!({
            "changed": paths(is_changed), "deleted": paths(|file| !file.exists()),
        }));
        if self.negate {
            score.score = score.score.map(|score| 1.0 - score);
        }
        Ok(score)
    }
}

impl Expected {
    fn of(truth: &Part<'_>) -> Result<Self, ScoreError> {
        let Truth { changed, added, deleted, untouched, only } = match truth.kind() {
            "an object" => truth.read()?,
            kind => {
                let changed = match kind {
                    "a string" => vec![truth.string()?.into_owned()],
                    "an array" => truth.read()?,
                    _ => return Err(truth.should_be("a path, a list of paths, or an object")),
                };
                Truth { changed, added: vec![], deleted: vec![], untouched: vec![], only: vec![] }
            }
        };
        let compile = |key: &str, written: &[String]| {
            PathPatterns::compile(key, written)
                .map_err(|error| ScoreError::invalid_input(format!("`groundTruth` has {error}")))
        };
        Ok(Self {
            changed: compile("changed", &changed)?,
            added: compile("added", &added)?,
            deleted: compile("deleted", &deleted)?,
            untouched: compile("untouched", &untouched)?,
            only: compile("only", &only)?,
        })
    }

    fn is_empty(&self) -> bool {
        let Self { changed, added, deleted, untouched, only } = self;
        [changed, added, deleted, untouched, only].iter().all(|patterns| patterns.is_empty())
    }

    fn check(&self, changes: &[&File]) -> Checks {
        let mut checks = Checks::default();
        let mut some =
            |wanted: &PathPatterns, what: &str, is: &dyn Fn(&PathPattern, &File) -> bool| {
                for pattern in wanted.iter() {
                    let found = changes.iter().find(|file| is(pattern, file));
                    let reason = match found {
                        Some(file) => format!("`{}` {}", path(file), became(file)),
                        None => format!("no file {pattern} was {what}"),
                    };
                    checks.add(format!("{pattern} was {what}"), found.is_some(), reason);
                }
            };
        some(&self.changed, "changed", &|pattern, file| {
            is_changed(file) && pattern.matches(file.path())
        });
        some(&self.added, "added", &|pattern, file| {
            file.status() == Some(FileStatus::Added) && pattern.matches(file.path())
        });
        some(&self.deleted, "deleted", &|pattern, file| {
            gone(file).is_some_and(|path| pattern.matches(path))
        });
        for pattern in self.untouched.iter() {
            let touched = changes.iter().find(|file| {
                pattern.matches(file.path()) || gone(file).is_some_and(|path| pattern.matches(path))
            });
            let reason = match touched {
                Some(file) => format!("`{}` {}", path(file), became(file)),
                None => format!("no file {pattern} was touched"),
            };
            checks.add(format!("{pattern} is untouched"), touched.is_none(), reason);
        }
        if !self.only.is_empty() {
            let allowed = |file: &File| {
                self.only.match_any(file.path())
                    && gone(file).is_none_or(|path| self.only.match_any(path))
            };
            let mut outside = changes.iter().filter(|file| !allowed(file));
            let reason = match (outside.next(), outside.count()) {
                (None, _) => "nothing else was touched".to_owned(),
                (Some(file), 0) => format!("`{}` {} too", path(file), became(file)),
                (Some(file), more) => {
                    format!("`{}` {} too, and {more} more files", path(file), became(file))
                }
            };
            let only: Vec<_> = self.only.iter().take(5).map(PathPattern::to_string).collect();
            let name = format!("only {} was touched", only.join(", "));
            checks.add(name, changes.iter().all(|file| allowed(file)), reason);
        }
        checks
    }
}

fn is_changed(file: &File) -> bool {
    use FileStatus::{Added, Modified, Renamed};
    matches!(file.status(), Some(Added | Modified | Renamed))
}

/// The path at which there is no file any more.
fn gone(file: &File) -> Option<&str> {
    match file.status() {
        Some(FileStatus::Deleted) => Some(file.path()),
        Some(FileStatus::Renamed) => file.from(),
        _ => None,
    }
}

fn path(file: &File) -> String {
    excerpt(file.path(), 120).into_owned()
}

fn became(file: &File) -> String {
    match (file.status(), file.from()) {
        (Some(FileStatus::Added), _) => "is new".to_owned(),
        (Some(FileStatus::Deleted), _) => "was deleted".to_owned(),
        (Some(FileStatus::Renamed), Some(from)) => {
            format!("was `{}` before", excerpt(from, 120))
        }
        (Some(FileStatus::Renamed), None) => "was renamed".to_owned(),
        _ => "was modified".to_owned(),
    }
}

scorebox_sdk::export!(Files);

#[cfg(test)]
mod tests;
