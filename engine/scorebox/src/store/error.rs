//! Everything that can go wrong with a stored database, as data: what happened, in which file, and what to do next. It
//! prints nothing and retries nothing.

use std::path::{Path, PathBuf};

use rusqlite::{ErrorCode, ffi};

use super::Altered;
use crate::advice::{Advice, Advised, Database, Form, Resource, Thing};

/// The description of a file whose reading exceeds the limit.
pub(super) const TOO_MUCH: &str =
    "reading it takes more steps than a database of its size can need";

/// A stored number that no scorer can have given as a score.
#[derive(Debug, thiserror::Error)]
#[error("{} is not a possible score: scores are finite, and 0 or more", in_short(.0))]
pub(super) struct OnNoScale(pub(super) f64);

/// A score row whose case, scorer or run is not in the database.
#[derive(Debug, thiserror::Error)]
#[error("a score row has no {0}")]
pub(super) struct Dangling(pub(super) &'static str);

/// A number without hundreds of zeros.
pub(crate) fn in_short(number: &f64) -> String {
    const WITH_EXPONENT: f64 = 1e16;
    match number.abs() < WITH_EXPONENT {
        true => number.to_string(),
        false => format!("{number:e}"),
    }
}

/// Why the store could not do what was requested. The message is one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file does not exist.
    #[error("there is no database at {}", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file's folder does not exist.
    #[error("the folder of {} does not exist", path.display())]
    NoFolder {
        /// The database.
        path: PathBuf,
    },
    /// The folder that relative names start at was removed.
    #[error("the current folder no longer exists, and {} is a name in it", path.display())]
    NoCurrentFolder {
        /// What was given as the database.
        path: PathBuf,
    },
    /// A folder, a device or a pipe.
    #[error("{} is not a regular file", path.display())]
    NotAFile {
        /// The path that was given as the database.
        path: PathBuf,
    },
    /// A path that the database needs for a file beside it, a log or a lock, is not a file.
    #[error("{} is kept beside the database, and is not a regular file", path.display())]
    NotAFileBeside {
        /// That path.
        path: PathBuf,
    },
    /// A file, but not an SQLite database.
    #[error("{} is not an SQLite database", path.display())]
    NotSqlite {
        /// The file.
        path: PathBuf,
    },
    /// An SQLite database with another program's tables.
    #[error("{} is the database of another program", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A scorebox database in which another program created or changed something that runs when the database is used.
    #[error("{} is not a database as scorebox creates it: {what}", path.display())]
    Strange {
        /// The file.
        path: PathBuf,
        /// The object that is unexpected, missing or changed.
        what: String,
    },
    /// An empty file, which cannot be read.
    #[error("{} is empty: no run was ever stored in it", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// Written by a newer scorebox.
    #[error(
        "{} was written by a newer scorebox: it has schema {found}, this one knows up to {known}",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The file's schema version.
        found: u32,
        /// The newest version that this build knows.
        known: u32,
    },
    /// Written by an older scorebox, and cannot be updated where it is.
    #[error(
        "{} was written by an older scorebox (schema {found}, now {known}) and cannot be updated here",
        path.display()
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// The file's schema version.
        found: u32,
        /// The version that this build reads.
        known: u32,
    },
    /// The operating system denies access.
    #[error("no permission to open or create {}", path.display())]
    Permission {
        /// The database.
        path: PathBuf,
    },
    /// The file, its folder or its disk cannot be written.
    #[error("{} is read-only", path.display())]
    ReadOnly {
        /// The database.
        path: PathBuf,
    },
    /// Part of the data is still in the log file beside the database, and merging it requires write access to the
    /// folder.
    #[error(
        "{} was not closed cleanly and is in a folder that cannot be written",
        path.display()
    )]
    Unrecovered {
        /// The database.
        path: PathBuf,
    },
    /// Another process held the file for longer than the store waits (10 s).
    #[error("{} is locked by another process", path.display())]
    Locked {
        /// The database.
        path: PathBuf,
    },
    /// The file that is written is no longer the one at its path: it was deleted, moved or replaced. What was committed
    /// is in that file.
    #[error("{} was deleted, moved or replaced while it was written", path.display())]
    Moved {
        /// Where it was.
        path: PathBuf,
    },
    /// No space left. What was committed before is safe.
    #[error("the disk is full: cannot write {}", path.display())]
    DiskFull {
        /// The database.
        path: PathBuf,
    },
    /// The file's content contradicts itself.
    #[error("{} is damaged: {what}", path.display())]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// The contradiction.
        what: String,
    },
    /// Rows that were written are missing from the database at the end.
    #[error(
        "{} has {stored} score rows of this run, and {expected} were written: rows were lost",
        path.display()
    )]
    RowsLost {
        /// The database.
        path: PathBuf,
        /// How many it has.
        stored: u64,
        /// How many it must have.
        expected: u64,
    },
    /// No run has this id.
    #[error("there is no run `{id}` in {}", path.display())]
    NoSuchRun {
        /// The database.
        path: PathBuf,
        /// The requested id.
        id: String,
        /// Ids that begin with it, or with which it begins, then the newest ones; at most five.
        near: Vec<String>,
    },
    /// The id is taken.
    #[error("there is already a run `{id}` in {}", path.display())]
    RunExists {
        /// The database.
        path: PathBuf,
        /// The id.
        id: String,
    },
    /// Another session finished the run, and its rows are all there.
    #[error("another process finished the run `{id}` in {} meanwhile", path.display())]
    Finished {
        /// The database.
        path: PathBuf,
        /// The run.
        id: String,
    },
    /// The run, or a part of it, was removed while it was read.
    #[error("the run `{id}` in {} was removed meanwhile", path.display())]
    Removed {
        /// The database.
        path: PathBuf,
        /// The run.
        id: String,
    },
    /// The run has changed since it ended.
    #[error("the run `{id}` in {} was changed since it ended", path.display())]
    Changed {
        /// The database.
        path: PathBuf,
        /// The run.
        id: String,
    },
    /// Another process writes the run now.
    #[error("another process is writing the run `{id}` in {}", path.display())]
    BeingWritten {
        /// The database.
        path: PathBuf,
        /// The run.
        id: String,
    },
    /// Other runs hold copies of the scores of a run that was to be removed.
    #[error(
        "scores of `{id}` in {} are reused by {}",
        path.display(),
        by.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ")
    )]
    Copied {
        /// The database.
        path: PathBuf,
        /// The run that stays.
        id: String,
        /// The runs that hold the copies.
        by: Vec<String>,
    },
    /// Cases of a run were added while it was removed.
    #[error("another process is writing the run `{id}` in {}", path.display())]
    InUse {
        /// The database.
        path: PathBuf,
        /// The run.
        id: String,
    },
    /// The text is not a valid run id.
    #[error("`{}` is not a run id", text.escape_debug())]
    InvalidRunId {
        /// The text.
        text: String,
    },
    /// The text is not a valid score id.
    #[error("`{}` is not a score id", text.escape_debug())]
    InvalidScoreId {
        /// The text.
        text: String,
    },
    /// A value that the tables refuse: a number out of range, a case or scorer of another run.
    #[error("{} does not accept this row: {what}", path.display())]
    Rejected {
        /// The database.
        path: PathBuf,
        /// The violated rule, in SQLite's words.
        what: String,
    },
    /// This process has as many open files as it may have.
    #[error("cannot open {}: too many open files", path.display())]
    TooManyFiles {
        /// The database.
        path: PathBuf,
    },
    /// Anything else, in SQLite's words.
    #[error("{}: {source}", path.display())]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
}

