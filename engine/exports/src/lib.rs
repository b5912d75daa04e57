//! Writes stored scores as one table for other programs: a row for each score, with its case. Decides nothing, opens no
//! file, prints nothing.
//!
//! - `columns`: the columns, in one table, and which part of a score each contains.
//! - `separated`: CSV, in which no text is a formula.
//! - `lines`: JSON Lines.
//! - `parquet_file`: Parquet.

#![warn(missing_debug_implementations)]

mod columns;
mod lines;
mod parquet_file;
mod separated;

use std::{fmt, io, str::FromStr};

use scorebox::{
    aggregate::{VerdictOptions, decides},
    reports::{ReportError, ReportOptions, for_each_case},
    store::Store,
};

use columns::Scored;

pub use columns::COLUMN_NAMES;

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportFormat {
    /// Comma-separated values with a header, for spreadsheets.
    Csv,
    /// A JSON object for each score.
    Jsonl,
    /// Parquet with zstd, for data engines.
    Parquet,
}

impl ExportFormat {
    /// All formats.
    pub const ALL: [ExportFormat; 3] =
        [ExportFormat::Csv, ExportFormat::Jsonl, ExportFormat::Parquet];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            ExportFormat::Csv => "csv",
            ExportFormat::Jsonl => "jsonl",
            ExportFormat::Parquet => "parquet",
        }
    }
}

impl fmt::Display for ExportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is not a valid table format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a format of a table; there are csv, jsonl and parquet")]
pub struct NotAFormat(String);

impl FromStr for ExportFormat {
    type Err = NotAFormat;

    fn from_str(word: &str) -> Result<ExportFormat, NotAFormat> {
        let format = ExportFormat::ALL.into_iter().find(|format| format.as_str() == word);
        format.ok_or_else(|| NotAFormat(word.to_owned()))
    }
}

/// Somewhere that rows are written to.
trait Rows {
    /// Adds a row; `halves` counts the halves of surrogate pairs that are replaced by U+FFFD.
    fn put(&mut self, scored: &Scored<'_>, halves: &mut u64) -> io::Result<()>;

    /// Writes what is left.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exported {
    /// The number of rows.
    pub rows: u64,
    /// The number of halves of surrogate pairs in JSON that are replaced by U+FFFD: programs refuse a file that
    /// contains one.
    pub halves: u64,
}

/// Writes all rows of a stored run, in the order of its cases and of the suite's scorers, all from one state of the
/// database. `progress` receives how many rows were written so far.
///
/// Memory is bounded by a case, and for Parquet by a row group (about 32 MiB).
///
/// # Errors
/// [`StoreError::NoSuchRun`](scorebox::store::StoreError::NoSuchRun); the database cannot be read; the output cannot be
/// written. The part that was written by then is not a complete table.
pub fn export(
    store: &Store,
    options: ReportOptions<'_>,
    format: ExportFormat,
    out: &mut (dyn io::Write + Send),
    mut progress: impl FnMut(u64),
) -> Result<Exported, ReportError> {
    store.snapshot(|store| {
        let mut rows: Box<dyn Rows + '_> = match format {
            ExportFormat::Csv => Box::new(separated::Table::begin(out)?),
            ExportFormat::Jsonl => Box::new(lines::Lines::new(out)),
            ExportFormat::Parquet => Box::new(parquet_file::File::begin(out)?),
        };
        let how = VerdictOptions::default().with_strict(options.strict);
        let decides = decides(store, options.run, how)?;
        let mut exported = Exported::default();
        for_each_case(store, options, |case| {
            let content = store.case_content(case.decided.case.key)?;
            for record in &case.rows {
                let scored = Scored { case, content: &content, record, decides };
                rows.put(&scored, &mut exported.halves)?;
                exported.rows += 1;
            }
            progress(exported.rows);
            Ok(())
        })?;
        rows.finish()?;
        Ok(exported)
    })
}
