//! `scorebox run --reuse`: scores of an earlier run are copied, and all others are computed.

use insta::assert_snapshot;

use crate::fixture::Folder;

const FIRST: &str = "scorebox run answers.jsonl -s exact-match -s numeric-answer --run-id first -q";

fn with_a_first_run() -> Folder {
    let folder = Folder::new();
    folder.sh(FIRST).exits_with(0);
    folder
}

fn reused(folder: &Folder, line: &str) -> (u64, u64) {
    let summary = folder.sh(&format!("{line} -q --format json")).exits_with(0).json();
    let number = |key: &str| summary[key].as_u64().unwrap();
    (number("scoresReused"), number("scoresWritten"))
}

#[test]
fn the_same_scorers_on_the_same_cases_are_copied_and_say_so() {
    let folder = with_a_first_run();
    let line =
        "scorebox run answers.jsonl -s exact-match -s numeric-answer --run-id second -q --reuse";
    assert_snapshot!(folder.sh(line).exits_with(0), @"
    scorer          scored  n/a  errors    mean  0 … 1        p50     min     max fuel time
    exact-match        400    0       0  0.0000  █         0.0000  0.0000  0.0000 [fuel] [time]
    numeric-answer     400    0       0  0.4200  █      ▆  0.0000  0.0000  1.0000 [fuel] [time]
    [stderr]

    run second: 400 cases, 800 scores in [time], 800 of them reused from earlier runs
    stored in scorebox.db; see them with: scorebox scores second
    root [digest]
    [exit code 0]
    ");
    let same = folder.rows(
        "SELECT count(*) FROM scores AS a JOIN scores AS b
         ON a.run_id = 'first' AND b.run_id = 'second' AND b.reused_from = a.id
             AND a.score = b.score AND a.reason IS b.reason AND a.meta_json IS b.meta_json
             AND a.fuel = b.fuel AND a.scored_at_ms = b.scored_at_ms",
    );
    assert_eq!(same, ["800"]);
    folder.sh("scorebox verify --trust-cache second --sample 50").exits_with(0);
}

#[test]
fn a_copy_of_a_copy_names_the_row_that_was_computed() {
    let folder = with_a_first_run();
    for run in ["second", "third"] {
        let line = format!("scorebox run answers.jsonl -s exact-match --run-id {run} --reuse");
        assert_eq!(reused(&folder, &line), (400, 400));
    }
    let origins =
        folder.rows("SELECT DISTINCT substr(reused_from, 1, 6) FROM scores WHERE run_id = 'third'");
    assert_eq!(origins, ["first:"]);
}

#[test]
fn only_what_the_scorer_reads_must_be_the_same() {
    let folder = with_a_first_run();
    folder.sh("sed 's/^{/{\"latencyMs\": 5, /' answers.jsonl > slower.jsonl");
    let line = "scorebox run slower.jsonl -s exact-match --reuse";
    assert_eq!(reused(&folder, line), (400, 400));
}

#[test]
fn another_configuration_limit_or_answer_is_computed() {
    let folder = with_a_first_run();
    let run = "scorebox run answers.jsonl --reuse -s exact-match";
    assert_eq!(reused(&folder, &format!("{run} --config 'exact-match={{\"negate\":true}}'")).0, 0);
    assert_eq!(reused(&folder, &format!("{run} --fuel 5000000")).0, 0);
    folder.sh("sed '7,9s/\"output\": *\"/&!/' answers.jsonl > edited.jsonl");
    let edited = folder.sh("diff answers.jsonl edited.jsonl | grep -c '^>'").stdout;
    assert_eq!(edited.trim(), "3");
    let line = "scorebox run edited.jsonl --reuse -s exact-match";
    assert_eq!(reused(&folder, line), (397, 400));
}

#[test]
fn errors_are_not_reused_and_without_the_flag_nothing_is() {
    let folder = Folder::new();
    folder.write("cases.jsonl", "{\"output\": 1}\n{\"output\": 2}\n");
    let fails = "scorebox run cases.jsonl --allow-errors -s misbehave.wasm \
                 --config 'misbehave={\"then\":\"panic\"}'";
    folder.sh(fails).exits_with(0);
    assert_eq!(reused(&folder, &format!("{fails} --reuse")), (0, 2));
    let scores = "scorebox run cases.jsonl -s misbehave.wasm";
    folder.sh(scores).exits_with(0);
    assert_eq!(reused(&folder, scores), (0, 2));
    assert_eq!(reused(&folder, &format!("{scores} --reuse")), (2, 2));
}

#[test]
fn a_run_that_reuses_can_be_resumed() {
    let folder = with_a_first_run();
    folder.sh("head -200 answers.jsonl > half.jsonl");
    let run = "-s exact-match --run-id second -q --reuse";
    folder.sh(&format!("scorebox run half.jsonl {run}")).exits_with(0);
    let line = "scorebox run answers.jsonl -s exact-match --resume second --reuse";
    assert_eq!(reused(&folder, line), (200, 200));
}
