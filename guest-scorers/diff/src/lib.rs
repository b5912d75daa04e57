//! diff: what the changes of the work must and must not contain, such as secrets, inline styles or a required line.
//! Which files may change is up to the scorer files.
//!
//! score = checks that hold / all checks; a check is `isEmpty`, or one expression
//!
//! The rules are niceeval's `diff.isEmpty`, `diff.matches` and `notInDiff`.

mod pattern;

use pattern::Pattern;
use scorebox_sdk::{
    Case, Checks, ConfigError, Info, JsonSchema, Negate, Score, ScoreError, Scorer, Severity,
    excerpt, schemars,
};
use scorebox_sdk_workspace::{Change, File, FileStatus, PathPatterns, Workspace};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Scores what the diff of the work contains: the fraction of checks that hold. `isEmpty` is one
/// check, and so is each expression.
///
/// An expression is searched for in each changed file's path and diff or, if the case has only the
/// file's content, in its content. A changed file with neither is an error; a deleted file needs
/// neither unless `lines` is `removed`, because its path is searched. For a binary file only the path
/// is searched. `lines` narrows the search to lines that were added or removed. The syntax is that of
/// Rust's regex crate without the Unicode classes `\p{…}`: `\w`, `\d`, `\s` and `\b` know all
/// scripts, `(?i)` ignores case in all of them, `(?m)` lets `^` and `$` match at lines. The workspace
/// is part of the case's data; see docs/workspace.md. Equals niceeval's `diff.isEmpty`,
/// `diff.matches` and `notInDiff`; niceeval searches the content of changed files, so give
/// `content` without `before` for the same result.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// `true`: no file may have changed; `false`: at least one must have.
    #[serde(default)]
    is_empty: Option<bool>,
    /// Regular expressions that must match.
    #[serde(default)]
    must_match: Vec<String>,
    /// Regular expressions that must not match, such as `sk-[A-Za-z0-9]{20}` for secrets.
    #[serde(default)]
    must_not_match: Vec<String>,
    /// What is searched.
    #[serde(default)]
    lines: Lines,
    /// Only changes to these files count: paths or globs.
    #[serde(default)]
    files: Vec<String>,
    /// Changes to these files do not count: paths or globs.
    #[serde(default)]
    except: Vec<String>,
    #[serde(default)]
    negate: Negate,
}

/// What expressions are searched for in.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Lines {
    /// The whole diff: paths, lines added and removed, and the lines around them.
    #[default]
    All,
    /// The lines that were added, without the `+`.
    Added,
    /// The lines that were removed, without the `-`.
    Removed,
}

/// The scorer, made from its [`Config`].
pub struct Diff {
    is_empty: Option<bool>,
    wanted: Vec<Pattern>,
    refused: Vec<Pattern>,
    lines: Lines,
    counted: PathPatterns,
    excepted: PathPatterns,
    negate: Negate,
}

impl Scorer for Diff {
    type Config = Config;

