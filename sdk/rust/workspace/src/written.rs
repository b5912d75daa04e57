//! The form of a workspace in a case, as docs/workspace.md describes it, and its limits.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::file::{File, FileStatus};
use super::{Workspace, diff};
use scorebox_sdk::{Part, ScoreError, excerpt};

/// The most files of a workspace: more than most repositories have.
const FILE_LIMIT: usize = 200_000;
/// The most recorded commands.
const COMMAND_LIMIT: usize = 100_000;
/// The most test reports.
const REPORT_LIMIT: usize = 10_000;

/// The keys that make an object a workspace.
pub(super) const KEYS: [&str; 4] = ["files", "diff", "commands", "testReports"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    files: Option<Vec<WrittenFile>>,
    diff: Option<String>,
    commands: Option<Vec<Command>>,
    test_reports: Option<Vec<TestReport>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenFile {
    path: String,
    status: Option<FileStatus>,
    from: Option<String>,
    content: Option<String>,
    before: Option<String>,
}

/// A command that was run on the workspace, and how it ended.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Command {
    /// The command line.
    #[serde(deserialize_with = "command_line")]
    pub command: String,
    /// The exit code; `None` if the command did not end by itself.
    #[serde(alias = "exit_code")]
    pub exit_code: Option<i64>,
    /// What it wrote to standard output.
    pub stdout: Option<String>,
    /// What it wrote to standard error.
    pub stderr: Option<String>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<f64>,
}

/// Reads a text, or a list of words.
fn command_line<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "should be a text, or a list of texts")]
    enum Line {
        Text(String),
        Words(Vec<String>),
    }
    Ok(match Line::deserialize(deserializer)? {
        Line::Text(text) => text,
        Line::Words(words) => words.join(" "),
    })
}

/// What a test runner reported.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestReport {
    format: Option<String>,
    content: Box<RawValue>,
}

impl TestReport {
    /// The format's name, if the case names it.
    #[must_use]
    pub fn format(&self) -> Option<&str> {
        self.format.as_deref()
    }

    /// The report's text. A report that the case has as JSON is returned as JSON text.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if the text has an escape that is not a character.
    pub fn text(&self) -> Result<Cow<'_, str>, ScoreError> {
        let part = Part::new("content", self.content.get());
        part.text().map(|text| Cow::Owned(text.into_owned()))
    }
}

/// Reads a workspace from its place in a case.
pub(super) fn read(part: &Part<'_>) -> Result<Workspace, ScoreError> {
    let place = part.name().to_owned();
    let Written { files, diff, commands, test_reports } = part.read()?;
    let bounded = |key: &str, length: Option<usize>, limit: usize| match length {
        Some(length) if length > limit => Err(ScoreError::invalid_input(format!(
            "`{place}.{key}` has {length} items; at most {limit} are read"
        ))),
        _ => Ok(()),
    };
    bounded("files", files.as_ref().map(Vec::len), FILE_LIMIT)?;
    bounded("commands", commands.as_ref().map(Vec::len), COMMAND_LIMIT)?;
    bounded("testReports", test_reports.as_ref().map(Vec::len), REPORT_LIMIT)?;
    let has = [files.is_some(), diff.is_some(), commands.is_some(), test_reports.is_some()];
    let keys = KEYS.into_iter().zip(has).filter_map(|(key, has)| has.then_some(key)).collect();
    let by_path = match (files, &diff) {
        (None, None) => None,
        (files, diff) => {
            let mut by_path = match diff {
                Some(diff) => of_diff(diff).map_err(|message| {
                    ScoreError::invalid_input(format!("`{place}.diff` {message}"))
                })?,
                None => BTreeMap::new(),
            };
            merge(&mut by_path, files.unwrap_or_default(), diff.is_some(), &place)?;
            Some(by_path)
        }
    };
    let diff = diff.unwrap_or_default();
    Ok(Workspace { place, keys, files: by_path, diff, commands, test_reports })
}

fn of_diff(diff: &str) -> Result<BTreeMap<String, File>, String> {
    let mut by_path = BTreeMap::new();
    for file in diff::parse(diff)? {
        let file = with_earlier_name(&mut by_path, file);
        match by_path.entry(file.path.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(file);
            }
            Entry::Occupied(mut entry) => entry.get_mut().append(file),
        }
        if by_path.len() > FILE_LIMIT {
            return Err(format!("has more than {FILE_LIMIT} files"));
        }
    }
    Ok(by_path)
}

/// A file as a section of the diff describes it. If the section renames it, what an earlier commit did under its old
/// name is included.
fn with_earlier_name(by_path: &mut BTreeMap<String, File>, file: File) -> File {
    let is_renamed = file.status == Some(FileStatus::Renamed);
    let from = file.from.clone().filter(|_| is_renamed).unwrap_or_default();
    // Two files of one commit may have swapped names.
    let is_earlier = |earlier: &File| earlier.exists() && earlier.from.as_ref() != Some(&file.path);
    if !by_path.get(&from).is_some_and(is_earlier) {
        return file;
    }
    match by_path.remove(&from) {
        Some(mut earlier) => {
            earlier.rename(file);
            earlier
        }
        None => file,
    }
}

/// Adds the listed files to those of the diff. A listed file takes precedence.
fn merge(
    by_path: &mut BTreeMap<String, File>,
    files: Vec<WrittenFile>,
    has_diff: bool,
    place: &str,
) -> Result<(), ScoreError> {
    let mut listed = std::collections::BTreeSet::new();
    for (index, written) in files.into_iter().enumerate() {
        let place = format!("`{place}.files[{index}].path`");
        let path = relative(&written.path, &place)?;
        if !listed.insert(path.clone()) {
            let path = excerpt(&path, 120);
            return Err(ScoreError::invalid_input(format!("{place} is `{path}` a second time")));
        }
        let file = by_path.entry(path.clone()).or_default();
        file.path = path;
        file.status =
            written.status.or(file.status).or_else(|| match (&written.before, &written.content) {
                (Some(before), Some(content)) if before == content => Some(FileStatus::Unchanged),
                (Some(_), Some(_)) => Some(FileStatus::Modified),
                (Some(_), None) => Some(FileStatus::Deleted),
                (None, _) => has_diff.then_some(FileStatus::Unchanged),
            });
        file.from = written.from.or(file.from.take());
        file.content = written.content.or(file.content.take());
        file.before = written.before.or(file.before.take());
    }
    Ok(())
}

/// A path from the root of the workspace, without a leading `./`.
fn relative(path: &str, place: &str) -> Result<String, ScoreError> {
    let mut inner = path;
    while let Some(rest) = inner.strip_prefix("./") {
        inner = rest;
    }
    let leaves = inner.starts_with('/') || inner.split('/').any(|name| name == "..");
    if inner.is_empty() || leaves {
        let path = excerpt(path, 120);
        return Err(ScoreError::invalid_input(format!(
            "{place} should be a path from the workspace's root, such as `src/main.rs`, found \
             `{path}`"
        )));
    }
    Ok(inner.to_owned())
}
