//! Cases whose task failed: no scorer runs, every scorer that applies to them has an error, and scoring, resuming,
//! reusing, merging and verifying keep it so.

use std::fs;

use insta::assert_snapshot;

use crate::{fixture::Folder, shard_fixture::write_texts};

/// Two gates, one of which applies only to some cases, and a scorer of the results of a third one.
const SUITE: &str = r#"
[defaults]
severity = "gate"

[scorers.right]
use = "equals"

[scorers.long]
use = "length"
config = { min = 1 }
when = ".metadata.long"

[scorers.written]
use = "length"
config = { min = 1 }
nodes = ["write"]
meta = ["explained"]

[scorers.explained]
use = "satisfies"
config = { expression = ".output.reason != null" }
"#;

const CASES: &str = r#"{"id": "fine", "nodeId": "write", "output": "4", "groundTruth": "4", "metadata": {"long": true}}
{"id": "crashed", "nodeId": "write", "error": "TimeoutError: no answer\nat 1", "groundTruth": "4", "metadata": {"long": true}}
{"id": "half", "nodeId": "read", "output": "4", "error": {"message": "cut off"}, "groundTruth": "4", "metadata": {"long": false}}
{"id": "skipped", "nodeId": "write", "error": "crashed", "skip": "known"}
{"id": "empty", "nodeId": "read", "output": "4", "error": "", "groundTruth": "4", "metadata": {"long": 0}}
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("suite.toml", SUITE);
    folder.write("tasks.jsonl", CASES);
    folder
}

/// The stored rows of a run: each case and scorer.
fn rows(folder: &Folder, run: &str) -> Vec<String> {
    folder.rows(&format!(
        "SELECT case_id, scorer_id, status, score, error_kind, error_message FROM scores WHERE run_id = '{run}'
         AND case_id IN ('crashed', 'half', 'skipped') ORDER BY case_id, scorer_id"
    ))
}

const FAILED: [&str; 12] = [
    "crashed | long | error | null | task-failed | the task failed: TimeoutError: no answer\nat 1",
    "crashed | right | error | null | task-failed | the task failed: TimeoutError: no answer\nat 1",
    "crashed | written | error | null | task-failed | the task failed: TimeoutError: no answer\nat 1",
    "crashed | written.explained | error | null | task-failed | the task failed: TimeoutError: no answer\nat 1",
    "half | long | skipped | null | null | null",
    "half | right | error | null | task-failed | the task failed: cut off",
    "half | written | skipped | null | null | null",
    "half | written.explained | skipped | null | null | null",
    "skipped | long | skipped | null | null | null",
    // A case that failed did not choose to be left out.
    "skipped | right | error | null | task-failed | the task failed: crashed",
    "skipped | written | error | null | task-failed | the task failed: crashed",
    "skipped | written.explained | error | null | task-failed | the task failed: crashed",
];

#[test]
fn a_task_that_failed_is_an_error_of_every_scorer_that_is_for_it() {
    let folder = folder();
    let run = folder.sh("scorebox run suite.toml tasks.jsonl -q --run-id r").exits_with(1);
    assert!(
        run.stderr.contains("2 of 5 cases passed") && run.stderr.contains("3 errored\n"),
        "{run}"
    );
    assert_eq!(rows(&folder, "r"), FAILED);
    assert_eq!(
        folder.rows(
            "SELECT case_id, output, error FROM cases WHERE error IS NOT NULL ORDER BY ordinal"
        ),
        [
            "crashed | null | TimeoutError: no answer\nat 1",
            "half | \"4\" | cut off",
            "skipped | null | crashed"
        ]
    );
    let verified = folder.sh("scorebox verify r --trust-cache").exits_with(0);
    assert!(verified.stderr.contains("20 verified, 0 different, 0 not verifiable"), "{verified}");
    let run = "scorebox run suite.toml tasks.jsonl -q";
    folder.sh(&format!("{run} --allow-errors")).exits_with(0);
    folder.sh(&format!("{run} --allow-errors --min-pass-rate 0.6")).exits_with(3);
    folder.sh(&format!("{run} --max-errors 3")).exits_with(3);
}

