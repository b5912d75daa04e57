//! Databases that someone else prepared: code that runs in them when scorebox writes, values that exhaust a reader's
//! memory, and changes that try to stay unnoticed.

use std::fs;

use insta::assert_snapshot;

use crate::fixture::{Folder, Output};

const RUN: &str = "scorebox run cases.jsonl -s exact-match -s levenshtein -q";

/// A run `r` of three cases and two scorers, and a file of one more case.
fn with_a_run() -> Folder {
    let folder = Folder::new();
    folder.write(
        "cases.jsonl",
        "{\"id\": \"q1\", \"output\": \"Paris\", \"groundTruth\": \"Paris\", \"note\": \"a\"}\n\
         {\"id\": \"q2\", \"output\": \"Rom\", \"groundTruth\": \"Rome\"}\n\
         {\"id\": \"q3\", \"output\": 3, \"groundTruth\": [3, \"three\"], \"latencyMs\": 0.1}\n",
    );
    folder.sh(&format!("{RUN} --run-id r")).exits_with(0);
    folder
}

/// Checks that every command that opens the database refuses it with the same message, and leaves it as it is.
fn refused_everywhere(folder: &Folder) -> Output {
    let before = fs::read(folder.path("scorebox.db")).unwrap();
    let first = folder.sh(&format!("{RUN} --run-id next")).exits_with(2);
    for command in [
        &format!("{RUN} --resume r"),
        &format!("{RUN} --reuse --run-id next"),
        "scorebox runs",
        "scorebox scores",
        "scorebox stats",
        "scorebox verify",
        &format!("scorebox verify r --root {}", "0".repeat(64)),
        "scorebox verify --receipt r:exact-match:0:0:q1",
    ] {
        assert_eq!(folder.sh(command).exits_with(2).stderr, first.stderr, "{command}");
    }
    assert_eq!(fs::read(folder.path("scorebox.db")).unwrap(), before);
    first
}

