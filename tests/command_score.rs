//! `scorebox score`, as a user runs it.

use insta::assert_snapshot;

use crate::fixture::Folder;

const CASE: &str = r#"{"id": "capital", "output": "Paris", "groundTruth": "Paris"}"#;

#[test]
fn a_score_is_printed_as_json() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("scorebox score contains --output-text 'It is Paris.' --ground-truth '\"Paris\"'"), @r#"
    {
      "scorerId": "contains",
      "status": "scored",
      "score": 1.0,
      "reason": "found \"Paris\"",
      "meta": {"found":["Paris"],"missing":[]},
      "fuel": [fuel],
      "memoryBytes": [memory],
      "durationMs": [time]
    }
    [exit code 0]
    "#);
}

#[test]
fn an_option_takes_a_negative_number() {
    let folder = Folder::new();
    let score = folder.sh("scorebox score numeric-diff --output -5 --ground-truth -5.0e0");
    assert_eq!(score.exits_with(0).json()["score"], 1.0);
    assert_snapshot!(folder.sh("scorebox score latency --output 1 --latency-ms -5"), @"
    [stderr]
    error: <case>: `latencyMs` must be a finite number of 0 or more; found the number -5
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox scores --limit -1"), @"
    [stderr]
    error: invalid value '-1' for '--limit <N>'

      tip: this is a whole number of 0 or more, written in digits alone: 1000000

    For more information, try '--help'.
    [exit code 2]
    ");
}

#[test]
fn an_output_is_json_or_with_its_own_option_plain_text() {
    let folder = Folder::new();
    let json =
        folder.sh("scorebox score exact-match --output '{\"a\": 1}' --ground-truth '{\"a\": 1.0}'");
    assert_eq!(json.exits_with(0).json()["score"], 1.0);
    let text = folder.sh("scorebox score exact-match --output-text 42 --ground-truth '\"42\"'");
    assert_eq!(text.exits_with(0).json()["score"], 1.0);
    assert_snapshot!(folder.sh("scorebox score exact-match --output Paris"), @r#"
    [stderr]
    error: `output` is not JSON: expected value at line 1 column 1
    hint: text is written '"like this"', or with --output-text
    [exit code 2]
    "#);
}

#[test]
fn a_whole_case_comes_from_a_file_or_from_standard_input() {
    let folder = Folder::new();
    folder.write("case.json", CASE);
    let from_file = folder.sh("scorebox score exact-match --case case.json").exits_with(0);
    let from_stdin = folder.sh("scorebox score exact-match --case - < case.json").exits_with(0);
    for output in [from_file, from_stdin] {
        assert_eq!(output.json()["score"], 1.0);
    }
}

#[test]
fn mistakes_of_a_case_are_reported_where_they_are() {
    let folder = Folder::new();
    folder.write("bad.json", "{\"id\": \"a\",\n\"output\" 1}");
    folder.write("several.jsonl", "{\"output\": 1}\n{\"output\": 2}\n");
    let refused = folder.sh(
        "scorebox score exact-match --case bad.json; scorebox score exact-match --case several.jsonl; \
         echo '{\"x\": 1}' | scorebox inspect exact-match --case -",
    );
    assert_snapshot!(refused.stderr, @"
    error: bad.json:2:10: not valid JSON: expected `:`
    error: several.jsonl:2:1: not valid JSON: trailing characters
    hint: one case is scored here; `scorebox run` scores all of a file
    error: <stdin>:1: no `output`; found the keys `x`
    hint: a case has it as `output`, at its top
    ");
}

#[test]
fn a_part_of_a_case_can_come_from_standard_input_and_nothing_else_then() {
    let folder = Folder::new();
    let score = "scorebox score exact-match --output @-";
    let scored = folder.sh(&format!("echo '\"Paris\"' | {score} --ground-truth '\"Paris\"'"));
    assert_eq!(scored.exits_with(0).json()["score"], 1.0);
    assert_snapshot!(folder.sh(&format!("echo 1 | {score} --ground-truth @-")), @"
    [stderr]
    error: standard input is named more than once, and can be read only once
    hint: name `-` once
    [exit code 2]
    ");
}

#[test]
fn a_part_of_a_case_can_be_in_a_file() {
    let folder = Folder::new();
    folder.write("answer.json", "\"Paris\"");
    folder.write("config.json", r#"{"value": "par", "ignoreCase": true, "at": "start"}"#);
    let output = folder.sh("scorebox score contains --output @answer.json --config @config.json");
    assert_eq!(output.exits_with(0).json()["score"], 1.0);
    assert_snapshot!(folder.sh("scorebox score contains --output @none.json"), @"
    [stderr]
    error: cannot read `none.json`: no such file
    hint: a relative path starts at the folder where the command was started
    [exit code 2]
    ");
}

#[test]
fn a_scorer_that_does_not_apply_says_so_and_it_is_not_an_error() {
    let folder = Folder::new();
    let command =
        r#"scorebox score ./misbehave.wasm --config '{"then": "not-applicable"}' --output 1"#;
    assert_snapshot!(folder.sh(command), @r#"
    {
      "scorerId": "./misbehave.wasm",
      "status": "not-applicable",
      "score": null,
      "reason": "was told not to apply",
      "fuel": [fuel],
      "memoryBytes": [memory],
      "durationMs": [time]
    }
    [exit code 0]
    "#);
}

#[test]
fn an_error_is_printed_both_as_json_and_in_words_and_the_exit_code_is_1() {
    let folder = Folder::new();
    let command = r#"scorebox score ./misbehave.wasm --config '{"then": "fail"}' --output 1"#;
    assert_snapshot!(folder.sh(command), @r#"
    {
      "scorerId": "./misbehave.wasm",
      "status": "error",
      "score": null,
      "fuel": [fuel],
      "memoryBytes": [memory],
      "durationMs": [time],
      "error": {
        "kind": "failed",
        "message": "was told to fail"
      }
    }
    [stderr]
    error: failed: was told to fail
    [exit code 1]
    "#);
}

#[test]
fn errors_can_be_allowed() {
    let folder = Folder::new();
    let command = r#"scorebox score ./misbehave.wasm --config '{"then": "fail"}' --output 1"#;
    let output = folder.sh(&format!("{command} --allow-errors")).exits_with(0);
    assert_eq!(output.json()["status"], "error");
}

#[test]
fn the_message_and_the_place_of_a_panic_reach_the_user() {
    let folder = Folder::new();
    let command = r#"scorebox score ./misbehave.wasm --config '{"then": "panic"}' --output 1"#;
    let output = folder.sh(command).exits_with(1);
    let first_line = output.stderr.lines().next().unwrap();
    assert!(
        first_line.starts_with("error: trap: panicked at tests/guests/misbehave/src/lib.rs:")
            && first_line.ends_with(": was told to panic"),
        "{output}"
    );
    assert!(output.stderr.contains("\n    at <misbehave::Misbehave>::act\n"), "{output}");
    assert_eq!(output.json()["error"]["kind"], "trap");
}

#[test]
fn limits_are_set_by_options() {
    let folder = Folder::new();
    let spin = r#"scorebox score ./misbehave.wasm --config '{"then": "spin"}' --output 1"#;
    let fuel = folder.sh(&format!("{spin} --fuel 10000000")).exits_with(1);
    assert_eq!(fuel.json()["error"]["kind"], "out-of-fuel");
    let time = folder.sh(&format!("{spin} --timeout 300ms")).exits_with(1);
    assert_eq!(time.json()["error"]["kind"], "timed-out");
    let take = r#"scorebox score ./misbehave.wasm --config '{"then": "take-memory", "amount": 4000000}' --output 1"#;
    let memory = folder.sh(&format!("{take} --memory 1MiB")).exits_with(1);
    assert_eq!(memory.json()["error"]["kind"], "out-of-memory");
    folder.sh(take).exits_with(0);
}

#[test]
fn an_unknown_scorer_is_refused_with_the_name_meant() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("scorebox score exact-mach --output 1"), @"
    [stderr]
    error: there is no scorer `exact-mach`
    hint: did you mean `exact-match`?
    [exit code 2]
    ");
    folder.write("grade.cjs", "");
    assert_snapshot!(folder.sh("scorebox score grade.cjs --output 1"), @"
    [stderr]
    error: there is no scorer `grade.cjs`
    hint: the name of a scorer's file ends in .wasm or, if it is a script, in .js, .mjs, .ts, .mts or .py; `scorebox scorers` lists the built-in scorers
    [exit code 2]
    ");
}

#[test]
fn an_unknown_configuration_key_is_refused_with_the_key_meant() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh(r#"scorebox score contains --config '{"ignorecase": true}' --output 1"#), @"
    [stderr]
    error: scorer `contains`: invalid-config: unknown key `ignorecase`
    hint: did you mean `ignoreCase`?
    [exit code 2]
    ");
}

#[test]
fn a_missing_configuration_key_is_named() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh(r#"scorebox score latency --config '{"targetMs": 100}' --output 1"#), @"
    [stderr]
    error: scorer `latency`: invalid-config: `maxMs` is required
    [exit code 2]
    ");
}

#[test]
fn a_configuration_is_a_json_object() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("scorebox score contains --config value=Paris --output 1"), @r#"
    [stderr]
    error: the configuration is not JSON: expected value at line 1 column 1
    hint: a configuration is a JSON object, such as '{"ignoreCase": true}'
    [exit code 2]
    "#);
    assert_snapshot!(folder.sh("scorebox score contains --config '[1]' --output 1"), @r#"
    [stderr]
    error: the configuration is not a JSON object: [1]
    hint: a configuration is a JSON object, such as '{"ignoreCase": true}'
    [exit code 2]
    "#);
}

#[test]
fn without_a_case_there_is_nothing_to_score() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("scorebox score contains"), @"
    [stderr]
    error: there is nothing to score
    hint: give the output with --output, or a whole case with --case
    [exit code 2]
    ");
}

#[test]
fn a_case_is_whole_or_in_parts_but_not_both() {
    let folder = Folder::new();
    let output = folder.sh("scorebox score contains --case case.json --output 1").exits_with(2);
    assert!(output.stderr.contains("cannot be used with"), "{output}");
}

/// A pool needs more address space than this; mimalloc and wasmtime's code still fit.
#[test]
fn where_address_space_is_short_it_scores_without_a_pool() {
    let folder = Folder::new();
    let command = "scorebox score exact-match --output 1 --ground-truth 1";
    let with_pool = folder.sh(command).exits_with(0).json();
    let without = folder.sh(&format!("ulimit -v 4000000; {command}")).exits_with(0).json();
    assert_eq!((&without["score"], &without["fuel"]), (&with_pool["score"], &with_pool["fuel"]));
}

#[test]
fn a_score_is_printed_as_json_or_as_a_table() {
    let folder = Folder::new();
    let command = "scorebox score exact-match --output 1 --ground-truth 1 --format";
    let table = folder.sh(&format!("{command} table")).exits_with(0).stdout;
    assert!(table.starts_with("scorer       status   score "), "{table}");
    assert!(table.contains("exact-match  scored  1.0000 "), "{table}");
    assert!(table.ends_with("1 equals the expected answer\n"), "{table}");
    let line = folder.sh(&format!("{command} jsonl")).exits_with(0);
    assert_eq!((line.stdout.lines().count(), line.json()["score"].as_f64()), (1, Some(1.0)));
}

/// The messages differ from those for a file of cases or for another limit, which cause the same mistakes.
#[test]
fn what_is_wrong_with_one_case_or_a_limit_is_said_in_words_that_fit() {
    let folder = Folder::new();
    folder.write("answer.json", r#"{"answer": "x"}"#);
    folder.write("other.json", r#"{"thing": "x"}"#);
    let score = |options: &str| {
        let refused = folder.sh(&format!("scorebox score exact-match {options}")).exits_with(2);
        refused.stderr
    };
    let renamed = score("--case answer.json");
    assert!(
        renamed.ends_with("\nhint: if `answer` is what to score, call it `output` in the case\n"),
        "{renamed}"
    );
    assert!(!score("--case other.json").contains("--map"));
    assert_eq!(
        score("--output 1 --metadata {a"),
        "error: `metadata` is not JSON: key must be a string at line 1 column 2\n\
         hint: names and texts are in double quotes, and a shell keeps them within single ones: '{\"name\": \"value\"}'\n"
    );
    let limit = |limit: &str| score(&format!("--output 1 --limit {limit}"));
    assert_eq!(
        limit("fuel=5MB"),
        "error: fuel: `5MB` is not a whole number, such as 1000; it has no unit\n"
    );
    assert_eq!(
        limit("timeout=5MB"),
        "error: timeout: `5MB` is not a time such as `500ms`, `5s` or `2min`\n"
    );
    folder.write("t.js", "export const info = { threshold: 70 };\nexport default () => 1;\n");
    let off = folder.sh("scorebox score ./t.js --output 1").exits_with(2).stderr;
    assert!(
        off.ends_with(
            "the threshold 70 is off the scale: it must be 0 to 1, unless the scorer's scale is `points`\n"
        ),
        "{off}"
    );
}
