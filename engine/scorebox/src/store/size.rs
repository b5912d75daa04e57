//! The size of a run: the bytes of its cases and score rows, counted as they are written, or by reading them. It does
//! not count SQLite's overhead (indexes, pages that are not full), nor the components, which runs share.

use std::sync::LazyLock;

use rusqlite::types::ValueRef;

use super::{CaseKey, RunKey, ScorerKey, Store, StoreError, case_columns};

/// The bytes of a case or a row without its texts and digests: its keys, its numbers and the header that locates each
/// value.
const FIXED_BYTES: u64 = 64;

/// The texts and digests of a score row.
const ROW_COLUMNS: [&str; 9] = [
    "status",
    "error_kind",
    "error_message",
    "label",
    "reason",
    "meta_json",
    "assertions_json",
    "log_json",
    "input_digest",
];

/// The bytes of a case or a row with these values.
pub(super) fn of_values<'a>(values: impl IntoIterator<Item = ValueRef<'a>>) -> u64 {
    let bytes = values.into_iter().map(|value| match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len() as u64,
        _ => 0,
    });
    bytes.fold(FIXED_BYTES, u64::saturating_add)
}

/// The same in SQL.
fn of_columns<'a>(columns: impl IntoIterator<Item = &'a str>) -> String {
    let bytes = columns.into_iter().map(|column| {
        format!(" + iif(typeof({column}) IN ('text', 'blob'), octet_length({column}), 0)")
    });
    format!("{FIXED_BYTES}{}", bytes.collect::<String>())
}

static OF_A_ROW: LazyLock<String> = LazyLock::new(|| {
    let bytes = of_columns(ROW_COLUMNS);
    format!("SELECT {bytes} FROM score_rows WHERE case_key = ?1 AND scorer = ?2")
});

/// `total`, not `sum`, which fails if the numbers of a foreign database are too large.
static OF_A_RUN: LazyLock<String> = LazyLock::new(|| {
    let (case, row) = (of_columns(case_columns::all()), of_columns(ROW_COLUMNS));
    format!(
        "SELECT (SELECT total({case}) FROM cases WHERE case_key BETWEEN ?1 AND ?2)
              + (SELECT total({row}) FROM score_rows WHERE case_key BETWEEN ?1 AND ?2)"
    )
});

impl Store {
    /// The bytes of a row that is stored.
    pub(super) fn row_size(&self, case: CaseKey, scorer: ScorerKey) -> rusqlite::Result<u64> {
        let mut query = self.conn.prepare_cached(&OF_A_ROW)?;
        query.query_row((case, scorer), |row| row.get::<_, i64>(0)).map(i64::unsigned_abs)
    }

    /// The bytes of all cases and rows of a run, for which it reads them all.
    pub(super) fn size_of_run(&self, run: RunKey) -> Result<u64, StoreError> {
        let bounds = CaseKey::bounds(run);
        // A float saturates, and is exact up to 2^53.
        self.bounded(|| self.conn.query_row(&OF_A_RUN, bounds, |row| row.get::<_, f64>(0)))
            .map(|bytes| bytes as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{ReuseIndex, RunState, RunWriter, ScoreFilter, sample::*},
        *,
    };
    use crate::digest::Digest;

    fn size(store: &Store, id: &str) -> Option<u64> {
        store.run(id).unwrap().size_bytes
    }

    fn read_over(store: &Store, id: &str) -> Option<u64> {
        Some(store.size_of_run(store.run(id).unwrap().key).unwrap())
    }

    fn scored_with(input: &str) -> super::super::NewScore<'static> {
        super::super::NewScore { input_digest: Some(Digest::of(input.as_bytes())), ..scored(0.5) }
    }

