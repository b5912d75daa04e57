//! `scorebox rm`: runs that are removed, runs that stay, and the disk space that is freed.

use std::{io::Write as _, process::Stdio, time::Duration};

use insta::assert_snapshot;

use crate::fixture::Folder;

/// Two runs of the same suite over the same cases.
fn with_two_runs() -> Folder {
    let folder = Folder::new();
    for run in ["first", "second"] {
        folder
            .sh(&format!("scorebox run suite.toml answers.jsonl -q --run-id {run}"))
            .exits_with(0);
    }
    folder
}

/// The text without sizes, which depend on SQLite's version.
fn without_sizes(text: &str) -> String {
    let is_size = |word: &&str| word.parse::<f64>().is_ok() && word.contains('.');
    let words = text.split(' ').map(|word| if is_size(&word) { "[size]" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_run_goes_the_others_stay_and_the_file_gets_smaller() {
    let folder = with_two_runs();
    let bytes = || std::fs::metadata(folder.path("scorebox.db")).unwrap().len();
    let root = folder.rows("SELECT lower(hex(root)) FROM runs WHERE id = 'second'").remove(0);
    let before = bytes();
    let runs = folder.sh("scorebox runs --format json").exits_with(0).json();
    let size = runs[1]["sizeBytes"].as_u64().unwrap();
    assert_eq!(runs[0]["sizeBytes"], size, "of the same cases and scores");
    let output = folder.sh("scorebox rm first --yes").exits_with(0);
    assert_snapshot!(without_sizes(&output.stderr), @"
    removed 1 run: 400 cases, 1,600 rows, 0 components
    scorebox.db: [size] MiB, was [size] MiB
    ");
    // The components stay, because the other run uses them.
    let shrunk = before - bytes();
    assert!(shrunk > 400_000, "{} of {before}", bytes());
    // The rest is indexes and partly filled pages.
    assert!(
        (size * 9 / 10..size * 3 / 2).contains(&shrunk),
        "{size} bytes, the file shrank by {shrunk}"
    );
    assert_eq!(folder.rows("SELECT DISTINCT run_id FROM scores"), ["second"]);
    assert_eq!(folder.rows("PRAGMA integrity_check"), ["ok"]);
    folder.sh(&format!("scorebox verify second --root {root}")).exits_with(0);

    let output = folder.sh("scorebox rm second -y").exits_with(0);
    assert!(output.stderr.contains("1,600 rows, 3 components\n"), "{output}");
    assert_eq!(folder.rows("SELECT count(*) FROM components"), ["0"]);
    assert_snapshot!(folder.sh("scorebox runs"), @"
    [stderr]
    no runs; `scorebox run` stores one
    [exit code 0]
    ");
    assert_eq!(folder.sh("scorebox runs --format json").exits_with(0).stdout, "[]\n");
    assert_eq!(folder.sh("scorebox runs --format jsonl").exits_with(0).stdout, "");
    // A command about a run needs one.
    assert_snapshot!(folder.sh("scorebox stats"), @"
    [stderr]
    error: `scorebox.db` has no runs
    hint: `scorebox run` stores one
    [exit code 2]
    ");
}

#[test]
fn without_a_terminal_it_must_be_confirmed() {
    let folder = with_two_runs();
    assert_snapshot!(folder.sh("scorebox rm first second"), @"
    [stderr]
    error: removing 2 runs (800 cases, 3,200 rows) from scorebox.db cannot be undone
    hint: confirm it with --yes
    [exit code 2]
    ");
    assert_eq!(folder.rows("SELECT count(*) FROM score_rows"), ["3200"]);
}

/// `script` provides a terminal.
#[test]
fn on_a_terminal_it_asks() {
    let folder = with_two_runs();
    let asked = |answer: &str| {
        folder.sh(&format!("echo {answer} | script -qec 'scorebox rm first' /dev/null"))
    };
    let output = asked("n").exits_with(2);
    let question = "Remove the run first (400 cases, 1,600 rows) from scorebox.db?";
    assert!(output.stdout.contains(question), "{output}");
    assert!(output.stdout.contains("Nothing was removed."), "{output}");
    assert_eq!(folder.rows("SELECT count(*) FROM runs"), ["2"]);
    asked("y").exits_with(0);
    assert_eq!(folder.rows("SELECT id FROM runs"), ["second"]);
}

#[test]
fn a_run_whose_scores_another_run_reused_is_removed_only_with_that_one() {
    let folder = Folder::new();
    let run = "scorebox run answers.jsonl -s numeric-answer -q --reuse --run-id";
    folder.sh(&format!("{run} first && {run} second")).exits_with(0);
    assert_snapshot!(folder.sh("scorebox rm first --yes"), @"
    [stderr]
    error: scores of `first` in [folder]/scorebox.db are reused by `second`
    hint: a reused score refers to its original: remove those runs too, or first
    [exit code 2]
    ");
    assert_eq!(folder.rows("SELECT state FROM runs"), ["finished", "finished"]);
    folder.sh("scorebox rm first second --yes").exits_with(0);
    assert_eq!(folder.rows("SELECT count(*) FROM score_rows"), ["0"]);
}

#[test]
fn a_run_that_may_still_be_written_is_removed_only_by_force() {
    let folder = with_two_runs();
    let killed = "UPDATE runs SET state = 'running', finished_at_ms = NULL WHERE id = 'first'";
    folder.database("scorebox.db").execute_batch(killed).unwrap();
    assert_snapshot!(folder.sh("scorebox rm first --yes"), @"
    [stderr]
    error: the run `first` is marked as running
    hint: if it was killed, and no process still writes to it: --force
    [exit code 2]
    ");
    folder.sh("scorebox rm first --yes --force").exits_with(0);
    assert_eq!(folder.rows("SELECT id FROM runs"), ["second"]);
}

#[test]
fn a_run_that_a_process_is_writing_stays_whatever_is_said() {
    let folder = Folder::new();
    let mut shell = folder.shell("exec scorebox run -s exact-match - -q --run-id r");
    let mut run = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let run = run.as_mut().unwrap();
    let mut input = run.stdin.take().unwrap();
    input.write_all(b"{\"output\": 1, \"groundTruth\": 1}\n").unwrap();
    let lock = folder.path("scorebox.db-run-r.lock");
    while !lock.exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_snapshot!(folder.sh("scorebox rm r --yes --force"), @"
    [stderr]
    error: another process is writing the run `r` in scorebox.db
    hint: wait until that process ends, then remove the run
    [exit code 2]
    ");
    drop(input);
    assert!(run.wait().unwrap().success());
    assert_eq!(folder.rows("SELECT state FROM runs"), ["finished"]);
    folder.sh("scorebox rm r --yes").exits_with(0);
}

#[test]
fn a_run_that_is_not_there_removes_none() {
    let folder = with_two_runs();
    assert_snapshot!(folder.sh("scorebox rm first secnd --yes"), @"
    [stderr]
    error: there is no run `secnd` in [folder]/scorebox.db
    hint: runs in it: second, first
    [exit code 2]
    ");
    assert_eq!(folder.rows("SELECT count(*) FROM runs"), ["2"]);
    assert_snapshot!(folder.sh("scorebox rm r --db none.db --yes"), @"
    [stderr]
    error: there is no database at [folder]/none.db
    hint: check the path; the first run creates the database
    [exit code 2]
    ");
    assert!(!folder.path("none.db").exists());
}
