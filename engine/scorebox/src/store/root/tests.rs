//! What a root covers, and that it does not depend on how a run was computed.

use std::path::Path;

use rusqlite::Connection;

use crate::judge::ScoreCall;

use super::{
    super::{NewScore, NewSummary, Outcome, ReuseIndex, RunState, RunWriter, sample::*},
    *,
};

/// A run of two scorers that ended: two cases with an error among their rows, and a summary.
fn ended(path: &Path, id: &str) -> Digest {
    let store = Store::open(path).unwrap();
    let mut writer = writer(store, id, &["a", "b"]);
    for ordinal in 0..2 {
        let name = format!("case-{ordinal}");
        let key = added(&mut writer, &case(ordinal, &name));
        let scorers = writer.run().scorers.clone();
        let calls = [ScoreCall::new(Digest::of(b"call"), Digest::of(b"reply"), false)];
        let input_digest = Some(Digest::of(b"input"));
        let score = NewScore { input_digest, calls: &calls, ..scored(0.5) };
        writer.add_score(key, scorers[1], &score).unwrap();
        writer.add_score(key, scorers[0], &error()).unwrap();
    }
    let summary =
        NewSummary { result: Ok("{}"), fuel: None, duration_ms: 0.5, computed_at_ms: 1, log: &[] };
    writer.put_summary(writer.run().scorers[0], &summary).unwrap();
    writer.finish(RunState::Finished, None, 1_700_000_000_009).unwrap()
}

/// The root from the database, with the stored digests of contents.
fn root(store: &Store, id: &str) -> Digest {
    let run = store.run(id).unwrap().key;
    let tree = store.cases_root(run, VERSION, |_, stored| Ok(stored)).unwrap();
    store.root_over(run, VERSION, store.row_count(run).unwrap(), tree).unwrap()
}

#[test]
fn the_root_that_grew_with_the_rows_is_the_one_of_the_rows_that_are_stored() {
    let (folder, _) = database();
    let path = folder.path().join("scores.db");
    let grown = ended(&path, "r");
    let store = Store::open_read_only(&path).unwrap();
    assert_eq!(root(&store, "r"), grown);
    assert_eq!(store.run("r").unwrap().root, Some(grown));
}

#[test]
fn a_run_that_was_interrupted_has_a_root_over_what_is_there() {
    let (_folder, store) = database();
    let mut writer = writer(store, "r", &["a", "b"]);
    let scorers = writer.run().scorers.clone();
    for ordinal in 0..5 {
        let key = added(&mut writer, &case(ordinal, &ordinal.to_string()));
        for scorer in &scorers[..ordinal as usize % 3] {
            writer.add_score(key, *scorer, &scored(1.0)).unwrap();
        }
    }
    let grown = writer.finish(RunState::Interrupted, None, 1).unwrap();
    assert_eq!(root(writer.store(), "r"), grown);
}

#[test]
fn a_resumed_run_has_the_root_of_all_its_rows() {
    let (folder, store) = database();
    let mut first = writer(store, "r", &["a"]);
    let scorer = first.run().scorers[0];
    let keys: Vec<CaseKey> = (0..3).map(|n| added(&mut first, &case(n, &n.to_string()))).collect();
    first.add_score(keys[1], scorer, &scored(0.25)).unwrap();
    drop(first);
    let store = Store::open(folder.path().join("scores.db")).unwrap();
    let run = store.resume_run("r", &session()).unwrap();
    let mut second = RunWriter::new(store, run);
    for key in [keys[2], keys[0]] {
        second.add_score(key, scorer, &scored(0.5)).unwrap();
    }
    let finished = second.finish(RunState::Finished, None, 1).unwrap();
    assert_eq!(root(second.store(), "r"), finished);
}

#[test]
fn a_reused_row_counts_as_the_copy_that_it_is() {
    let (folder, _) = database();
    let path = folder.path().join("scores.db");
    ended(&path, "old");
    let mut store = Store::open(&path).unwrap();
    let run = store.create_run(&run("new"), &[scorer("b")], &session()).unwrap();
    let index = ReuseIndex::new(Store::open_read_only(&path).unwrap(), &run, "48.0.8").unwrap();
    let mut writer = RunWriter::new(store, run);
    let key = added(&mut writer, &case(0, "x"));
    let scorer = writer.run().scorers[0];
    let from = index.find(scorer, Digest::of(b"input")).unwrap().unwrap();
    assert!(writer.reuse_score(key, scorer, from).unwrap());
    let grown = writer.finish(RunState::Finished, None, 1).unwrap();
    assert_eq!(root(writer.store(), "new"), grown);
}

