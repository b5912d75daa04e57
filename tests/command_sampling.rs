//! Which cases a scorer is not given: by sampling, by nodes, by the case itself; and that the choice is the same every
//! time.

use std::{
    fs,
    io::Write as _,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use insta::assert_snapshot;
use rusqlite::{Connection, OpenFlags};
use rustix::process::{Pid, Signal, kill_process};

use crate::fixture::Folder;

/// Two scorers, one of which gets a tenth of the cases.
const SAMPLED: &str = "seed = \"s\"\n[scorers.some]\nuse = \"length\"\nconfig = { max = 100_000 }\n\
                       sampling = { type = \"ratio\", rate = 0.1 }\n[scorers.all]\nuse = \"numeric-answer\"\n";

/// The cases that the sampled scorer of each run got, in order.
fn taken(folder: &Folder, run: &str) -> Vec<String> {
    folder.rows(&format!(
        "SELECT case_id FROM scores WHERE run_id = '{run}' AND scorer_id = 'some' AND status = 'scored' ORDER BY case_id"
    ))
}

/// Real cases, each several times: 400 cases of GSM8K with five attempts.
fn many(folder: &Folder) {
    let lines = fs::read_to_string(folder.path("answers.jsonl")).unwrap();
    let attempts = (0..5).flat_map(|attempt| {
        lines.lines().map(move |line| line.replacen('{', &format!("{{\"attempt\":{attempt},"), 1))
    });
    folder.write("many.jsonl", attempts.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_scorer_sees_as_many_real_cases_as_its_rate_says() {
    let folder = Folder::new();
    many(&folder);
    for (rate, name) in [(0.1, "tenth"), (0.5, "half")] {
        folder.write("sampled.toml", SAMPLED.replace("0.1", &rate.to_string()));
        folder
            .sh(&format!("scorebox run sampled.toml many.jsonl -q --run-id {name}"))
            .exits_with(0);
        let (n, seen) = (2000.0, taken(&folder, name).len() as f64);
        // Four standard deviations of the binomial distribution.
        let deviation = f64::sqrt(n * rate * (1.0 - rate));
        assert!((seen - n * rate).abs() < 4.0 * deviation, "{rate}: {seen}");
    }
}

#[test]
fn a_skipped_row_is_stored_and_counts_nowhere() {
    let folder = Folder::new();
    folder.write("sampled.toml", SAMPLED);
    let output = folder.sh("scorebox run sampled.toml answers.jsonl --run-id r").exits_with(0);
    let seen = taken(&folder, "r").len();
    let skipped = 400 - seen;
    assert!(output.stdout.starts_with("scorer  scored  n/a  skipped  errors"), "{output}");
    let totals = format!("400 cases, {} scores in ", 400 + seen);
    assert!(output.stderr.contains(&totals), "{output}");
    assert!(output.stderr.contains(&format!(", {skipped} skipped")), "{output}");
    let rows = folder.rows(
        "SELECT DISTINCT status, reason, score, fuel, memory_bytes, duration_ms, input_digest, meta_json, log_json
         FROM scores WHERE status = 'skipped'",
    );
    assert_eq!(
        rows,
        ["skipped | left out by sampling | null | null | null | 0 | null | null | null"]
    );
    let stats = folder.sh("scorebox stats --format json").json();
    assert_eq!(stats[0]["count"], seen);
    assert_eq!(stats[0]["skipped"], skipped);
    assert_eq!(stats[0]["mean"], 1.0);
    let verified = folder.sh("scorebox verify r --trust-cache").exits_with(0);
    assert!(verified.stderr.contains("800 verified, 0 different, 0 not verifiable"), "{verified}");
}

#[test]
fn a_seed_of_a_variable_without_a_value_is_refused() {
    let folder = Folder::new();
    folder.write("sampled.toml", SAMPLED);
    for command in [
        "run sampled.toml answers.jsonl",
        "live sampled.toml",
        "shard sampled.toml in.parquet -o out.parquet",
        "merge out.parquet --suite sampled.toml --db m.db",
    ] {
        let line = format!("scorebox {command} --seed \"$NO_SUCH_VARIABLE\"");
        let said = folder.sh(&line).exits_with(2).stderr;
        assert!(said.starts_with("error: invalid value '' for '--seed <SEED>': "), "{said}");
    }
    assert!(!folder.path("scorebox.db").exists());
}

#[test]
fn the_same_seed_takes_the_same_cases_in_whatever_order_and_another_seed_others() {
    let folder = Folder::new();
    folder.write("sampled.toml", SAMPLED);
    folder.sh("tac answers.jsonl > backwards.jsonl").exits_with(0);
    let run = "scorebox run sampled.toml -q";
    folder.sh(&format!("{run} answers.jsonl --run-id a -j 1")).exits_with(0);
    folder.sh(&format!("{run} backwards.jsonl --run-id b -j 3")).exits_with(0);
    folder.sh(&format!("{run} answers.jsonl --run-id c --seed other")).exits_with(0);
    assert_eq!(taken(&folder, "a"), taken(&folder, "b"));
    assert_ne!(taken(&folder, "a"), taken(&folder, "c"));
    assert_eq!(folder.rows("SELECT seed FROM runs ORDER BY id"), ["s", "s", "other"]);
    folder.write("sampled.toml", SAMPLED.replace("seed = \"s\"\n", "name = \"s\"\n"));
    folder.sh(&format!("{run} answers.jsonl --run-id d")).exits_with(0);
    assert_eq!(taken(&folder, "a"), taken(&folder, "d"), "the name stands in for a seed");
}

/// A bad line stops the first session, as a kill would.
#[test]
fn a_resumed_run_spares_the_cases_that_a_whole_run_spares() {
    let folder = Folder::new();
    folder.write("sampled.toml", SAMPLED);
    let answers = fs::read_to_string(folder.path("answers.jsonl")).unwrap();
    folder.sh("scorebox run sampled.toml answers.jsonl -q --run-id whole").exits_with(0);
    let cut: Vec<&str> = answers.lines().take(150).chain(["no case"]).collect();
    folder.write("cut.jsonl", cut.join("\n"));
    folder.sh("scorebox run sampled.toml cut.jsonl -q --run-id cut").exits_with(2);
    let begun = taken(&folder, "cut");
    assert!(!begun.is_empty() && begun.len() < taken(&folder, "whole").len());
    folder.write("cut.jsonl", &answers);
    let resume = "scorebox run sampled.toml cut.jsonl -q --resume cut";
    let refused = folder.sh(&format!("{resume} --seed other")).exits_with(2);
    assert!(refused.stderr.contains("its seed is `s`; now it is `other`"), "{refused}");
    folder.write("other.toml", SAMPLED.replace("0.1", "0.2"));
    let refused = folder.sh(&resume.replace("sampled", "other")).exits_with(2);
    assert!(refused.stderr.contains("the sampling of `some` has changed"), "{refused}");
    folder.sh(resume).exits_with(0);
    assert_eq!(taken(&folder, "cut"), taken(&folder, "whole"));
    let rows = "SELECT count(*) FROM scores WHERE run_id = 'cut'";
    assert_eq!(folder.rows(rows), ["800"], "a row for each case and scorer");
}

/// The run waits for its next line while half of its cases are stored; then it is killed.
#[test]
fn a_killed_run_spares_the_cases_that_a_whole_run_spares() {
    let folder = Folder::new();
    folder.write("sampled.toml", SAMPLED);
    let answers = fs::read_to_string(folder.path("answers.jsonl")).unwrap();
    folder.sh("scorebox run sampled.toml answers.jsonl -q --run-id whole").exits_with(0);
    let half: String = answers.split_inclusive('\n').take(200).collect();
    let mut shell =
        folder.shell("exec scorebox run sampled.toml - -q --run-id killed --db killed.db");
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = shell.spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(half.as_bytes()).unwrap();
    let stored = || -> rusqlite::Result<u32> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let database = Connection::open_with_flags(folder.path("killed.db"), flags)?;
        database.query_row("SELECT count(*) FROM score_rows", [], |row| row.get(0))
    };
    let begun = Instant::now();
    while stored().unwrap_or(0) < 400 {
        assert!(begun.elapsed() < Duration::from_secs(60), "half of the cases are stored");
        thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    folder
        .sh("scorebox run sampled.toml - -q --resume killed --db killed.db < answers.jsonl")
        .exits_with(0);
    let killed = folder.database("killed.db");
    let mut query = killed
        .prepare("SELECT case_id FROM scores WHERE scorer_id = 'some' AND status = 'scored' ORDER BY case_id")
        .unwrap();
    let seen: Vec<String> =
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(seen, taken(&folder, "whole"));
}

/// A workflow whose task is scored once per run samples runs, with a seed for each of them.
#[test]
fn a_case_alone_is_sampled_alike_in_every_run_unless_the_run_is_the_seed() {
    let folder = Folder::new();
    folder.write("case.jsonl", "{\"nodeId\": \"analyze\", \"output\": \"x\"}\n");
    folder.write(
        "s.toml",
        format!("[defaults]\nnodes = [\"analyze\"]\n{}", SAMPLED.replace("seed = \"s\"\n", "")),
    );
    let run = "scorebox run s.toml case.jsonl --allow-errors";
    let first = folder.sh(run).exits_with(0);
    let hint = "hint: `ratio` samples cases, by a hash of the seed and the case: this run leaves out the same ones each time. \
                For a share of the runs, give each run its own seed: --seed \"$RUN_ID\"\n";
    let said = format!("warning: `some` applies to no case: look at its `sampling`\n{hint}");
    assert!(first.stderr.contains(&said), "{first}");
    let live = folder.sh("scorebox live s.toml --allow-errors < case.jsonl").exits_with(0);
    assert!(live.stderr.contains(&said), "{live}");
    for seed in 0..40 {
        folder.sh(&format!("{run} -q --run-id seeded-{seed} --seed seeded-{seed}")).exits_with(0);
    }
    let by_status = "SELECT count(*) FROM scores WHERE scorer_id = 'some' AND run_id LIKE 'seeded-%' AND status =";
    let of = |status: &str| folder.rows(&format!("{by_status} '{status}'")).join("").parse::<u32>();
    let (scored, skipped) = (of("scored").unwrap(), of("skipped").unwrap());
    assert!(scored > 0 && skipped > 20, "{scored} {skipped}");
    // A user who switches a scorer off knows that it applies to no case.
    folder.write(
        "s.toml",
        "[scorers.length]\nconfig = { max = 9 }\nnodes = [\"*\"]\nsampling = { type = \"none\" }\n",
    );
    let off = folder.sh(run).exits_with(0);
    assert!(!off.stderr.contains("warning"), "{off}");
}

#[test]
fn nodes_and_skipped_cases_say_why() {
    let folder = Folder::new();
    folder.write(
        "cases.jsonl",
        "{\"id\": \"a\", \"nodeId\": \"write-1\", \"output\": \"x\"}\n\
         {\"id\": \"b\", \"nodeId\": \"read\", \"output\": \"x\"}\n\
         {\"id\": \"c\", \"nodeId\": \"read\", \"output\": \"x\", \"skip\": \"flaky\"}\n\
         {\"id\": \"d\", \"output\": \"x\", \"skip\": true}\n\
         {\"id\": \"e\", \"nodeId\": \"analyze\", \"output\": \"x\", \"skip\": false}\n",
    );
    folder.write(
        "suite.toml",
        "[defaults]\nnodes = [\"analyze\", \"write-*\"]\n[scorers.length]\nconfig = { max = 1 }\n\
         [scorers.off]\nuse = \"length\"\nconfig = { max = 1 }\nsampling = { type = \"none\" }\nnodes = [\"*\"]\n",
    );
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id r").exits_with(0);
    assert_snapshot!(folder.sh("scorebox scores r"), @"
    case  scorer    score  reason
    a     length   1.0000  1 word; at most 1 allowed
    a     off     skipped  left out by sampling
    b     length  skipped  not one of the scorer's nodes
    b     off     skipped  left out by sampling
    c     length  skipped  the case is skipped: flaky
    c     off     skipped  the case is skipped: flaky
    d     length  skipped  the case is skipped
    d     off     skipped  the case is skipped
    e     length   1.0000  1 word; at most 1 allowed
    e     off     skipped  left out by sampling
    [exit code 0]
    ");
    assert_eq!(
        folder.rows("SELECT case_id, skip_reason FROM cases ORDER BY case_id"),
        ["a | null", "b | null", "c | flaky", "d | ", "e | null"]
    );
    folder.sh("scorebox verify r --trust-cache").exits_with(0);
    folder.write("cases.jsonl", "{\"id\": \"a\", \"output\": 1, \"skip\": 3}\n");
    let refused = folder.sh("scorebox run suite.toml cases.jsonl").exits_with(2);
    assert!(refused.stderr.contains("`skip` must be true, false, or the reason"), "{refused}");
}

#[test]
fn a_row_that_someone_skips_or_a_rule_that_someone_changes_is_noticed() {
    let row = "(SELECT case_key FROM score_rows WHERE status = 'scored' AND scorer = 1 LIMIT 1)";
    for (change, what) in [
        (
            format!("UPDATE score_rows SET status = 'skipped', score = NULL, reason = 'left out by sampling',
                 meta_json = NULL WHERE scorer = 1 AND case_key = {row}"),
            "status",
        ),
        ("UPDATE score_rows SET reason = 'x' WHERE status = 'skipped' AND scorer = 1".into(), "reason"),
        ("UPDATE scorers SET sampling_json = NULL WHERE scorer = 1".into(), "scorer of the plan"),
        ("UPDATE scorers SET nodes_json = '[\"x\"]' WHERE scorer = 1".into(), "scorer of the plan"),
        ("UPDATE scorers SET threshold = 0.5 WHERE scorer = 1".into(), "scorer of the plan"),
        ("UPDATE scorers SET severity = 'gate' WHERE scorer = 1".into(), "scorer of the plan"),
        ("UPDATE scorers SET weight = 2.0 WHERE scorer = 1".into(), "scorer of the plan"),
        ("UPDATE scorers SET required = 1 WHERE scorer = 1".into(), "scorer of the plan"),
        ("UPDATE scorers SET declared_threshold = 0.5 WHERE scorer = 1".into(), "threshold"),
        ("UPDATE runs SET seed = 'x'".into(), "seed"),
    ] {
        let folder = Folder::new();
        folder.write("sampled.toml", SAMPLED.replace("[scorers.all]\nuse = \"numeric-answer\"\n", ""));
        folder.sh("head -30 answers.jsonl > some.jsonl").exits_with(0);
        folder.write("sampled.toml", SAMPLED.replace("0.1", "0.5"));
        folder.sh("scorebox run sampled.toml some.jsonl -q --run-id r").exits_with(0);
        folder.database("scorebox.db").execute_batch(&change).unwrap();
        let found = folder.sh("scorebox verify r --trust-cache --format jsonl").exits_with(1);
        let said = format!("\"what\":\"{what}\"");
        assert!(found.stdout.contains(&said), "{change}\n{found}");
        assert!(found.stdout.contains("\"what\":\"root\""), "{change}\n{found}");
    }
}