    const INFO: Info = Info::new("diff", "Diff", env!("CARGO_PKG_VERSION"))
        .reads(Workspace::READS)
        .severity(Severity::Gate)
        .threshold(1.0);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { is_empty, must_match, must_not_match, lines, files, except, negate } = config;
        if is_empty.is_none() && must_match.is_empty() && must_not_match.is_empty() {
            return Err(ConfigError::whole(
                "nothing to check; give `isEmpty`, `mustMatch` or `mustNotMatch`",
            ));
        }
        Ok(Self {
            is_empty,
            wanted: Pattern::compile_all("mustMatch", &must_match)?,
            refused: Pattern::compile_all("mustNotMatch", &must_not_match)?,
            lines,
            counted: PathPatterns::compile("files", &files)?,
            excepted: PathPatterns::compile("except", &except)?,
            negate,
        })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let workspace = Workspace::of(case)?;
        let counts = |file: &File| {
            (self.counted.is_empty() || self.counted.match_any(file.path()))
                && !self.excepted.match_any(file.path())
        };
        let mut changes = workspace.changes()?;
        changes.retain(|file| counts(file));
        let mut checks = Checks::default();
        if let Some(empty) = self.is_empty {
            let reason = match changes.as_slice() {
                [] => "nothing changed".to_owned(),
                [only] => format!("`{}` changed", excerpt(only.path(), 120)),
                [first, more @ ..] => {
                    let path = excerpt(first.path(), 120);
                    let files = if more.len() == 1 { "file" } else { "files" };
                    format!("`{path}` and {} more {files} changed", more.len())
                }
            };
            let name = if empty { "nothing changed" } else { "something changed" };
            checks.add(name, changes.is_empty() == empty, reason);
        }
        if !self.wanted.is_empty() || !self.refused.is_empty() {
            self.require_changes(&workspace, &changes)?;
        }
        let texts: Vec<_> = changes.iter().map(|file| self.texts(&workspace, file)).collect();
        let patterns = self.wanted.iter().map(|pattern| (pattern, true));
        let patterns = patterns.chain(self.refused.iter().map(|pattern| (pattern, false)));
        for (pattern, wanted) in patterns {
            let hit = changes
                .iter()
                .zip(&texts)
                .find(|(_, texts)| texts.iter().any(|text| pattern.is_in(text)));
            let reason = match hit {
                Some((file, _)) => {
                    format!("{pattern} is in {}", self.place(&workspace, file, pattern))
                }
                None => format!("{pattern} is not in {}", self.searched()),
            };
            let not = if wanted { "" } else { "not " };
            let name = format!("{pattern} is {not}in {}", self.searched());
            checks.add(name, hit.is_some() == wanted, reason);
        }
        let score = checks.negated(self.negate.is_set()).into_score();
        Ok(score.meta(json!({ "changedFiles": changes.len() })))
    }
}

impl Diff {
    /// If nothing was searched, not finding an expression means nothing.
    fn require_changes(&self, workspace: &Workspace, changes: &[&File]) -> Result<(), ScoreError> {
        let is_open = |file: &&&File| {
            let is_deleted = file.status() == Some(FileStatus::Deleted);
            !workspace.knows_change(file) && (!is_deleted || self.lines == Lines::Removed)
        };
        let Some(file) = changes.iter().find(is_open) else { return Ok(()) };
        let path = excerpt(file.path(), 120);
        Err(ScoreError::invalid_input(format!(
            "`{path}` changed, but the case does not say what is in it; give it its `content`, \
             give a `diff`, or leave it out with `except`"
        )))
    }

    /// The texts to search for one file.
    fn texts(&self, workspace: &Workspace, file: &File) -> Vec<String> {
        let Some(change) = self.change() else {
            let mut texts = vec![file.path().to_owned()];
            texts.extend(file.from().map(str::to_owned));
            texts.push(workspace.diff_of(file).into_owned());
            return texts;
        };
        let lines = workspace.changed_lines(file);
        let lines = lines.iter().filter(|line| line.change == change).map(|line| line.text);
        vec![lines.collect::<Vec<_>>().join("\n")]
    }

    fn change(&self) -> Option<Change> {
        match self.lines {
            Lines::All => None,
            Lines::Added => Some(Change::Added),
            Lines::Removed => Some(Change::Removed),
        }
    }

    fn searched(&self) -> &'static str {
        match self.lines {
            Lines::All => "the diff",
            Lines::Added => "the lines that were added",
            Lines::Removed => "the lines that were removed",
        }
    }

    /// The file, and the number of its first changed line that matches by itself. It does not quote the text, which may
    /// be a secret.
    fn place(&self, workspace: &Workspace, file: &File, pattern: &Pattern) -> String {
        let path = format!("`{}`", excerpt(file.path(), 120));
        let lines = workspace.changed_lines(file);
        let line = lines
            .iter()
            .filter(|line| self.change().is_none_or(|change| change == line.change))
            .find(|line| pattern.is_in(line.text));
        match line {
            Some(line) if line.change == Change::Added => format!("{path}, line {}", line.number),
            Some(line) => format!("{path}, line {} before", line.number),
            None => path,
        }
    }
}

scorebox_sdk::export!(Diff);

#[cfg(test)]
mod tests;
