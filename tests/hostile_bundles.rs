//! Bundles that a stranger may have made: files that look like one, and suites that ask for more than a bundle may
//! contain. Each is refused with a message, and nothing is written, opened or started. The format itself is tested in
//! `engine/community`.

use std::{fs, io::Cursor, path::Path};

use insta::assert_snapshot;
use scorebox::digest::Digest;
use scorebox_community::{Bundle, Carried};
use tar::{EntryType, Header};

use crate::{
    fixture::{Folder, Output},
    scorer_desk::guest,
};

/// A bundle whose suite has this text and these components.
fn bundle(text: &str, components: &[(&str, Carried)]) -> Bundle {
    let mut bundle = Bundle::new("evil", "suite.toml");
    bundle.files.insert("suite.toml".to_owned(), text.to_owned());
    for (name, component) in components {
        bundle.components.insert((*name).to_owned(), component.clone());
    }
    bundle
}

fn written(bundle: &Bundle) -> Vec<u8> {
    let mut bytes = Vec::new();
    bundle.file().unwrap().write(&mut bytes).unwrap();
    bytes
}

fn word_f1() -> Carried {
    Carried::Here(guest("word-f1").into())
}

/// All names below a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        all.push(path.display().to_string());
        if path.is_dir() {
            all.extend(names(&path));
        }
    }
    all.sort();
    all
}

/// The message of `scorebox run` about these bytes; the command has no other effect.
fn run(bytes: &[u8]) -> Output {
    let folder = Folder::new();
    folder.write("evil.tar", bytes);
    folder.write("cases.jsonl", "{\"output\": \"a\", \"groundTruth\": \"a\"}\n");
    // Files that a suite may try to read or start.
    folder.write("here.wasm", guest("word-f1"));
    folder.write("here.toml", "[scorers.contains]\nconfig = { value = \"a\" }\n");
    folder.write("start", "#!/bin/sh\ntouch started\n");
    let before = names(&folder.path("."));
    let output = folder.sh("chmod +x start; scorebox run evil.tar cases.jsonl -q").exits_with(2);
    assert_eq!(names(&folder.path(".")), before);
    output
}

