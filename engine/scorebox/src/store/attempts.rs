//! The cases of a run in the order of their names, so that the attempts at one case are adjacent. Holds one attempt at
//! a time, or a page of them for a caller who reads two runs side by side; checks that the index with this order agrees
//! with the table. It judges nothing.

use std::sync::atomic::Ordering;

use rusqlite::{OptionalExtension as _, Statement, ffi, params};

use super::{
    CaseKey, CaseToDecide, RowToDecide, RunKey, Store, StoreError,
    deciding::{case_to_decide, row_to_decide},
    effort::Ascending,
};
use crate::row::Json;

/// Uses the index that keeps names unique, which has this order: nothing is sorted. A case that claims to be of this
/// run but has a key of another run is not part of it.
const NAMES: &str = "
    SELECT case_key, case_id, iteration, attempt
    FROM cases INDEXED BY sqlite_autoindex_cases_1
    WHERE run = ?1 AND +case_key BETWEEN ?2 AND ?3 AND (case_id, iteration, attempt) > (?4, ?5, ?6)
    ORDER BY case_id, iteration, attempt";

const CASE: &str = "
    SELECT case_key, case_id, node_id, iteration, attempt, latency_ms, usage, skip_reason, error, typeof(trace) <> 'null'
    FROM cases NOT INDEXED WHERE case_key = ?1";

const COUNT: &str = "SELECT count(*) FROM cases NOT INDEXED WHERE case_key BETWEEN ?1 AND ?2";

/// The description of a file whose index has other case names than its table.
const OTHER_NAMES: &str = "its index of case names does not agree with its cases";

const ROWS: &str = "
    SELECT scorer, status, score, assertions_json, CASE status WHEN 'skipped' THEN reason END
    FROM score_rows WHERE case_key = ?1 ORDER BY scorer";

const MOST: &str = "
    SELECT coalesce(max(attempts), 0) FROM (
        SELECT count(*) AS attempts FROM cases INDEXED BY sqlite_autoindex_cases_1
        WHERE run = ?1 AND +case_key BETWEEN ?2 AND ?3 AND (?4 IS NULL OR +node_id = ?4)
        GROUP BY case_id)";

/// The sort key of the attempts.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
struct Name {
    case_id: String,
    iteration: i64,
    attempt: i64,
}

impl Name {
    fn of(case: &CaseToDecide) -> Name {
        let (iteration, attempt) = (case.iteration.into(), case.attempt.into());
        Name { case_id: case.case_id.clone(), iteration, attempt }
    }
}

/// How many cases a page has at most.
const PAGE_CASES: usize = 256;

/// A page ends after this many bytes of text.
const PAGE_BYTES: usize = 4 << 20;

/// The attempts of a run, page by page, which allows reading two runs side by side. To get one state of the database,
/// read them within a [`Store::snapshot`].
#[derive(Debug)]
pub struct Attempts<'s> {
    store: &'s Store,
    run: RunKey,
    node: Option<&'s str>,
    last: Option<Name>,
    count: i64,
    is_whole: bool,
}

impl Attempts<'_> {
    /// The next cases, ordered by id, iteration and attempt: at most 256, fewer if they are large. Empty only after the
    /// last case.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn next_page(&mut self) -> Result<Vec<CaseToDecide>, StoreError> {
        let mut page = Vec::new();
        while page.is_empty() && !self.is_whole {
            self.read(&mut page)?;
        }
        Ok(page)
    }

    fn read(&mut self, page: &mut Vec<CaseToDecide>) -> Result<(), StoreError> {
        let (store, mut bytes, mut seen) = (self.store, 0, 0);
        let after = self.last.clone();
        store.bounded(|| {
            self.is_whole = store.attempts_after(self.run, self.node, after.as_ref(), |case| {
                seen += 1;
                let Some(case) = case else { return Ok(true) };
                self.last = Some(Name::of(case));
                self.count += seen;
                seen = 0;
                bytes += texts(case);
                page.push(case.clone());
                Ok(page.len() < PAGE_CASES && bytes < PAGE_BYTES)
            })?;
            self.count += seen;
            if self.is_whole { store.same_count(self.run, self.count) } else { Ok(()) }
        })
    }
}

