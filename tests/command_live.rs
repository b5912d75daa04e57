//! `scorebox live`: lines as they arrive, and files that grow, are rotated and truncated. Each case is scored once, whatever
//! ends the process.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags};
use serde_json::json;

use crate::fixture::Folder;

const SUITE: &str = "[scorers.right]\nuse = \"exact-match\"\n";
const FOLLOW: &str = "scorebox live suite.toml --follow agent.jsonl";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("suite.toml", SUITE);
    folder
}

fn line(id: &str) -> String {
    format!("{}\n", json!({"id": id, "output": "a", "groundTruth": "a"}))
}

/// A line without an id.
fn nameless(output: usize) -> String {
    format!("{}\n", json!({"output": output, "groundTruth": output}))
}

fn append(folder: &Folder, text: &str) {
    let mut file = OpenOptions::new();
    let mut file = file.append(true).create(true).open(folder.path("agent.jsonl")).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// How many scores are stored, as another process sees it.
fn stored(folder: &Folder) -> i64 {
    let path = folder.path("scorebox.db");
    let Ok(database) = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY) else {
        return 0;
    };
    database.query_row("SELECT count(*) FROM score_rows", [], |row| row.get(0)).unwrap_or(0)
}

/// Waits until so many scores are stored, which the process that follows is to see to.
#[track_caller]
fn until_stored(folder: &Folder, following: &mut Child, scores: i64) {
    let started = Instant::now();
    while stored(folder) < scores {
        assert!(following.try_wait().unwrap().is_none(), "it ended");
        assert!(started.elapsed() < Duration::from_secs(120), "{} of {scores}", stored(folder));
        std::thread::yield_now();
    }
    assert_eq!(stored(folder), scores);
}

/// Waits until the position after so many lines is stored.
#[track_caller]
fn until_position(folder: &Folder, line: u64) {
    let started = Instant::now();
    let path = folder.path("scorebox.db-follow-live-agent.jsonl.json");
    let position = || {
        let text = fs::read_to_string(&path).unwrap_or_default();
        serde_json::from_str::<serde_json::Value>(&text).ok()?["line"].as_u64()
    };
    while position() != Some(line) {
        assert!(started.elapsed() < Duration::from_secs(120), "{:?}", position());
        std::thread::yield_now();
    }
}

fn signal(child: &Child, name: &str) {
    let kill = std::process::Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
}

/// Ends it as a service manager does; the answer is what it said.
#[track_caller]
fn terminated(following: Child) -> String {
    signal(&following, "-TERM");
    let output = following.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(143), "{said}");
    said
}

#[test]
fn lines_of_standard_input_are_scored_until_it_ends() {
    let folder = folder();
    folder.write("cases.jsonl", [line("a"), line("b"), nameless(3)].concat());
    let run = folder.sh("cat cases.jsonl | scorebox live suite.toml --run-id r").exits_with(0);
    assert!(run.stdout.starts_with("scorer  scored"), "{run}");
    assert!(run.stdout.contains("right        3    0       0  1.0000  1.0000"), "{run}");
    assert!(run.stderr.contains("run r: 3 cases, 3 scores\n"), "{run}");
    assert!(run.stderr.contains("see the scores with: scorebox scores r"), "{run}");
    assert_eq!(folder.rows("SELECT source, state FROM runs"), ["live | finished"]);
    let smithers = folder.rows("SELECT DISTINCT source FROM _smithers_scorers");
    assert_eq!(smithers, ["live"]);
}

/// A score is stored while the input is still open.
#[test]
fn a_line_is_scored_when_it_arrives() {
    let folder = folder();
    let mut shell = folder.shell("exec scorebox live suite.toml -q");
    let mut live =
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = live.stdin.take().unwrap();
    for number in 1..4 {
        input.write_all(nameless(number).as_bytes()).unwrap();
        until_stored(&folder, &mut live, i64::try_from(number).unwrap());
    }
    drop(input);
    assert!(live.wait().unwrap().success());
}

