//! What a writer stores, keeps and refuses. It kills no process; see `durability_tests`.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use super::{super::sample::*, *};
use crate::{
    advice::{self, Advice, Advised as _},
    contract::{Assertion, LogLevel, LogLine},
    row::{Answer, Json, Status},
    store::{Outcome, ScoreFilter, StoredCase},
};

/// The answers of all rows.
fn answers(writer: &RunWriter) -> Vec<Answer> {
    let rows = writer.store().scores(&ScoreFilter::default(), None, 100).unwrap();
    rows.into_iter().map(|record| record.row.answer).collect()
}

fn text(json: &Option<Json>) -> Option<&str> {
    json.as_ref().map(Json::get)
}

#[test]
fn every_outcome_is_stored_as_what_it_is() {
    let (_folder, store) = database();
    let mut writer = writer(store, "r", &["a", "b", "c", "d"]);
    let key = added(&mut writer, &case(0, "x"));
    let assertions = [Assertion {
        name: "equal".into(),
        score: 1.0,
        severity: None,
        threshold: None,
        reason: None,
    }];
    let log = [LogLine { level: LogLevel::Warn, message: "odd".into() }];
    let outcomes = [
        Outcome::Scored {
            score: 0.5,
            label: Some("C"),
            reason: Some("half"),
            meta: Some("{}"),
            assertions: &assertions,
        },
        Outcome::NotApplicable { label: None, reason: Some("no truth"), meta: None },
        Outcome::Skipped { reason: Some("sampling") },
        Outcome::Error { kind: "trap", message: "unreachable", reason: None },
    ];
    for (scorer, outcome) in writer.run().scorers.clone().into_iter().zip(outcomes) {
        assert!(writer.add_score(key, scorer, &NewScore { log: &log, ..row(outcome) }).unwrap());
    }

    let rows = answers(&writer);
    let statuses: Vec<_> = rows.iter().map(|row| row.status).collect();
    let all = [Status::Scored, Status::NotApplicable, Status::Skipped, Status::Error];
    assert_eq!(statuses, all);
    assert_eq!(rows[0].score, Some(0.5));
    assert_eq!(text(&rows[0].assertions), Some(r#"[{"name":"equal","score":1.0}]"#));
    assert_eq!(text(&rows[0].log), Some(r#"[{"level":"warn","message":"odd"}]"#));
    assert_eq!(rows[1].reason.as_deref(), Some("no truth"));
    assert_eq!(rows[3].error.as_ref().unwrap().message, "unreachable");
    assert_eq!((rows[0].fuel, rows[0].memory_bytes), (Some(1000), Some(65536)));
}

#[test]
fn a_row_that_is_there_is_never_overwritten() {
    let (_folder, store) = database();
    let mut writer = writer(store, "r", &["a"]);
    let scorer = writer.run().scorers[0];
    let key = added(&mut writer, &case(0, "x"));
    assert!(writer.add_score(key, scorer, &scored(1.0)).unwrap());
    assert!(!writer.add_score(key, scorer, &scored(0.0)).unwrap());
    writer.commit().unwrap();
    assert!(!writer.add_score(key, scorer, &error()).unwrap());
    assert_eq!(answers(&writer)[0].score, Some(1.0));
}

#[test]
fn a_number_that_is_not_a_score_is_an_error_and_not_a_missing_row() {
    let (_folder, store) = database();
    let mut writer = writer(store, "r", &["a"]);
    let scorer = writer.run().scorers[0];
    let key = added(&mut writer, &case(0, "x"));
    for bad in [f64::NAN, f64::INFINITY, -0.1] {
        let refused = writer.add_score(key, scorer, &scored(bad));
        assert!(matches!(refused, Err(StoreError::Rejected { .. })), "{bad}");
    }
    assert!(writer.add_score(key, scorer, &scored(0.0)).unwrap(), "the batch continues");
}

#[test]
fn cases_and_scorers_of_another_run_are_refused() {
    let (folder, store) = database();
    let mut one = writer(store, "one", &["a"]);
    let key = added(&mut one, &case(0, "x"));
    let scorer = one.run().scorers[0];
    drop(one);
    let store = Store::open(folder.path().join("scores.db")).unwrap();
    let mut two = writer(store, "two", &["a"]);
    let other = two.run().scorers[0];
    assert!(two.add_score(key, other, &scored(1.0)).is_err());
    let own = added(&mut two, &case(0, "x"));
    assert!(two.add_score(own, scorer, &scored(1.0)).is_err());
    assert!(two.add_score(own, other, &scored(1.0)).unwrap());
}

#[test]
fn others_see_a_batch_when_it_is_committed_and_not_before() {
    let (folder, store) = database();
    let mut writer = writer(store, "r", &["a"]);
    let reader = Store::open_read_only(folder.path().join("scores.db")).unwrap();
    let run = writer.run().key;
    added(&mut writer, &case(0, "x"));
    assert_eq!(reader.stored_case(run, "x", 0, 0).unwrap(), None);
    writer.commit().unwrap();
    assert!(matches!(reader.stored_case(run, "x", 0, 0).unwrap(), Some(StoredCase { .. })));
}

#[test]
fn a_writer_that_is_dropped_keeps_its_rows_and_its_run_can_be_resumed() {
    let (folder, store) = database();
    let mut writer = writer(store, "r", &["a"]);
    added(&mut writer, &case(0, "x"));
    let run = writer.run().key;
    drop(writer);
    let store = Store::open(folder.path().join("scores.db")).unwrap();
    assert!(store.stored_case(run, "x", 0, 0).unwrap().is_some());
    assert_eq!(store.run("r").unwrap().state, RunState::Running);
}

#[test]
fn a_run_says_how_it_ended_until_it_is_resumed() {
    let (folder, store) = database();
    let mut writer = writer(store, "r", &["a"]);
    assert!(writer.finish(RunState::Running, None, 5).is_err());
    writer.finish(RunState::Interrupted, Some("Ctrl-C"), 5).unwrap();
    let run = writer.store().run("r").unwrap();
    assert_eq!((run.state, run.finished_at_ms), (RunState::Interrupted, Some(5)));
    assert_eq!(run.state_reason.as_deref(), Some("Ctrl-C"));
    drop(writer);

    let store = Store::open(folder.path().join("scores.db")).unwrap();
    let resumed = store.resume_run("r", &session()).unwrap();
    let mut writer = RunWriter::new(store, resumed);
    added(&mut writer, &case(0, "x"));
    let run = writer.store().run("r").unwrap();
    assert_eq!((run.state, run.finished_at_ms), (RunState::Running, None));
    assert_eq!((run.state_reason, run.root), (None, None));
}

#[test]
fn a_resumed_session_that_writes_nothing_changes_nothing() {
    let (folder, store) = database();
    let path = folder.path().join("scores.db");
    let mut first = writer(store, "r", &["a"]);
    added(&mut first, &case(0, "x"));
    first.finish(RunState::Finished, None, 5).unwrap();
    let ended = first.store().run("r").unwrap();
    drop(first);
    let bytes = std::fs::read(&path).unwrap();

    let store = Store::open(&path).unwrap();
    let resumed = store.resume_run("r", &session()).unwrap();
    let mut writer = RunWriter::new(store, resumed);
    assert!(matches!(writer.add_case(&case(0, "x")).unwrap(), CaseAdded::Known(_)));
    assert!(matches!(writer.add_case(&case(1, "x")).unwrap(), CaseAdded::Duplicate { .. }));
    let edited = NewCase { digest: Digest::of(b"edited"), ..case(0, "x") };
    assert!(matches!(writer.add_case(&edited).unwrap(), CaseAdded::Changed { .. }));
    writer.commit().unwrap();
    assert!(!writer.has_written());
    assert_eq!(writer.store().run("r").unwrap(), ended);
    drop(writer);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

/// Writers of one run that two sessions write at the same time, until one of them finishes it.
fn two_writers() -> (tempfile::TempDir, RunWriter, RunWriter) {
    let (folder, store) = database();
    let first = writer(store, "r", &["a"]).until_finished();
    let store = Store::open(folder.path().join("scores.db")).unwrap();
    let resumed = store.resume_run("r", &session()).unwrap();
    (folder, first, RunWriter::new(store, resumed).until_finished())
}

fn add(writer: &mut RunWriter) -> Result<bool, StoreError> {
    let key = match writer.add_case(&case(0, "x"))? {
        CaseAdded::New(key) | CaseAdded::Known(key) => key,
        other => panic!("{other:?}"),
    };
    writer.add_score(key, writer.run().scorers[0], &scored(1.0))
}

#[test]
fn the_root_of_a_run_that_one_of_two_sessions_finished_stays_the_stored_one() {
    let (_folder, mut first, mut second) = two_writers();
    assert!(add(&mut first).unwrap());
    first.commit().unwrap();
    assert!(!add(&mut second).unwrap());
    second.commit().unwrap();
    let root = first.finish(RunState::Finished, None, 5).unwrap();
    let ended = first.store().run("r").unwrap();

    let refused = second.finish(RunState::Finished, None, 6).unwrap_err();
    assert!(matches!(&refused, StoreError::Finished { id, .. } if id == "r"), "{refused}");
    assert_eq!(refused.advice(), Some(Advice::Database(advice::Database::Verify)));
    assert!(matches!(second.hold(), Err(StoreError::Finished { .. })));
    assert!(matches!(add(&mut second), Err(StoreError::Finished { .. })));
    drop(second);
    assert_eq!(first.store().run("r").unwrap(), ended);
    let content_digest = |store: &Store, key| Ok(store.case_content(key)?.digest);
    let now = first.store().run_root(first.run().key, content_digest).unwrap();
    assert_eq!((ended.root, now), (Some(root), root));
}

#[test]
fn a_session_whose_first_row_comes_after_the_run_was_finished_leaves_no_trace() {
    let (_folder, mut first, mut second) = two_writers();
    assert!(add(&mut first).unwrap());
    first.finish(RunState::Finished, None, 5).unwrap();
    let ended = first.store().run("r").unwrap();

    assert!(matches!(add(&mut second), Err(StoreError::Finished { .. })));
    assert!(matches!(second.add_case(&case(1, "y")), Err(StoreError::Finished { .. })));
    assert!(!second.has_written());
    assert_eq!(first.store().run("r").unwrap(), ended);
    // The file is not locked.
    assert!(first.hold().is_err());
    first.store().conn.execute_batch("BEGIN IMMEDIATE; COMMIT").unwrap();
}

#[test]
fn a_batch_that_is_held_keeps_other_sessions_from_writing() {
    let (_folder, mut first, second) = two_writers();
    first.hold().unwrap();
    second.store().conn.busy_timeout(std::time::Duration::ZERO).unwrap();
    let waits = second.store().conn.execute_batch("BEGIN IMMEDIATE").unwrap_err();
    assert_eq!(waits.sqlite_error_code(), Some(rusqlite::ErrorCode::DatabaseBusy));
    first.commit().unwrap();
    second.store().conn.execute_batch("BEGIN IMMEDIATE; COMMIT").unwrap();
}

#[test]
fn rows_that_are_not_there_at_the_end_are_missed() {
    let (folder, store) = database();
    let mut writer = writer(store, "r", &["a"]);
    let key = added(&mut writer, &case(0, "x"));
    writer.add_score(key, writer.run().scorers[0], &scored(1.0)).unwrap();
    writer.commit().unwrap();
    let other = rusqlite::Connection::open(folder.path().join("scores.db")).unwrap();
    other.execute("DELETE FROM score_rows", []).unwrap();
    let error = writer.finish(RunState::Finished, None, 5).unwrap_err();
    let expected = "has 0 score rows of this run, and 1 were written: rows were lost";
    assert!(error.to_string().ends_with(expected), "{error}");
}

#[test]
fn rows_that_went_with_a_batch_of_which_sqlite_says_nothing_are_missed() {
    let (_folder, store) = database();
    let mut writer = writer(store, "r", &["a"]);
    let scorer = writer.run().scorers[0];
    for (ordinal, id) in [(0, "x"), (1, "y")] {
        let key = added(&mut writer, &case(ordinal, id));
        writer.add_score(key, scorer, &scored(1.0)).unwrap();
        if id == "x" {
            writer.commit().unwrap();
        }
    }
    // As SQLite does it when the disk fails.
    writer.store().conn.execute_batch("ROLLBACK").unwrap();
    let error = writer.finish(RunState::Finished, None, 5).unwrap_err();
    let expected = "has 1 score rows of this run, and 2 were written: rows were lost";
    assert!(error.to_string().ends_with(expected), "{error}");
}

/// A writer with a committed first batch, after which another connection may have written, and one more case in its
/// second batch.
fn in_its_second_batch(another_writes: bool) -> (tempfile::TempDir, RunWriter, CaseKey) {
    let (folder, store) = database();
    let mut writer = writer(store, "r", &["a"]);
    added(&mut writer, &case(0, "x"));
    writer.commit().unwrap();
    if another_writes {
        let mut other = Store::open(folder.path().join("scores.db")).unwrap();
        other.create_run(&run("s"), &[scorer("a")], &session()).unwrap();
    }
    let key = added(&mut writer, &case(1, "y"));
    (folder, writer, key)
}

fn add_row(writer: &mut RunWriter, case: CaseKey) -> Result<bool, StoreError> {
    writer.add_score(case, writer.run().scorers[0], &scored(1.0))
}

#[test]
fn a_row_of_a_case_that_went_with_its_batch_is_refused() {
    let (_folder, mut writer, key) = in_its_second_batch(false);
    // As SQLite does it when the disk fails.
    writer.store().conn.execute_batch("ROLLBACK").unwrap();
    let refused = add_row(&mut writer, key).unwrap_err();
    assert!(refused.to_string().contains("FOREIGN KEY constraint failed"), "{refused}");
}

#[test]
fn what_rows_refer_to_is_looked_up_for_each_if_another_connection_writes() {
    for another_writes in [false, true] {
        let (_folder, mut writer, key) = in_its_second_batch(another_writes);
        let without_its_case = "DELETE FROM cases WHERE case_id = 'y'";
        writer.store().conn.execute(without_its_case, []).unwrap();
        assert_eq!(add_row(&mut writer, key).is_err(), another_writes);
    }
}

#[test]
fn a_session_that_was_alone_ends_without_a_pass_over_its_rows() {
    let steps = |cases: u64, another_writes: bool| {
        let (folder, store) = database();
        let mut writer = writer(store, "r", &["a"]);
        for ordinal in 0..cases {
            let key = added(&mut writer, &case(ordinal, &format!("case {ordinal}")));
            writer.add_score(key, writer.run().scorers[0], &scored(1.0)).unwrap();
        }
        writer.commit().unwrap();
        if another_writes {
            let mut other = Store::open(folder.path().join("scores.db")).unwrap();
            other.create_run(&run("s"), &[scorer("a")], &session()).unwrap();
        }
        let steps = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&steps);
        let count = move || counted.fetch_add(1, Ordering::Relaxed) == u64::MAX;
        writer.store.conn.progress_handler(1, Some(count)).unwrap();
        writer.finish(RunState::Finished, None, 5).unwrap();
        steps.load(Ordering::Relaxed)
    };
    assert_eq!(steps(10, false), steps(500, false));
    assert!(steps(10, true) + 490 < steps(500, true));
}

/// What was committed before is in the file that was moved; a reader of the path would not find what comes.
#[test]
#[cfg(unix)]
fn a_database_that_is_not_at_its_path_any_more_is_noticed_at_the_next_commit() {
    use std::fs;

    let moves: [fn(&std::path::Path); 3] = [
        |path| fs::remove_file(path).unwrap(),
        |path| fs::rename(path, path.with_file_name("moved.db")).unwrap(),
        |path| {
            fs::rename(path, path.with_file_name("moved.db")).unwrap();
            fs::copy(path.with_file_name("moved.db"), path).unwrap();
        },
    ];
    for moves in moves {
        let (folder, store) = database();
        let mut writer = writer(store, "r", &["a"]);
        added(&mut writer, &case(0, "x"));
        writer.commit().unwrap();
        moves(&folder.path().join("scores.db"));
        for _ in 0..2 {
            let moved = writer.commit().unwrap_err();
            assert!(matches!(moved, StoreError::Moved { .. }), "{moved}");
        }
        added(&mut writer, &case(1, "y"));
        let ended = writer.finish(RunState::Finished, None, 0);
        assert!(matches!(ended, Err(StoreError::Moved { .. })), "{ended:?}");
    }
}
