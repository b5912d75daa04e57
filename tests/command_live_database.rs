//! `scorebox live` and `run` while they score: a database that another process has locked, or that is no longer at its
//! path.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStderr, ChildStdin, Stdio},
};

use crate::{
    fixture::Folder,
    live_fixture::{folder, line, signal, stored, until_stored},
};

/// A command that reads lines from a pipe, with its input and its messages.
struct Piped {
    command: Child,
    lines: ChildStdin,
    said: BufReader<ChildStderr>,
}

impl Piped {
    fn start(folder: &Folder, command: &str) -> Piped {
        let mut shell = folder.shell(&format!("exec {command}"));
        let shell = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut command = shell.spawn().unwrap();
        let lines = command.stdin.take().unwrap();
        let said = BufReader::new(command.stderr.take().unwrap());
        Piped { command, lines, said }
    }

    fn write(&mut self, line: &str) {
        self.lines.write_all(line.as_bytes()).unwrap();
    }

    /// The next line of its messages.
    fn says(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line
    }

    /// The exit code and the remaining messages, while its input stays open.
    fn ends(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        self.said.read_to_string(&mut said).unwrap();
        (self.command.wait().unwrap().code(), said)
    }
}

const WAITS: &str = ": scores wait until it is free, or until a signal comes\n";

/// The output of the program before the pipe waits in the pipe.
#[test]
fn live_waits_for_a_database_that_another_process_has_locked() {
    let folder = folder();
    let mut live = Piped::start(&folder, "scorebox live suite.toml --run-id r -q");
    live.write(&line("a"));
    until_stored(&folder, &mut live.command, 1);
    let other = folder.database("scorebox.db");
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    live.write(&line("b"));
    let waits = live.says();
    let holder = format!("is locked by another process (process {}: ", std::process::id());
    assert!(waits.starts_with("warning: `") && waits.ends_with(WAITS), "{waits}");
    assert!(!cfg!(target_os = "linux") || waits.contains(&holder), "{waits}");
    live.write(&line("c"));
    other.execute_batch("ROLLBACK").unwrap();
    until_stored(&folder, &mut live.command, 3);
    let Piped { mut command, lines, .. } = live;
    drop(lines);
    assert!(command.wait().unwrap().success());
    assert_eq!(folder.rows("SELECT state FROM runs"), ["finished"]);
}

#[test]
fn a_signal_ends_the_waiting_and_what_was_not_scored_is_counted() {
    let folder = folder();
    let mut live = Piped::start(&folder, "scorebox live suite.toml --run-id r -q");
    live.write(&line("a"));
    until_stored(&folder, &mut live.command, 1);
    let other = folder.database("scorebox.db");
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    live.write(&line("b"));
    assert!(live.says().ends_with(WAITS));
    signal(&live.command, "-TERM");
    let (code, said) = live.ends();
    assert_eq!(code, Some(143), "{said}");
    for words in [
        "scorebox.db is locked by another process\n",
        "Scores so far are kept in the run r.\n1 line was read and not scored, and what the pipe held",
        "scorebox run suite.toml LINES --resume r",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
    other.execute_batch("ROLLBACK").unwrap();
    folder.write("lines.jsonl", [line("a"), line("b")].concat());
    folder.sh("scorebox run suite.toml lines.jsonl --resume r").exits_with(0);
    assert_eq!(stored(&folder), 2);
}

/// The scores could never be found.
#[test]
fn scoring_ends_where_its_database_was_deleted_or_moved() {
    for command in ["live suite.toml --run-id r", "run suite.toml - --run-id r"] {
        let folder = folder();
        let events = "--events events.jsonl -q";
        let mut piped = Piped::start(&folder, &format!("scorebox {command} {events}"));
        piped.write(&line("a"));
        piped.write(&line("b"));
        until_stored(&folder, &mut piped.command, 2);
        fs::rename(folder.path("scorebox.db"), folder.path("moved.db")).unwrap();
        let (code, said) = piped.ends();
        assert_eq!(code, Some(2), "{said}");
        let (error, hint) = said.split_once('\n').unwrap();
        let moved = "scorebox.db was deleted, moved or replaced while it was written";
        assert!(error.starts_with("error: ") && error.ends_with(moved), "{said}");
        assert!(hint.starts_with("hint: scores are in the file that was there: "), "{said}");
        assert!(!said.contains("are kept") && hint.lines().count() == 1, "{said}");
        let events = fs::read_to_string(folder.path("events.jsonl")).unwrap();
        assert!(events.contains("ScorerFinished") && !events.contains("RunEnded"), "{events}");
        assert!(!folder.path("scorebox.db").exists());

        fs::rename(folder.path("moved.db"), folder.path("scorebox.db")).unwrap();
        folder.write("lines.jsonl", [line("a"), line("b")].concat());
        folder.sh("scorebox run suite.toml lines.jsonl --resume r").exits_with(0);
        assert_eq!(folder.rows("SELECT count(*), state FROM runs"), ["1 | finished"]);
    }
}
