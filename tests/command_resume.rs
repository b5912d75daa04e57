//! Runs that are named, interrupted, killed and resumed. `command_resume_signals` tests the effect of a signal on a
//! waiting run.

use std::{
    fs,
    io::Write as _,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use insta::assert_snapshot;
use rusqlite::{Connection, OpenFlags};
use rustix::process::{Pid, Signal, kill_process};

use crate::{fixture::Folder, judge_fixture::scores_of_a_program};

/// Enough cases that the run is still busy when it is checked.
const MANY: u32 = 30_000;
const RUN: &str = "scorebox run -s exact-match cases.jsonl -j 2";

/// A folder with this many cases, of which every third is right.
fn with_cases(cases: u32) -> Folder {
    let folder = Folder::new();
    let case = |number: u32| {
        let output = if number.is_multiple_of(3) { "right" } else { "wrong" };
        format!("{{\"id\": \"{number}\", \"output\": \"{output}\", \"groundTruth\": \"right\"}}\n")
    };
    folder.write("cases.jsonl", (0..cases).map(case).collect::<String>());
    folder
}

/// The number of scores stored so far; 0 while there is no database.
pub(crate) fn stored(folder: &Folder) -> u32 {
    let count = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let database = Connection::open_with_flags(folder.path("scorebox.db"), flags)?;
        database
            .query_row::<u32, _, _>("SELECT count(*) FROM _smithers_scorers", [], |row| row.get(0))
    };
    count().unwrap_or(0)
}

/// Starts a run, and sends it the signal once it has stored something.
fn signalled(folder: &Folder, signal: Signal) -> Child {
    let child = folder.spawn(&format!("{RUN} --run-id r"));
    wait_until("something is stored", || stored(folder) > 0);
    kill_process(Pid::from_child(&child), signal).unwrap();
    child
}

/// Resumes the run, and checks every score.
fn resume_and_check(folder: &Folder, cases: u32, scored_before: u32) {
    assert!(0 < scored_before && scored_before < cases, "{scored_before}");
    let summary = folder.sh(&format!("{RUN} --resume r --format json")).exits_with(0).json();
    assert_eq!(summary["state"], "finished");
    assert_eq!(summary["casesFinishedBefore"], scored_before);
    assert_eq!(summary["scoresWritten"], cases - scored_before);

    let scores = folder.rows(
        "SELECT CAST(node_id AS INTEGER), scorer_id, score FROM _smithers_scorers ORDER BY 1",
    );
    let expected: Vec<String> = (0..cases)
        .map(|number| format!("{number} | exact-match | {}", u8::from(number.is_multiple_of(3))))
        .collect();
    assert!(scores == expected, "every case once, and the right score");
}

#[test]
fn a_run_that_was_killed_is_resumed_without_loss_or_repetition() {
    let folder = with_cases(MANY);
    signalled(&folder, Signal::KILL).wait().unwrap();
    let scored_before = stored(&folder);
    resume_and_check(&folder, MANY, scored_before);
}

#[test]
fn an_interrupt_ends_a_run_in_good_order_and_the_words_say_how_to_resume() {
    let folder = with_cases(MANY);
    let ended = signalled(&folder, Signal::INT).wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let words = String::from_utf8(ended.stderr).unwrap();
    assert!(
        words.ends_with(&format!(
            "Interrupted. Scores so far are kept. Resume with:\n  {RUN} --resume r\n"
        )),
        "{words}"
    );
    let scored_before = stored(&folder);
    resume_and_check(&folder, MANY, scored_before);
}

#[test]
fn a_termination_ends_a_run_in_good_order_as_an_interrupt_does() {
    let folder = with_cases(MANY);
    let ended = signalled(&folder, Signal::TERM).wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(143));
    let words = String::from_utf8(ended.stderr).unwrap();
    assert!(
        words.ends_with(&format!(
            "Interrupted. Scores so far are kept. Resume with:\n  {RUN} --resume r\n"
        )),
        "{words}"
    );
    assert_eq!(folder.rows("SELECT state FROM runs"), ["interrupted"]);
    let scored_before = stored(&folder);
    resume_and_check(&folder, MANY, scored_before);
}

