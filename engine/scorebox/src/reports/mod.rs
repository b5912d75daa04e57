//! Writes a stored run as a document for other programs: build servers, pull requests or spreadsheets. It judges and
//! aggregates nothing itself, and opens no file.
//!
//! - `cases`: the cases of a run with their verdicts and all their rows, one at a time.
//! - `junit`: JUnit XML, a test case for each case; the only format that is kept in memory until it is written.
//! - `markdown`: a summary with the cases that failed, for people.
//! - `lines`: JSON Lines, an object for each case.
//! - `table`: CSV, a line for each score.
//! - `spreadsheet`: text that spreadsheets do not evaluate, and short numbers.
//! - `readable`: JSON that every program can read.

mod cases;
mod junit;
mod lines;
mod markdown;
mod readable;
mod spreadsheet;
mod table;

use std::{fmt, io, str::FromStr};

pub use cases::{ReportedCase, for_each_case};
pub use readable::readable_json;
pub use spreadsheet::{cell_number, cell_text};

use crate::{
    aggregate::DecidedRun,
    store::{RunRecord, RunSource, RunState, Store, StoreError},
    verdict::Broken,
};

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReportFormat {
    /// JUnit XML: a test case for each case.
    Junit,
    /// A summary in GitHub's Markdown: scorers, and the cases that failed.
    Markdown,
    /// A JSON object for each case, with its verdict and all its scores.
    Jsonl,
    /// A line for each score.
    Csv,
}

impl ReportFormat {
    /// All formats.
    pub const ALL: [ReportFormat; 4] =
        [ReportFormat::Junit, ReportFormat::Markdown, ReportFormat::Jsonl, ReportFormat::Csv];

    /// The word in arguments and output.
    pub const fn as_str(self) -> &'static str {
        match self {
            ReportFormat::Junit => "junit",
            ReportFormat::Markdown => "markdown",
            ReportFormat::Jsonl => "jsonl",
            ReportFormat::Csv => "csv",
        }
    }
}

impl fmt::Display for ReportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is not a report format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a format of a report; there are junit, markdown, jsonl and csv")]
pub struct NotAFormat(String);

impl FromStr for ReportFormat {
    type Err = NotAFormat;

    fn from_str(word: &str) -> Result<ReportFormat, NotAFormat> {
        let format = ReportFormat::ALL.into_iter().find(|format| format.as_str() == word);
        format.ok_or_else(|| NotAFormat(word.to_owned()))
    }
}

/// Why a report was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The report cannot be written to its destination.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// What to report.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReportOptions<'a> {
    /// The run.
    pub run: &'a str,
    /// Whether a soft regression fails a case too.
    pub strict: bool,
    /// Whether means have their intervals, in Markdown; the other formats show no means.
    pub intervals: bool,
    /// The requirements that are not met, for the formats that contain more than cases: JUnit and Markdown.
    pub broken: &'a [Broken],
}

impl<'a> ReportOptions<'a> {
    /// A report of this run.
    pub fn new(run: &'a str) -> ReportOptions<'a> {
        ReportOptions { run, strict: false, intervals: false, broken: &[] }
    }

    /// The same with these [`intervals`](ReportOptions::intervals).
    #[must_use]
    pub fn with_intervals(mut self, intervals: bool) -> ReportOptions<'a> {
        self.intervals = intervals;
        self
    }

    /// The same with these [`broken`](ReportOptions::broken) requirements.
    #[must_use]
    pub fn with_broken(mut self, broken: &'a [Broken]) -> ReportOptions<'a> {
        self.broken = broken;
        self
    }

    /// The requirements that are not met, and that no case shows.
    fn unseen(&self) -> impl Iterator<Item = &'a Broken> + use<'a> {
        self.broken.iter().filter(|it| !it.is_of_cases())
    }

    /// The scorers that can fail a case but decided none, each with a message; without those that a requirement already
    /// reports.
    fn idle<'d>(
        &self,
        decided: &'d DecidedRun,
    ) -> impl Iterator<Item = (&'d str, String)> + use<'a, 'd> {
        let broken = self.broken;
        let is_said = move |id: &str| {
            let says = |it: &Broken| matches!(it, Broken::NothingDecided { scorer_id, .. } if scorer_id == id);
            broken.iter().any(says)
        };
        let idle = decided.scorers.iter().filter(move |scorer| !is_said(&scorer.scorer_id));
        idle.filter_map(|scorer| Some((scorer.scorer_id.as_str(), scorer.idle_in_words()?)))
    }

    /// The same with this [`strict`](ReportOptions::strict).
    #[must_use]
    pub fn with_strict(mut self, strict: bool) -> ReportOptions<'a> {
        self.strict = strict;
        self
    }
}

/// Writes a report of a stored run, all of it from one state of the database.
///
/// # Errors
/// [`StoreError::NoSuchRun`]; the database cannot be read; the report cannot be written. What was written until then is
/// not a complete report.
pub fn write_report(
    store: &Store,
    options: ReportOptions<'_>,
    format: ReportFormat,
    out: &mut dyn io::Write,
) -> Result<(), ReportError> {
    store.snapshot(|store| match format {
        ReportFormat::Junit => junit::write(store, options, out),
        ReportFormat::Markdown => markdown::write(store, options, out),
        ReportFormat::Jsonl => lines::write(store, options, out),
        ReportFormat::Csv => table::write(store, options, out),
    })
}

/// The suite's name, or the run's if an older scorebox stored none.
fn suite_name(run: &RunRecord) -> &str {
    run.spec.suite_name.as_deref().unwrap_or(run.spec.id.as_str())
}

/// A message that lines of a run's cases were skipped, so that no case represents them; `None` if none was.
pub fn skipped_lines(run: &RunRecord) -> Option<String> {
    match run.cases_bad {
        0 => None,
        1 => Some("1 line is not a valid case and was skipped".to_owned()),
        bad => Some(format!("{bad} lines are not valid cases and were skipped")),
    }
}

/// Why a report does not cover a whole run; `None` if the run has finished, or if it is live and ends only when someone
/// ends it.
pub fn unfinished(run: &RunRecord) -> Option<String> {
    let ended = match run.state {
        RunState::Finished => return None,
        RunState::Interrupted if run.spec.source == RunSource::Live => return None,
        // A killed run could not store its end.
        RunState::Running => "the run is still running, or was killed",
        RunState::Interrupted => "the run was interrupted",
        RunState::Stopped => "the run stopped",
    };
    Some(match &run.state_reason {
        Some(why) => format!("{ended}: {why}"),
        None => ended.to_owned(),
    })
}
