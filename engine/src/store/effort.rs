//! A bound on how long one statement may read: a damaged or hostile file can lead through its pages in
//! circles, so that a few kilobytes look like rows without end. Reads nothing itself.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use rusqlite::Connection;

use super::{Store, StoreError};

/// What is wrong with a file whose reading goes beyond the bound.
pub(super) const TOO_MUCH: &str =
    "reading it takes more steps than a database of its size can need";

/// Steps of SQLite's machine between two looks at the bound.
const STEPS_PER_LOOK: i32 = 10_000;
/// Steps that a statement may take for each byte of the file. A row takes some 100 steps, in the widest
/// statement, and has 20 bytes or more.
const STEPS_PER_BYTE: u64 = 64;
/// Steps that every statement may take: some seconds.
const STEPS_AT_LEAST: u64 = 100_000_000;

/// The steps that are left to the statement that runs; without end where none is bounded.
#[derive(Debug)]
pub(super) struct Effort(Arc<AtomicU64>);

impl Effort {
    /// Has the connection count its steps.
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

impl Store {
    /// Runs a reading that passes over many rows, within the steps that a file of this size can need.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] where it takes more; what `read` returns.
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
        let steps = self.told(pages())?.saturating_mul(STEPS_PER_BYTE).max(STEPS_AT_LEAST);
        let left = &self.effort.0;
        // A reading inside another one counts for both.
        let outer = left.load(Ordering::Relaxed);
        left.store(steps.min(outer), Ordering::Relaxed);
        let read = read();
        let taken = steps.min(outer).saturating_sub(left.load(Ordering::Relaxed));
        let rest = if outer == u64::MAX { outer } else { outer.saturating_sub(taken) };
        left.store(rest, Ordering::Relaxed);
        self.told(read)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rusqlite::Connection;

    use super::{super::sample::*, *};

    /// A page of a table's tree (SQLite's file format, section 1.6) that leads to page `child` some hundred
    /// times.
    fn page_of_pointers(child: u32, bytes: usize) -> Vec<u8> {
        // A cell is a page's number and the greatest key below it: 2^63 - 1.
        let pointer = [&child.to_be_bytes()[..], &[0xBF], &[0xFF; 8]].concat();
        let (cells, cell) = (bytes / 7, bytes - pointer.len());
        let mut page = vec![0; bytes];
        page[0] = 5;
        page[3..5].copy_from_slice(&(cells as u16).to_be_bytes());
        page[5..7].copy_from_slice(&(cell as u16).to_be_bytes());
        page[8..12].copy_from_slice(&child.to_be_bytes());
        for place in page[12..12 + 2 * cells].chunks_mut(2) {
            place.copy_from_slice(&(cell as u16).to_be_bytes());
        }
        page[cell..].copy_from_slice(&pointer);
        page
    }

    #[test]
    fn a_small_file_that_looks_like_rows_without_end_is_damaged() {
        let (folder, store) = database();
        let path = folder.path().join("scores.db");
        let mut writer = writer(store, "r", &["a"]);
        for ordinal in 0..200 {
            added(&mut writer, &case(ordinal, &ordinal.to_string()));
        }
        let run = writer.run().key;
        drop(writer);
        let conn = Connection::open(&path).unwrap();
        let number = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap();
        let root = number("SELECT rootpage FROM sqlite_schema WHERE name = 'cases'");
        let (pages, size) = (number("PRAGMA page_count"), number("PRAGMA page_size") as usize);
        drop(conn);
        let mut bytes = fs::read(&path).unwrap();
        let at = |page: u32| (page as usize - 1) * size;
        let leaf = u32::from_be_bytes(bytes[at(root) + 8..][..4].try_into().unwrap());
        // Four pages, each of which leads to the next some hundred times, and the last to some rows.
        for level in 1..=4 {
            let next = if level == 4 { leaf } else { pages + level + 1 };
            bytes.extend(page_of_pointers(next, size));
        }
        let (start, end) = (at(root), at(root) + size);
        bytes[start..end].copy_from_slice(&page_of_pointers(pages + 1, size));
        bytes[28..32].copy_from_slice(&(pages + 4).to_be_bytes());
        fs::write(&path, bytes).unwrap();

        let error = Store::open_read_only(&path).unwrap().case_count(run).unwrap_err();
        assert!(error.to_string().ends_with(TOO_MUCH), "{error}");
    }
}
