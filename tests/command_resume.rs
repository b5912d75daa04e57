//! Runs that are named, interrupted, killed and resumed.

use std::{
    process::Child,
    thread,
    time::{Duration, Instant},
};

use insta::assert_snapshot;
use rusqlite::{Connection, OpenFlags};
use rustix::process::{Pid, Signal, kill_process};

use crate::fixture::Folder;

/// So many that the run is still busy when it is looked at; every third is right.
const CASES: u32 = 60_000;
const RUN: &str = "scorebox run -s exact-match cases.jsonl -j 2";

fn with_many_cases() -> Folder {
    let folder = Folder::new();
    let case = |number: u32| {
        let output = if number.is_multiple_of(3) { "right" } else { "wrong" };
        format!("{{\"id\": \"{number}\", \"output\": \"{output}\", \"groundTruth\": \"right\"}}\n")
    };
    folder.write("cases.jsonl", (0..CASES).map(case).collect::<String>());
    folder
}

/// Scores that are stored by now; 0 as long as there is no database.
fn stored(folder: &Folder) -> u32 {
    let count = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let database = Connection::open_with_flags(folder.path("scorebox.db"), flags)?;
        database
            .query_row::<u32, _, _>("SELECT count(*) FROM _smithers_scorers", [], |row| row.get(0))
    };
    count().unwrap_or(0)
}

/// Begins a run, and sends it the signal when it has stored something.
fn signalled(folder: &Folder, signal: Signal) -> Child {
    let child = folder.spawn(&format!("{RUN} --run-id r"));
    let begun = Instant::now();
    while stored(folder) == 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing is stored");
        thread::sleep(Duration::from_millis(2));
    }
    kill_process(Pid::from_child(&child), signal).unwrap();
    child
}

/// Resumes, and looks at every score.
fn resume_and_check(folder: &Folder, scored_before: u32) {
    assert!(0 < scored_before && scored_before < CASES, "{scored_before}");
    let summary = folder.sh(&format!("{RUN} --resume r --format json")).exits_with(0).json();
    assert_eq!(summary["state"], "finished");
    assert_eq!(summary["casesFinishedBefore"], scored_before);
    assert_eq!(summary["scoresWritten"], CASES - scored_before);

    let scores = folder.rows(
        "SELECT CAST(node_id AS INTEGER), scorer_id, score FROM _smithers_scorers ORDER BY 1",
    );
    let expected: Vec<String> = (0..CASES)
        .map(|number| format!("{number} | exact-match | {}", u8::from(number.is_multiple_of(3))))
        .collect();
    assert!(scores == expected, "every case once, and the right score");
}

#[test]
fn a_run_that_was_killed_is_resumed_without_loss_or_repetition() {
    let folder = with_many_cases();
    signalled(&folder, Signal::KILL).wait().unwrap();
    let scored_before = stored(&folder);
    resume_and_check(&folder, scored_before);
}

#[test]
fn an_interrupt_ends_a_run_in_good_order_and_the_words_say_how_to_go_on() {
    let folder = with_many_cases();
    let ended = signalled(&folder, Signal::INT).wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let words = String::from_utf8(ended.stderr).unwrap();
    assert!(words.ends_with(&format!("interrupted; go on with:\n  {RUN} --resume r\n")), "{words}");
    let scored_before = stored(&folder);
    resume_and_check(&folder, scored_before);
}