/// The bytes of the large parts of a case.
fn texts(case: &CaseToDecide) -> usize {
    let json = |json: &Option<Json>| json.as_ref().map_or(0, |json| json.get().len());
    let reason = |row: &RowToDecide| row.skipped_because.as_ref().map_or(0, String::len);
    let rows: usize = case.rows.iter().map(|row| json(&row.assertions) + reason(row)).sum();
    case.case_id.len() + json(&case.usage) + rows
}

impl Store {
    /// Calls `take` with each case of a run, or of one of its tasks, ordered by id, iteration and attempt, until it
    /// returns false.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn for_each_attempt(
        &self,
        run: RunKey,
        node: Option<&str>,
        mut take: impl FnMut(&CaseToDecide) -> bool,
    ) -> Result<(), StoreError> {
        self.snapshot(|store| {
            store.bounded(|| {
                let mut count = 0;
                let whole = store.attempts_after(run, node, None, |case| {
                    count += 1;
                    Ok(case.is_none_or(&mut take))
                })?;
                if whole { store.same_count(run, count) } else { Ok(()) }
            })
        })
    }

    /// The cases of a run, or those of one of its tasks, in the same order, page by page.
    pub fn attempts<'s>(&'s self, run: RunKey, node: Option<&'s str>) -> Attempts<'s> {
        Attempts { store: self, run, node, last: None, count: 0, is_whole: false }
    }

    /// Calls `take` with each case after this name, or with `None` for a case of another task, until it returns false.
    /// Returns whether it reached the end.
    fn attempts_after(
        &self,
        run: RunKey,
        node: Option<&str>,
        after: Option<&Name>,
        mut take: impl FnMut(Option<&CaseToDecide>) -> rusqlite::Result<bool>,
    ) -> rusqlite::Result<bool> {
        let (first, last) = CaseKey::bounds(run);
        let before_all = Name { case_id: String::new(), iteration: -1, attempt: -1 };
        let Name { case_id, iteration, attempt } = after.unwrap_or(&before_all);
        let mut named = self.conn.prepare_cached(NAMES)?;
        let mut named = named.query(params![run, first, last, case_id, iteration, attempt])?;
        let mut cases = self.conn.prepare_cached(CASE)?;
        let mut rows = self.conn.prepare_cached(ROWS)?;
        let mut names = Ascending::after(after.cloned());
        while let Some(name) = named.next()? {
            let key: CaseKey = name.get(0)?;
            let name = Name {
                case_id: name.get(1)?,
                iteration: name.get::<_, u32>(2)?.into(),
                attempt: name.get::<_, u32>(3)?.into(),
            };
            let mut case = cases.query_row([key], case_to_decide).optional()?;
            let case = case.as_mut().filter(|case| case.key == key && Name::of(case) == name);
            let Some(case) = case else { return Err(damaged()) };
            names.note(name)?;
            self.rows_read.fetch_add(1, Ordering::Relaxed);
            let is_wanted = node.is_none() || case.node_id.as_deref() == node;
            if is_wanted {
                case.rows = rows_of(&mut rows, case.key)?;
            }
            if !take(is_wanted.then_some(&*case))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Refuses a table whose number of cases differs from that of its index.
    fn same_count(&self, run: RunKey, count: i64) -> rusqlite::Result<()> {
        let (first, last) = CaseKey::bounds(run);
        let mut stored = self.conn.prepare_cached(COUNT)?;
        let stored: i64 = stored.query_row([first, last], |row| row.get(0))?;
        if count == stored { Ok(()) } else { Err(damaged()) }
    }

    /// The number of attempts at the case with the most attempts, of a run or of one of its tasks; 0 if there are no
    /// cases.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn most_attempts(&self, run: RunKey, node: Option<&str>) -> Result<u64, StoreError> {
        let (first, last) = CaseKey::bounds(run);
        self.bounded(|| {
            let mut most = self.conn.prepare_cached(MOST)?;
            most.query_row(params![run, first, last, node], |row| row.get::<_, i64>(0))
                .map(i64::unsigned_abs)
        })
    }
}

