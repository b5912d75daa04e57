//! Checks whether the indexes of a run agree with its rows. SQLite trusts an index, so someone who can write to the
//! file could hide rows in an index, or show others, and leave the rows from which the root is computed unchanged. It
//! repairs nothing.

use rusqlite::{OptionalExtension as _, Row, ffi};

use super::{CaseKey, RunKey, Store, StoreError, effort::Ascending};

/// An index that finds rows of a run.
struct Index {
    name: &'static str,
    /// A query for its entries of a run, in its order, with only values that are in the index.
    entries: &'static str,
    /// A query that checks whether an entry belongs to a row, by the row's key.
    row: &'static str,
    /// A query for the number of rows of a run that it should have.
    count: &'static str,
}

/// The indexes that readers use. A `+` keeps SQLite from using them when it reads the rows.
const INDEXES: [Index; 4] = [
    Index {
        name: "sqlite_autoindex_cases_1",
        entries: "SELECT case_id, iteration, attempt, case_key FROM cases INDEXED BY sqlite_autoindex_cases_1
            WHERE run = ?1 >> 40 AND +case_key BETWEEN ?1 AND ?2 ORDER BY case_id, iteration, attempt",
        row: "SELECT 1 FROM cases NOT INDEXED WHERE case_key = ?4 AND case_id = ?1 AND iteration = ?2 AND attempt = ?3
            AND run = case_key >> 40",
        count: "SELECT count(*) FROM cases NOT INDEXED WHERE case_key BETWEEN ?1 AND ?2",
    },
    Index {
        name: "cases_by_node",
        entries: "SELECT node_id, case_key, 0, 0 FROM cases INDEXED BY cases_by_node
            WHERE node_id IS NOT NULL AND +case_key BETWEEN ?1 AND ?2 ORDER BY node_id, case_key",
        row: "SELECT 1 FROM cases NOT INDEXED WHERE case_key = ?2 AND node_id = ?1 AND ?3 = ?4",
        count: "SELECT count(*) FROM cases NOT INDEXED WHERE case_key BETWEEN ?1 AND ?2 AND node_id IS NOT NULL",
    },
    Index {
        name: "score_rows_errors",
        entries: "SELECT '', case_key, scorer, 0 FROM score_rows INDEXED BY score_rows_errors
            WHERE status = 'error' AND case_key BETWEEN ?1 AND ?2 ORDER BY case_key, scorer",
        row: "SELECT 1 FROM score_rows WHERE case_key = ?2 AND scorer = ?3 AND +status = 'error' AND ?1 = '' AND ?4 = 0",
        count: "SELECT count(*) FROM score_rows WHERE case_key BETWEEN ?1 AND ?2 AND +status = 'error'",
    },
    Index {
        name: "score_rows_reused",
        entries: "SELECT '', case_key, scorer, 0 FROM score_rows INDEXED BY score_rows_reused
            WHERE reused_case IS NOT NULL AND case_key BETWEEN ?1 AND ?2 ORDER BY case_key, scorer",
        row: "SELECT 1 FROM score_rows WHERE case_key = ?2 AND scorer = ?3 AND +reused_case IS NOT NULL AND ?1 = '' AND ?4 = 0",
        count: "SELECT count(*) FROM score_rows WHERE case_key BETWEEN ?1 AND ?2 AND +reused_case IS NOT NULL",
    },
];

impl Store {
    /// The names of the indexes whose entries of a run differ from its rows.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(crate) fn disagreeing_indexes(&self, run: RunKey) -> Result<Vec<&'static str>, StoreError> {
        let mut found = Vec::new();
        for index in &INDEXES {
            if !self.bounded(|| self.agrees(index, run))? {
                found.push(index.name);
            }
        }
        Ok(found)
    }

    /// Whether each entry belongs to a row and occurs once, and no entry is missing.
    fn agrees(&self, index: &Index, run: RunKey) -> rusqlite::Result<bool> {
        let (first, last) = CaseKey::bounds(run);
        let mut stored = self.conn.prepare_cached(index.count)?;
        let stored: i64 = stored.query_row([first, last], |row| row.get(0))?;
        let mut entries = self.conn.prepare_cached(index.entries)?;
        let mut entries = entries.query([first, last])?;
        let mut row = self.conn.prepare_cached(index.row)?;
        let (mut seen, mut count) = (Ascending::after(None), 0);
        while let Some(entry) = entries.next()? {
            let entry = entry_of(entry)?;
            let found: Option<i64> = row
                .query_row((&entry.0, entry.1, entry.2, entry.3), |row| row.get(0))
                .optional()?;
            if found.is_none() || is_damaged(seen.note(entry))? {
                return Ok(false);
            }
            count += 1;
        }
        Ok(count == stored)
    }
}

