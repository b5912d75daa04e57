//! Signals while a run waits for its cases, from standard input or a pipe. `command_resume` tests resuming itself.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use insta::assert_snapshot;
use rusqlite::{Connection, OpenFlags};
use rustix::process::{Pid, Signal, kill_process};

use crate::{
    command_resume::{stored, wait_until},
    fixture::Folder,
};

const LINES: &str = r#"{"id": "a", "output": 1, "groundTruth": 1}
{"id": "b", "output": 2, "groundTruth": 1}
{"id": "c", "output": 3, "groundTruth": 3}
"#;

/// A run whose standard input provides these lines, and then stays open without more.
fn from_a_pipe(folder: &Folder, options: &str, lines: &str) -> Child {
    let mut shell = folder.shell(&format!("exec scorebox run - --run-id r {options}"));
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = shell.spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(lines.as_bytes()).unwrap();
    child
}

/// The messages and the exit code of a run that ends while its standard input is still open.
#[track_caller]
fn ended(mut child: Child, code: i32) -> String {
    let open = child.stdin.take();
    let mut words = String::new();
    child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(code), "{words}");
    drop(open);
    words
}

/// Sends a signal to a run that has scored three cases and waits for the next line. Returns the messages that the user
/// reads then, and those when the run is resumed with one more case. The folder filters what differs in them.
#[track_caller]
fn ended_while_waiting(signal: Signal, code: i32) -> (Folder, String) {
    let folder = Folder::new();
    let child = from_a_pipe(&folder, "-s exact-match -q", LINES);
    wait_until("the cases are scored", || stored(&folder) == 3);
    kill_process(Pid::from_child(&child), signal).unwrap();
    let words = ended(child, code);
    assert_eq!(folder.rows("SELECT state FROM runs"), ["interrupted"]);
    let scores = "SELECT case_id, score FROM scores ORDER BY 1";
    assert_eq!(folder.rows(scores), ["a | 1", "b | 0", "c | 1"]);

    let last = r#"{"id": "d", "output": 4, "groundTruth": 4}"#;
    folder.write("all.jsonl", format!("{LINES}{last}\n"));
    let resumed = folder.sh("scorebox run - -s exact-match --resume r < all.jsonl").exits_with(0);
    assert_eq!(folder.rows(scores), ["a | 1", "b | 0", "c | 1", "d | 1"]);
    assert_eq!(folder.rows("SELECT state FROM runs"), ["finished"]);
    (folder, format!("{words}-- resumed{}", resumed.stderr))
}

#[test]
fn a_run_that_waits_for_its_next_case_ends_at_once_and_is_resumed() {
    let (_folder, words) = ended_while_waiting(Signal::TERM, 143);
    assert_snapshot!(words, @"
    interrupted: finishing the scores in flight; interrupt again to stop at once

    run r: 3 cases, 3 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    Interrupted. Scores so far are kept. Resume with:
      scorebox run - -s exact-match -q --resume r
    -- resumed
    run r: 1 case, 1 score in [time] (3 cases were finished before)
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    ");
    // A closing session also ends it in this way.
    if cfg!(target_os = "linux") {
        let (_folder, hung_up) = ended_while_waiting(Signal::HUP, 143);
        assert!(
            hung_up.contains("Interrupted. Scores so far are kept. Resume with:\n"),
            "{hung_up}"
        );
    }
    let (_folder, interrupted) = ended_while_waiting(Signal::INT, 130);
    assert_eq!(interrupted.lines().count(), words.lines().count());
}

/// Whether the process handles this signal, according to the kernel.
fn listens(child: &Child, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() & (1 << (signal.as_raw() - 1)) != 0
}

#[test]
fn a_run_that_waits_for_its_first_case_ends_at_once_and_stores_nothing() {
    let said = ["", "\n\n"].map(|lines| {
        let folder = Folder::new();
        let child = from_a_pipe(&folder, "-s exact-match -q", lines);
        wait_until("the run listens", || listens(&child, Signal::TERM));
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        let words = ended(child, 143);
        assert!(!folder.path("scorebox.db").exists());
        words
    });
    assert_snapshot!(said[0], @"
    interrupted: finishing the scores in flight; interrupt again to stop at once
    the run was stopped before its first case and has stored nothing
    ");
    assert_eq!(said[0], said[1]);
}

/// A named pipe is waited for like standard input.
#[test]
fn a_run_that_waits_for_a_pipe_ends_at_once() {
    let folder = Folder::new();
    folder.sh("mkfifo pipe").exits_with(0);
    let mut shell = folder.shell("exec scorebox run pipe --run-id r -s exact-match -q");
    let child = shell.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = fs::File::options().write(true).open(folder.path("pipe")).unwrap();
    pipe.write_all(LINES.as_bytes()).unwrap();
    wait_until("the cases are scored", || stored(&folder) == 3);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert!(ended(child, 143).ends_with("exact-match -q --resume r\n"));
    drop(pipe);
}

#[test]
fn a_second_signal_of_either_kind_does_not_wait_for_what_is_in_flight() {
    for (first, second, code) in
        [(Signal::TERM, Signal::INT, 130), (Signal::INT, Signal::TERM, 143)]
    {
        let folder = Folder::new();
        let spins = r#"-s spins=./misbehave.wasm --config spins='{"then": "spin"}' -q"#;
        let without_end = format!("{spins} --timeout 10min --fuel 9000000000000000000");
        let mut child = from_a_pipe(&folder, &without_end, LINES);
        wait_until("the run listens", || listens(&child, Signal::TERM));
        wait_until("a case is stored", || {
            folder.path("scorebox.db").exists() && cases(&folder) > 0
        });
        kill_process(Pid::from_child(&child), first).unwrap();
        let mut words = String::new();
        BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut words).unwrap();
        assert_eq!(
            words,
            "interrupted: finishing the scores in flight; interrupt again to stop at once\n"
        );
        kill_process(Pid::from_child(&child), second).unwrap();
        assert_eq!(ended(child, code), "");
    }
}

/// The number of cases stored so far; 0 while there are no tables.
fn cases(folder: &Folder) -> u32 {
    let count = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let database = Connection::open_with_flags(folder.path("scorebox.db"), flags)?;
        database.query_row("SELECT count(*) FROM cases", [], |row| row.get(0))
    };
    count().unwrap_or(0)
}

#[test]
fn a_pipe_without_a_writer_holds_no_signal_up() {
    let folder = Folder::new();
    folder.sh("mkfifo silent").exits_with(0);
    for (files, code) in [("silent", 143), ("answers.jsonl silent", 143)] {
        let child = folder.spawn(&format!("scorebox run -s contains {files} --db {code}.db"));
        // By then it waits, or gets the signal while it starts; it ends in both cases.
        thread::sleep(Duration::from_millis(500));
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(code));
    }
}

#[test]
fn a_pipe_that_is_written_late_is_read_to_its_end() {
    let folder = Folder::new();
    folder.sh("mkfifo late").exits_with(0);
    let output = folder
        .sh("(sleep 0.3; head -3 answers.jsonl; sleep 0.3; tail -n 2 answers.jsonl) > late & \
         scorebox run -s contains late --format json");
    assert_eq!(output.exits_with(0).json()["casesRead"], 5);
}
