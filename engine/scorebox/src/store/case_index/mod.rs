//! An index of the cases of a database, in its own file: by verdict, scorer, status, score, and by the words of outputs
//! and reasons. Everything in it can be computed again; the database itself is not changed. It decides no verdict.
//!
//! - `filling`: adds cases to the index, in batches.
//! - `query`: which cases to find.
//! - `finding`: finds cases, page by page.
//! - `matches`: which cases have the words of a search.
//! - `unspaced`: the form of text in the index, for scripts without spaces between words.
//! - here: opening the file, how much of each run is indexed, and from which database.
//!
//! A case is added with a digest of everything that the index has of it. So reading a run again checks whether the
//! index is right, and costs little if it is: a case with the same digest is skipped.
//!
//! The time for a page depends on its number of lines, not on the number of cases: for every combination of a scorer, a
//! verdict and a status, cases are sorted by their order and by their scores, and a page is merged from the beginnings
//! of the combinations that are wanted. Words are found by SQLite's FTS5, whose documents have the same combinations as
//! additional words. If many cases have the words and scores matter, a page is soon full: then the index goes through
//! the scores, and checks each case for the words.

mod filling;
mod finding;
mod matches;
mod query;
#[cfg(test)]
mod tests;
mod unspaced;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{CaseKey, RunKey, RunRecord, RunState, StoreError};
use crate::digest::Digest;

pub use filling::IndexedCase;
pub use finding::{CaseCursor, Finding, FoundCase};
pub use query::{CaseOrder, CaseQuery, WordsError};

/// The version of the tables below and of the stored figures; a file with another version is created again.
const VERSION: i64 = 7;

/// How long a statement waits for another process that is writing to the same index.
const PATIENCE: Duration = Duration::from_secs(10);

