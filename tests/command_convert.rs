//! `convert`, and `run` over files of other tools: those in `tests/readers`, which the tools themselves wrote.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    path::Path,
};

use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::fixture::{Folder, Output};

/// A folder with the files of other tools.
pub(crate) fn with_files() -> Folder {
    let folder = Folder::new();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/readers"), &folder.path(""));
    folder
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => {
                fs::create_dir(&to).unwrap();
                copy(&entry.path(), &to);
            }
            false => {
                fs::copy(entry.path(), to).unwrap();
            }
        }
    }
}

pub(crate) fn cases(output: &Output) -> Vec<Value> {
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The cases of a file whose format is not named.
pub(crate) fn converted(folder: &Folder, arguments: &str) -> Vec<Value> {
    cases(&folder.sh(&format!("scorebox convert {arguments}")).exits_with(0))
}

/// The values at these pointers in each case.
pub(crate) fn values(cases: &[Value], pointers: &[&str]) -> Vec<Value> {
    let of = |case: &Value| pointers.iter().map(|it| case.pointer(it).cloned()).collect::<Vec<_>>();
    cases.iter().map(|case| json!(of(case))).collect()
}

#[test]
fn no_command_writes_over_what_it_reads() {
    let folder = Folder::new();
    folder.write("cases.csv", "id,output,groundTruth\n1,a,a\n");
    folder.write("suite.toml", "[scorers.exact-match]\n");
    folder.write("scorebox.lock", "version = 2\n");
    folder.write("promptfoo.yaml", "tests:\n- assert:\n  - {type: equals, value: a}\n");
    folder.sh("scorebox run suite.toml cases.csv").exits_with(0);
    for (command, file) in [
        ("convert cases.csv", "cases.csv"),
        ("export --format csv", "scorebox.db"),
        ("bundle suite.toml", "suite.toml"),
        ("bundle suite.toml", "scorebox.lock"),
        ("migrate promptfoo.yaml", "promptfoo.yaml"),
    ] {
        let before = fs::read(folder.path(file)).unwrap();
        let refused = folder.sh(&format!("scorebox {command} --force -o ./{file}")).exits_with(2);
        let message = format!(
            "error: cannot write `./{file}`: the command itself uses this file\nhint: name another file\n"
        );
        assert_eq!(refused.stderr, message, "{command}");
        assert!(fs::read(folder.path(file)).unwrap() == before, "{command}");
    }
    fs::create_dir_all(folder.path("set/data")).unwrap();
    folder.write("set/data/train.jsonl", "{\"output\": 1}\n");
    let inside = folder.sh("scorebox convert set --force -o set/data/train.jsonl").exits_with(2);
    assert_snapshot!(inside.stderr, @"
    error: cannot write `set/data/train.jsonl`: the command itself reads the folder `set`
    hint: name a file elsewhere
    ");
}

#[test]
fn a_quoted_cell_that_never_ends_is_not_a_case() {
    let folder = Folder::new();
    folder.write("cases.csv", "id,expected,output\n1,x,x\n2,x,\"x\n3,x,x\n4,x,x\n");
    let cut_off = folder.sh("scorebox convert cases.csv");
    assert_eq!(cases(&cut_off).len(), 1);
    assert_snapshot!(cut_off.exits_with(2).stderr, @"
    error: cases.csv: line 3: a cell begins with a quote and never ends
    ");
}

#[test]
fn inspect_logs_are_read_in_both_forms() {
    let folder = with_files();
    let shown = [
        "/id",
        "/attempt",
        "/output",
        "/groundTruth",
        "/usage/totalTokens",
        "/metadata/origin/scores/match",
    ];
    let archive = converted(&folder, "inspect.eval");
    assert_eq!(
        json!(values(&archive, &shown)),
        json!([
            ["france", null, "Paris", "Paris", 23, "C"],
            ["2", null, "Lima", ["Lima", "lima"], 23, "C"],
            ["breaks", null, null, "none", null, null],
            ["france", 1, "Paris", "Paris", 23, "C"],
            ["2", 1, "Cusco", ["Lima", "lima"], 23, "I"],
            ["breaks", 1, null, "none", null, null],
        ])
    );
    assert_eq!(archive[2]["error"], "RuntimeError('the tool server is gone\\nat port 1')");
    let roles = |case: &Value| {
        case["trace"].as_array().unwrap().iter().map(|it| it["role"].clone()).collect::<Value>()
    };
    assert_eq!(roles(&archive[0]), json!(["system", "user", "assistant"]));
    assert_eq!(archive[0]["metadata"]["topic"], "europe");
    let origin = &archive[4]["metadata"]["origin"];
    let said =
        ["format", "file", "record", "task", "model", "epoch"].map(|key| origin[key].clone());
    assert_eq!(
        json!(said),
        json!(["inspect-eval", "inspect.eval", 5, "capitals", "mockllm/model", 2])
    );

    let document = converted(&folder, "inspect.json");
    let sorted = |cases: &[Value]| {
        let mut values = values(cases, &shown);
        values.sort_by_key(Value::to_string);
        values
    };
    assert_eq!(sorted(&document), sorted(&archive[..3]), "one epoch of the same task");
    assert_eq!(roles(&document[0]), json!(["system", "user", "assistant"]));
}

#[test]
fn calls_that_only_the_events_of_an_inspect_log_have_are_scored() {
    let folder = with_files();
    let trace = &converted(&folder, "inspect-agents.eval")[0]["trace"];
    let named = |key: &str| trace[key].as_array().unwrap().len() > 1;
    assert!(named("messages") && named("events"), "{trace}");
    for (scorer, config, exit) in [
        ("not-called-tool", r#"{"name": "delete_all"}"#, 3),
        ("tool-count", r#"{"name": "submit", "count": 2}"#, 0),
        ("tool-count", r#"{"count": 4}"#, 0),
    ] {
        let command =
            format!("scorebox run inspect-agents.eval -s {scorer} --config {scorer}='{config}'");
        folder.sh(&command).exits_with(exit);
    }
}

#[test]
fn promptfoo_results_are_read_as_a_document_and_as_lines() {
    let folder = with_files();
    let shown = [
        "/id",
        "/nodeId",
        "/input",
        "/groundTruth",
        "/metadata/vars/city",
        "/metadata/origin/score",
    ];
    let document = converted(&folder, "promptfoo.json");
    assert_eq!(
        json!(values(&document, &shown)),
        json!([
            [
                "test-0-prompt-1",
                "test-0",
                "{\"capital\":\"Paris\"}",
                "The capital of France is Paris",
                "Paris",
                0.5
            ],
            [
                "test-0-prompt-0",
                "test-0",
                "The capital of France is Paris",
                "The capital of France is Paris",
                "Paris",
                1.0
            ],
            ["test-1-prompt-0", "test-1", "The capital of Peru is Paris", null, "Lima", 0.0],
            ["test-1-prompt-1", "test-1", "{\"capital\":\"Lima\"}", null, "Lima", 1.0],
        ])
    );
    let lines = converted(&folder, "promptfoo.jsonl");
    assert_eq!(values(&document, &shown), values(&lines, &shown));
    assert_eq!(document[0]["metadata"]["origin"]["evalId"], "eval-6rv-2026-11-24T23:04:15");
}

#[test]
fn samples_of_lm_eval_have_the_text_that_was_chosen() {
    let folder = with_files();
    let shown = ["/id", "/input", "/output", "/groundTruth", "/metadata/origin/scores"];
    assert_eq!(
        json!(values(
            &converted(&folder, "samples_capitals_2026* samples_capitals_choice_*"),
            &shown
        )),
        json!([
            ["capitals:0", "What is the capital of France?", "lol", "Paris", {"exact_match": 0.0}],
            ["capitals:1", "What is the capital of Peru?", "lol", "Lima", {"exact_match": 0.0}],
            ["capitals_choice:0", "What is the capital of France?", "London", "Paris", {"acc": 0.0}],
            ["capitals_choice:1", "What is the capital of Peru?", "Cusco", "Lima", {"acc": 0.0}],
        ])
    );
}

#[test]
fn the_events_of_openai_evals_are_put_together() {
    let folder = with_files();
    let read = folder.sh("scorebox convert openai-evals.jsonl").exits_with(0);
    assert_eq!(
        json!(values(
            &cases(&read),
            &["/id", "/output", "/groundTruth", "/error", "/metadata/origin/scores/correct"]
        )),
        json!([
            ["capitals.dev.0", "Paris", "Paris", null, true],
            ["capitals.dev.1", "Cusco", ["Lima", "lima"], null, false],
            ["capitals.dev.2", null, null, "no answer within 40 s", null],
        ])
    );
    assert_snapshot!(read.stderr, @"
    openai-evals.jsonl: a log of OpenAI evals (--from openai-evals)
    3 cases; 1 whose task failed
    openai-evals.jsonl: left out: lines of no sample, such as the final report (1)
    ");
}

#[test]
fn spans_become_a_case_for_each_trace_that_asked_a_model() {
    let folder = with_files();
    let shown = ["/input", "/output", "/usage", "/metadata/origin/model", "/metadata/origin/spans"];
    let expected = json!([
        [
            "What is the capital of Peru, and how warm is it?", "Lima, and it is 19 degrees.",
            {"inputTokens": 100, "outputTokens": 21}, "gpt-test", 4
        ],
        ["What is the capital of France?", "Paris", {"inputTokens": 14, "outputTokens": 2}, "gpt-test", 1],
    ]);
    let objects = folder.sh("scorebox convert spans.jsonl").exits_with(0);
    assert_eq!(json!(values(&cases(&objects), &shown)), expected);
    assert!(
        objects.stderr.contains("spans.jsonl: left out: traces in which no model was asked (1)"),
        "{objects}"
    );
    let documents = converted(&folder, "otlp.json");
    assert_eq!(json!(values(&documents, &shown)), expected);
    assert_eq!(values(&documents, &["/id"]), values(&cases(&objects), &["/id"]));
}

#[test]
fn a_scorer_of_traces_reads_the_spans_of_a_case() {
    let folder = with_files();
    for (file, exit) in [("spans.jsonl", 0), ("otlp.json", 0), ("inspect.eval", 1)] {
        let db = format!("--db {file}.db");
        folder
            .sh(&format!(
                "scorebox run {file} -s tool-count --config 'tool-count={{\"max\": 9}}' -q {db}"
            ))
            .exits_with(exit);
        let scores = folder.sh(&format!("scorebox scores --format jsonl {db}")).exits_with(0);
        let rows = cases(&scores);
        assert!(rows.iter().any(|row| row["status"] == "scored"), "{scores}");
        let mut errors = rows.iter().filter(|row| row["status"] == "error");
        assert!(errors.all(|row| row["error"]["kind"] == "task-failed"), "{scores}");
    }
}

/// One dollar for a token, and half of that for a token from a cache.
const PRICED: &str = r#"
[scorers.cost]
use = "cost-budget"
config = { maxCost = 1000, prices = { "*" = { input = 1000000, output = 1000000, cacheRead = 500000 } } }

[scorers.input]
use = "token-budget"
config = { maxTokens = 1000, count = "input" }
"#;

#[test]
fn budgets_know_the_tokens_that_a_log_says_were_read_from_a_cache_or_written_to_one() {
    let folder = with_files();
    folder.write("suite.toml", PRICED);
    let usage = json!({"input_tokens": 4, "output_tokens": 1, "total_tokens": 35,
        "input_tokens_cache_write": 10, "input_tokens_cache_read": 20});
    let messages = json!([{"role": "user", "content": "q"}, {"role": "assistant", "content": "x"}]);
    let sample = json!({"id": "a", "input": "q", "target": "x", "messages": messages,
        "output": {"completion": "x"}, "model_usage": {"m": usage, "grader": {"input_tokens": 9}}});
    let eval = json!({"task": "t", "model": "m"});
    let log =
        format!(r#"{{"version": 2, "status": "success", "eval": {eval}, "samples": [{sample}]}}"#);
    folder.write("log.json", log);
    let input = "\"gen_ai.usage.input_tokens\": 40";
    let spans = fs::read_to_string(folder.path("spans.jsonl")).unwrap();
    let read = format!("{input}, \"gen_ai.usage.cache_read.input_tokens\": 30");
    folder.write("spans.jsonl", spans.replace(input, &read));
    let first = |file: &str| {
        let run = format!("scorebox run suite.toml {file} -q --db {file}.db");
        folder.sh(&run).exits_with(0);
        let scores = folder.sh(&format!("scorebox scores --format jsonl --db {file}.db"));
        let said = |row: &Value| row["reason"].as_str().unwrap_or_default().to_owned();
        cases(&scores).iter().take(2).map(said).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(
        first("log.json"),
        "$25.0000 of at most $1000, 10 tokens written to a cache (no `cacheWrite`) at the price of input, 14 input tokens of at most 1000"
    );
    assert_eq!(
        first("spans.jsonl"),
        "$106.0000 of at most $1000, 100 input tokens of at most 1000"
    );
    let converted = converted(&folder, "spans.jsonl");
    let known = json!({"inputTokens": 100, "outputTokens": 21});
    assert_eq!(json!(values(&converted[..1], &["/usage"])), json!([[known]]));
}

#[test]
fn a_row_that_is_not_a_case_is_left_out_where_that_is_asked_for() {
    let folder = Folder::new();
    folder.write("ragged.csv", "id,output\na,x\nb\nc,x\n");
    let run = "scorebox run ragged.csv -s contains --config 'contains={\"value\": \"x\"}' -q";
    folder.sh(run).exits_with(2);
    folder.sh(&format!("{run} --on-bad-case skip --run-id r")).exits_with(0);
    assert_eq!(
        folder.rows("SELECT case_id FROM scores WHERE run_id = 'r' ORDER BY case_id"),
        ["a", "c"]
    );
}

#[test]
fn of_cases_with_one_id_the_first_is_written_and_the_others_are_named() {
    let folder = Folder::new();
    let lines = [r#"{"id":1,"output":"a"}"#, r#"{"id":1,"attempt":1,"output":"b"}"#];
    folder.write("a.jsonl", lines.join("\n"));
    folder.write("b.jsonl", r#"{"id":"1","output":"c"}"#);
    let converted = folder.sh("scorebox convert a.jsonl b.jsonl");
    assert_eq!(converted.stdout.lines().collect::<Vec<_>>(), lines);
    assert_snapshot!(converted.exits_with(2).stderr, @"
    a.jsonl: JSON Lines of cases (--from cases)
    b.jsonl: JSON Lines of cases (--from cases)
    2 cases
    warning: 1 case is not valid and left out:
      b.jsonl:1: duplicate id `1`, first used at a.jsonl:1
    hint: an id (with iteration and attempt) names one case of a run: score files with the same ids in a run each, or take another id with --map id=POINTER
    ");
}

#[test]
fn columns_are_mapped_as_keys_are() {
    let folder = with_files();
    folder.write("other.tsv", "q\tanswer\tcorrect\tms\n2+2?\tA: 4\t4\t7.5\n3+3?\tA: 7\t6\t\n");
    let map = "--map input=/q --map output=/answer --map groundTruth=/correct --map latencyMs=/ms";
    let read = converted(&folder, &format!("other.tsv {map}"));
    assert_eq!(
        json!(values(
            &read,
            &["/id", "/input", "/output", "/groundTruth", "/latencyMs", "/correct"]
        )),
        json!([
            ["other:1", "2+2?", "A: 4", "4", 7.5, null],
            ["other:2", "3+3?", "A: 7", "6", null, null],
        ])
    );
    folder.sh(&format!("scorebox run other.tsv -s numeric-answer -q {map}")).exits_with(0);
    assert_eq!(
        folder.rows("SELECT case_id, score FROM scores ORDER BY case_id"),
        ["other:1 | 1", "other:2 | 0"]
    );
}

#[test]
fn a_run_scores_what_other_tools_wrote_and_resumes_it() {
    let folder = with_files();
    let run = "scorebox run inspect.eval promptfoo.json answers.parquet -s contains --config contains='{\"value\": \"a\"}' -q";
    folder.sh(&format!("{run} --run-id r")).exits_with(1);
    assert_eq!(
        folder.rows(
            "SELECT status, error_kind, count(*) FROM scores GROUP BY status ORDER BY status"
        ),
        ["error | task-failed | 2", "scored | null | 11"]
    );
    folder.sh(&format!("{run} --resume r")).exits_with(1);
    assert_eq!(folder.rows("SELECT count(*) FROM scores"), ["13"]);
}

#[test]
fn a_compressed_file_is_read_like_the_file() {
    let folder = with_files();
    fs::create_dir(folder.path("packed")).unwrap();
    for name in ["promptfoo.json", "inspect.json", "answers.csv", "otlp.json", "openai-evals.jsonl"]
    {
        let plain = fs::read(folder.path(name)).unwrap();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain).unwrap();
        fs::write(folder.path("packed").join(format!("{name}.gz")), gzip.finish().unwrap())
            .unwrap();
        let without_origin = |mut cases: Vec<Value>| {
            for case in &mut cases {
                case["metadata"]["origin"]["file"].take();
                case["id"] = json!(case["id"].as_str().unwrap().replace(".csv", ""));
            }
            cases
        };
        assert_eq!(
            without_origin(converted(&folder, &format!("packed/{name}.gz"))),
            without_origin(converted(&folder, name)),
            "{name}"
        );
    }
}

#[test]
fn bad_records_are_counted_and_shown() {
    let folder = Folder::new();
    folder.write("some.csv", "id,output,latencyMs\na,x,1\nb,y,soon\n");
    let read = folder.sh("scorebox convert some.csv").exits_with(2);
    assert_snapshot!(read, @r#"
    {"id":"a","output":"x","latencyMs":[time],"metadata":{"origin":{"file":"some.csv","format":"csv","record":1}}}
    [stderr]
    some.csv: CSV (--from csv)
    1 case
    warning: 1 case is not valid and left out:
      some.csv:3: row 2, column `latencyMs`: `latencyMs` must be a finite number of 0 or more; found the string "soon"
    [exit code 2]
    "#);
}

#[test]
fn a_file_is_written_whole_and_no_other_is_replaced() {
    let folder = with_files();
    let written = folder.sh("scorebox convert answers.csv -o cases.jsonl").exits_with(0);
    assert_snapshot!(written.stderr, @"
    answers.csv: CSV (--from csv)
    3 cases
    ");
    let direct = folder.sh("scorebox convert answers.csv").exits_with(0);
    assert_eq!(fs::read_to_string(folder.path("cases.jsonl")).unwrap(), direct.stdout);
    let refused = folder.sh("scorebox convert promptfoo.json -o cases.jsonl").exits_with(2);
    assert_snapshot!(refused.stderr, @"
    error: `cases.jsonl` exists
    hint: name another file, or replace it with --force
    ");
    folder.sh("scorebox convert promptfoo.json -o cases.jsonl --force").exits_with(0);
    assert_eq!(fs::read_to_string(folder.path("cases.jsonl")).unwrap().lines().count(), 4);
    folder.sh("scorebox run cases.jsonl -s is-refusal -q").exits_with(0);
}

#[test]
fn a_large_document_is_read_one_record_at_a_time() {
    let folder = Folder::new();
    let filling = "x".repeat(200_000);
    let mut document = String::from(r#"{"evalId": "e", "results": {"version": 3, "results": ["#);
    for test in 0..250 {
        let comma = if test == 0 { "" } else { "," };
        document.push_str(&format!(
            r#"{comma}{{"promptIdx": 0, "testIdx": {test}, "success": true, "score": NaN, "response": {{"output": "{test}"}}, "other": "{filling}"}}"#
        ));
    }
    document.push_str("]}}");
    folder.write("large.json", document);
    // A file of 50 MB in an address space of 400 MB, most of which the binary takes.
    let read =
        folder.sh("ulimit -v 400000; scorebox convert large.json --from promptfoo").exits_with(0);
    assert_eq!(read.stdout.lines().count(), 250);
}

#[test]
fn a_signal_leaves_no_file_that_is_not_complete() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let folder = Folder::new();
        folder.sh("mkfifo cases.jsonl").exits_with(0);
        let child = folder.spawn("scorebox convert cases.jsonl -o converted.jsonl");
        // The reader waits for more lines.
        let mut cases = OpenOptions::new().write(true).open(folder.path("cases.jsonl")).unwrap();
        cases.write_all(&b"{\"output\": \"x\"}\n".repeat(20_000)).unwrap();
        let begun = || {
            let files = fs::read_dir(folder.path(".")).unwrap();
            files
                .filter(|it| {
                    it.as_ref().unwrap().file_name().to_string_lossy().starts_with(".scorebox-")
                })
                .count()
        };
        while begun() == 0 {
            std::thread::yield_now();
        }
        kill_process(Pid::from_child(&child), signal).unwrap();
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(code));
        let words = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(words, "Interrupted: `converted.jsonl` was not written.\n");
        assert_eq!(begun(), 0);
        assert!(!folder.path("converted.jsonl").exists());
    }
}