    #[test]
    fn the_size_that_was_counted_while_writing_is_the_one_of_what_is_stored() {
        let (folder, store) = database();
        let mut writer = writer(store, "r", &["a", "b"]);
        for ordinal in 0..3 {
            let key = added(&mut writer, &case(ordinal, &format!("näme-{ordinal}")));
            let scorers = writer.run().scorers.clone();
            writer.add_score(key, scorers[0], &scored_with("x")).unwrap();
            writer.add_score(key, scorers[1], &error()).unwrap();
            // A row that exists already counts once.
            writer.add_score(key, scorers[1], &error()).unwrap();
        }
        assert_eq!(size(writer.store(), "r"), None, "it has not ended");
        writer.finish(RunState::Finished, None, 1).unwrap();
        let counted = size(writer.store(), "r");
        assert!(counted > Some(9 * FIXED_BYTES), "{counted:?}");
        assert_eq!(counted, read_over(writer.store(), "r"));
        drop(folder);
    }

    #[test]
    fn a_resumed_run_has_the_size_of_all_its_rows_and_none_while_it_is_written() {
        let (folder, store) = database();
        let mut first = writer(store, "r", &["a"]);
        let scorer = first.run().scorers[0];
        let keys: Vec<CaseKey> =
            (0..2).map(|n| added(&mut first, &case(n, &n.to_string()))).collect();
        first.add_score(keys[0], scorer, &scored(0.25)).unwrap();
        first.finish(RunState::Interrupted, None, 1).unwrap();
        let before = size(first.store(), "r").unwrap();
        drop(first);
        let store = Store::open(folder.path().join("scores.db")).unwrap();
        let run = store.resume_run("r", &session()).unwrap();
        let mut second = RunWriter::new(store, run);
        second.add_score(keys[1], scorer, &scored(0.5)).unwrap();
        assert_eq!(size(second.store(), "r"), None);
        second.finish(RunState::Finished, None, 2).unwrap();
        let after = size(second.store(), "r");
        assert!(after >= Some(before + FIXED_BYTES), "{before} {after:?}");
        assert_eq!(after, read_over(second.store(), "r"));
    }

    #[test]
    fn a_copied_row_counts_as_much_as_the_one_that_it_is_a_copy_of() {
        let (folder, store) = database();
        let path = folder.path().join("scores.db");
        let mut old = writer(store, "old", &["a"]);
        let key = added(&mut old, &case(0, "x"));
        old.add_score(key, old.run().scorers[0], &scored_with("x")).unwrap();
        old.finish(RunState::Finished, None, 1).unwrap();
        drop(old);
        let mut store = Store::open(&path).unwrap();
        let run = store.create_run(&run("new"), &[scorer("a")], &session()).unwrap();
        let index = ReuseIndex::new(Store::open_read_only(&path).unwrap(), &run, "48.0.8").unwrap();
        let mut new = RunWriter::new(store, run);
        let key = added(&mut new, &case(0, "x"));
        let scorer = new.run().scorers[0];
        let from = index.find(scorer, Digest::of(b"x")).unwrap().unwrap();
        new.reuse_score(key, scorer, from).unwrap();
        new.finish(RunState::Finished, None, 1).unwrap();
        assert_eq!(size(new.store(), "new"), read_over(new.store(), "new"));
        assert_eq!(size(new.store(), "new"), size(new.store(), "old"));
    }

    #[test]
    fn a_run_of_which_a_part_is_removed_has_no_size() {
        let (_folder, store) = database();
        let mut writer = writer(store, "r", &["a"]);
        let scorer = writer.run().scorers[0];
        let keys: Vec<CaseKey> =
            (0..9).map(|n| added(&mut writer, &case(n, &n.to_string()))).collect();
        for key in keys {
            writer.add_score(key, scorer, &scored(0.5)).unwrap();
        }
        writer.finish(RunState::Finished, None, 1).unwrap();
        let run = writer.run().key;
        assert!(size(writer.store(), "r").is_some());
        // The state after a removal that ended early.
        writer.store().set_state(run, RunState::Stopped, None, Some(2)).unwrap();
        assert_eq!(size(writer.store(), "r"), None);
        let filter = ScoreFilter { run: Some("r".into()), ..ScoreFilter::default() };
        assert_eq!(writer.store().scores(&filter, None, 99).unwrap().len(), 9);
    }
}
