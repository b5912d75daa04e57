//! The example in `examples/pandalm`: real verdicts of two judges on 200 cases, replayed from its recordings by the
//! real binary. Each score must match the one that the data set publishes.

use std::{collections::HashMap, fs, path::PathBuf};

use serde_json::Value;

use crate::fixture::{Folder, Output};

/// How to make the recordings again after a change of the questions of `rubric`.
const RECORD: &str = "the recordings of examples/pandalm do not have what `rubric` asks now; make them again, in that \
    folder:\n  scorebox run record.toml cases.jsonl --db record.db\n  \
    scorebox calls --format jsonl --limit 0 --db record.db | python3 published.py tidy > calls.jsonl\n";

/// The contents of a row, without times and durations.
const TRAIL: &str = "
    SELECT a.scorer_id, a.case_id, a.status, a.error_kind, a.error_message, a.score, a.label, a.reason, a.meta_json,
        a.input_digest, a.fuel, a.memory_bytes
    FROM scores AS a WHERE a.run_id = '{run}' ORDER BY a.scorer_id, a.case_id";

fn example() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/pandalm")
}

/// A folder with only the files of the example that a run needs: no judge can be asked.
fn folder() -> Folder {
    let folder = Folder::new();
    for name in ["suite.toml", "cases.jsonl", "calls.jsonl"] {
        fs::copy(example().join(name), folder.path(name)).unwrap();
    }
    folder
}

fn run(folder: &Folder, options: &str) -> Output {
    let line = format!("scorebox run suite.toml cases.jsonl --allow-errors -q {options}");
    let run = folder.sh(&line).exits_with(0);
    assert!(!run.stderr.contains("is not recorded"), "{RECORD}{run}");
    run
}

fn lines(file: &str) -> Vec<Value> {
    let text = fs::read_to_string(example().join(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The rows of a scorer by case: status, score, label, reason, error kind.
fn rows(folder: &Folder, scorer: &str) -> HashMap<String, Value> {
    let scores = folder
        .sh(&format!("scorebox scores --format jsonl --limit 0 --scorer {scorer}"))
        .exits_with(0)
        .stdout;
    let rows = scores.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.map(|row| (row["caseId"].as_str().unwrap().to_owned(), row)).collect()
}

#[test]
fn the_published_verdicts_of_both_judges_are_the_scores() {
    let folder = folder();
    let run = run(&folder, "");
    let (_, judges) = run.stdout.split_once("\n\n").unwrap();
    insta::assert_snapshot!(judges, @r"
    judge of  answers  recorded  unreadable  ties
    gpt           204       204           4    11
    pandalm       200       200           0    21
    ");
    let published = lines("published.jsonl");
    assert_eq!(published.len(), 200);
    for (scorer, model) in [("gpt", "gpt-3.5-turbo"), ("pandalm", "pandalm-7b")] {
        let rows = rows(&folder, scorer);
        for verdict in &published {
            let row = &rows[verdict["id"].as_str().unwrap()];
            let Value::Object(verdict) = &verdict[model] else { panic!("{verdict}") };
            let (score, label) = match verdict["result"].to_string().trim_matches('"') {
                "1" => (1.0, "1"),
                "2" => (0.0, "2"),
                "0" | "Tie" => (0.5, "tie"),
                "garbage" => {
                    assert_eq!(row["error"]["kind"], "judge-unreadable", "{row}");
                    assert_eq!(row["score"], Value::Null, "{row}");
                    continue;
                }
                other => panic!("{other}"),
            };
            assert_eq!((&row["score"], &row["label"]), (&score.into(), &label.into()), "{row}");
            let said = verdict["reason"].as_str().unwrap();
            let reason = row["reason"].as_str().unwrap();
            let stands_for_none = said.is_empty() && reason == format!("the judge chose {label}");
            assert!(reason == said || stands_for_none, "{row}");
        }
    }
}

#[test]
fn the_agreement_is_that_of_the_published_verdicts_with_the_people() {
    let folder = folder();
    run(&folder, "");
    let published = lines("published.jsonl").into_iter();
    let published: HashMap<String, Value> =
        published.map(|it| (it["id"].as_str().unwrap().to_owned(), it)).collect();
    for (scorer, model) in [("gpt", "gpt-3.5-turbo"), ("pandalm", "pandalm-7b")] {
        let (mut read, mut agrees) = (0, 0);
        for case in lines("cases.jsonl") {
            let result = published[case["id"].as_str().unwrap()][model]["result"].to_string();
            let label = match result.trim_matches('"') {
                "garbage" => continue,
                "0" | "Tie" => "tie",
                other => other,
            };
            read += 1;
            agrees += u32::from(case["groundTruth"] == label);
        }
        let counted = format!(
            "SELECT count(score), sum(score) FROM scores WHERE scorer_id = '{scorer}.agrees'"
        );
        assert_eq!(folder.rows(&counted), [format!("{read} | {agrees}")]);
    }
}

#[test]
fn the_example_repeats_and_verifies() {
    let folder = folder();
    run(&folder, "--run-id first");
    // From the file again, and from the database alone.
    run(&folder, "--run-id again --judge-cache off -j 1");
    fs::write(folder.path("calls.jsonl"), "").unwrap();
    run(&folder, "--run-id stored --judge-cache only");
    let trail = |run: &str| folder.rows(&TRAIL.replace("{run}", run));
    let first = trail("first");
    assert_eq!(first.len(), 1000);
    assert_eq!(trail("again"), first);
    assert_eq!(trail("stored"), first);
    for run in ["first", "stored"] {
        let verified = folder.sh(&format!("scorebox verify {run}")).exits_with(0);
        assert!(verified.stderr.contains("1,000 verified, 0 different"), "{verified}");
    }
}

#[test]
fn a_recording_that_is_missing_is_an_error_of_its_scores_and_of_no_others() {
    let folder = folder();
    let calls = fs::read_to_string(folder.path("calls.jsonl")).unwrap();
    let kept = calls.lines().filter(|line| !line.starts_with("{\"caseId\": \"pandalm-0\""));
    folder.write("calls.jsonl", kept.map(|line| format!("{line}\n")).collect::<String>());
    let run = folder.sh("scorebox run suite.toml cases.jsonl -q").exits_with(1);
    let missing =
        "SELECT scorer_id, case_id FROM scores WHERE error_kind = 'judge-not-recorded' ORDER BY 1";
    assert_eq!(folder.rows(missing), ["gpt | pandalm-0", "pandalm | pandalm-0"], "{run}");
    assert!(run.stderr.contains("is not recorded"), "{run}");
}
