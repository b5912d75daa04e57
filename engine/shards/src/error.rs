//! Defines why something cannot be read, scored or merged. It leaves advice to front ends, unless the library knows it.

use std::{io, ops::ControlFlow, path::PathBuf};

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;
use scorebox::{row::AnswerError, run::RunError, sandbox::ScoreError, store::StoreError};

use crate::columns::TableError;

/// Why something cannot be read, scored or merged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShardError {
    /// A table does not contain cases.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A row is not a case.
    #[error("{}", .error.message)]
    BadRow {
        /// What is wrong with the row.
        error: AnswerError,
    },
    /// A scorer asks a judge.
    #[error(
        "the scorer `{scorer}` asks a judge, whose answers are recorded in a database: shards have none"
    )]
    AsksJudge {
        /// The scorer's name in the suite.
        scorer: String,
    },
    /// The scoring could not begin, or failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A batch of results cannot be made.
    #[error("the results cannot be written as a table: {0}")]
    Results(#[from] ArrowError),
    /// A file cannot be opened, read or written.
    #[error("`{}`: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// A folder contains no files that may be shards.
    #[error("the folder `{}` has no Parquet files", path.display())]
    EmptyFolder {
        /// The folder.
        path: PathBuf,
    },
    /// A file is not a readable Parquet file: it is cut off, damaged or of another kind.
    #[error("`{}` cannot be read as Parquet: {why}", path.display())]
    NotParquet {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// The input of a shard is not a readable Parquet file.
    #[error("`{}` cannot be read as Parquet: {why}", path.display())]
    InputNotParquet {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// The input of a shard is not a Parquet file.
    #[error("`{}` is not a Parquet file; a shard is scored from one", path.display())]
    InputOfAnotherKind {
        /// The file.
        path: PathBuf,
    },
    /// No shards are named.
    #[error("no shard is named")]
    NoShards,
    /// There are not as many shards as are expected.
    #[error("{} there, and {} expected{}", shards_are(*.there), are(*.expected), brought(.repeated))]
    NotAll {
        /// How many there are, each counted once.
        there: u64,
        /// How many should be there.
        expected: u64,
        /// Those that count as none: other shards have all of their cases.
        repeated: Vec<PathBuf>,
        /// The names of those that are missing, if the others say it: the first of them, and how many more there are.
        missing: Option<String>,
    },
    /// The shards have no rows, and a run needs cases.
    #[error("{}", no_cases(*.shards))]
    NoCases {
        /// How many shards there are.
        shards: usize,
    },
    /// A Parquet file is not a shard of a run.
    #[error("`{}` is not a shard: {why}", path.display())]
    NotAShard {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// Two shards do not belong to the same run.
    #[error("`{}` and `{}` are not of one run: {difference}", one.display(), other.display())]
    Mixed {
        /// The first shard.
        one: PathBuf,
        /// Another one.
        other: PathBuf,
        /// What differs.
        difference: String,
    },
    /// A shard does not belong to the given suite, run or seed.
    #[error("`{}` was not scored with the suite and run that you named: {difference}", path.display())]
    NotThePlan {
        /// The shard.
        path: PathBuf,
        /// What differs.
        difference: String,
    },
    /// A shard exists already, and differs from the one that would be made.
    #[error("`{}` exists and is a different shard: {difference}", path.display())]
    Another {
        /// The shard.
        path: PathBuf,
        /// What differs.
        difference: String,
    },
    /// A row of a shard is not a valid one.
    #[error("`{}`, row {row}: {why}", path.display())]
    DamagedRow {
        /// The shard.
        path: PathBuf,
        /// The row, from 1.
        row: u64,
        /// What is wrong with it.
        why: String,
    },
    /// A shard is not as it was written.
    #[error(
        "`{}` was changed since it was written: its seal is not that of its rows and its plan",
        path.display()
    )]
    BrokenSeal {
        /// The shard.
        path: PathBuf,
    },
    /// Rows have the same case with different results.
    #[error("{} between {}", results_differ(*.count), between(*.in_one_shard))]
    Different {
        /// How many.
        count: u64,
        /// Whether every difference is between rows of the same shard.
        in_one_shard: bool,
    },
    /// More cases differ than are compared.
    #[error("more than {most} cases are in several shards with different results")]
    TooDifferent {
        /// The most cases that are compared.
        most: usize,
    },
    /// A component that the plan names is not on this machine.
    #[error("the component of `{scorer}` ({origin}, SHA-256 {digest}) is not on this machine")]
    NoComponent {
        /// The scorer.
        scorer: String,
        /// Where the component came from.
        origin: String,
        /// The component's digest.
        digest: String,
    },
    /// The file of a component has another one than when the shards were made.
    #[error(
        "the component of `{scorer}` ({origin}) is not the one that the shards were made with: its SHA-256 is {there}, and was {digest}"
    )]
    AnotherComponent {
        /// The scorer.
        scorer: String,
        /// The file.
        origin: String,
        /// The digest that it had.
        digest: String,
        /// The digest that it has.
        there: String,
    },
    /// A scorer cannot be asked about all rows of the run.
    #[error("the summary of `{scorer}`: {error}")]
    Summary {
        /// The scorer.
        scorer: String,
        /// Why not.
        error: Box<ScoreError>,
    },
    /// The database cannot store the run.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The database contains a part of this run, with other cases.
    #[error("the database has a part of the run `{run}`, and {why}")]
    OtherRun {
        /// The run.
        run: String,
        /// What differs.
        why: String,
    },
    /// The function that receives the progress stopped the work.
    #[error("it was stopped before its end")]
    Stopped,
    /// The output cannot be written.
    #[error(transparent)]
    Write(io::Error),
}

impl ShardError {
    pub(crate) fn of_parquet(path: &std::path::Path, error: &ParquetError) -> ShardError {
        ShardError::NotParquet { path: path.to_owned(), why: error.to_string() }
    }
}

/// An error if the function that receives the progress has stopped the work.
pub(crate) fn unless_stopped(answer: ControlFlow<()>) -> Result<(), ShardError> {
    match answer {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(ShardError::Stopped),
    }
}

fn shards_are(count: u64) -> String {
    match count {
        1 => "1 shard is".to_owned(),
        many => format!("{many} shards are"),
    }
}

fn are(count: u64) -> String {
    match count {
        1 => "1 is".to_owned(),
        many => format!("{many} are"),
    }
}

/// That shards bring no case: the first of them, and how many more there are.
fn brought(repeated: &[PathBuf]) -> String {
    let Some((first, more)) = repeated.split_first() else { return String::new() };
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    format!(": other shards have all cases of `{}`{more}", first.display())
}

fn no_cases(shards: usize) -> String {
    match shards {
        1 => "the shard has no cases".to_owned(),
        many => format!("the {many} shards have no cases"),
    }
}

fn between(in_one_shard: bool) -> &'static str {
    match in_one_shard {
        true => "rows of one shard that have the same case",
        false => "shards of one run",
    }
}

fn results_differ(count: u64) -> String {
    match count {
        1 => "1 result differs".to_owned(),
        many => format!("{many} results differ"),
    }
}