#[test]
fn a_line_that_is_not_a_case_is_reported_and_the_rest_is_scored() {
    let folder = folder();
    let mut lines = line("a").into_bytes();
    lines.extend(b"\x1f\x00\xff binary\nnot json\n{\"id\": \"lacks\"}\n");
    lines.extend(line("a").bytes());
    lines.extend(line("b").bytes());
    folder.write("cases.jsonl", lines);
    let run = folder.sh("scorebox live suite.toml -q <cases.jsonl").exits_with(0);
    for said in [
        "warning: not scored: <stdin>:2",
        "warning: not scored: <stdin>:3:2: not valid JSON",
        "warning: not scored: <stdin>:4: no `output`",
        "warning: not scored: <stdin>:5: duplicate id `a`, first used at <stdin>:1",
        "2 cases, 2 scores, 4 invalid lines",
    ] {
        assert!(run.stderr.contains(said), "{said}\n{run}");
    }

    folder.write("bad.jsonl", format!("{}{}", "bad\n".repeat(1000), line("c")));
    let run = folder.sh("scorebox live suite.toml -q <bad.jsonl").exits_with(0);
    assert_eq!(run.stderr.matches("warning: not scored").count(), 10, "{run}");
    assert!(run.stderr.contains("1 case, 1 score, 1,000 invalid lines"), "{run}");
}

#[test]
fn an_endless_line_is_refused_and_the_next_one_scored() {
    let folder = folder();
    folder.write("last.jsonl", line("last"));
    let endless = "head -c 70000000 /dev/zero | tr '\\0' x; echo; cat last.jsonl";
    let run = folder.sh(&format!("{{ {endless}; }} | scorebox live suite.toml -q")).exits_with(0);
    assert!(run.stderr.contains("the line is longer than"), "{run}");
    assert!(run.stderr.contains("1 case, 1 score, 1 invalid line"), "{run}");
}

#[test]
fn errors_of_scorers_and_a_closed_output_are_reported_as_by_run() {
    let folder = folder();
    folder.write("cases.jsonl", "{\"id\": \"a\", \"output\": 1}\n");
    folder.sh("scorebox live suite.toml -q <cases.jsonl").exits_with(1);
    folder.sh("scorebox live suite.toml -q --allow-errors <cases.jsonl").exits_with(0);
    folder.sh("scorebox live suite.toml -q --allow-errors <cases.jsonl >&-").exits_with(0);
    let none = folder.sh("scorebox live suite.toml -q </dev/null");
    assert!(none.stderr.contains("no cases to score") && none.code == Some(2), "{none}");
    let events = folder.sh("scorebox live suite.toml --allow-errors --events - <cases.jsonl");
    assert!(events.stdout.starts_with("{\"type\":\"RunStarted\""), "{events}");
    assert!(!events.stdout.contains("scored  n/a"), "{events}");
}

#[test]
fn a_file_is_followed_through_rotation_and_truncation() {
    let folder = folder();
    append(&folder, &[line("a"), nameless(2)].concat());
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 2);
    // A line that is written in two parts is one line.
    let (first, second) = (line("c"), line("d"));
    append(&folder, &first[..10]);
    append(&folder, &[&first[10..], &second].concat());
    until_stored(&folder, &mut following, 4);
    // Rotated: renamed, written once more under the new name, and begun again.
    fs::rename(folder.path("agent.jsonl"), folder.path("agent.jsonl.1")).unwrap();
    let mut old = OpenOptions::new().append(true).open(folder.path("agent.jsonl.1")).unwrap();
    old.write_all(line("e").as_bytes()).unwrap();
    append(&folder, &[line("f"), nameless(8)].concat());
    until_stored(&folder, &mut following, 5);
    // The program was not told to open the new file yet.
    std::thread::sleep(Duration::from_secs(1));
    old.write_all(line("late").as_bytes()).unwrap();
    until_stored(&folder, &mut following, 8);
    // Truncated in place, as `copytruncate` does.
    fs::write(folder.path("agent.jsonl"), "").unwrap();
    // It is looked at every 100 ms; a file that grew past where it was read meanwhile would look like more of the same.
    append(&folder, &line("g"));
    until_stored(&folder, &mut following, 9);
    let said = terminated(following);
    assert!(said.contains("run live-agent.jsonl: 9 cases, 9 scores\n"), "{said}");
    let names = folder.rows("SELECT case_id FROM scores ORDER BY case_id");
    assert_eq!(names, ["a", "c", "case-2", "case-8", "d", "e", "f", "g", "late"]);
    assert_eq!(folder.rows("SELECT source, state FROM runs"), ["live | interrupted"]);
}

