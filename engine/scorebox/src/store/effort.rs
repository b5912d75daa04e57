//! Limits on how much one statement may read: in a damaged or hostile file, pages can refer to each other in circles,
//! so that a few kilobytes look like infinitely many rows, or like the same rows again. It reads nothing itself.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use rusqlite::{Connection, ffi};

use super::{Store, StoreError};

/// The description of a file whose rows occur twice, or are not in the requested order.
const OUT_OF_ORDER: &str = "its rows are not in the order of their keys";

/// How many steps of SQLite's virtual machine pass between two checks of the limit.
const STEPS_PER_LOOK: i32 = 10_000;
/// How many steps a statement may use for each byte of the file. A row takes some 100 steps in the statement with the
/// most columns, and has 20 bytes or more.
const STEPS_PER_BYTE: u64 = 64;
/// How many steps every statement may use: some seconds.
const STEPS_AT_LEAST: u64 = 100_000_000;

/// The steps that are left for the running statement; unlimited if none is bounded.
#[derive(Debug)]
pub(super) struct Effort(Arc<AtomicU64>);

impl Effort {
    /// Makes the connection count its steps.
    pub(super) fn of(conn: &mut Connection) -> rusqlite::Result<Effort> {
        let left = Arc::new(AtomicU64::new(u64::MAX));
        let counted = Arc::clone(&left);
        conn.progress_handler(
            STEPS_PER_LOOK,
            Some(move || {
                let left = counted.load(Ordering::Relaxed);
                if left < u64::MAX {
                    counted.store(left.saturating_sub(STEPS_PER_LOOK as u64), Ordering::Relaxed);
                }
                left == 0
            }),
        )?;
        Ok(Effort(left))
    }
}

/// Checks that the keys of rows ascend, each once. Otherwise, code that handles each row would run for as long as the
/// limit on steps allows, and keep all the rows.
pub(super) struct Ascending<K>(Option<K>);

impl<K: PartialOrd> Ascending<K> {
    /// Expects keys after this one, or any key.
    pub(super) fn after(key: Option<K>) -> Ascending<K> {
        Ascending(key)
    }

    /// Checks the next key.
    ///
    /// # Errors
    /// If it is not greater than the one before: the file is damaged.
    pub(super) fn note(&mut self, key: K) -> rusqlite::Result<()> {
        if self.0.as_ref().is_some_and(|before| *before >= key) {
            let damaged = ffi::Error::new(ffi::SQLITE_CORRUPT);
            return Err(rusqlite::Error::SqliteFailure(damaged, Some(OUT_OF_ORDER.to_owned())));
        }
        self.0 = Some(key);
        Ok(())
    }
}

impl Store {
    /// Runs a read that finds few rows by their keys.
    ///
    /// # Errors
    /// Like [`Store::bounded`].
    pub(super) fn brief<T>(
        &self,
        read: impl FnOnce() -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.explained(self.within(STEPS_AT_LEAST, read))
    }

    /// Runs a read of many rows, within the steps that a file of this size can need.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if it takes more steps; the errors of `read`.
    pub(super) fn bounded<T>(
        &self,
        read: impl FnOnce() -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let pages = || {
            let number =
                |name| self.conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
            Ok(number("page_count")?
                .unsigned_abs()
                .saturating_mul(number("page_size")?.unsigned_abs()))
        };
        let steps = self.explained(pages())?.saturating_mul(STEPS_PER_BYTE).max(STEPS_AT_LEAST);
        self.explained(self.within(steps, read))
    }

