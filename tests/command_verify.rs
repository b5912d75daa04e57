//! `scorebox verify`: recomputed scores, tampered data, receipts.

use insta::assert_snapshot;

use crate::fixture::Folder;

/// A run `r` of three cases and two scorers.
fn with_a_run() -> Folder {
    let folder = Folder::new();
    folder.write(
        "cases.jsonl",
        "{\"id\": \"q1\", \"output\": \"Paris\", \"groundTruth\": \"Paris\"}\n\
         {\"id\": \"q2\", \"output\": \"Rom\", \"groundTruth\": \"Rome\"}\n\
         {\"id\": \"q3\", \"output\": 3, \"groundTruth\": [3, \"three\"], \"latencyMs\": 0.1}\n",
    );
    folder.sh("scorebox run cases.jsonl -s exact-match -s levenshtein --run-id r -q").exits_with(0);
    folder
}

fn tampered(change: &str) -> Folder {
    let folder = with_a_run();
    folder.database("scorebox.db").execute_batch(change).unwrap();
    folder
}

#[test]
fn every_score_of_a_run_is_computed_again_from_the_database_alone() {
    let folder = with_a_run();
    folder.sh("rm cases.jsonl");
    assert_snapshot!(folder.sh("scorebox verify --trust-cache r").exits_with(0), @r#"
    [stderr]
    6 verified, 0 different, 0 not verifiable
    [exit code 0]
    "#);
    assert_snapshot!(folder.sh("scorebox verify --trust-cache --format json").exits_with(0), @r#"
    {
      "verified": 6,
      "different": 0,
      "notVerifiable": 0,
      "unproved": {},
      "findings": []
    }
    [stderr]
    6 verified, 0 different, 0 not verifiable
    [exit code 0]
    "#);
}

#[test]
fn a_tampered_row_is_reported_with_what_was_stored_and_what_was_computed() {
    let folder = tampered(
        "UPDATE score_rows SET score = 0.25, reason = 'fine' WHERE scorer = 2 AND score = 0.75;
         UPDATE score_rows SET fuel = fuel + 1, meta_json = '{}' WHERE scorer = 1 AND score = 0.0;",
    );
    assert_snapshot!(folder.sh("scorebox verify --trust-cache r").exits_with(1), @"
    score                 verdict    what    stored                                                            computed
    r:exact-match:0:0:q2  different  meta    {}                                                                (absent)
    r:exact-match:0:0:q2  different  fuel [fuel] [fuel]
    r:levenshtein:0:0:q2  different  score   0.25                                                              0.75
    r:levenshtein:0:0:q2  different  reason  fine                                                              1 edit away from the expected text
    r                     different  root    [digest]  [digest]
    [stderr]
    4 verified, 3 different, 0 not verifiable
    [exit code 1]
    ");
}

#[test]
fn a_status_that_was_turned_into_an_error_is_different() {
    let folder = tampered(
        "UPDATE score_rows SET status = 'error', score = NULL, error_kind = 'failed',
             error_message = 'no', assertions_json = NULL
         WHERE case_key = (SELECT min(case_key) FROM cases) AND scorer = 1",
    );
    assert_snapshot!(folder.sh("scorebox verify --trust-cache r").exits_with(1), @"
    score                 verdict    what           stored                                                            computed
    r:exact-match:0:0:q1  different  status         error                                                             scored
    r:exact-match:0:0:q1  different  score          (absent)                                                          1
    r:exact-match:0:0:q1  different  error kind     failed                                                            (absent)
    r:exact-match:0:0:q1  different  error message  no                                                                (absent)
    r                     different  root           [digest]  [digest]
    [stderr]
    5 verified, 2 different, 0 not verifiable
    [exit code 1]
    ");
}

#[test]
fn the_scores_of_one_task_are_verified_by_its_node() {
    let folder = Folder::new();
    let case = |id: &str, node: &str| {
        format!("{{\"id\": \"{id}\", \"nodeId\": \"{node}\", \"output\": 1, \"latencyMs\": 5}}\n")
    };
    folder.write("cases.jsonl", case("a", "write") + &case("b", "write") + &case("c", "read"));
    let run = "scorebox run cases.jsonl -s latency --config 'latency={\"targetMs\": 1, \"maxMs\": 9}' -q --run-id r";
    folder.sh(run).exits_with(0);
    assert_snapshot!(folder.sh("scorebox verify --trust-cache r --node write"), @"
    [stderr]
    2 verified, 0 different, 0 not verifiable
    not compared: the run as a whole
    [exit code 0]
    ");
    let unknown = folder.sh("scorebox verify --trust-cache r --node wrte").exits_with(2).stderr;
    assert!(unknown.contains("did you mean `write`?"), "{unknown}");
}

#[test]
fn a_swapped_component_is_reported() {
    let folder = tampered(
        "UPDATE components SET bytes = (SELECT bytes FROM components WHERE component = 2)
         WHERE component = 1",
    );
    let shown = folder.sh("scorebox verify --trust-cache r --scorer exact-match").exits_with(1);
    assert!(shown.stdout.lines().skip(1).all(|line| line.contains("component")), "{shown}");
    assert!(shown.stderr.contains("0 verified, 3 different"), "{shown}");
    folder.sh("scorebox verify --trust-cache r --scorer levenshtein").exits_with(0);
}

#[test]
fn an_edited_case_is_reported_and_its_neighbours_are_verified() {
    let folder = tampered("UPDATE cases SET output = '\"Rome\"' WHERE case_id = 'q2'");
    let shown = folder.sh("scorebox verify --trust-cache r").exits_with(1);
    let of_q2 = |line: &&str| line.contains(":q2") && line.contains("different  case");
    assert_eq!(shown.stdout.lines().filter(of_q2).count(), 2, "{shown}");
    assert!(shown.stderr.contains("4 verified, 3 different"), "the run's root is one: {shown}");
}

#[test]
fn an_edited_case_with_a_digest_to_match_is_found_by_its_input() {
    let folder = tampered(
        "UPDATE cases SET (output, digest) = (SELECT output, digest FROM cases WHERE case_id = 'q1'),
             ground_truth = (SELECT ground_truth FROM cases WHERE case_id = 'q1')
         WHERE case_id = 'q2'",
    );
    let shown = folder.sh("scorebox verify --trust-cache r").exits_with(1);
    let of_q2 = |line: &&str| line.contains(":q2") && line.contains("different  input");
    assert_eq!(shown.stdout.lines().filter(of_q2).count(), 2, "{shown}");
}

#[test]
fn an_edited_configuration_is_reported() {
    let folder = tampered("UPDATE scorers SET config_json = '{\"negate\":true}' WHERE scorer = 1");
    let shown = folder.sh("scorebox verify --trust-cache r").exits_with(1);
    assert!(shown.stdout.contains("different  configuration"), "{shown}");
    assert!(shown.stdout.contains("different  scorer of the plan"), "{shown}");
    assert!(shown.stderr.contains("3 verified, 5 different"), "{shown}");
}

#[test]
fn what_cannot_be_computed_again_is_not_verifiable_and_says_why() {
    let folder = with_a_run();
    folder
        .sh("scorebox run cases.jsonl -s misbehave.wasm --config 'misbehave={\"then\":\"spin\"}' \
             --timeout 50ms --run-id slow -q --allow-errors")
        .exits_with(0);
    let shown = folder.sh("scorebox verify --trust-cache slow").exits_with(1);
    assert!(shown.stdout.contains("it timed out, which depends on the machine"), "{shown}");
    folder.sh("scorebox verify --trust-cache slow --allow-not-verifiable").exits_with(0);
    folder.database("scorebox.db").execute_batch("DELETE FROM components").unwrap();
    let shown = folder.sh("scorebox verify --trust-cache r").exits_with(1);
    assert!(shown.stdout.contains("its component is not in the database"), "{shown}");
}

#[test]
fn what_a_scorer_said_of_the_whole_run_is_asked_for_again() {
    let folder = Folder::new();
    let case =
        |id| format!("{{\"id\": \"{id}\", \"output\": 1, \"input\": {{\"label\": \"{id}\"}}}}\n");
    folder.write("cases.jsonl", ["a", "b"].map(case).concat());
    folder.sh("scorebox run cases.jsonl -s label-distribution --run-id r -q").exits_with(0);
    assert_snapshot!(folder.sh("scorebox verify --trust-cache r").exits_with(0), @"
    [stderr]
    3 verified, 0 different, 0 not verifiable
    [exit code 0]
    ");
    assert_snapshot!(folder.sh("scorebox verify --trust-cache r --sample 2").exits_with(0), @"
    [stderr]
    2 verified, 0 different, 0 not verifiable
    not compared: the run as a whole
    [exit code 0]
    ");
    let change = "UPDATE summaries SET summary_json = '{\"counts\":[2]}', fuel = fuel - 1";
    folder.database("scorebox.db").execute_batch(change).unwrap();
    assert_snapshot!(folder.sh("scorebox verify --trust-cache r").exits_with(1), @r#"
    score                 verdict    what     stored                                                            computed
    r                     different  root     [digest]  [digest]
    r:label-distribution  different  summary  {"counts":[2]}                                                    {"counts":{"a":1,"b":1},"fractions":[0.5,0.5],"labels":["a","b"],"skew":0.0}
    r:label-distribution  different  fuel [fuel] [fuel]
    [stderr]
    2 verified, 2 different, 0 not verifiable
    [exit code 1]
    "#);
    folder.database("scorebox.db").execute_batch("DELETE FROM summaries").unwrap();
    assert_snapshot!(folder.sh("scorebox verify --trust-cache r").exits_with(1), @r#"
    score                 verdict    what     stored                                                            computed
    r                     different  root     [digest]  [digest]
    r:label-distribution  different  summary  (absent)                                                          {"counts":{"a":1,"b":1},"fractions":[0.5,0.5],"labels":["a","b"],"skew":0.0}
    [stderr]
    2 verified, 2 different, 0 not verifiable
    [exit code 1]
    "#);
    let interrupted = "UPDATE runs SET state = 'interrupted', root = NULL, root_version = NULL";
    folder.database("scorebox.db").execute_batch(interrupted).unwrap();
    folder.sh("scorebox verify --trust-cache r").exits_with(0);
}

#[test]
fn what_decides_whether_a_score_passes_is_verified() {
    let declared = "declared_severity = 'soft', declared_threshold = 0.1";
    let change = format!("UPDATE scorers SET {declared}, direction = 'lower-is-better'");
    let folder = tampered(&change);
    let shown = folder.sh("scorebox verify --trust-cache r --scorer levenshtein").exits_with(1);
    assert!(
        shown.stdout.contains("different  direction  lower-is-better  higher-is-better"),
        "{shown}"
    );
    assert!(shown.stdout.contains("different  threshold  0.1"), "{shown}");
    assert!(shown.stderr.contains("0 verified, 3 different"), "{shown}");
}

#[test]
fn a_score_that_was_taken_away_is_missed() {
    let folder = tampered("DELETE FROM score_rows WHERE scorer = 2 AND score = 0.75");
    assert_snapshot!(folder.sh("scorebox verify --trust-cache r").exits_with(1), @"
    score          verdict    what    stored                                                            computed
    r              different  root    [digest]  [digest]
    r:levenshtein  different  scores  2                                                                 3
    [stderr]
    5 verified, 2 different, 0 not verifiable
    [exit code 1]
    ");
}

#[test]
fn absurd_limits_are_not_taken_from_a_database() {
    let limits = "json_set(limits_json, '$.timeoutMs', 1000000000)";
    let folder = tampered(&format!("UPDATE scorers SET limits_json = {limits}"));
    let shown = folder.sh("scorebox verify --trust-cache r").exits_with(1);
    assert!(
        shown.stdout.contains("its limit `timeout` is beyond what is computed again"),
        "{shown}"
    );
}

#[test]
fn an_input_without_a_digest_is_not_verifiable() {
    let folder = tampered("UPDATE score_rows SET input_digest = NULL");
    let shown = folder.sh("scorebox verify --trust-cache r").exits_with(1);
    assert!(shown.stdout.contains("the digest of its input is not stored"), "{shown}");
}

/// Characters that a terminal would act on are escaped where they are shown, and a receipt is shown.
#[test]
fn a_receipt_with_marks_for_the_direction_of_writing_is_the_same_receipt() {
    let folder = Folder::new();
    folder.write("case.json", "{\"id\": \"q\", \"output\": \"\u{5d0}\u{200f} (\u{5d1})\"}\n");
    let config = "{\"values\": [\"\u{5d0}\u{200f}\"]}";
    folder
        .sh(&format!(
            "scorebox run case.json -s contains --config 'contains={config}' --run-id r -q"
        ))
        .exits_with(0);
    folder.sh("scorebox verify --trust-cache r").exits_with(0);
    folder.sh("scorebox verify --receipt r:contains:0:0:q > receipt.json").exits_with(0);
    folder.sh("scorebox verify --trust-cache --check receipt.json --case case.json").exits_with(0);
}

#[test]
fn errors_are_verified_like_scores() {
    let folder = with_a_run();
    folder
        .sh("scorebox run cases.jsonl -s misbehave.wasm --config 'misbehave={\"then\":\"panic\"}' \
             --run-id bad -q --allow-errors")
        .exits_with(0);
    let shown = folder.sh("scorebox verify --trust-cache bad").exits_with(0);
    assert!(shown.stderr.contains("3 verified, 0 different"), "{shown}");
}

#[test]
fn a_sample_is_drawn_by_its_seed() {
    let folder = with_a_run();
    let ids = |seed: u32| {
        let command =
            format!("scorebox verify --trust-cache r --sample 2 --seed {seed} --format jsonl");
        folder.sh(&command).exits_with(0).stdout
    };
    assert_eq!(ids(1).lines().count(), 2);
    assert_eq!(ids(1), ids(1));
    assert!((2..20).any(|seed| ids(seed) != ids(1)));
}

#[test]
fn a_receipt_is_checked_with_nothing_but_the_component_and_the_case() {
    let folder = with_a_run();
    folder.sh("scorebox verify --receipt r:exact-match:0:0:q2 > receipt.json").exits_with(0);
    assert_snapshot!(folder.sh("cat receipt.json"), @r#"
    {
      "version": 3,
      "scoreId": "r:exact-match:0:0:q2",
      "component": {
        "digest": "[digest]",
        "id": "exact-match",
        "version": "0.1.0",
        "origin": "built-in"
      },
      "config": {},
      "configDigest": "[digest]",
      "limits": {
        "fuel": 10000000000,
        "memoryBytes": 67108864,
        "timeoutMs": [time],
        "reasonBytes": 65536,
        "metaBytes": 1048576,
        "assertions": 1000,
        "logLines": 1000,
        "logBytes": 262144
      },
      "grants": [],
      "inputDigest": "[digest]",
      "engineVersion": "0.1.0",
      "wasmtimeVersion": "48.0.8",
      "contractVersion": "0.1.0",
      "scoredAtMs": [time],
      "answer": {
        "status": "scored",
        "score": 0.0,
        "label": null,
        "reason": "\"Rom\" does not equal \"Rome\"",
        "meta": null,
        "assertions": null,
        "log": null,
        "errorKind": null,
        "errorMessage": null,
        "fuel": [fuel],
        "memoryBytes": [memory]
      }
    }
    [exit code 0]
    "#);
    folder.sh("sed -n 2p cases.jsonl > case.json; rm scorebox.db");
    assert_snapshot!(folder.sh("scorebox verify --trust-cache --check receipt.json --case case.json"), @"
    [stderr]
    1 verified, 0 different, 0 not verifiable
    not compared: which run, scorer and case it belongs to; the component's origin; the version of scorebox; the version of wasmtime; the time; limits that were not reached
    [exit code 0]
    ");

    folder.sh("sed 's/Rom\"/Rome\"/' case.json > edited.json");
    assert_snapshot!(folder.sh("scorebox verify --trust-cache --check receipt.json --case edited.json"), @"
    score                 verdict    what   stored                                                            computed
    r:exact-match:0:0:q2  different  input  [digest]  [digest]
    [stderr]
    0 verified, 1 different, 0 not verifiable
    [exit code 1]
    ");
    folder.sh("sed 's/\"score\": 0.0/\"score\": 1.0/' receipt.json > forged.json");
    assert_snapshot!(folder.sh("scorebox verify --trust-cache --check forged.json --case case.json"), @r#"
    score                 verdict    what   stored  computed
    r:exact-match:0:0:q2  different  score  1       0
    [stderr]
    0 verified, 1 different, 0 not verifiable
    [exit code 1]
    "#);
    assert_snapshot!(
        folder.sh("scorebox verify --trust-cache --check receipt.json --case case.json --component misbehave.wasm"),
        @"
        score                 verdict    what       stored                                                            computed
        r:exact-match:0:0:q2  different  component  [digest]  [digest]
        [stderr]
        0 verified, 1 different, 0 not verifiable
        [exit code 1]
        "
    );
}

#[test]
fn what_a_receipt_claims_is_checked_or_named_as_unproved() {
    let folder = with_a_run();
    folder.sh("scorebox verify --receipt r:exact-match:0:0:q2 > receipt.json").exits_with(0);
    folder.sh("sed -n 2p cases.jsonl > case.json");
    let check = |change: &str| {
        folder.sh(&format!("sed 's/{change}/' receipt.json > changed.json"));
        folder.sh("scorebox verify --trust-cache --check changed.json --case case.json")
    };
    for (change, expected) in [
        (r#""id": "exact-match"/"id": "better-match""#, "component id  better-match  exact-match"),
        (r#""version": "0.1.0"/"version": "9.9.9""#, "component version  9.9.9   0.1.0"),
        (
            r#""contractVersion": "0.1.0"/"contractVersion": "0.2.0""#,
            "contract version  0.2.0   0.1.0",
        ),
    ] {
        let output = check(change).exits_with(1);
        assert!(output.stdout.contains(expected), "{output}");
    }
    for change in [
        r#""origin": "built-in"/"origin": "mine.wasm""#,
        r#""engineVersion": "0.1.0"/"engineVersion": "7.0.0""#,
        r#""assertions": 1000/"assertions": 999"#,
        r#"r:exact-match:0:0:q2/s:other:0:0:q9"#,
    ] {
        let output = check(change).exits_with(0);
        assert!(output.stderr.contains("not compared: which run, scorer and case"), "{output}");
    }
    let other = r#""wasmtimeVersion": "48.0.8"/"wasmtimeVersion": "47.0.0"/; s/"fuel": [0-9]\{1,9\},/"fuel": 1,"#;
    let output = check(other).exits_with(0);
    assert!(output.stderr.contains("; fuel; peak memory; error messages"), "{output}");
}

#[test]
fn what_is_not_a_receipt_or_does_not_exist_is_reported() {
    let folder = with_a_run();
    folder.write("empty.json", "{}");
    folder.write("newer.json", "{\"version\": 4}");
    let told = [
        "scorebox verify nowhere",
        "scorebox verify --receipt r:exact-match:0:0:nowhere",
        "scorebox verify --receipt r:exact-match",
        "scorebox verify --check empty.json --case cases.jsonl",
        "scorebox verify --check newer.json --case cases.jsonl",
    ]
    .map(|line| format!("$ {line}\n{}\n", folder.sh(line).exits_with(2)));
    assert_snapshot!(told.concat(), @r#"
    $ scorebox verify nowhere
    [stderr]
    error: there is no run `nowhere` in [folder]/scorebox.db
    hint: runs in it: r
    [exit code 2]
    $ scorebox verify --receipt r:exact-match:0:0:nowhere
    [stderr]
    error: there is no score `r:exact-match:0:0:nowhere`
    hint: `scorebox scores RUN --format jsonl` shows the ids: RUN:SCORER:ITERATION:ATTEMPT:CASE
    [exit code 2]
    $ scorebox verify --receipt r:exact-match
    [stderr]
    error: invalid value 'r:exact-match' for '--receipt <SCORE-ID>': `r:exact-match` is not a score id

    For more information, try '--help'.
    [exit code 2]
    $ scorebox verify --check empty.json --case cases.jsonl
    [stderr]
    error: not a receipt: missing field `version` at line 1 column 2
    hint: `scorebox verify --receipt SCORE-ID` writes one
    [exit code 2]
    $ scorebox verify --check newer.json --case cases.jsonl
    [stderr]
    error: a receipt of version 4; this scorebox reads versions 1 to 3
    hint: use the scorebox that wrote it
    [exit code 2]
    "#);
}

#[test]
fn options_of_the_cache_say_that_they_need_trust_in_it() {
    let folder = Folder::new();
    let help = folder.sh("scorebox verify -h").exits_with(0).stdout;
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("--cache-dir <FOLDER> With --trust-cache: the folder for compiled code")
    );
    assert!(!words.contains("--no-cache"), "{help}");
    let both = folder.sh("scorebox verify --trust-cache --no-cache").exits_with(2).stderr;
    assert!(both.starts_with("error: the argument '--trust-cache' cannot be used with"), "{both}");
    let neither = folder.sh("scorebox verify --no-cache").exits_with(2).stderr;
    assert!(neither.starts_with("error: there is no database"), "{neither}");
}
