//! Gates, thresholds and requirements that decide a run, and its exit code. `command_verdict` tests what the user reads
//! about it.

use std::fs;

use insta::assert_snapshot;

use crate::{
    command_verdict::{CASES, folder},
    fixture::Folder,
};

/// The exit code of a run with these options.
fn exit(options: &str) -> i32 {
    let folder = folder();
    folder.sh(&format!("scorebox run suite.toml cases.jsonl -q {options}")).code.unwrap()
}

#[test]
fn requirements_decide_the_exit_code() {
    for (options, code) in [
        ("", 3),
        ("--allow-failures", 1),
        ("--allow-failures --allow-errors", 0),
        ("--min-pass-rate 0.5 --allow-errors", 0),
        ("--min-pass-rate 0.75 --allow-errors", 3),
        ("--min-pass-rate 0.5 --strict --allow-errors", 3),
        ("--min-pass-rate 0.5 --max-errors 1", 0),
        ("--min-pass-rate 0.5 --max-errors 0", 3),
        ("--min-pass-rate 0 --allow-errors --fail-below fast=0.7", 0),
        ("--min-pass-rate 0 --allow-errors --fail-below fast=0.75", 3),
        ("--fail-below fastt=0.5", 2),
        ("--fail-below fast=2", 2),
        ("--fail-below fast", 2),
        ("--min-pass-rate 2", 2),
    ] {
        assert_eq!(exit(options), code, "{options}");
    }
}

#[test]
fn a_soft_regression_fails_only_under_strict() {
    let folder = folder();
    folder.write("cases.jsonl", CASES.lines().nth(2).unwrap());
    folder.sh("scorebox run suite.toml cases.jsonl -q").exits_with(0);
    let strict = folder.sh("scorebox run suite.toml cases.jsonl -q --strict").exits_with(3);
    let (_, said) = strict.stderr.split_once("error: 1 case failed\nhint: show them: ").unwrap();
    let shown = folder.sh(said.lines().next().unwrap()).exits_with(0);
    assert_eq!(shown.stdout.lines().count(), 2, "{shown}");
}

#[test]
fn a_threshold_is_on_the_scorers_direction_and_on_its_scale() {
    let folder = folder();
    folder.write("suite.toml", "[scorers.right]\nuse = \"exact-match\"\nthreshold = 1.5\n");
    assert_snapshot!(folder.sh("scorebox suite check suite.toml"), @"
    [stderr]
    error: suite.toml:3:13: scorer `right`: the threshold 1.5 is not on the scorer's scale, which is 0 to 1
    [exit code 2]
    ");
    folder.write("suite.toml", "[scorers.points]\nuse = \"weighted\"\nseverity = \"gate\"\n");
    let refused = folder.sh("scorebox run suite.toml cases.jsonl").exits_with(2);
    let words = "suite.toml:3:12: scorer `points`: a gate on the scale of points needs a threshold";
    assert!(refused.stderr.contains(words), "{refused}");
    assert!(!folder.path("scorebox.db").exists());
}

#[test]
fn a_gate_of_points_without_a_threshold_is_warned_of_unless_its_assertions_decide() {
    let folder = folder();
    let script = |score: &str| {
        let info = "export const info = { scale: \"points\" };";
        folder.write("points.js", format!("export default () => ({score});\n{info}\n"));
    };
    let warning = "warning: `points` is a gate on the scale of points without a threshold, so no score of it fails a case: give it a `threshold`\n";
    script("0");
    let run = folder.sh("scorebox run cases.jsonl -s ./points.js -q").exits_with(0);
    assert!(run.stderr.contains(warning), "{run}");
    script("{ score: 0, assertions: [{ name: \"a\", score: 0, severity: \"gate\" }] }");
    let run = folder.sh("scorebox run cases.jsonl -s ./points.js -q").exits_with(3);
    assert!(!run.stderr.contains(warning), "{run}");
    script("0");
    folder.write("suite.toml", "[scorers.points]\nuse = \"./points.js\"\nthreshold = 1\n");
    let run = folder.sh("scorebox run suite.toml cases.jsonl -q").exits_with(3);
    assert!(!run.stderr.contains(warning), "{run}");
}

#[test]
fn a_required_scorer_makes_a_case_errored_and_a_soft_one_does_not() {
    let folder = folder();
    folder.write("cases.jsonl", CASES.lines().nth(3).unwrap());
    for (said, verdict) in [("", None), ("required = true", Some("errored"))] {
        folder.write("suite.toml", format!("[scorers.right]\nuse = \"exact-match\"\n{said}\n"));
        folder.sh("scorebox run suite.toml cases.jsonl -q").exits_with(1);
        let cases = folder.sh("scorebox cases --format json").json();
        assert_eq!(cases[0]["verdict"].as_str(), verdict);
    }
}

#[test]
fn gates_that_built_in_scorers_declare_decide_without_a_word_in_the_suite() {
    let folder = Folder::new();
    let cases = fs::read_to_string(folder.path("answers.jsonl")).unwrap();
    folder.write("cases.jsonl", cases.lines().take(3).collect::<Vec<_>>().join("\n"));
    let budget =
        "scorebox run cases.jsonl -q -s latency --config 'latency={\"targetMs\":1,\"maxMs\":2}'";
    folder.sh(budget).exits_with(0);
    folder.write("cases.jsonl", "{\"output\": 1, \"usage\": {\"totalTokens\": 10}}\n");
    let tokens =
        "scorebox run cases.jsonl -q -s token-budget --config 'token-budget={\"maxTokens\":5}'";
    let failed = folder.sh(tokens).exits_with(3);
    assert!(
        failed.stderr.contains("token-budget (gate, at least 1.0000): 1 case failed"),
        "{failed}"
    );
}
