//! Checks whether the cases and rows of a run are where all readers look for them. Some readers find them by their
//! keys, others, such as the view `scores`, by the run that a case names and by the run of the scorer; a manual change
//! of the file can make the two disagree. It repairs nothing.

use rusqlite::{Row, params};

use super::{CaseKey, RunKey, Store, StoreError};

/// A case or a row that belongs to a run by one criterion but not by the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stray {
    /// A case of the run whose key is not one of the run's, or a case of another run with such a key.
    Case {
        /// Its own id.
        case_id: String,
        /// Whether it claims to be of the run.
        says_so: bool,
    },
    /// A row of a case of the run by a scorer of another run, or a row by a scorer of the run for a case of another
    /// run.
    Row {
        /// The id of its case, or its key if there is no such case.
        case: String,
        /// The id of its scorer, or its key if there is no such scorer.
        scorer: String,
        /// Whether it is of a case of the run.
        of_its_case: bool,
    },
    /// A row whose case is not stored.
    RowOfNoCase {
        /// The key of the case.
        case: i64,
        /// The id of its scorer, or its key if there is no such scorer.
        scorer: String,
    },
}

/// A pass over the keys of all cases: an index may hide some of them.
const CASES: &str = "
    SELECT case_id, run = ?3 FROM cases NOT INDEXED
    WHERE (run = ?3) <> (case_key BETWEEN ?1 AND ?2) LIMIT ?4";

/// A pass over the keys of all rows.
const ROWS: &str = "
    SELECT coalesce((SELECT case_id FROM cases WHERE cases.case_key = score_rows.case_key), case_key),
        coalesce((SELECT scorer_id FROM scorers WHERE scorers.scorer = score_rows.scorer), scorer),
        case_key BETWEEN ?1 AND ?2
    FROM score_rows NOT INDEXED
    WHERE (case_key BETWEEN ?1 AND ?2)
        <> (scorer IN (SELECT scorer FROM scorers NOT INDEXED WHERE run = ?3)) LIMIT ?4";

const ROWS_OF_NO_CASE: &str = "
    SELECT case_key, coalesce((SELECT scorer_id FROM scorers WHERE scorers.scorer = score_rows.scorer), scorer)
    FROM score_rows NOT INDEXED
    WHERE case_key BETWEEN ?1 AND ?2
        AND NOT EXISTS (SELECT 1 FROM cases NOT INDEXED WHERE cases.case_key = score_rows.case_key) LIMIT ?3";

impl Store {
    /// The first cases and rows, at most `most` of each, that belong to a run by one criterion but not by the other.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(crate) fn strays(&self, run: RunKey, most: usize) -> Result<Vec<Stray>, StoreError> {
        let (first, last) = CaseKey::bounds(run);
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.bounded(|| {
            let mut found = Vec::new();
            for (sql, stray) in
                [(CASES, stray_case as fn(&Row<'_>) -> rusqlite::Result<Stray>), (ROWS, stray_row)]
            {
                let mut query = self.conn.prepare_cached(sql)?;
                for stray in query.query_map(params![first, last, run, most], stray)? {
                    found.push(stray?);
                }
            }
            let mut query = self.conn.prepare_cached(ROWS_OF_NO_CASE)?;
            for stray in query.query_map([first, last, most], row_of_no_case)? {
                found.push(stray?);
            }
            Ok(found)
        })
    }
}

fn stray_case(row: &Row<'_>) -> rusqlite::Result<Stray> {
    Ok(Stray::Case { case_id: row.get(0)?, says_so: row.get(1)? })
}

fn stray_row(row: &Row<'_>) -> rusqlite::Result<Stray> {
    Ok(Stray::Row { case: name(row, 0)?, scorer: name(row, 1)?, of_its_case: row.get(2)? })
}

fn row_of_no_case(row: &Row<'_>) -> rusqlite::Result<Stray> {
    Ok(Stray::RowOfNoCase { case: row.get(0)?, scorer: name(row, 1)? })
}

/// An id, or the key if there is none.
fn name(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    let value = row.get_ref(column)?;
    Ok(match value.as_i64() {
        Ok(key) => key.to_string(),
        Err(_) => value.as_str()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::{super::sample::*, *};

    /// Stores the runs `one` and `two` with a case and a scorer each, changes them by hand, and returns what is stray
    /// in `one`.
    fn strays(change: &str) -> Vec<Stray> {
        let (folder, store) = database();
        let path = folder.path().join("scores.db");
        drop(store);
        for run in ["one", "two"] {
            let mut writer = writer(Store::open(&path).unwrap(), run, &["a"]);
            let key = added(&mut writer, &case(0, "x"));
            let scorer = writer.run().scorers[0];
            writer.add_score(key, scorer, &scored(0.5)).unwrap();
            writer.commit().unwrap();
        }
        let conn = Connection::open(&path).unwrap();
        conn.execute_batch("PRAGMA ignore_check_constraints = 1; PRAGMA foreign_keys = 0").unwrap();
        conn.execute_batch(change).unwrap();
        let store = Store::open_read_only(&path).unwrap();
        let run = store.run("one").unwrap();
        store.strays(run.key, 10).unwrap()
    }

    /// A row of the case at `key` by `scorer`.
    fn row(key: &str, scorer: u32) -> String {
        format!(
            "INSERT INTO score_rows (case_key, scorer, status, score, duration_ms, scored_at_ms)
             VALUES ({key}, {scorer}, 'scored', 1.0, 0.0, 0);"
        )
    }

    #[test]
    fn what_a_run_stores_belongs_to_it() {
        assert_eq!(strays(""), []);
    }

    #[test]
    fn a_case_is_of_the_run_that_its_key_is_of() {
        let case = |says_so| [Stray::Case { case_id: "x".into(), says_so }];
        // A run that has no key of this kind, and the other one.
        let moved = "UPDATE cases SET case_key = 7 << 40, case_id = 'x' WHERE run = 1;
                     DELETE FROM score_rows WHERE scorer = 1;";
        assert_eq!(strays(moved), case(true));
        assert_eq!(strays("UPDATE cases SET run = 3 WHERE run = 1"), case(false));
    }

    #[test]
    fn a_row_is_by_a_scorer_of_the_run_of_its_case() {
        let stray =
            |of_its_case| [Stray::Row { case: "x".into(), scorer: "a".into(), of_its_case }];
        assert_eq!(strays(&row("1 << 40", 2)), stray(true));
        assert_eq!(strays(&row("2 << 40", 1)), stray(false));
        let unknown =
            Stray::Row { case: (7_i64 << 40).to_string(), scorer: "a".into(), of_its_case: false };
        assert_eq!(strays(&row("7 << 40", 1)), [unknown]);
    }

    #[test]
    fn a_row_is_of_a_case_that_is_stored() {
        let stray = Stray::RowOfNoCase { case: (1 << 40) + 5, scorer: "a".into() };
        assert_eq!(strays(&row("(1 << 40) + 5", 1)), [stray]);
    }
}
