//! Runs: create, resume, list. It knows nothing about their cases and scores.

#![expect(
    clippy::exhaustive_structs,
    reason = "who stores a new column must be shown by the compiler where it is to be filled in"
)]

use rusqlite::{OptionalExtension, Row, Transaction, TransactionBehavior, named_params};
use serde::Serialize;

use super::{
    CaseKey, RunId, RunKey, RunSource, RunState, ScorerKey, ScorerSpec, SessionKey, SessionSpec,
    Store, StoreError,
    column::integer,
    root,
    scorer::{from_columns, insert_scorer},
    session,
};
use crate::digest::Digest;

/// The reason that is stored with a run while it is removed; it stays if the removal ends early.
pub(super) const REMOVAL_BEGUN: &str = "its removal was begun and not finished";

/// What is known about a run when it starts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunSpec {
    /// Unique in its database.
    pub id: RunId,
    /// The name of the suite.
    pub suite_name: Option<String>,
    /// The resolved plan, as JSON.
    pub suite_json: String,
    /// The digest of the plan.
    pub suite_digest: Digest,
    /// The version of the engine that started it.
    pub engine_version: String,
    /// The version of wasmtime in that engine.
    pub wasmtime_version: String,
    /// The version of the scorer contract.
    pub contract_version: String,
    /// The source of its cases.
    pub source: RunSource,
    /// The seed for sampling; `None` if an older scorebox wrote the run.
    pub seed: Option<String>,
    /// Milliseconds since 1970 UTC.
    pub created_at_ms: i64,
}

/// A stored run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunRecord {
    /// Its key in this database.
    #[serde(skip)]
    pub key: RunKey,
    /// The facts with which it started.
    #[serde(flatten)]
    pub spec: RunSpec,
    /// Its state.
    pub state: RunState,
    /// Why it was interrupted or stopped.
    pub state_reason: Option<String>,
    /// Milliseconds since 1970 UTC; `None` while it runs.
    pub finished_at_ms: Option<i64>,
    /// One digest of everything that was stored of it when it ended; `None` while it runs, and if a scorebox without
    /// roots ended it.
    pub root: Option<Digest>,
    /// The bytes of its cases and score rows, about as many as they use in the file; `None` while it runs, and if an
    /// older scorebox ended it.
    pub size_bytes: Option<u64>,
    /// Lines that are not valid cases and were skipped; 0 while it runs for the first time, and if an older scorebox
    /// ended it.
    pub cases_bad: u64,
}

impl RunRecord {
    /// Whether its removal began and did not end.
    pub(crate) fn is_being_removed(&self) -> bool {
        self.state_reason.as_deref() == Some(REMOVAL_BEGUN)
    }
}

/// A run that may be written, for [`super::RunWriter`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunHandle {
    /// The run.
    pub key: RunKey,
    /// Its scorers, in the suite's order.
    pub scorers: Vec<ScorerKey>,
    /// The session that writes it.
    pub(super) session: SessionSpec,
    pub(super) begun: Begun,
}

/// Whether the session of a [`RunHandle`] is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    /// It is stored, with a run that has no rows yet.
    WithItsRun(SessionKey),
    /// It will be stored with its first write, so that a session that writes nothing changes nothing.
    WithItsFirstWrite,
}

impl Store {
    /// Stores a new run with its scorers, their components and its first session; its state is [`RunState::Running`].
    ///
    /// # Errors
    /// [`StoreError::RunExists`]; [`StoreError::Rejected`] if two scorers have the same id or an id contains `:`;
    /// write errors.
    pub fn create_run(
        &mut self,
        run: &RunSpec,
        scorers: &[ScorerSpec],
        session: &SessionSpec,
    ) -> Result<RunHandle, StoreError> {
        let change = Transaction::new_unchecked(&self.conn, TransactionBehavior::Immediate);
        let change = self.explained(change)?;
        if self.find_run(run.id.as_str())?.is_some() {
            let id = run.id.to_string();
            return Err(StoreError::RunExists { path: self.path.clone(), id });
        }
        let key = self.explained(insert_run(&change, run))?;
        let inserted = scorers.iter().map(|scorer| insert_scorer(&change, key, scorer));
        let scorers = self.explained(inserted.collect::<rusqlite::Result<_>>())?;
        let begun = Begun::WithItsRun(self.explained(session::begin(&change, key, session))?);
        self.explained(change.commit())?;
        Ok(RunHandle { key, scorers, session: session.clone(), begun })
    }

