//! `scorebox bundle`: one file that runs without the other files of a suite, gives the same scores as the suite, and
//! has the same bytes wherever it is made; the commands that accept it; and what cannot be bundled.

use std::fs;

use insta::{allow_duplicates, assert_snapshot};
use scorebox::{digest::Digest, registry::component_file_name};
use serde_json::json;

use crate::{
    fixture::{Folder, Output},
    oci_registry::{Door, OciRegistry, is_installed},
    scorer_desk::guest,
    shard_fixture::write_texts,
};

const MAIN: &str = r#"name = "answers"
include = ["../common/base.toml"]

[scorers.f1]
use = "../scorers/word-f1.wasm"

[scorers.script]
use = "./grade.js"
config = { most = "${MOST}" }
when = '.output != ""'

[scorers.published]
use = "oci://registry.test/team/word-f1:0.1.0"
config = { minimum = 0.75 }
"#;

const CASES: &str = r#"{"id": "a", "output": "one two", "groundTruth": "one two"}
{"id": "b", "output": "one two", "groundTruth": "one three"}
{"id": "c", "output": "", "groundTruth": "one three"}
"#;

/// A suite of several files that names scorers in every way, below `project`: built-in, a file, a script, and a
/// published one that is locked and fetched.
pub(crate) fn project() -> Folder {
    let folder = Folder::new();
    for name in ["suites", "common", "scorers"] {
        fs::create_dir_all(folder.path("project").join(name)).unwrap();
    }
    folder.write("project/suites/main.toml", MAIN);
    folder.write("project/common/base.toml", "[scorers.exact-match]\n");
    folder.write("project/scorers/word-f1.wasm", guest("word-f1"));
    folder.write(
        "project/suites/grade.js",
        "import { words } from './lib/words.js';\n\
         export default (input, config) => words(input.output) <= Number(config.most) ? 1 : 0;\n",
    );
    fs::create_dir(folder.path("project/suites/lib")).unwrap();
    folder.write(
        "project/suites/lib/words.js",
        "export const words = (text) => text.split(' ').length;\n",
    );
    let component = Digest::of(&guest("word-f1"));
    fs::create_dir_all(folder.path("data/components")).unwrap();
    folder.write(&format!("data/components/{}", component_file_name(component)), guest("word-f1"));
    folder.write("project/suites/scorebox.lock", lock("[\"groundTruth\"]"));
    folder.write("cases.jsonl", CASES);
    folder
}

fn lock(reads: &str) -> String {
    let component = Digest::of(&guest("word-f1"));
    let used = |address: &str| {
        format!(
            "\n[scorer.\"{address}\"]\ncomponent = \"sha256:{component}\"\nmanifest = \"sha256:{component}\"\n\
             contract = \"0.1.0\"\nreads = {reads}\n\
             imports = [\"scorebox:scorer/log@0.1.0\", \"scorebox:scorer/types@0.1.0\"]\ngrants = []\n"
        )
    };
    // The second one belongs to another suite of the folder.
    let (ours, other) =
        (used("registry.test/team/word-f1:0.1.0"), used("registry.test/other:1.0.0"));
    format!("version = 1\n{ours}{other}")
}

/// Runs a line of shell where the published scorer was fetched and the variable is set.
fn sh(folder: &Folder, line: &str) -> Output {
    folder.sh(&format!("export SCOREBOX_DATA_DIR=$PWD/data MOST=1; {line}"))
}

fn bundled(folder: &Folder) -> Output {
    sh(folder, "scorebox bundle project/suites/main.toml -o suite.tar").exits_with(0)
}

/// Another folder, which has only the bundle and the cases.
fn elsewhere(folder: &Folder) -> Folder {
    let other = Folder::new();
    fs::remove_file(other.path("suite.toml")).unwrap();
    fs::copy(folder.path("suite.tar"), other.path("suite.tar")).unwrap();
    other.write("cases.jsonl", CASES);
    other
}

/// Runs a line of shell on a machine that has only scorebox.
fn sh_elsewhere(folder: &Folder, line: &str) -> Output {
    folder.sh(&format!("export SCOREBOX_DATA_DIR=$PWD/none; unset MOST; {line}"))
}

/// Everything that decides a score, and the scores.
const RECEIPTS: &str = "SELECT scorer_id, case_id, status, score, reason, fuel, scorer_digest, config_digest, \
                        input_digest FROM scores ORDER BY scorer_id, case_id";

/// The contents of a folder, with the bytes of its files.
fn content(folder: &Folder) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder.path(".")).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<(String, Vec<u8>)> = entries
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read(path).unwrap_or_default())
        })
        .collect();
    all.sort();
    all
}