#[test]
fn minus_zero_is_the_zero_that_is_stored() {
    let (_folder, store) = database();
    let mut writer = writer(store, "r", &["a"]);
    let key = added(&mut writer, &case(0, "x"));
    let zero =
        Outcome::Scored { score: -0.0, label: None, reason: None, meta: None, assertions: &[] };
    writer.add_score(key, writer.run().scorers[0], &row(zero)).unwrap();
    let grown = writer.finish(RunState::Finished, None, 1).unwrap();
    assert_eq!(root(writer.store(), "r"), grown);
}

/// Columns that a root leaves out on purpose.
const LEFT_OUT: &[(&str, &str)] = &[
    // Internal numbers, which could differ in another database.
    ("runs", "run"),
    ("scorers", "scorer"),
    ("scorers", "run"),
    ("sessions", "session"),
    ("sessions", "run"),
    ("cases", "case_key"),
    // The key contains it too; a row that disagrees is damage.
    ("cases", "run"),
    ("score_rows", "case_key"),
    ("score_rows", "scorer"),
    ("score_rows", "session"),
    ("summaries", "scorer"),
    // The root itself.
    ("runs", "root"),
    ("runs", "root_version"),
    // It follows from the cases and rows; verifying counts only their bytes again.
    ("runs", "size_bytes"),
    // Calls count with the row of their key, and recordings through the digest of the answer, which is computed again
    // when a recording is read.
    ("score_calls", "case_key"),
    ("score_calls", "scorer"),
    // Their order counts.
    ("score_calls", "place"),
    // What was paid for says nothing about a score.
    ("run_calls", "scorer"),
    ("run_calls", "digest"),
    ("run_calls", "reply_digest"),
    ("run_calls", "times"),
    ("calls", "call"),
    ("calls", "digest"),
    ("calls", "reply_digest"),
    ("calls", "call_json"),
    ("calls", "reply_json"),
    ("calls", "model"),
    ("calls", "input_tokens"),
    ("calls", "output_tokens"),
    ("calls", "cost_usd"),
    ("calls", "latency_ms"),
    ("calls", "attempts"),
    ("calls", "answered_at_ms"),
    // Their digest counts, and is computed again when a root is compared.
    ("cases", "input"),
    ("cases", "output"),
    ("cases", "ground_truth"),
    ("cases", "context"),
    ("cases", "output_schema"),
    ("cases", "trace"),
    ("cases", "metadata"),
    ("cases", "baseline"),
    // Their digest counts, and is used to find the component.
    ("components", "component"),
    ("components", "digest"),
    ("components", "bytes"),
];

