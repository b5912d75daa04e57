//! `export`: writes the scores of a run as one table, in each format, and writes its file completely or not at all.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fixture::Folder;

/// A run of three cases, one of which tries to be a spreadsheet formula, with a scorer that fails on each.
fn with_a_run() -> Folder {
    let folder = Folder::new();
    folder.write(
        "cases.jsonl",
        concat!(
            r#"{"id": "=cmd()", "input": "+1", "output": "-2\nlines", "groundTruth": {"a": 1.50}, "latencyMs": 10}"#, "\n",
            r#"{"id": "b", "nodeId": "n", "attempt": 1, "output": {"x": [1]}, "metadata": {"topic": "t"}, "latencyMs": 60}"#, "\n",
            r#"{"id": "c", "output": null, "latencyMs": 100}"#, "\n",
        ),
    );
    let command = r#"scorebox run -s latency -s bad=./misbehave.wasm --run-id r -q cases.jsonl
        --config latency='{"targetMs": 0, "maxMs": 100}' --config bad='{"then": "fail"}'"#;
    folder.sh(&command.replace('\n', " ")).exits_with(1);
    folder
}

fn lines(folder: &Folder, options: &str) -> Vec<Value> {
    let output = folder.sh(&format!("scorebox export --format jsonl {options}")).exits_with(0);
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_row_of_lines_has_all_columns_and_nested_json() {
    let folder = with_a_run();
    let rows = lines(&folder, "r");
    assert_eq!(rows.len(), 6);
    let columns: Vec<&str> = rows[0].as_object().unwrap().keys().map(String::as_str).collect();
    let mut documented = columns_of_the_page();
    documented.sort_unstable();
    assert_eq!(columns, documented);
    assert_eq!(rows[0]["case_id"], "=cmd()");
    assert_eq!(rows[0]["ground_truth"], json!({"a": 1.5}));
    assert_eq!(json!([rows[0]["score"], rows[0]["standing"]]), json!([0.9, "holds"]));
    assert_eq!(json!([rows[1]["score"], rows[1]["error_kind"]]), json!([null, "failed"]));
    assert_eq!(json!([rows[2]["node_id"], rows[2]["attempt"]]), json!(["n", 1]));
    assert_eq!(rows[2]["output"], json!({"x": [1]}));
    assert_eq!(rows[4]["output"], Value::Null);
}

/// The first cells of the table in docs/export.md, in order.
fn columns_of_the_page() -> Vec<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/export.md");
    let page = fs::read_to_string(page).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" |"));
    let names = rows.flat_map(|(first, _)| {
        let names = first.split('`').step_by(2).map(str::to_owned).collect::<Vec<_>>();
        names.into_iter().filter(|name| !name.is_empty())
    });
    names.collect()
}