#[test]
fn the_same_command_continues_where_it_was() {
    let folder = folder();
    append(&folder, &[nameless(1), nameless(2)].concat());
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 2);
    terminated(following);
    append(&folder, &nameless(3));
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 3);
    terminated(following);
    // What was written and rotated meanwhile is read from where it is now.
    append(&folder, &nameless(4));
    fs::rename(folder.path("agent.jsonl"), folder.path("agent.jsonl-20261123")).unwrap();
    append(&folder, &nameless(5));
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 5);
    let said = terminated(following);
    assert!(said.contains("2 cases, 2 scores"), "{said}");
    // Something else is in the file: it is read from its beginning.
    folder.write("agent.jsonl", [nameless(60), nameless(70)].concat());
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 7);
    let said = terminated(following);
    assert!(said.contains("is not the file that was followed before"), "{said}");
    let outputs = folder.rows("SELECT c.output FROM cases c ORDER BY c.ordinal");
    assert_eq!(outputs, ["1", "2", "3", "4", "5", "60", "70"]);
}

/// Nothing new is in the file: it does not wait for a line to say so.
#[test]
fn another_suite_than_that_of_the_run_is_refused_at_once() {
    let folder = folder();
    append(&folder, &line("a"));
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 1);
    terminated(following);
    folder.write("suite.toml", "[scorers.right]\nuse = \"length\"\nconfig = { max = 9 }\n");
    let refused = folder.sh(&format!("timeout 60 {FOLLOW}")).exits_with(2);
    assert!(refused.stderr.contains("live-agent.jsonl"), "{refused}");
    assert_eq!(folder.rows("SELECT state FROM runs"), ["interrupted"]);
}

#[test]
fn a_second_process_does_not_follow_into_the_same_run() {
    let folder = folder();
    append(&folder, &line("a"));
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 1);
    let refused = folder.sh(FOLLOW).exits_with(2);
    assert!(
        refused.stderr.starts_with("error: another process follows a file into the run `live-"),
        "{refused}"
    );
    append(&folder, &line("b"));
    until_stored(&folder, &mut following, 2);
    terminated(following);
}

/// Killed at any time: between the commit and the position, too.
#[test]
fn a_process_that_is_killed_before_its_first_position_scores_each_case_once() {
    let folder = folder();
    append(&folder, &(0..100).map(nameless).collect::<String>());
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 100);
    signal(&following, "-KILL");
    following.wait().unwrap();
    // As if it had been killed before the first position, but for that of the beginning.
    let file = folder.path("scorebox.db-follow-live-agent.jsonl.json");
    let mut position: serde_json::Value =
        serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    position["line"] = 0.into();
    position["ordinal"] = 0.into();
    fs::write(&file, position.to_string()).unwrap();
    append(&folder, &nameless(100));
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 101);
    terminated(following);
    assert_eq!(folder.rows("SELECT count(DISTINCT output), count(*) FROM cases"), ["101 | 101"]);
}

#[test]
fn a_process_that_is_killed_scores_each_case_once() {
    let folder = folder();
    let mut written = 0;
    for round in 1..=6_usize {
        let lines: String = (written..written + 100).map(nameless).collect();
        written += 100;
        let old = folder.path("scorebox.db-follow-live-agent.jsonl.json");
        let before = fs::read(&old).ok();
        append(&folder, &lines);
        let mut following = folder.spawn(FOLLOW);
        match round % 3 {
            // Just when something of it is stored.
            0 => while stored(&folder) <= i64::try_from(written).unwrap() - 100 {},
            _ => until_stored(&folder, &mut following, i64::try_from(written).unwrap()),
        }
        signal(&following, "-KILL");
        following.wait().unwrap();
        // As if it had been killed between the commit and the position.
        if let (1, Some(before)) = (round % 3, before) {
            fs::write(&old, before).unwrap();
        }
    }
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 600);
    // If all was stored before it was killed, the next case moves the position.
    append(&folder, &nameless(600));
    until_stored(&folder, &mut following, 601);
    until_position(&folder, 601);
    terminated(following);
    assert_eq!(folder.rows("SELECT count(DISTINCT output), count(*) FROM cases"), ["601 | 601"]);
    assert_eq!(folder.rows("SELECT count(*) FROM runs"), ["1"]);
    folder.sh("scorebox verify live-agent.jsonl").exits_with(0);
}

