//! Keeps runs, cases and scores in one SQLite file and reads them back. It computes no statistics, reads no clock and
//! prints nothing; every other room uses it, because no other room has SQL.
//!
//! | file            | what it contains                                                     |
//! |-----------------|----------------------------------------------------------------------|
//! | `error.rs`      | everything that can go wrong, each with what to do next              |
//! | `open.rs`       | opening a file to write or to read, and refusing files of others     |
//! | `schema.rs`     | the versions of the tables, and migrations                           |
//! | `migrations/`   | the tables, with a comment on every column                           |
//! | `fixtures/`     | rows as each released version wrote them                             |
//! | `effort.rs`     | a limit on how much a statement may read                             |
//! | `indexes.rs`    | whether the indexes of a run agree with its rows                     |
//! | `belonging.rs`  | whether all readers find the same cases and rows of a run            |
//! | `root.rs`       | one digest of everything that a run contains                         |
//! | `size.rs`       | the bytes of everything that a run contains                          |
//! | `tree.rs`       | the Merkle tree of a run's cases, built as they are scored           |
//! | `id.rs`         | run ids, score ids and the internal keys                             |
//! | `column.rs`     | how our types are stored in a column                                 |
//! | `run.rs`        | runs: create, resume, list                                           |
//! | `scorer.rs`     | the scorers of a run                                                 |
//! | `session.rs`    | one process's work on a run                                          |
//! | `component.rs`  | the components of runs, each stored once                             |
//! | `run_words.rs`  | stored words of a run: its state, the source of its cases            |
//! | `new_case.rs`   | a case to store                                                      |
//! | `new_score.rs`  | a score to store, and its columns                                    |
//! | `case.rs`       | what is stored of a case, and whether a case is the one stored       |
//! | `case_columns.rs` | the columns of a case, in one table, and the SQL that is made of it |
//! | `place.rs`      | whether the database is still the file at its path                   |
//! | `only_writer.rs` | the right to write a run, which one process has at a time           |
//! | `writer.rs`     | the hot path: cases and scores in batches, each score once           |
//! | `alone.rs`      | whether only one session has written a run: then nothing must be counted |
//! | `calls.rs`      | the calls of judges, and which scores depend on them                 |
//! | `call_store.rs` | a database as a store of judges' answers, and its writing thread     |
//! | `call_check.rs` | whether a recording matches its digests                              |
//! | `call_counts.rs` | what the judges of a run answered, by scorer                        |
//! | `run_calls.rs`  | what a run asked judges, whatever is stored of its scores            |
//! | `reuse.rs`      | which earlier rows answer for a case, and their copies               |
//! | `remove.rs`     | whole runs go, and give their space back                            |
//! | `summary.rs`    | what scorers say of a run as a whole                                 |
//! | `names.rs`      | stored names of cases and nodes, for one that is not there           |
//! | `filter.rs`     | which score rows a reader asks for, as SQL                           |
//! | `query.rs`      | score rows, page by page, and scores in ascending order              |
//! | `sorted.rs`     | scores of many scorers in ascending order, in one pass               |
//! | `deciding.rs`   | cases with their scorers' answers, for verdicts                      |
//! | `attempts.rs`   | the attempts at each case, one after another                         |
//! | `entries.rs`    | what a case says about itself: metadata and unknown keys             |
//! | `browsing.rs`   | the words of a case, and the cases before and after it               |
//! | `case_index/`   | cases by verdict, status, score and words, in its own file           |
//! | `labelled.rs`   | cases with the answers of one or two scorers, and their labels       |
//! | `counts.rs`     | the number of rows of each status, and the means shown with it       |
//!
//! Invariant: text from a case, a scorer or a user is bound as a parameter, never put into SQL.
//!
//! Invariant: a score row is written once. The primary key ensures this, and no statement here updates a row; only
//! `remove.rs` deletes rows, those of a whole run. (An index of `case_index/` is in another file.)
//!
//! Invariant: nothing here holds more than one case, one page of rows or, in `sorted.rs`, 16 MiB of scores in memory.

