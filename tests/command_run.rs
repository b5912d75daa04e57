//! `scorebox run` without failures: the summary, the rows, and the options of the command line.

use std::{collections::BTreeMap, fs, io::Write as _};

use insta::assert_snapshot;
use serde_json::Value;

use crate::fixture::Folder;

#[test]
fn a_suite_file_is_run_over_real_answers() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("scorebox run suite.toml answers.jsonl --run-id first"), @"
    scorer           scored  n/a  errors    mean  0 … 1        p50     min     max fuel time
    numeric-answer      400    0       0  0.4200  █      ▆  0.0000  0.0000  1.0000 [fuel] [time]
    mentions-answer     400    0       0  0.5350  ▇      █  1.0000  0.0000  1.0000 [fuel] [time]
    marked              400    0       0  1.0000         █  1.0000  1.0000  1.0000 [fuel] [time]
    levenshtein         400    0       0  0.0085  █         0.0075  0.0000  0.0291 [fuel] [time]
    [stderr]

    run first: 400 cases, 1,600 scores in [time]
    stored in scorebox.db; see them with: scorebox scores first
    root [digest]
    [exit code 0]
    ");
}

/// Times differ, but fuel does not, unless a scorer is built again.
#[test]
fn the_readme_shows_what_its_first_command_prints() {
    let but_time = |line: &str| -> Vec<String> {
        let columns: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let fuel = columns.iter().rposition(|column| column == "k").unwrap();
        columns[..=fuel].to_vec()
    };
    let table = |text: &str| -> Vec<Vec<String>> {
        let (_, rows) = text.split_once("\nscorer ").unwrap();
        rows.lines().skip(1).take_while(|line| !line.is_empty()).map(but_time).collect()
    };
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let shown = table(&fs::read_to_string(readme).unwrap());
    let folder = Folder::new();
    let printed = folder.sh("scorebox run suite.toml answers.jsonl").exits_with(0).stdout;
    assert_eq!((shown.len(), &shown), (4, &table(&format!("\n{printed}"))));
}

