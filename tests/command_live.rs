//! `scorebox live`: scores lines as they arrive, checks requirements, and ends.

use std::{
    fs,
    io::Write as _,
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    fixture::Folder,
    live_fixture::{
        FOLLOW, append, folder, line, nameless, signal, stored, until_position, until_stored,
    },
};

#[test]
fn lines_of_standard_input_are_scored_until_it_ends() {
    let folder = folder();
    folder.write("cases.jsonl", [line("a"), line("b"), nameless(3)].concat());
    let run = folder.sh("cat cases.jsonl | scorebox live suite.toml --run-id r").exits_with(0);
    assert!(run.stdout.starts_with("scorer  scored"), "{run}");
    assert!(run.stdout.contains("right        3    0       0  1.0000"), "{run}");
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

/// An agent may end each record with a blank line, and write the next record hours later.
#[test]
fn a_blank_line_does_not_hold_back_the_lines_before_it() {
    let folder = folder();
    let mut shell = folder.shell("exec scorebox live suite.toml -q");
    let mut live =
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = live.stdin.take().unwrap();
    input.write_all([&nameless(1), &nameless(2), "\n"].concat().as_bytes()).unwrap();
    until_stored(&folder, &mut live, 2);
    input.write_all([&nameless(3), " \r\n\n\t\n", &nameless(4)[..5]].concat().as_bytes()).unwrap();
    until_stored(&folder, &mut live, 3);
    input.write_all([&nameless(4)[5..], "\n"].concat().as_bytes()).unwrap();
    until_stored(&folder, &mut live, 4);
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
    let run = folder.sh("scorebox live suite.toml -q <cases.jsonl").exits_with(1);
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
    let run = folder.sh("scorebox live suite.toml -q --max-errors 5 <bad.jsonl").exits_with(1);
    assert_eq!(run.stderr.matches("warning: not scored").count(), 10, "{run}");
    assert!(run.stderr.contains("1 case, 1 score, 1,000 invalid lines"), "{run}");
    folder.sh("scorebox live suite.toml -q --allow-errors <bad.jsonl").exits_with(0);
}

#[test]
fn an_endless_line_is_refused_and_the_next_one_scored() {
    let folder = folder();
    folder.write("last.jsonl", line("last"));
    let endless = "head -c 70000000 /dev/zero | tr '\\0' x; echo; cat last.jsonl";
    let run = folder.sh(&format!("{{ {endless}; }} | scorebox live suite.toml -q")).exits_with(1);
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
    assert!(
        none.stderr.contains("<stdin>: there are no cases in it") && none.code == Some(2),
        "{none}"
    );
    assert!(none.stderr.contains("hint: the program before the pipe wrote nothing"), "{none}");
    let events = folder.sh("scorebox live suite.toml --allow-errors --events - <cases.jsonl");
    assert!(events.stdout.starts_with("{\"type\":\"RunStarted\""), "{events}");
    assert!(!events.stdout.contains("scored  n/a"), "{events}");
}

/// The first error of each scorer and kind is reported when it happens, and at the end the same errors as in `run`.
#[test]
fn why_scores_failed_is_said_when_it_happens_and_at_the_end() {
    let folder = folder();
    folder.write(
        "e.js",
        "export default ({ output }) => { if (output === 'x') throw Error('bo\\u001b[2Jom'); return 2; };",
    );
    folder.write(
        "suite.toml",
        "[scorers.e]\nuse = \"./e.js\"\n[scorers.right]\nuse = \"exact-match\"\nseverity = \"soft\"\n\
         [scorers.nowhere]\nuse = \"exact-match\"\nnodes = [\"x\"]\n",
    );
    let lines =
        ["x", "x", "y", "x"].map(|it| format!("{{\"output\":\"{it}\",\"groundTruth\":\"x\"}}\n"));
    folder.write("cases.jsonl", lines.concat());
    let live = folder.sh("scorebox live suite.toml -q -j 1 --run-id r < cases.jsonl").exits_with(1);
    const NO_SCORE: &str =
        "warning: no score (further errors of this kind are counted): e on case-";
    let shown = |kind: &str| {
        let lines = live.stderr.lines();
        lines.filter(|line| line.starts_with(NO_SCORE) && line.contains(kind)).count()
    };
    assert_eq!((shown(": failed: "), shown(": invalid-score: ")), (1, 1), "{live}");
    let first = live.stderr.lines().find(|line| line.contains("case-1")).unwrap();
    assert!(
        first.contains(": failed: e.js:1:59: bo\\u{1b}[2Jom") && !live.stderr.contains('\u{1b}'),
        "{live}"
    );
    for said in [
        "run r: 4 cases, 4 scores, 4 errors, 4 skipped\n",
        "warning: 4 scores are errors; first:\n  e on case-1: failed: e.js:1:",
        "hint: show all errors: scorebox scores r --errors\n",
        "warning: `nowhere` applies to no case: look at its `nodes`\n",
    ] {
        assert!(live.stderr.contains(said), "{said}\n{live}");
    }
    // The table is that of `run`, with the skipped cases.
    let table = |output: &str| output.lines().map(|line| line[..39].to_owned()).collect::<Vec<_>>();
    let run = folder.sh("scorebox run suite.toml cases.jsonl -q --run-id s").exits_with(1);
    assert_eq!(table(&live.stdout), table(&run.stdout));
    assert!(live.stdout.starts_with("scorer   scored  n/a  skipped  errors    mean"), "{live}");
}

#[test]
fn a_run_that_is_there_takes_no_more_lines_and_the_hint_says_what_does() {
    let folder = folder();
    folder.write("cases.jsonl", line("a"));
    folder.sh("scorebox live suite.toml -q --run-id r < cases.jsonl").exits_with(0);
    insta::assert_snapshot!(folder.sh("scorebox live suite.toml -q --run-id r < cases.jsonl"), @"
    [stderr]
    error: there is already a run `r` in [folder]/scorebox.db
    hint: a run takes the lines of one process: give this one another id, or have the tasks of a workflow append to one file, which --follow reads into one run
    [exit code 2]
    ");
}

/// A pipe whose reader takes nothing: the events end, and so does the process.
#[cfg(unix)]
#[test]
fn a_reader_of_events_that_takes_nothing_does_not_keep_a_signal_waiting() {
    let folder = folder();
    folder.sh("mkfifo pipe").exits_with(0);
    let reader = fs::File::options().read(true).write(true).open(folder.path("pipe")).unwrap();
    let mut shell = folder.shell("exec scorebox live suite.toml -q --events pipe");
    let mut live =
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = live.stdin.take().unwrap();
    // Their events exceed the capacity of the pipe.
    input.write_all((0..1000).map(nameless).collect::<String>().as_bytes()).unwrap();
    let started = Instant::now();
    while stored(&folder) == 0 {
        assert!(started.elapsed() < Duration::from_secs(120));
        assert!(live.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_secs(1));
    signal(&live, "-TERM");
    let output = live.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(143), "{said}");
    let why = "error: cannot write the events to `pipe`: \
               after the interruption, no program read them within 5 seconds";
    assert!(said.contains(why), "{said}");
    drop((reader, input));
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
    // The figures are those of the stored rows.
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

/// A followed file ends with a signal, and everything that its run has stored is then judged.
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
        // By then it handles signals.
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

/// The next case may belong to the node: after the next start it is in the same run.
#[test]
fn a_gate_that_had_no_case_yet_holds_where_a_followed_file_goes_on() {
    let folder = judged();
    folder.write("suite.toml", "[scorers.exact-match]\nseverity = \"gate\"\nnodes = [\"n\"]\n");
    append(&folder, &line("a"));
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 1);
    // By then it handles signals.
    until_position(&folder, 1);
    signal(&following, "-INT");
    let output = following.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(
        said.contains("exact-match (gate, at least 1.0000): decided none of 1 case\n"),
        "{said}"
    );
    assert!(!said.contains("error: "), "{said}");
    // A stream that ended is complete.
    folder.sh("scorebox live suite.toml -q --run-id ended < agent.jsonl").exits_with(3);
}

/// An incomplete run is not checked against its requirements.
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
