//! A full disk while a component or another file is written, and a command that ends before it has written everything:
//! no incomplete file is used or left, existing files stay, and the message names the cause. In these tests no file may
//! grow further, which a write reports like a full disk.

use std::{
    fs::{self, File},
    io::Write as _,
    thread,
    time::Duration,
};

use insta::assert_snapshot;
use scorebox::{digest::Digest, registry::component_file_name};

use crate::{
    fixture::{Folder, Output},
    scorer_desk::{Desk, SUITE, guest},
    shard_fixture::write_texts,
};

/// Blocks of 512 bytes: fewer than the component of `word-f1` needs, more than that of a suite or a lock.
const ROOM: usize = 100;

/// The command with a limit of this many blocks for files.
fn limited(desk: &Desk, room: usize, command: &str) -> Output {
    desk.sh(&format!("trap '' XFSZ; ulimit -f {room}; exec {command}"))
}

/// The names in a folder, including hidden ones.
fn names(folder: &Folder, name: &str) -> Vec<String> {
    let entries = fs::read_dir(folder.path(name)).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_component_that_is_not_written_whole_is_not_there_and_is_fetched_the_next_time() {
    let Some(desk) = Desk::new() else { return };
    desk.add("HOST/team/word-f1:0.1.0 --yes").exits_with(0);
    fs::remove_dir_all(desk.folder.path("data")).unwrap();
    let full = limited(&desk, ROOM, "scorebox fetch --plain-http");
    assert_snapshot!(full.exits_with(2), @"
    [stderr]
    error: cannot keep the component in `data/components`: File too large (os error 27)
    hint: make it a folder with room that can be written, or name another one in SCOREBOX_DATA_DIR
    [exit code 2]
    ");
    assert_eq!(names(&desk.folder, "data/components"), [""; 0]);
    let run = desk.sh("scorebox run suite.toml cases.jsonl -q").exits_with(2);
    assert!(run.stderr.contains("is not on this machine"), "{run}");
    let fetched = desk.sh("scorebox fetch --plain-http").exits_with(0);
    assert_eq!(fetched.stdout, "fetched 1 scorer; 0 already there\n");
    desk.sh("scorebox run suite.toml cases.jsonl -q").exits_with(0);
}

#[test]
fn components_that_were_fetched_before_the_disk_was_full_stay() {
    let Some(desk) = Desk::new() else { return };
    let (small, large) = (guest("sleeper"), guest("misbehave"));
    assert!(small.len() < large.len());
    desk.publish("team/sleeper", &small);
    desk.publish("team/misbehave", &large);
    for name in ["sleeper", "misbehave"] {
        desk.add(&format!("HOST/team/{name}:0.1.0 --yes")).exits_with(0);
    }
    fs::remove_dir_all(desk.folder.path("data")).unwrap();
    // `sleeper` comes after `misbehave` in the lock, so it is there already.
    let file = |component: &[u8]| component_file_name(Digest::of(component));
    fs::create_dir_all(desk.folder.path("data/components")).unwrap();
    desk.folder.write(&format!("data/components/{}", file(&small)), &small);
    let room = large.len() / 512 - 1;
    limited(&desk, room, "scorebox fetch --plain-http").exits_with(2);
    assert_eq!(names(&desk.folder, "data/components"), [file(&small)]);
    let fetched = desk.sh("scorebox fetch --plain-http").exits_with(0);
    assert_eq!(fetched.stdout, "fetched 1 scorer; 1 already there\n");
}

#[test]
fn a_scorer_whose_component_is_not_kept_is_not_added() {
    let Some(desk) = Desk::new() else { return };
    let full =
        limited(&desk, ROOM, "scorebox add HOST/team/word-f1:0.1.0 --yes --plain-http --no-cache");
    assert!(full.exits_with(2).stderr.contains("cannot keep the component"), "it says so");
    assert_eq!(desk.read("suite.toml"), SUITE);
    assert!(!desk.folder.path("scorebox.lock").exists());
    assert_eq!(names(&desk.folder, "data/components"), [""; 0]);
    desk.add("HOST/team/word-f1:0.1.0 --yes").exits_with(0);
}

#[test]
fn a_bundle_that_is_not_written_whole_is_not_there_or_is_refused() {
    let folder = Folder::new();
    folder.write("word-f1.wasm", guest("word-f1"));
    folder.write("own.toml", "[scorers.words]\nuse = \"./word-f1.wasm\"\n");
    // Its compiled code is in the cache from here on.
    folder.sh("scorebox bundle own.toml -o whole.tar").exits_with(0);
    let before = names(&folder, ".");
    let limited = |command: &str| {
        folder
            .sh(&format!("trap '' XFSZ; ulimit -f {ROOM}; exec scorebox bundle own.toml {command}"))
    };
    assert_snapshot!(limited("-o own.tar").exits_with(2), @"
    [stderr]
    error: cannot write `own.tar`: File too large (os error 27)
    [exit code 2]
    ");
    assert_eq!(names(&folder, "."), before);
    assert_snapshot!(limited("> own.tar").exits_with(2), @"
    [stderr]
    error: cannot write to standard output: File too large (os error 27)
    [exit code 2]
    ");
    let cut = folder.sh("scorebox suite check own.tar").exits_with(2);
    assert!(cut.stderr.contains("is not a valid bundle: it is cut off"), "{cut}");
}

/// A folder with a run, a table, a shard of it, and a script.
fn with_what_commands_read() -> Folder {
    let folder = Folder::new();
    folder.sh("scorebox run suite.toml answers.jsonl --run-id r").exits_with(0);
    let texts: Vec<String> =
        (0..2000_u32).map(|number| Digest::of(&number.to_le_bytes()).to_string()).collect();
    let texts: Vec<Option<&str>> = texts.iter().map(|text| Some(text.as_str())).collect();
    write_texts(&folder.path("in.parquet"), &[("id", &texts), ("output", &texts)]);
    folder.write("one.toml", "[scorers.length]\nconfig = { max = 1 }\n");
    folder.sh("scorebox shard one.toml in.parquet -o shard.parquet").exits_with(0);
    folder.write("grade.js", "export default () => 1;\n");
    folder.sh("scorebox build grade.js -o built.wasm").exits_with(0);
    folder
}

/// The names in the folder, without those of the database.
fn names_beside_the_database(folder: &Folder) -> Vec<String> {
    names(folder, ".").into_iter().filter(|name| !name.starts_with("scorebox.db")).collect()
}

/// Commands that write a file; all of them name it `FILE` and replace it.
const WRITING: [&str; 7] = [
    "convert answers.jsonl --force -o FILE.jsonl",
    "export r --force -o FILE.csv",
    "export r --force -o FILE.parquet",
    "report r -o FILE.html",
    "merge shard.parquet --force -o FILE.parquet",
    "card exact-match --cases answers.jsonl --force -o FILE.html",
    "build grade.js -o FILE.wasm",
];

#[test]
fn a_file_that_is_not_written_whole_is_not_there_and_the_one_before_it_stays() {
    let folder = with_what_commands_read();
    let before = names_beside_the_database(&folder);
    let limited = |room: usize, command: &str| {
        folder.sh(&format!("trap '' XFSZ; ulimit -f {room}; exec scorebox {command}")).exits_with(2)
    };
    for command in WRITING {
        let full = limited(ROOM, &command.replace("FILE", "new"));
        // `card` also writes a database, in a temporary folder.
        let why = ["File too large", "cannot keep the scores in the temporary folder"];
        assert!(why.iter().any(|why| full.stderr.contains(why)), "{command}: {full}");
        assert_eq!(names_beside_the_database(&folder), before, "{command}");
        let (_, ending) = command.rsplit_once('.').unwrap();
        let (name, whole) = (format!("old.{ending}"), b"\0asm, and whole");
        folder.write(&name, whole);
        limited(ROOM, &command.replace("FILE", "old"));
        assert_eq!(fs::read(folder.path(&name)).unwrap(), whole, "{command}");
        fs::remove_file(folder.path(&name)).unwrap();
        assert_eq!(names_beside_the_database(&folder), before, "{command}");
    }
    for (room, command) in [
        (ROOM, "shard one.toml in.parquet -o new.parquet"),
        (0, "new fresh --lang js"),
        (0, "migrate promptfoo.yaml -o new.toml"),
    ] {
        folder.write(
            "promptfoo.yaml",
            "tests:\n  - vars: {output: a}\n    assert:\n      - {type: equals, value: a}\n",
        );
        let full = limited(room, command);
        fs::remove_file(folder.path("promptfoo.yaml")).unwrap();
        assert!(full.stderr.contains("File too large"), "{command}: {full}");
        assert_eq!(names_beside_the_database(&folder), before, "{command}");
    }
}

#[test]
fn a_temporary_folder_without_room_is_named_with_what_to_do() {
    let folder = Folder::new();
    let card = "exec scorebox card exact-match --cases answers.jsonl -o new.html";
    let full =
        folder.sh(&format!("mkdir tmp; export TMPDIR=tmp; trap '' XFSZ; ulimit -f {ROOM}; {card}"));
    let full = full.exits_with(2).stderr;
    assert!(
        full.starts_with("error: cannot keep the scores in the temporary folder `tmp`: "),
        "{full}"
    );
    let hint = "hint: make room there, name another folder in TMPDIR, or name a database to keep: --db FILE\n";
    assert!(full.ends_with(hint), "{full}");
    let missing = folder.sh(&format!("export TMPDIR=missing; {card}")).exits_with(2).stderr;
    assert!(missing.ends_with("hint: name a folder that can be written in TMPDIR\n"), "{missing}");
    // A database that is named is not a temporary one.
    let named = folder.sh(&format!("trap '' XFSZ; ulimit -f {ROOM}; {card} --db own.db"));
    assert!(!named.exits_with(2).stderr.contains("TMPDIR"));
    assert!(!folder.path("new.html").exists());
}

#[test]
fn cases_that_cannot_be_read_to_their_end_are_not_converted_to_half_of_them() {
    let folder = Folder::new();
    folder.sh("gzip -c answers.jsonl | head -c 20000 > cut.jsonl.gz").exits_with(0);
    let before = names(&folder, ".");
    let cut = folder.sh("scorebox convert cut.jsonl.gz -o new.jsonl").exits_with(2);
    assert!(cut.stderr.starts_with("error: cut.jsonl.gz"), "{cut}");
    assert_eq!(names(&folder, "."), before);
}

#[cfg(unix)]
#[test]
fn a_command_that_is_interrupted_while_it_writes_leaves_what_was_there() {
    let folder = Folder::new();
    folder.write("new.jsonl", "whole");
    folder.sh("mkfifo pipe").exits_with(0);
    let mut converting = folder.spawn("scorebox convert - --force -o new.jsonl < pipe");
    let mut pipe = File::options().write(true).open(folder.path("pipe")).unwrap();
    pipe.write_all(&fs::read(folder.path("answers.jsonl")).unwrap()).unwrap();
    let has_begun = || names(&folder, ".").iter().any(|name| name.starts_with(".scorebox-"));
    for _ in 0..1000 {
        if has_begun() {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    assert!(has_begun(), "it writes beside the file");
    // A shell that starts the tests in the background may have them ignore SIGINT.
    folder.sh(&format!("kill -TERM {}", converting.id())).exits_with(0);
    assert!(!converting.wait().unwrap().success());
    assert_eq!(fs::read_to_string(folder.path("new.jsonl")).unwrap(), "whole");
}