#[test]
fn a_bundle_gives_the_scores_of_its_suite_where_nothing_else_of_the_suite_is() {
    let folder = project();
    assert_snapshot!(without_sizes(&bundled(&folder)), @"
    [stderr]
    suite.tar: 4 scorers of suite answers, 3 components and 2 suite files, [size]
    manifest sha256:[digest]
    it has the values of these variables: MOST
    [exit code 0]
    ");
    sh(&folder, "cd project/suites && scorebox run main.toml ../../cases.jsonl -q --db ../../scorebox.db --allow-failures")
        .exits_with(0);
    let there = elsewhere(&folder);
    sh_elsewhere(&there, "scorebox run suite.tar cases.jsonl -q --allow-failures").exits_with(0);
    let scores = there.rows(RECEIPTS);
    assert_eq!(scores.len(), 12);
    assert_eq!(scores, folder.rows(RECEIPTS));
    let of_runs = "SELECT suite_name, lower(hex(suite_digest)) FROM runs";
    assert_eq!(there.rows(of_runs), folder.rows(of_runs));
    let used = "SELECT DISTINCT scorer_digest FROM scores WHERE scorer_id IN ('f1', 'published')";
    assert_eq!(there.rows(used), [Digest::of(&guest("word-f1")).to_string()]);
    sh_elsewhere(&there, "scorebox verify").exits_with(0);
    // No other file was needed or made.
    let names: Vec<String> = content(&there).into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        ["answers.jsonl", "cases.jsonl", "misbehave.wasm", "scorebox.db", "suite.tar"]
    );
}