    /// Runs a read within this number of steps, and within the steps that are left to an enclosing read.
    fn within<T>(
        &self,
        steps: u64,
        read: impl FnOnce() -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let left = &self.effort.0;
        let before = left.load(Ordering::Relaxed);
        let given = steps.min(before);
        left.store(given, Ordering::Relaxed);
        let read = read();
        let taken = given - left.load(Ordering::Relaxed);
        let rest = if before == u64::MAX { before } else { before - taken };
        left.store(rest, Ordering::Relaxed);
        read
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use tempfile::TempDir;

    use super::{
        super::{RunKey, ScoreFilter, error::TOO_MUCH, sample::*},
        *,
    };
    use crate::digest::Digest;

    /// A page of a table's tree (SQLite's file format, section 1.6) that refers to page `child` some hundred times.
    fn page_of_pointers(child: u32, bytes: usize) -> Vec<u8> {
        // A cell is a page's number and the greatest key below it, here 2^63 - 1.
        let pointer = [&child.to_be_bytes()[..], &[0xBF], &[0xFF; 8]].concat();
        let (cells, cell) = (bytes / 7, bytes - pointer.len());
        let mut page = vec![0; bytes];
        page[0] = 5;
        page[3..5].copy_from_slice(&(cells as u16).to_be_bytes());
        page[5..7].copy_from_slice(&(cell as u16).to_be_bytes());
        page[8..12].copy_from_slice(&child.to_be_bytes());
        for slot in page[12..12 + 2 * cells].chunks_mut(2) {
            slot.copy_from_slice(&(cell as u16).to_be_bytes());
        }
        page[cell..].copy_from_slice(&pointer);
        page
    }

    /// Adds four pages, each of which refers to the next one some hundred times, and the last one to the original root
    /// of the table's tree.
    fn lead_in_circles(path: &Path, table: &str) {
        let conn = Connection::open(path).unwrap();
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        let root: u32 = conn.query_row(sql, [table], |row| row.get(0)).unwrap();
        let number = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap();
        let (pages, size) = (number("PRAGMA page_count"), number("PRAGMA page_size") as usize);
        drop(conn);
        let mut bytes = fs::read(path).unwrap();
        let (start, end) = ((root as usize - 1) * size, root as usize * size);
        let first = bytes[start..end].to_vec();
        for level in 1..=4 {
            bytes.extend(page_of_pointers(pages + level + 1, size));
        }
        bytes.extend(first);
        bytes[start..end].copy_from_slice(&page_of_pointers(pages + 1, size));
        bytes[28..32].copy_from_slice(&(pages + 5).to_be_bytes());
        fs::write(path, bytes).unwrap();
    }

    /// A database with a run of some cases, in which a table's pages refer to each other in circles; and the run.
    fn in_circles(table: &str) -> (TempDir, Store, RunKey) {
        let (folder, store) = database();
        let path = folder.path().join("scores.db");
        let mut writer = writer(store, "r", &["a"]);
        for ordinal in 0..20 {
            added(&mut writer, &case(ordinal, &ordinal.to_string()));
        }
        let run = writer.run().key;
        drop(writer);
        lead_in_circles(&path, table);
        let store = Store::open_read_only(&path).unwrap();
        (folder, store, run)
    }

    #[test]
    fn a_small_file_that_looks_like_rows_without_end_is_damaged() {
        let (_folder, store, run) = in_circles("cases");
        let error = store.case_count(run).unwrap_err();
        assert!(error.to_string().ends_with(TOO_MUCH), "{error}");
    }

    /// Long before the limit on steps, because each row is kept or examined.
    #[test]
    fn rows_that_come_again_are_damage() {
        let (_folder, store, run) = in_circles("cases");
        let mut contents = 0;
        let root = store.run_root(run, |_, _| {
            contents += 1;
            Ok(Digest::of(b""))
        });
        let (_folder, store, _) = in_circles("scorers");
        let counts = store.counts(&ScoreFilter::default());
        for error in [root.unwrap_err(), counts.unwrap_err()] {
            assert!(error.to_string().ends_with(OUT_OF_ORDER), "{error}");
        }
        assert_eq!(contents, 20);
    }

    #[test]
    fn a_reading_within_another_has_no_more_steps_than_that_one() {
        let (_folder, store) = database();
        let endless = "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)
                       SELECT count(*) FROM c";
        let read = || store.conn.query_row(endless, [], |row| row.get::<_, i64>(0));
        let outer = store.within(2_000_000, || {
            let inner = store.within(1_000_000, read);
            assert!(inner.is_err());
            assert!(store.effort.0.load(Ordering::Relaxed) <= 1_000_000, "what it took counts");
            store.within(u64::MAX, read)
        });
        assert!(outer.is_err());
        assert_eq!(store.effort.0.load(Ordering::Relaxed), u64::MAX);
    }
}