impl Advised for StoreError {
    fn advice(&self) -> Option<Advice> {
        Some(Advice::Database(match self {
            Self::Missing { .. } => Database::CheckPath,
            Self::NoFolder { .. } => Database::CreateFolder,
            Self::NoCurrentFolder { .. } => Database::LeaveFolder,
            Self::NotAFile { .. } => Database::NameFile,
            Self::NotAFileBeside { .. } => Database::RemoveBeside,
            Self::NotSqlite { .. } | Self::Foreign { .. } => Database::AnotherPath,
            Self::Strange { .. } => Database::DropObject,
            Self::Empty { .. } => Database::StoreFirst,
            Self::Newer { .. } => return Some(Advice::Update),
            Self::Older { .. } => Database::Copy,
            Self::Permission { .. } => Database::CheckPermissions,
            Self::ReadOnly { .. } => Database::MakeWritable,
            Self::Unrecovered { .. } => Database::CopyWithLog,
            Self::Locked { .. } => Database::Wait,
            Self::Moved { .. } => Database::MoveBack,
            Self::DiskFull { .. } => Database::MakeRoom,
            Self::Corrupt { .. } => Database::Recover,
            Self::RowsLost { .. } => Database::Distrust,
            Self::NoSuchRun { near, .. } => {
                return Some(Advice::Choose { what: Thing::Run, names: near.clone() });
            }
            Self::RunExists { id, .. } => {
                return Some(Advice::Rename { what: Thing::Run, taken: id.clone() });
            }
            Self::Finished { .. } => Database::Verify,
            Self::Removed { .. } => return None,
            Self::Changed { .. } => Database::VerifyRun,
            Self::BeingWritten { .. } => Database::WaitToResume,
            Self::Copied { .. } => Database::RemoveCopies,
            Self::InUse { .. } => Database::WaitToRemove,
            Self::InvalidRunId { .. } => return Some(Advice::Write(Form::RunId)),
            Self::InvalidScoreId { .. } => return Some(Advice::Write(Form::ScoreId)),
            Self::Rejected { .. } => return Some(Advice::Report),
            Self::TooManyFiles { .. } => return Some(Advice::GiveMore(Resource::Files)),
            Self::Sqlite { .. } => Database::TryAgain,
        }))
    }
}

