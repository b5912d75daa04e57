//! `scorebox convert` of tables: CSV, Parquet and Arrow, as several programs write them.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::command_convert::{converted, values, with_files};

#[test]
fn arrow_with_compressed_buffers_is_refused_with_what_to_do() {
    let refused = with_files().sh("scorebox convert compressed.arrow").exits_with(2);
    let words =
        "its buffers are compressed, which is not read: write it uncompressed, or as Parquet";
    assert!(refused.stderr.contains(words), "{refused}");
}

#[test]
fn tables_of_every_kind_have_the_same_cases() {
    let folder = with_files();
    let keys = [
        "/question",
        "/output",
        "/expected",
        "/latencyMs",
        "/metadata/topic",
        "/metadata/origin/record",
    ];
    let expected = |output: Value| {
        json!([
            ["2+2?", "4", "4", 12.5, "sums", 1],
            ["3+3?", "the answer is 7", "6", null, "sums", 2],
            ["What is in \"the box\"?\nSay it.", output, "nothing", 3.0, null, 3],
        ])
    };
    assert_eq!(json!(values(&converted(&folder, "answers.csv"), &keys)), expected(json!("")));
    for (file, id) in [
        ("answers.parquet", "answers"),
        ("answers.arrow", "answers"),
        ("answers.arrows", "answers"),
    ] {
        let read = converted(&folder, file);
        assert_eq!(json!(values(&read, &keys)), expected(Value::Null), "{file}");
        assert_eq!(read[0]["documents"], json!(["sums.txt"]), "{file}");
        assert_eq!(read[2]["id"], format!("{id}:3"), "{file}");
    }
    let dataset = converted(&folder, "dataset");
    let ids = ["/id", "/output", "/metadata/origin/split", "/metadata/origin/record"];
    assert_eq!(
        json!(values(&dataset, &ids)),
        json!([
            ["train:1", "4", "train", 1],
            ["train:2", "the answer is 7", "train", 2],
            ["test:1", null, "test", 1],
        ])
    );
}

#[test]
fn a_cell_that_says_whether_to_skip_may_be_a_number() {
    let folder = with_files();
    folder.write(
        "skip.csv",
        "id,output,groundTruth,skip\na,x,x,0\nb,x,x,1\nc,x,x,FALSE\nd,x,x,true\ne,x,x,\n",
    );
    folder.sh("scorebox run skip.csv -s exact-match -q").exits_with(0);
    let cases = folder.sh("scorebox cases").exits_with(0);
    assert_snapshot!(cases.stdout, @r"
    case  verdict   score  decided by
    a     -        1.0000
    b     skipped       -  1
    c     -        1.0000
    d     skipped       -
    e     -        1.0000
    ");
}

#[test]
fn what_polars_writes_is_read_with_its_times() {
    let read = converted(&with_files(), "polars.arrow");
    let keys = ["/id", "/output", "/expected", "/at"];
    let at = "2026-11-24T00:00:00Z";
    assert_eq!(
        json!(values(&read, &keys)),
        json!([["polars:1", "4", "4", at], ["polars:2", "7", "6", at], ["polars:3", "5", "5", at]])
    );
}
