//! The gallery of built-in scorers: each carries an example that holds, and the page about them is what
//! they say of themselves.

use std::{fs, path::Path};

use insta::assert_snapshot;

use crate::fixture::Folder;

fn names(folder: &Folder) -> Vec<String> {
    let listed = folder.sh("scorebox scorers --format jsonl").exits_with(0).stdout;
    let name = |line: &str| {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        entry["name"].as_str().unwrap().to_owned()
    };
    listed.lines().map(name).collect()
}

#[test]
fn every_scorer_keeps_the_promise_of_its_example() {
    let folder = Folder::new();
    for name in names(&folder) {
        let answer = folder.sh(&format!("scorebox scorers {name} --example")).exits_with(0).json();
        assert_ne!(answer["status"], "error", "{name}");
    }
}

#[test]
fn the_page_about_the_scorers_is_what_they_say_of_themselves() {
    let folder = Folder::new();
    let page = folder.sh("scorebox scorers --format markdown").exits_with(0).stdout;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/scorers.md");
    let written = fs::read_to_string(path).unwrap();
    assert!(page == written, "write it anew: scorebox scorers --format markdown > docs/scorers.md");
}

#[test]
fn a_scorer_is_shown_with_its_configuration_and_an_example() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("scorebox scorers levenshtein"), @"");
}

#[test]
fn scorers_are_found_by_what_they_say() {
    let folder = Folder::new();
    let found = folder.sh("scorebox scorers --search 'EDIT distance'").exits_with(0).stdout;
    assert!(found.contains("levenshtein"), "{found}");
    assert_snapshot!(folder.sh("scorebox scorers --search nonsense"), @"");
    assert_snapshot!(folder.sh("scorebox scorers levenstein").exits_with(2), @"");
}
