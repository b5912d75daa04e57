//! Removes whole runs, and returns their space to the file system. Only here are rows deleted; the caller decides which
//! runs to remove.

use std::{thread, time::Duration};

use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use serde::Serialize;

use super::{
    CaseKey, OnlyWriter, RunId, RunKey, RunRecord, RunState, Store, StoreError, run::REMOVAL_BEGUN,
};

/// How many score rows one transaction deletes, unless one case has more: other writers wait for it.
const ROWS_AT_ONCE: usize = 5_000;

/// How long the file is free between two transactions, so that another process gets its turn.
const PAUSE: Duration = Duration::from_millis(2);

/// What a removal has deleted so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Removed {
    /// Cases.
    pub cases: u64,
    /// Score rows.
    pub rows: u64,
    /// Components that no other run uses.
    pub components: u64,
}

/// How large a database is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StoreSize {
    /// The file, in bytes.
    pub bytes: u64,
    /// The unused part of it, which is used before the file grows.
    pub free_bytes: u64,
}

impl Store {
    /// How large the file is. Reads no row.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn size(&self) -> Result<StoreSize, StoreError> {
        let number = |name| self.conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let sizes = || {
            let page = number("page_size")?.unsigned_abs();
            Ok(StoreSize {
                bytes: number("page_count")?.unsigned_abs().saturating_mul(page),
                free_bytes: number("freelist_count")?.unsigned_abs().saturating_mul(page),
            })
        };
        self.explained(sizes())
    }

    /// The ids of the other runs that have copies of this run's scores, oldest first.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn copying_runs(&self, run: RunKey) -> Result<Vec<String>, StoreError> {
        let (first, last) = CaseKey::bounds(run);
        self.bounded(|| {
            let mut query = self.conn.prepare_cached(COPYING)?;
            query.query_map([first, last], |row| row.get(0))?.collect()
        })
    }

    /// Whether a process is writing the run now, including this one; `false` if files cannot be locked, because then
    /// nobody knows.
    pub fn is_being_written(&self, run: &RunId) -> bool {
        matches!(OnlyWriter::take(&self.path, run), Err(StoreError::BeingWritten { .. }))
    }

    /// Removes runs: their cases, score rows, summaries, scorers and sessions, and the components that no other run
    /// uses. It calls `progress` after each transaction with what has been deleted.
    ///
    /// First it marks the runs as stopped, then it deletes their cases with their rows, some thousand rows in a
    /// transaction, then the runs themselves. So wherever it ends early, the database is consistent: a run that is
    /// partly deleted can be removed again, or resumed, which computes the deleted part again. The file keeps its size,
    /// see [`Store::give_back_space`]. `now_ms` is in milliseconds since 1970 UTC.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; [`StoreError::Copied`] if a run that is not removed has copies of scores of a run
    /// that is; [`StoreError::InUse`] if another process is writing one of them; write errors.
    pub fn remove_runs(
        &mut self,
        ids: &[&str],
        now_ms: i64,
        mut progress: impl FnMut(Removed),
    ) -> Result<Removed, StoreError> {
        let mut runs = ids.iter().map(|id| self.run(id)).collect::<Result<Vec<_>, _>>()?;
        // A copy is deleted before its original, which is in an earlier run.
        runs.sort_by_key(|run| std::cmp::Reverse(run.key));
        runs.dedup_by_key(|run| run.key);
        // Nobody can begin to write them meanwhile.
        let _only = runs.iter().map(|run| self.only_writer(run)).collect::<Result<Vec<_>, _>>()?;
        let all: Vec<Doomed> = runs
            .into_iter()
            .map(|run| Doomed { key: run.key, id: run.spec.id.to_string() })
            .collect();
        let removal = Removal { store: self, all: &all };
        // References are checked here, because SQLite would search all rows of all runs for each scorer and each
        // session.
        removal.store.check_references(false)?;
        let removed = removal.run(now_ms, &mut progress);
        self.check_references(true)?;
        removed
    }

    /// Rewrites the file without its unused parts, and returns its size before and after. Meanwhile it needs the space
    /// for a second database. Other processes can read, and wait to write; if one is reading, the file gets smaller
    /// only when the last of them closes it.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`], [`StoreError::Locked`], and other write errors, which all leave the database as
    /// it was.
    pub fn give_back_space(&mut self) -> Result<(StoreSize, StoreSize), StoreError> {
        let before = self.size()?;
        self.bounded(|| self.conn.execute_batch("VACUUM"))?;
        let shortened =
            self.conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
        self.explained(shortened)?;
        Ok((before, self.size()?))
    }

    /// The right to write a run that will be removed.
    fn only_writer(&self, run: &RunRecord) -> Result<Option<OnlyWriter>, StoreError> {
        OnlyWriter::take(&self.path, &run.spec.id).map_err(|error| match error {
            StoreError::BeingWritten { path, id } => StoreError::InUse { path, id },
            other => other,
        })
    }
}

