//! A suite, lines and a followed file for the tests of `scorebox live`, and functions that wait for what it stores.
//! Scores nothing.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    process::Child,
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags};
use serde_json::json;

use crate::fixture::Folder;

const SUITE: &str = "[scorers.right]\nuse = \"exact-match\"\n";
pub(crate) const FOLLOW: &str = "scorebox live suite.toml --follow agent.jsonl";

pub(crate) fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("suite.toml", SUITE);
    folder
}

pub(crate) fn line(id: &str) -> String {
    format!("{}\n", json!({"id": id, "output": "a", "groundTruth": "a"}))
}

/// A line without an id.
pub(crate) fn nameless(output: usize) -> String {
    format!("{}\n", json!({"output": output, "groundTruth": output}))
}

pub(crate) fn append(folder: &Folder, text: &str) {
    let mut file = OpenOptions::new();
    let mut file = file.append(true).create(true).open(folder.path("agent.jsonl")).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// The number of stored scores, as another process sees it.
pub(crate) fn stored(folder: &Folder) -> i64 {
    let path = folder.path("scorebox.db");
    let Ok(database) = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY) else {
        return 0;
    };
    database.query_row("SELECT count(*) FROM score_rows", [], |row| row.get(0)).unwrap_or(0)
}

/// Waits until the following process has stored this many scores.
#[track_caller]
pub(crate) fn until_stored(folder: &Folder, following: &mut Child, scores: i64) {
    let started = Instant::now();
    while stored(folder) < scores {
        assert!(following.try_wait().unwrap().is_none(), "it ended");
        assert!(started.elapsed() < Duration::from_secs(120), "{} of {scores}", stored(folder));
        std::thread::yield_now();
    }
    assert_eq!(stored(folder), scores);
}

/// Waits until the position after this many lines is stored.
#[track_caller]
pub(crate) fn until_position(folder: &Folder, line: u64) {
    let started = Instant::now();
    let path = folder.path("scorebox.db-follow-live-agent.jsonl.json");
    let position = || {
        let text = fs::read_to_string(&path).unwrap_or_default();
        serde_json::from_str::<serde_json::Value>(&text).ok()?["line"].as_u64()
    };
    while position() != Some(line) {
        assert!(started.elapsed() < Duration::from_secs(120), "{:?}", position());
        std::thread::yield_now();
    }
}

/// Waits until the stored position is in the file that has the name by now.
#[track_caller]
pub(crate) fn until_read(folder: &Folder) {
    until_in_position(folder, |position, inode| position["inode"].as_u64() == Some(inode));
}

/// Waits until the stored position lists the file that has the name by now among the waiting ones.
#[track_caller]
pub(crate) fn until_waiting(folder: &Folder) {
    until_in_position(folder, |position, inode| {
        let mut waiting = position["replacements"].as_array().into_iter().flatten();
        waiting.any(|file| file["inode"].as_u64() == Some(inode))
    });
}

#[track_caller]
fn until_in_position(folder: &Folder, is_in: impl Fn(&serde_json::Value, u64) -> bool) {
    use std::os::unix::fs::MetadataExt as _;
    let started = Instant::now();
    let path = folder.path("scorebox.db-follow-live-agent.jsonl.json");
    let inode = fs::metadata(folder.path("agent.jsonl")).unwrap().ino();
    let position = || {
        let text = fs::read_to_string(&path).unwrap_or_default();
        serde_json::from_str::<serde_json::Value>(&text).unwrap_or_default()
    };
    while !is_in(&position(), inode) {
        assert!(started.elapsed() < Duration::from_secs(120), "{inode}: {}", position());
        std::thread::yield_now();
    }
}

/// Kills the process, so that it can do nothing more.
pub(crate) fn killed(mut following: Child) {
    signal(&following, "-KILL");
    following.wait().unwrap();
}

pub(crate) fn signal(child: &Child, name: &str) {
    let kill = std::process::Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
}

/// Ends the process like a service manager; returns its messages.
#[track_caller]
pub(crate) fn terminated(following: Child) -> String {
    signal(&following, "-TERM");
    let output = following.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(143), "{said}");
    said
}