fn damaged() -> rusqlite::Error {
    let damaged = ffi::Error::new(ffi::SQLITE_CORRUPT);
    rusqlite::Error::SqliteFailure(damaged, Some(OTHER_NAMES.to_owned()))
}

fn rows_of(rows: &mut Statement<'_>, case: CaseKey) -> rusqlite::Result<Vec<RowToDecide>> {
    let mut keys = Ascending::after(None);
    let row = |row: &rusqlite::Row<'_>| {
        let scorer = row.get(0)?;
        keys.note(scorer)?;
        row_to_decide(row, scorer, 1)
    };
    rows.query_map([case], row)?.collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::{NewCase, sample::*},
        *,
    };

    /// Case `x` tried three times, with `y` between its attempts; one of `x` belongs to another task.
    fn tried() -> (tempfile::TempDir, super::super::RunWriter) {
        let (folder, store) = database();
        let mut writer = writer(store, "r", &["a", "b"]);
        let scorer = writer.run().scorers[1];
        let attempt = |ordinal, id, attempt| NewCase { attempt, ..case(ordinal, id) };
        for (ordinal, id, number) in [(0, "x", 2), (1, "y", 0), (2, "x", 0)] {
            let key = added(&mut writer, &attempt(ordinal, id, number));
            writer.add_score(key, scorer, &scored(f64::from(number))).unwrap();
        }
        added(&mut writer, &NewCase { node_id: Some("n"), iteration: 1, ..case(3, "x") });
        (folder, writer)
    }

    #[test]
    fn the_attempts_at_a_case_come_together_and_in_their_order() {
        let (_folder, writer) = tried();
        let (store, run) = (writer.store(), writer.run().key);
        let read = |node: Option<&str>| {
            let mut read = Vec::new();
            let taken = store.for_each_attempt(run, node, |case| {
                let scores = case.rows.iter().filter_map(|row| row.score).collect::<Vec<_>>();
                read.push(format!(
                    "{} {} {} {scores:?}",
                    case.case_id, case.iteration, case.attempt
                ));
                true
            });
            taken.unwrap();
            read
        };
        assert_eq!(read(None), ["x 0 0 [0.0]", "x 0 2 [2.0]", "x 1 0 []", "y 0 0 [0.0]"]);
        assert_eq!(read(Some("n")), ["x 1 0 []"]);
    }

    #[test]
    fn pages_have_the_attempts_in_the_same_order() {
        let (_folder, store) = database();
        let mut writer = writer(store, "r", &["a"]);
        let ids: Vec<String> =
            (0..600_u64).map(|ordinal| format!("{:03}", ordinal * 7 % 600)).collect();
        for (ordinal, id) in (0..).zip(&ids) {
            let node_id = (ordinal % 300 == 0).then_some("n");
            added(&mut writer, &NewCase { node_id, ..case(ordinal, id) });
        }
        let (store, run) = (writer.store(), writer.run().key);
        let read = |node| {
            let (mut attempts, mut read) = (store.attempts(run, node), Vec::new());
            loop {
                let page = attempts.next_page().unwrap();
                if page.is_empty() {
                    break read;
                }
                assert!(page.len() <= PAGE_CASES);
                read.extend(page.into_iter().map(|case| case.case_id));
            }
        };
        let mut sorted = ids.clone();
        sorted.sort();
        assert_eq!(read(None), sorted);
        assert_eq!(read(Some("n")), ["000", "300"]);
        assert_eq!(read(Some("none")), [""; 0]);
    }

    #[test]
    fn the_most_attempts_are_those_of_one_case() {
        let (_folder, writer) = tried();
        let (store, run) = (writer.store(), writer.run().key);
        assert_eq!(store.most_attempts(run, None).unwrap(), 3);
        assert_eq!(store.most_attempts(run, Some("n")).unwrap(), 1);
        assert_eq!(store.most_attempts(run, Some("none")).unwrap(), 0);
    }

    #[test]
    fn nothing_is_sorted() {
        let (_folder, writer) = tried();
        for sql in [NAMES, MOST] {
            let plan = format!("EXPLAIN QUERY PLAN {sql}");
            let mut plan = writer.store().conn.prepare(&plan).unwrap();
            // Parameters that are not bound are NULL.
            let mut steps = plan.raw_query();
            while let Some(step) = steps.next().unwrap() {
                let step: String = step.get(3).unwrap();
                assert!(!step.contains("TEMP B-TREE"), "{step}");
            }
        }
    }

    /// A case is deleted, renamed or added while the schema hides the index, so the index does not follow.
    #[test]
    fn an_index_that_names_other_cases_is_damage() {
        for change in [
            "DELETE FROM cases WHERE ordinal = 1",
            "UPDATE cases SET case_id = 'z' WHERE ordinal = 1",
            "INSERT INTO cases SELECT case_key + 9, run, ordinal + 9, 'z', node_id, 0, 0, source_name, 1, latency_ms, digest,
                input, output, ground_truth, context, output_schema, trace, usage, metadata, baseline, other_json, workspace,
                skip_reason, error FROM cases WHERE ordinal = 1",
        ] {
            let (folder, writer) = tried();
            let run = writer.run().key;
            drop(writer);
            let path = folder.path().join("scores.db");
            change_without_index(&path, change);
            let store = Store::open_read_only(&path).unwrap();
            let error = store.for_each_attempt(run, None, |_| true).unwrap_err();
            assert!(error.to_string().ends_with(OTHER_NAMES), "{change}: {error}");
            let error = store.attempts(run, None).next_page().unwrap_err();
            assert!(error.to_string().ends_with(OTHER_NAMES), "{change}: {error}");
        }
    }

    fn change_without_index(path: &std::path::Path, change: &str) {
        let schema = |conn: &rusqlite::Connection, sql: &str| {
            let version: i64 =
                conn.query_row("PRAGMA schema_version", [], |row| row.get(0)).unwrap();
            conn.execute_batch(&format!(
                "PRAGMA writable_schema = ON; {sql}; PRAGMA schema_version = {}",
                version + 1
            ))
            .unwrap();
        };
        let conn = rusqlite::Connection::open(path).unwrap();
        let sql: String = conn
            .query_row("SELECT sql FROM sqlite_schema WHERE name = 'cases'", [], |row| row.get(0))
            .unwrap();
        conn.execute_batch(
            "CREATE TABLE kept AS SELECT * FROM sqlite_schema WHERE tbl_name = 'cases'",
        )
        .unwrap();
        let plain = sql.replace("UNIQUE (run, case_id, iteration, attempt),", "");
        assert_ne!(plain, sql);
        conn.execute_batch("BEGIN").unwrap();
        schema(
            &conn,
            &format!(
                "DELETE FROM sqlite_schema WHERE tbl_name = 'cases' AND type = 'index';
             UPDATE sqlite_schema SET sql = '{}' WHERE name = 'cases'",
                plain.replace('\'', "''")
            ),
        );
        conn.execute_batch("COMMIT").unwrap();
        drop(conn);
        let conn = rusqlite::Connection::open(path).unwrap();
        conn.execute_batch(&format!("PRAGMA foreign_keys = OFF; {change}")).unwrap();
        conn.execute_batch("BEGIN").unwrap();
        schema(
            &conn,
            &format!(
                "UPDATE sqlite_schema SET sql = '{}' WHERE name = 'cases';
             INSERT INTO sqlite_schema SELECT * FROM kept WHERE type = 'index'",
                sql.replace('\'', "''")
            ),
        );
        conn.execute_batch("COMMIT").unwrap();
        drop(conn);
        rusqlite::Connection::open(path).unwrap().execute_batch("DROP TABLE kept").unwrap();
    }
}