/// Uses the index of copied rows, which is empty if nothing was copied.
const COPYING: &str = "
    SELECT runs.id FROM runs WHERE runs.run IN (
        SELECT score_rows.case_key >> 40 FROM score_rows INDEXED BY score_rows_reused
        WHERE reused_case IS NOT NULL AND reused_case BETWEEN ?1 AND ?2
            AND case_key NOT BETWEEN ?1 AND ?2)
    ORDER BY runs.run";

/// The recordings that only scores of these cases depend on.
const UNSHARED_CALLS: &str = "
    DELETE FROM calls WHERE (digest, reply_digest) IN (
            SELECT digest, reply_digest FROM score_calls WHERE case_key > ?1 AND case_key <= ?2)
        AND NOT EXISTS (
            SELECT 1 FROM score_calls INDEXED BY score_calls_digest
            WHERE score_calls.digest = calls.digest AND score_calls.reply_digest = calls.reply_digest
                AND (case_key <= ?1 OR case_key > ?2))
        AND NOT EXISTS (
            SELECT 1 FROM run_calls INDEXED BY run_calls_digest
            WHERE run_calls.digest = calls.digest AND run_calls.reply_digest = calls.reply_digest
                AND scorer NOT IN (SELECT scorer FROM scorers WHERE run = ?3))";

/// The next calls that a run without cases asked for.
macro_rules! asked {
    ($columns:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM run_calls WHERE scorer IN (SELECT scorer FROM scorers WHERE run = ?1)
              ORDER BY scorer, digest, reply_digest LIMIT ?2"
        )
    };
}

/// The recordings of these that no other run needs.
const UNSHARED_ASKED: &str = concat!(
    "DELETE FROM calls WHERE (digest, reply_digest) IN (",
    asked!("digest, reply_digest"),
    ") AND NOT EXISTS (
           SELECT 1 FROM score_calls INDEXED BY score_calls_digest
           WHERE score_calls.digest = calls.digest AND score_calls.reply_digest = calls.reply_digest)
       AND NOT EXISTS (
           SELECT 1 FROM run_calls INDEXED BY run_calls_digest
           WHERE run_calls.digest = calls.digest AND run_calls.reply_digest = calls.reply_digest
               AND scorer NOT IN (SELECT scorer FROM scorers WHERE run = ?1))"
);

const ASKED: &str = concat!(
    "DELETE FROM run_calls WHERE (scorer, digest, reply_digest) IN (",
    asked!("scorer, digest, reply_digest"),
    ")"
);

/// A run that is being removed.
struct Doomed {
    key: RunKey,
    id: String,
}

struct Removal<'a> {
    store: &'a Store,
    all: &'a [Doomed],
}

