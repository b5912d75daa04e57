//! `scorebox run --events`: what the events contain, where they go, and what happens if they cannot be written.

use std::{collections::BTreeMap, fs, path::Path, process::Stdio};

use serde_json::{Value, json};

use crate::fixture::Folder;

/// One case for each outcome, a line that is not a case, and three scorers: one that fails, one that does not apply,
/// and one that summarizes.
const CASES: &str = r#"{"id": "good", "nodeId": "sums", "output": "4", "groundTruth": "4", "metadata": {"label": "a"}}
not a case
{"id": "left", "output": "4", "groundTruth": "4", "skip": "flaky"}
{"id": "broken", "output": "5", "iteration": 1, "attempt": 2}
"#;

const SUITE: &str = r#"[scorers.right]
use = "exact-match"
name = "Is it right?"
[scorers.labels]
use = "label-distribution"
"#;

const RUN: &str = "scorebox run suite.toml cases.jsonl --on-bad-case skip --allow-errors -q";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("cases.jsonl", CASES);
    folder.write("suite.toml", SUITE);
    folder
}

/// The events of a file, in order.
fn events(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn read(folder: &Folder, name: &str) -> Vec<Value> {
    events(&fs::read_to_string(folder.path(name)).unwrap())
}

fn of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

#[test]
fn a_scorer_starts_and_then_finishes_or_fails_with_the_fields_of_smithers() {
    let folder = folder();
    folder.sh(&format!("{RUN} --run-id r --events events.jsonl")).exits_with(0);
    let events = read(&folder, "events.jsonl");
    let mut of_scorers: BTreeMap<(String, String), Vec<&Value>> = BTreeMap::new();
    for event in events.iter().filter(|event| event["type"].as_str().unwrap().starts_with("Scorer"))
    {
        assert_eq!(event["runId"], "r");
        let name = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        of_scorers.entry((name("caseId"), name("scorerId"))).or_default().push(event);
    }
    let of = |case: &str, scorer: &str| of_scorers[&(case.to_owned(), scorer.to_owned())].clone();
    for (case, node) in [("good", "sums"), ("broken", "broken")] {
        let [started, _ended] = of(case, "right")[..] else { panic!("{of_scorers:?}") };
        assert_eq!(started["type"], "ScorerStarted");
        assert_eq!(
            (&started["nodeId"], &started["scorerName"]),
            (&json!(node), &json!("Is it right?"))
        );
        assert!(started["atMs"].as_i64().unwrap() > 1_700_000_000_000);
    }
    let finished = of("good", "right")[1];
    assert_eq!(finished["type"], "ScorerFinished");
    assert_eq!((&finished["score"], &finished["status"]), (&json!(1.0), &json!("scored")));
    assert_eq!(finished["scorerName"], "Is it right?");
    let failed = of("broken", "right")[1];
    assert_eq!((&failed["type"], &failed["nodeId"]), (&json!("ScorerFailed"), &json!("broken")));
    assert_eq!(failed["error"]["kind"], "invalid-input");
    assert_eq!((&failed["iteration"], &failed["attempt"]), (&json!(1), &json!(2)));
    // This scorer gives no score for a case.
    let label = of("good", "labels")[1];
    assert_eq!((&label["status"], &label["score"]), (&json!("not-applicable"), &Value::Null));
    // A skipped case has only its own event.
    assert!(!of_scorers.contains_key(&("left".into(), "right".into())));
    let cases = |kind| of_type(&events, kind).iter().map(|it| it["ordinal"].clone()).collect();
    let (accepted, mut finished): (Vec<Value>, Vec<Value>) =
        (cases("CaseAccepted"), cases("CaseFinished"));
    finished.sort_by_key(Value::as_u64);
    assert_eq!(
        (accepted, finished),
        (vec![json!(0), json!(2), json!(3)], vec![json!(0), json!(2), json!(3)])
    );
}

#[test]
fn a_run_begins_and_ends_with_an_event_and_says_what_was_refused() {
    let folder = folder();
    folder.sh(&format!("{RUN} --run-id r --events events.jsonl")).exits_with(0);
    let events = read(&folder, "events.jsonl");
    let types: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!((types.first(), types.last()), (Some(&"RunStarted"), Some(&"RunEnded")));
    assert_eq!(events[0]["scorerIds"], json!(["right", "labels"]));
    let [refused] = of_type(&events, "CaseRefused")[..] else { panic!("{types:?}") };
    let message = refused["message"].as_str().unwrap();
    assert!(message.starts_with("cases.jsonl:2:"), "{message}");
    assert_eq!((&refused["ordinal"], &refused["line"]), (&json!(1), &json!(2)));
    let [summary] = of_type(&events, "ScorerSummarized")[..] else { panic!("{types:?}") };
    assert_eq!(summary["scorerId"], "labels");
    assert!(summary["summary"].is_object(), "{summary}");
    let ended = events.last().unwrap();
    assert_eq!((&ended["stopped"], &ended["progress"]["scoresSkipped"]), (&Value::Null, &json!(2)));
    let root = folder.rows("SELECT lower(hex(root)) FROM runs");
    assert_eq!(ended["root"], root[0]);
}

/// Someone may view a file of events on a terminal.
#[test]
fn what_is_not_seen_is_escaped_wherever_events_go() {
    let folder = Folder::new();
    let odd = "a\u{202e}b\u{2028}c";
    folder.write("cases.jsonl", json!({"id": odd, "output": "x"}).to_string());
    for target in ["events.jsonl", "-"] {
        let line = format!(
            "scorebox run cases.jsonl -s exact-match -q --allow-errors --events {target} | cat"
        );
        let piped = folder.sh(&line).stdout;
        let text = match target {
            "-" => piped,
            file => fs::read_to_string(folder.path(file)).unwrap(),
        };
        assert!(text.contains(r"a\u202eb\u2028c"), "{text}");
        assert!(!text.contains(['\u{202e}', '\u{2028}']), "{text}");
        assert_eq!(of_type(&events(&text), "CaseAccepted")[0]["caseId"], odd);
    }
}

/// Checks every line of runs that end in different ways against the schema, which must also refuse some lines.
#[test]
fn the_schema_takes_every_event_and_no_other() {
    let folder = folder();
    let all = "--events events.jsonl";
    folder.sh(&format!("{RUN} {all}")).exits_with(0);
    folder.sh(&format!("{RUN} --reuse {all}")).exits_with(0);
    folder.sh(&format!("scorebox run suite.toml cases.jsonl -q {all}")).exits_with(2);
    let crash = r#"-s crash=./misbehave.wasm --config 'crash={"then": "panic"}'"#;
    folder.sh(&format!("{RUN} {crash} {all}")).exits_with(0);
    let events = read(&folder, "events.jsonl");
    let reused = of_type(&events, "ScorerFinished").into_iter().filter(|it| it["reused"] == true);
    assert_eq!(reused.count(), 3);
    let stopped = of_type(&events, "RunEnded").into_iter().filter(|it| it["stopped"].is_object());
    assert_eq!(stopped.count(), 1);
    assert_eq!(of_type(&events, "ScorerFailed").len(), 5);

    let mut wrong = Vec::new();
    for event in &events {
        let mut odd = event.clone();
        odd["other"] = json!(1);
        let mut lacking = event.clone();
        lacking.as_object_mut().unwrap().remove("runId");
        wrong.extend([odd, lacking]);
    }
    let case = |(number, event): (usize, &Value)| {
        format!("{}\n", json!({"id": number.to_string(), "output": event}))
    };
    let cases: String = events.iter().chain(&wrong).enumerate().map(case).collect();
    folder.write("events-as-cases.jsonl", cases);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/events.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(page).unwrap()).unwrap();
    folder.write("config.json", json!({"schema": schema, "parse": "never"}).to_string());
    folder
        .sh("scorebox run events-as-cases.jsonl -s schema-adherence -q --db s.db --config schema-adherence=@config.json")
        .exits_with(0);
    let scores = folder.database("s.db");
    let mut query =
        scores.prepare("SELECT CAST(case_id AS INTEGER), score, reason FROM scores").unwrap();
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let rows = query.query_map([], row).unwrap().map(Result::unwrap);
    let mut count = 0;
    for (number, score, reason) in rows.collect::<Vec<(u32, f64, String)>>() {
        let number = number as usize;
        let is_good = number < events.len();
        let event = if is_good { &events[number] } else { &wrong[number - events.len()] };
        assert_eq!(score == 1.0, is_good, "{event}\n{reason}");
        count += 1;
    }
    assert_eq!(count, events.len() * 3);
}

