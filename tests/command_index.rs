//! `scorebox index` with a real registry: what it writes about published scorers, its serial number and signature,
//! where it is published, and how `scorebox add` uses an index.

use std::fs;

use insta::assert_snapshot;
use scorebox::digest::Digest;
use scorebox_community::{Index, SignedIndex};
use serde_json::Value;

use crate::{
    fixture::Output,
    index_shelf::{OTHER, TEAM, TEAM_SIGNER},
    scorer_desk::{Desk, guest},
};

/// A desk with the keys, `team/word-f1`, signed by the team, and `people/reader`, signed by someone else.
fn desk() -> Option<Desk> {
    let desk = Desk::new()?;
    desk.write("team.key", TEAM);
    desk.write("other.key", OTHER);
    publish(&desk, "word-f1", "signed/word-f1", "team.key --license MIT");
    publish(&desk, "reader", "people/reader", "other.key");
    Some(desk)
}

fn publish(desk: &Desk, component: &str, name: &str, options: &str) {
    desk.folder.write("published.wasm", guest(component));
    let line =
        format!("scorebox publish published.wasm HOST/{name}:0.1.0 --plain-http --sign {options}");
    desk.sh(&line).exits_with(0);
}

const BOTH: &str = "oci://HOST/signed/word-f1:0.1.0 HOST/people/reader:0.1";

fn index(desk: &Desk, options: &str) -> Output {
    desk.sh(&format!("scorebox index --plain-http {options}"))
}

/// Configures the index at `oci://HOST/team/index:1`.
fn configure(desk: &Desk) {
    fs::create_dir_all(desk.folder.path("config/scorebox")).unwrap();
    desk.write(
        "config/scorebox/config.toml",
        &format!(
            "version = 1\n[index.team]\nurl = \"oci://HOST/team/index:1\"\nsigner = \"{TEAM_SIGNER}\"\nplain-http = true\n"
        ),
    );
}

fn serial(desk: &Desk) -> u64 {
    Index::parse(&fs::read(desk.folder.path("index.json")).unwrap()).unwrap().serial
}

/// Whether the signature next to the index is valid and made by the team.
fn is_signed(desk: &Desk) -> bool {
    let read = |name: &str| fs::read(desk.folder.path(name)).unwrap();
    let signature = String::from_utf8(read("index.json.minisig")).unwrap();
    SignedIndex::open(read("index.json").into(), &signature, &TEAM_SIGNER.parse().unwrap()).is_ok()
}