#[test]
fn a_change_of_any_column_changes_the_root() {
    let (folder, _) = database();
    let path = folder.path().join("scores.db");
    let before = ended(&path, "r");
    let conn = Connection::open(&path).unwrap();
    let names = |sql: &str| -> Vec<String> {
        let mut query = conn.prepare(sql).unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let mut compared = 0;
    for table in names("SELECT name FROM sqlite_schema WHERE type = 'table'") {
        for column in names(&format!("SELECT name FROM pragma_table_info('{table}')")) {
            if LEFT_OUT.contains(&(&table, &column)) {
                continue;
            }
            // The tables' rules do not stop someone who edits the file.
            conn.execute_batch(
                "PRAGMA ignore_check_constraints = 1; PRAGMA foreign_keys = 0; BEGIN",
            )
            .unwrap();
            let change = format!(
                "UPDATE {table} SET {column} = CASE typeof({column})
                     WHEN 'text' THEN CASE {column}
                         WHEN 'finished' THEN 'stopped' WHEN 'unit' THEN 'points'
                         WHEN 'batch' THEN 'live' WHEN 'soft' THEN 'gate'
                         WHEN 'higher-is-better' THEN 'lower-is-better'
                         WHEN 'scored' THEN 'not-applicable' WHEN 'error' THEN 'skipped'
                         WHEN 'r' THEN 'r' ELSE {column} || 'x' END
                     WHEN 'integer' THEN {column} + 1
                     WHEN 'real' THEN {column} + 0.5
                     WHEN 'blob' THEN zeroblob(32)
                     ELSE (SELECT CASE type WHEN 'TEXT' THEN 'x' WHEN 'INTEGER' THEN 1
                               WHEN 'REAL' THEN 1.0 ELSE zeroblob(32) END
                           FROM pragma_table_info('{table}') WHERE name = '{column}')
                 END"
            );
            let change = match (table.as_str(), column.as_str()) {
                ("runs", "id") => "UPDATE runs SET id = 's'".to_owned(),
                _ => change,
            };
            conn.execute(&change, []).unwrap_or_else(|error| panic!("{table}.{column}: {error}"));
            conn.execute_batch("COMMIT").unwrap();
            let id = if column == "id" { "s" } else { "r" };
            let store = Store::open_read_only(&path).unwrap();
            assert_ne!(root(&store, id), before, "{table}.{column}");
            drop(store);
            assert_eq!(restore(&conn, &path), before, "put back as it was");
            compared += 1;
        }
    }
    assert!(compared > 69, "{compared}");
}

/// Restores the run that `ended` made.
fn restore(conn: &Connection, path: &Path) -> Digest {
    conn.execute_batch(
        "DELETE FROM summaries; DELETE FROM score_calls; DELETE FROM score_rows; DELETE FROM cases; DELETE FROM sessions;
         DELETE FROM scorers; DELETE FROM runs; DELETE FROM components;",
    )
    .unwrap();
    ended(path, "r")
}

#[test]
fn rows_that_are_added_taken_away_or_exchanged_change_the_root() {
    for change in [
        "DELETE FROM score_rows WHERE scorer = 2 AND case_key = (1 << 40) + 1",
        "DELETE FROM score_rows",
        "DELETE FROM score_rows WHERE case_key > 1 << 40; DELETE FROM cases WHERE ordinal = 1",
        "DELETE FROM sessions",
        "DELETE FROM summaries",
        "INSERT INTO sessions SELECT 2, run, engine_version, wasmtime_version, host, started_at_ms FROM sessions",
        "DELETE FROM score_rows WHERE scorer = 1; DELETE FROM summaries; DELETE FROM scorers WHERE scorer = 1",
        "UPDATE scorers SET scorer_id = 'c' WHERE scorer_id = 'a';
         UPDATE scorers SET scorer_id = 'a' WHERE scorer_id = 'b';
         UPDATE scorers SET scorer_id = 'b' WHERE scorer_id = 'c'",
        "UPDATE score_rows SET session = NULL",
        // Rows without a case, by a scorer of this run and by none.
        "INSERT INTO score_rows (case_key, scorer, status, score, duration_ms, scored_at_ms)
         VALUES ((1 << 40) + 999, 1, 'scored', 0.0, 0.0, 0)",
        "INSERT INTO score_rows (case_key, scorer, status, score, duration_ms, scored_at_ms)
         VALUES ((1 << 40) + 999, 77, 'scored', 0.0, 0.0, 0)",
        "INSERT INTO score_rows (case_key, scorer, status, score, duration_ms, scored_at_ms)
         VALUES (1 << 40, 77, 'scored', 0.0, 0.0, 0)",
    ] {
        let (folder, _) = database();
        let path = folder.path().join("scores.db");
        let before = ended(&path, "r");
        let conn = Connection::open(&path).unwrap();
        conn.pragma_update(None, "foreign_keys", false).unwrap();
        conn.execute_batch(change).unwrap();
        assert_ne!(root(&Store::open_read_only(&path).unwrap(), "r"), before, "{change}");
    }
}

/// The root covers what is stored, in whatever order it was written.
#[test]
fn two_sessions_of_one_run_end_with_the_root_of_all_rows_and_finished_is_not_taken_back() {
    let (folder, store) = database();
    let path = folder.path().join("scores.db");
    let mut first = writer(store, "r", &["a"]);
    let scorer = first.run().scorers[0];
    let key = added(&mut first, &case(0, "x"));
    first.commit().unwrap();
    let store = Store::open(&path).unwrap();
    let run = store.resume_run("r", &session()).unwrap();
    let mut second = RunWriter::new(store, run);
    let later = added(&mut second, &case(1, "y"));
    for case in [key, later] {
        second.add_score(case, scorer, &scored(0.5)).unwrap();
    }
    second.finish(RunState::Finished, None, 1).unwrap();
    assert!(!first.add_score(key, scorer, &scored(0.5)).unwrap());
    let last = first.finish(RunState::Interrupted, Some("Ctrl-C"), 2).unwrap();
    let stored = first.store().run("r").unwrap();
    assert_eq!((stored.state, stored.root), (RunState::Finished, Some(last)));
    assert_eq!(root(first.store(), "r"), last);
}

#[test]
fn the_content_of_a_case_is_not_taken_on_trust() {
    let (folder, _) = database();
    let path = folder.path().join("scores.db");
    ended(&path, "r");
    let store = Store::open_read_only(&path).unwrap();
    let run = store.run("r").unwrap().key;
    let asked = |content: &[u8]| store.run_root(run, |_, _| Ok(Digest::of(content))).unwrap();
    assert_ne!(asked(b"one"), asked(b"two"));
}