#[test]
fn events_on_standard_output_take_the_place_of_the_summary() {
    let folder = folder();
    let run = folder.sh(&format!("{RUN} --events -")).exits_with(0);
    assert_eq!(events(&run.stdout).last().unwrap()["type"], "RunEnded");
    assert!(!run.stdout.contains("scorer  "), "{run}");
}

#[test]
fn a_file_that_is_there_is_appended_to() {
    let folder = folder();
    folder.write("events.jsonl", "{\"type\": \"cut o");
    for id in ["first", "second"] {
        folder.sh(&format!("{RUN} --run-id {id} --events events.jsonl")).exits_with(0);
    }
    let text = fs::read_to_string(folder.path("events.jsonl")).unwrap();
    let rest = text.strip_prefix("{\"type\": \"cut o\n").expect("the old line is whole");
    let events = events(rest);
    let started: Vec<_> =
        of_type(&events, "RunStarted").iter().map(|it| it["runId"].clone()).collect();
    assert_eq!(started, ["first", "second"]);
}

/// If this is known in advance, nothing is scored.
#[test]
fn a_place_that_events_cannot_go_to_is_an_error_before_the_first_score() {
    let folder = folder();
    folder.sh("mkfifo pipe && mkdir sub && ln cases.jsonl linked.jsonl").exits_with(0);
    for (place, why) in [
        ("sub", "cannot write the events to `sub`: Is a directory"),
        ("none/events.jsonl", "cannot write the events to `none/events.jsonl`: there is no folder"),
        ("pipe", "cannot write the events to `pipe`: no program reads it"),
        ("cases.jsonl", "the events cannot go to `cases.jsonl`"),
        ("./suite.toml", "the events cannot go to `suite.toml`"),
        ("scorebox.db", "the events cannot go to `scorebox.db`"),
        ("scorebox.db-wal", "the events cannot go to `scorebox.db-wal`"),
        ("linked.jsonl", "the events cannot go to `cases.jsonl`"),
        ("out.csv --report csv=out.csv", "the events cannot go to `out.csv`"),
        ("- --report csv=-", "both a report and the events go to standard output"),
    ] {
        let run = folder.sh(&format!("{RUN} --events {place}")).exits_with(2);
        assert!(run.stderr.contains(why), "{place}\n{run}");
        assert!(!folder.path("scorebox.db").exists(), "{place}");
    }
    assert_eq!(fs::read_to_string(folder.path("cases.jsonl")).unwrap(), CASES);
}

