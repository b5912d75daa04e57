//! `scorebox add`, `fetch` and `remove` with a real registry: what is shown, what a suite and its lock say then, what a run
//! uses, and what is refused with nothing changed.

use std::{fs, net::TcpListener, path::PathBuf};

use insta::{allow_duplicates, assert_snapshot};
use scorebox::{digest::Digest, registry::component_file_name};
use serde_json::json;
use wasm_encoder::{ComponentSection as _, CustomSection};

use crate::{
    fixture::{Folder, Output},
    oci_registry::{Door, OciRegistry, with_blobs_elsewhere},
};

pub(crate) const SUITE: &str =
    "# What we expect.\nversion = 1\n\n[scorers.exact-match] # strict\nname = \"The same\"\n";

/// `word-f1` scores them 1 and 0.5.
const CASES: &str = r#"{"id": "a", "output": "one two", "groundTruth": "one two"}
{"id": "b", "output": "one two", "groundTruth": "one three"}
"#;

/// A registry with `team/word-f1:0.1.0`, and a folder in which nobody has logged in there and nothing is fetched yet.
pub(crate) struct Desk {
    pub registry: OciRegistry,
    pub folder: Folder,
}

impl Desk {
    /// `None` if no registry is installed.
    pub(crate) fn new() -> Option<Desk> {
        let registry = OciRegistry::start(Door::Open)?;
        let desk = Desk { registry, folder: folder() };
        desk.publish("team/word-f1", &guest("word-f1"));
        Some(desk)
    }

    pub(crate) fn publish(&self, name: &str, component: &[u8]) {
        self.folder.write("published.wasm", component);
        self.sh(&format!("scorebox publish published.wasm HOST/{name}:0.1.0 --plain-http"))
            .exits_with(0);
    }

    /// Runs a line of shell in which `HOST` is the registry, as it is in what comes out.
    pub(crate) fn sh(&self, line: &str) -> Output {
        let host = self.registry.host();
        let output = sh(&self.folder, &line.replace("HOST", &host));
        let named = |text: String| text.replace(&host, "HOST");
        Output { stdout: named(output.stdout), stderr: named(output.stderr), code: output.code }
    }

    pub(crate) fn add(&self, options: &str) -> Output {
        self.sh(&format!("scorebox add --plain-http {options}"))
    }

    /// Adds `word-f1` to the suite.
    fn added(&self) {
        self.add("HOST/team/word-f1:0.1.0 --yes").exits_with(0);
    }

    /// The text of a file, in which `HOST` is the registry.
    pub(crate) fn read(&self, name: &str) -> String {
        let text = fs::read_to_string(self.folder.path(name)).unwrap();
        text.replace(&self.registry.host(), "HOST")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        self.folder.write(name, text.replace("HOST", &self.registry.host()));
    }
}

/// A folder with a suite and cases.
fn folder() -> Folder {
    let folder = Folder::new();
    for name in ["docker", "home"] {
        fs::create_dir(folder.path(name)).unwrap();
    }
    folder.write("suite.toml", SUITE);
    folder.write("cases.jsonl", CASES);
    folder
}

/// A line of shell for which the folder has all that a user has.
fn sh(folder: &Folder, line: &str) -> Output {
    let settings = "DOCKER_CONFIG=docker HOME=home XDG_RUNTIME_DIR=docker SCOREBOX_DATA_DIR=data";
    folder.sh(&format!("unset REGISTRY_AUTH_FILE; export {settings}; {line}"))
}

fn run(folder: &Folder) -> Output {
    sh(folder, "scorebox run suite.toml cases.jsonl -q")
}

/// What the locked scorer gave in all runs.
fn scores(folder: &Folder) -> Vec<String> {
    folder.rows("SELECT case_id, score FROM scores WHERE scorer_id = 'word-f1' ORDER BY case_id")
}

/// A component of the test guests.
pub(crate) fn guest(name: &str) -> Vec<u8> {
    let guests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/guests/dist");
    fs::read(guests.join(format!("{name}.wasm"))).unwrap()
}

/// `word-f1` with an example.
pub(crate) fn with_example(example: &str) -> Vec<u8> {
    let mut component = guest("word-f1");
    let (name, data) = ("scorebox:example".into(), example.as_bytes().into());
    CustomSection { name, data }.append_to_component(&mut component);
    component
}

/// The file of a component in the folder of those that were fetched.
fn fetched(component: &[u8]) -> String {
    format!("data/components/{}", component_file_name(Digest::of(component)))
}

/// Without what another compiler changes.
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
    reads         output, groundTruth
    imports       scorebox:scorer/log@0.1.0
                  scorebox:scorer/types@0.1.0
    configuration ignoreCase: true or false (default true): Whether A and a are the same.
                  minimum: number (default 0.0): The least score that is not 0.
    example       scores 0.5000, as it promises; twice the same
                  fuel [fuel], time [time]
    signed by     nobody: nothing proves who published it
    ");
    assert_snapshot!(shown.stderr, @"Added `word-f1` to suite.toml, locked in scorebox.lock.");
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
    hint: fetch what the suite's scorebox.lock names: scorebox fetch SUITE
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
        error: `HOST/team/word-f1:0.1.0` is locked to another component in scorebox.lock: what is published under this version has changed
        hint: a version that changes is a reason to ask its publisher; nothing was added
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
        hint: fetch what the suite's scorebox.lock names: scorebox fetch SUITE
        [exit code 2]
        ") };
    }
    let fetched = desk.sh("scorebox fetch --plain-http").exits_with(0);
    assert_eq!(fetched.stdout, "fetched 1 scorer; 0 already there\n");
    run(&desk.folder).exits_with(0);
    assert_eq!(scores(&desk.folder), ["a | 1", "b | 0.5"]);
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
        (truth, "reads = []", "besides the output it reads groundTruth; the lock says nothing"),
        (truth, "reads = [\"context\", \"groundTruth\"]", "besides the output it reads "),
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
        (&own, &digest(&guest("misbehave")), "besides the output it reads "),
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
    error: suite.toml:7:10: it is not locked which component `HOST/team/word-f1:0.1.0` is
    hint: add it to the suite after a look at it: scorebox add REGISTRY/NAME:VERSION --suite FILE
    [exit code 2]
    ");
    assert_snapshot!(refused("fetch --plain-http"), @"
    [stderr]
    error: scorer `word-f1`: it is not locked which component `HOST/team/word-f1:0.1.0` is
    hint: lock it after a look at it: scorebox add REGISTRY/NAME:VERSION --as NAME --suite FILE
    [exit code 2]
    ");
    desk.write("scorebox.lock", &lock.replace("word-f1:0.1.0", "word-f1:0.2.0"));
    assert_snapshot!(refused("run suite.toml cases.jsonl -q"), @"
    [stderr]
    error: suite.toml:7:10: it is not locked which component `HOST/team/word-f1:0.1.0` is
    hint: add it to the suite after a look at it: scorebox add REGISTRY/NAME:VERSION --suite FILE
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

#[test]
fn nothing_is_added_that_cannot_be_or_that_nobody_said_yes_to() {
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
        desk.publish(name, &with_example(example));
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
