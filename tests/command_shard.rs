//! `scorebox shard` and `scorebox merge`: a run in parts, which many machines score, is the run that one machine makes; and what
//! is said where parts do not fit together.

use std::{fs, ops::ControlFlow, path::PathBuf};

use insta::assert_snapshot;
use scorebox::{registry::Registry, store::StoreError};
use scorebox_shards::{Merge, RESULT_FIELDS, ROW_FIELDS, ShardError, Shards, merge_into_database};
use serde_json::Value;

use crate::{
    fixture::Folder,
    sandbox_fixture::sandbox,
    shard_fixture::{Shard, schema, write_numbers, write_texts},
};

/// A scorer, one of them on a sample, one with a condition, one of results.
const SUITE: &str = r#"
version = 1
name = "parts"

[scorers.same]
use = "exact-match"
meta = ["sure"]

[scorers.some]
use = "length"
config = { max = 3 }
sampling = { type = "ratio", rate = 0.5 }

[scorers.english]
use = "contains"
config = { value = "a" }
when = '.metadata.lang == "en"'

[scorers.broken]
use = "./misbehave.wasm"
config = { then = "fail" }

[scorers.sure]
use = "satisfies"
config = { expression = ".output.score == 1" }
"#;

/// So many cases, as lines and as two tables.
fn with_cases() -> Folder {
    let folder = Folder::new();
    folder.write("suite.toml", SUITE);
    let (mut lines, mut tables) = (String::new(), [Vec::new(), Vec::new()]);
    for number in 0..40 {
        let id = format!("case {number}");
        let output = ["a", "ab", "abcde", "\"\u{1f600}\n"][number % 4];
        let lang = if number % 3 == 0 { "en" } else { "de" };
        let skip = (number == 7).then_some("not today");
        let mut case = serde_json::json!({
            "id": id, "nodeId": format!("n{}", number % 2), "output": output, "groundTruth": "ab",
            "metadata": {"lang": lang}, "attempt": number % 2,
        });
        if let Some(why) = skip {
            case["skip"] = why.into();
        }
        lines.push_str(&format!("{case}\n"));
        tables[number / 20].push((id, format!("n{}", number % 2), output, lang, number % 2, skip));
    }
    folder.write("cases.jsonl", lines);
    for (table, rows) in tables.iter().enumerate() {
        let attempts: Vec<String> = rows.iter().map(|row| row.4.to_string()).collect();
        let languages: Vec<String> =
            rows.iter().map(|row| format!(r#"{{"lang":"{}"}}"#, row.3)).collect();
        write_case_table(&folder.path(&format!("in-{table}.parquet")), rows, &attempts, &languages);
    }
    folder
}

type Row<'a> = (String, String, &'a str, &'a str, usize, Option<&'a str>);

fn write_case_table(
    path: &std::path::Path,
    rows: &[Row<'_>],
    attempts: &[String],
    meta: &[String],
) {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};

    let texts = |of: &dyn Fn(&Row<'_>) -> Option<String>| -> ArrayRef {
        Arc::new(StringArray::from_iter(rows.iter().map(of)))
    };
    let columns: [(&str, ArrayRef); 7] = [
        ("id", texts(&|row| Some(row.0.clone()))),
        ("nodeId", texts(&|row| Some(row.1.clone()))),
        ("answer", texts(&|row| Some(row.2.to_owned()))),
        ("expected", texts(&|_| Some("ab".to_owned()))),
        ("metadata", Arc::new(StringArray::from(meta.to_vec()))),
        (
            "attempt",
            Arc::new(Int32Array::from_iter_values(
                attempts.iter().map(|it| it.parse::<i32>().unwrap()),
            )),
        ),
        ("skip", texts(&|row| row.5.map(str::to_owned))),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, true)),
    )
    .unwrap();
    let file = fs::File::create(path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

const SHARD: &str = "scorebox shard suite.toml --column output=answer --run-id r";

fn with_shards() -> Folder {
    let folder = with_cases();
    for number in 0..2 {
        folder.sh(&format!("{SHARD} in-{number}.parquet -o out-{number}.parquet")).exits_with(0);
    }
    folder
}

/// All that is stored of the scores of a run but times and memory.
fn stored(folder: &Folder, database: &str) -> Vec<String> {
    let database = folder.database(database);
    let mut query = database
        .prepare(
            "SELECT json_array(case_id, node_id, iteration, attempt, scorer_id, status, score, label, reason,
                 meta_json, assertions_json, error_kind, error_message, fuel, input_digest, scorer_digest)
             FROM scores ORDER BY 1",
        )
        .unwrap();
    let rows = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn the_shards_of_a_run_make_the_run_that_one_machine_makes() {
    let folder = with_shards();
    folder.sh("scorebox run suite.toml cases.jsonl --db one.db --run-id r -q").exits_with(1);
    let merged = folder.sh("scorebox merge out-0.parquet out-1.parquet --db many.db").exits_with(0);
    assert_snapshot!(merged, @"
    [stderr]
    many.db: run r with 40 cases of 2 shards
    root [digest]
    [exit code 0]
    ");
    let one = stored(&folder, "one.db");
    assert_eq!(one.len(), 40 * 5);
    for status in ["scored", "skipped", "error"] {
        assert!(one.iter().any(|row| row.contains(&format!(r#""{status}""#))), "{status}");
    }
    assert_eq!(one, stored(&folder, "many.db"));
    let stats = |database: &str| folder.sh(&format!("scorebox stats r --db {database}")).stdout;
    assert_eq!(stats("one.db"), stats("many.db"));
    // Every row can be computed again, and the run as a whole is what its root says.
    let verified = folder.sh("scorebox verify --db many.db").exits_with(0);
    assert!(verified.stderr.contains("200 verified, 0 different, 0 not verifiable"), "{verified}");
}

#[test]
fn merged_shards_are_a_shard_and_cases_of_several_shards_are_one() {
    let folder = with_shards();
    folder.sh("scorebox merge out-0.parquet out-1.parquet -o all.parquet").exits_with(0);
    let again =
        folder.sh("scorebox merge all.parquet out-1.parquet -o again.parquet").exits_with(0);
    assert_snapshot!(again, @"
    [stderr]
    again.parquet: 40 cases of 2 shards
    20 rows are of cases that another shard has, with the same results
    [exit code 0]
    ");
    let [all, again] = ["all.parquet", "again.parquet"].map(|it| Shard::read(&folder.path(it)));
    assert_eq!(all.batch, again.batch);
    // A folder is its files, without those that are not complete.
    folder
        .sh("mkdir parts && cp out-?.parquet parts && cp in-0.parquet parts/.half.parquet")
        .exits_with(0);
    folder.sh("scorebox merge parts -o of-folder.parquet").exits_with(0);
    assert_eq!(Shard::read(&folder.path("of-folder.parquet")).batch, all.batch);
    let exists = folder.sh("scorebox merge parts -o all.parquet").exits_with(2);
    assert!(exists.stderr.contains("--force"), "{exists}");
}

#[test]
fn a_shard_that_is_there_is_left_as_it_is_and_another_one_is_not_replaced() {
    let folder = with_shards();
    let before = fs::read(folder.path("out-0.parquet")).unwrap();
    let again = folder.sh(&format!("{SHARD} in-0.parquet -o out-0.parquet")).exits_with(0);
    assert_snapshot!(again, @"
    [stderr]
    out-0.parquet is there already: the same input, scored with the same suite
    [exit code 0]
    ");
    let other = folder.sh(&format!("{SHARD} in-1.parquet -o out-0.parquet")).exits_with(2);
    assert_snapshot!(other, @"
    [stderr]
    error: `out-0.parquet` is there, and is another shard: it was made of `in-0.parquet` with other content
    hint: name another file, or remove this one to have it made again
    [exit code 2]
    ");
    folder.write("suite.toml", SUITE.replace("max = 3", "max = 4"));
    let changed = folder.sh(&format!("{SHARD} in-0.parquet -o out-0.parquet")).exits_with(2);
    assert!(changed.stderr.contains("the configuration of `some` differs"), "{changed}");
    let no_shard = folder.sh(&format!("{SHARD} in-0.parquet -o in-1.parquet")).exits_with(2);
    assert!(no_shard.stderr.contains("is there, and is another shard"), "{no_shard}");
    assert_eq!(fs::read(folder.path("out-0.parquet")).unwrap(), before);
}

#[test]
fn a_shard_that_is_made_again_differs_in_nothing_but_times() {
    let folder = with_shards();
    folder.sh(&format!("{SHARD} in-0.parquet -o again.parquet -j 1")).exits_with(0);
    let [one, other] =
        ["out-0.parquet", "again.parquet"].map(|name| Shard::read(&folder.path(name)));
    assert_eq!(one.metadata, other.metadata);
    assert_eq!(one.without_times(), other.without_times());
}

#[test]
fn processes_that_write_one_output_leave_one_whole_file() {
    let folder = with_cases();
    let command = format!("{SHARD} in-0.parquet -o out.parquet");
    let children: Vec<_> = (0..4).map(|_| folder.spawn(&command)).collect();
    for child in children {
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    assert_eq!(Shard::read(&folder.path("out.parquet")).batch.num_rows(), 20);
    assert_eq!(parts(&folder), Vec::<PathBuf>::new());
}

fn parts(folder: &Folder) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.path("")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|it| it == "part")).collect()
}

#[cfg(unix)]
#[test]
fn a_shard_that_is_ended_has_no_name_and_leaves_nothing_behind() {
    let folder = Folder::new();
    folder.write("slow.toml", "[defaults.limits]\ntimeout = \"60s\"\nfuel = 1_000_000_000_000_000\n[scorers.slow]\nuse = \"./misbehave.wasm\"\nconfig = { then = \"spin\" }\n");
    write_texts(&folder.path("in.parquet"), &[("id", &[Some("a")]), ("output", &[Some("x")])]);
    let mut child = folder.spawn("scorebox shard slow.toml in.parquet -o out.parquet");
    while parts(&folder).is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it began to write");
        std::thread::yield_now();
    }
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    let ended = child.wait().unwrap();
    assert_eq!(ended.code(), Some(143));
    assert!(!folder.path("out.parquet").exists() && parts(&folder).is_empty());
}

#[test]
fn rows_that_are_no_cases_are_named() {
    let folder = Folder::new();
    folder.write("suite.toml", "[scorers.exact-match]\n");
    let shard = |input: &str| {
        let command = format!("scorebox shard suite.toml {input} -o out.parquet");
        let output = folder.sh(&command).exits_with(2);
        assert!(!folder.path("out.parquet").exists() && parts(&folder).is_empty());
        output.stderr
    };
    write_texts(&folder.path("no-id.parquet"), &[("output", &[Some("x")])]);
    assert_snapshot!(shard("no-id.parquet"), @"
    error: the table has no column `id`
    hint: say which it is: --column id=COLUMN; its columns are output
    ");
    let some = [("id", &[Some("a"), None][..]), ("output", &[Some("x"), Some("y")][..])];
    write_texts(&folder.path("some-ids.parquet"), &some);
    assert_snapshot!(shard("some-ids.parquet"), @"
    error: some-ids.parquet:2: the row has no id
    hint: each row needs an id that is its own on all machines: a name, or file and row
    ");
    write_texts(&folder.path("named.parquet"), &[("id", &[Some("a")]), ("answer", &[Some("x")])]);
    assert_snapshot!(shard("named.parquet"), @"
    error: the table has no column `output`
    hint: say which it is: --column output=COLUMN; its columns are id, answer
    ");
    assert_snapshot!(shard("named.parquet --column output=text"), @"
    error: the table has no column `text`, which is named for `output`
    hint: its columns are id, answer
    ");
    assert_snapshot!(shard("named.parquet --column outptu=answer"), @"
    error: `outptu` is not a key of a case
    hint: docs/cases.md lists the keys of a case
    ");
    assert_snapshot!(shard("named.parquet --column output=answer --column output=id"), @"
    error: two columns are named for `output`: `answer` and `id`
    hint: name one of them
    ");
    let twice = [("id", &[Some("a")][..]), ("output", &[Some("x")]), ("output", &[Some("y")])];
    write_texts(&folder.path("twice.parquet"), &twice);
    assert_snapshot!(shard("twice.parquet"), @"
    error: the table has the column `output` twice
    hint: give one of them another name
    ");
}

#[test]
fn an_input_that_is_not_parquet_is_refused_for_what_it_is() {
    let folder = Folder::new();
    folder.write("suite.toml", "[scorers.exact-match]\n");
    folder.write("lines.jsonl", "{\"output\": 1}\n{\"output\": 2}\n");
    assert_snapshot!(folder.sh("scorebox shard suite.toml lines.jsonl -o out.parquet").exits_with(2), @r#"
    [stderr]
    error: `lines.jsonl` is not a Parquet file, which a shard is made of
    hint: make lines of cases of it, and Parquet of them: `scorebox convert lines.jsonl -o cases.jsonl`, and `duckdb -c "COPY (FROM 'cases.jsonl') TO 'cases.parquet'"`; or score it on one machine: `scorebox run`
    [exit code 2]
    "#);
    folder.write("cut.parquet", "PAR1 and a part of the rows");
    assert_snapshot!(folder.sh("scorebox shard suite.toml cut.parquet -o out.parquet").exits_with(2), @"
    [stderr]
    error: `cut.parquet` cannot be read as Parquet: it is cut off, or not Parquet: the mark at its end is missing
    hint: write the file again
    [exit code 2]
    ");
}

#[test]
fn cells_are_what_a_run_reads() {
    let folder = Folder::new();
    folder.write("suite.toml", "[scorers.exact-match]\n");
    let table = [
        ("id", &[Some("a"), Some("b"), Some("c"), Some("d")][..]),
        ("output", &[Some("x"), Some("y"), Some("z"), None]),
        ("expected", &[Some("x"), None, Some("z"), None]),
        ("reference", &[Some("no"), Some("y"), None, Some("d")]),
        ("skip", &[Some("false"), Some("null"), Some("True"), None]),
        ("latencyMs", &[Some("1.5"), None, None, Some("2")]),
    ];
    write_texts(&folder.path("in.parquet"), &table);
    folder.sh("scorebox run suite.toml in.parquet --db run.db --run-id r -q").exits_with(0);
    folder.sh("scorebox shard suite.toml in.parquet -o out.parquet --run-id r").exits_with(0);
    folder.sh("scorebox merge out.parquet --db merged.db").exits_with(0);
    let [run, merged] = ["run.db", "merged.db"].map(|database| stored(&folder, database));
    assert_eq!(run.len(), 4);
    assert_eq!(run.iter().filter(|row| row.contains("\"skipped\"")).count(), 1, "{run:?}");
    assert_eq!(run, merged);
}

#[test]
fn a_number_that_is_not_finite_is_null_as_in_a_run() {
    let folder = Folder::new();
    folder.write("suite.toml", "[scorers.json-valid]\n");
    write_numbers(&folder.path("nan.parquet"), &["a", "b"], &[1.0, f64::NAN]);
    folder.sh("scorebox shard suite.toml nan.parquet -o out.parquet").exits_with(0);
    let shard = Shard::read(&folder.path("out.parquet"));
    let cases = shard.batch.column_by_name("case").unwrap();
    let cases: Vec<_> = arrow_array::cast::AsArray::as_string::<i32>(cases).iter().collect();
    assert_eq!(cases, [Some(r#"{"id":"a","output":1.0}"#), Some(r#"{"id":"b","output":null}"#)]);
}

#[cfg(unix)]
#[test]
fn a_device_or_a_pipe_is_written_into_and_never_replaced() {
    let folder = with_shards();
    folder.sh(&format!("{SHARD} in-0.parquet -o /dev/null")).exits_with(0);
    folder.sh("scorebox merge out-0.parquet -o /dev/null").exits_with(0);
    folder.sh("scorebox merge out-0.parquet -o /dev/null --force").exits_with(0);
    folder.sh("scorebox convert cases.jsonl -o /dev/null").exits_with(0);
    folder.sh("scorebox merge out-0.parquet -o whole.parquet").exits_with(0);
    folder.sh("scorebox merge out-0.parquet -o /dev/stdout | cat > piped.parquet").exits_with(0);
    folder
        .sh("mkfifo pipe && (cat pipe > of-pipe.parquet &) && scorebox merge out-0.parquet -o pipe --force && test -p pipe")
        .exits_with(0);
    folder
        .sh("ln -s /dev/null null && scorebox convert cases.jsonl -o null --force && test -L null")
        .exits_with(0);
    let whole = fs::read(folder.path("whole.parquet")).unwrap();
    assert_eq!(fs::read(folder.path("piped.parquet")).unwrap(), whole);
    for command in
        [&format!("{SHARD} in-0.parquet -o ."), "scorebox merge out-0.parquet -o . --force"]
    {
        let refused = folder.sh(command).exits_with(2);
        assert!(
            refused.stderr.contains("is a folder") && refused.stderr.contains("name a file in it"),
            "{refused}"
        );
        assert!(!refused.stderr.contains("--force"), "{refused}");
    }
}

#[test]
fn a_result_that_no_scorer_gives_is_refused_before_anything_is_written() {
    let folder = with_shards();
    let shard = Shard::read(&folder.path("out-0.parquet"));
    let deep = "[".repeat(300) + &"]".repeat(300);
    for (changed, why) in [
        (shard.with_score(0, Some(5.0)), "the score is 5.0, and must be 0 to 1"),
        (shard.with_text("label", 0, &"x".repeat(1000)), "the label has 1000 bytes"),
        (shard.with_text("meta", 0, "{"), "meta is not a JSON document"),
        (shard.with_text("meta", 0, &deep), "meta is not a JSON document"),
        (shard.with_text("log", 0, "no"), "the log cannot be read"),
        (shard.with_text("assertions", 0, "{}"), "the assertions cannot be read"),
    ] {
        changed.write(&folder.path("changed.parquet"));
        for target in ["--db merged.db", "-o merged.parquet"] {
            let command = format!("scorebox merge out-1.parquet changed.parquet {target}");
            let refused = folder.sh(&command).exits_with(2);
            let said = format!("`changed.parquet`, row 1: the result of `same`: {why}");
            assert!(refused.stderr.contains(&said), "{refused}");
        }
        assert!(!folder.path("merged.db").exists() && !folder.path("merged.parquet").exists());
    }
}

#[test]
fn a_case_that_one_file_has_twice_is_said_to_be_in_one_file() {
    let folder = Folder::new();
    folder.write("suite.toml", "[scorers.exact-match]\n");
    let shard = |outputs: &[Option<&str>; 2]| {
        let table = [
            ("id", &[Some("a"), Some("a")][..]),
            ("output", &outputs[..]),
            ("expected", &[Some("x"); 2]),
        ];
        write_texts(&folder.path("in.parquet"), &table);
        folder.sh("rm -f out.parquet && scorebox shard suite.toml in.parquet -o out.parquet --run-id r").exits_with(0);
    };
    shard(&[Some("x"), Some("x")]);
    assert_snapshot!(folder.sh("scorebox merge out.parquet -o merged.parquet").exits_with(0), @"
    [stderr]
    merged.parquet: 1 case of 1 shard
    1 row is of cases that the same file has in another row, with the same results
    [exit code 0]
    ");
    shard(&[Some("x"), Some("y")]);
    assert_snapshot!(folder.sh("scorebox merge out.parquet -o no.parquet").exits_with(2), @r#"
    case  scorer             in one shard                               in another                                 shards
    a     (the case itself)  {"id":"a","output":"x","groundTruth":"x"}  {"id":"a","output":"y","groundTruth":"x"}  out.parquet, twice
    [stderr]
    error: 1 result differs between rows of one shard that have the same case
    hint: nothing was written; the file has the case twice: give each row of its input an id of its own, or leave it out
    [exit code 2]
    "#);
}

#[test]
fn a_finished_run_is_not_merged_into_and_not_said_to_be_resumed() {
    let folder = with_shards();
    folder.sh("scorebox merge out-0.parquet --db scorebox.db").exits_with(0);
    assert_snapshot!(folder.sh("scorebox merge out-0.parquet --db scorebox.db").exits_with(2), @"
    [stderr]
    error: there is already a run `r` in [folder]/scorebox.db
    hint: the run is finished; name another database, or remove the run: `scorebox rm`
    [exit code 2]
    ");
}

#[test]
fn a_suite_with_a_judge_is_not_scored_in_shards() {
    let folder = Folder::new();
    let judge = "[judges.default]\nprovider = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"m\"\n";
    let scorer =
        "[scorers.rubric]\ngrants = [\"judge\"]\nconfig = { instructions = \"Is it good?\" }\n";
    folder.write("suite.toml", format!("{judge}{scorer}"));
    write_texts(&folder.path("in.parquet"), &[("id", &[Some("a")]), ("output", &[Some("x")])]);
    assert_snapshot!(folder.sh("scorebox shard suite.toml in.parquet -o out.parquet").exits_with(2), @"
    [stderr]
    error: the scorer `rubric` asks a judge, whose answers are recorded in a database: shards have none
    hint: use `scorebox run`, which records answers; or leave the scorer out of the suite
    [exit code 2]
    ");
}

#[test]
fn what_a_scorer_says_about_all_cases_is_asked_when_they_are_together() {
    let folder = Folder::new();
    folder.write("suite.toml", "[scorers.labels]\nuse = \"label-distribution\"\n");
    let table = |name: &str, rows: &[(&str, &str)]| {
        let ids: Vec<_> = rows.iter().map(|(id, _)| Some(*id)).collect();
        let outputs: Vec<_> = rows.iter().map(|(_, output)| Some(*output)).collect();
        write_texts(&folder.path(name), &[("id", &ids), ("output", &outputs)]);
    };
    table("in-0.parquet", &[("a", "x"), ("b", "y")]);
    table("in-1.parquet", &[("c", "x")]);
    folder.write("cases.jsonl", "{\"id\":\"a\",\"output\":\"x\"}\n{\"id\":\"b\",\"output\":\"y\"}\n{\"id\":\"c\",\"output\":\"x\"}\n");
    let shard = |number| {
        format!("scorebox shard suite.toml in-{number}.parquet -o out-{number}.parquet --run-id r")
    };
    assert_snapshot!(folder.sh(&shard(0)).exits_with(0), @"
    [stderr]
    left out: what labels says about all cases of the run; `scorebox merge --db` asks
    out-0.parquet: 2 cases, 2 results of run r
    [exit code 0]
    ");
    folder.sh(&shard(1)).exits_with(0);
    let merged = folder.sh("scorebox merge out-?.parquet --db many.db").exits_with(0);
    assert!(merged.stderr.contains("asked about all cases of the run: labels"), "{merged}");
    folder.sh("scorebox run suite.toml cases.jsonl --run-id r --db one.db -q").exits_with(0);
    let summary = |database: &str| -> String {
        let query = "SELECT coalesce(summary_json, error_message) FROM summaries";
        folder.database(database).query_row(query, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(summary("many.db"), summary("one.db"));
}

#[test]
fn shards_of_two_suites_or_versions_are_not_put_together() {
    let folder = with_shards();
    let merge = |shards: &str| {
        let output = folder.sh(&format!("scorebox merge {shards} -o merged.parquet")).exits_with(2);
        assert!(!folder.path("merged.parquet").exists());
        output.stderr
    };
    folder.write("suite.toml", SUITE.replace("max = 3", "max = 4"));
    folder.sh(&format!("{SHARD} in-1.parquet -o other.parquet")).exits_with(0);
    assert_snapshot!(merge("out-0.parquet other.parquet"), @"
    error: `out-0.parquet` and `other.parquet` are not of one run: the configuration of `some` differs
    hint: shards of one run need one suite, the same components and one version of scorebox
    ");
    let mut newer = Shard::read(&folder.path("out-1.parquet"));
    let mut plan: Value = serde_json::from_str(newer.metadata("scorebox.plan")).unwrap();
    plan["engineVersion"] = "9.9.9".into();
    *newer.metadata("scorebox.plan") = plan.to_string();
    newer.write(&folder.path("newer.parquet"));
    assert_snapshot!(merge("out-0.parquet newer.parquet"), @"
    error: `out-0.parquet` and `newer.parquet` are not of one run: the version of scorebox is `0.1.0` and `9.9.9`
    hint: shards of one run need one suite, the same components and one version of scorebox
    ");
    *newer.metadata("scorebox.schema") = "2".to_owned();
    newer.write(&folder.path("schema.parquet"));
    assert_snapshot!(merge("schema.parquet"), @"
    error: `schema.parquet` is not a shard: its schema has the version `2`, and this scorebox reads 1
    hint: `scorebox shard` writes shards; of what a data engine wrote, --suite names the suite
    ");
    // A row that was scored with another plan than its file says.
    let mut mixed = Shard::read(&folder.path("out-1.parquet"));
    *mixed.metadata("scorebox.plan") =
        Shard::read(&folder.path("other.parquet")).metadata("scorebox.plan").clone();
    mixed.write(&folder.path("mixed.parquet"));
    let said = merge("mixed.parquet");
    assert!(said.contains("row 1: it was scored with the plan"), "{said}");
}

#[test]
fn a_shard_that_is_cut_off_or_damaged_is_refused() {
    let folder = with_shards();
    let bytes = fs::read(folder.path("out-0.parquet")).unwrap();
    folder.write("half.parquet", &bytes[..bytes.len() / 2]);
    assert_snapshot!(folder.sh("scorebox merge half.parquet out-1.parquet --db m.db").exits_with(2), @"
    [stderr]
    error: `half.parquet` cannot be read as Parquet: it is cut off, or not Parquet: the mark at its end is missing
    hint: make the shard again; one that `scorebox shard` was writing when it ended has another name
    [exit code 2]
    ");
    assert!(!folder.path("m.db").exists());
    let shard = Shard::read(&folder.path("out-0.parquet"));
    let wrong = [
        (shard.with_text("status", 4, "fine"), "`fine` is not a status"),
        (
            shard.with_text("scorer", 0, "other"),
            "a result of `other` stands where one of `same` should be",
        ),
        (
            shard.with_score(4, Some(1.0)),
            "a result with the status `error` has the score Some(1.0)",
        ),
        (shard.with_text("input_digest", 0, "12"), "`input_digest` is not a digest"),
    ];
    for (shard, why) in wrong {
        shard.write(&folder.path("wrong.parquet"));
        let said = folder.sh("scorebox merge wrong.parquet -o merged.parquet").exits_with(2).stderr;
        assert!(said.contains(&format!("error: `wrong.parquet`, row 1: {why}")), "{said}");
    }
    let no_shard = folder.sh("scorebox merge in-0.parquet -o merged.parquet").exits_with(2);
    assert!(no_shard.stderr.contains("is not a shard"), "{no_shard}");
}

#[test]
fn results_that_differ_are_shown_and_nothing_is_written() {
    let folder = with_shards();
    let shard = Shard::read(&folder.path("out-0.parquet"));
    shard.with_score(0, Some(0.75)).write(&folder.path("other.parquet"));
    let command = "scorebox merge out-0.parquet out-1.parquet other.parquet --db m.db";
    assert_snapshot!(folder.sh(command).exits_with(2), @r#"
    case    scorer  in one shard                 in another                      shards
    case 0  same    0 ("a" does not equal "ab")  0.75 ("a" does not equal "ab")  out-0.parquet and other.parquet
    [stderr]
    error: 1 result differs between shards of one run
    hint: nothing was written; score one of the two shards again, or leave one out
    [exit code 2]
    "#);
    assert!(!folder.path("m.db").exists());
}

#[test]
fn a_result_that_a_time_out_ended_is_taken_from_another_shard() {
    let folder = with_shards();
    let shard = Shard::read(&folder.path("out-0.parquet"));
    // `same` of the first case, so that `same.sure`, which scores its result, has none.
    let slow = shard.timed_out(0).with_text("status", 1, "skipped").with_score(1, None);
    slow.write(&folder.path("slow.parquet"));
    for order in ["slow.parquet out-0.parquet", "out-0.parquet slow.parquet"] {
        let merged =
            folder.sh(&format!("scorebox merge {order} -o merged.parquet --force")).exits_with(0);
        let says_so =
            merged.stderr.contains("1 result that a time-out ended: taken from another shard");
        assert_eq!(says_so, order.starts_with("slow"), "{merged}");
        let merged = Shard::read(&folder.path("merged.parquet"));
        assert_eq!(merged.without_times(), shard.without_times());
    }
    // Alone it stays what it is.
    folder.sh("scorebox merge slow.parquet -o merged.parquet --force").exits_with(0);
    assert_eq!(Shard::read(&folder.path("merged.parquet")).batch, slow.batch);
}

#[test]
fn a_merge_into_a_database_that_was_killed_is_continued() {
    let folder = with_shards();
    let merge = "scorebox merge out-0.parquet out-1.parquet --db scorebox.db";
    let whole = folder.sh(merge).exits_with(0);
    let rows = stored(&folder, "scorebox.db");
    let twice = folder.sh(merge).exits_with(2);
    assert!(twice.stderr.contains("`r`"), "{twice}");
    // What a process leaves that dies after its first commits.
    folder.database("scorebox.db").execute_batch(
        "DELETE FROM score_rows WHERE case_key % 3 = 0 OR case_key % 1024 > 30;
         DELETE FROM cases WHERE case_key % 1024 > 30;
         UPDATE runs SET state = 'running', root = NULL, root_version = NULL, size_bytes = NULL, finished_at_ms = NULL;",
    ).unwrap();
    let other =
        folder.sh("scorebox merge out-1.parquet out-0.parquet --db scorebox.db").exits_with(2);
    assert!(other.stderr.contains("the database has a part of the run `r`"), "{other}");
    let again = folder.sh(merge).exits_with(0);
    assert_eq!(stored(&folder, "scorebox.db"), rows);
    assert_eq!(again.to_string().lines().nth(1), whole.to_string().lines().nth(1));
    folder.sh("scorebox verify").exits_with(0);
}

/// Enough cases of one scorer that a merge commits before its end.
const CASES_OF_TWO_BATCHES: usize = 5_010;

#[tokio::test]
async fn a_merge_of_a_run_that_another_merge_finished_meanwhile_is_refused_and_its_root_stays() {
    let folder = Folder::new();
    folder.write("suite.toml", "version = 1\n[scorers.same]\nuse = \"exact-match\"\n");
    let ids: Vec<String> = (0..CASES_OF_TWO_BATCHES).map(|number| number.to_string()).collect();
    let ids: Vec<_> = ids.iter().map(|id| Some(id.as_str())).collect();
    write_texts(&folder.path("in.parquet"), &[("id", &ids), ("answer", &ids), ("expected", &ids)]);
    folder.sh(&format!("{SHARD} in.parquet -o out.parquet")).exits_with(0);

    let go_on = |_| ControlFlow::Continue(());
    let shards = Shards::open(&[folder.path("out.parquet")], None).unwrap();
    let merge = Merge::of(shards, go_on).unwrap();
    let database = folder.path("scorebox.db");
    let mut of_other = None;
    let progress = |cases| {
        // The first batch is committed: others may write.
        if cases == 5_000 {
            let other = folder.sh("scorebox merge out.parquet --db scorebox.db").exits_with(0);
            of_other =
                other.stderr.lines().find_map(|line| line.strip_prefix("root ").map(str::to_owned));
        }
        ControlFlow::Continue(())
    };
    let (registry, sandbox) = (Registry::with_builtins(), sandbox(1));
    let merged = merge_into_database(&merge, &database, &registry, &sandbox, progress).await;
    let Err(ShardError::Store(error @ StoreError::Finished { .. })) = merged else {
        panic!("{merged:?}")
    };
    let message = error.to_string();
    assert!(message.starts_with("another process finished the run `r` in "), "{message}");
    assert!(message.ends_with("scorebox.db meanwhile"), "{message}");
    let root = folder.rows("SELECT lower(hex(root)) FROM runs");
    assert_eq!(root, [of_other.unwrap()]);
    folder.sh(&format!("scorebox verify --root {}", root[0])).exits_with(0);
}

#[test]
fn a_merge_of_no_shards_says_so() {
    let none = Shards::open(&[], None).unwrap_err();
    assert_eq!(none.to_string(), "no shard is named");
}

#[test]
fn a_sample_of_shards_is_verified_without_a_database() {
    let folder = with_shards();
    let honest = folder
        .sh("scorebox verify --shard out-0.parquet --shard out-1.parquet --sample 30")
        .exits_with(0);
    assert!(honest.stderr.contains("30 verified, 0 different, 0 not verifiable"), "{honest}");
    assert!(!folder.path("scorebox.db").exists());
    Shard::read(&folder.path("out-0.parquet"))
        .with_score(0, Some(0.75))
        .write(&folder.path("other.parquet"));
    let wrong = folder
        .sh("scorebox verify --shard other.parquet --sample 1000 --format json")
        .exits_with(1)
        .json();
    // The score, and what `sure` scored.
    assert_eq!(wrong["different"], 2, "{wrong}");
    assert_eq!(wrong["findings"][0]["scoreId"], "r:same:0:0:case 0");
}

#[test]
fn files_that_an_engine_wrote_without_the_plan_need_the_suite() {
    let folder = with_shards();
    Shard::read(&folder.path("out-0.parquet"))
        .without_metadata()
        .write(&folder.path("bare.parquet"));
    let bare = folder.sh("scorebox merge bare.parquet -o merged.parquet").exits_with(2);
    assert!(
        bare.stderr.contains("does not name the plan") && bare.stderr.contains("--suite"),
        "{bare}"
    );
    folder
        .sh("scorebox merge bare.parquet --suite suite.toml --run-id r -o merged.parquet")
        .exits_with(0);
    let [merged, whole] =
        ["merged.parquet", "out-0.parquet"].map(|it| Shard::read(&folder.path(it)));
    assert_eq!(merged.batch.columns(), whole.batch.columns());
    let other = folder
        .sh("scorebox merge bare.parquet --suite suite.toml --run-id q -o no.parquet")
        .exits_with(2);
    assert!(other.stderr.contains("row 1: it was scored with the plan"), "{other}");
}

#[test]
fn the_page_lists_the_columns_of_the_schema() {
    let folder = with_shards();
    let shard = schema(&folder.path("out-0.parquet"));
    let names: Vec<&str> = shard.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, [&ROW_FIELDS[..], &["results"]].concat());
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/many-machines.md");
    let page = fs::read_to_string(page).unwrap();
    let listed: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let wanted: Vec<&str> = names.into_iter().chain(RESULT_FIELDS).collect();
    assert_eq!(listed, wanted);
}
