//! Summaries of a scorer over all cases of a run, and the commands that show them.

use std::fs;

use crate::{fixture::Folder, shard_fixture::write_texts};

/// Labels of two kinds that cannot be sorted together.
const KINDS: [&str; 2] = [r#""x""#, "1"];
const LABELS: [&str; 2] = [r#""x""#, r#""y""#];

/// A case for each of these labels.
fn cases(labels: [&str; 2], more: &str) -> String {
    let case =
        |label: &str| format!("{{\"output\": 1, \"input\": {{\"label\": {label}}}{more}}}\n");
    labels.map(case).concat()
}

fn folder(labels: [&str; 2]) -> Folder {
    let folder = Folder::new();
    folder.write("suite.toml", "[scorers.labels]\nuse = \"label-distribution\"\n");
    folder.write("cases.jsonl", cases(labels, ""));
    folder
}

#[test]
fn a_summary_of_the_run_is_shown_again() {
    let folder = folder(LABELS);
    let run = folder.sh("scorebox run suite.toml cases.jsonl -q --run-id r").exits_with(0).stdout;
    let summary = &run[run.find("labels of the run: {").unwrap()..];
    assert!(summary.contains("\"skew\""), "{run}");
    let stats = folder.sh("scorebox stats r").exits_with(0).stdout;
    assert!(stats.ends_with(summary), "{stats}");
    let json = folder.sh("scorebox stats --run r --format json").json();
    assert_eq!(json[0]["summary"]["counts"], serde_json::json!({"x": 1, "y": 1}));
    // The scorer does not summarize a part of the cases.
    folder.write("node.jsonl", cases(LABELS, ", \"nodeId\": \"n\""));
    folder.sh("scorebox run suite.toml node.jsonl -q --run-id n").exits_with(0);
    let part = folder.sh("scorebox stats n --node n").exits_with(0).stdout;
    assert!(!part.contains("of the run"), "{part}");
    let live = folder.sh("scorebox live suite.toml -q --run-id live < cases.jsonl").exits_with(0);
    assert!(live.stdout.ends_with(summary), "{live}");
}

#[test]
fn a_summary_of_the_run_is_in_reports_for_people() {
    let folder = folder(LABELS);
    folder.sh("scorebox run suite.toml cases.jsonl -q").exits_with(0);
    let markdown = folder.sh("scorebox report --format md").exits_with(0).stdout;
    assert!(markdown.contains("### labels of the run\n\n```json\n{\n"), "{markdown}");
    folder.sh("scorebox report -o report.html").exits_with(0);
    let page = fs::read_to_string(folder.path("report.html")).unwrap();
    assert!(page.contains("All cases together") && page.contains("&quot;skew&quot;"), "{page}");
}

#[test]
fn an_error_of_a_summary_is_found_after_the_run() {
    let folder = folder(KINDS);
    let run = folder.sh("scorebox run suite.toml cases.jsonl -q --run-id r").exits_with(1);
    let why = run.stdout.trim_end().rsplit("labels of the run: ").next().unwrap().to_owned();
    assert!(why.starts_with("error: "), "{run}");
    let warning = "warning: the summary of `labels` is an error: ";
    assert!(run.stderr.contains(warning), "{run}");
    let errors = folder.sh("scorebox scores r --errors").exits_with(0).stderr;
    assert!(errors.contains(&format!("warning: labels of the run: {why}\n")), "{errors}");
    let junit = folder.sh("scorebox report r --format junit").exits_with(0).stdout;
    assert!(junit.contains("<system-out>labels of the run: error: "), "{junit}");
    let stats = folder.sh("scorebox stats r").exits_with(0).stdout;
    assert!(stats.contains(&why), "{stats}");
    let json = folder.sh("scorebox stats r --format json").json();
    assert!(json[0]["summaryError"]["message"].is_string(), "{json}");
    let markdown = folder.sh("scorebox report --format md").exits_with(0).stdout;
    assert!(markdown.contains("### labels of the run\n\nAn error: "), "{markdown}");
    let live = folder.sh("scorebox live suite.toml -q < cases.jsonl").exits_with(1);
    assert!(live.stderr.contains(warning), "{live}");
    // It is not an error of a score, some of which may be allowed.
    for command in ["run suite.toml cases.jsonl", "live suite.toml < cases.jsonl"] {
        folder.sh(&format!("scorebox {command} -q --max-errors 5")).exits_with(1);
        folder.sh(&format!("scorebox {command} -q --allow-errors")).exits_with(0);
    }
}

#[test]
fn an_error_of_a_summary_is_found_when_shards_become_a_run() {
    let folder = Folder::new();
    // A summary has more bytes than this.
    folder.write(
        "suite.toml",
        "[scorers.labels]\nuse = \"label-distribution\"\nlimits = { meta = \"40B\" }\n",
    );
    let columns: [(&str, &[Option<&str>]); 2] =
        [("id", &[Some("a"), Some("b")]), ("output", &[Some("1"); 2])];
    write_texts(&folder.path("cases.parquet"), &columns);
    folder.sh("scorebox shard suite.toml cases.parquet -o s.parquet --run-id r").exits_with(0);
    let merge = folder.sh("scorebox merge s.parquet --db m.db").exits_with(1);
    assert!(merge.stderr.contains("warning: the summary of `labels` is an error: "), "{merge}");
    folder.sh("scorebox merge s.parquet --db o.db --max-errors 5").exits_with(1);
    folder.sh("scorebox merge s.parquet -o again.parquet").exits_with(0);
}

/// Many data sets have `label` next to `output`, and a skew of 0 looks like balance.
#[test]
fn a_summary_of_no_label_is_warned_of() {
    let folder = folder(LABELS);
    folder.write("beside.jsonl", "{\"output\": 1, \"label\": \"x\"}\n".repeat(2));
    let run = folder.sh("scorebox run suite.toml beside.jsonl -q").exits_with(0);
    let warning = "warning: `labels` summarizes nothing of 2 cases: no label: neither `input` nor `metadata` has `label`\n";
    assert!(run.stderr.contains(warning), "{run}");
    // The whole line as metadata contains it.
    let run = folder.sh("scorebox run suite.toml beside.jsonl -q --map metadata=").exits_with(0);
    assert!(run.stdout.contains("\"x\": 2") && !run.stderr.contains("warning"), "{run}");
}