/// `/dev/full` accepts no bytes.
#[test]
fn events_that_cannot_be_written_later_lose_no_score() {
    let folder = folder();
    let run = folder.sh(&format!("{RUN} --events /dev/full")).exits_with(2);
    let says = "error: cannot write the events to `/dev/full`: No space left on device";
    assert!(run.stderr.contains(says), "{run}");
    assert!(run.stderr.contains("the scores are stored"), "{run}");
    assert_eq!(folder.rows("SELECT state FROM runs"), ["finished"]);
    assert_eq!(folder.rows("SELECT count(*) FROM scores"), ["6"]);
}

#[test]
fn a_reader_of_events_that_goes_away_ends_the_events_and_not_the_run() {
    let folder = Folder::new();
    let run = "scorebox run suite.toml answers.jsonl -q --events -";
    let piped = folder.sh(&format!("{{ {run}; echo $? >code; }} | head -n 1")).exits_with(0);
    assert_eq!(events(&piped.stdout)[0]["type"], "RunStarted");
    assert_eq!(fs::read_to_string(folder.path("code")).unwrap(), "0\n", "{piped}");
    assert_eq!(folder.rows("SELECT state FROM runs"), ["finished"]);
}

#[test]
fn a_program_behind_a_named_pipe_gets_every_event() {
    let folder = Folder::new();
    folder.sh("mkfifo pipe").exits_with(0);
    let mut reader = folder.shell("exec cat pipe >read.jsonl").spawn().unwrap();
    // The pipe is refused until the reader has opened it.
    let run = "until scorebox run suite.toml answers.jsonl -q --events pipe; do :; done";
    folder.sh(run).exits_with(0);
    assert!(reader.wait().unwrap().success());
    let events = read(&folder, "read.jsonl");
    assert_eq!(of_type(&events, "ScorerStarted").len(), 1600);
    assert_eq!(of_type(&events, "ScorerFinished").len(), 1600);
}

/// A scorer that waits in a host call until its time-out is reported as started while it waits.
#[test]
fn a_scorer_that_takes_its_time_is_seen_to_have_started() {
    let folder = folder();
    let guests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/guests/dist");
    fs::copy(guests.join("sleeper.wasm"), folder.path("sleeper.wasm")).unwrap();
    let suite = json!({"scorers": {"waits": {
        "use": "./sleeper.wasm",
        "config": {"ms": u64::MAX},
        "limits": {"timeout": "1h", "host-timeout": "1h"},
    }}});
    folder.write("waits.json", suite.to_string());
    folder.write("one.jsonl", "{\"id\": \"one\", \"output\": 1}\n");
    let run = "scorebox run --suite waits.json one.jsonl -q --events -";
    let mut child = folder.shell(&format!("exec {run}")).stdout(Stdio::piped()).spawn().unwrap();
    let lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let started = lines.map(|line| events(&line.unwrap()).remove(0));
    let started = started.into_iter().find(|event| event["type"] == "ScorerStarted");
    child.kill().unwrap();
    child.wait().unwrap();
    let started = started.expect("the event comes while the scorer waits");
    assert_eq!((&started["caseId"], &started["scorerId"]), (&json!("one"), &json!("waits")));
}
