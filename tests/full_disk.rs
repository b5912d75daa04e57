//! A disk that takes no more while a component or a bundle is written: nothing half-written is used or left, what was there stays, and the
//! message says what happened. Here no file may become larger, which a write reports as it does a full disk.

use std::fs;

use insta::assert_snapshot;
use scorebox::{digest::Digest, registry::component_file_name};

use crate::{
    fixture::{Folder, Output},
    scorer_desk::{Desk, SUITE, guest},
};

/// Blocks of 512 bytes: less than the component of `word-f1` has, more than that of a suite or a lock.
const ROOM: usize = 100;

/// The command where files have room for so many blocks.
fn limited(desk: &Desk, room: usize, command: &str) -> Output {
    desk.sh(&format!("trap '' XFSZ; ulimit -f {room}; exec {command}"))
}

/// The names in a folder, those that are hidden included.
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
    // `sleeper` comes behind `misbehave` in the lock, so it is there already.
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
