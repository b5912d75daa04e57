//! Runs that are removed, runs that stay, and the space that is returned.

use std::path::Path;

use super::super::{NewScore, RunWriter, ScoreFilter, sample::*};
use super::*;
use crate::digest::Digest;

/// A finished run of the scorer `a`, with this number of cases.
fn filled(path: &Path, id: &str, cases: u64) {
    let mut writer = writer(Store::open(path).unwrap(), id, &["a"]);
    let scorer = writer.run().scorers[0];
    for ordinal in 0..cases {
        let case_id = ordinal.to_string();
        let key = added(&mut writer, &case(ordinal, &case_id));
        let input = Some(Digest::of(case_id.as_bytes()));
        let score = NewScore { input_digest: input, ..scored(0.5) };
        writer.add_score(key, scorer, &score).unwrap();
    }
    writer.finish(RunState::Finished, None, 1).unwrap();
}

/// A run that copies the score of the case with this id from an earlier one.
fn copy(path: &Path, id: &str, case_id: &str) {
    let mut store = Store::open(path).unwrap();
    let run = store.create_run(&run(id), &[scorer("a")], &session()).unwrap();
    let reader = Store::open_read_only(path).unwrap();
    let index = super::super::ReuseIndex::new(reader, &run, "48.0.8").unwrap();
    let (mine, input) = (run.scorers[0], Digest::of(case_id.as_bytes()));
    let from = index.find(mine, input).unwrap().unwrap();
    let mut writer = RunWriter::new(store, run);
    let key = added(&mut writer, &case(0, case_id));
    assert!(writer.reuse_score(key, mine, from).unwrap());
    writer.finish(RunState::Finished, None, 1).unwrap();
}

fn ids(store: &Store) -> Vec<String> {
    store.runs(9).unwrap().into_iter().map(|run| run.spec.id.to_string()).collect()
}