#[test]
fn a_file_that_is_not_a_bundle_is_refused_with_the_reason() {
    let _filters = Folder::new();
    let mut tar = tar::Builder::new(Vec::new());
    let mut header = Header::new_ustar();
    header.set_size(0);
    header.set_entry_type(EntryType::Symlink);
    header.set_path(format!("blobs/sha256/{}", Digest::of(b"x"))).unwrap();
    header.set_link_name("/etc/passwd").unwrap();
    header.set_cksum();
    tar.append(&header, &b""[..]).unwrap();
    assert_snapshot!(run(&tar.into_inner().unwrap()), @"
    [stderr]
    error: `evil.tar` is not a valid bundle: `blobs/sha256/[digest]` is not a regular file; a bundle has no links, devices or extended headers
    hint: copy it again from where it was made
    [exit code 2]
    ");
    assert_snapshot!(run(&[0; 10_240]), @"
    [stderr]
    error: `evil.tar` is not a valid bundle: it is not a tar file
    hint: a bundle is what `scorebox bundle SUITE -o FILE` writes
    [exit code 2]
    ");
    let bytes = written(&bundle("[scorers.a]\nuse = \"./a.wasm\"\n", &[("./a.wasm", word_f1())]));
    assert_snapshot!(run(&bytes[..bytes.len() - 100_000]), @"
    [stderr]
    error: `evil.tar` is not a valid bundle: it is cut off in `blobs/sha256/[digest]`
    hint: copy it again from where it was made
    [exit code 2]
    ");
    let mut other = bytes.clone();
    let component = guest("word-f1");
    let at = other.windows(64).position(|some| some == &component[..64]).unwrap();
    other[at + 1000] ^= 1;
    assert_snapshot!(run(&other), @"
    [stderr]
    error: `evil.tar` is not a valid bundle: the component `./a.wasm` has other bytes than its digest says
    hint: copy it again from where it was made
    [exit code 2]
    ");
    assert!(Bundle::read(Cursor::new(bytes)).is_ok());
}

#[test]
fn a_file_of_a_gigabyte_of_nothing_is_refused_at_once() {
    let folder = Folder::new();
    let file = fs::File::create(folder.path("large.tar")).unwrap();
    file.set_len(1 << 30).unwrap();
    let refused = folder.sh("ulimit -v 4000000; scorebox suite show large.tar").exits_with(2);
    assert!(refused.stderr.contains("it is not a tar file"), "{refused}");
}

#[test]
fn a_bundle_that_is_not_a_regular_file_is_refused_without_waiting() {
    let folder = Folder::new();
    let refused = folder.sh("mkfifo pipe.tar; scorebox suite show pipe.tar").exits_with(2);
    assert_snapshot!(refused, @"
    [stderr]
    error: cannot read `pipe.tar`: a bundle must be a regular file
    hint: copy it to a file first
    [exit code 2]
    ");
    let refused = folder.sh("mkdir folder.tar; scorebox suite show folder.tar").exits_with(2);
    assert!(refused.stderr.contains("this is a folder, not a file"), "{refused}");
    let refused = folder.sh("scorebox suite show none.tar").exits_with(2);
    assert!(refused.stderr.contains("no such file"), "{refused}");
}

#[test]
fn a_suite_in_a_bundle_reads_no_file_of_the_machine() {
    let here = run(&written(&bundle("[scorers.a]\nuse = \"./here.wasm\"\n", &[])));
    assert_snapshot!(here, @"
    [stderr]
    error: `evil.tar` is not a valid bundle: it has no component for `./here.wasm`
    hint: make it again: scorebox bundle SUITE -o FILE
    [exit code 2]
    ");
    let included = run(&written(&bundle("include = [\"here.toml\"]\n", &[])));
    assert_snapshot!(included, @"
    [stderr]
    error: evil.tar/suite.toml:1:12: cannot read `here.toml`: no such file
    [exit code 2]
    ");
    for path in ["/etc/hostname", "../../../../../../etc/hostname", "./suite.toml/../here.toml"] {
        let included = run(&written(&bundle(&format!("include = [\"{path}\"]\n"), &[])));
        assert!(
            included.stderr.contains(&format!("cannot read `{path}`: no such file")),
            "{included}"
        );
    }
    // It reads no environment variable either.
    let suite = "[scorers.contains]\nconfig = { value = \"${HOME}\" }\n";
    let contains = Carried::BuiltIn(Digest::of(b"x"));
    let variable = run(&written(&bundle(suite, &[("contains", contains)])));
    assert!(variable.stderr.contains("evil.tar/suite.toml:2:20"), "{variable}");
}

#[test]
fn a_suite_in_a_bundle_starts_no_program_and_opens_no_recordings() {
    let suite = "[judges.own]\nprovider = \"command\"\ncommand = [\"./start\"]\n[scorers.a]\nuse = \"./a.wasm\"\n";
    let started = run(&written(&bundle(suite, &[("./a.wasm", word_f1())])));
    assert_snapshot!(started, @"
    [stderr]
    error: `evil.tar`: judge `own` is the program `./start`, which a bundle cannot have
    hint: judges of a bundle are servers; run this suite from its folder
    [exit code 2]
    ");
    let suite = "[judges.own]\nprovider = \"recorded\"\nfile = \"/etc/passwd\"\nmodel = \"m\"\n[scorers.a]\nuse = \"./a.wasm\"\n";
    let opened = run(&written(&bundle(suite, &[("./a.wasm", word_f1())])));
    assert!(opened.stderr.contains("reads the recordings in `/etc/passwd`"), "{opened}");
}

#[test]
fn built_in_scorers_are_those_of_the_bundle_or_it_is_refused() {
    let _filters = Folder::new();
    let suite = "[scorers.exact-match]\n";
    let other = Carried::BuiltIn(Digest::of(b"another version"));
    let mut newer = bundle(suite, &[("exact-match", other)]);
    newer.scorebox = "7.0.0".to_owned();
    assert_snapshot!(run(&written(&newer)), @"
    [stderr]
    error: the bundle was made with another built-in scorer `exact-match` (sha256:[digest]) than this scorebox has
    hint: use the scorebox that made it (version 7.0.0), or make the bundle again with this one
    [exit code 2]
    ");
    // Its own component under the name of a built-in one, or the other way round.
    let shadowed = run(&written(&bundle(suite, &[("exact-match", word_f1())])));
    assert!(
        shadowed
            .stderr
            .contains("it has a component in place of the built-in scorer `exact-match`"),
        "{shadowed}"
    );
    let unlisted = run(&written(&bundle(suite, &[])));
    assert!(unlisted.stderr.contains("it has no component for `exact-match`"), "{unlisted}");
}

#[test]
fn a_published_scorer_is_what_the_lock_of_the_bundle_says() {
    let (address, suite) =
        ("registry.test/a:0.1.0", "[scorers.a]\nuse = \"oci://registry.test/a:0.1.0\"\n");
    let with_lock = |lock: Option<String>| {
        let mut bundle = bundle(suite, &[(&format!("oci://{address}"), word_f1())]);
        bundle.lock = lock;
        run(&written(&bundle))
    };
    let lock = |component: Digest, reads: &str| {
        Some(format!(
            "version = 1\n[scorer.\"{address}\"]\ncomponent = \"sha256:{component}\"\nmanifest = \"sha256:{component}\"\n\
             contract = \"0.1.0\"\nreads = {reads}\n\
             imports = [\"scorebox:scorer/log@0.1.0\", \"scorebox:scorer/types@0.1.0\"]\ngrants = []\n"
        ))
    };
    let component = Digest::of(&guest("word-f1"));
    let unlocked = with_lock(None);
    assert!(unlocked.stderr.contains("its lock lacks `oci://registry.test/a:0.1.0`"), "{unlocked}");
    let other = with_lock(lock(Digest::of(b"other"), "[\"groundTruth\"]"));
    assert!(other.stderr.contains("its lock has another component for"), "{other}");
    let less = with_lock(lock(component, "[]"));
    assert!(less.stderr.contains("in addition to the output it reads groundTruth"), "{less}");
    let damaged = with_lock(Some("version = 9\n".to_owned()));
    assert!(damaged.stderr.contains("`scorebox.lock` in `evil.tar` is not valid"), "{damaged}");
}

#[test]
fn what_a_bundle_says_reaches_no_terminal_as_it_is() {
    let escape = "\u{1b}]0;owned\u{7}";
    let name = format!("./{escape}.wasm");
    let suite = format!("[scorers.a]\nuse = {}\n", serde_json::json!(name));
    for bundle in [bundle(&suite, &[]), bundle("", &[(&name, Carried::BuiltIn(Digest::of(b"x")))])]
    {
        let said = run(&written(&bundle));
        assert!(!said.stderr.contains('\u{1b}') && !said.stderr.contains('\u{7}'), "{said}");
    }
}

#[test]
fn a_variable_that_is_named_a_million_times_is_refused() {
    let mut evil = bundle(
        &format!("[scorers.contains]\nconfig = {{ value = \"{}\" }}\n", "${A}".repeat(1 << 18)),
        &[],
    );
    evil.variables.insert("A".to_owned(), "x".repeat(1 << 18));
    // 64 GiB in less than 2 MiB.
    let refused = run(&written(&evil));
    let reason =
        "the values of variables have more than 16 MiB together, the most that a suite may have";
    assert!(refused.stderr.contains(reason), "{refused}");
}