impl Removal<'_> {
    fn run(&self, now_ms: i64, progress: &mut dyn FnMut(Removed)) -> Result<Removed, StoreError> {
        let mut removed = Removed::default();
        let mut seen = self.mark(now_ms)?;
        for run in self.all {
            let mut after = CaseKey::bounds(run.key).0 - 1;
            while let Some(last) = self.remove_cases(run, after, &mut seen, &mut removed)? {
                after = last;
                progress(removed);
                thread::sleep(PAUSE);
            }
            while self.remove_asked(run)? {
                thread::sleep(PAUSE);
            }
        }
        self.remove_heads(&mut removed)?;
        progress(removed);
        Ok(removed)
    }

    /// Marks the runs, so that none of them looks finished when a part of it is missing. Returns the version of the
    /// data.
    fn mark(&self, now_ms: i64) -> Result<i64, StoreError> {
        let change = self.begin()?;
        for run in self.all {
            self.must_not_be_copied(run)?;
        }
        for run in self.all {
            self.store.set_state(run.key, RunState::Stopped, Some(REMOVAL_BEGUN), Some(now_ms))?;
        }
        let version = self.data_version()?;
        self.store.explained(change.commit())?;
        Ok(version)
    }

    /// Deletes the next cases after a key with their rows; returns the last of them.
    fn remove_cases(
        &self,
        run: &Doomed,
        after: i64,
        seen: &mut i64,
        removed: &mut Removed,
    ) -> Result<Option<i64>, StoreError> {
        let store = self.store;
        let end = CaseKey::bounds(run.key).1;
        let scorers = store.scorers(run.key)?.len().max(1);
        let most = i64::try_from((ROWS_AT_ONCE / scorers).max(1)).unwrap_or(i64::MAX);
        let change = self.begin()?;
        // A score that another process has copied meanwhile must stay.
        let version = self.data_version()?;
        if version != *seen {
            self.must_not_be_copied(run)?;
            *seen = version;
        }
        let last = store.bounded(|| {
            let mut query = store.conn.prepare_cached(
                "SELECT max(case_key) FROM (SELECT case_key FROM cases
                 WHERE case_key > ?1 AND case_key <= ?2 ORDER BY case_key LIMIT ?3)",
            )?;
            query.query_row([after, end, most], |row| row.get::<_, Option<i64>>(0))
        })?;
        let Some(last) = last else { return Ok(None) };
        let delete = |sql: &str| {
            store.bounded(|| store.conn.prepare_cached(sql)?.execute(params![after, last]))
        };
        store.bounded(|| {
            store.conn.prepare_cached(UNSHARED_CALLS)?.execute(params![after, last, run.key])
        })?;
        delete("DELETE FROM score_calls WHERE case_key > ?1 AND case_key <= ?2")?;
        let rows = delete("DELETE FROM score_rows WHERE case_key > ?1 AND case_key <= ?2")?;
        let cases = delete("DELETE FROM cases WHERE case_key > ?1 AND case_key <= ?2")?;
        store.explained(change.commit())?;
        removed.rows += rows as u64;
        removed.cases += cases as u64;
        Ok(Some(last))
    }

    /// Removes the next calls that a run without cases asked for, with the recordings that no other run needs; answers
    /// whether there were some.
    fn remove_asked(&self, run: &Doomed) -> Result<bool, StoreError> {
        let store = self.store;
        let change = self.begin()?;
        let delete = |sql: &str| {
            let next = params![run.key, ROWS_AT_ONCE as i64];
            store.bounded(|| store.conn.prepare_cached(sql)?.execute(next))
        };
        delete(UNSHARED_ASKED)?;
        let gone = delete(ASKED)?;
        store.explained(change.commit())?;
        Ok(gone > 0)
    }

    /// Removes the runs themselves, now that nothing is left of their cases.
    fn remove_heads(&self, removed: &mut Removed) -> Result<(), StoreError> {
        let store = self.store;
        let change = self.begin()?;
        let (mut rows, mut components) = (0, 0);
        for run in self.all {
            self.must_not_be_copied(run)?;
            if store.case_count(run.key)? > 0 {
                return Err(StoreError::InUse { path: store.path.clone(), id: run.id.clone() });
            }
            rows += store.bounded(|| remove_head(&store.conn, run.key))?;
        }
        components += store.bounded(|| {
            store.conn.execute(
                "DELETE FROM components WHERE digest NOT IN (
                     SELECT component_digest FROM scorers
                     UNION SELECT condition_digest FROM scorers WHERE condition_digest IS NOT NULL)",
                [],
            )
        })?;
        store.explained(change.commit())?;
        removed.rows += rows as u64;
        removed.components += components as u64;
        Ok(())
    }

    /// Takes the file's write lock.
    fn begin(&self) -> Result<Transaction<'_>, StoreError> {
        let begun = Transaction::new_unchecked(&self.store.conn, TransactionBehavior::Immediate);
        self.store.explained(begun)
    }

    /// A number that changes when another process has written.
    fn data_version(&self) -> Result<i64, StoreError> {
        let version = self.store.conn.pragma_query_value(None, "data_version", |row| row.get(0));
        self.store.explained(version)
    }

    fn must_not_be_copied(&self, run: &Doomed) -> Result<(), StoreError> {
        let mut by = self.store.copying_runs(run.key)?;
        by.retain(|id| self.all.iter().all(|other| other.id != *id));
        match by.is_empty() {
            true => Ok(()),
            false => {
                let (path, id) = (self.store.path.clone(), run.id.clone());
                Err(StoreError::Copied { path, id, by })
            }
        }
    }
}

/// Cases that claim to be of a run, with a key of no run: they would become cases of the next run that gets this one's
/// number. Only a manual change of the file makes them.
const STRAY_CASES: &str = "
    SELECT case_key FROM cases WHERE run = ?1 AND case_key >> 40 NOT IN (SELECT run FROM runs)";

/// Deletes a run without cases; returns how many rows belonged to no case of it, which only damage makes.
fn remove_head(conn: &Connection, run: RunKey) -> rusqlite::Result<usize> {
    let (first, last) = CaseKey::bounds(run);
    conn.execute("DELETE FROM score_calls WHERE case_key BETWEEN ?1 AND ?2", [first, last])?;
    let stray = "DELETE FROM score_rows WHERE case_key BETWEEN ?1 AND ?2";
    let mut stray = conn.execute(stray, [first, last])?;
    for table in ["score_calls", "score_rows"] {
        let sql = format!("DELETE FROM {table} WHERE case_key IN ({STRAY_CASES})");
        let rows = conn.execute(&sql, [run])?;
        stray += if table == "score_rows" { rows } else { 0 };
    }
    conn.execute(&format!("DELETE FROM cases WHERE case_key IN ({STRAY_CASES})"), [run])?;
    for sql in [
        "DELETE FROM summaries WHERE scorer IN (SELECT scorer FROM scorers WHERE run = ?1)",
        "DELETE FROM run_calls WHERE scorer IN (SELECT scorer FROM scorers WHERE run = ?1)",
        "DELETE FROM scorers WHERE run = ?1",
        "DELETE FROM sessions WHERE run = ?1",
        "DELETE FROM runs WHERE run = ?1",
    ] {
        conn.execute(sql, [run])?;
    }
    Ok(stray)
}

#[cfg(test)]
mod tests;