#[test]
fn cases_that_an_interrupt_left_without_scores_have_not_passed() {
    let folder = Folder::new();
    let wrong = "{\"output\": \"wrong\", \"groundTruth\": \"right\"}\n";
    folder.write("cases.jsonl", wrong.repeat(MANY as usize));
    folder.write("gate.toml", "[scorers.right]\nuse = \"exact-match\"\nseverity = \"gate\"\n");
    let child = folder.spawn("scorebox run gate.toml cases.jsonl -j 2 --run-id r");
    wait_until("something is stored", || stored(&folder) > 0);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let words = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    let scored = stored(&folder);
    let cases: u32 = folder.rows("SELECT count(*) FROM cases")[0].parse().unwrap();
    assert!(scored < cases, "the run reads ahead of its scorers");
    assert!(words.contains("verdict: 0 of "), "{words}");
    // Thousands have a comma.
    let plain = words.replace(',', "");
    let unscored = format!(" failed {} incomplete", cases - scored);
    assert!(plain.contains(&unscored), "{words}");
    let all = folder.sh("scorebox cases --limit 0 --format json").json();
    let with =
        |verdict| all.as_array().unwrap().iter().filter(|it| it["verdict"] == verdict).count();
    let counts = [with("passed"), with("failed"), with("undecided")];
    assert_eq!(counts, [0, scored as usize, (cases - scored) as usize]);
}