#[test]
fn one_task_in_twenty_that_did_not_fail_is_not_a_run_that_passed() {
    let folder = folder();
    let mut cases = String::from("{\"output\": \"4\", \"groundTruth\": \"4\"}\n");
    cases.push_str(&"{\"error\": \"429 Too Many Requests\", \"groundTruth\": \"4\"}\n".repeat(19));
    folder.write("tasks.jsonl", cases);
    folder.write("suite.toml", "[scorers.equals]\nseverity = \"gate\"\n");
    let run = folder
        .sh("scorebox run suite.toml tasks.jsonl -q --report junit=report.xml --events events.jsonl")
        .exits_with(1);
    assert!(run.stderr.contains("1 of 20 cases passed (5.0 %"), "{run}");
    let report = fs::read_to_string(folder.path("report.xml")).unwrap();
    assert!(report.contains("failures=\"0\" errors=\"19\""), "{report}");
    assert!(report.contains("the task failed: 429 Too Many Requests"), "{report}");
    let events = fs::read_to_string(folder.path("events.jsonl")).unwrap();
    let count = |what: &str| events.matches(what).count();
    assert_eq!(count("\"type\":\"ScorerFailed\""), 19);
    assert_eq!((count("\"type\":\"ScorerStarted\""), count("\"verdict\":\"errored\"")), (20, 19));
}

