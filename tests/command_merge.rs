//! `scorebox merge`: shards become one shard or a run, and its messages if they do not fit together.

use std::{fs, ops::ControlFlow, os::unix::ffi::OsStrExt as _};

use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process};
use scorebox::{registry::Registry, store::StoreError};
use scorebox_shards::{Merge, Named, ShardError, Shards, merge_into_database, merge_into_file};
use serde_json::Value;

use crate::{
    fixture::Folder,
    sandbox_fixture::sandbox,
    shard_fixture::{Shard, write_texts},
    shard_suite::{SHARD, SUITE, stored, with_shards},
};

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
    // A folder stands for its files, except incomplete ones.
    folder
        .sh("mkdir parts && cp out-?.parquet parts && cp in-0.parquet parts/.half.parquet")
        .exits_with(0);
    folder.sh("scorebox merge parts -o of-folder.parquet").exits_with(0);
    assert_eq!(Shard::read(&folder.path("of-folder.parquet")).batch, all.batch);
    let exists = folder.sh("scorebox merge parts -o all.parquet").exits_with(2);
    assert!(exists.stderr.contains("--force"), "{exists}");
}

#[test]
fn a_shard_that_is_missing_is_named_if_their_number_is() {
    let folder = with_shards();
    folder
        .sh("scorebox merge out-0.parquet out-1.parquet --expect-shards 2 -o all.parquet")
        .exits_with(0);
    assert_snapshot!(folder.sh("scorebox merge out-1.parquet --expect-shards 3 --db m.db"), @"
    [stderr]
    error: 1 shard is there, and 3 are expected
    hint: nothing was written; missing: out-0.parquet, out-2.parquet
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox merge out-1.parquet out-0.parquet --expect-shards 1 --db m.db"), @"
    [stderr]
    error: 2 shards are there, and 1 is expected
    hint: nothing was written; name all shards of the run, once each
    [exit code 2]
    ");
    assert!(!folder.path("m.db").exists());
}

#[test]
fn a_shard_that_is_there_twice_does_not_stand_for_a_missing_one() {
    let folder = with_shards();
    folder.sh("cp out-0.parquet copy.parquet && ln -s out-0.parquet link.parquet").exits_with(0);
    folder.sh("scorebox merge out-0.parquet out-1.parquet -o old.parquet").exits_with(0);
    let merge = |shards: &str| {
        let line = format!("scorebox merge {shards} --expect-shards 3 --db m.db");
        let refused = folder.sh(&line).exits_with(2).stderr;
        assert!(!folder.path("m.db").exists());
        refused
    };
    for same in ["out-0.parquet", "./out-0.parquet", "link.parquet"] {
        let refused = merge(&format!("out-0.parquet {same} out-1.parquet"));
        assert!(
            refused.starts_with("error: 2 shards are there, and 3 are expected\n"),
            "{refused}"
        );
    }
    assert_snapshot!(merge("out-0.parquet copy.parquet out-1.parquet"), @"
    error: 2 shards are there, and 3 are expected: other shards have all cases of `copy.parquet`
    hint: nothing was written; missing: out-2.parquet
    ");
    assert_snapshot!(merge("old.parquet out-0.parquet out-1.parquet"), @"
    error: 2 shards are there, and 3 are expected: other shards have all cases of `old.parquet`
    hint: nothing was written; missing: out-2.parquet
    ");
    // Only it has the cases of the other shard, and it is reported as a merge.
    let stands =
        folder.sh("scorebox merge old.parquet out-1.parquet --expect-shards 2 -o m.parquet");
    assert_snapshot!(stands.exits_with(0), @"
    [stderr]
    warning: `old.parquet` was merged from shards, and counts as one
    m.parquet: 40 cases of 2 shards
    20 rows are of cases that another shard has, with the same results
    [exit code 0]
    ");
}

#[test]
fn a_result_that_no_scorer_gives_is_refused_before_anything_is_written() {
    let folder = with_shards();
    let shard = Shard::read(&folder.path("out-0.parquet"));
    let deep = "[".repeat(300) + &"]".repeat(300);
    for (changed, why) in [
        (shard.with_score(0, Some(5.0)), "the score is 5, and must be 0 to 1"),
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
    hint: nothing was written; the file has the case twice: give each row of its input a unique id, or leave it out
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
    hint: `scorebox shard` writes shards; for what a data engine wrote, name the suite with --suite
    ");
    // A row that was scored with another plan than that of its file.
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
        (shard.with_score(4, Some(1.0)), "a result with the status `error` has the score 1"),
        (shard.with_score(0, None), "a result with the status `scored` has no score"),
        (
            shard.with_score(0, Some(f64::NAN)),
            "a result with the status `scored` has the score NaN",
        ),
        (shard.with_text("error_kind", 0, "x"), "a result with the status `scored` has an error"),
        (shard.with_fuel(0, -1), "`fuel` is -1, and must be 0 or more"),
        (
            shard.with_duration(0, f64::NAN),
            "`duration_ms` is NaN, and must be finite and 0 or more",
        ),
        (shard.with_duration(0, -1.5), "`duration_ms` is -1.5, and must be finite and 0 or more"),
        (shard.with_text("input_digest", 0, "12"), "`input_digest` is not a digest"),
    ];
    for (shard, why) in wrong {
        shard.write(&folder.path("wrong.parquet"));
        let said = folder.sh("scorebox merge wrong.parquet -o merged.parquet").exits_with(2).stderr;
        assert!(said.contains(&format!("error: `wrong.parquet`, row 1: {why}")), "{said}");
    }
    let no_shard = folder.sh("scorebox merge in-0.parquet -o merged.parquet").exits_with(2);
    assert!(no_shard.stderr.contains("is not a shard"), "{no_shard}");
    let nowhere = folder.sh("scorebox merge out-0.parquet -o missing/a.parquet").exits_with(2);
    assert!(nowhere.stderr.contains("there is no folder `missing`"), "{nowhere}");
}

/// Flips a bit at regular intervals in a shard's rows, and in its footer, which is mostly the plan.
const BETWEEN_FLIPS: [usize; 2] = [13, 1009];

#[test]
fn a_bit_that_is_another_one_changes_nothing_of_what_is_merged_or_the_shard_is_refused() {
    let folder = with_shards();
    let bytes = fs::read(folder.path("out-0.parquet")).unwrap();
    let changed = folder.path("changed.parquet");
    let merged = |bytes: &[u8]| -> Result<Vec<u8>, ShardError> {
        fs::write(&changed, bytes).unwrap();
        let go_on = |_| ControlFlow::Continue(());
        let shards = Shards::open(std::slice::from_ref(&changed), Named::default())?;
        let mut out = Vec::new();
        merge_into_file(&Merge::of(shards, go_on)?, &mut out, go_on)?;
        Ok(out)
    };
    let whole = merged(&bytes).unwrap();
    let (mut by_seal, mut harmless) = (0, 0);
    let (_, end) = bytes.split_at(bytes.len() - 8);
    let footer = u32::from_le_bytes(end[..4].try_into().unwrap()) as usize + 8;
    let footer = bytes.len() - footer;
    let places = (0..footer).step_by(BETWEEN_FLIPS[0]);
    let places = places.chain((footer..bytes.len()).step_by(BETWEEN_FLIPS[1]));
    for (flip, place) in places.enumerate() {
        let mut bytes = bytes.clone();
        bytes[place] ^= 1 << (flip % 8);
        match merged(&bytes) {
            Ok(merged) => {
                assert!(merged == whole, "bit {} of byte {place}", flip % 8);
                harmless += 1;
            }
            Err(ShardError::BrokenSeal { .. }) => by_seal += 1,
            Err(_) => {}
        }
    }
    assert!(by_seal > 0 && harmless > 0, "{by_seal}, {harmless}");
}

#[test]
fn a_shard_that_was_changed_on_its_way_is_refused() {
    let folder = with_shards();
    let bytes = fs::read(folder.path("out-0.parquet")).unwrap();
    // The time of a row, on which nothing else depends, in a compressed page: most of its bits have no other effect.
    let broken = (4..bytes.len()).find_map(|place| {
        let mut bytes = bytes.clone();
        bytes[place] ^= 1;
        folder.write("changed.parquet", bytes);
        let shards = Shards::open(&[folder.path("changed.parquet")], Named::default()).ok()?;
        let merge = Merge::of(shards, |_| ControlFlow::Continue(()));
        matches!(merge, Err(ShardError::BrokenSeal { .. })).then_some(())
    });
    assert_eq!(broken, Some(()));
    let merged = folder.sh("scorebox merge changed.parquet out-1.parquet --db m.db").exits_with(2);
    assert_snapshot!(merged, @"
    [stderr]
    error: `changed.parquet` was changed since it was written: its seal is not that of its rows and its plan
    hint: copy it again from the machine that made it, or remove it and score it again
    [exit code 2]
    ");
    assert!(!folder.path("m.db").exists());
    let verified = folder.sh("scorebox verify --shard changed.parquet --sample 3").exits_with(2);
    assert!(verified.stderr.contains("was changed since it was written"), "{verified}");
}

#[test]
fn what_another_program_makes_of_a_shard_is_one_without_a_seal() {
    let folder = with_shards();
    // Its metadata is copied, including the seal, and one time is changed.
    let mut shard = Shard::read(&folder.path("out-0.parquet")).with_duration(0, 7.0);
    assert!(shard.metadata("scorebox.seal").contains("digest"));
    shard.write(&folder.path("rewritten.parquet"));
    folder.sh("scorebox merge rewritten.parquet out-1.parquet --db m.db").exits_with(0);
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
    // `same` has no score for the first case, so `same.sure`, which scores its result, is skipped.
    let slow = shard.timed_out(0).with_text("status", 1, "skipped").with_score(1, None);
    slow.write(&folder.path("slow.parquet"));
    for order in ["slow.parquet out-0.parquet", "out-0.parquet slow.parquet"] {
        let merged =
            folder.sh(&format!("scorebox merge {order} -o merged.parquet --force")).exits_with(0);
        let says = "20 rows are of cases that another shard has, with the same results, except where one timed out\n\
            1 result that timed out in one row: taken from another\n";
        assert!(merged.stderr.contains(says), "{merged}");
        let merged = Shard::read(&folder.path("merged.parquet"));
        assert_eq!(merged.without_times(), shard.without_times());
    }
    // On its own it stays as it is.
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
    // The state that a process leaves if it dies after its first commits.
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
    let shards = Shards::open(&[folder.path("out.parquet")], Named::default()).unwrap();
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
fn a_signal_while_a_shard_is_written_leaves_nothing() {
    let folder = Folder::new();
    folder.write("suite.toml", "version = 1\n[scorers.same]\nuse = \"exact-match\"\n");
    let ids: Vec<String> = (0..CASES_OF_TWO_BATCHES).map(|number| number.to_string()).collect();
    let ids: Vec<_> = ids.iter().map(|id| Some(id.as_str())).collect();
    write_texts(&folder.path("in.parquet"), &[("id", &ids), ("answer", &ids), ("expected", &ids)]);
    folder.sh(&format!("{SHARD} in.parquet -o out.parquet")).exits_with(0);
    let begun = || {
        let files = fs::read_dir(folder.path(".")).unwrap();
        files
            .filter(|it| it.as_ref().unwrap().file_name().as_bytes().starts_with(b".scorebox-"))
            .count()
    };
    // The merge may be faster than the signal.
    let interrupted = (0..20).find_map(|_| {
        let mut child = folder.spawn("scorebox merge out.parquet -o merged.parquet");
        while begun() == 0 && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = kill_process(Pid::from_child(&child), Signal::TERM);
        let ended = child.wait_with_output().unwrap();
        match fs::remove_file(folder.path("merged.parquet")) {
            Ok(()) => None,
            Err(_) => Some(ended),
        }
    });
    let ended = interrupted.unwrap();
    let words = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(words, "Interrupted: `merged.parquet` was not written.\n");
    assert_eq!((ended.status.code(), begun()), (Some(143), 0));
}

/// An input without cases is refused, as by `run` and `live`. Together with other shards, such a shard is accepted.
#[test]
fn shards_without_cases_make_no_run() {
    let folder = with_shards();
    let empty = Shard::read(&folder.path("out-0.parquet")).without_rows();
    empty.write(&folder.path("empty.parquet"));
    assert_snapshot!(folder.sh("scorebox merge empty.parquet --db m.db").exits_with(2), @"
    [stderr]
    error: the shard has no cases
    hint: a run needs a case; `-o` puts shards without cases together, too
    [exit code 2]
    ");
    assert!(!folder.path("m.db").exists());
    folder.sh("scorebox merge empty.parquet out-1.parquet --db m.db").exits_with(0);
    assert_eq!(
        folder
            .database("m.db")
            .query_row("SELECT count(*) FROM cases", [], |row| row.get::<_, i64>(0)),
        Ok(20)
    );
}

#[test]
fn what_is_required_of_the_run_decides_the_exit_code() {
    let folder = with_shards();
    let merge = |options: &str| {
        folder.sh(&format!(
            "rm -f m.db && scorebox merge out-0.parquet out-1.parquet --db m.db {options}"
        ))
    };
    // A quarter of the outputs is right, and `broken` fails for each case.
    for (options, code) in [
        ("--fail-below same=0.2 --min-pass-rate 0", 0),
        ("--fail-below same=0.9 --min-pass-rate 0", 3),
        ("--fail-below same=0.9 --min-pass-rate 0 --allow-failures", 0),
        ("--min-pass-rate 0 --max-errors 0", 3),
        ("--min-pass-rate 0 --max-errors 1000", 0),
    ] {
        let merged = merge(options);
        assert_eq!(merged.code, Some(code), "{options}\n{merged}");
        assert_eq!(
            folder
                .database("m.db")
                .query_row("SELECT state FROM runs", [], |row| row.get::<_, String>(0))
                .unwrap(),
            "finished"
        );
    }
    let broken = merge("--fail-below same=0.9 --min-pass-rate 0");
    assert!(broken.stderr.contains("error: ") && broken.stderr.contains("`same`"), "{broken}");
    for (options, why) in [
        ("--fail-below other=0.5", "the run has no scorer `other`"),
        ("--fail-below same=2", "the scores of `same` are from 0 to 1"),
    ] {
        let refused = merge(options).exits_with(2);
        assert!(refused.stderr.contains(why) && !folder.path("m.db").exists(), "{refused}");
    }
    let no_run = folder.sh("scorebox merge out-0.parquet -o m.parquet --strict").exits_with(2);
    assert!(no_run.stderr.contains("hint: store it with --db"), "{no_run}");
}

#[test]
fn a_merge_of_no_shards_says_so() {
    let none = Shards::open(&[], Named::default()).unwrap_err();
    assert_eq!(none.to_string(), "no shard is named");
}

#[test]
fn where_a_merge_goes_must_be_said_once() {
    let folder = Folder::new();
    folder.write("a.parquet", "");
    let nowhere = folder.sh("scorebox merge a.parquet").exits_with(2);
    assert!(nowhere.stderr.contains("--db <FILE>|--output <FILE>"), "{nowhere}");
    let both = folder.sh("scorebox merge a.parquet --db a.db -o b.parquet").exits_with(2);
    assert!(both.stderr.contains("'--db <FILE>' cannot be used with '--output <FILE>'"), "{both}");
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
    let of_another = "`bare.parquet` was not scored with the suite and run that you named: it was scored with the plan ";
    assert!(other.stderr.contains(of_another), "{other}");
    assert!(
        other.stderr.contains("name the suite (--suite), the run (--run-id) and the seed (--seed)"),
        "{other}"
    );
}

#[test]
fn the_seed_of_shards_without_their_plan_is_named() {
    let folder = with_shards();
    folder.sh(&format!("{SHARD} --seed 5 in-0.parquet -o seeded.parquet")).exits_with(0);
    let bare = Shard::read(&folder.path("seeded.parquet")).without_metadata();
    bare.write(&folder.path("bare.parquet"));
    let merge = "scorebox merge bare.parquet --suite suite.toml --run-id r --db scorebox.db";
    let of_the_suite = folder.sh(merge).exits_with(2);
    assert!(of_the_suite.stderr.contains("and the seed (--seed)"), "{of_the_suite}");
    folder.sh(&format!("{merge} --seed 5")).exits_with(0);
    assert_eq!(folder.rows("SELECT seed FROM runs"), ["5"]);
    folder.sh("scorebox verify").exits_with(0);
}

#[test]
fn shards_that_have_their_plan_are_held_against_the_suite_that_is_named() {
    let folder = with_shards();
    let merge = "scorebox merge out-0.parquet out-1.parquet --db merged.db";
    folder.write("laxer.toml", SUITE.replace("max = 3", "max = 4"));
    let laxer = folder.sh(&format!("{merge} --suite laxer.toml")).exits_with(2);
    assert!(
        laxer.stderr.contains("was not scored with the suite and run that you named: the configuration of `some` differs"),
        "{laxer}"
    );
    folder.write("soft.toml", SUITE.replace("[scorers.same]", "[scorers.same]\nthreshold = 0.0"));
    let soft = folder.sh(&format!("{merge} --suite soft.toml")).exits_with(2);
    assert!(
        soft.stderr.contains("was not scored with the suite and run that you named: the suite is "),
        "{soft}"
    );
    let other = folder.sh(&format!("{merge} --suite suite.toml --run-id other")).exits_with(2);
    assert!(
        other.stderr.contains(
            "was not scored with the suite and run that you named: the run is `r`, not `other`"
        ),
        "{other}"
    );
    assert!(!folder.path("merged.db").exists());
    folder.sh(&format!("{merge} --suite suite.toml")).exits_with(0);
}

#[test]
fn shards_whose_suites_call_one_component_otherwise_are_of_one_run() {
    let folder = with_shards();
    // Written by versions that prepended the folder of the suite to the path in it.
    let older = Shard::read(&folder.path("out-1.parquet"))
        .of_suite(|suite| suite.replace("\"./misbehave.wasm\"", "\"../m/./misbehave.wasm\""));
    older.write(&folder.path("older.parquet"));
    let merge = "scorebox merge out-0.parquet older.parquet";
    folder.sh(&format!("{merge} --suite suite.toml -o merged.parquet")).exits_with(0);
    folder.sh("scorebox merge older.parquet out-0.parquet --db older.db").exits_with(0);
    folder.sh("scorebox merge merged.parquet out-1.parquet --db merged.db").exits_with(0);
    assert_eq!(stored(&folder, "older.db"), stored(&folder, "merged.db"));
    folder.sh("scorebox verify --db older.db").exits_with(0);
    // A shard that is already there is not computed again.
    folder.sh(&format!("{SHARD} in-1.parquet -o older.parquet")).exits_with(0);

    let other = older.of_suite(|suite| suite.replacen('{', "{\"more\":1,", 1));
    other.write(&folder.path("other.parquet"));
    let refused = folder.sh("scorebox merge out-0.parquet other.parquet -o m.parquet");
    assert!(refused.exits_with(2).stderr.contains("not of one run: the suite is "));
}

/// Anyone who can write a shard can also write its plan.
#[test]
fn a_plan_that_contradicts_its_suite_is_refused() {
    let folder = with_shards();
    let shard = Shard::read(&folder.path("out-1.parquet"));
    let other = shard.of_suite(|suite| suite.replace("\"some\"", "\"same\""));
    other.write(&folder.path("other.parquet"));
    for command in ["merge other.parquet --db merged.db", "verify --shard other.parquet --sample 1"]
    {
        let refused = folder.sh(&format!("scorebox {command}")).exits_with(2);
        assert!(refused.stderr.contains("its plan contradicts itself"), "{refused}");
    }
    assert!(!folder.path("merged.db").exists());
}

#[test]
fn shards_of_two_seeds_are_not_of_one_run_and_the_seeds_are_named() {
    let folder = with_shards();
    let seeded = format!("{SHARD} --seed 5 in-1.parquet -o seeded.parquet");
    folder.sh(&seeded).exits_with(0);
    let mixed = folder.sh("scorebox merge out-0.parquet seeded.parquet -o m.parquet").exits_with(2);
    assert!(mixed.stderr.contains("are not of one run: the seed is `"), "{mixed}");
    assert!(mixed.stderr.contains("` and `5`\n"), "{mixed}");
    // The suite is the same.
    let alone = "scorebox merge seeded.parquet --suite suite.toml -o m.parquet";
    folder.sh(alone).exits_with(0);
    let six = folder.sh(&format!("{alone} --seed 6")).exits_with(2);
    assert!(
        six.stderr.contains(
            "was not scored with the suite and run that you named: the seed is `5`, not `6`"
        ),
        "{six}"
    );
}

#[cfg(unix)]
#[test]
fn a_component_that_a_shard_says_is_at_a_pipe_is_not_waited_for() {
    let folder = with_shards();
    folder.sh("mkfifo pipe").exits_with(0);
    let mut shard = Shard::read(&folder.path("out-0.parquet"));
    let plan = shard.metadata("scorebox.plan");
    let mut changed: Value = serde_json::from_str(plan).unwrap();
    let pipe = folder.path("pipe").display().to_string();
    for scorer in changed["scorers"].as_array_mut().unwrap() {
        if scorer["component_origin"] != "built-in" {
            scorer["component_origin"] = pipe.clone().into();
        }
    }
    *plan = changed.to_string();
    shard.write(&folder.path("piped.parquet"));
    let refused = folder.sh("scorebox merge piped.parquet --db merged.db").exits_with(2);
    assert!(refused.stderr.contains("pipe"), "{refused}");
}

#[test]
fn a_plan_that_names_a_scorer_twice_is_refused() {
    let folder = with_shards();
    let mut shard = Shard::read(&folder.path("out-0.parquet"));
    let plan = shard.metadata("scorebox.plan");
    *plan = plan.replace("\"some\"", "\"same\"");
    shard.write(&folder.path("twice.parquet"));
    let refused = folder.sh("scorebox merge twice.parquet --db merged.db").exits_with(2);
    assert!(
        refused.stderr.contains("is not a shard: its plan names the scorer `same` twice"),
        "{refused}"
    );
    assert!(!folder.path("merged.db").exists());
}