mod alone;
mod attempts;
mod belonging;
mod browsing;
mod call_check;
mod call_counts;
mod call_store;
mod calls;
mod case;
mod case_columns;
mod case_index;
mod column;
mod component;
mod counts;
mod deciding;
mod effort;
mod entries;
mod error;
mod filter;
mod id;
mod indexes;
mod labelled;
mod names;
mod new_case;
mod new_score;
mod only_writer;
mod open;
mod place;
mod query;
mod remove;
mod reuse;
mod root;
mod run;
mod run_calls;
mod run_words;
mod schema;
mod scorer;
mod session;
mod size;
mod sorted;
mod summary;
mod tree;
mod writer;

#[cfg(test)]
mod durability_tests;
#[cfg(test)]
mod sample;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicU64},
};

use rusqlite::{Connection, Transaction, TransactionBehavior};

pub(crate) use alone::Stored;
pub use attempts::Attempts;
pub(crate) use belonging::Stray;
pub use browsing::{CaseName, Saying};
pub use call_check::{Altered, Part, Unrecorded};
pub use call_counts::{CallCounts, SilentJuror};
pub use call_store::CallStore;
pub use calls::CallRecord;
pub use case::{CaseAdded, CaseContent, StoredCase};
pub use case_index::{
    CaseCursor, CaseIndex, CaseOrder, CaseQuery, Finding, FoundCase, Indexed, IndexedCase,
    WordsError,
};
pub use counts::ScorerCounts;
pub use deciding::{CaseToDecide, RowToDecide};
pub use entries::CaseEntry;
pub use error::StoreError;
pub(crate) use error::in_short;
pub use filter::{ScoreCursor, ScoreFilter};
pub use id::{CaseKey, RunId, RunKey, ScoreId, ScorerKey, SessionKey};
pub use labelled::{LabelledCase, LabelledRow};
pub use names::Names;
pub use new_case::NewCase;
pub use new_score::{NewScore, Outcome};
pub(crate) use only_writer::OnlyWriter;
pub use query::ScoreRecord;
pub use remove::{Removed, StoreSize};
pub use reuse::{Reusable, ReuseIndex};
pub use run::{RunHandle, RunRecord, RunSpec};
pub use run_calls::UnscoredCall;
pub use run_words::{RunSource, RunState};
pub use scorer::{ConditionSpec, ScorerRecord, ScorerSpec};
pub use session::SessionSpec;
pub use sorted::SortedScores;
pub use summary::{NewSummary, SummaryRecord};
pub use writer::RunWriter;

/// One open database.
///
/// It belongs to one thread at a time (it is `Send`, not `Sync`); open a second one on the same file to read while a
/// run is being written.
#[derive(Debug)]
pub struct Store {
    conn: Connection,
    path: PathBuf,
    effort: effort::Effort,
    rows_read: Arc<AtomicU64>,
    /// The older schema version that the file had when it was opened.
    updated_from: Option<u32>,
}

impl Store {
    /// The absolute path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The schema version that the file had, if opening it brought it up to date: an older scorebox refuses the file
    /// from then on.
    pub fn updated_from(&self) -> Option<u32> {
        self.updated_from
    }

    /// How many rows were read through this store so far. The number grows during a long read, so that another thread
    /// can show progress.
    pub fn rows_read(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.rows_read)
    }

    /// Runs several reads on one unchanging state of the database, even if others write to it meanwhile. A count and
    /// the rows that it counts need this.
    ///
    /// # Errors
    /// What `read` returns, and [`StoreError::Locked`] and other read errors.
    pub fn snapshot<T, E: From<StoreError>>(
        &self,
        read: impl FnOnce(&Store) -> Result<T, E>,
    ) -> Result<T, E> {
        // A batch or another snapshot already keeps the state.
        if !self.conn.is_autocommit() {
            return read(self);
        }
        // Dropping the transaction ends it; it wrote nothing, so there is nothing to commit.
        let begun = Transaction::new_unchecked(&self.conn, TransactionBehavior::Deferred);
        let _open = self.explained(begun)?;
        read(self)
    }

    /// Whether SQLite checks, from the next transaction on, that the rows to which a new row refers exist.
    fn check_references(&self, on: bool) -> Result<(), StoreError> {
        self.explained(self.conn.pragma_update(None, "foreign_keys", on))
    }

    /// Replaces SQLite's error in `result` with one that names this file.
    fn explained<T>(&self, result: rusqlite::Result<T>) -> Result<T, StoreError> {
        result.map_err(|error| StoreError::from_sqlite(&self.path, error))
    }
}
