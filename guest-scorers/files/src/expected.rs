//! What is expected of a workspace's files, and whether it holds. It reads no workspace.

use scorebox_sdk::{Checks, Part, ScoreError, excerpt};
use scorebox_sdk_workspace::{File, FileStatus, PathPattern, PathPatterns};
use serde::Deserialize;

/// What is expected, prepared for checking.
#[derive(Default)]
pub(crate) struct Expected {
    pub(crate) changed: PathPatterns,
    pub(crate) added: PathPatterns,
    pub(crate) deleted: PathPatterns,
    pub(crate) untouched: PathPatterns,
    pub(crate) only: PathPatterns,
}

/// The ground truth, with the keys of the configuration.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
struct Truth {
    changed: Vec<String>,
    added: Vec<String>,
    deleted: Vec<String>,
    untouched: Vec<String>,
    only: Vec<String>,
}

impl Expected {
    /// Reads a ground truth.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if it is not a path, a list of paths or an object of such lists.
    pub(crate) fn of(truth: &Part<'_>) -> Result<Self, ScoreError> {
        let Truth { changed, added, deleted, untouched, only } = match truth.kind() {
            "an object" => truth.read()?,
            kind => {
                let changed = match kind {
                    "a string" => vec![truth.string()?.into_owned()],
                    "an array" => truth.read()?,
                    _ => return Err(truth.should_be("a path, a list of paths, or an object")),
                };
                Truth { changed, ..Truth::default() }
            }
        };
        let compile = |key: &str, written: &[String]| {
            PathPatterns::compile(key, written)
                .map_err(|error| ScoreError::invalid_input(format!("in `groundTruth`: {error}")))
        };
        Ok(Self {
            changed: compile("changed", &changed)?,
            added: compile("added", &added)?,
            deleted: compile("deleted", &deleted)?,
            untouched: compile("untouched", &untouched)?,
            only: compile("only", &only)?,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        let Self { changed, added, deleted, untouched, only } = self;
        [changed, added, deleted, untouched, only].iter().all(|patterns| patterns.is_empty())
    }

    /// One check for each pattern, and one for all of `only` together.
    pub(crate) fn check(&self, changes: &[&File]) -> Checks {
        let mut checks = Checks::default();
        met(&mut checks, &self.changed, "changed", changes, |pattern, file| {
            is_changed(file) && pattern.matches(file.path())
        });
        met(&mut checks, &self.added, "added", changes, |pattern, file| {
            file.status() == Some(FileStatus::Added) && pattern.matches(file.path())
        });
        met(&mut checks, &self.deleted, "deleted", changes, |pattern, file| {
            gone(file).is_some_and(|path| pattern.matches(path))
        });
        untouched(&mut checks, &self.untouched, changes);
        nothing_else(&mut checks, &self.only, changes);
        checks
    }
}

/// Checks that each pattern matches at least one file.
fn met(
    checks: &mut Checks,
    wanted: &PathPatterns,
    what: &str,
    changes: &[&File],
    is: impl Fn(&PathPattern, &File) -> bool,
) {
    for pattern in wanted.iter() {
        let found = changes.iter().find(|file| is(pattern, file));
        let reason = match found {
            Some(file) => format!("`{}` {}", path(file), became(file)),
            None => format!("no file {pattern} was {what}"),
        };
        checks.add(format!("{pattern} was {what}"), found.is_some(), reason);
    }
}

/// Checks that each pattern matches no file, by its old or its new path. The name of a folder without a trailing `/`
/// covers everything in it.
fn untouched(checks: &mut Checks, unwanted: &PathPatterns, changes: &[&File]) {
    for pattern in unwanted.iter() {
        let touched = changes.iter().find(|file| {
            pattern.covers(file.path()) || gone(file).is_some_and(|path| pattern.covers(path))
        });
        let reason = match touched {
            Some(file) => format!("`{}` {}", path(file), became(file)),
            None => format!("no file {pattern} was touched"),
        };
        checks.add(format!("{pattern} is untouched"), touched.is_none(), reason);
    }
}

/// Checks that all files match one of the patterns, if there are any.
fn nothing_else(checks: &mut Checks, only: &PathPatterns, changes: &[&File]) {
    if only.is_empty() {
        return;
    }
    let allowed = |file: &File| {
        only.match_any(file.path()) && gone(file).is_none_or(|path| only.match_any(path))
    };
    let outside: Vec<_> = changes.iter().filter(|file| !allowed(file)).collect();
    let reason = match outside.as_slice() {
        [] => "nothing else was touched".to_owned(),
        [file] => format!("`{}` {} too", path(file), became(file)),
        [file, more @ ..] => {
            format!("`{}` {} too, and {} more", path(file), became(file), more.len())
        }
    };
    let named: Vec<_> = only.iter().take(5).map(PathPattern::to_string).collect();
    checks.add(format!("only {} was touched", named.join(", ")), outside.is_empty(), reason);
}

/// Whether the file is new or different.
pub(crate) fn is_changed(file: &File) -> bool {
    use FileStatus::{Added, Modified, Renamed};
    matches!(file.status(), Some(Added | Modified | Renamed))
}

/// The path where there is no longer a file.
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