impl StoreError {
    /// Converts SQLite's error to one that names the file and explains the consequence to the user.
    pub(super) fn from_sqlite(path: &Path, error: rusqlite::Error) -> StoreError {
        let path = path.to_owned();
        let rusqlite::Error::SqliteFailure(failure, message) = &error else {
            return Self::from_other(path, error);
        };
        let what = || message.clone().unwrap_or_else(|| failure.to_string());
        match failure.code {
            ErrorCode::NotADatabase => Self::NotSqlite { path },
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Locked { path },
            ErrorCode::ReadOnly => Self::ReadOnly { path },
            ErrorCode::DiskFull => Self::DiskFull { path },
            // The shared-memory file could not grow: this is how SQLite reports a full disk there.
            _ if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE => Self::DiskFull { path },
            ErrorCode::DatabaseCorrupt => Self::Corrupt { path, what: what() },
            ErrorCode::ConstraintViolation => Self::Rejected { path, what: what() },
            // Only the limit on a statement's steps interrupts here.
            ErrorCode::OperationInterrupted => Self::Corrupt { path, what: TOO_MUCH.into() },
            ErrorCode::PermissionDenied => Self::Permission { path },
            ErrorCode::CannotOpen => Self::from_cannot_open(path, error),
            _ => Self::Sqlite { path, source: error },
        }
    }

    /// A value of a type that its column cannot hold means damage, because the tables are STRICT. So does a text that
    /// is not UTF-8.
    fn from_other(path: PathBuf, error: rusqlite::Error) -> StoreError {
        match error {
            rusqlite::Error::FromSqlConversionFailure(_, _, why)
                if why.is::<Altered>() || why.is::<OnNoScale>() || why.is::<Dangling>() =>
            {
                Self::Corrupt { path, what: why.to_string() }
            }
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::InvalidColumnType(..) => {
                Self::Corrupt { path, what: error.to_string() }
            }
            _ => Self::Sqlite { path, source: error },
        }
    }

    /// SQLite reports "unable to open" for many causes; the file system knows which one it is.
    fn from_cannot_open(path: PathBuf, error: rusqlite::Error) -> StoreError {
        if !path.parent().is_some_and(Path::is_dir) {
            return Self::NoFolder { path };
        }
        match std::fs::File::open(&path) {
            Err(e) if Resource::lacking(&e) == Some(Resource::Files) => Self::TooManyFiles { path },
            Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => Self::Permission { path },
            // The folder exists and the file does not: it could not be created.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Self::Permission { path },
            // The file opens, so the files that SQLite keeps beside it are the cause.
            Ok(_) => Self::ReadOnly { path },
            Err(_) => Self::Sqlite { path, source: error },
        }
    }
}
