//! `scorebox convert` of files that it refuses: formats that look alike, damage, encodings, invisible characters.

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use crate::command_convert::{converted, values, with_files};
use crate::fixture::Folder;

#[test]
fn a_file_that_could_be_two_things_is_refused_with_a_choice() {
    let folder = Folder::new();
    folder.write("both.jsonl", r#"{"output": "x", "doc_id": 1, "doc": {}, "resps": [["y"]]}"#);
    let refused = folder.sh("scorebox run both.jsonl -s is-refusal").exits_with(2);
    assert_snapshot!(refused.stderr, @"
    error: both.jsonl: this could be JSON Lines of cases, or samples of lm-evaluation-harness
    hint: name its format with --from: `cases`, `lm-eval`
    ");
    assert_eq!(
        values(&converted(&folder, "both.jsonl --from cases"), &["/output"]),
        [json!(["x"])]
    );
    assert_eq!(
        values(&converted(&folder, "both.jsonl --from lm-eval"), &["/output"]),
        [json!(["y"])]
    );
}

#[test]
fn damaged_files_and_wrong_formats_are_refused_with_the_place() {
    let folder = with_files();
    for name in
        ["inspect.eval", "inspect.json", "promptfoo.json", "answers.parquet", "answers.arrow"]
    {
        let whole = fs::read(folder.path(name)).unwrap();
        folder.write(&format!("cut-{name}"), &whole[..whole.len() * 2 / 3]);
    }
    folder.write("bad.csv", "input,output\n1,2\n3,\"4\n");
    folder.write("twice.csv", "output,a,output\n1,2,3\n");
    folder.write(
        "log.zip",
        fs::read(folder.path("inspect.eval"))
            .unwrap()
            .replace_all(b"header.json", b"headex.json")
            .replace_all(b"start.json", b"starx.json"),
    );
    let files = "cut-inspect.eval cut-inspect.json cut-promptfoo.json cut-answers.parquet cut-answers.arrow bad.csv twice.csv log.zip";
    let mut said = String::new();
    for file in files.split(' ') {
        let refused = folder.sh(&format!("scorebox convert {file} -o out.jsonl")).exits_with(2);
        assert!(!folder.path("out.jsonl").exists(), "{file}");
        said.push_str(&refused.stderr);
    }
    assert_snapshot!(said, @r#"
    error: cut-inspect.eval: this is a zip archive that is damaged or not an Inspect log
    hint: name its format with --from: `cases`, `inspect-eval`, `inspect-json`, `promptfoo`, `lm-eval`, `openai-evals`, `opentelemetry`, `csv`, `parquet`, `arrow`, `huggingface`
    error: cut-inspect.json: the log is not what is expected: EOF while parsing a string at line 775 column 4847
    error: cut-promptfoo.json: the file of results is not what is expected: EOF while parsing an object at line 433 column 4
    error: cut-answers.parquet: the Parquet file cannot be read: it is cut off, or not Parquet: the mark at its end is missing
    error: cut-answers.arrow: the table cannot be read: it is cut off, or not an Arrow file: the mark at its end is missing
    error: bad.csv: line 3: a cell begins with a quote and never ends
    error: twice.csv: the table has the column `output` twice
    error: log.zip: this is a zip archive that is damaged or not an Inspect log
    hint: name its format with --from: `cases`, `inspect-eval`, `inspect-json`, `promptfoo`, `lm-eval`, `openai-evals`, `opentelemetry`, `csv`, `parquet`, `arrow`, `huggingface`
    "#);
    let refused = folder.sh("scorebox convert answers.csv --from parquet; scorebox convert answers.csv --from huggingface; scorebox convert - --from csv < answers.csv");
    assert_snapshot!(refused.stderr, @r#"
    error: answers.csv: the Parquet file cannot be read: it is cut off, or not Parquet: the mark at its end is missing
    error: answers.csv: this is a file, and a Hugging Face dataset is a folder
    hint: name its format with --from: `cases`, `inspect-eval`, `inspect-json`, `promptfoo`, `lm-eval`, `openai-evals`, `opentelemetry`, `csv`, `parquet`, `arrow`, `huggingface`
    error: standard input has lines of cases, and --from says `csv`
    hint: save it to a file, and name that
    "#);
}

#[test]
fn a_damaged_line_of_a_log_is_a_case_that_is_not_valid() {
    let folder = with_files();
    let samples = "samples_capitals_2026-11-24T23-19-50.749621.jsonl";
    for (name, log) in [("evals.jsonl", "openai-evals.jsonl"), ("samples.jsonl", samples)] {
        let whole = fs::read_to_string(folder.path(log)).unwrap();
        let (first, rest) = whole.split_once('\n').unwrap();
        folder.write(name, format!("{first}\n{{\"run_id\": \"r\", \n{rest}"));
        let refused = folder.sh(&format!("scorebox run {name} -s is-refusal -q"));
        let why = "line 2 of the file is not valid JSON: EOF while parsing";
        assert!(refused.stderr.contains(why), "{refused}");
        assert!(!refused.stderr.contains("column 0"), "{refused}");
        // All other lines are read.
        let cases = |file: &str| {
            let format = if log == samples { "lm-eval" } else { "openai-evals" };
            let read = folder.sh(&format!("scorebox convert {file} --from {format}"));
            read.stdout.lines().count()
        };
        assert_eq!(cases(name), cases(log), "{name}");
        // The same holds for a line of another shape.
        folder.write(name, format!("{first}\n{{\"doc\": 1, \"run_id\": 7}}\n{rest}"));
        let refused = folder.sh(&format!("scorebox run {name} -s is-refusal -q"));
        let why = "line 2 of the file is not what is expected: ";
        assert!(refused.stderr.contains(why), "{refused}");
        assert_eq!(cases(name), cases(log), "{name}");
    }
}

#[test]
fn text_in_utf_16_is_refused_with_what_converts_it() {
    let folder = with_files();
    let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    folder.write("wide.csv", wide("\u{feff}input,output\n1,2\n"));
    folder.write("wide.jsonl", wide("\u{feff}{\"output\": 1}\n"));
    let refused = folder.sh("scorebox convert wide.csv; scorebox convert wide.csv --from csv; scorebox convert wide.jsonl");
    assert_snapshot!(refused.stderr, @r#"
    error: wide.csv: it is UTF-16 text, not UTF-8
    hint: `iconv -f utf-16 -t utf-8 FILE` converts a file
    error: wide.csv: it is UTF-16 text, not UTF-8
    hint: `iconv -f utf-16 -t utf-8 FILE` converts a file
    error: wide.jsonl: it is UTF-16 text, not UTF-8
    hint: `iconv -f utf-16 -t utf-8 FILE` converts a file
    "#);
    folder.write("unmarked.csv", wide("input,output\n1,2\n"));
    let wider = "\u{feff}{\"output\": 1}\n".chars().flat_map(|it| u32::from(it).to_le_bytes());
    folder.write("wider.jsonl", wider.collect::<Vec<u8>>());
    let refused =
        folder.sh("scorebox convert unmarked.csv; scorebox convert wider.jsonl; scorebox convert - < wider.jsonl");
    assert_snapshot!(refused.stderr, @r#"
    error: unmarked.csv: it is UTF-16LE text, not UTF-8
    hint: `iconv -f utf-16le -t utf-8 FILE` converts a file
    error: wider.jsonl: it is UTF-32 text, not UTF-8
    hint: `iconv -f utf-32 -t utf-8 FILE` converts a file
    error: <stdin>: this is UTF-32 text, not UTF-8
    hint: `iconv -f utf-32 -t utf-8 FILE` converts a file
    "#);
}

#[test]
fn what_cannot_be_seen_in_a_file_is_named() {
    let folder = with_files();
    folder.write("marked.jsonl", "\u{feff}{\"id\": \"a\", \"output\": 1}\n");
    let said = folder.sh("cat marked.jsonl marked.jsonl > joined.jsonl; scorebox run joined.jsonl -s exact-match -q 2>&1 | grep -A1 ^error: >&2;
                          gzip < marked.jsonl | gzip > twice.jsonl; scorebox convert twice.jsonl;
                          gzip < answers.csv | gzip > twice.csv; scorebox convert twice.csv --from csv");
    assert_snapshot!(said.stderr, @r#"
    error: joined.jsonl:2:1: not valid JSON: there is a byte order mark (U+FEFF)
    hint: files that begin with the mark were joined; `sed 's/^\xEF\xBB\xBF//' FILE` leaves it out
    error: twice.jsonl: this is data that was compressed twice, not JSON Lines
    hint: cases are JSON Lines: one JSON object a line in UTF-8, plain or compressed with gzip or zstd
    error: twice.csv: it was compressed twice: decompress it once
    "#);
}

trait ReplaceAll {
    fn replace_all(self, from: &[u8], to: &[u8]) -> Vec<u8>;
}

impl ReplaceAll for Vec<u8> {
    /// Replaces `from` by `to`, which has the same length, in every position.
    fn replace_all(mut self, from: &[u8], to: &[u8]) -> Vec<u8> {
        assert_eq!(from.len(), to.len());
        let places = self.windows(from.len()).enumerate().filter(|(_, it)| *it == from);
        let places: Vec<usize> = places.map(|(place, _)| place).collect();
        for place in places {
            self[place..place + to.len()].copy_from_slice(to);
        }
        self
    }
}

#[test]
fn a_name_that_promises_another_format_is_refused() {
    let folder = with_files();
    for name in ["cases.parquet", "cases.jsonl.gz", "cases.CSV"] {
        let refused = folder.sh(&format!("scorebox convert inspect.eval -o {name}")).exits_with(2);
        let expected = format!(
            "error: cases are written as JSON Lines, and `{name}` names a file of another kind\n\
             hint: name a file that ends in .jsonl\n"
        );
        assert_eq!(refused.stderr, expected);
        assert!(!folder.path(name).exists());
    }
}

#[test]
fn lines_that_are_left_out_come_with_what_to_do_about_them_once() {
    let folder = Folder::new();
    folder.write(
        "cases.jsonl",
        "[{\"output\": \"x\"}]\n{\"output\": \"y\"}\n[{\"output\": \"z\"}]\n",
    );
    let converted = folder.sh("scorebox convert cases.jsonl --from cases").exits_with(2);
    assert_snapshot!(converted.stdout, @r#"{"output": "y"}"#);
    assert_snapshot!(converted.stderr, @"
    cases.jsonl: JSON Lines of cases (--from cases)
    1 case
    warning: 2 cases are not valid and left out:
      cases.jsonl:1:1: a case must be a JSON object; found an array
      cases.jsonl:3:1: a case must be a JSON object; found an array
    hint: `jq -c '.[]' FILE` writes each element of an array on one line
    ");
}
