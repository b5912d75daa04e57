//! `scorebox.lock` and `scorebox fetch`: the components that a run uses, whatever happens to a registry, a folder of
//! components or the lock.

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader},
    process,
};

use insta::{allow_duplicates, assert_snapshot};
use scorebox::digest::Digest;

use crate::scorer_desk::{Desk, SUITE, fetched, guest, run, scores, sh, with_example};

#[test]
fn a_suite_with_locked_scorers_needs_no_registry() {
    let Some(desk) = Desk::new() else { return };
    desk.added();
    let Desk { registry, folder } = desk;
    drop(registry);
    run(&folder).exits_with(0);
    assert_eq!(scores(&folder), ["a | 1", "b | 0.5"]);
    for line in [
        "scorebox verify",
        "scorebox suite check suite.toml",
        "scorebox compile suite.toml",
        "scorebox fetch",
        "scorebox run suite.toml cases.jsonl -q --reuse",
    ] {
        sh(&folder, line).exits_with(0);
    }
}

#[test]
fn a_component_that_is_not_on_this_machine_is_fetched_by_its_digest() {
    let Some(desk) = Desk::new() else { return };
    desk.added();
    fs::remove_dir_all(desk.folder.path("data")).unwrap();
    assert_snapshot!(desk.sh("scorebox run suite.toml cases.jsonl -q").exits_with(2), @"
    [stderr]
    error: suite.toml:7:10: the component of `HOST/team/word-f1:0.1.0` is not on this machine (sha256:[digest])
    hint: fetch what the suite's scorebox.lock names: scorebox fetch suite.toml
    [exit code 2]
    ");
    let fetch = "scorebox fetch suite.toml --plain-http";
    assert_snapshot!(desk.sh(fetch).exits_with(0), @"
    fetched 1 scorer; 0 already there
    [exit code 0]
    ");
    assert_snapshot!(desk.sh(fetch).exits_with(0), @"
    fetched 0 scorers; 1 already there
    [exit code 0]
    ");
    run(&desk.folder).exits_with(0);
    assert_eq!(scores(&desk.folder), ["a | 1", "b | 0.5"]);
}

#[test]
fn a_scorer_that_cannot_be_fetched_is_named_and_the_others_are_fetched() {
    let Some(desk) = Desk::new() else { return };
    for name in ["asker", "misbehave"] {
        desk.publish(&format!("team/{name}"), &guest(name));
        desk.add(&format!("HOST/team/{name}:0.1.0 --yes --as its-{name} --grant judge"))
            .exits_with(0);
    }
    desk.added();
    fs::remove_dir_all(desk.folder.path("data")).unwrap();
    let [missing, damaged] =
        ["asker", "misbehave"].map(guest).map(|it| Digest::of(&it).to_string());
    fs::remove_file(desk.registry.blob_file(&missing)).unwrap();
    fs::write(desk.registry.blob_file(&damaged), "other").unwrap();
    assert_snapshot!(desk.sh("scorebox fetch --plain-http").exits_with(2), @"
    fetched 1 scorer; 0 already there
    [stderr]
    error: `its-asker`: cannot fetch from HOST: it has no component with the digest [digest]
    hint: its publisher has removed it, or the lock was changed by hand
    error: `its-misbehave`: cannot fetch from HOST: it sends other bytes than those with the digest [digest]
    hint: these bytes were not kept: the registry is damaged, or someone in between changes what it sends
    [exit code 2]
    ");
    assert!(desk.folder.path(&fetched(&guest("word-f1"))).exists());
    assert_eq!(fs::read_dir(desk.folder.path("data/components")).unwrap().count(), 1);
}

#[test]
fn a_tag_that_moves_changes_no_suite_that_is_locked() {
    let Some(desk) = Desk::new() else { return };
    desk.added();
    let lock = desk.read("scorebox.lock");
    let other = with_example(r#"{"case": {"output": "a", "groundTruth": "a"}, "score": 1}"#);
    desk.publish("evil/word-f1", &other);
    desk.registry.move_tag("team/word-f1", "0.1.0", "evil/word-f1");
    fs::remove_dir_all(desk.folder.path("data")).unwrap();
    desk.sh("scorebox fetch --plain-http").exits_with(0);
    assert!(desk.folder.path(&fetched(&guest("word-f1"))).exists());
    assert!(!desk.folder.path(&fetched(&other)).exists());
    run(&desk.folder).exits_with(0);
    let used =
        desk.folder.rows("SELECT DISTINCT scorer_digest FROM scores WHERE scorer_id = 'word-f1'");
    assert_eq!(used, [Digest::of(&guest("word-f1")).to_string()]);
    assert_eq!(desk.read("scorebox.lock"), lock);
}

#[test]
fn an_entry_whose_lock_is_lost_is_locked_again_as_it_was() {
    let Some(desk) = Desk::new() else { return };
    desk.added();
    let (suite, lock) = (desk.read("suite.toml"), desk.read("scorebox.lock"));
    fs::remove_file(desk.folder.path("scorebox.lock")).unwrap();
    let locked = desk.add("HOST/team/word-f1:0.1.0 --yes").exits_with(0);
    assert_snapshot!(locked.stderr, @"Locked `word-f1` of suite.toml in scorebox.lock.");
    assert_eq!((desk.read("suite.toml"), desk.read("scorebox.lock")), (suite, lock));
}

#[test]
fn the_name_of_a_registry_is_the_same_in_any_case() {
    let Some(desk) = Desk::new() else { return };
    desk.added();
    let (suite, lock) = (desk.read("suite.toml"), desk.read("scorebox.lock"));
    let capitals = desk.registry.host().replace("localhost", "LocalHost");
    let written = suite.replace("oci://HOST", &format!("oci://{capitals}"));
    assert_ne!(written, suite);
    desk.write("suite.toml", &written);
    desk.sh("scorebox run suite.toml cases.jsonl -q --locked").exits_with(0);
    desk.sh("scorebox fetch --locked --offline").exits_with(0);
    let again = desk.add(&format!("{capitals}/team/word-f1:0.1.0 --yes")).exits_with(0);
    assert_eq!(again.stderr, "Locked `word-f1` of suite.toml in scorebox.lock.\n");
    assert_eq!((desk.read("suite.toml"), desk.read("scorebox.lock")), (written, lock));
    desk.sh("scorebox remove word-f1").exits_with(0);
    assert!(!desk.read("scorebox.lock").contains("word-f1"));
}

#[test]
fn what_is_laid_over_an_included_scorer_leaves_it_to_the_lock_beside_its_own_file() {
    let Some(desk) = Desk::new() else { return };
    fs::create_dir(desk.folder.path("base")).unwrap();
    desk.folder.write("base/suite.toml", SUITE);
    desk.add("HOST/team/word-f1:0.1.0 --yes --suite base/suite.toml").exits_with(0);
    let laid = "include = [\"base/suite.toml\"]\n[scorers.word-f1]\nconfig = { minimum = 0.75 }\n";
    desk.folder.write("suite.toml", laid);
    run(&desk.folder).exits_with(0);
    assert_eq!(scores(&desk.folder), ["a | 1", "b | 0"]);
}

#[test]
fn one_address_is_one_component_in_a_suite_that_includes_two_folders() {
    let Some(desk) = Desk::new() else { return };
    desk.added();
    let other = with_example(r#"{"case": {"output": "a", "groundTruth": "a"}, "score": 1}"#);
    desk.publish("evil/word-f1", &other);
    desk.registry.move_tag("team/word-f1", "0.1.0", "evil/word-f1");
    fs::create_dir(desk.folder.path("another")).unwrap();
    desk.folder.write("another/suite.toml", "");
    let options = "--yes --as words --suite another/suite.toml";
    let added = desk.add(&format!("HOST/team/word-f1:0.1.0 {options}")).exits_with(0);
    assert!(added.stdout.contains(&Digest::of(&other).to_string()), "{added}");
    desk.folder.write("both.toml", "include = [\"suite.toml\", \"another/suite.toml\"]\n");
    let both = desk.sh("scorebox run both.toml cases.jsonl -q");
    assert_snapshot!(both.exits_with(2), @"
    [stderr]
    error: `HOST/team/word-f1:0.1.0` is locked to one component in `scorebox.lock` and to another in `another/scorebox.lock`
    hint: lock both to the same component
    [exit code 2]
    ");
}

#[test]
fn two_suites_use_the_components_of_their_own_locks() {
    let Some(desk) = Desk::new() else { return };
    desk.added();
    let other = with_example(r#"{"case": {"output": "a", "groundTruth": "a"}, "score": 1}"#);
    desk.publish("other/word-f1", &other);
    desk.registry.move_tag("team/word-f1", "0.1.0", "other/word-f1");
    fs::create_dir(desk.folder.path("another")).unwrap();
    desk.folder.write("another/suite.toml", "");
    desk.add("HOST/team/word-f1:0.1.0 --yes --suite another/suite.toml").exits_with(0);
    for (suite, component) in [("suite.toml", guest("word-f1")), ("another/suite.toml", other)] {
        desk.sh(&format!("scorebox run {suite} cases.jsonl -q --db {suite}.db")).exits_with(0);
        let database = desk.folder.database(&format!("{suite}.db"));
        let query = "SELECT DISTINCT scorer_digest FROM scores WHERE scorer_id = 'word-f1'";
        let used: String = database.query_row(query, [], |row| row.get(0)).unwrap();
        assert_eq!(used, Digest::of(&component).to_string(), "{suite}");
    }
}

#[test]
fn a_component_whose_file_was_changed_is_not_used_and_fetched_again() {
    let Some(desk) = Desk::new() else { return };
    desk.added();
    let file = fetched(&guest("word-f1"));
    let mut bytes = guest("word-f1");
    *bytes.last_mut().unwrap() ^= 1;
    for damaged in [&bytes[..], &bytes[..1000], b""] {
        desk.folder.write(&file, damaged);
        let refused = desk.sh("scorebox run suite.toml cases.jsonl -q").exits_with(2);
        allow_duplicates! { assert_snapshot!(refused, @"
        [stderr]
        error: suite.toml:7:10: `data/components/[digest].wasm` is damaged: it is not the component that `HOST/team/word-f1:0.1.0` is locked to
        hint: fetch what the suite's scorebox.lock names: scorebox fetch suite.toml
        [exit code 2]
        ") };
    }
    let fetched = desk.sh("scorebox fetch --plain-http").exits_with(0);
    assert_eq!(fetched.stdout, "fetched 1 scorer; 0 already there\n");
    run(&desk.folder).exits_with(0);
    assert_eq!(scores(&desk.folder), ["a | 1", "b | 0.5"]);
}

#[test]
fn what_stands_in_the_place_of_a_components_file_is_not_waited_for_and_replaced() {
    let Some(desk) = Desk::new() else { return };
    desk.added();
    let file = fetched(&guest("word-f1"));
    for make in ["mkfifo", "mkdir"] {
        desk.sh(&format!("rm {file} && {make} {file}")).exits_with(0);
        let refused = desk.sh("scorebox run suite.toml cases.jsonl -q").exits_with(2);
        assert!(refused.stderr.contains("is damaged: it is not the component"), "{refused}");
        let fetched = desk.sh("scorebox fetch --plain-http").exits_with(0);
        assert_eq!(fetched.stdout, "fetched 1 scorer; 0 already there\n");
    }
    desk.sh(&format!("rm {file} && mkdir -p {file}/kept")).exits_with(0);
    assert_snapshot!(desk.sh("scorebox fetch --plain-http").exits_with(2).stderr, @"
    error: cannot keep the component in `data/components`: the folder `[digest].wasm` is in its place: Directory not empty (os error 39)
    hint: remove that folder
    ");
}

#[test]
fn a_lock_that_was_edited_by_hand_is_refused() {
    let Some(desk) = Desk::new() else { return };
    desk.added();
    desk.publish("team/misbehave", &guest("misbehave"));
    desk.add("HOST/team/misbehave:0.1.0 --yes").exits_with(0);
    desk.sh("scorebox remove misbehave").exits_with(0);
    let lock = desk.read("scorebox.lock");
    let digest = |bytes: &[u8]| Digest::of(bytes).to_string();
    let truth = "reads = [\"groundTruth\"]";
    let own = digest(&guest("word-f1"));
    for (from, to, message) in [
        (
            truth,
            "reads = []",
            "in addition to the output it reads groundTruth; the lock says nothing",
        ),
        (truth, "reads = [\"context\", \"groundTruth\"]", "in addition to the output it reads "),
        (
            "imports = [",
            "imports = [\"wasi:io/poll@0.2.0\", ",
            "it imports scorebox:scorer/log@0.1.0, scorebox:scorer/types@0.1.0; the lock says wasi:io",
        ),
        ("grants = []", "grants = [\"judge\"]", "it needs the grants nothing; the lock says judge"),
        (
            "contract = \"0.1.0\"",
            "contract = \"0.1.1\"",
            "it is of version 0.1.0 of the contract; the lock says 0.1.1",
        ),
        (&own, &digest(&guest("misbehave")), "in addition to the output it reads "),
        (&own, &digest(b"unknown"), "is not on this machine"),
        ("component = \"sha256:", "component = \"sha256:0", "64 hexadecimal digits"),
        ("component = \"sha256:", "component = \"sha256:../", "64 hexadecimal digits"),
        ("grants = []", "grants = []\nallowed = true", "line 11: unknown field `allowed`"),
    ] {
        let edited = lock.replace(from, to);
        assert_ne!(edited, lock, "{from}");
        desk.write("scorebox.lock", &edited);
        for line in
            ["run suite.toml cases.jsonl -q", "compile suite.toml", "suite check suite.toml"]
        {
            let refused = desk.sh(&format!("scorebox {line}")).exits_with(2);
            assert!(refused.stderr.contains(message), "{line}: {from}: {refused}");
            assert!(refused.stderr.contains("hint: "), "{line}: {from}: {refused}");
        }
    }
    assert!(!desk.folder.path("scorebox.db").exists(), "nothing was scored");
    desk.write("scorebox.lock", &lock);
    run(&desk.folder).exits_with(0);
}

#[test]
fn a_lock_that_is_missing_stale_newer_or_half_merged_is_named_with_what_to_do() {
    let Some(desk) = Desk::new() else { return };
    desk.added();
    let lock = desk.read("scorebox.lock");
    let refused = |line: &str| desk.sh(&format!("scorebox {line}")).exits_with(2);
    fs::remove_file(desk.folder.path("scorebox.lock")).unwrap();
    assert_snapshot!(refused("run suite.toml cases.jsonl -q"), @"
    [stderr]
    error: suite.toml:7:10: `HOST/team/word-f1:0.1.0` is not locked to a component
    hint: look at it and lock it: scorebox add HOST/team/word-f1:0.1.0 --suite suite.toml
    [exit code 2]
    ");
    assert_snapshot!(refused("fetch --plain-http"), @"
    [stderr]
    error: scorer `word-f1`: `HOST/team/word-f1:0.1.0` is not in `scorebox.lock`
    hint: look at it and lock it: scorebox add HOST/team/word-f1:0.1.0 --suite suite.toml
    [exit code 2]
    ");
    desk.write("scorebox.lock", &lock.replace("word-f1:0.1.0", "word-f1:0.2.0"));
    assert_snapshot!(refused("run suite.toml cases.jsonl -q"), @"
    [stderr]
    error: suite.toml:7:10: `HOST/team/word-f1:0.1.0` is not locked to a component
    hint: look at it and lock it: scorebox add HOST/team/word-f1:0.1.0 --suite suite.toml
    [exit code 2]
    ");
    desk.write("scorebox.lock", &lock.replace("version = 2", "version = 3"));
    assert_snapshot!(refused("run suite.toml cases.jsonl -q"), @"
    [stderr]
    error: `scorebox.lock` is not a valid lock: it has version 3 of the format; this scorebox reads versions 1 to 2
    hint: a newer scorebox wrote it: update scorebox
    [exit code 2]
    ");
    let (head, table) = lock.split_once("[scorer.").unwrap();
    let merged =
        format!("{head}<<<<<<< HEAD\n[scorer.{table}=======\n[scorer.{table}>>>>>>> theirs\n");
    desk.write("scorebox.lock", &merged);
    assert_snapshot!(refused("run suite.toml cases.jsonl -q"), @"
    [stderr]
    error: `scorebox.lock` is not a valid lock: line 4: key with no value, expected `=`
    hint: restore it from version control; a merge that git could not finish is one of the causes
    [exit code 2]
    ");
    for line in [
        "fetch --plain-http",
        "add HOST/team/word-f1:0.1.0 --as other --yes --plain-http",
        "remove word-f1",
    ] {
        let output = refused(line);
        assert!(output.stderr.contains("is not a valid lock"), "{line}: {output}");
    }
    assert_eq!(desk.read("scorebox.lock"), merged);
    assert!(desk.read("suite.toml").contains("[scorers.word-f1]"));
}

#[test]
fn the_lock_keeps_what_a_suite_uses_however_that_is_written() {
    let Some(desk) = Desk::new() else { return };
    desk.added();
    let lock = desk.read("scorebox.lock");
    let (escaped, in_variable) =
        ("oci:\\u002F/HOST/team/word-f1:0.1.0", "oci://${REGISTRY}/team/word-f1:0.1.0");
    for (other, entry, variable) in [
        ("other.toml", format!("[scorers.words]\nuse = \"{escaped}\"\n"), "A=b"),
        (
            "other.json",
            format!("{{\"scorers\": {{\"words\": {{\"use\": \"{escaped}\"}}}}}}"),
            "A=b",
        ),
        ("other.toml", format!("[scorers.words]\nuse = \"{in_variable}\"\n"), "REGISTRY=HOST"),
        // `REGISTRY` is not set, so the address may be any.
        ("other.toml", format!("[scorers.words]\nuse = \"{in_variable}\"\n"), "A=b"),
        (
            "other.toml",
            "[scorers.words]\nuse = \"oci://HOST/team/word-f1:0.1.0\nweight\n".to_owned(),
            "A=b",
        ),
    ] {
        desk.write(other, &entry);
        let removed = desk.sh(&format!("{variable} scorebox remove word-f1")).exits_with(0);
        assert_eq!(removed.stderr, "Removed `word-f1` from suite.toml.\n", "{entry}");
        assert_eq!(desk.read("scorebox.lock"), lock, "{entry}");
        let run = format!("{variable} scorebox run suite.toml cases.jsonl -q --locked");
        desk.sh(&run).exits_with(0);
        desk.added();
        fs::remove_file(desk.folder.path(other)).unwrap();
    }
    desk.write("other.toml", &format!("[scorers.words]\nuse = \"{in_variable}\"\n"));
    let removed = desk.sh("REGISTRY=elsewhere.test scorebox remove word-f1").exits_with(0);
    assert!(removed.stderr.ends_with("and from scorebox.lock.\n"), "{removed}");
}

#[test]
fn the_lock_keeps_what_is_used_by_a_suite_of_any_name_and_by_what_it_includes() {
    let Some(desk) = Desk::new() else { return };
    desk.write("suite.conf", "include = [\"base.conf\"]\n");
    desk.write("base.conf", "[scorers.base]\nuse = \"oci://HOST/team/word-f1:0.1.0\"\n");
    let add = desk.add("HOST/team/word-f1:0.1.0 --as words --suite suite.conf --yes");
    add.exits_with(0);
    desk.sh("scorebox fetch suite.conf --offline --locked").exits_with(0);
    let removed = desk.sh("scorebox remove words --suite suite.conf").exits_with(0);
    assert_eq!(removed.stderr, "Removed `words` from suite.conf.\n");
    desk.sh("scorebox fetch suite.conf --offline --locked").exits_with(0);
    desk.sh("scorebox update --suite suite.conf --plain-http").exits_with(0);
    desk.sh("scorebox fetch suite.conf --offline --locked").exits_with(0);
}

#[test]
fn while_a_file_beside_it_cannot_be_read_the_lock_keeps_all() {
    let Some(desk) = Desk::new() else { return };
    desk.added();
    let lock = desk.read("scorebox.lock");
    // An error of the system that also affects root.
    desk.sh("ln -s other.toml other.toml").exits_with(0);
    let removed = desk.sh("scorebox remove word-f1").exits_with(0);
    assert_eq!(removed.stderr, "Removed `word-f1` from suite.toml.\n");
    let updated = desk.sh("scorebox update --plain-http").exits_with(0);
    assert_eq!(updated.stderr, "the suite file uses no published scorers\n");
    assert_eq!(desk.read("scorebox.lock"), lock);
    // A path that leads nowhere, or a file that is not text, is not a suite.
    desk.sh("ln -sf gone other.toml; printf '\\377' > data.json; mkfifo pipe.json").exits_with(0);
    let updated = desk.sh("timeout 60 scorebox update --plain-http").exits_with(0);
    assert!(updated.stderr.ends_with("no suite uses it.\n"), "{updated}");
}

#[test]
fn a_lock_that_is_a_pipe_is_refused_at_once() {
    let folder = crate::scorer_desk::folder();
    let text = format!("{SUITE}[scorers.words]\nuse = \"oci://a.test/words:1.0.0\"\n");
    folder.write("suite.toml", text);
    sh(&folder, "mkfifo scorebox.lock").exits_with(0);
    for line in ["run suite.toml cases.jsonl -q", "remove words"] {
        let refused = sh(&folder, &format!("timeout 60 scorebox {line}")).exits_with(2);
        assert!(refused.stderr.contains("`scorebox.lock` is not a regular file"), "{refused}");
    }
}

#[test]
fn who_waits_for_another_command_sees_for_which_in_a_pipe_too() {
    let folder = crate::scorer_desk::folder();
    folder.write("suite.toml", SUITE);
    let held = File::open(folder.path("")).unwrap();
    held.lock().unwrap();
    let mut removing = folder.spawn("scorebox remove words");
    let mut said = String::new();
    let mut stderr = BufReader::new(removing.stderr.take().unwrap());
    stderr.read_line(&mut said).unwrap();
    let waiting = "waiting for another command that changes suites and scorebox.lock in `.`";
    let holder = format!("(process {}: ", process::id());
    assert!(said.starts_with(waiting) && said.contains(&holder), "{said}");
    drop(held);
    stderr.read_line(&mut said).unwrap();
    assert!(said.contains("no scorer `words`"), "{said}");
    assert_eq!(removing.wait().unwrap().code(), Some(2));
}

#[test]
fn a_component_of_another_version_than_its_address_is_refused() {
    let Some(desk) = Desk::new() else { return };
    desk.added();
    for name in ["suite.toml", "scorebox.lock"] {
        desk.write(name, &desk.read(name).replace("word-f1:0.1.0", "word-f1:0.2.0"));
    }
    let refused = desk.sh("scorebox run suite.toml cases.jsonl -q").exits_with(2);
    assert_snapshot!(refused.stderr, @"
    error: `HOST/team/word-f1:0.2.0` is not what it is locked as: the component's version is 0.1.0, which differs from its address
    hint: scorebox.lock was changed by hand: take back the change or, to lock the scorer again after a look at it, delete its table there and `scorebox add HOST/team/word-f1:0.2.0`
    ");
    let audited = desk.sh("scorebox audit --format json").exits_with(3).json();
    let lock = audited.as_array().unwrap().iter().find(|check| check["check"] == "lock").unwrap();
    assert!(
        lock["message"].as_str().unwrap().contains("the component's version is 0.1.0"),
        "{lock}"
    );
}