#[test]
fn a_file_that_does_not_exist_yet_is_waited_for() {
    let folder = folder();
    let mut following = folder.spawn(FOLLOW);
    append(&folder, &line("a"));
    until_stored(&folder, &mut following, 1);
    terminated(following);

    let mut nothing = folder.spawn("scorebox live suite.toml --follow none.jsonl --db none.db");
    let stderr = nothing.stderr.take().unwrap();
    let first = std::io::BufRead::lines(std::io::BufReader::new(stderr)).next().unwrap().unwrap();
    assert_eq!(first, "waiting for `none.jsonl`, which does not exist yet");
    // Before it listens to signals, one ends it as any process.
    signal(&nothing, "-TERM");
    let ended = nothing.wait().unwrap();
    assert!(ended.code().is_none_or(|code| code == 143), "{ended}");
}

#[test]
fn what_cannot_be_followed_is_an_error_at_once() {
    let folder = folder();
    folder.sh("mkfifo pipe && mkdir sub && scorebox live suite.toml -q --run-id r </dev/null");
    append(&folder, &line("a"));
    folder.sh("scorebox run suite.toml agent.jsonl -q --run-id batch").exits_with(0);
    folder.write("broken.db-follow-r.json", "{\"version\": 1");
    for (options, why) in [
        ("--follow sub", "sub"),
        ("--follow pipe", "only a regular file can be followed"),
        ("--follow /dev/zero", "only a regular file can be followed"),
        ("--follow agent.jsonl --run-id batch", "the run `batch` is not live"),
        ("--follow agent.jsonl --run-id r --db broken.db", "cannot read the position in"),
        ("--follow agent.jsonl --events agent.jsonl", "the events cannot go to `agent.jsonl`"),
        ("--follow agent.jsonl --db sub", "sub"),
    ] {
        let run = folder.sh(&format!("scorebox live suite.toml -q {options}")).exits_with(2);
        assert!(run.stderr.contains(why), "{options}\n{run}");
    }
}

/// Four cases: one passes, one regresses, a gate fails one, and one is errored.
fn judged() -> Folder {
    let folder = Folder::new();
    let suite = "[scorers.right]\nuse = \"exact-match\"\nseverity = \"gate\"\n\
                 [scorers.quick]\nuse = \"latency\"\nconfig = { targetMs = 10, maxMs = 20 }\n\
                 threshold = 0.5\n";
    folder.write("suite.toml", suite);
    let case = |id: &str, output: &str, latency: u32| json!({"id": id, "output": output, "groundTruth": "a", "latencyMs": latency});
    let cases = [
        case("good", "a", 10),
        case("slow", "a", 20),
        case("bad", "b", 10),
        json!({"id": "lacks", "output": "a", "latencyMs": 10}),
    ];
    folder.write("cases.jsonl", cases.map(|case| format!("{case}\n")).concat());
    folder
}

#[test]
fn gates_decide_the_exit_code_when_the_input_ends() {
    let folder = judged();
    let live =
        |options: &str| folder.sh(&format!("scorebox live suite.toml -q {options} <cases.jsonl"));
    let failed = live("--run-id r").exits_with(3);
    for said in [
        "verdict: 2 of 4 cases passed",
        ", 1 of them with regressions, 1 failed, 1 errored",
        "  right (gate, at least 1.0000): 1 case failed, 1 case errored",
        "error: 1 case failed",
        "hint: show them: scorebox cases r --failed",
    ] {
        assert!(failed.stderr.contains(said), "{said}\n{failed}");
    }
    for (options, code) in [
        ("--allow-failures", 1),
        ("--allow-failures --allow-errors", 0),
        ("--min-pass-rate 0.5 --allow-errors", 0),
        ("--min-pass-rate 0.6 --allow-errors", 3),
        ("--min-pass-rate 0.5 --max-errors 1", 0),
        ("--min-pass-rate 0.5 --max-errors 0", 3),
        ("--min-pass-rate 0.5 --allow-errors --fail-below quick=0.8", 3),
        ("--min-pass-rate 0.5 --allow-errors --strict", 3),
    ] {
        let run = live(options);
        assert_eq!(run.code, Some(code), "{options}\n{run}");
    }
    let wrong = live("--fail-below quick=2").exits_with(2);
    assert!(wrong.stderr.contains("the scores of `quick` are from 0 to 1"), "{wrong}");
}