/// The values of an entry; an index has at most four.
fn entry_of(row: &Row<'_>) -> rusqlite::Result<(String, i64, i64, i64)> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
}

/// Whether entries occur twice or in another order, which is also a disagreement.
fn is_damaged(noted: rusqlite::Result<()>) -> rusqlite::Result<bool> {
    match noted {
        Err(rusqlite::Error::SqliteFailure(error, _))
            if error.extended_code == ffi::SQLITE_CORRUPT =>
        {
            Ok(true)
        }
        noted => noted.map(|()| false),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::{
        super::{NewCase, sample::*},
        *,
    };

    /// Two runs of cases with tasks and errors, of which one reuses rows of the other.
    fn stored() -> (tempfile::TempDir, std::path::PathBuf, RunKey) {
        let (folder, store) = database();
        let mut writer = writer(store, "r", &["a", "b"]);
        let (a, b) = (writer.run().scorers[0], writer.run().scorers[1]);
        for ordinal in 0..6 {
            let id = ordinal.to_string();
            let node_id = (ordinal % 2 == 0).then_some("n");
            let key = added(&mut writer, &NewCase { node_id, ..case(ordinal, &id) });
            writer.add_score(key, a, &scored(0.5)).unwrap();
            writer.add_score(key, b, &error()).unwrap();
        }
        let run = writer.run().key;
        drop(writer);
        let path = folder.path().join("scores.db");
        Connection::open(&path)
            .unwrap()
            .execute_batch("UPDATE score_rows SET reused_case = case_key, reused_scorer = scorer WHERE score = 0.5")
            .unwrap();
        (folder, path, run)
    }

    /// Fills an index with the rows of another condition, and then restores its definition.
    fn fill_as(path: &std::path::Path, index: &str, sql: &str) {
        let conn = Connection::open(path).unwrap();
        let own: String = conn
            .query_row("SELECT sql FROM sqlite_schema WHERE name = ?1", [index], |row| row.get(0))
            .unwrap();
        conn.execute_batch(&format!("DROP INDEX {index}; {sql}")).unwrap();
        conn.execute_batch("PRAGMA writable_schema = ON").unwrap();
        let changed = conn
            .execute("UPDATE sqlite_schema SET sql = ?1 WHERE name = ?2", [own.as_str(), index])
            .unwrap();
        assert_eq!(changed, 1);
    }

    #[test]
    fn those_of_an_unchanged_run_agree() {
        let (_folder, path, run) = stored();
        let store = Store::open_read_only(&path).unwrap();
        assert_eq!(store.disagreeing_indexes(run).unwrap(), [""; 0]);
        for index in &INDEXES {
            let plan = format!("EXPLAIN QUERY PLAN {}", index.entries);
            let mut plan = store.conn.prepare(&plan).unwrap();
            let mut steps = plan.raw_query();
            while let Some(step) = steps.next().unwrap() {
                let step: String = step.get(3).unwrap();
                assert!(step.contains(&format!("INDEX {}", index.name)), "{step}");
            }
        }
    }

    #[test]
    fn one_that_hides_rows_or_shows_others_does_not_agree() {
        for (index, sql) in [
            ("cases_by_node", "ON cases (node_id) WHERE attempt = 1"),
            ("score_rows_errors", "ON score_rows (case_key) WHERE status = 'skipped'"),
            ("score_rows_errors", "ON score_rows (case_key) WHERE status = 'scored'"),
            ("score_rows_reused", "ON score_rows (case_key) WHERE status = 'error'"),
        ] {
            let (_folder, path, run) = stored();
            fill_as(&path, index, &format!("CREATE INDEX {index} {sql}"));
            let store = Store::open_read_only(&path).unwrap();
            assert_eq!(store.disagreeing_indexes(run).unwrap(), [index], "{sql}");
        }
    }
}
