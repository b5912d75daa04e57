//! Keeps runs, cases and scores in one SQLite file and reads them back. Computes no statistics, reads
//! no clock and prints nothing; every other room goes through it, for no other room writes SQL.
//!
//! | file            | what is in it                                                        |
//! |-----------------|----------------------------------------------------------------------|
//! | `error.rs`      | everything that can go wrong, each with what to do next              |
//! | `open.rs`       | opening a file to write or to read, and refusing what is not ours    |
//! | `schema.rs`     | the versions of the tables and the way from an older one             |
//! | `migrations/`   | the tables themselves, with a comment on every column                |
//! | `fixtures/`     | rows as each released version wrote them                             |
//! | `effort.rs`     | a bound on how long a statement may read                             |
//! | `indexes.rs`    | whether the indexes of a run agree with its rows                     |
//! | `belonging.rs`  | whether the cases and rows of a run stand where all readers find them |
//! | `root.rs`       | one digest of all that a run holds                                   |
//! | `size.rs`       | the bytes of all that a run holds                                    |
//! | `tree.rs`       | the Merkle tree of a run's cases, built as they are scored           |
//! | `id.rs`         | run ids, score ids and the internal keys                             |
//! | `column.rs`     | how our types are stored in a column                                 |
//! | `run.rs`        | runs: create, resume, list                                           |
//! | `scorer.rs`     | the scorers of a run                                                 |
//! | `session.rs`    | one process's work on a run                                          |
//! | `component.rs`  | the components of runs, each once                                    |
//! | `run_words.rs`  | words that are stored of a run: its state, how its cases come         |
//! | `new_case.rs`   | a case that is handed over to be stored                              |
//! | `new_score.rs`  | a score that is handed over to be stored, and its columns            |
//! | `case.rs`       | what is stored of a case, and whether a case is the one stored       |
//! | `case_columns.rs` | the columns of a case, in one table, and the SQL that is made of it |
//! | `place.rs`      | whether the database is still the file at its path                   |
//! | `only_writer.rs` | the right to write a run, which one process has at a time           |
//! | `writer.rs`     | the hot path: cases and scores in batches, each score once           |
//! | `alone.rs`      | whether a session alone has written a run: then nothing need be counted |
//! | `calls.rs`      | what scorers ask judges, and the scores that depend on it            |
//! | `call_store.rs` | a database as what judges answered before, and who writes it        |
//! | `call_check.rs` | whether a recording is the one that its digests name                 |
//! | `call_counts.rs` | what the judges of a run answered, by scorer                        |
//! | `run_calls.rs`  | what a run asked judges, whatever is stored of its scores            |
//! | `reuse.rs`      | which earlier rows answer for a case, and their copies               |
//! | `remove.rs`     | whole runs go, and give their space back                            |
//! | `summary.rs`    | what scorers say of a run as a whole                                 |
//! | `names.rs`      | stored names of cases and nodes, for one that is not there           |
//! | `filter.rs`     | which score rows a reader asks for, as SQL                           |
//! | `query.rs`      | score rows, page by page, and scores in ascending order              |
//! | `sorted.rs`     | scores in ascending order, of many scorers in one pass               |
//! | `deciding.rs`   | cases with what their scorers say, for verdicts                      |
//! | `attempts.rs`   | the attempts at each case, one after the other                       |
//! | `entries.rs`    | what a case says about itself: metadata and unknown keys             |
//! | `browsing.rs`   | the words of a case, and the cases around it                         |
//! | `case_index/`   | cases by verdict, status, score and words, in its own file           |
//! | `labelled.rs`   | cases with what one or two scorers say, beside their labels          |
//! | `counts.rs`     | how many rows of each status, and the means that are beside them     |
//!
//! Invariant: text from a case, a scorer or a user is bound as a parameter, never put into SQL.
//!
//! Invariant: a score row is written once. The primary key says so, and no statement here updates
//! one; `remove.rs` alone deletes rows, those of a whole run. (An index of `case_index/` is another file.)
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
/// It belongs to one thread at a time (it is `Send`, not `Sync`); open a second one on the same file
/// to read while a run is written.
#[derive(Debug)]
pub struct Store {
    conn: Connection,
    path: PathBuf,
    effort: effort::Effort,
    rows_read: Arc<AtomicU64>,
    /// Which older version the file had when it was opened.
    updated_from: Option<u32>,
}

impl Store {
    /// The file, as an absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The version of the schema that the file had, if opening it brought it up to date: an older scorebox refuses it
    /// from now on.
    pub fn updated_from(&self) -> Option<u32> {
        self.updated_from
    }

    /// How many rows were read through this store so far; it counts on while a long reading runs, so that
    /// another thread can show how far that is.
    pub fn rows_read(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.rows_read)
    }

    /// Runs several reads on one unchanging state of the database, however much is written to it
    /// meanwhile. A count and the rows that it counts need this.
    ///
    /// # Errors
    /// What `read` returns, and [`StoreError::Locked`] and other troubles of reading.
    pub fn snapshot<T, E: From<StoreError>>(
        &self,
        read: impl FnOnce(&Store) -> Result<T, E>,
    ) -> Result<T, E> {
        // Inside a batch or another snapshot the state is one already.
        if !self.conn.is_autocommit() {
            return read(self);
        }
        // Dropping the transaction ends it; it wrote nothing, so there is nothing to commit.
        let begun = Transaction::new_unchecked(&self.conn, TransactionBehavior::Deferred);
        let _open = self.explained(begun)?;
        read(self)
    }

    /// Whether SQLite checks, from the next transaction on, that what a new row refers to is there.
    fn check_references(&self, on: bool) -> Result<(), StoreError> {
        self.explained(self.conn.pragma_update(None, "foreign_keys", on))
    }

    /// `result` with SQLite's error turned into the one that names this file.
    fn explained<T>(&self, result: rusqlite::Result<T>) -> Result<T, StoreError> {
        result.map_err(|error| StoreError::from_sqlite(&self.path, error))
    }
}