#[test]
fn one_process_at_a_time_writes_a_run() {
    let folder = with_cases(3);
    let mut run = folder.shell("exec scorebox run -s exact-match - --run-id r");
    run.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = run.spawn().unwrap();
    let mut cases = child.stdin.take().unwrap();
    let lines = fs::read_to_string(folder.path("cases.jsonl")).unwrap();
    let (first, others) = lines.split_once('\n').unwrap();
    writeln!(cases, "{first}").unwrap();
    wait_until("something is stored", || stored(&folder) > 0);
    assert_snapshot!(folder.sh(&format!("{RUN} --resume r")), @"
    [stderr]
    error: another process is writing the run `r` in scorebox.db
    hint: wait until that process ends; then resume the run if something is missing
    [exit code 2]
    ");
    // Another run is not affected.
    folder.sh(&format!("{RUN} --run-id other")).exits_with(0);
    write!(cases, "{others}").unwrap();
    drop(cases);
    assert!(child.wait().unwrap().success());
    assert_eq!(
        folder.rows("SELECT id, state FROM runs ORDER BY id"),
        ["other | finished", "r | finished"]
    );
    assert!(!folder.path("scorebox.db-run-r.lock").exists());
    folder.sh(&format!("{RUN} --resume r")).exits_with(0);
}

/// Checks a condition repeatedly; if it never holds, the test fails.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// The file system accepts no more, as if the disk were full: here, because no file may grow further.
#[test]
fn a_run_that_the_disk_has_no_more_room_for_says_how_to_resume_it() {
    // In blocks of 512 bytes: more than the largest commit, of 25,000 rows, so that something is stored; less than all
    // cases need.
    let room = 30_000;
    let cases = 2 * MANY;
    let folder = with_cases(cases);
    let limited = format!("trap '' XFSZ; ulimit -f {room}; exec {RUN} -q --run-id r");
    let cut = folder.sh(&limited).exits_with(2);
    let resume = cut.stderr.lines().last().unwrap().trim();
    assert_eq!(resume, format!("{RUN} -q --resume r"));
    assert!(cut.stderr.starts_with("error: "), "{}", cut.stderr);
    let scored_before = stored(&folder);
    resume_and_check(&folder, cases, scored_before);
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
    let said = "`a b` is not a run id; use 1 to 64 of A-Z, a-z, 0-9, `.`, `_` and `-`, without `-` at the beginning, but not `.` or `..`\n";
    assert!(output.stderr.contains(said), "{output}");
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
    root [digest]
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
    hint: name the same scorers with the same configurations, limits, grants and judges, or start a new run
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox run -s contains --config contains='{\"ignoreCase\": true}' answers.jsonl --resume r"), @"
    [stderr]
    error: the run `r` cannot be resumed like this: the configuration of `contains` has changed
    hint: name the same scorers with the same configurations, limits, grants and judges, or start a new run
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox run -s contains=exact-match answers.jsonl --resume r"), @"
    [stderr]
    error: the run `r` cannot be resumed like this: the component of `contains` has changed
    hint: name the same scorers with the same configurations, limits, grants and judges, or start a new run
    [exit code 2]
    ");
    assert_eq!(stored(&folder), 400);
}

/// A run of four cases, two of which have an answer of a judge that gives them 1.
fn half_judged() -> Folder {
    let folder = Folder::new();
    let case =
        |n: u32| format!("{{\"id\": \"c{n}\", \"input\": \"q{n}\", \"output\": \"o{n}\"}}\n");
    folder.write("cases.jsonl", (0..4).map(case).collect::<String>());
    folder.write("suite.json", scores_of_a_program(1, "yes").to_string());
    let run =
        "scorebox run --suite suite.json cases.jsonl -q -j 1 --run-id r --judge-budget calls=2";
    folder.sh(run).exits_with(1);
    assert_eq!(stored(&folder), 2);
    folder
}

#[test]
fn a_run_is_not_resumed_with_another_judge_model_or_jury() {
    let folder = half_judged();
    let before = all_rows(&folder);
    let mut jury = scores_of_a_program(1, "yes");
    jury["scorers"]["r"]["jury"] = serde_json::json!({"samples": 3});
    folder.write("jury.json", jury.to_string());
    folder.write("no.json", scores_of_a_program(0, "yes").to_string());
    for line in ["no.json", "jury.json", "suite.json --judge-model other"] {
        let resumed = folder.sh(&format!("scorebox run --suite {line} cases.jsonl -q --resume r"));
        let refused =
            "error: the run `r` cannot be resumed like this: the judge of `r` has changed\n";
        assert!(resumed.exits_with(2).stderr.starts_with(refused), "{line}");
        assert_eq!(all_rows(&folder), before, "{line}");
    }
    folder.sh("scorebox run --suite suite.json cases.jsonl -q --resume r").exits_with(0);
    assert_eq!(folder.rows("SELECT DISTINCT score FROM scores"), ["1"]);
    let verified = folder.sh("scorebox verify r --trust-cache").exits_with(0);
    assert!(verified.stderr.contains("4 verified, 0 different"), "{}", verified.stderr);
}

#[test]
fn a_run_is_resumed_with_its_judge_under_another_name_and_from_recordings() {
    let folder = half_judged();
    let mut renamed = scores_of_a_program(1, "yes");
    renamed["judges"] = serde_json::json!({"strict": renamed["judges"]["default"]});
    renamed["judges"]["strict"]["budget"] = serde_json::json!({"calls": 100});
    renamed["scorers"]["r"]["judge"] = "strict".into();
    folder.write("renamed.json", renamed.to_string());
    folder.sh("scorebox run --suite suite.json cases.jsonl -q --db other.db").exits_with(0);
    let recordings = "scorebox calls --db other.db --format jsonl --limit 0 > calls.jsonl && \
                      scorebox calls --import calls.jsonl";
    folder.sh(recordings).exits_with(0);
    let resume = "scorebox run --suite renamed.json cases.jsonl -q --judge-cache only --resume r";
    folder.sh(resume).exits_with(0);
    assert_eq!(stored(&folder), 4);
    folder.sh("scorebox verify r --trust-cache").exits_with(0);
}

#[test]
fn a_run_is_not_resumed_with_a_case_that_has_changed() {
    let folder = Folder::new();
    folder.write("cases.jsonl", "{\"id\": \"a\", \"output\": \"old\"}\n");
    let command = "scorebox run -s contains --config contains='{\"value\": \"new\"}' cases.jsonl";
    folder.sh(&format!("{command} --run-id r")).exits_with(0);
    folder.write("cases.jsonl", "{\"id\": \"a\", \"output\": \"new\"}\n");
    assert_snapshot!(folder.sh(&format!("{command} --resume r")).exits_with(2).stderr, @"

    run r: 0 cases, 0 scores in [time]
    error: cases.jsonl:1: the content of the case `a` has changed since an earlier session of this run stored it
    hint: resume it with all the files that it started with, in the same order
    ");
    assert_eq!(folder.rows("SELECT score FROM _smithers_scorers"), ["0"]);
}

/// The rows of both tables that count, and the state of the run.
fn all_rows(folder: &Folder) -> Vec<String> {
    folder.rows("SELECT state, state_reason, finished_at_ms, hex(root), (SELECT count(*) FROM sessions), (SELECT count(*) FROM cases), (SELECT count(*) FROM score_rows) FROM runs")
}

/// Replaces the file of cases by its first lines.
fn shortened(folder: &Folder, lines: usize) {
    let all = fs::read_to_string(folder.path("cases.jsonl")).unwrap();
    let short: String = all.split_inclusive('\n').take(lines).collect();
    folder.write("cases.jsonl", short);
    folder.write("all.jsonl", all);
}

#[test]
fn a_run_that_was_killed_does_not_finish_with_a_shorter_file() {
    let folder = with_cases(MANY);
    signalled(&folder, Signal::KILL).wait().unwrap();
    let (scored_before, before) = (stored(&folder), all_rows(&folder));
    shortened(&folder, 5);
    let output = folder.sh(&format!("{RUN} --resume r")).exits_with(2);
    let expected = "error: 5 of the run's ";
    assert!(output.stderr.contains(expected), "{output}");
    assert_eq!(all_rows(&folder), before, "nothing was written");
    folder.sh("mv all.jsonl cases.jsonl");
    resume_and_check(&folder, MANY, scored_before);
}

#[test]
fn a_finished_run_stays_finished_when_a_resume_is_refused() {
    let folder = Folder::new();
    folder.write("cases.jsonl", "{\"id\": \"a\", \"output\": 1}\n{\"id\": \"b\", \"output\": 2}\n");
    let command = "scorebox run -s contains --config contains='{\"value\": \"1\"}' cases.jsonl";
    folder.sh(&format!("{command} --run-id r")).exits_with(0);
    let before = all_rows(&folder);
    folder.write("cases.jsonl", "{\"id\": \"a\", \"output\": 1}\n");
    assert_snapshot!(folder.sh(&format!("{command} --resume r")).exits_with(2).stderr, @"

    run r: 0 cases, 0 scores in [time] (1 case was finished before)
    error: 1 of the run's 2 cases were read
    hint: resume it with all the files that it started with, in the same order
    ");
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
    let folder = with_cases(400);
    let all = fs::read_to_string(folder.path("cases.jsonl")).unwrap();
    shortened(&folder, 10);
    folder.sh(&format!("{RUN} --run-id r")).exits_with(0);
    folder.write("cases.jsonl", all);
    resume_and_check(&folder, 400, 10);
}

#[test]
fn a_resume_with_other_cases_changes_nothing() {
    let folder = Folder::new();
    let lines = |name: &str, count: u32| -> String {
        (0..count).map(|n| format!("{{\"id\": \"{name}{n}\", \"output\": 1}}\n")).collect()
    };
    folder.write("cases.jsonl", lines("a", 2) + "no case\n");
    let command = "scorebox run -s length --config length='{\"max\": 9}'";
    folder.sh(&format!("{command} cases.jsonl --run-id r")).exits_with(2);
    let before = all_rows(&folder);
    folder.write("other.jsonl", lines("z", 50));
    for options in ["", "--on-bad-case skip"] {
        let output = folder.sh(&format!("{command} other.jsonl --resume r {options}"));
        insta::allow_duplicates! { assert_snapshot!(output.exits_with(2).stderr, @"

        run r: 0 cases, 0 scores in [time]
        error: other.jsonl:1: the case `z0` is not the one that an earlier session of this run stored in its place, `a0`
        hint: resume it with all the files that it started with, in the same order
        "); }
        assert_eq!(all_rows(&folder), before);
    }
    folder.write("cases.jsonl", lines("a", 9));
    folder.sh(&format!("{command} cases.jsonl --resume r")).exits_with(0);
    assert_eq!(
        folder.rows("SELECT state, (SELECT count(*) FROM score_rows) FROM runs"),
        ["finished | 9"]
    );
}
