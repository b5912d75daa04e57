//! `scorebox search`: the built-in scorers, and those of indexes on a web server. `hostile_indexes` tests indexes that
//! are not valid.

use std::fs;

use insta::assert_snapshot;
use scorebox::digest::Digest;
use scorebox_community::IndexEntry;
use serde_json::{Value, json};

use crate::{
    fixture::Folder,
    index_shelf::{Shelf, TEAM_SIGNER, entry, names, signed_by_other},
};

#[test]
fn built_in_scorers_are_found_without_a_configuration_and_without_a_network() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("scorebox search exact match"), @"
    scorer            index     reads                       needs  signed by  what it scores
    exact-match       built in  output, groundTruth         -      -          Exact Match: Scores 1 if the output equals the expected answer, else 0.
    match             built in  output, groundTruth         -      -          Match: Scores 1 if the output has the expected text or number at a given place, else 0.
    tool-correctness  built in  output, groundTruth, trace  -      -          Tool Correctness: Scores how many of the expected tool calls were made, 0 to 1.
    [exit code 0]
    ");
    assert_eq!(names(&folder.sh("scorebox search BLEU"))[0], "bleu");
    let judged = folder.sh("scorebox search translation").exits_with(0);
    assert!(judged.stdout.contains("  judge  "), "{judged}");
}

