//! `scorebox add` and `remove` with a real registry: what is shown, what the suite and its lock contain afterwards, and
//! what is refused with nothing changed.

use std::{fs, net::TcpListener};

use insta::{allow_duplicates, assert_snapshot};
use scorebox::digest::Digest;
use serde_json::json;

use crate::{
    oci_registry::with_blobs_elsewhere,
    scorer_desk::{Desk, SUITE, fetched, folder, guest, run, sh, with_example},
};

/// The text without what another compiler changes.
fn without_costs(text: &str) -> String {
    let lines = text.lines().map(|line| match line.trim_start().split_once("fuel ") {
        Some(("", _)) => "              fuel [fuel], time [time]",
        _ if line.starts_with("size ") => "size          [size]",
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_a_person_needs_to_decide_is_shown() {
    let Some(desk) = Desk::new() else { return };
    desk.publish(
        "team/shown",
        &with_example(r#"{"case": {"output": "a b", "groundTruth": "a c"}, "score": 0.5}"#),
    );
    let shown = desk.add("HOST/team/shown:0.1.0 --yes").exits_with(0);
    assert_snapshot!(without_costs(&shown.stdout), @"
    scorer        Word F1 (word-f1), version 0.1.0
                  How many words output and ground truth share: 2 * shared / (words of both).
    from          HOST/team/shown:0.1.0
    component     sha256:[digest]
    size          [size]
    scale         0 to 1, higher-is-better
    severity      soft
    reads         output, groundTruth
    imports       scorebox:scorer/log@0.1.0
                  scorebox:scorer/types@0.1.0
    configuration ignoreCase: true or false (default true): Whether A and a are the same.
                  minimum: number (default 0.0): The least score that is not 0.
    example       scores 0.5000, as it promises; twice the same
                  fuel [fuel], time [time]
    signed by     not signed: nothing proves who published it
    ");
    assert_snapshot!(shown.stderr, @"Added `word-f1` to suite.toml, locked in scorebox.lock.");
}

#[test]
fn on_a_terminal_no_line_of_a_stranger_begins_where_a_label_stands() {
    let Some(desk) = Desk::new() else { return };
    let forged = format!("{}signed by     RWTrusted", "x ".repeat(33));
    desk.write(
        "forged.js",
        &format!(
            "export const info = {{ id: 'forged', version: '1.0.0', description: {forged:?} + '\\n'.repeat(3) + 'line\\n'.repeat(12000), \
             configSchema: {{ type: 'object', properties: {{ max: {{ type: 'integer', description: {forged:?} }} }} }} }};\n\
             export default () => 1;\n"
        ),
    );
    desk.sh("scorebox build forged.js -o forged.wasm && scorebox publish forged.wasm HOST/team/forged:1.0.0 --plain-http")
        .exits_with(0);
    for columns in [60, 80, 100] {
        let shown = |command: &str| {
            let terminal = format!(
                "echo n | script -qec 'stty cols {columns} rows 24; scorebox {command}' /dev/null"
            );
            desk.sh(&terminal).exits_with(0).stdout.replace("\r\n", "\n")
        };
        for command in ["add HOST/team/forged:1.0.0 --plain-http", "inspect forged.wasm"] {
            let shown = shown(command);
            let signed = shown.lines().filter(|line| line.contains("RWTrusted"));
            assert!(signed.clone().count() > 1, "{shown}");
            assert!(signed.clone().all(|line| line.starts_with("        ")), "{shown}");
            assert!(shown.contains("(cut: the whole text has 12,003 lines, 58.7 KiB)"), "{shown}");
            assert!(shown.lines().count() < 150, "{shown}");
        }
    }
}

#[test]
fn the_suite_keeps_its_comments_and_the_lock_says_what_was_shown() {
    let Some(desk) = Desk::new() else { return };
    desk.added();
    let entry = "\n[scorers.word-f1]\nuse = \"oci://HOST/team/word-f1:0.1.0\"\n";
    assert_eq!(desk.read("suite.toml"), format!("{SUITE}{entry}"));
    assert_snapshot!(desk.read("scorebox.lock"), @r#"
    # Which components the suites in this folder use. `scorebox add`, `scorebox update` and `scorebox remove` write it.
    version = 2

    [scorer."HOST/team/word-f1:0.1.0"]
    component = "sha256:[digest]"
    manifest = "sha256:[digest]"
    contract = "0.1.0"
    reads = ["groundTruth"]
    imports = ["scorebox:scorer/log@0.1.0", "scorebox:scorer/types@0.1.0"]
    grants = []
    "#);
    let manifest = desk.registry.get("/v2/team/word-f1/manifests/0.1.0");
    for digest in [Digest::of(&guest("word-f1")), Digest::of(&manifest)] {
        assert!(desk.read("scorebox.lock").contains(&format!("\"sha256:{digest}\"")));
    }
    let kept = fs::read(desk.folder.path(&fetched(&guest("word-f1")))).unwrap();
    assert_eq!(kept, guest("word-f1"));
}

#[test]
fn a_tag_that_moves_is_noticed_by_who_adds_it_again() {
    let Some(desk) = Desk::new() else { return };
    desk.added();
    let other = with_example(r#"{"case": {"output": "a", "groundTruth": "a"}, "score": 1}"#);
    desk.publish("evil/word-f1", &other);
    desk.registry.move_tag("team/word-f1", "0.1.0", "evil/word-f1");
    let files = || (desk.read("suite.toml"), desk.read("scorebox.lock"));
    let before = files();
    for name in ["word-f1", "another"] {
        let refused = desk.add(&format!("HOST/team/word-f1:0.1.0 --yes --as {name}")).exits_with(2);
        allow_duplicates! { assert_snapshot!(refused, @"
        [stderr]
        error: `HOST/team/word-f1:0.1.0` is locked to another component in scorebox.lock: what is published under this version has changed, or the lock was
        hint: a version that changes is a reason to ask its publisher; nothing was changed
        [exit code 2]
        ") };
        assert_eq!(files(), before);
        assert!(!desk.folder.path(&fetched(&other)).exists());
    }
}

#[test]
fn no_redirect_leads_from_tls_to_a_place_without() {
    let folder = folder();
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    plain.set_nonblocking(true).unwrap();
    let place = format!("http://localhost:{}", plain.local_addr().unwrap().port());
    let component = guest("word-f1");
    let digest = format!("sha256:{}", Digest::of(&component));
    let manifest = json!({
        "schemaVersion": 2,
        "config": {"mediaType": "application/vnd.wasm.config.v0+json", "digest": digest, "size": 2},
        "layers": [{"mediaType": "application/wasm", "digest": digest, "size": component.len()}],
    });
    let host = with_blobs_elsewhere(&manifest.to_string(), &format!("{place}/blob"));
    folder.write("authority.pem", include_bytes!("certificates/authority.pem"));
    let add = format!("SSL_CERT_FILE=authority.pem scorebox add {host}/team/word-f1:0.1.0 --yes");
    let refused = sh(&folder, &add).exits_with(2);
    let message = format!("it names a place without TLS, `{place}`, which is not asked");
    assert!(refused.stderr.contains(&message), "{refused}");
    assert!(plain.accept().is_err(), "nobody asked there");
}

#[test]
fn what_a_scorer_needs_is_granted_by_name_or_it_is_not_added() {
    let Some(desk) = Desk::new() else { return };
    desk.publish("team/asker", &guest("asker"));
    for options in ["--yes", "--yes --grant wasi --grant workspace"] {
        let refused = desk.add(&format!("HOST/team/asker:0.1.0 {options}")).exits_with(2);
        assert!(refused.stdout.contains("needs         the grant judge"), "{refused}");
        allow_duplicates! { assert_snapshot!(refused.stderr, @"
        error: it needs the grant judge, which is not given
        hint: if you trust it with that: --grant judge
        ") };
    }
    assert_eq!(desk.read("suite.toml"), SUITE);
    assert!(!desk.folder.path("scorebox.lock").exists());
    desk.add("HOST/team/asker:0.1.0 --yes --grant judge").exits_with(0);
    let entry = "\n[scorers.asker]\nuse = \"oci://HOST/team/asker:0.1.0\"\ngrants = [\"judge\"]\n";
    assert_eq!(desk.read("suite.toml"), format!("{SUITE}{entry}"));
    assert!(desk.read("scorebox.lock").contains("grants = [\"judge\"]"));
}

#[test]
fn a_scorer_has_the_name_that_is_given_to_it() {
    let Some(desk) = Desk::new() else { return };
    desk.add("oci://HOST/team/word-f1:0.1.0 --as words --yes").exits_with(0);
    let entry = "\n[scorers.words]\nuse = \"oci://HOST/team/word-f1:0.1.0\"\n";
    assert_eq!(desk.read("suite.toml"), format!("{SUITE}{entry}"));
    run(&desk.folder).exits_with(0);
    let scores = "SELECT case_id, score FROM scores WHERE scorer_id = 'words' ORDER BY case_id";
    assert_eq!(desk.folder.rows(scores), ["a | 1", "b | 0.5"]);
}

/// The state after a lock was lost: the entry has its own name and configuration.
#[test]
fn an_entry_that_uses_the_scorer_is_locked_whatever_its_name_is() {
    let Some(desk) = Desk::new() else { return };
    desk.add("oci://HOST/team/word-f1:0.1.0 --as words --yes").exits_with(0);
    fs::remove_file(desk.folder.path("scorebox.lock")).unwrap();
    let suite = desk.read("suite.toml");
    desk.add("oci://HOST/team/word-f1:0.1.0 --yes").exits_with(0);
    assert_eq!(desk.read("suite.toml"), suite);
    assert!(desk.read("scorebox.lock").contains("team/word-f1:0.1.0"));
}

#[test]
fn an_entry_whose_address_has_a_variable_is_locked_and_stays_as_it_is() {
    let Some(desk) = Desk::new() else { return };
    let suite = "[scorers.words]\nuse = \"oci://${REGISTRY}/team/word-f1:0.1.0\"\n";
    desk.write("suite.toml", suite);
    let unset = desk.add("HOST/team/word-f1:0.1.0 --yes --as words").exits_with(2);
    assert_snapshot!(unset.stderr, @"
    error: the address of `words` in suite.toml has a variable without a value
    hint: set the variable to lock what the entry uses, or give this scorer another name: --as NAME
    ");
    let run = desk.sh("REGISTRY=HOST scorebox run suite.toml cases.jsonl -q").exits_with(2);
    assert!(run.stderr.contains("scorebox add HOST/team/word-f1:0.1.0 --suite "), "{run}");
    let add = "REGISTRY=HOST scorebox add --plain-http --yes HOST/team/word-f1:0.1.0";
    assert_eq!(
        desk.sh(add).exits_with(0).stderr,
        "Locked `words` of suite.toml in scorebox.lock.\n"
    );
    assert_eq!(desk.read("suite.toml"), suite);
    desk.sh("REGISTRY=HOST scorebox run suite.toml cases.jsonl -q --locked").exits_with(0);
    let update = desk.sh("REGISTRY=HOST scorebox update --plain-http").exits_with(0);
    assert_snapshot!(update.stderr, @"the address of `words` has a variable, which is not edited; it stays as it is");
    let named = desk.sh("REGISTRY=HOST scorebox update words --to 0.2.0").exits_with(2);
    assert_snapshot!(named.stderr, @"
    error: the address of `words` has a variable, which is not edited
    hint: change it by hand, and lock the scorer: scorebox add HOST/team/word-f1:0.2.0 --as words --suite suite.toml
    ");
    desk.write("suite.toml", &suite.replace(":0.1.0", ":0.0.9"));
    let other = desk.sh(&format!("{add} --as words")).exits_with(2);
    assert_snapshot!(other.stderr, @r#"
    error: there is another version of the scorer `words` in suite.toml already
    hint: write `use = "oci://HOST/team/word-f1:0.1.0"` into it by hand, and lock it with this command
    "#);
}

#[test]
fn an_entry_of_a_suite_in_json_is_locked_and_stays_as_it_is() {
    let Some(desk) = Desk::new() else { return };
    desk.publish("team/asker", &guest("asker"));
    let of =
        |uses: &str| format!("{{\"scorers\": {{\"words\": {{\"use\": \"oci://{uses}\"}}}}}}\n");
    let suite = of("HOST/team/word-f1:0.1.0");
    desk.write("suite.json", &suite);
    let run = desk.sh("scorebox fetch suite.json").exits_with(2);
    let add = "scorebox add HOST/team/word-f1:0.1.0 --suite suite.json";
    assert!(run.stderr.contains(add), "{run}");
    let locked = desk.sh(&format!("{add} --plain-http --yes")).exits_with(0);
    assert_eq!(locked.stderr, "Locked `words` of suite.json in scorebox.lock.\n");
    assert_eq!(desk.read("suite.json"), suite);
    desk.sh("scorebox run --suite suite.json cases.jsonl -q --locked").exits_with(0);
    // An entry that is not in the lock was written by hand.
    desk.write("suite.json", &of("HOST/team/asker:0.0.9"));
    let asker = "HOST/team/asker:0.1.0 --suite suite.json --yes --grant judge";
    assert_snapshot!(desk.add(asker).exits_with(2).stderr, @r#"
    error: `suite.json` is a suite in JSON, which is not edited, and its entry `asker` does not use `HOST/team/asker:0.1.0`
    hint: write `"use": "oci://HOST/team/asker:0.1.0"` into it by hand, and lock it with this command
    "#);
    assert_snapshot!(desk.add(&format!("{asker} --as words")).exits_with(2).stderr, @r#"
    error: there is another version of the scorer `words` in suite.json already
    hint: write `"use": "oci://HOST/team/asker:0.1.0"` into it by hand, and lock it with this command
    "#);
    desk.write("suite.json", &of("HOST/team/asker:0.1.0"));
    assert_snapshot!(desk.add(asker).exits_with(0).stderr, @r#"
    Locked `words` of suite.json in scorebox.lock.
    hint: write `"grants": ["judge"]` into its entry, if it is not there
    "#);
}

#[test]
fn a_grant_goes_to_an_entry_that_is_there_and_only_if_it_is_needed() {
    let Some(desk) = Desk::new() else { return };
    desk.publish("team/asker", &guest("asker"));
    let entry = "[scorers.asker] # Ann's\nuse = \"oci://HOST/team/asker:0.1.0\"\n";
    desk.write("suite.toml", entry);
    let add = || desk.add("HOST/team/asker:0.1.0 --yes --grant judge --grant wasi").exits_with(0);
    assert_snapshot!(add().stderr, @"
    Locked `asker` of suite.toml in scorebox.lock.
    Granted `asker` in suite.toml: judge.
    It does not need the grant wasi, which is not written.
    ");
    assert_eq!(desk.read("suite.toml"), format!("{entry}grants = [\"judge\"]\n"));
    assert!(!add().stderr.contains("Granted"), "it is granted already");
    assert_eq!(desk.read("suite.toml"), format!("{entry}grants = [\"judge\"]\n"));
    let unneeded = desk.add("HOST/team/word-f1:0.1.0 --yes --grant judge").exits_with(0);
    assert!(unneeded.stderr.contains("It does not need the grant judge"), "{unneeded}");
    assert!(desk.read("suite.toml").ends_with("use = \"oci://HOST/team/word-f1:0.1.0\"\n"));
}

#[test]
fn who_locks_a_scorer_again_learns_that_what_is_said_about_it_has_changed() {
    let Some(desk) = Desk::new() else { return };
    desk.added();
    desk.folder.write("published.wasm", guest("word-f1"));
    let publish = "scorebox publish published.wasm HOST/other/word-f1:0.1.0 --plain-http";
    desk.sh(&format!("{publish} --license MIT")).exits_with(0);
    let again = || desk.add("HOST/team/word-f1:0.1.0 --yes").exits_with(0).stderr;
    assert!(!again().contains("has changed"));
    desk.registry.move_tag("team/word-f1", "0.1.0", "other/word-f1");
    assert_snapshot!(again(), @"
    Locked `word-f1` of suite.toml in scorebox.lock.
    What is published as `HOST/team/word-f1:0.1.0` has changed since it was locked: the component is the same, what is said about it is not.
    ");
    assert!(!again().contains("has changed"), "it is locked as it is now");
}

#[test]
fn nothing_is_added_that_is_refused_or_not_confirmed() {
    let Some(desk) = Desk::new() else { return };
    desk.added();
    let readonly = desk.folder.path("readonly.toml");
    for (name, text) in [
        ("readonly.toml", SUITE),
        ("suite.json", "{}"),
        ("broken.toml", "[scorers.a]\n[scorers.a\n"),
        ("text.toml", "scorers = 1\n"),
    ] {
        desk.folder.write(name, text);
    }
    let mut permissions = fs::metadata(&readonly).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&readonly, permissions).unwrap();
    desk.publish("team/misbehave", &guest("misbehave"));
    let names =
        ["suite.toml", "scorebox.lock", "readonly.toml", "suite.json", "broken.toml", "text.toml"];
    let files = || names.map(|name| desk.read(name));
    let before = files();
    for (options, message, hint) in [
        (
            "HOST/team/misbehave:0.1.0 --yes --as exact-match",
            "there is another scorer `exact-match` in suite.toml already",
            "--as NAME",
        ),
        ("HOST/team/misbehave:0.1.0", "this is not a terminal", "--yes"),
        ("HOST/team/misbehave:0.1.0 --yes --as 'a b'", "invalid value 'a b'", ""),
        (
            "HOST/team/misbehave:0.1.0 --yes --suite none.toml",
            "there is no suite `none.toml`",
            "an empty file is a suite to begin with",
        ),
        (
            "HOST/team/misbehave:0.1.0 --yes --suite suite.json",
            "`suite.json` is a suite in JSON, which is not edited",
            "suites in TOML are",
        ),
        (
            "HOST/team/misbehave:0.1.0 --yes --suite readonly.toml",
            "`readonly.toml` is read-only",
            "",
        ),
        (
            "HOST/team/misbehave:0.1.0 --yes --suite broken.toml",
            "`broken.toml` is not a valid suite: TOML parse error at line 2",
            "",
        ),
        (
            "HOST/team/misbehave:0.1.0 --yes --suite text.toml",
            "`scorers` in `text.toml` is not a table",
            "",
        ),
        ("HOST/team/none:0.1.0 --yes", "it has no `team/none:0.1.0`", "check the name"),
        ("HOST/team/word-f1:0.2.0 --yes", "it has no `team/word-f1:0.2.0`", "check the name"),
        ("HOST/team/misbehave --yes", "it needs a tag", ""),
        ("team/misbehave:0.1.0 --yes", "host name with a dot", ""),
        ("localhost:1/team/misbehave:0.1.0 --yes", "cannot fetch from localhost:1", "network"),
    ] {
        let refused = desk.add(options).exits_with(2);
        assert!(refused.stderr.contains(message), "{options}: {refused}");
        assert!(refused.stderr.contains(hint), "{options}: {refused}");
        assert_eq!(files(), before, "{options}");
        assert!(!desk.folder.path(&fetched(&guest("misbehave"))).exists(), "{options}");
    }
}

#[test]
fn a_scorer_whose_example_is_not_as_it_says_is_not_added() {
    let Some(desk) = Desk::new() else { return };
    for (name, example, shown, message) in [
        (
            "liar",
            r#"{"case": {"output": "a b", "groundTruth": "a c"}, "score": 1}"#,
            "scores 0.5000, and promises 1.0000; twice the same",
            "the scorer's own example does not have the score that it promises",
        ),
        (
            "failing",
            r#"{"case": {"output": "a b"}, "score": 1}"#,
            "error: ",
            "the scorer's own example does not have the score that it promises",
        ),
        (
            "unset",
            r#"{"config": {"minimum": 2}, "case": {"output": "a"}, "score": 1}"#,
            "it cannot be scored: ",
            "the scorer's own example cannot be scored",
        ),
        (
            "unreadable",
            r#"{"case": "#,
            "it cannot be scored: the example is not one",
            "the scorer's own example cannot be scored",
        ),
    ] {
        desk.publish_unseen(name, &with_example(example));
        let refused = desk.add(&format!("HOST/{name}:0.1.0 --yes")).exits_with(2);
        assert!(refused.stdout.contains(&format!("example       {shown}")), "{refused}");
        assert!(refused.stderr.contains(message), "{refused}");
        assert!(refused.stderr.contains("nothing was changed"), "{refused}");
        assert_eq!(desk.read("suite.toml"), SUITE);
        assert!(!desk.folder.path("scorebox.lock").exists());
        assert!(!desk.folder.path("data").exists());
    }
}

#[test]
fn where_a_component_cannot_be_kept_nothing_is_added_or_fetched() {
    let Some(desk) = Desk::new() else { return };
    desk.folder.write("data", "a file");
    let refused = desk.add("HOST/team/word-f1:0.1.0 --yes").exits_with(2);
    assert_snapshot!(refused.stderr, @"
    error: cannot keep the component in `data/components`: Not a directory (os error 20)
    hint: make it a folder with room that can be written, or name another one in SCOREBOX_DATA_DIR
    ");
    assert_eq!(desk.read("suite.toml"), SUITE);
    assert!(!desk.folder.path("scorebox.lock").exists());
    fs::remove_file(desk.folder.path("data")).unwrap();
    desk.added();
    fs::remove_dir_all(desk.folder.path("data")).unwrap();
    desk.folder.write("data", "a file");
    assert_snapshot!(desk.sh("scorebox fetch --plain-http").exits_with(2).stderr, @"
    error: cannot keep the component in `data/components`: Not a directory (os error 20)
    hint: make it a folder with room that can be written, or name another one in SCOREBOX_DATA_DIR
    ");
    assert_eq!(desk.read("data"), "a file");
}

#[test]
fn the_lock_keeps_what_another_suite_beside_it_uses() {
    let Some(desk) = Desk::new() else { return };
    desk.added();
    let entry = "[scorers.words]\nuse = 'oci://HOST/team/word-f1:0.1.0'\n";
    desk.write("beside.toml", entry);
    let lock = desk.read("scorebox.lock");
    let removed = desk.sh("scorebox remove word-f1").exits_with(0);
    assert_eq!(removed.stderr, "Removed `word-f1` from suite.toml.\n");
    assert_eq!(desk.read("suite.toml"), SUITE);
    assert_eq!(desk.read("scorebox.lock"), lock);
    desk.sh("scorebox run beside.toml cases.jsonl -q").exits_with(0);
    let removed = desk.sh("scorebox remove words --suite beside.toml").exits_with(0);
    assert_eq!(removed.stderr, "Removed `words` from beside.toml and from scorebox.lock.\n");
    assert!(!desk.read("scorebox.lock").contains("word-f1"));
    desk.added();
    assert_eq!(desk.read("scorebox.lock"), lock, "it is the same as it was");
}

#[test]
fn a_scorer_that_is_not_in_the_suite_cannot_be_removed() {
    let folder = folder();
    assert_snapshot!(sh(&folder, "scorebox remove other").exits_with(2), @"
    [stderr]
    error: there is no scorer `other` in suite.toml
    hint: scorers in it: exact-match
    [exit code 2]
    ");
    assert_eq!(fs::read_to_string(folder.path("suite.toml")).unwrap(), SUITE);
    sh(&folder, "scorebox remove exact-match").exits_with(0);
    assert!(!folder.path("scorebox.lock").exists(), "there was nothing to lock");
}

#[test]
fn several_who_add_at_once_lose_nothing_of_each_other() {
    let Some(desk) = Desk::new() else { return };
    desk.publish("team/asker", &guest("asker"));
    let line = "for n in 1 2 3 4 5 6; do \
         scorebox add --plain-http HOST/team/word-f1:0.1.0 --as words-$n --yes & \
         scorebox add --plain-http HOST/team/asker:0.1.0 --as asker-$n --grant judge --yes & \
         done; wait";
    desk.sh(line).exits_with(0);
    let (suite, lock) = (desk.read("suite.toml"), desk.read("scorebox.lock"));
    for n in 1..=6 {
        assert!(suite.contains(&format!("[scorers.words-{n}]")), "{suite}");
        assert!(suite.contains(&format!("[scorers.asker-{n}]")), "{suite}");
    }
    assert_eq!(lock.matches("[scorer.").count(), 2, "{lock}");
}

#[test]
fn a_name_that_an_included_file_has_is_not_given_again() {
    let Some(desk) = Desk::new() else { return };
    desk.write("base.toml", "[scorers.word-f1]\nuse = \"exact-match\"\n");
    let suite = format!("include = [\"base.toml\"]\n{SUITE}");
    desk.write("suite.toml", &suite);
    assert_snapshot!(desk.add("HOST/team/word-f1:0.1.0 --yes").exits_with(2), @"
    [stderr]
    error: there is another scorer `word-f1` in base.toml already, which suite.toml includes
    hint: give this one another name: --as NAME
    [exit code 2]
    ");
    assert_eq!(desk.read("suite.toml"), suite);
    desk.add("HOST/team/word-f1:0.1.0 --as words --yes").exits_with(0);
}

#[test]
fn the_configuration_of_docker_is_not_passed_over_if_it_is_not_valid() {
    let Some(desk) = Desk::new() else { return };
    desk.folder.write("docker/config.json", "{\"auths\": {");
    let refused = desk.add("HOST/team/word-f1:0.1.0 --yes").exits_with(2);
    assert_snapshot!(refused.stderr, @"
    error: cannot fetch from HOST: the login that is stored for it cannot be used: Docker's configuration, `docker/config.json`, is not valid JSON
    hint: correct that file, or `docker login HOST` again
    ");
    desk.folder.write("docker/config.json", "{}");
    desk.added();
}

#[test]
fn a_configuration_of_docker_that_cannot_be_read_matters_only_where_a_login_is_wanted() {
    let Some(desk) = Desk::new() else { return };
    // An error of the system that also affects root.
    desk.sh("mkdir docker/config.json").exits_with(0);
    let added = desk.add("HOST/team/word-f1:0.1.0 --yes").exits_with(0);
    let warning = "warning: the login that may be stored for HOST cannot be read (`docker/config.json`: Is a directory (os error 21)); it is asked without one\n";
    assert!(added.stderr.starts_with(warning), "{added}");
}

#[test]
fn why_there_is_no_connection_is_said_with_what_stands_in_between() {
    let Some(desk) = Desk::new() else { return };
    let refused = |settings: &str, address: &str| {
        let add = format!("{settings} scorebox add {address}/team/word-f1:0.1.0 --yes");
        desk.sh(&add).exits_with(2).stderr
    };
    let proxy = "HTTPS_PROXY=http://user:secret@localhost:1 NO_PROXY=";
    assert_snapshot!(refused(proxy, "registry.test"), @"
    error: cannot fetch from registry.test: through the proxy localhost:1: cannot reach it: Connection refused (os error 111)
    hint: HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names this proxy: correct that or, for a host that is reached without one, add it to NO_PROXY
    ");
    assert_snapshot!(refused("HTTPS_PROXY=:::", "registry.test"), @"error: cannot fetch from registry.test: cannot prepare connections: HTTPS_PROXY has no address of an HTTP proxy, such as `http://HOST:PORT`");
    assert_snapshot!(refused("SSL_CERT_FILE=none.pem", "localhost:1"), @"error: cannot fetch from localhost:1: cannot prepare connections: `none.pem`, which SSL_CERT_FILE names, cannot be read: No such file or directory (os error 2)");
    let authority = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/certificates/authority.pem");
    let trusting = format!("SSL_CERT_FILE={authority}");
    assert_snapshot!(refused(&trusting, "localhost:1"), @"
    error: cannot fetch from localhost:1: cannot reach it: Connection refused (os error 111)
    hint: check the registry's name and the network
    ");
    assert_snapshot!(refused(&trusting, "HOST"), @"
    error: cannot fetch from HOST: it answers without TLS
    hint: a registry without TLS, such as one for a test, needs --plain-http: anyone in between can change what it sends
    ");
}

#[test]
fn an_empty_variable_does_not_name_the_configuration_of_docker() {
    let Some(desk) = Desk::new() else { return };
    // The home has no configuration, and this one is not read.
    desk.folder.write("config.json", "{");
    desk.sh("DOCKER_CONFIG= scorebox add HOST/team/word-f1:0.1.0 --yes --plain-http").exits_with(0);
}
