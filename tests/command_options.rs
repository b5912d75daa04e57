//! Options that would have no effect or that contradict each other, and environment variables.

use std::{collections::BTreeSet, fs};

use insta::assert_snapshot;

use crate::fixture::Folder;

#[test]
fn a_configuration_is_said_once_and_so_is_each_of_its_keys() {
    let folder = Folder::new();
    folder.write("cases.jsonl", "{\"output\": \"a b c\"}\n");
    folder.write("twice.json", "{\n  \"max\": 1,\n  \"max\": 5\n}\n");
    let refused = folder.sh(
        "scorebox score length --output 1 --config '{\"max\": 1, \"max\": 5}'; \
         scorebox score length --output 1 --config @twice.json; \
         scorebox run cases.jsonl -s length --config 'length={\"max\": 1, \"max\": 5}'; \
         scorebox run cases.jsonl -s length --config 'length={\"max\": 1}' --config 'length={\"max\": 5}'",
    );
    assert_snapshot!(refused.stderr, @"
    error: the configuration: duplicate key `max` at line 1 column 16
    hint: leave one of the two out
    error: the configuration: duplicate key `max` at line 3 column 7
    hint: leave one of the two out
    error: the configuration: duplicate key `max` at line 1 column 16
    hint: leave one of the two out
    error: --config names `length` twice
    hint: a scorer has one configuration: put all keys into one JSON object
    ");
}

#[test]
fn a_number_that_is_none_is_refused_with_what_one_is() {
    let folder = Folder::new();
    let refused = folder.sh(
        "scorebox score length --output 1 --fuel 1e6; scorebox runs --limit 99999999999999999999",
    );
    assert_snapshot!(refused.stderr, @"
    error: invalid value '1e6' for '--fuel <N>'

      tip: this is a whole number of 0 or more, written in digits alone: 1000000

    For more information, try '--help'.
    error: invalid value '99999999999999999999' for '--limit <N>'

      tip: the number is too large

    For more information, try '--help'.
    ");
}

#[test]
fn a_run_has_reports_in_place_of_an_output() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("scorebox run suite.toml answers.jsonl --output run.json"), @"
    [stderr]
    error: unexpected argument '--output' found

      tip: `--report FORMAT=FILE` writes a report; the summary goes to standard output

    For more information, try '--help'.
    [exit code 2]
    ");
}

#[test]
fn an_option_that_no_scorer_needs_is_pointed_out() {
    let folder = Folder::new();
    folder.write("cases.jsonl", "{\"output\": 1, \"groundTruth\": 1}\n");
    let options = "--workspace . --judge-model m --judge-budget calls=1 --judge-cache only --grant right=judge";
    let run = folder.sh(&format!("scorebox run cases.jsonl -s right=exact-match -q {options}"));
    let warnings = run.stderr.lines().filter(|line| line.starts_with("warning"));
    assert_snapshot!(warnings.collect::<Vec<_>>().join("\n"), @"
    warning: --workspace has no effect: no scorer reads the files of a case
    warning: --judge-model has no effect: no scorer asks a judge
    warning: --judge-budget has no effect: no scorer asks a judge
    warning: --judge-cache has no effect: no scorer asks a judge
    warning: --grant right=judge has no effect: the scorer does not import what it gives
    ");
    run.exits_with(0);
}

#[test]
fn without_fuel_nothing_is_scored_and_that_is_said_at_once() {
    let folder = Folder::new();
    let refused = folder.sh("scorebox score length --output 1 --config '{\"max\": 1}' --fuel 0; \
         scorebox score length --output 1 --config '{\"max\": 1}' --limit fuel=0");
    assert_snapshot!(refused.stderr, @"
    error: invalid value '0' for '--fuel <N>': 0 is not in 1..18446744073709551615

    For more information, try '--help'.
    error: fuel: must be 1 or more: without fuel nothing is scored
    ");
}

#[test]
fn an_option_that_would_do_nothing_is_refused() {
    let folder = Folder::new();
    let root = "0".repeat(64);
    for (command, option) in [
        ("scorers --no-cache".to_owned(), "NAME"),
        ("scorers --memory-budget 1GiB".to_owned(), "NAME"),
        (format!("verify --root {root} -j 2"), "--jobs"),
        (format!("verify --root {root} --trust-cache"), "--trust-cache"),
        (format!("verify --root {root} --workspace ."), "--workspace"),
        ("verify --receipt r:a:0:0:c --format json".to_owned(), "--format"),
        ("card rouge --config '{}'".to_owned(), "--cases"),
        ("card rouge --fuel 7".to_owned(), "--cases"),
        ("card rouge --map output=/a".to_owned(), "--cases"),
        ("card rouge --db a.db".to_owned(), "--cases"),
        ("card rouge --judges suite.toml".to_owned(), "--cases"),
        ("card rouge --judge-cache off".to_owned(), "--cases"),
        ("card rouge --workspace .".to_owned(), "--cases"),
    ] {
        let said = folder.sh(&format!("scorebox {command}")).exits_with(2).stderr;
        assert!(said.contains(option), "{command}: {said}");
    }
    folder.sh("SCOREBOX_CACHE_DIR=x scorebox scorers --search latency").exits_with(0);
    assert_snapshot!(folder.sh("scorebox compile suite.toml --no-cache"), @"
    [stderr]
    error: --no-cache leaves `compile` nothing to do: what it compiles is kept in the cache
    hint: leave out --no-cache; --cache-dir names another folder
    [exit code 2]
    ");
}

#[test]
fn the_help_names_the_variables_that_the_page_of_the_configuration_has() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, table) = page.split_once("\n## Environment variables\n").unwrap();
    let help = Folder::new().sh("scorebox --help").exits_with(0).stdout;
    let (_, listed) = help.split_once("\nEnvironment variables:\n").unwrap();
    let documented: BTreeSet<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once(" | "))
        .flat_map(|(names, _)| names.split(", "))
        .map(|name| name.trim_matches('`'))
        .collect();
    let shown: BTreeSet<&str> = listed
        .lines()
        .filter_map(|line| line.trim().split_once("  "))
        .flat_map(|(names, _)| names.split(", "))
        .collect();
    assert_eq!(shown, documented);
    assert!(shown.contains("SCOREBOX_DB"), "{shown:?}");
}