#[test]
fn a_run_id_that_is_taken_is_refused() {
    let folder = Folder::new();
    let command = "scorebox run -s contains answers.jsonl --run-id r";
    folder.sh(command).exits_with(0);
    assert_snapshot!(folder.sh(command), @"
    [stderr]
    error: there is already a run `r` in [folder]/scorebox.db
    hint: resume that run, or give this one another id
    [exit code 2]
    ");
    assert_eq!(stored(&folder), 400);
}

#[test]
fn a_run_id_that_cannot_be_one_is_refused() {
    let folder = Folder::new();
    let output = folder.sh("scorebox run -s contains answers.jsonl --run-id 'a b'").exits_with(2);
    assert!(output.stderr.contains("`a b` is not a run id"), "{output}");
    let output = folder.sh("scorebox run -s contains answers.jsonl --run-id a --resume b");
    assert!(output.exits_with(2).stderr.contains("cannot be used with"));
}

#[test]
fn a_finished_run_has_nothing_to_resume_and_says_so() {
    let folder = Folder::new();
    folder.sh("scorebox run -s contains answers.jsonl --run-id r").exits_with(0);
    let output = folder.sh("scorebox run -s contains answers.jsonl --resume r").exits_with(0);
    assert_snapshot!(output.stderr, @"
    run r: 0 cases, 0 scores in [time] (400 cases were finished before)
    stored in scorebox.db; see them with: scorebox scores r
    ");
    assert_eq!(stored(&folder), 400);
}

#[test]
fn a_run_is_not_resumed_with_other_scorers_or_configurations() {
    let folder = Folder::new();
    folder.sh("scorebox run -s contains answers.jsonl --run-id r").exits_with(0);
    assert_snapshot!(folder.sh("scorebox run -s exact-match answers.jsonl --resume r"), @"
    [stderr]
    error: the run `r` cannot be resumed like this: its scorers are contains; now they are exact-match
    hint: name the same scorers with the same configurations, limits and grants, or start a new run
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox run -s contains --config contains='{\"ignoreCase\": true}' answers.jsonl --resume r"), @"
    [stderr]
    error: the run `r` cannot be resumed like this: the configuration of `contains` has changed
    hint: name the same scorers with the same configurations, limits and grants, or start a new run
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox run -s contains=exact-match answers.jsonl --resume r"), @"
    [stderr]
    error: the run `r` cannot be resumed like this: the component of `contains` has changed
    hint: name the same scorers with the same configurations, limits and grants, or start a new run
    [exit code 2]
    ");
    assert_eq!(stored(&folder), 400);
}

#[test]
fn a_run_is_not_resumed_with_a_case_that_has_changed() {
    let folder = Folder::new();
    folder.write("cases.jsonl", "{\"id\": \"a\", \"output\": \"old\"}\n");
    let command = "scorebox run -s contains --config contains='{\"value\": \"new\"}' cases.jsonl";
    folder.sh(&format!("{command} --run-id r")).exits_with(0);
    folder.write("cases.jsonl", "{\"id\": \"a\", \"output\": \"new\"}\n");
    assert_snapshot!(folder.sh(&format!("{command} --resume r")).exits_with(2).stderr, @r#"
    run r: 0 cases, 0 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    error: cases.jsonl:1: the case `a` is not the one that an earlier session of this run stored
    hint: an id (with iteration and attempt) names one case of a run
    stopped there; what was scored is kept. When it is mended, go on with:
      scorebox run -s contains --config 'contains={"value": "new"}' cases.jsonl --resume r
    "#);
    assert_eq!(folder.rows("SELECT score FROM _smithers_scorers"), ["0"]);
}

/// Rows of both tables that count, and what is said of the run.
fn all_rows(folder: &Folder) -> Vec<String> {
    folder.rows("SELECT state, state_reason, finished_at_ms, hex(root), (SELECT count(*) FROM sessions), (SELECT count(*) FROM cases), (SELECT count(*) FROM score_rows) FROM runs")
}

/// The first lines of the file of cases, in its place.
fn shortened(folder: &Folder, lines: usize) {
    let all = std::fs::read_to_string(folder.path("cases.jsonl")).unwrap();
    let short: String = all.split_inclusive('\n').take(lines).collect();
    folder.write("cases.jsonl", short);
    folder.write("all.jsonl", all);
}

#[test]
fn a_run_that_was_killed_does_not_finish_with_a_shorter_file() {
    let folder = with_many_cases();
    signalled(&folder, Signal::KILL).wait().unwrap();
    let (scored_before, before) = (stored(&folder), all_rows(&folder));
    shortened(&folder, 5);
    let output = folder.sh(&format!("{RUN} --resume r")).exits_with(2);
    let expected = "and only 5 of them were read now";
    assert!(output.stderr.contains(expected), "{output}");
    assert_eq!(all_rows(&folder), before, "nothing was written");
    folder.sh("mv all.jsonl cases.jsonl");
    resume_and_check(&folder, scored_before);
}

#[test]
fn a_finished_run_stays_finished_when_a_resume_is_refused() {
    let folder = Folder::new();
    folder.write("cases.jsonl", "{\"id\": \"a\", \"output\": 1}\n{\"id\": \"b\", \"output\": 2}\n");
    let command = "scorebox run -s contains --config contains='{\"value\": \"1\"}' cases.jsonl";
    folder.sh(&format!("{command} --run-id r")).exits_with(0);
    let before = all_rows(&folder);
    folder.write("cases.jsonl", "{\"id\": \"a\", \"output\": 1}\n");
    assert_snapshot!(folder.sh(&format!("{command} --resume r")).exits_with(2).stderr, @"");
    folder.write("cases.jsonl", "{\"id\": \"a\", \"output\": 7}\n{\"id\": \"b\", \"output\": 2}\n");
    folder.sh(&format!("{command} --resume r")).exits_with(2);
    folder.write("cases.jsonl", "");
    folder.sh(&format!("{command} --resume r")).exits_with(2);
    assert_eq!(all_rows(&folder), before);
}

#[test]
fn a_run_that_lacks_nothing_but_its_end_is_finished_by_a_resume() {
    let folder = Folder::new();
    folder.sh("scorebox run -s contains answers.jsonl --run-id r").exits_with(0);
    let killed = "UPDATE runs SET state = 'running', finished_at_ms = NULL, root = NULL";
    folder.database("scorebox.db").execute_batch(killed).unwrap();
    folder.sh("scorebox run -s contains answers.jsonl --resume r").exits_with(0);
    let ended = folder.rows("SELECT state, root IS NOT NULL FROM runs");
    assert_eq!(ended, ["finished | 1"]);
    folder.sh("scorebox verify r --trust-cache").exits_with(0);
}

#[test]
fn a_resumed_run_may_go_beyond_the_file_that_it_began_with() {
    let folder = with_many_cases();
    let all = std::fs::read_to_string(folder.path("cases.jsonl")).unwrap();
    shortened(&folder, 10);
    folder.sh(&format!("{RUN} --run-id r")).exits_with(0);
    folder.write("cases.jsonl", all);
    resume_and_check(&folder, 10);
}