#[test]
fn the_run_is_given_an_id_which_is_printed() {
    let folder = Folder::new();
    let output = folder.sh("scorebox run -s exact-match answers.jsonl");
    assert_snapshot!(output.stderr, @"

    run [run]: 400 cases, 400 scores in [time]
    stored in scorebox.db; see them with: scorebox scores [run]
    root [digest]
    ");
    let id = folder.rows("SELECT DISTINCT run_id FROM _smithers_scorers").remove(0);
    assert!(output.stderr.contains(&format!("run {id}: ")), "{output}");
}

#[test]
fn numeric_answer_agrees_with_every_label_of_the_data() {
    let folder = Folder::new();
    folder.sh("scorebox run -s numeric-answer answers.jsonl").exits_with(0);
    let labels: BTreeMap<String, String> = fs::read_to_string(folder.path("answers.jsonl"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|case| (case["id"].as_str().unwrap().to_owned(), case["label"].to_string()))
        .collect();
    let scores = folder.rows("SELECT node_id, score FROM _smithers_scorers ORDER BY node_id");
    let expected: Vec<String> =
        labels.iter().map(|(id, label)| format!("{id} | {label}")).collect();
    assert_eq!(expected.len(), 400);
    assert_eq!(scores, expected);
}

#[test]
fn the_view_for_smithers_has_its_16_columns() {
    let folder = Folder::new();
    folder.write("cases.jsonl", CASES);
    folder.sh("scorebox run -s exact-match cases.jsonl --run-id r").exits_with(0);
    let columns = folder.rows("SELECT name FROM pragma_table_info('_smithers_scorers')").join(" ");
    assert_eq!(
        columns,
        "id run_id node_id iteration attempt scorer_id scorer_name source score reason meta_json \
         input_json output_json latency_ms scored_at_ms duration_ms"
    );
}

const CASES: &str = r#"{"id": "a", "nodeId": "answer", "iteration": 1, "attempt": 2, "input": {"q": 1}, "output": "x", "groundTruth": "x", "latencyMs": 12.5}
{"id": "b", "output": {"text": "y"}, "groundTruth": "z"}
"#;

#[test]
fn a_row_of_the_view_holds_the_case_as_it_was_read() {
    let folder = Folder::new();
    folder.write("cases.jsonl", CASES);
    folder.sh("scorebox run -s exact-match cases.jsonl --run-id r").exits_with(0);
    let rows = folder.rows(
        "SELECT run_id, node_id, iteration, attempt, scorer_id, scorer_name, source, score, \
         input_json, output_json, latency_ms FROM _smithers_scorers ORDER BY id",
    );
    assert_snapshot!(rows.join("\n"), @r#"
    r | b | 0 | 0 | exact-match | Exact Match | batch | 0 | null | {"text": "y"} | null
    r | answer | 1 | 2 | exact-match | Exact Match | batch | 1 | {"q": 1} | "x" | 12.5
    "#);
}

#[test]
fn the_view_for_smithers_holds_the_scored_rows_and_no_others() {
    let folder = Folder::new();
    folder.write("cases.jsonl", CASES);
    let command = "scorebox run -s exact-match -s na=./misbehave.wasm -s bad=./misbehave.wasm \
                   --config na='{\"then\": \"not-applicable\"}' --config bad='{\"then\": \"fail\"}' \
                   cases.jsonl";
    folder.sh(command).exits_with(1);
    let scored = folder.rows("SELECT DISTINCT scorer_id FROM _smithers_scorers");
    assert_eq!(scored, ["exact-match"]);
    let all = folder.sh("scorebox scores --format json").exits_with(0);
    assert_eq!(all.json().as_array().unwrap().len(), 6);
}

#[test]
fn the_summary_is_json_for_programs() {
    let folder = Folder::new();
    folder.write("cases.jsonl", CASES);
    assert_snapshot!(folder.sh("scorebox run -s exact-match cases.jsonl --run-id r --format json"), @r#"
    {
      "runId": "r",
      "state": "finished",
      "casesRead": 2,
      "casesBad": 0,
      "casesFinishedBefore": 0,
      "scoresWritten": 2,
      "scoresReused": 0,
      "durationMs": [time],
      "scoresSkipped": 0,
      "root": "[digest]",
      "database": "scorebox.db",
      "verdict": {
        "decides": false,
        "passed": 2,
        "regressed": 0,
        "failed": 0,
        "errored": 0,
        "erroredAndFailed": 0,
        "skipped": 0,
        "undecided": 0,
        "passRate": null,
        "meanScore": 0.5,
        "meanLatencyMs": [time],
        "meanCostUsd": null,
        "scorers": [
          {
            "scorerId": "exact-match",
            "severity": "soft",
            "threshold": null,
            "held": 2,
            "regressed": 0,
            "failed": 0,
            "errored": 0
          }
        ]
      },
      "broken": [],
      "scorers": [
        {
          "scorerId": "exact-match",
          "scorerName": "Exact Match",
          "count": 2,
          "mean": 0.5,
          "min": 0.0,
          "max": 1.0,
          "p50": 0.5,
          "stddev": 0.5,
          "notApplicable": 0,
          "skipped": 0,
          "errors": 0,
          "reused": 0,
          "meanFuel": [fuel],
          "meanDurationMs": [time],
          "distribution": [
            1,
            0,
            0,
            0,
            0,
            0,
            0,
            1
          ]
        }
      ],
      "summaries": []
    }
    [exit code 0]
    "#);
    let line = folder.sh("scorebox run -s exact-match cases.jsonl --format jsonl").exits_with(0);
    assert_eq!(line.stdout.lines().count(), 1);
    assert_eq!(line.json()["scoresWritten"], 2);
}

#[test]
fn one_scorer_runs_twice_under_two_names_with_two_configurations() {
    let folder = Folder::new();
    folder.write("cases.jsonl", r#"{"output": "It is Paris."}"#);
    let command = "scorebox run -s contains -s country=contains --config contains='{\"value\": \"Paris\"}' \
                   --config country='{\"value\": \"France\"}' cases.jsonl";
    folder.sh(command).exits_with(0);
    let scores = folder.rows("SELECT scorer_id, score FROM _smithers_scorers ORDER BY scorer_id");
    assert_eq!(scores, ["contains | 1", "country | 0"]);
}

#[test]
fn a_component_is_named_by_its_path() {
    let folder = Folder::new();
    folder.write("cases.jsonl", r#"{"output": 1}"#);
    folder.write("own.toml", "[scorers.own]\nuse = \"./misbehave.wasm\"\nname = \"My Own\"\n");
    folder.sh("scorebox run -s ./misbehave.wasm own.toml cases.jsonl").exits_with(0);
    let scores = folder.rows("SELECT scorer_id, scorer_name FROM _smithers_scorers ORDER BY 1");
    assert_eq!(scores, ["misbehave | Misbehave", "own | My Own"]);
}

#[test]
fn the_path_of_a_component_starts_at_the_folder_of_the_suite_file() {
    let folder = Folder::new();
    fs::create_dir(folder.path("suites")).unwrap();
    fs::rename(folder.path("misbehave.wasm"), folder.path("suites/own.wasm")).unwrap();
    folder.write("suites/own.toml", "[scorers.own]\nuse = \"./own.wasm\"\n");
    folder.sh("scorebox run suites/own.toml answers.jsonl").exits_with(0);
}

#[test]
fn cases_of_any_layout_are_read_by_json_pointer() {
    let folder = Folder::new();
    folder.write(
        "cases.jsonl",
        r#"{"response": {"text": "Paris"}, "gold": ["Rome", "Paris"]}"#.to_owned() + "\n",
    );
    let map = "--map output=/response/text --map groundTruth=/gold/1";
    folder.sh(&format!("scorebox run -s exact-match {map} cases.jsonl")).exits_with(0);
    assert_eq!(folder.rows("SELECT score FROM _smithers_scorers"), ["1"]);
    assert_snapshot!(folder.sh("scorebox run -s exact-match --map outptu=/response cases.jsonl"), @"
    [stderr]
    error: a case has no key `outptu`
    hint: did you mean `output`?
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox run -s exact-match --map output=response cases.jsonl"), @"
    [stderr]
    error: `response` is not a JSON Pointer: it does not start with `/`
    hint: did you mean `output=/response`?
    [exit code 2]
    ");
}

#[test]
fn compressed_cases_and_standard_input_give_the_same_scores_as_the_plain_file() {
    let folder = Folder::new();
    let plain = fs::read(folder.path("answers.jsonl")).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&plain).unwrap();
    folder.write("answers.jsonl.gz", gzip.finish().unwrap());
    folder.write("answers.jsonl.zst", zstd::encode_all(&plain[..], 3).unwrap());
    let scores = |cases: &str, run: &str| {
        let line = format!("scorebox run -s levenshtein --run-id {run} {cases}");
        folder.sh(&line).exits_with(0);
        folder.rows(&format!(
            "SELECT node_id, score FROM _smithers_scorers WHERE run_id = '{run}' ORDER BY 1"
        ))
    };
    let expected = scores("answers.jsonl", "plain");
    assert_eq!(expected.len(), 400);
    assert_eq!(scores("answers.jsonl.gz", "gzip"), expected);
    assert_eq!(scores("answers.jsonl.zst", "zstd"), expected);
    assert_eq!(scores("- < answers.jsonl", "stdin"), expected);
    assert_eq!(scores("- < answers.jsonl.gz", "gzip-stdin"), expected);
}

#[test]
fn scores_do_not_depend_on_how_many_are_made_at_once() {
    let folder = Folder::new();
    for (run, jobs) in [("one", 1), ("many", 7)] {
        let line = format!("scorebox run suite.toml answers.jsonl --run-id {run} -j {jobs}");
        folder.sh(&line).exits_with(0);
    }
    let rows = |run: &str| {
        folder.rows(&format!(
            "SELECT node_id, scorer_id, score, reason, meta_json FROM _smithers_scorers \
             WHERE run_id = '{run}' ORDER BY 1, 2"
        ))
    };
    assert_eq!(rows("one"), rows("many"));
}

#[test]
fn errors_are_shown_and_the_exit_code_is_1_unless_they_are_allowed() {
    let folder = Folder::new();
    let command = "scorebox run -s ./misbehave.wasm --config misbehave='{\"then\": \"fail\"}' answers.jsonl -j 1";
    assert_snapshot!(folder.sh(&format!("{command} --run-id r")), @"
    scorer     scored  n/a  errors  mean  0 … 1     p50  min  max fuel time
    misbehave       0    0     400     -              -    -    - - -
    [stderr]

    run r: 400 cases, 400 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: 400 scores are errors; first:
      misbehave on gsm8k-0001-6b_finetuning: failed: was told to fail
      misbehave on gsm8k-0001-6b_verification: failed: was told to fail
      misbehave on gsm8k-0001-175b_finetuning: failed: was told to fail
    hint: show all errors: scorebox scores r --errors
    [exit code 1]
    ");
    folder.sh(&format!("{command} --allow-errors")).exits_with(0);
}

#[test]
fn a_message_of_several_lines_keeps_them_in_the_list_of_errors() {
    let folder = Folder::new();
    folder.write(
        "faults.js",
        "export default () => { throw new Error('two faults:\\n  - no greeting\\nerror: no end'); };",
    );
    folder.write("cases.jsonl", "{\"output\": 1}\n");
    let run = folder.sh("scorebox run -s ./faults.js cases.jsonl -q --run-id r").exits_with(1);
    let listed = "\n  faults on case-1: failed: faults.js:1:34: two faults:\n      - no greeting\n    error: no end\n";
    assert!(run.stderr.contains(listed), "{run}");
}

#[test]
fn an_invalid_score_is_an_error_and_counts_in_no_mean() {
    let folder = Folder::new();
    folder.write("cases.jsonl", "{\"output\": 1}\n");
    for score in ["not-a-number", "infinite", "two", "negative"] {
        let command = format!(
            "scorebox run -s ./misbehave.wasm --config misbehave='{{\"score\": \"{score}\"}}' \
             cases.jsonl --format json"
        );
        let summary = folder.sh(&command).exits_with(1).json();
        assert_eq!(summary["scorers"][0]["errors"], 1, "{score}");
        assert_eq!(summary["scorers"][0]["mean"], Value::Null, "{score}");
    }
    let kinds = folder.sh("scorebox scores --errors --format json").json();
    assert_eq!(kinds[0]["error"]["kind"], "invalid-score");
}

#[test]
fn the_spread_of_points_is_over_their_own_range() {
    let folder = Folder::new();
    let case = |rating| format!("{{\"output\": \"a\", \"metadata\": {{\"rating\": {rating}}}}}\n");
    folder.write("cases.jsonl", [0, 10].map(case).concat());
    let length = "-s length --config 'length={\"max\": 1}'";
    let output = folder.sh(&format!("scorebox run cases.jsonl -s weighted {length} -q"));
    let table = output.exits_with(0).stdout;
    for part in ["  spread ", "  █      █ 0 … 100.0  ", "         █ 0 … 1  "] {
        assert!(table.contains(part), "{table}");
    }
}

/// The contract has no tokens of this kind, so a gate on the cost would pass on a small part of it.
#[test]
fn tokens_of_a_cache_that_no_scorer_sees_are_warned_of() {
    let folder = Folder::new();
    folder.write(
        "suite.toml",
        "[scorers.cost-budget]\nconfig = { maxCost = 0.5, prices = { \"*\" = { input = 3, output = 15 } } }\n",
    );
    let case = |more: &str| {
        format!(
            "{{\"output\": \"x\", \"usage\": {{\"inputTokens\": 9, \"outputTokens\": 9{more}}}}}\n"
        )
    };
    let run = |cases: [&str; 2], scorer: &str| {
        folder.write("cases.jsonl", cases.map(case).concat());
        folder.sh(&format!("scorebox run {scorer} cases.jsonl -q --format json")).exits_with(0)
    };
    let warning = "warning: 2 cases count tokens of a cache in `usage`, without `costUsd`: `cost-budget` does not see them\n\
                   hint: state the whole cost as `usage.costUsd`, or give the usage as a `trace`";
    let hiding = [", \"cacheReadTokens\": 9000", ", \"cache_read_input_tokens\": 9000"];
    let warned = run(hiding, "suite.toml");
    assert!(warned.stderr.contains(warning), "{warned}");
    let priced = [", \"cacheReadTokens\": 9000, \"costUsd\": 0.1", ", \"cacheReadTokens\": 0"];
    for other in
        [run(priced, "suite.toml"), run(hiding, "-s length=length --config 'length={\"max\": 9}'")]
    {
        assert!(!other.stderr.contains("tokens of a cache"), "{other}");
    }
}

#[test]
fn the_first_errors_say_which_attempt_of_a_case_they_are_about() {
    let folder = Folder::new();
    let attempt = |attempt| {
        format!(r#"{{"id":"q","attempt":{attempt},"output":"x","trace":{{"unknown":1}}}}"#)
    };
    folder.write("cases.jsonl", [0, 1].map(attempt).join("\n"));
    let run =
        folder.sh("scorebox run cases.jsonl -s tool-count --config tool-count='{\"none\": true}'");
    assert!(run.stderr.contains("tool-count on q: invalid-input"), "{}", run.stderr);
    assert!(
        run.stderr.contains("tool-count on q (iteration 0, attempt 1): invalid-input"),
        "{}",
        run.stderr
    );
}