#[test]
fn scorers_of_an_index_are_found_with_what_they_read_need_and_who_signed_them() {
    let shelf = Shelf::new();
    shelf.put_index(
        "team.json",
        1,
        &[
            entry("registry.test/team/grade:1.2.0")
                .described("Grade", "Grades a xylophone.")
                .published_with(Some("MIT"), Some("https://git.test/grade"))
                .using(
                    vec!["input".into()],
                    vec!["scorebox:scorer/judge@0.1.0".into()],
                    vec!["judge".into()],
                ),
            entry("registry.test/team/plain:0.1.0").signed_by(None),
        ],
    );
    assert_snapshot!(shelf.search("xylophone"), @"
    scorer                          index  reads          needs  signed by      what it scores
    registry.test/team/grade:1.2.0  team   output, input  judge  …oMnlTi2mdWlI  Grade: Grades a xylophone.
    registry.test/team/plain:0.1.0  team   output         -      not signed     plain: The xylophone of plain.
    [exit code 0]
    ");
    let found = shelf.search("grades xylophone --format json").exits_with(0).json();
    let component = format!("sha256:{}", Digest::of(b"registry.test/team/grade:1.2.0"));
    assert_eq!(
        found,
        json!([{
            "scorerId": "grade",
            "address": "registry.test/team/grade:1.2.0",
            "title": "Grade",
            "description": "Grades a xylophone.",
            "reads": ["output", "input"],
            "grants": ["judge"],
            "imports": ["scorebox:scorer/judge@0.1.0"],
            "signer": TEAM_SIGNER,
            "license": "MIT",
            "source": "https://git.test/grade",
            "component": component,
            "bytes": 1234,
            "contract": "0.1.0",
            "indexes": ["team"],
            "closeTo": null,
        }])
    );
    let lines = shelf.search("xylophone --format jsonl").exits_with(0);
    let addresses = lines.stdout.lines().map(|line| {
        serde_json::from_str::<Value>(line).unwrap()["address"].as_str().unwrap().to_owned()
    });
    let expected = ["registry.test/team/grade:1.2.0", "registry.test/team/plain:0.1.0"];
    assert_eq!(addresses.collect::<Vec<_>>(), expected);
}

#[test]
fn what_has_the_words_in_its_name_comes_first_and_no_more_than_asked_for() {
    let shelf = Shelf::new();
    let many: Vec<IndexEntry> =
        (10..50).map(|number| entry(&format!("registry.test/team/word-{number}:1.0.0"))).collect();
    let last = entry("registry.test/team/xylophone:1.0.0");
    shelf.put_index("team.json", 1, &[many, vec![last]].concat());
    let found = shelf.search("xylophone").exits_with(0);
    let shown = names(&found);
    assert_eq!(shown.len(), 30);
    assert_eq!(
        shown[..2],
        ["registry.test/team/xylophone:1.0.0", "registry.test/team/word-10:1.0.0"]
    );
    assert_eq!(found.stderr, "30 of 41 scorers; all: --limit 0\n");
    assert_eq!(names(&shelf.search("xylophone --limit 2")).len(), 2);
    let all = shelf.search("xylophone --limit 0").exits_with(0);
    assert_eq!((names(&all).len(), all.stderr.as_str()), (41, ""));
}

#[test]
fn where_nothing_is_found_the_closest_name_is_suggested() {
    let shelf = Shelf::new();
    shelf.put_index("team.json", 1, &[entry("registry.test/team/xylophone:1.0.0")]);
    let said = |words: &str| {
        let output = shelf.search(words).exits_with(0);
        assert_eq!(output.stdout, "");
        output.stderr
    };
    let none = "no scorer has all of these words\n";
    assert_eq!(said("xilophone"), format!("{none}hint: did you mean `xylophone`?\n"));
    assert_eq!(said("exakt match"), format!("{none}hint: did you mean `exact-match`?\n"));
    assert_eq!(said("zzz qqq jjj"), none);
    assert_eq!(shelf.search("qqq --format json").stdout, "[]\n");
    assert_snapshot!(shelf.search("' '"), @"
    [stderr]
    error: name at least one word to search for
    [exit code 2]
    ");
}

#[test]
fn names_that_could_be_taken_for_others_are_pointed_out() {
    let shelf = Shelf::new();
    let entries = [
        signed_by_other("registry.test/crew/c0ntains:1.0.0"),
        signed_by_other("registry.test/crew/exactmatch:1.0.0"),
        signed_by_other("registry.test/crew/bleu:1.0.0"),
        entry("registry.test/team/xylometer:1.0.0"),
        entry("registry.test/team/xylometers:1.0.0"),
        signed_by_other("registry.test/crew/xylometre:1.0.0"),
        signed_by_other("registry.test/tearn/glockenspiel:1.0.0"),
        entry("registry.test/team/glockenspiel:1.0.0"),
    ];
    shelf.put_index("team.json", 1, &entries);
    let found = shelf.search("xylophone").exits_with(0);
    assert_snapshot!(found.stderr, @"
    warning: `registry.test/crew/bleu:1.0.0` has the name of `bleu`, which is built in
    warning: `registry.test/crew/c0ntains:1.0.0` has a name close to `contains`, which is built in
    warning: `registry.test/crew/exactmatch:1.0.0` has a name close to `exact-match`, which is built in
    warning: `registry.test/crew/xylometre:1.0.0` has a name close to `registry.test/team/xylometer`, which the same key did not sign
    warning: `registry.test/team/glockenspiel:1.0.0` has the name of `registry.test/tearn/glockenspiel`, which the same key did not sign
    warning: `registry.test/team/xylometer:1.0.0` has a name close to `registry.test/crew/xylometre`, which the same key did not sign
    warning: `registry.test/team/xylometers:1.0.0` has a name close to `registry.test/crew/xylometre`, which the same key did not sign
    warning: `registry.test/tearn/glockenspiel:1.0.0` has the name of `registry.test/team/glockenspiel`, which the same key did not sign
    ");
    let rows = shelf.search("xylophone --format json").exits_with(0).json();
    let close_to = |address: &str| {
        let row = rows.as_array().unwrap().iter().find(|row| row["address"] == address);
        row.unwrap()["closeTo"].clone()
    };
    assert_eq!(close_to("registry.test/crew/c0ntains:1.0.0"), json!({"builtIn": "contains"}));
    assert_eq!(
        close_to("registry.test/crew/xylometre:1.0.0"),
        json!({"published": "registry.test/team/xylometer"})
    );
}

#[test]
fn a_configuration_with_mistakes_ends_the_search_with_all_of_them() {
    let shelf = Shelf::new();
    shelf.write_configuration("[index.team]\nurl = \"team.json\"\nsinger = \"RW\"\n");
    assert_snapshot!(shelf.search("bleu").exits_with(2), @"
    [stderr]
    error: [folder]/config/scorebox/config.toml:2:1: the index `team` lacks `signer`
    error: [folder]/config/scorebox/config.toml:3:7: an index is at `https://HOST/FILE`, or in a registry at `oci://REGISTRY/NAME:TAG`; this is neither
    error: [folder]/config/scorebox/config.toml:4:1: unknown key `singer`; the keys of an index are `url`, `signer`, `plain-http`
    hint: did you mean `signer`?
    [exit code 2]
    ");
    let named = shelf.sh("SCOREBOX_CONFIG=none.toml scorebox search bleu").exits_with(2);
    assert_snapshot!(named, @"
    [stderr]
    error: cannot read `none.toml`: no such file
    hint: SCOREBOX_CONFIG names this file: name another one, or unset it
    [exit code 2]
    ");
    shelf.folder.write("other.toml", "");
    let other = shelf.sh("SCOREBOX_CONFIG=other.toml scorebox search bleu").exits_with(0);
    assert_eq!(other.stderr, "");
    fs::create_dir(shelf.folder.path("folder")).unwrap();
    let folder = shelf.sh("SCOREBOX_CONFIG=folder scorebox search bleu").exits_with(2);
    assert_snapshot!(folder, @"
    [stderr]
    error: cannot read `folder`: this is a folder, not a file
    hint: SCOREBOX_CONFIG names this file: name another one, or unset it
    [exit code 2]
    ");
}