    /// Opens a stored run to write it again. This changes nothing yet: with the first row that is written, the run is
    /// marked as running, whatever its state was, and the session is stored. The caller must first compare whether the
    /// plan is still the same, with [`Store::run`] and [`Store::scorers`].
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; the database cannot be read.
    pub fn resume_run(&self, id: &str, session: &SessionSpec) -> Result<RunHandle, StoreError> {
        let run = self.run(id)?;
        let scorers = self.scorers(run.key)?.into_iter().map(|scorer| scorer.key).collect();
        let begun = Begun::WithItsFirstWrite;
        Ok(RunHandle { key: run.key, scorers, session: session.clone(), begun })
    }

    /// The run with this id.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], with similar ids; the database cannot be read.
    pub fn run(&self, id: &str) -> Result<RunRecord, StoreError> {
        match self.find_run(id)? {
            Some(run) => Ok(run),
            None => {
                let (path, near) = (self.path.clone(), self.near_runs(id)?);
                Err(StoreError::NoSuchRun { path, id: id.to_owned(), near })
            }
        }
    }

    /// The newest runs, newest first, at most `limit`.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn runs(&self, limit: usize) -> Result<Vec<RunRecord>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.brief(|| {
            let mut query =
                self.conn.prepare_cached("SELECT * FROM runs ORDER BY run DESC LIMIT ?1")?;
            query.query_map([limit], run_record)?.collect()
        })
    }

    /// The run that was created last, if there is one.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn latest_run(&self) -> Result<Option<RunRecord>, StoreError> {
        Ok(self.runs(1)?.pop())
    }

    /// How many cases of a run are stored.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn case_count(&self, run: RunKey) -> Result<u64, StoreError> {
        self.count("SELECT count(*) FROM cases WHERE case_key BETWEEN ?1 AND ?2", run)
    }

    /// The ordinal after those of all stored cases of a run.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn next_ordinal(&self, run: RunKey) -> Result<u64, StoreError> {
        let (first, last) = CaseKey::bounds(run);
        let sql = "SELECT max(case_key) FROM cases WHERE case_key BETWEEN ?1 AND ?2";
        let newest = || self.conn.query_row(sql, [first, last], |row| row.get::<_, Option<i64>>(0));
        Ok(self.brief(newest)?.map_or(0, |key| (key - first).unsigned_abs() + 1))
    }

    /// How many score rows of a run are stored.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn row_count(&self, run: RunKey) -> Result<u64, StoreError> {
        self.count("SELECT count(*) FROM score_rows WHERE case_key BETWEEN ?1 AND ?2", run)
    }

    fn count(&self, sql: &str, run: RunKey) -> Result<u64, StoreError> {
        let (first, last) = CaseKey::bounds(run);
        let count = || self.conn.query_row(sql, [first, last], |row| row.get::<_, i64>(0));
        self.bounded(count).map(i64::unsigned_abs)
    }

    /// The version of wasmtime that last worked on a run; `None` if no session is stored.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn newest_wasmtime(&self, run: RunKey) -> Result<Option<String>, StoreError> {
        let sql =
            "SELECT wasmtime_version FROM sessions WHERE run = ?1 ORDER BY session DESC LIMIT 1";
        self.brief(|| self.conn.query_row(sql, [run], |row| row.get(0)).optional())
    }

    pub(super) fn state(&self, run: RunKey) -> Result<RunState, StoreError> {
        let sql = "SELECT state FROM runs WHERE run = ?1";
        self.explained(self.conn.query_row(sql, [run], |row| row.get(0)))
    }

    pub(super) fn run_id(&self, run: RunKey) -> Result<String, StoreError> {
        let sql = "SELECT id FROM runs WHERE run = ?1";
        self.explained(self.conn.query_row(sql, [run], |row| row.get(0)))
    }

    pub(super) fn set_state(
        &self,
        run: RunKey,
        state: RunState,
        reason: Option<&str>,
        finished_at_ms: Option<i64>,
    ) -> Result<(), StoreError> {
        let updated = self.conn.execute(
            "UPDATE runs SET state = :state, state_reason = :reason, finished_at_ms = :finished,
                 root = NULL, root_version = NULL, size_bytes = NULL
             WHERE run = :run",
            named_params! {
                ":run": run,
                ":state": state,
                ":reason": reason,
                ":finished": finished_at_ms,
            },
        );
        self.explained(updated).map(drop)
    }

    pub(super) fn count_bad_cases(
        &self,
        run: RunKey,
        count: impl FnOnce(u64) -> u64,
    ) -> Result<(), StoreError> {
        let sql = "SELECT cases_bad FROM runs WHERE run = ?1";
        let before = self.conn.query_row(sql, [run], |row| row.get::<_, i64>(0));
        let now = count(self.explained(before)?.max(0).unsigned_abs());
        let sql = "UPDATE runs SET cases_bad = ?2 WHERE run = ?1";
        self.explained(self.conn.execute(sql, (run, integer(now)))).map(drop)
    }

    fn find_run(&self, id: &str) -> Result<Option<RunRecord>, StoreError> {
        let read = || {
            let mut query = self.conn.prepare_cached("SELECT * FROM runs WHERE id = ?1")?;
            query.query_row([id], run_record).optional()
        };
        self.brief(read)
    }

    /// At most five ids: first those that begin with `id`, or with which `id` begins, then the newest ones.
    fn near_runs(&self, id: &str) -> Result<Vec<String>, StoreError> {
        self.brief(|| {
            let mut query = self.conn.prepare_cached(
                "SELECT id FROM runs
                 ORDER BY substr(id, 1, length(?1)) = ?1 OR substr(?1, 1, length(id)) = id DESC,
                          run DESC
                 LIMIT 5",
            )?;
            query.query_map([id], |row| row.get(0))?.collect()
        })
    }
}