/// The text without what other builds change.
fn without_sizes(output: &Output) -> String {
    let text = output.to_string();
    let lines = text.lines().map(|line| match line.rsplit_once(", ") {
        Some((before, size)) if size.ends_with("iB") => format!("{before}, [size]"),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_same_suite_makes_the_same_bytes_whatever_the_machine() {
    let folder = project();
    bundled(&folder);
    let digest = Digest::of(&fs::read(folder.path("suite.tar")).unwrap()).to_string();
    for line in [
        // The time, user, mask, language, folder and spelling of the path differ.
        "find project -exec touch -d 2001-02-03 {} + && umask 077 && TZ=Asia/Tokyo LANG=de_DE.UTF-8 USER=nobody \
         HOME=/nowhere scorebox bundle ./project/suites/main.toml -o other.tar && sha256sum < other.tar",
        "cd project/suites && scorebox bundle main.toml -o - | sha256sum",
        "cd project/scorers && scorebox bundle ../suites/main.toml | sha256sum",
        "cp -r project moved && scorebox bundle $PWD/moved/suites/main.toml | sha256sum",
        // A bundle of a bundle.
        "scorebox bundle suite.tar | sha256sum",
        "mkdir far && cd far && unset MOST && SCOREBOX_DATA_DIR=. scorebox bundle ../suite.tar | sha256sum",
    ] {
        let output = sh(&folder, line).exits_with(0);
        assert_eq!(output.stdout.trim_end(), format!("{digest}  -"), "{line}\n{output}");
    }
    // Only the contents make a difference.
    let other = sh(&folder, "MOST=2 scorebox bundle project/suites/main.toml | sha256sum");
    assert_ne!(other.exits_with(0).stdout.trim_end(), format!("{digest}  -"));
}

#[test]
fn every_command_that_takes_a_suite_takes_a_bundle() {
    let folder = project();
    bundled(&folder);
    let there = elsewhere(&folder);
    let shown = sh_elsewhere(&there, "scorebox suite show suite.tar").exits_with(0);
    assert_snapshot!(shown.stdout, @r#"
    scorer       use                                     config            when
    exact-match  exact-match                             {}                -
    f1           ../scorers/word-f1.wasm                 {}                -
    script       ./grade.js                              {"most":"1"}      .output != ""
    published    oci://registry.test/team/word-f1:0.1.0  {"minimum":0.75}  -
    "#);
    let checked = sh_elsewhere(&there, "scorebox suite check suite.tar").exits_with(0);
    assert!(checked.stdout.contains("published    word-f1"), "{checked}");
    let compiled = sh_elsewhere(&there, "scorebox compile suite.tar").exits_with(0);
    assert_eq!(compiled.stdout.lines().count(), 4, "{compiled}");
    let live = "scorebox live suite.tar --db live.db -q --allow-failures < cases.jsonl";
    sh_elsewhere(&there, live).exits_with(0);
    let listed = sh_elsewhere(&there, "scorebox scores --db live.db --format jsonl").exits_with(0);
    assert_eq!(listed.stdout.lines().count(), 12, "{listed}");
    // A scorer from the command line in addition to those of the bundle.
    let beside = "scorebox run cases.jsonl --suite suite.tar -s contains --config 'contains={\"value\": \"one\"}' -q \
                  --allow-failures";
    sh_elsewhere(&there, beside).exits_with(0);
    assert_eq!(there.rows("SELECT count(*) FROM scores WHERE scorer_id = 'contains'"), ["3"]);
    for (line, words) in [
        ("scorebox fetch suite.tar", "nothing to fetch: the bundle `suite.tar` has its components"),
        ("scorebox remove f1 --suite suite.tar", "`suite.tar` is a bundle, which is not edited"),
    ] {
        let said = sh_elsewhere(&there, line);
        assert!(said.stderr.contains(words), "{said}");
    }
}

#[test]
fn shards_that_were_scored_with_a_bundle_and_with_its_suite_are_of_one_run() {
    let folder = project();
    bundled(&folder);
    let there = elsewhere(&folder);
    let column = |name| move |texts: &[Option<&'static str>; 2]| (name, *texts);
    let table = |name: &str, ids: [Option<&'static str>; 2]| {
        let (id, output) = (column("id")(&ids), column("output")(&[Some("one two"), Some("")]));
        let truth = column("groundTruth")(&[Some("one two"), Some("one")]);
        let columns = [(id.0, &id.1[..]), (output.0, &output.1[..]), (truth.0, &truth.1[..])];
        write_texts(&there.path(name), &columns);
    };
    table("in-0.parquet", [Some("a"), Some("b")]);
    table("in-1.parquet", [Some("c"), Some("d")]);
    sh_elsewhere(&there, "scorebox shard suite.tar in-0.parquet -o out-0.parquet").exits_with(0);
    let project = folder.path("project/suites").display().to_string();
    let data = folder.path("data").display().to_string();
    there
        .sh(&format!(
            "in=$PWD/in-1.parquet; out=$PWD/out-1.parquet; cd '{project}'; MOST=1 SCOREBOX_DATA_DIR='{data}' \
             scorebox shard main.toml $in -o $out"
        ))
        .exits_with(0);
    sh_elsewhere(&there, "scorebox merge out-*.parquet -o run.parquet").exits_with(0);
    let alone = sh_elsewhere(&there, "scorebox merge out-*.parquet --db merged.db").exits_with(2);
    assert!(alone.stderr.contains("is not on this machine"), "{alone}");
    let merge = "scorebox merge out-*.parquet --db merged.db --suite suite.tar";
    let merged = sh_elsewhere(&there, merge).exits_with(0);
    assert!(merged.stderr.contains("with 4 cases of 2 shards"), "{merged}");
    // Their plan has the seed from an option, and the bundle has its own.
    let seeded = "scorebox shard suite.tar in-0.parquet -o seeded.parquet --seed 5";
    sh_elsewhere(&there, seeded).exits_with(0);
    let merge = "scorebox merge seeded.parquet --db seeded.db --suite suite.tar";
    sh_elsewhere(&there, merge).exits_with(0);
    sh_elsewhere(&there, "scorebox verify --db seeded.db").exits_with(0);
    sh_elsewhere(&there, "scorebox verify --db merged.db").exits_with(0);
}

#[test]
fn variables_have_the_values_that_they_had_when_the_bundle_was_made() {
    let folder = project();
    bundled(&folder);
    let shown = folder.sh("MOST=5 scorebox suite show suite.tar --format json").exits_with(0);
    assert_eq!(shown.json()["scorers"][2]["config"], json!({"most": "1"}));
    let unset = folder.sh("unset MOST; scorebox bundle project/suites/main.toml -o other.tar");
    assert!(unset.exits_with(2).stderr.contains("MOST"), "it has no value");
    assert!(!folder.path("other.tar").exists());
}

#[test]
fn a_file_that_exists_stays_unless_it_is_to_be_replaced() {
    let folder = project();
    folder.write("suite.tar", "mine");
    let refused = sh(&folder, "scorebox bundle project/suites/main.toml -o suite.tar");
    assert_snapshot!(refused, @"
    [stderr]
    error: `suite.tar` exists
    hint: name another file, or replace it with --force
    [exit code 2]
    ");
    assert_eq!(fs::read(folder.path("suite.tar")).unwrap(), b"mine");
    sh(&folder, "scorebox bundle project/suites/main.toml -o suite.tar --force").exits_with(0);
    sh(&folder, "scorebox suite check suite.tar").exits_with(0);
}

#[test]
fn what_cannot_be_bundled_is_named_and_nothing_is_written() {
    let folder = project();
    let judge = |provider: &str| {
        format!(
            "[judges.own]\n{provider}\n[scorers.exact-match]\n[scorers.same]\nuse = \"./misbehave.wasm\"\n"
        )
    };
    let refused = |suite: &str| {
        folder.write("own.toml", suite);
        let before = content(&folder);
        let output = sh(&folder, "scorebox bundle own.toml -o own.tar").exits_with(2);
        assert_eq!(content(&folder), before);
        output
    };
    assert_snapshot!(refused(&judge("provider = \"command\"\ncommand = [\"./judge\", \"-v\"]")), @"
    [stderr]
    error: judge `own` is the program `./judge`, which a bundle cannot have
    hint: judges of a bundle are servers; run this suite from its folder
    [exit code 2]
    ");
    let recorded = judge("provider = \"recorded\"\nfile = \"calls.jsonl\"\nmodel = \"m\"");
    assert_snapshot!(refused(&recorded), @"
    [stderr]
    error: judge `own` reads the recordings in `calls.jsonl`, which a bundle cannot have
    hint: judges of a bundle are servers; run this suite from its folder
    [exit code 2]
    ");
    assert_snapshot!(refused("[scorers.a]\nuse = \"./none.wasm\"\n"), @"
    [stderr]
    error: own.toml:1:10: cannot read the scorer `./none.wasm`: no such file
    hint: a relative path in a suite file starts at the folder of that file
    [exit code 2]
    ");
    assert_snapshot!(refused("[scorers.a]\nuse = \"oci://registry.test/team/none:1.0.0\"\n"), @"
    [stderr]
    error: own.toml:1:10: `registry.test/team/none:1.0.0` is not locked to a component
    hint: look at it and lock it: scorebox add registry.test/team/none:1.0.0 --suite own.toml
    [exit code 2]
    ");
    let wrong = "[scorers.contains]\nconfig = { vale = \"a\" }\n[scorers.b]\nuse = 3\n";
    assert_snapshot!(refused(wrong), @"
    [stderr]
    error: own.toml:2:12: scorer `contains` (built-in): invalid-config: unknown key `vale`
    hint: did you mean `value`?
    error: own.toml:4:7: `use` must be a text; found a number
    [exit code 2]
    ");
}

#[test]
fn an_oci_client_reads_a_bundle_and_a_registry_keeps_it() {
    if !is_installed("skopeo") {
        return;
    }
    let Some(registry) = OciRegistry::start(Door::Open) else { return };
    let folder = project();
    let said = bundled(&folder);
    let manifest = folder.sh("skopeo inspect --raw oci-archive:suite.tar").exits_with(0);
    let digest = Digest::of(manifest.stdout.as_bytes());
    assert!(said.stderr.contains(&format!("manifest sha256:{digest}")), "{said}");
    let manifest = manifest.json();
    assert_eq!(manifest["annotations"]["org.opencontainers.image.title"], "answers");
    let types: Vec<&str> = manifest["layers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|layer| layer["mediaType"].as_str().unwrap())
        .collect();
    let (toml, wasm) = ("application/toml", "application/wasm");
    assert_eq!(types, [toml, toml, toml, wasm, wasm]);
    // Packed and unpacked by the client's own tar.
    let host = registry.host();
    folder
        .sh(&format!(
            "export TMPDIR=$PWD && skopeo copy -q --dest-tls-verify=false oci-archive:suite.tar docker://{host}/team/suite:1 && \
             skopeo copy -q --src-tls-verify=false docker://{host}/team/suite:1 oci-archive:back.tar"
        ))
        .exits_with(0);
    assert_ne!(
        fs::read(folder.path("back.tar")).unwrap(),
        fs::read(folder.path("suite.tar")).unwrap()
    );
    let [there, back] = ["suite.tar", "back.tar"].map(|name| {
        sh_elsewhere(&folder, &format!("scorebox suite show {name} --format json")).exits_with(0)
    });
    assert_eq!(back.json(), there.json());
    sh_elsewhere(&folder, "scorebox run back.tar cases.jsonl -q --allow-failures").exits_with(0);
}

#[test]
fn a_lock_that_was_edited_by_hand_is_refused_in_a_bundle_as_beside_a_suite() {
    let folder = project();
    folder.write("project/suites/scorebox.lock", lock("[]"));
    let refused = sh(&folder, "scorebox bundle project/suites/main.toml -o suite.tar");
    allow_duplicates! { assert_snapshot!(refused.exits_with(2), @"
    [stderr]
    error: `registry.test/team/word-f1:0.1.0` is not what it is locked as: in addition to the output it reads groundTruth; the lock says nothing
    hint: scorebox.lock was changed by hand: take back the change or, to lock the scorer again after a look at it, delete its table there and `scorebox add registry.test/team/word-f1:0.1.0`
    [exit code 2]
    ") };
    assert!(!folder.path("suite.tar").exists());
}
