//! Databases and cache folders that are locked, foreign, newer or missing.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
};

use insta::assert_snapshot;

use crate::fixture::Folder;

const RUN: &str = "scorebox run -s contains answers.jsonl --run-id next";

#[test]
fn a_file_that_is_not_a_database_is_refused_and_left_alone() {
    let folder = Folder::new();
    folder.write("scorebox.db", "hello, this is not a database\n");
    assert_snapshot!(folder.sh(RUN), @"
    [stderr]
    error: [folder]/scorebox.db is not an SQLite database
    hint: nothing was changed in it; name another path for the scores
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox scores"), @"
    [stderr]
    error: [folder]/scorebox.db is not an SQLite database
    hint: nothing was changed in it; name another path for the scores
    [exit code 2]
    ");
    assert_eq!(fs::read(folder.path("scorebox.db")).unwrap(), b"hello, this is not a database\n");
}

#[test]
fn a_database_of_another_program_is_refused_and_left_alone() {
    let folder = Folder::new();
    folder.database("scorebox.db").execute_batch("CREATE TABLE letters (body TEXT)").unwrap();
    let before = fs::read(folder.path("scorebox.db")).unwrap();
    assert_snapshot!(folder.sh(RUN), @"
    [stderr]
    error: [folder]/scorebox.db is the database of another program
    hint: nothing was changed in it; name another path for the scores
    [exit code 2]
    ");
    assert_eq!(fs::read(folder.path("scorebox.db")).unwrap(), before);
}

#[test]
fn a_database_of_a_newer_version_is_refused() {
    let folder = Folder::new();
    folder.sh("scorebox run -s contains answers.jsonl").exits_with(0);
    folder.database("scorebox.db").pragma_update(None, "user_version", 99).unwrap();
    let output = folder.sh(RUN).exits_with(2);
    assert!(
        output.stderr.contains("was written by a newer scorebox: it has schema 99"),
        "{output}"
    );
    assert!(output.stderr.contains("hint: update scorebox"), "{output}");
    assert_eq!(folder.sh("scorebox stats").exits_with(2).stderr, output.stderr);
}

#[test]
fn a_database_of_an_older_version_is_brought_up_to_date_which_is_said_once() {
    let folder = Folder::new();
    folder.sh("scorebox run -s contains answers.jsonl --db new.db").exits_with(0);
    let new = folder.database("new.db");
    let id: i64 = new.pragma_query_value(None, "application_id", |row| row.get(0)).unwrap();
    let old = folder.database("scorebox.db");
    let scripts = concat!(env!("CARGO_MANIFEST_DIR"), "/../scorebox/src/store/migrations");
    for version in 1..=11 {
        let script = fs::read_to_string(format!("{scripts}/{version:04}.sql")).unwrap();
        old.execute_batch(&script).unwrap();
        old.pragma_update(None, "user_version", version).unwrap();
    }
    old.pragma_update(None, "application_id", id).unwrap();
    drop(old);
    let said = "is of an older scorebox and was brought up to date";
    assert!(folder.sh("scorebox runs").stderr.contains(said));
    assert!(!folder.sh("scorebox runs").stderr.contains(said));
}

#[test]
fn a_database_that_stays_locked_is_an_error_after_ten_seconds() {
    let folder = Folder::new();
    folder.sh("scorebox run -s contains answers.jsonl").exits_with(0);
    let other = folder.database("scorebox.db");
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_snapshot!(folder.sh(RUN), @"
    [stderr]
    error: [folder]/scorebox.db is locked by another process
    hint: wait for the process that writes it, or store this run in another file
    [exit code 2]
    ");
    other.execute_batch("ROLLBACK").unwrap();
    folder.sh(RUN).exits_with(0);
}

#[test]
fn two_runs_write_one_database_at_the_same_time() {
    let folder = Folder::new();
    let line = |number: u32| format!("{{\"id\": \"{number}\", \"output\": \"{number}\"}}\n");
    folder.write("many.jsonl", (0..30_000).map(line).collect::<String>());
    folder.sh("scorebox run -s contains answers.jsonl").exits_with(0);
    let mut long =
        folder.spawn("scorebox run -s length --config length={\\\"max\\\":9} many.jsonl");
    // One after another, while the long run writes.
    for run in 0..3 {
        folder
            .sh(&format!("scorebox run -s contains answers.jsonl --run-id short-{run}"))
            .exits_with(0);
    }
    assert!(long.wait().unwrap().success());
    assert!(
        folder
            .sh("scorebox stats --scorer length --all-runs")
            .exits_with(0)
            .stdout
            .contains("30,000")
    );
}

/// Large cases wait for memory that small ones hold; small cases that are no longer taken are dropped.
#[test]
fn a_run_whose_database_fails_ends() {
    let folder = Folder::new();
    let line = |number: usize| {
        let output = "x".repeat(if number == 190 { 3 << 20 } else { 60_000 });
        format!("{{\"id\": \"{number}\", \"output\": \"{output}\"}}\n")
    };
    folder.write("large.jsonl", (0..300).map(line).collect::<String>());
    // No file may grow beyond a few MiB.
    let output = folder.sh("trap '' XFSZ; ulimit -f 8000; \
         exec scorebox run -j 2 -s length --config 'length={\"max\": 9}' large.jsonl");
    assert!(output.exits_with(2).stderr.contains("disk I/O error"));
}

#[test]
fn scores_are_read_while_another_process_writes() {
    let folder = Folder::new();
    folder.sh("scorebox run -s contains answers.jsonl").exits_with(0);
    let other = folder.database("scorebox.db");
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    folder.sh("scorebox scores").exits_with(0);
    folder.sh("scorebox stats").exits_with(0);
}

#[test]
fn a_database_that_cannot_be_written_is_refused_but_read() {
    if rustix::process::geteuid().is_root() {
        return; // Root can write everything.
    }
    let folder = Folder::new();
    folder.sh("scorebox run -s contains answers.jsonl").exits_with(0);
    let database = folder.path("scorebox.db");
    fs::set_permissions(&database, Permissions::from_mode(0o444)).unwrap();
    let output = folder.sh(RUN).exits_with(2);
    assert!(output.stderr.contains("scorebox.db is read-only"), "{output}");
    folder.sh("scorebox stats").exits_with(0);
}

#[test]
fn a_database_in_a_folder_that_is_not_there_is_refused() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh(&format!("{RUN} --db none/scores.db")), @"
    [stderr]
    error: the folder of [folder]/none/scores.db does not exist
    hint: create the folder, or name another path
    [exit code 2]
    ");
    assert_snapshot!(folder.sh(&format!("{RUN} --db .")), @"
    [stderr]
    error: [folder] is not a regular file
    hint: name a file; it is created if it does not exist
    [exit code 2]
    ");
}

#[test]
fn there_are_no_scores_before_the_first_run() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("scorebox scores"), @"
    [stderr]
    error: there is no database at [folder]/scorebox.db
    hint: check the path; the first run creates the database
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox stats"), @"
    [stderr]
    error: there is no database at [folder]/scorebox.db
    hint: check the path; the first run creates the database
    [exit code 2]
    ");
    assert!(!folder.path("scorebox.db").exists());
}

#[test]
fn an_unknown_run_is_refused_with_those_there_are() {
    let folder = Folder::new();
    folder.sh("scorebox run -s contains answers.jsonl --run-id nightly").exits_with(0);
    assert_snapshot!(folder.sh("scorebox scores nigthly"), @"
    [stderr]
    error: there is no run `nigthly` in [folder]/scorebox.db
    hint: runs in it: nightly
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox run -s contains answers.jsonl --resume nigthly"), @"
    [stderr]
    error: there is no run `nigthly` in [folder]/scorebox.db
    hint: runs in it: nightly
    [exit code 2]
    ");
}

#[test]
fn the_database_is_chosen_by_option_or_environment() {
    let folder = Folder::new();
    folder.sh(&format!("{RUN} --db other.db")).exits_with(0);
    folder.sh("scorebox scores next --db other.db").exits_with(0);
    folder.sh("SCOREBOX_DB=other.db scorebox stats --run next").exits_with(0);
    assert!(!folder.path("scorebox.db").exists());
}

/// These commands write into a database only if the user asks for it.
#[test]
fn commands_that_need_no_database_take_none_from_the_environment() {
    let folder = Folder::new();
    let score = "scorebox score exact-match --output 1 --ground-truth 1";
    folder.sh(&format!("SCOREBOX_DB=other.db {score}")).exits_with(0);
    folder
        .sh("SCOREBOX_DB=other.db scorebox card numeric-answer --cases answers.jsonl -o card.html")
        .exits_with(0);
    let merged = folder.sh("SCOREBOX_DB=other.db scorebox merge a.parquet").exits_with(2).stderr;
    assert!(merged.contains("<--db <FILE>|--output <FILE>>"), "{merged}");
    assert!(!folder.path("other.db").exists());
}

#[test]
fn without_a_folder_for_compiled_code_scoring_continues_with_a_warning() {
    let folder = Folder::new();
    folder.write("file", "");
    let output =
        folder.sh("scorebox score exact-match --output 1 --ground-truth 1 --cache-dir file/cache");
    assert_snapshot!(output.exits_with(0).stderr, @"
    warning: compiled code is not cached: the folder `file/cache` cannot be made: Not a directory (os error 20)
    ");
    assert_eq!(
        folder
            .sh("scorebox score exact-match --output 1 --ground-truth 1 --no-cache")
            .exits_with(0)
            .stderr,
        ""
    );
}

#[test]
fn compiled_code_that_others_could_write_is_not_used() {
    let folder = Folder::new();
    fs::create_dir(folder.path("cache")).unwrap();
    fs::set_permissions(folder.path("cache"), Permissions::from_mode(0o777)).unwrap();
    let output =
        folder.sh("scorebox score exact-match --output 1 --ground-truth 1 --cache-dir cache");
    assert_snapshot!(output.exits_with(0).stderr, @"
    warning: compiled code is not cached: the folder `cache` can be written to by others, who may have planted code in it: choose another folder, or remove this one, and it is made again
    ");
    assert_eq!(fs::read_dir(folder.path("cache")).unwrap().count(), 0);
}