fn insert_run(change: &Transaction<'_>, run: &RunSpec) -> rusqlite::Result<RunKey> {
    change.execute(
        "INSERT INTO runs (id, suite_name, suite_json, suite_digest, engine_version,
             wasmtime_version, contract_version, source, state, created_at_ms, seed)
         VALUES (:id, :suite_name, :suite_json, :suite_digest, :engine_version,
             :wasmtime_version, :contract_version, :source, 'running', :created_at_ms, :seed)",
        named_params! {
            ":id": run.id,
            ":suite_name": run.suite_name,
            ":suite_json": run.suite_json,
            ":suite_digest": run.suite_digest,
            ":engine_version": run.engine_version,
            ":wasmtime_version": run.wasmtime_version,
            ":contract_version": run.contract_version,
            ":source": run.source,
            ":created_at_ms": run.created_at_ms,
            ":seed": run.seed,
        },
    )?;
    Ok(RunKey(change.last_insert_rowid()))
}

fn run_record(row: &Row<'_>) -> rusqlite::Result<RunRecord> {
    Ok(RunRecord {
        key: row.get("run")?,
        spec: from_columns!(
            row,
            RunSpec {
                id,
                suite_name,
                suite_json,
                suite_digest,
                engine_version,
                wasmtime_version,
                contract_version,
                source,
                created_at_ms,
                seed,
            }
        ),
        state: row.get("state")?,
        state_reason: row.get("state_reason")?,
        finished_at_ms: row.get("finished_at_ms")?,
        root: match row.get("root_version")? {
            Some(1..=root::VERSION) => row.get("root")?,
            _ => None,
        },
        size_bytes: row
            .get::<_, Option<i64>>("size_bytes")?
            .map(|bytes| bytes.max(0).unsigned_abs()),
        cases_bad: row.get::<_, i64>("cases_bad")?.max(0).unsigned_abs(),
    })
}

#[cfg(test)]
mod tests;