#[test]
fn an_index_says_what_is_published_and_what_the_scorers_say_about_themselves() {
    let Some(desk) = desk() else { return };
    let made = index(&desk, &format!("{BOTH} --name team --sign team.key")).exits_with(0);
    assert_snapshot!(made, @"
    index      team, serial number 1
    scorers    2
    written    index.json
    signed by  RWThsDRumhUUfC5VoJHIalKvBThGlM4RUCxu1781EmXXoMnlTi2mdWlI
    [exit code 0]
    ");
    assert!(is_signed(&desk));
    let index: Value = serde_json::from_str(&desk.read("index.json")).unwrap();
    let mut scorers = index["scorers"].clone();
    for scorer in scorers.as_array_mut().unwrap() {
        // Another compiler produces other sizes.
        assert!(scorer["bytes"].take().as_u64().unwrap() > 10_000);
    }
    assert_snapshot!(serde_json::to_string_pretty(&scorers).unwrap(), @r#"
    [
      {
        "address": "HOST/people/reader:0.1.0",
        "bytes": null,
        "component": "sha256:[digest]",
        "contract": "0.1.0",
        "description": "Scores how many files the case has (of 10), and reports the content of one.",
        "grants": [
          "workspace"
        ],
        "imports": [
          "scorebox:scorer/workspace@0.1.0",
          "scorebox:scorer/log@0.1.0",
          "scorebox:scorer/types@0.1.0"
        ],
        "reads": [],
        "scorerId": "reader",
        "signer": "RWRO41MtYsl2RdlXwE0LscqUR2+fYw/Ubbl4ZrS9l6UZ1YN1C717wLm/",
        "title": "Reader"
      },
      {
        "address": "HOST/signed/word-f1:0.1.0",
        "bytes": null,
        "component": "sha256:[digest]",
        "contract": "0.1.0",
        "description": "How many words output and ground truth share: 2 * shared / (words of both).",
        "grants": [],
        "imports": [
          "scorebox:scorer/log@0.1.0",
          "scorebox:scorer/types@0.1.0"
        ],
        "license": "MIT",
        "reads": [
          "groundTruth"
        ],
        "scorerId": "word-f1",
        "signer": "RWThsDRumhUUfC5VoJHIalKvBThGlM4RUCxu1781EmXXoMnlTi2mdWlI",
        "title": "Word F1"
      }
    ]
    "#);
}

#[test]
fn the_same_scorers_make_the_same_index_and_others_one_with_the_next_number() {
    let Some(desk) = desk() else { return };
    let make = |options: &str| index(&desk, options).exits_with(0);
    make(&format!("{BOTH} --name team --sign team.key"));
    let files = || (desk.read("index.json"), desk.read("index.json.minisig"));
    let first = files();
    let again = make("HOST/people/reader:0.1.0 HOST/signed/word-f1:0.1 --sign team.key");
    assert_eq!(again.stderr, "index.json says this already, and stays as it is\n");
    assert_eq!(files(), first);
    make(&format!("{BOTH} -o other.json --name team"));
    assert_eq!(desk.read("other.json"), first.0, "on any machine");
    make("HOST/signed/word-f1:0.1.0 --sign team.key");
    assert_eq!((serial(&desk), is_signed(&desk)), (2, true));
    make(&format!("{BOTH} --serial 20261125 --sign team.key"));
    assert_eq!((serial(&desk), is_signed(&desk)), (20_261_125, true));
    let lower = index(&desk, &format!("{BOTH} --serial 3 --sign team.key")).exits_with(2);
    assert_snapshot!(lower.stderr, @"
    error: the serial number of `index.json` is 20261125 already
    hint: users refuse an index whose number does not grow: give it a higher one
    ");
    let other = index(&desk, "HOST/signed/word-f1:0.1.0 --serial 20261125").exits_with(2);
    assert!(other.stderr.contains("is 20261125 already"), "{other}");
    let renamed = index(&desk, "HOST/signed/word-f1:0.1.0 --name crew").exits_with(2);
    assert_snapshot!(renamed.stderr, @"
    error: `index.json` is the index `team`, and not `crew`
    hint: users refuse an index whose name changes: leave --name out, or write another file with --output
    ");
    assert_eq!(serial(&desk), 20_261_125);
}

#[test]
fn an_index_without_a_signature_says_how_it_gets_one() {
    let Some(desk) = desk() else { return };
    let made =
        index(&desk, "HOST/signed/word-f1:0.1.0 --name team -o 'my index.json'").exits_with(0);
    assert!(made.stdout.ends_with("signed by  not signed\n"), "{made}");
    assert_eq!(
        made.stderr,
        "hint: users take it only with a signature beside it: --sign KEY, or minisign -Sm 'my index.json'\n"
    );
}

#[test]
fn an_index_in_a_registry_is_searched_and_replaced_by_a_newer_one_only() {
    let Some(desk) = desk() else { return };
    configure(&desk);
    let publish = |options: &str| {
        index(&desk, &format!("{options} --sign team.key --publish oci://HOST/team/index:1"))
    };
    let made = publish("HOST/signed/word-f1:0.1.0 --name team").exits_with(0);
    assert!(made.stdout.ends_with("published  oci://HOST/team/index:1\n"), "{made}");
    let found = desk.sh("scorebox search word f1 --format jsonl").exits_with(0);
    let first: Value = serde_json::from_str(found.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(first["address"], "HOST/signed/word-f1:0.1.0");
    assert_eq!((&first["signer"], &first["license"]), (&TEAM_SIGNER.into(), &"MIT".into()));
    let again = publish("HOST/signed/word-f1:0.1.0").exits_with(0);
    assert!(again.stderr.contains("oci://HOST/team/index:1 is published already"), "{again}");
    publish(BOTH).exits_with(0);
    assert_eq!(desk.sh("scorebox search reader").exits_with(0).stdout.lines().count(), 2);
    // Someone creates a new index from scratch.
    fs::remove_file(desk.folder.path("index.json")).unwrap();
    let older = publish("HOST/signed/word-f1:0.1.0 --name team").exits_with(2);
    assert_snapshot!(older.stderr, @"
    error: cannot publish at oci://HOST/team/index:1: an index with the serial number 2 is published there, and this one has 1
    hint: users refuse an index whose number does not grow: --serial 3
    ");
    publish("HOST/signed/word-f1:0.1.0 --serial 3").exits_with(0);
    let gone = desk.sh("scorebox search reader").exits_with(0);
    assert_eq!(gone.stdout, "", "{gone}");
}

#[test]
fn an_index_that_another_key_signed_is_replaced_only_if_that_is_asked_for() {
    let Some(desk) = desk() else { return };
    let publish = |options: &str| {
        let options = format!("{options} --name team --publish HOST/team/index:1");
        index(&desk, &format!("HOST/signed/word-f1:0.1.0 {options}"))
    };
    publish("--sign team.key").exits_with(0);
    let there = || desk.registry.get("/v2/team/index/manifests/1");
    let of_the_team = there();
    let other = "-o other.json --sign other.key --serial 9";
    assert_snapshot!(publish(other).exits_with(2).stderr, @"
    error: cannot publish at oci://HOST/team/index:1: what is published there is not replaced: another key than RWRO41MtYsl2RdlXwE0LscqUR2+fYw/Ubbl4ZrS9l6UZ1YN1C717wLm/ signed it
    hint: those who use it would find an index that they do not trust: name another tag or, if it is yours to replace, --replace
    ");
    assert_eq!(there(), of_the_team);
    publish("-o other.json --sign other.key --replace").exits_with(0);
    assert_ne!(there(), of_the_team);
    // An index by the same signer may only be replaced by a newer one, with or without the option.
    let older = publish("-o third.json --sign other.key --serial 3 --replace").exits_with(2);
    assert!(older.stderr.contains("an index with the serial number 9 is published"), "{older}");
    let unused = index(&desk, "HOST/signed/word-f1:0.1.0 --replace").exits_with(2);
    assert!(unused.stderr.contains("--publish <ADDRESS>"), "{unused}");
}

#[test]
fn an_index_of_which_the_registry_has_lost_something_is_published_again() {
    let Some(desk) = desk() else { return };
    let publish = || {
        let options = "--name team --sign team.key --publish HOST/team/index:1";
        index(&desk, &format!("HOST/signed/word-f1:0.1.0 {options}")).exits_with(0)
    };
    publish();
    let digest = Digest::of(&fs::read(desk.folder.path("index.json")).unwrap()).to_string();
    fs::remove_file(desk.registry.blob_file(&digest)).unwrap();
    let again = publish();
    assert!(again.stderr.contains("something of it was missing or damaged"), "{again}");
    assert!(desk.registry.blob_file(&digest).exists());
}

#[test]
fn an_index_takes_the_place_of_nothing_else() {
    let Some(desk) = desk() else { return };
    let options =
        "HOST/signed/word-f1:0.1.0 --name team --sign team.key --publish HOST/signed/word-f1:0.1.0";
    assert_snapshot!(index(&desk, options).exits_with(2).stderr, @"
    error: cannot publish at oci://HOST/signed/word-f1:0.1.0: its content is not an index: it is something else
    hint: an index takes the place of an older index only: name another tag
    ");
    desk.write("notes.json", "{\"notes\": 1}");
    let refused = index(&desk, "HOST/signed/word-f1:0.1.0 --name team -o notes.json").exits_with(2);
    assert_snapshot!(refused.stderr, @"
    error: `notes.json` exists and is not an index: missing field `version` at line 1 column 12
    hint: name another file, or delete this one
    ");
    assert_eq!(desk.read("notes.json"), "{\"notes\": 1}");
}

#[test]
fn nothing_is_written_where_a_scorer_is_not_as_it_should_be() {
    let Some(desk) = desk() else { return };
    let refused = |options: &str| {
        let output = index(&desk, &format!("HOST/people/reader:0.1.0 {options}")).exits_with(2);
        assert!(!desk.folder.path("index.json").exists());
        output.stderr
    };
    assert_snapshot!(refused(""), @"
    error: the index has no name
    hint: give it one that stays: --name NAME
    ");
    assert_snapshot!(refused("--name 'a b'"), @"error: this cannot be an index: its `name` must have 1 to 64 letters, digits, `-`, `_` and `.`");
    assert_snapshot!(refused("--name team HOST/people/none:1.0.0"), @"
    error: cannot fetch from HOST: it has no `people/none:1.0.0`
    hint: check the name and the version
    ");
    assert_snapshot!(refused("--name team HOST/people/reader:0.1.0"), @"error: `HOST/people/reader:0.1.0` is named twice");
    // An old scorer is served as a new one.
    let manifest = desk.registry.get("/v2/people/reader/manifests/0.1.0");
    desk.registry.put_manifest("people/reader", "9.0.0", &manifest);
    assert_snapshot!(refused("--name team HOST/people/reader:9.0.0"), @"
    error: `HOST/people/reader:9.0.0`: the component's version is 0.1.0, which differs from its tag
    hint: no index was written: leave it out, or ask its publisher
    ");
    // The signature belongs to another component.
    let mut manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let other = desk.registry.get("/v2/signed/word-f1/manifests/0.1.0");
    let other: Value = serde_json::from_slice(&other).unwrap();
    manifest["annotations"]["scorebox.signature"] =
        other["annotations"]["scorebox.signature"].clone();
    manifest["annotations"]["scorebox.signer"] = other["annotations"]["scorebox.signer"].clone();
    desk.registry.put_manifest("people/reader", "0.1.0", manifest.to_string().as_bytes());
    assert_snapshot!(refused("--name team"), @"
    error: `HOST/people/reader:0.1.0`: its signature is not one of this component by RWThsDRumhUUfC5VoJHIalKvBThGlM4RUCxu1781EmXXoMnlTi2mdWlI
    hint: no index was written: leave it out, or ask its publisher
    ");
}

#[test]
fn who_adds_a_scorer_sees_which_other_its_name_could_be_taken_for() {
    let Some(desk) = desk() else { return };
    configure(&desk);
    index(&desk, &format!("{BOTH} --name team --sign team.key --publish HOST/team/index:1"))
        .exits_with(0);
    publish(&desk, "reader", "people/c0ntains", "other.key");
    publish(&desk, "word-f1", "slgned/word-f1", "other.key");
    let add = |name: &str| {
        let line = format!("HOST/{name}:0.1.0 --yes --as x --grant workspace");
        let output = desk.add(&line).exits_with(0);
        desk.sh("scorebox remove x").exits_with(0);
        let (warnings, _) = output.stderr.split_once("Added").unwrap();
        warnings.to_owned()
    };
    assert_snapshot!(add("people/c0ntains"), @"
    warning: `HOST/people/c0ntains:0.1.0` has a name close to `contains`, which is built in
    hint: be sure that it is the one that you mean
    ");
    assert_eq!(add("slgned/word-f1"), "", "no index was fetched yet");
    desk.sh("scorebox search reader").exits_with(0);
    assert_snapshot!(add("slgned/word-f1"), @"
    warning: `HOST/slgned/word-f1:0.1.0` has the name of `HOST/signed/word-f1`, which the same key did not sign
    hint: be sure that it is the one that you mean
    ");
    assert_eq!(add("signed/word-f1"), "", "it is what the index says");
}

#[test]
fn who_adds_a_scorer_sees_what_an_index_says_otherwise() {
    let Some(desk) = desk() else { return };
    configure(&desk);
    index(&desk, "HOST/people/reader:0.1 --name team --sign team.key --publish HOST/team/index:1")
        .exits_with(0);
    desk.sh("scorebox search reader").exits_with(0);
    // The same tag now has another component, which no one signed.
    let other = desk.registry.get("/v2/team/word-f1/manifests/0.1.0");
    assert!(!String::from_utf8(other).unwrap().contains("scorebox.signer"));
    desk.registry.move_tag("people/reader", "0.1.0", "team/word-f1");
    let added = desk.add("HOST/people/reader:0.1.0 --yes").exits_with(0);
    assert_snapshot!(added.stderr, @"
    warning: the index `team` names another component for `HOST/people/reader:0.1.0`: sha256:[digest]
    warning: the index `team` says that `HOST/people/reader:0.1.0` is signed by RWRO41MtYsl2RdlXwE0LscqUR2+fYw/Ubbl4ZrS9l6UZ1YN1C717wLm/
    Added `word-f1` to suite.toml, locked in scorebox.lock.
    ");
}

#[test]
fn a_signature_that_is_of_the_index_before_is_pointed_out() {
    let Some(desk) = desk() else { return };
    index(&desk, &format!("{BOTH} --name team --sign team.key")).exits_with(0);
    let same = index(&desk, BOTH).exits_with(0);
    assert!(!same.stderr.contains("warning"), "{same}");
    let one = index(&desk, "HOST/people/reader:0.1").exits_with(0);
    let warning = "warning: index.json.minisig is a signature of the index as it was before, with which users refuse this one";
    assert!(one.stderr.contains(warning), "{one}");
}

#[test]
fn a_key_that_cannot_sign_leaves_the_index_and_its_signature() {
    let Some(desk) = desk() else { return };
    index(&desk, &format!("{BOTH} --name team --sign team.key")).exits_with(0);
    desk.write("no.key", "not a key");
    let refused = index(&desk, "oci://HOST/people/reader:0.1 --sign no.key").exits_with(2);
    assert!(refused.stderr.contains("no.key"), "{refused}");
    assert_eq!(serial(&desk), 1);
    assert!(is_signed(&desk));
}