const TABLES: &str = "
    -- How far each run is indexed.
    CREATE TABLE runs (
        run           INTEGER PRIMARY KEY,   -- its number in the database
        id            TEXT NOT NULL,
        created_at_ms INTEGER NOT NULL,      -- with the id, what says that it is the same run
        next_case     INTEGER NOT NULL,      -- the key from which on cases are to be indexed, again or at all
        ended         TEXT,                  -- the state and root it had when all of it was indexed; NULL: not yet
        figures_json  TEXT                   -- what its scores say together, as the program that computed it wrote them
    ) STRICT;

    -- What is indexed of each case: the first half of a digest. A case that comes with the same one is passed over.
    CREATE TABLE cases (case_key INTEGER PRIMARY KEY, said BLOB NOT NULL) STRICT;

    -- The scorers that cases of a run stand under below.
    CREATE TABLE scorers (run INTEGER NOT NULL, scorer INTEGER NOT NULL, PRIMARY KEY (run, scorer)) STRICT, WITHOUT ROWID;

    -- What the file of the database was when all of its runs were indexed: one row, or none.
    CREATE TABLE file (state TEXT NOT NULL) STRICT;

    -- A case once for each of its scorers, and once for itself (scorer -run, status 0, the case's own score).
    CREATE TABLE entries (
        scorer   INTEGER NOT NULL,
        verdict  INTEGER NOT NULL,
        status   INTEGER NOT NULL,
        case_key INTEGER NOT NULL,
        score    REAL,
        PRIMARY KEY (scorer, verdict, status, case_key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX entries_by_score ON entries (scorer, verdict, status, score, case_key) WHERE score IS NOT NULL;
    -- What is found by its words is looked up here.
    CREATE INDEX entries_by_case ON entries (scorer, case_key, verdict, status, score);

    -- The words of a case; `marks` has the combinations that it stands under above. What is written as a mark (Mn, Mc) is part of a
    -- word: vowels and tones of many scripts. Accents do not come here.
    CREATE VIRTUAL TABLE words USING fts5 (
        said, marks, content = '', contentless_delete = 1, prefix = '3',
        tokenize = \"unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'\"
    );";

/// An open index. It belongs to one thread at a time.
#[derive(Debug)]
pub struct CaseIndex {
    conn: Connection,
    path: PathBuf,
}

/// How much of a run is indexed.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Indexed {
    /// The first case that must be indexed, again or for the first time; `None` if none is indexed yet.
    pub next_case: Option<CaseKey>,
    /// Whether the run was indexed to its end, and has not changed since.
    pub is_complete: bool,
    /// The text from [`CaseIndex::keep_figures`].
    pub figures: Option<String>,
}

impl CaseIndex {
    /// Opens the index at `path`. An index that is missing, damaged or of another version is created again.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn open(path: impl AsRef<Path>) -> Result<CaseIndex, StoreError> {
        let path = std::path::absolute(path.as_ref())
            .map_err(|_| StoreError::NoCurrentFolder { path: path.as_ref().to_owned() })?;
        match CaseIndex::opened(&path) {
            Ok(Some(index)) => return Ok(index),
            Err(error @ (StoreError::Locked { .. } | StoreError::Permission { .. })) => {
                return Err(error);
            }
            Ok(None) | Err(_) => {}
        }
        // A file that cannot be removed cannot be opened either, which is reported.
        for ending in ["", "-wal", "-shm"] {
            let mut file = path.clone().into_os_string();
            file.push(ending);
            let _ = fs::remove_file(file);
        }
        CaseIndex::opened(&path)?.ok_or_else(|| StoreError::Corrupt {
            path,
            what: "a new index has another version".into(),
        })
    }

    /// The index, unless it is of another version.
    fn opened(path: &Path) -> Result<Option<CaseIndex>, StoreError> {
        let open = || {
            let conn = Connection::open(path)?;
            conn.busy_timeout(PATIENCE)?;
            conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
            // It can be computed again, so the operating system may write it at any time.
            conn.pragma_update(None, "synchronous", "OFF")?;
            conn.pragma_update(None, "trusted_schema", false)?;
            conn.set_prepared_statement_cache_capacity(64);
            let version: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
            if version == 0 {
                let change = rusqlite::Transaction::new_unchecked(
                    &conn,
                    rusqlite::TransactionBehavior::Immediate,
                )?;
                // Another process may have created the tables meanwhile.
                let version: i64 =
                    change.pragma_query_value(None, "user_version", |row| row.get(0))?;
                if version == 0 {
                    change.execute_batch(TABLES)?;
                    change.pragma_update(None, "user_version", VERSION)?;
                }
                change.commit()?;
            }
            conn.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
                .map(|version| (conn, version))
        };
        let (conn, version) = open().map_err(|error| StoreError::from_sqlite(path, error))?;
        Ok((version == VERSION).then(|| CaseIndex { conn, path: path.to_owned() }))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The numbers of the runs that the index knows.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn runs(&self) -> Result<Vec<RunKey>, StoreError> {
        let read = || {
            let mut query = self.conn.prepare_cached("SELECT run FROM runs")?;
            query.query_map([], |row| row.get(0))?.collect()
        };
        self.explained(read())
    }

    /// How much of a run is indexed. Entries of another run that had its number do not count.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn indexed(&self, run: &RunRecord) -> Result<Indexed, StoreError> {
        let read = || {
            let mut query = self.conn.prepare_cached(
                "SELECT next_case, ended, figures_json FROM runs
                 WHERE run = ?1 AND id = ?2 AND created_at_ms = ?3",
            )?;
            let of = params![run.key, run.spec.id, run.spec.created_at_ms];
            query
                .query_row(of, |row| {
                    let ended: Option<String> = row.get(1)?;
                    Ok(Indexed {
                        next_case: Some(row.get(0)?),
                        is_complete: ended.is_some() && ended == ending(run),
                        figures: row.get(2)?,
                    })
                })
                .optional()
        };
        Ok(self.explained(read())?.unwrap_or_default())
    }

    /// How many cases of a run are indexed.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn case_count(&self, run: RunKey) -> Result<u64, StoreError> {
        let (first, last) = CaseKey::bounds(run);
        let sql = "SELECT count(*) FROM cases WHERE case_key BETWEEN ?1 AND ?2";
        let count = self.conn.query_row(sql, [first, last], |row| row.get::<_, i64>(0));
        self.explained(count).map(i64::unsigned_abs)
    }

    /// The text from [`CaseIndex::note_file`].
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn file(&self) -> Result<Option<String>, StoreError> {
        let read = || self.conn.query_row("SELECT state FROM file", [], |row| row.get(0));
        self.explained(read().optional())
    }

    fn explained<T>(&self, result: rusqlite::Result<T>) -> Result<T, StoreError> {
        result.map_err(|error| StoreError::from_sqlite(&self.path, error))
    }
}

/// Identifies how a run ended; `None` while it runs.
fn ending(run: &RunRecord) -> Option<String> {
    (run.state != RunState::Running).then(|| {
        let root = run.root.as_ref().map(Digest::to_string).unwrap_or_default();
        let at = run.finished_at_ms.unwrap_or_default();
        format!("{} {at} {root}", run.state.as_str())
    })
}

/// The number that the case itself has among the scorers.
fn itself(run: RunKey) -> i64 {
    -run.0
}