#[test]
fn a_run_goes_with_all_that_is_its_own_and_nothing_else() {
    let (folder, mut store) = database();
    let path = folder.path().join("scores.db");
    filled(&path, "stays", 3);
    let mut other = writer(Store::open(&path).unwrap(), "goes", &["a", "b"]);
    let key = added(&mut other, &case(0, "x"));
    for scorer in other.run().scorers.clone() {
        other.add_score(key, scorer, &error()).unwrap();
    }
    other.finish(RunState::Interrupted, None, 1).unwrap();
    let before = store.scores(&ScoreFilter { run: Some("stays".into()), ..filter() }, None, 9);

    let mut last = Removed::default();
    let removed = store.remove_runs(&["goes", "goes"], 2, |removed| last = removed).unwrap();
    assert_eq!(removed, Removed { cases: 1, rows: 2, components: 1 });
    assert_eq!(last, removed);
    assert_eq!(ids(&store), ["stays"]);
    assert_eq!(store.scores(&filter(), None, 9).unwrap(), before.unwrap());
    let component = |id| store.component(scorer(id).component_digest).unwrap();
    assert!(component("a").is_some(), "the other run uses it");
    assert!(component("b").is_none());
    for table in ["cases", "scorers", "sessions", "runs"] {
        let sql = format!("SELECT count(DISTINCT run) FROM {table}");
        assert_eq!(store.conn.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
    }
    let missing = store.remove_runs(&["stays", "typo"], 3, |_| {});
    assert!(matches!(missing, Err(StoreError::NoSuchRun { .. })));
    assert_eq!(store.run("stays").unwrap().state, RunState::Finished, "nothing was begun");
}

fn filter() -> ScoreFilter {
    ScoreFilter::default()
}

#[test]
fn a_run_whose_scores_another_run_copied_is_removed_only_with_that_one() {
    let (folder, mut store) = database();
    let path = folder.path().join("scores.db");
    filled(&path, "first", 3);
    copy(&path, "second", "1");
    let run = store.run("first").unwrap();
    assert_eq!(store.copying_runs(run.key).unwrap(), ["second"]);
    let refused = store.remove_runs(&["first"], 2, |_| {}).unwrap_err();
    assert!(matches!(refused, StoreError::Copied { .. }), "{refused}");
    assert_eq!(store.run("first").unwrap(), run, "it is as it was");

    assert_eq!(store.remove_runs(&["first", "second"], 2, |_| {}).unwrap().cases, 4);
    assert_eq!(ids(&store), [""; 0]);
}

#[test]
fn a_run_that_copied_scores_goes_alone() {
    let (folder, mut store) = database();
    let path = folder.path().join("scores.db");
    filled(&path, "first", 3);
    copy(&path, "second", "1");
    store.remove_runs(&["second"], 2, |_| {}).unwrap();
    assert_eq!(ids(&store), ["first"]);
}

#[test]
fn a_score_that_is_copied_meanwhile_stays() {
    let (folder, mut store) = database();
    let path = folder.path().join("scores.db");
    let cases = ROWS_AT_ONCE as u64 + 2;
    filled(&path, "first", cases);
    let late = (cases - 1).to_string();
    let mut copied = false;
    let refused = store.remove_runs(&["first"], 2, |_| {
        if !std::mem::replace(&mut copied, true) {
            copy(&path, "second", &late);
        }
    });
    assert!(matches!(refused, Err(StoreError::Copied { .. })), "{refused:?}");
    let second = ScoreFilter { run: Some("second".into()), ..filter() };
    let rows = store.scores(&second, None, 9).unwrap();
    assert_eq!(rows[0].reused_from, Some(format!("first:a:0:0:{late}")));
    assert_eq!(store.run("first").unwrap().state, RunState::Stopped);
}

#[test]
fn the_space_of_a_run_comes_back() {
    let (folder, mut store) = database();
    let path = folder.path().join("scores.db");
    filled(&path, "stays", 10);
    filled(&path, "goes", 4000);
    let full = store.size().unwrap();
    store.remove_runs(&["goes"], 2, |_| {}).unwrap();
    let emptied = store.size().unwrap();
    assert_eq!(emptied.bytes, full.bytes, "it is kept for later runs");
    assert!(emptied.free_bytes > full.bytes / 2, "{emptied:?}");
    let (before, after) = store.give_back_space().unwrap();
    assert_eq!(before, emptied);
    assert!(after.bytes <= emptied.bytes - emptied.free_bytes, "{after:?}");
    assert_eq!(std::fs::metadata(&path).unwrap().len(), after.bytes);
    assert_eq!(store.score_count(&filter()).unwrap(), 10);
}

#[test]
fn a_damaged_database_does_not_hold_up_a_removal() {
    let (_folder, mut store) = database();
    // A row of a case that does not exist, by a scorer of this run.
    let run = writer(Store::open(store.path()).unwrap(), "r", &["a"]).run().clone();
    store.check_references(false).unwrap();
    let stray =
        "INSERT INTO score_rows (case_key, scorer, status, score, duration_ms, scored_at_ms)
                 VALUES (?1, ?2, 'scored', 1.0, 0.0, 0)";
    store.conn.execute(stray, params![CaseKey::bounds(run.key).0 + 7, run.scorers[0]]).unwrap();
    assert_eq!(store.remove_runs(&["r"], 2, |_| {}).unwrap().rows, 1);
    assert_eq!(store.score_count(&filter()).unwrap(), 0);
}

#[test]
fn a_case_that_only_says_that_it_is_of_the_run_goes_with_it() {
    let (folder, mut store) = database();
    let path = folder.path().join("scores.db");
    filled(&path, "r", 2);
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(
        "PRAGMA ignore_check_constraints = 1;
         PRAGMA foreign_keys = 0;
         UPDATE cases SET case_key = 7 << 40 WHERE ordinal = 0;
         UPDATE score_rows SET case_key = 7 << 40 WHERE case_key = 1 << 40;",
    )
    .unwrap();
    store.remove_runs(&["r"], 2, |_| {}).unwrap();
    let left = "SELECT (SELECT count(*) FROM cases) + (SELECT count(*) FROM score_rows)";
    assert_eq!(conn.query_row(left, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}

#[test]
fn a_run_that_is_being_written_stays() {
    let (folder, mut store) = database();
    let path = folder.path().join("scores.db");
    filled(&path, "r", 3);
    let id: RunId = "r".parse().unwrap();
    let writing = OnlyWriter::take(&path, &id).unwrap();
    assert!(store.is_being_written(&id));
    let refused = store.remove_runs(&["r"], 2, |_| {});
    assert!(matches!(refused, Err(StoreError::InUse { id, .. }) if id == "r"));
    assert_eq!(ids(&store), ["r"]);
    drop(writing);
    assert!(!store.is_being_written(&id));
    store.remove_runs(&["r"], 2, |_| {}).unwrap();
    assert_eq!(ids(&store), [""; 0]);
}
