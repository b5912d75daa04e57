//! `scorebox shard`: the shards of a run make the same run as one machine, and tables are refused with a reason.

use std::{fs, path::PathBuf};

use insta::assert_snapshot;
use parquet::file::metadata::KeyValue;
use scorebox_shards::{RESULT_FIELDS, ROW_FIELDS};

use crate::{
    fixture::Folder,
    shard_fixture::{Shard, schema, write_numbers, write_texts},
    shard_suite::{SHARD, SUITE, stored, with_cases, with_shards},
};

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
    // Every row can be computed again, and the run as a whole matches its root.
    let verified = folder.sh("scorebox verify --db many.db").exits_with(0);
    assert!(verified.stderr.contains("200 verified, 0 different, 0 not verifiable"), "{verified}");
}

#[test]
fn a_shard_that_is_there_is_left_as_it_is_and_another_one_is_not_replaced() {
    let folder = with_shards();
    let before = fs::read(folder.path("out-0.parquet")).unwrap();
    let again = folder.sh(&format!("{SHARD} in-0.parquet -o out-0.parquet")).exits_with(0);
    assert_snapshot!(again, @"
    [stderr]
    out-0.parquet already exists: the same input, scored with the same suite
    [exit code 0]
    ");
    let other = folder.sh(&format!("{SHARD} in-1.parquet -o out-0.parquet")).exits_with(2);
    assert_snapshot!(other, @"
    [stderr]
    error: `out-0.parquet` exists and is a different shard: it was made of `in-0.parquet` with other content
    hint: name another file, or remove this one to have it made again
    [exit code 2]
    ");
    folder.write("suite.toml", SUITE.replace("max = 3", "max = 4"));
    let changed = folder.sh(&format!("{SHARD} in-0.parquet -o out-0.parquet")).exits_with(2);
    assert!(changed.stderr.contains("the configuration of `some` differs"), "{changed}");
    let no_shard = folder.sh(&format!("{SHARD} in-0.parquet -o in-1.parquet")).exits_with(2);
    assert!(no_shard.stderr.contains("exists and is a different shard"), "{no_shard}");
    assert_eq!(fs::read(folder.path("out-0.parquet")).unwrap(), before);
}

#[test]
fn a_shard_of_other_columns_is_another_one() {
    let folder = Folder::new();
    folder.write("suite.toml", "[scorers.exact-match]\n");
    let table = [
        ("id", &[Some("a")][..]),
        ("output", &[Some("draft")]),
        ("answer", &[Some("x")]),
        ("expected", &[Some("x")]),
    ];
    write_texts(&folder.path("in.parquet"), &table);
    let shard = |columns: &str| {
        folder.sh(&format!("scorebox shard suite.toml in.parquet -o out.parquet {columns}"))
    };
    shard("").exits_with(0);
    for same in ["", "--column output=output"] {
        let said = shard(same).exits_with(0).stderr;
        assert!(said.contains("already exists: the same input"), "{said}");
    }
    assert_snapshot!(shard("--column output=answer").exits_with(2), @"
    [stderr]
    error: `out.parquet` exists and is a different shard: its `output` was read from the column `output`, and now would be from the column `answer`
    hint: name another file, or remove this one to have it made again
    [exit code 2]
    ");
}

#[test]
fn a_shard_that_does_not_name_its_columns_has_those_that_are_found_by_name() {
    let folder = with_shards();
    let mut shard = Shard::read(&folder.path("out-0.parquet"));
    let source = shard.metadata.iter_mut().find(|pair| pair.key == "scorebox.input").unwrap();
    let before = source.value.as_ref().unwrap().split_once(",\"columns\"").unwrap().0;
    source.value = Some(format!("{before}}}"));
    shard.write(&folder.path("out-0.parquet"));
    let other = folder.sh(&format!("{SHARD} in-0.parquet -o out-0.parquet")).exits_with(2);
    assert!(other.stderr.contains("it does not say which columns it was made of"), "{other}");
    folder.sh("scorebox merge out-0.parquet out-1.parquet --db scorebox.db").exits_with(0);
}

#[test]
fn a_component_that_was_edited_after_its_shards_were_made_is_not_taken() {
    let folder = Folder::new();
    folder.write(
        "suite.toml",
        "[scorers.own]\nuse = \"./own.wasm\"\nconfig = { then = \"not-applicable\" }\n",
    );
    fs::copy(folder.path("misbehave.wasm"), folder.path("own.wasm")).unwrap();
    write_texts(&folder.path("in.parquet"), &[("id", &[Some("a")]), ("output", &[Some("x")])]);
    folder.sh("scorebox shard suite.toml in.parquet -o out.parquet").exits_with(0);
    fs::write(folder.path("own.wasm"), b"\0asm").unwrap();
    let merged = folder.sh("scorebox merge out.parquet --db m.db").exits_with(2).stderr;
    assert!(
        merged.contains("is not the one that the shards were made with: its SHA-256 is"),
        "{merged}"
    );
    assert!(merged.contains("hint: put back the file as it was"), "{merged}");
}

#[test]
fn a_shard_that_is_made_again_differs_in_nothing_but_times() {
    let folder = with_shards();
    folder.sh(&format!("{SHARD} in-0.parquet -o again.parquet -j 1")).exits_with(0);
    let [one, other] =
        ["out-0.parquet", "again.parquet"].map(|name| Shard::read(&folder.path(name)));
    // The seal also covers the times.
    let but_seal = |shard: &Shard| -> Vec<KeyValue> {
        shard.metadata.iter().filter(|pair| pair.key != "scorebox.seal").cloned().collect()
    };
    assert_eq!(but_seal(&one), but_seal(&other));
    assert_eq!(one.without_times(), other.without_times());
}

#[test]
fn a_run_has_one_id_from_wherever_its_suite_is_read() {
    let folder = with_cases();
    fs::create_dir(folder.path("parts")).unwrap();
    folder.write("parts/suite.toml", "include = [\"../suite.toml\"]\n");
    let here = folder.path("parts").display().to_string();
    let spelled = ["parts/suite.toml", "./parts/suite.toml", "parts/../parts/suite.toml", &here];
    let [first, rest @ ..] = spelled.map(|suite| {
        let suite = if suite == here { format!("{here}/suite.toml") } else { suite.to_owned() };
        let shard =
            format!("scorebox shard {suite} --column output=answer in-0.parquet -o out.parquet");
        folder.sh(&shard).exits_with(0).stderr
    });
    assert!(first.starts_with("out.parquet: 20 cases, 100 results of run suite-"), "{first}");
    for said in rest {
        assert!(said.starts_with("out.parquet already exists: the same input"), "{said}");
    }
    let beside = "cd parts && scorebox shard suite.toml --column output=answer";
    folder.sh(&format!("{beside} ../in-1.parquet -o ../two.parquet")).exits_with(0);
    folder
        .sh("scorebox merge out.parquet two.parquet --suite ./parts/suite.toml --db m.db")
        .exits_with(0);
    folder.sh("scorebox verify --db m.db").exits_with(0);
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
    hint: each row needs an id that is unique on all machines, such as a name, or file and row
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
    error: `lines.jsonl` is not a Parquet file; a shard is scored from one
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
    assert!(merged.stdout.starts_with("labels of the run: {"), "{merged}");
    folder.sh("scorebox run suite.toml cases.jsonl --run-id r --db one.db -q").exits_with(0);
    let summary = |database: &str| -> String {
        let query = "SELECT coalesce(summary_json, error_message) FROM summaries";
        folder.database(database).query_row(query, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(summary("many.db"), summary("one.db"));
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
    // The score, and the result that `sure` scored.
    assert_eq!(wrong["different"], 2, "{wrong}");
    assert_eq!(wrong["findings"][0]["scoreId"], "r:same:0:0:case 0");
}

#[test]
fn no_sample_is_drawn_of_shards_that_contradict_each_other() {
    let folder = with_shards();
    Shard::read(&folder.path("out-0.parquet"))
        .with_score(0, Some(0.75))
        .write(&folder.path("other.parquet"));
    // Whichever of the two rows is checked, the other is not.
    for shards in ["out-0.parquet --shard other.parquet", "other.parquet --shard out-0.parquet"] {
        let refused =
            folder.sh(&format!("scorebox verify --shard {shards} --sample 1000")).exits_with(2);
        assert!(refused.stderr.contains("such as `same` of case `case 0`: "), "{refused}");
        assert!(refused.stderr.contains("nothing was verified"), "{refused}");
    }
    // A row that two shards share is in the sample once.
    folder.sh("cp out-0.parquet again.parquet").exits_with(0);
    let once =
        folder.sh("scorebox verify --shard out-0.parquet --shard again.parquet --sample 1000");
    let alone = folder.sh("scorebox verify --shard out-0.parquet --sample 1000");
    assert_eq!(once.exits_with(0).stderr, alone.exits_with(0).stderr);
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