#[test]
fn csv_has_the_columns_of_the_page_and_no_formulas() {
    let folder = with_a_run();
    let table = folder.sh("scorebox export r --format csv").exits_with(0).stdout;
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(header, columns_of_the_page());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let cell = |row: usize, name: &str| {
        rows[row][header.iter().position(|it| it == name).unwrap()].to_owned()
    };
    assert_eq!(rows.len(), 6);
    assert_eq!(
        ["case_id", "input", "output", "ground_truth", "score"].map(|name| cell(0, name)),
        ["'=cmd()", "'+1", "'-2\nlines", r#"{"a": 1.50}"#, "0.9"]
    );
    assert_eq!(
        ["output", "metadata"].map(|name| cell(2, name)),
        [r#"{"x": [1]}"#, r#"{"topic": "t"}"#]
    );
    for cell in rows.iter().flatten() {
        let is_number = cell.parse::<f64>().is_ok();
        assert!(is_number || !cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']), "{cell}");
    }
}

#[test]
fn parquet_has_the_same_rows() {
    let folder = with_a_run();
    folder.sh("scorebox export r -o scores.parquet").exits_with(0);
    // Reads the table back as cases, which have its columns.
    let read = folder.sh("scorebox convert scores.parquet").exits_with(0);
    let rows: Vec<Value> =
        read.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let lines = lines(&folder, "");
    assert_eq!(rows.len(), lines.len());
    for (row, line) in rows.iter().zip(&lines) {
        for name in
            ["case_id", "scorer_id", "score", "reason", "fuel", "scored_at_ms", "input_digest"]
        {
            let of_row = row.get(name).cloned().unwrap_or_default();
            assert_eq!(of_row, line[name], "{name}");
        }
    }
    assert_eq!(rows[0]["output"], "-2\nlines");
    assert_eq!(rows[2]["output"], r#"{"x": [1]}"#);
}

#[test]
fn a_table_is_written_whole_and_no_other_file_is_replaced() {
    let folder = with_a_run();
    assert_snapshot!(folder.sh("scorebox export --format csv -o scores.csv").exits_with(0).stderr, @"scores.csv: 6 scores of run r");
    let again = folder.sh("scorebox export --format csv -o scores.csv").exits_with(2);
    assert_snapshot!(again.stderr, @"
    error: `scores.csv` exists
    hint: name another file, or replace it with --force
    ");
    folder.sh("scorebox export --format csv -o scores.csv --force").exits_with(0);
    let refused = folder.sh("scorebox export none --format csv -o other.csv").exits_with(2);
    assert!(refused.stderr.contains("none"), "{refused}");
    assert!(!folder.path("other.csv").exists());
    assert_snapshot!(folder.sh("scorebox export -o scores.xlsx"), @"
    [stderr]
    error: nothing says the format of the table
    hint: `-o scores.csv` (or .jsonl, .parquet) writes a file, `--format csv` to standard output
    [exit code 2]
    ");
    let wrong = folder.sh("scorebox export --format xlsx").exits_with(2);
    assert!(wrong.stderr.contains("csv, jsonl and parquet"), "{wrong}");
}

/// `script` provides a terminal.
#[cfg(unix)]
#[test]
fn parquet_is_refused_on_a_terminal() {
    let folder = with_a_run();
    let refused = folder.sh("script -qec 'scorebox export --format parquet' /dev/null").stdout;
    assert!(refused.contains("Parquet is binary, and is not written to a terminal"), "{refused}");
    assert!(refused.contains("-o scores.parquet") && !refused.contains("PAR1"), "{refused}");
    let piped = folder.sh("scorebox export --format parquet | head -c 4").exits_with(0).stdout;
    assert_eq!(piped, "PAR1");
}

#[test]
fn lines_have_what_is_not_seen_as_escapes() {
    let folder = Folder::new();
    let case = json!({"id": "a\u{202e}", "output": {"x": "\u{200b}"}, "latencyMs": 10});
    folder.write("cases.jsonl", format!("{case}\n"));
    let run = r#"scorebox run -s latency --run-id r -q cases.jsonl --config latency='{"targetMs": 0, "maxMs": 100}'"#;
    folder.sh(run).exits_with(0);
    let line = folder.sh("scorebox export --format jsonl").exits_with(0).stdout;
    assert!(line.contains(r#""case_id":"a\u202e""#), "{line}");
    assert!(line.contains(r#""output":{"x":"\u200b"}"#), "{line}");
    assert_eq!(lines(&folder, "")[0]["case_id"], "a\u{202e}");
}

/// A text that was cut inside an emoji.
#[test]
fn half_of_a_surrogate_pair_does_not_make_a_table_unreadable() {
    let folder = Folder::new();
    let case = r#"{"id": "a", "output": "x", "metadata": {"reason": "\ud83d bad"}}"#;
    folder.write("cases.jsonl", format!("{case}\n"));
    folder
        .sh("scorebox run -s contains --config contains='{\"value\": \"x\"}' cases.jsonl -q")
        .exits_with(0);
    let warning = "warning: 1 half of a surrogate pair is written as U+FFFD";
    let exported = folder.sh("scorebox export --format jsonl").exits_with(0);
    assert!(exported.stderr.contains(warning), "{exported}");
    assert!(exported.stdout.contains(r#""metadata":{"reason": "\ufffd bad"}"#), "{exported}");
    for format in ["csv", "parquet"] {
        let written = folder.sh(&format!("scorebox export -o a.{format}")).exits_with(0);
        assert!(written.stderr.contains(warning), "{written}");
        let read = folder.sh(&format!("scorebox convert a.{format}")).exits_with(0);
        assert!(read.stdout.contains(r"\ufffd bad"), "{format}: {read}");
        assert!(!read.stderr.contains("U+FFFD"), "{format}: {read}");
    }
    let converted = folder.sh("scorebox convert cases.jsonl").exits_with(0);
    assert_eq!(converted.stdout, case.replace("ud83d", "ufffd") + "\n");
    assert!(converted.stderr.contains(warning), "{converted}");
    // The scorer sees the text as it was written.
    let stored = folder.rows("SELECT metadata FROM cases");
    assert_eq!(stored, [r#"{"reason": "\ud83d bad"}"#]);
}

#[test]
fn a_case_that_is_to_be_skipped_stays_so_in_each_format() {
    let folder = Folder::new();
    folder.write(
        "cases.jsonl",
        "{\"id\": \"a\", \"output\": \"x\", \"skip\": \"flaky\"}\n{\"id\": \"b\", \"output\": \"x\", \"skip\": true}\n{\"id\": \"c\", \"output\": \"x\"}\n",
    );
    folder
        .sh("scorebox run -s contains --config contains='{\"value\": \"x\"}' cases.jsonl -q")
        .exits_with(0);
    for format in ["csv", "jsonl", "parquet"] {
        folder.sh(&format!("scorebox export -o a.{format}")).exits_with(0);
        let read =
            folder.sh(&format!("scorebox convert a.{format} --map id=/case_id --map skip=/skip"));
        assert!(read.stderr.contains("3 cases; 2 to be skipped"), "{format}: {read}");
    }
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let folder = with_a_run();
    for format in ["csv", "jsonl", "parquet"] {
        folder
            .sh(&format!(
                "scorebox export --format {format} -o one; scorebox export --format {format} -o two"
            ))
            .exits_with(0);
        assert_eq!(
            fs::read(folder.path("one")).unwrap(),
            fs::read(folder.path("two")).unwrap(),
            "{format}"
        );
        fs::remove_file(folder.path("one")).unwrap();
        fs::remove_file(folder.path("two")).unwrap();
    }
}