#[test]
fn the_verdict_of_a_case_comes_with_its_scores() {
    let folder = judged();
    let line = "scorebox live suite.toml --allow-failures --allow-errors --events -";
    let run = folder.sh(&format!("{line} <cases.jsonl")).exits_with(0);
    let events =
        run.stdout.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let mut verdicts: Vec<_> = events
        .filter(|event| event["type"] == "CaseFinished")
        .map(|it| (it["caseId"].to_string(), it["verdict"].to_string(), it["regressions"].clone()))
        .collect();
    verdicts.sort_by(|one, other| one.0.cmp(&other.0));
    let found: Vec<_> = verdicts
        .iter()
        .map(|(case, verdict, regressions)| (case.as_str(), verdict.as_str(), regressions.as_u64()))
        .collect();
    let expected = [
        ("\"bad\"", "\"failed\"", Some(0)),
        ("\"good\"", "\"passed\"", Some(0)),
        ("\"lacks\"", "\"errored\"", Some(0)),
        ("\"slow\"", "\"passed\"", Some(1)),
    ];
    assert_eq!(found, expected);
    // They are those of what is stored.
    let cases = folder.sh("scorebox cases --format json").exits_with(0).json();
    let stored = cases.as_array().unwrap();
    assert_eq!(stored.len(), 4, "{cases}");
    for case in stored {
        let (id, verdict) = (case["caseId"].to_string(), case["verdict"].to_string());
        let event = verdicts.iter().find(|(case, ..)| *case == id).unwrap();
        assert_eq!(event.1, verdict, "{cases}");
    }
}

#[test]
fn reports_are_written_at_the_end() {
    let folder = judged();
    let line = "scorebox live suite.toml -q --run-id r --report csv=out.csv --report markdown=-";
    let run = folder.sh(&format!("{line} <cases.jsonl")).exits_with(3);
    assert!(run.stdout.contains("| right |") || run.stdout.contains("`right`"), "{run}");
    assert!(!run.stdout.contains("scorer  scored"), "{run}");
    let csv = fs::read_to_string(folder.path("out.csv")).unwrap();
    assert_eq!(csv.lines().count(), 9, "{csv}");
    let both = folder.sh("scorebox live suite.toml --report csv=- --events - </dev/null");
    assert!(both.exits_with(2).stderr.contains("both a report and the events go to"));
    let same = folder.sh("scorebox live suite.toml --report csv=suite.toml </dev/null");
    assert!(same.exits_with(2).stderr.contains("the command itself uses this file"));
}

/// A followed file ends with a signal, and all that its run has stored is judged then.
#[test]
fn a_followed_file_is_judged_when_a_signal_ends_it() {
    let folder = judged();
    append(&folder, &fs::read_to_string(folder.path("cases.jsonl")).unwrap());
    let line = format!("{FOLLOW} --report junit=out.xml");
    for (options, code, cases, verdict) in [
        ("", 3, 4, "verdict: 2 of 4 cases passed"),
        (" --allow-failures", 143, 5, "verdict: 3 of 5 cases passed"),
    ] {
        let mut following = folder.spawn(&format!("{line}{options}"));
        if cases == 5 {
            append(&folder, &self::line("more"));
        }
        until_stored(&folder, &mut following, 2 * cases);
        // By then it listens to signals.
        until_position(&folder, u64::try_from(cases).unwrap());
        signal(&following, "-TERM");
        let output = following.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(verdict), "{said}");
        let junit = fs::read_to_string(folder.path("out.xml")).unwrap();
        assert!(
            junit.contains(&format!("tests=\"{cases}\" failures=\"1\" errors=\"1\"")),
            "{junit}"
        );
    }
}

/// What is not whole is not held to what is required of it.
#[test]
fn a_stream_that_a_signal_cuts_off_is_not_judged() {
    let folder = judged();
    let mut shell = folder.shell("exec scorebox live suite.toml -q");
    let mut live =
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = live.stdin.take().unwrap();
    input.write_all(&fs::read(folder.path("cases.jsonl")).unwrap()).unwrap();
    until_stored(&folder, &mut live, 8);
    signal(&live, "-INT");
    let output = live.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("verdict: 2 of 4 cases passed"), "{said}");
    assert!(!said.contains("error: 1 case failed"), "{said}");
    drop(input);
}