#[test]
fn triggers_of_a_stranger_do_not_run() {
    for trigger in [
        // An endless query; deletes earlier rows; sets every score to 1; stores no row at all.
        "AFTER INSERT ON score_rows BEGIN
             SELECT max(n) FROM (WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)
                                 SELECT n FROM c); END",
        "AFTER INSERT ON runs BEGIN DELETE FROM score_rows; END",
        "AFTER INSERT ON score_rows WHEN NEW.status = 'scored' BEGIN
             UPDATE score_rows SET score = 1.0 WHERE case_key = NEW.case_key; END",
        "BEFORE INSERT ON score_rows BEGIN SELECT RAISE(IGNORE); END",
        "AFTER UPDATE ON runs BEGIN DELETE FROM score_rows; END",
    ] {
        let folder = with_a_run();
        let created = format!("CREATE TRIGGER innocent {trigger}");
        folder.database("scorebox.db").execute_batch(&created).unwrap();
        insta::allow_duplicates! { assert_snapshot!(refused_everywhere(&folder), @"
        [stderr]
        error: [folder]/scorebox.db is not a database as scorebox creates it: it has the trigger `innocent`, which scorebox does not create
        hint: nothing was changed in it; if the object is yours, drop it, else name another path: triggers, views and tables that scorebox did not create could change or hold up scores
        [exit code 2]
        "); }
        assert_eq!(folder.rows("SELECT count(*), sum(score) FROM score_rows"), ["6 | 4.75"]);
    }
}

#[test]
fn views_tables_indexes_and_columns_of_a_stranger_are_refused() {
    for (change, expected) in [
        ("CREATE VIEW extra AS SELECT 1", "it has the view `extra`"),
        ("CREATE TABLE extra (a)", "it has the table `extra`"),
        ("CREATE INDEX extra ON cases (digest)", "it has the index `extra`"),
        (
            "ALTER TABLE cases ADD COLUMN extra TEXT AS (printf('%.*c', 200000000, 'x'))",
            "the table `cases` is not the one",
        ),
        ("DROP INDEX cases_by_node", "the index `cases_by_node` is missing"),
        ("DROP VIEW scores; CREATE VIEW scores AS SELECT 1", "the view `scores` is not the one"),
    ] {
        let folder = with_a_run();
        folder.database("scorebox.db").execute_batch(change).unwrap();
        let output = refused_everywhere(&folder);
        assert!(output.stderr.contains(expected), "{change}: {output}");
    }
}

/// SQLite takes a second row for a separate index, and continues to read after it.
#[test]
fn an_object_that_is_there_twice_hides_nothing_behind_it() {
    let folder = with_a_run();
    folder
        .database("scorebox.db")
        .execute_batch(
            "PRAGMA writable_schema = ON;
             INSERT INTO sqlite_schema SELECT * FROM sqlite_schema
                 WHERE name = 'sqlite_autoindex_runs_1';
             PRAGMA writable_schema = OFF;
             CREATE INDEX evil ON score_rows (length(reason));",
        )
        .unwrap();
    let output = refused_everywhere(&folder);
    assert!(output.stderr.contains("twice") || output.stderr.contains("evil"), "{output}");
}

#[test]
fn rows_without_a_case_are_noticed() {
    for scorer in [1, 77] {
        let folder = changed(&format!(
            "PRAGMA foreign_keys = 0;
             INSERT INTO score_rows (case_key, scorer, status, score, duration_ms, scored_at_ms)
             VALUES ((1 << 40) + 999, {scorer}, 'scored', 0.0, 0.0, 0)"
        ));
        let output = folder.sh(VERIFY).exits_with(2);
        let said = "is damaged: a score row has no case or its run";
        assert!(output.stderr.contains(said), "{output}");
    }
}

#[test]
fn a_component_that_was_taken_away_is_noticed() {
    let folder = changed("DELETE FROM components WHERE component = 1");
    let output = folder.sh(&format!("{VERIFY} --allow-not-verifiable")).exits_with(1);
    assert!(output.stdout.contains("component of exact-match"), "{output}");
}

#[test]
fn the_name_of_an_object_cannot_speak_for_scorebox() {
    let folder = with_a_run();
    let view = "CREATE VIEW \"x\u{1b}[2J\nerror: all is well\" AS SELECT 1";
    folder.database("scorebox.db").execute_batch(view).unwrap();
    assert_snapshot!(folder.sh("scorebox scores").exits_with(2).stderr, @r"
    error: [folder]/scorebox.db is not a database as scorebox creates it: it has the view `x\u{1b}[2J
      error: all is well`, which scorebox does not create
    hint: nothing was changed in it; if the object is yours, drop it, else name another path: triggers, views and tables that scorebox did not create could change or hold up scores
    ");
}

const VERIFY: &str = "scorebox verify r --trust-cache";

/// The folder of the run, after a change of its database.
fn changed(change: &str) -> Folder {
    let folder = with_a_run();
    folder.database("scorebox.db").execute_batch(change).unwrap();
    folder
}

#[test]
fn a_word_that_looks_like_nothing_is_not_nothing() {
    let change = "UPDATE score_rows SET label = 'none', meta_json = '\"none\"'
                  WHERE scorer = 1 AND score = 1.0 AND case_key = (SELECT min(case_key) FROM cases)";
    let folder = changed(change);
    assert_snapshot!(folder.sh(VERIFY).exits_with(1), @r#"
    score                 verdict    what   stored                                                            computed
    r:exact-match:0:0:q1  different  label  none                                                              (absent)
    r:exact-match:0:0:q1  different  meta   "none"                                                            (absent)
    r                     different  root   [digest]  [digest]
    [stderr]
    5 verified, 2 different, 0 not verifiable
    [exit code 1]
    "#);
    let change = "UPDATE score_rows SET reason = NULL WHERE scorer = 2 AND score = 0.75";
    let folder = changed(change);
    assert_snapshot!(folder.sh(VERIFY).exits_with(1), @"
    score                 verdict    what    stored                                                            computed
    r:levenshtein:0:0:q2  different  reason  (absent)                                                          1 edit away from the expected text
    r                     different  root    [digest]  [digest]
    [stderr]
    5 verified, 2 different, 0 not verifiable
    [exit code 1]
    ");
}

/// Each change affects columns that computing the scores again does not check.
#[test]
fn changes_beside_the_scores_are_noticed() {
    for change in [
        // Rows of an interrupted run; a scorer with its rows; exchanged names of two scorers.
        "DELETE FROM score_rows WHERE score < 1.0; UPDATE runs SET state = 'interrupted'",
        "DELETE FROM score_rows WHERE scorer = 1; DELETE FROM scorers WHERE scorer = 1",
        "UPDATE scorers SET name = CASE scorer WHEN 1 THEN 'Levenshtein' ELSE 'Exact Match' END",
        // Without the version of wasmtime, fuel and memory are not compared.
        "UPDATE sessions SET wasmtime_version = '47.0.0'; UPDATE score_rows SET fuel = 1",
        "UPDATE score_rows SET session = NULL; UPDATE runs SET wasmtime_version = '';
         DELETE FROM sessions; UPDATE score_rows SET memory_bytes = 1",
        "UPDATE runs SET suite_json = json_set(suite_json, '$.name', 'better')",
        "UPDATE runs SET suite_digest = zeroblob(32)",
        "UPDATE runs SET suite_name = 'better'",
        "UPDATE scorers SET info_json = json_set(info_json, '$.description', 'better')",
        "UPDATE scorers SET grants_json = '[\"wasi\"]'",
        "UPDATE scorers SET limits_json = json_set(limits_json, '$.fuel', 5000000000)",
        "UPDATE scorers SET component_origin = './mine.wasm'",
        "UPDATE cases SET other_json = '{\"note\":\"b\"}' WHERE case_id = 'q1'",
        "UPDATE cases SET case_id = 'q9', node_id = 'q9' WHERE case_id = 'q1'",
        "UPDATE cases SET source_name = 'other.jsonl'",
        "UPDATE cases SET skip_reason = 'flaky' WHERE case_id = 'q1'",
        // Read as a case of another run, under the key of this one.
        "INSERT INTO runs SELECT 2, 'better', suite_name, suite_json, suite_digest, engine_version,
             wasmtime_version, contract_version, source, state, state_reason, created_at_ms,
             finished_at_ms, NULL, NULL, seed, NULL, 0 FROM runs;
         PRAGMA ignore_check_constraints = on; UPDATE cases SET run = 2 WHERE case_id = 'q2'",
        "UPDATE score_rows SET reused_case = case_key, reused_scorer = scorer",
        "UPDATE score_rows SET scored_at_ms = 0",
        "UPDATE score_rows SET duration_ms = 0.0",
        "UPDATE runs SET created_at_ms = 0",
        "UPDATE runs SET cases_bad = 1",
        "DELETE FROM score_rows WHERE case_key = (SELECT max(case_key) FROM cases);
         DELETE FROM cases WHERE case_key = (SELECT max(case_key) FROM cases)",
    ] {
        let output = changed(change).sh(VERIFY).exits_with(1);
        let of_the_root = |line: &str| line.starts_with("r ") && line.contains(" root ");
        assert!(output.stdout.lines().any(of_the_root), "{change}\n{output}");
    }
}

/// A program that can write the database can also store another root, but the plan names the scorers.
#[test]
fn scorers_are_compared_with_the_plan() {
    let change = "UPDATE runs SET root = NULL, root_version = NULL;
                  DELETE FROM score_rows WHERE scorer = 1; DELETE FROM scorers WHERE scorer = 1";
    let output = changed(change).sh(VERIFY).exits_with(1);
    assert!(output.stdout.contains("different  scorer of the plan"), "{output}");
    let folder = changed("UPDATE runs SET root = NULL, root_version = NULL");
    assert_snapshot!(folder.sh(VERIFY).exits_with(0), @"
    [stderr]
    6 verified, 0 different, 0 not verifiable
    not compared: which cases and scores there are, their names, versions, origins and times: the run has no root that this version of scorebox can read
    [exit code 0]
    ");
}

#[test]
fn what_another_wasmtime_computed_says_what_is_not_compared() {
    let change = "UPDATE sessions SET wasmtime_version = '47.0.0';
                  UPDATE runs SET root = NULL, root_version = NULL";
    let folder = changed(change);
    assert_snapshot!(folder.sh(VERIFY).exits_with(0), @"
    [stderr]
    6 verified, 0 different, 0 not verifiable
    not compared: fuel of 6 scores; peak memory of 6 scores; error messages of 6 scores; which cases and scores there are, their names, versions, origins and times: the run has no root that this version of scorebox can read
    [exit code 0]
    ");
}

/// The root that `scorebox run` printed.
fn root_of_a_run(folder: &Folder) -> String {
    let output = folder.sh(&format!("{RUN} --run-id published")).exits_with(0);
    let root = output.stderr.lines().find_map(|line| line.strip_prefix("root ")).unwrap();
    assert_eq!(root.len(), 64);
    root.to_owned()
}

#[test]
fn a_published_root_proves_that_nothing_was_changed_since() {
    let folder = with_a_run();
    let root = root_of_a_run(&folder);
    let command = format!("scorebox verify published --root {root}");
    assert_snapshot!(folder.sh(&command).exits_with(0), @"
    [stderr]
    the root matches: the run has not changed since it ended
    [exit code 0]
    ");
    // Another run of the same cases at another time has another root.
    folder.sh(&format!("scorebox verify r --root {root}")).exits_with(1);
    let database = folder.database("scorebox.db");
    database.execute_batch("UPDATE cases SET output = '\"Rome\"' WHERE case_id = 'q2'").unwrap();
    assert_snapshot!(folder.sh(&command).exits_with(1), @"
    score      verdict    what     stored                                                            computed
    published  different  root     [digest]  [digest]
    published  different  case q2  [digest]  [digest]
    [stderr]
    the root differs: the run has changed since it ended with that root
    [exit code 1]
    ");
    database.execute_batch("UPDATE cases SET output = '\"Rom\"' WHERE case_id = 'q2'").unwrap();
    folder.sh(&command).exits_with(0);
    database.execute_batch("UPDATE components SET bytes = x'00' WHERE component = 1").unwrap();
    let output = folder.sh(&command).exits_with(1);
    assert!(output.stdout.contains("component of exact-match"), "{output}");
}

/// Views find the cases of a run by its id in them, and its root by their keys.
#[test]
fn a_case_under_a_key_that_is_not_of_its_run_is_different_for_the_root_and_goes_with_the_run() {
    let folder = with_a_run();
    let root = root_of_a_run(&folder);
    let columns = "ordinal, node_id, iteration, attempt, source_name, source_line, digest, output";
    let database = folder.database("scorebox.db");
    database
        .execute_batch(&format!(
            "PRAGMA ignore_check_constraints = 1; PRAGMA foreign_keys = 0;
             INSERT INTO cases (case_key, run, case_id, {columns})
                 SELECT 7 << 40, run, 'forged', {columns} FROM cases WHERE case_key = (2 << 40) + 1;
             INSERT INTO score_rows (case_key, scorer, status, score, duration_ms, scored_at_ms)
                 VALUES (7 << 40, 3, 'scored', 1.0, 0.0, 0);"
        ))
        .unwrap();
    let counted = "SELECT count(*) FROM scores WHERE run_id = 'published'";
    assert_eq!(folder.rows(counted), ["7"]);
    let command = format!("scorebox verify published --root {root}");
    assert_snapshot!(folder.sh(&command).exits_with(1), @"
    score      verdict    what                            stored                      computed
    published  different  case forged                     under a key of another run  under a key of this run
    published  different  score of forged by exact-match  of a case of another run    of a case of this run
    [stderr]
    the run has changed since it ended, in what the root does not cover
    [exit code 1]
    ");
    let output = folder.sh("scorebox verify published --trust-cache").exits_with(1);
    assert!(output.stdout.contains("different  case forged"), "{output}");
    folder.sh(VERIFY).exits_with(0);
    folder.sh("scorebox rm published --yes").exits_with(0);
    assert_eq!(
        folder.rows("SELECT count(*) FROM cases UNION SELECT count(*) FROM score_rows"),
        ["3", "6"]
    );
}

/// Their number is right, and so is the content of each.
#[test]
fn rows_by_a_scorer_of_another_run_are_different() {
    let folder = with_a_run();
    folder.sh(&format!("{RUN} --run-id other")).exits_with(0);
    let database = folder.database("scorebox.db");
    database
        .execute_batch(
            "UPDATE score_rows SET scorer = 3 WHERE case_key = (1 << 40) + 1 AND scorer = 1;
             UPDATE runs SET root = NULL, root_version = NULL;",
        )
        .unwrap();
    assert_snapshot!(folder.sh(VERIFY).exits_with(1), @"
    score                 verdict    what                        stored                      computed
    r:exact-match:0:0:q2  different  scorer                      one of another run          one of this run
    r                     different  score of q2 by exact-match  by a scorer of another run  by a scorer of this run
    r:exact-match         different  scores                      2                           3
    [stderr]
    5 verified, 3 different, 0 not verifiable
    not compared: which cases and scores there are, their names, versions, origins and times: the run has no root that this version of scorebox can read
    [exit code 1]
    ");
    let output = folder.sh(&format!("{VERIFY} --case-id q2")).exits_with(1);
    assert!(output.stdout.contains("different  scorer"), "{output}");
}

/// The digest of a case covers only its JSON.
#[test]
fn white_space_that_was_put_around_json_is_different() {
    for change in ["output = char(10) || output", "ground_truth = ground_truth || '  '"] {
        let folder = changed(&format!("UPDATE cases SET {change} WHERE case_id = 'q2'"));
        let output = folder.sh(VERIFY).exits_with(1);
        assert!(output.stdout.contains("white space around its JSON"), "{output}");
        assert!(output.stdout.contains("different  root"), "{output}");
    }
}

#[test]
fn a_judge_that_a_scorer_does_not_ask_is_no_reason_for_an_error() {
    let folder = changed(
        "UPDATE score_rows SET status = 'error', score = NULL, error_kind = 'judge-unavailable', error_message = 'x'
         WHERE scorer = 1 AND case_key = 1 << 40",
    );
    let output = folder.sh(VERIFY).exits_with(1);
    assert!(output.stdout.contains("r:exact-match:0:0:q1  different  status"), "{output}");
}

#[test]
fn a_link_to_nothing_is_no_database() {
    let folder = Folder::new();
    folder.sh("ln -s nowhere.db link.db");
    let output = folder.sh("scorebox runs --db link.db").exits_with(2);
    assert!(output.stderr.contains("there is no database at"), "{output}");
}

#[test]
fn a_run_that_has_not_ended_has_no_root_yet() {
    let folder = changed(
        "UPDATE runs SET state = 'running', finished_at_ms = NULL, root = NULL, root_version = NULL, size_bytes = NULL",
    );
    let output = folder.sh(VERIFY).exits_with(0);
    assert!(output.stderr.contains("the run has not ended, and has no root yet"), "{output}");
}

#[test]
fn a_root_that_is_not_a_digest_is_refused() {
    let folder = with_a_run();
    assert_snapshot!(folder.sh("scorebox verify r --root abc").exits_with(2), @"
    [stderr]
    error: invalid value 'abc' for '--root <DIGEST>': a digest is 64 hexadecimal digits

    For more information, try '--help'.
    [exit code 2]
    ");
}

/// Fills an index with rows of another condition, and restores its original SQL text.
fn fill_as(folder: &Folder, index: &str, on: &str) {
    let database = folder.database("scorebox.db");
    let sql = "SELECT sql FROM sqlite_schema WHERE name = ?1";
    let own: String = database.query_row(sql, [index], |row| row.get(0)).unwrap();
    database.execute_batch(&format!("DROP INDEX {index}; CREATE INDEX {index} ON {on}")).unwrap();
    database.execute_batch("PRAGMA writable_schema = ON").unwrap();
    let sql = "UPDATE sqlite_schema SET sql = ?1 WHERE name = ?2";
    assert_eq!(database.execute(sql, [own.as_str(), index]).unwrap(), 1);
}

#[test]
fn an_index_that_hides_errors_is_different_for_the_root_and_for_a_verification() {
    let folder = Folder::new();
    folder.write(
        "cases.jsonl",
        "{\"id\": \"q1\", \"nodeId\": \"n\", \"output\": 1}\n{\"id\": \"q2\", \"output\": \"a\", \"groundTruth\": \"a\"}\n",
    );
    folder.sh(&format!("{RUN} -s json-diff --run-id r")).exits_with(1);
    let root = folder.rows("SELECT lower(hex(root)) FROM runs").remove(0);
    let by_root = format!("scorebox verify r --root {root}");
    folder.sh(&by_root).exits_with(0);
    for (index, on) in [
        ("score_rows_errors", "score_rows (case_key) WHERE status = 'skipped'"),
        ("cases_by_node", "cases (node_id) WHERE attempt = 1"),
    ] {
        let honest = fs::read(folder.path("scorebox.db")).unwrap();
        fill_as(&folder, index, on);
        let found = folder.sh(&by_root).exits_with(1);
        assert!(found.stdout.contains(&format!("index {index}")), "{found}");
        let found = folder.sh("scorebox verify r").exits_with(1);
        assert!(found.stdout.contains(&format!("index {index}")), "{found}");
        fs::write(folder.path("scorebox.db"), honest).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn what_stands_beside_a_database_and_is_not_a_file_is_neither_opened_nor_followed() {
    let folder = with_a_run();
    folder.sh("mkfifo scorebox.db-journal").exits_with(0);
    let refused = folder.sh("scorebox runs").exits_with(2);
    assert!(
        refused.stderr.contains("scorebox.db-journal is kept beside the database"),
        "{refused}"
    );
    folder.sh("rm scorebox.db-journal && ln -s elsewhere scorebox.db-run-new.lock").exits_with(0);
    let refused = folder.sh(&format!("{RUN} --run-id new")).exits_with(2);
    assert!(refused.stderr.contains("scorebox.db-run-new.lock is kept beside"), "{refused}");
    folder.sh("ln -s elsewhere scorebox.db-run-r.lock").exits_with(0);
    folder.sh("scorebox rm r --yes").exits_with(2);
    assert!(!folder.path("elsewhere").exists());
    folder.sh("scorebox runs").exits_with(0);
}

#[test]
fn a_score_that_no_scorer_can_have_given_is_damage() {
    for (score, said) in [
        ("9e999", "inf is not a possible score"),
        ("-3.0", "-3 is not a possible score"),
        ("2.0", "the score 2 of `exact-match` for `q1` is not on its scale"),
    ] {
        let folder = with_a_run();
        let change = format!(
            "PRAGMA ignore_check_constraints = ON; UPDATE score_rows SET score = {score} WHERE scorer = 1"
        );
        folder.database("scorebox.db").execute_batch(&change).unwrap();
        for command in ["stats", "cases", "repeats", "report -o r.md --force"] {
            let refused = folder.sh(&format!("scorebox {command}")).exits_with(2);
            assert!(refused.stderr.contains(said), "{command}: {refused}");
        }
        let verified = folder.sh("scorebox verify r").exits_with(1);
        assert!(verified.stdout.contains("r:exact-match:0:0:q1  different  score"), "{verified}");
        let root = folder.rows("SELECT lower(hex(root)) FROM runs").concat();
        let verified = folder.sh(&format!("scorebox verify r --root {root}")).exits_with(1);
        assert!(verified.stdout.contains("different  root"), "{verified}");
    }
}

#[test]
fn a_finished_run_that_was_changed_is_not_resumed_under_its_old_root() {
    let folder = with_a_run();
    folder.sh(&format!("{RUN} --resume r")).exits_with(0);
    let change = "UPDATE score_rows SET score = 1.0 WHERE score < 1.0";
    folder.database("scorebox.db").execute(change, []).unwrap();
    let lines = fs::read_to_string(folder.path("cases.jsonl")).unwrap();
    folder.write(
        "more.jsonl",
        format!("{lines}{{\"id\": \"q4\", \"output\": \"Bern\", \"groundTruth\": \"Bern\"}}\n"),
    );
    let more = RUN.replace("cases.jsonl", "more.jsonl");
    let refused = folder.sh(&format!("{more} --resume r")).exits_with(2);
    assert!(refused.stderr.contains("was changed since it ended"), "{refused}");
    let reported = folder.sh("scorebox report r -o r.md").exits_with(0);
    assert_snapshot!(reported.stderr, @"warning: run `r` was changed since it ended: the root in the report is not that of its rows; `scorebox verify r` says what is different");
    let refused = folder.sh(&format!("{RUN} --resume r")).exits_with(2);
    assert_snapshot!(refused.stderr, @r"
    error: the run `r` in [folder]/scorebox.db was changed since it ended
    hint: `scorebox verify` of that run says what is different; score the cases again in a new run
    ");
}