#[test]
fn why_a_task_failed_is_shown_with_its_case() {
    let folder = folder();
    folder.sh("scorebox run suite.toml tasks.jsonl -q --run-id r").exits_with(1);
    assert_snapshot!(folder.sh("scorebox cases r"), @"
    case     verdict   score  decided by
    fine     passed   1.0000
    crashed  errored       -  right errored, long errored, written errored, written.explained errored, the task failed: TimeoutError: no answer at 1
    half     errored       -  right errored, the task failed: cut off
    skipped  errored       -  right errored, written errored, written.explained errored, the task failed: crashed
    empty    passed   1.0000
    [exit code 0]
    ");
    let shown = folder.sh("scorebox show crashed").exits_with(0);
    assert!(
        shown.stdout.contains("error") && shown.stdout.contains("TimeoutError: no answer"),
        "{shown}"
    );
    let json = folder.sh("scorebox show half --format json").exits_with(0).json();
    assert_eq!(json[0]["error"], "cut off");
    let exported = folder.sh("scorebox export r --format jsonl").exits_with(0);
    assert!(exported.stdout.contains(r#""error":"cut off""#), "{exported}");
}

#[test]
fn rows_of_failed_tasks_are_held_against_the_cases() {
    for change in [
        // A score where there must be none, and no score where there must be one.
        "UPDATE score_rows SET status = 'scored', score = 1.0, error_kind = NULL, error_message = NULL
         WHERE error_kind = 'task-failed'",
        "UPDATE score_rows SET status = 'error', score = NULL, error_kind = 'task-failed',
             error_message = 'the task failed: x', assertions_json = NULL, input_digest = NULL WHERE status = 'scored'",
        "UPDATE score_rows SET status = 'skipped', reason = 'left out by sampling', error_kind = NULL,
             error_message = NULL WHERE error_kind = 'task-failed'",
        "UPDATE score_rows SET error_message = 'the task failed: x' WHERE error_kind = 'task-failed'",
        "UPDATE cases SET error = NULL WHERE case_id = 'crashed'",
        "UPDATE cases SET error = 'x' WHERE case_id = 'crashed'",
        "UPDATE cases SET error = 'x' WHERE case_id = 'fine'",
    ] {
        let folder = folder();
        folder.sh("scorebox run suite.toml tasks.jsonl -q --run-id r").exits_with(1);
        folder.database("scorebox.db").execute(change, []).unwrap();
        let verified = folder.sh("scorebox verify r --trust-cache --format jsonl").exits_with(1);
        let differs = verified.stdout.lines().filter(|line| line.contains("\"different\""));
        assert!(differs.clone().any(|line| line.contains("r:")), "{change}\n{verified}");
    }
}

/// The state that a version of scorebox without the key wrote: the key is stored among the unknown ones, and its case
/// was scored.
#[test]
fn a_case_that_was_scored_when_the_key_was_unknown_is_computed_again() {
    let folder = folder();
    folder.write("suite.toml", "[scorers.length]\nconfig = { max = 9 }\n");
    folder.write("tasks.jsonl", "{\"id\": \"a\", \"output\": null, \"note\": \"Timeout\"}\n");
    folder.sh("scorebox run suite.toml tasks.jsonl -q --run-id r").exits_with(0);
    let change = r#"UPDATE cases SET other_json = '{"error":"Timeout"}'"#;
    folder.database("scorebox.db").execute(change, []).unwrap();
    let verified = folder.sh("scorebox verify r --trust-cache --scorer length").exits_with(0);
    assert!(verified.stderr.contains("1 verified, 0 different"), "{verified}");
}

#[test]
fn a_resumed_run_keeps_the_errors_unless_the_case_has_changed() {
    let folder = folder();
    folder.sh("scorebox run suite.toml tasks.jsonl -q --run-id r").exits_with(1);
    // The state after the process died before the scorer of results had its turn.
    let database = folder.database("scorebox.db");
    database.execute("DELETE FROM score_rows WHERE scorer = 4", []).unwrap();
    let killed = "UPDATE runs SET state = 'running', root = NULL, root_version = NULL, size_bytes = NULL, finished_at_ms = NULL";
    database.execute(killed, []).unwrap();
    drop(database);
    folder.sh("scorebox run suite.toml tasks.jsonl -q --resume r").exits_with(1);
    assert_eq!(rows(&folder, "r"), FAILED);
    folder.sh("scorebox verify r --trust-cache").exits_with(0);
    folder.write("tasks.jsonl", CASES.replace("cut off", "cut"));
    let changed = folder.sh("scorebox run suite.toml tasks.jsonl -q --resume r").exits_with(2);
    assert!(changed.stderr.contains("the content of the case `half` has changed"), "{changed}");
}

/// The state that a version of scorebox without the key wrote: the cases were stored and scored without their errors.
#[test]
fn a_run_that_began_without_errors_says_how_it_is_resumed_and_is() {
    let folder = folder();
    folder.write("suite.toml", "[scorers.length]\nconfig = { max = 9 }\n");
    let tasks = |last: &str| {
        let cases = ["a", "b"]
            .map(|id| format!("{{\"id\": \"{id}\", \"output\": \"x\", \"error\": \"boom\"}}\n"));
        folder.write("tasks.jsonl", format!("{}{last}\n", cases.concat()));
    };
    tasks("{");
    let run = "scorebox run suite.toml tasks.jsonl -q";
    folder.sh(&format!("{run} --run-id r --map error=/none")).exits_with(2);
    tasks("{\"id\": \"c\", \"output\": \"x\"}");
    assert_snapshot!(folder.sh(&format!("{run} --resume r")).exits_with(2).stderr, @"

    run r: 0 cases, 0 scores in [time]
    error: tasks.jsonl:1: the case `a` has an `error`, and an earlier session of this run stored it without one
    hint: resume it as it began, without reading any `error`: `--map error=/none`; or start a new run, in which a case with an `error` is one whose task failed
    ");
    folder.sh(&format!("{run} --resume r --map error=/none")).exits_with(0);
    assert_eq!(folder.rows("SELECT count(*), count(score) FROM scores"), ["3 | 3"]);
    folder.sh("scorebox verify r --trust-cache").exits_with(0);
}

#[test]
fn a_score_of_the_same_output_is_not_reused_for_a_task_that_failed() {
    let folder = folder();
    folder.write("fine.jsonl", CASES.replace("\"error\"", "\"note\""));
    folder.sh("scorebox run suite.toml fine.jsonl -q --run-id before --on-bad-case skip");
    folder.sh("scorebox run suite.toml tasks.jsonl -q --reuse --run-id r").exits_with(1);
    assert_eq!(rows(&folder, "r"), FAILED);
    folder.sh("scorebox run suite.toml tasks.jsonl -q --reuse --run-id again").exits_with(1);
    assert_eq!(rows(&folder, "again"), FAILED);
}

#[test]
fn live_scoring_and_a_single_score_have_the_same_error() {
    let folder = folder();
    folder.sh("scorebox live suite.toml --run-id live < tasks.jsonl").exits_with(1);
    assert_eq!(rows(&folder, "live"), FAILED);
    folder.write("case.json", r#"{"error": "Timeout"}"#);
    let score =
        folder.sh("scorebox score length --config '{\"max\": 9}' --case case.json").exits_with(1);
    assert!(score.stderr.contains("error: task-failed: the task failed: Timeout"), "{score}");
    assert!(score.json()["score"].is_null());
}

#[test]
fn a_target_is_not_run_over_a_task_that_failed() {
    let folder = folder();
    folder.write("suite.toml", "[scorers.length]\nconfig = { min = 1 }\nseverity = \"gate\"\n");
    let run = folder
        .sh("scorebox run suite.toml tasks.jsonl --target equals -q --run-id r")
        .exits_with(1);
    assert!(run.stderr.contains("3 errored"), "{run}");
    let failed = "SELECT scorer_id FROM scores WHERE case_id = 'half' AND error_kind = 'task-failed' ORDER BY scorer_id";
    assert_eq!(folder.rows(failed), ["equals", "equals.length"]);
    folder.sh("scorebox verify r --trust-cache").exits_with(0);
}

#[test]
fn no_label_of_a_failed_task_is_in_a_summary() {
    let folder = folder();
    folder.write("suite.toml", "[scorers.labels]\nuse = \"label-distribution\"\n");
    folder.write(
        "tasks.jsonl",
        "{\"output\": \"yes\"}\n{\"output\": \"no\", \"error\": \"cut off\"}\n{\"error\": \"x\"}\n",
    );
    folder.sh("scorebox run suite.toml tasks.jsonl -q --run-id r").exits_with(1);
    let summary = folder.rows("SELECT summary_json FROM summaries").join("");
    assert!(summary.contains("\"unlabelled\":1}"), "{summary}");
}

#[test]
fn an_error_is_found_by_a_mapping_and_in_the_column_of_a_table() {
    let folder = folder();
    folder.write("suite.toml", "[scorers.length]\nconfig = { max = 9 }\nseverity = \"gate\"\n");
    folder.write(
        "other.jsonl",
        "{\"output\": \"x\"}\n{\"output\": null, \"response\": {\"error\": {\"code\": 429}}}\n",
    );
    folder.write("table.csv", "output,error\nv,0\nw,-\nx,\ny,NaN\nz,Timeout\n");
    let errors = |run: &str| {
        folder.rows(&format!(
            "SELECT error_message FROM scores WHERE run_id = '{run}' AND status = 'error'"
        ))
    };
    let run = "scorebox run suite.toml -q --run-id";
    folder.sh(&format!("{run} a other.jsonl --map error=/response/error")).exits_with(1);
    assert_eq!(errors("a"), [r#"the task failed: {"code": 429}"#]);
    folder.sh(&format!("{run} b table.csv")).exits_with(1);
    assert_eq!(errors("b"), ["the task failed: Timeout"]);
    let converted =
        folder.sh("scorebox convert other.jsonl --map error=/response/error").exits_with(0);
    assert!(converted.stdout.contains(r#""error":{"code": 429}"#), "{converted}");
    assert!(converted.stderr.contains("2 cases; 1 whose task failed"), "{converted}");
}

#[test]
fn shards_have_the_rows_of_tasks_that_failed() {
    let folder = folder();
    folder.write("suite.toml", "[scorers.length]\nconfig = { max = 9 }\nseverity = \"gate\"\n");
    write_texts(
        &folder.path("in.parquet"),
        &[
            ("id", &[Some("a"), Some("b")]),
            ("output", &[Some("x"), None]),
            ("error", &[None, Some("Timeout")]),
        ],
    );
    folder.sh("scorebox shard suite.toml in.parquet -o out.parquet --run-id r").exits_with(0);
    folder.sh("scorebox merge out.parquet --db scorebox.db").exits_with(0);
    let rows = "SELECT case_id, status, error_message FROM scores ORDER BY case_id";
    assert_eq!(folder.rows(rows), ["a | scored | null", "b | error | the task failed: Timeout"]);
    assert_eq!(folder.rows("SELECT error FROM cases ORDER BY case_id"), ["null", "Timeout"]);
    folder.sh("scorebox verify --trust-cache").exits_with(0);
}
