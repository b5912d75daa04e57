//! How signals act while judges are asked: questions that were not sent, and programs that answer. Uses a server of
//! OpenAI's protocol on the loopback interface that answers when a test lets it.

use std::{
    fs::{self, File},
    path::Path,
    process::{Child, Stdio},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    fixture::Folder,
    judge_fixture::{KEY, ONE, folder, sh},
    model_server::ModelServer,
};

/// Waits until a condition holds, which must happen sooner or later.
fn until(holds: impl Fn() -> bool) {
    while !holds() {
        thread::sleep(Duration::from_millis(10));
    }
}

/// Starts a command that writes its messages into the file `words`.
fn begun(folder: &Folder, command: &str) -> Child {
    let words = File::create(folder.path("words")).unwrap();
    let mut shell = folder.shell(&format!("exec {command}"));
    shell.env("THE_KEY", KEY).stdout(Stdio::null()).stderr(words).spawn().unwrap()
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn has_said(folder: &Folder, words: &str) -> bool {
    fs::read_to_string(folder.path("words")).unwrap().contains(words)
}

/// Whether the server may answer, and the waiting requests.
type Gate = Arc<(Mutex<bool>, Condvar)>;

/// Six cases, and a judge that is asked one question at a time and answers once the gate is open.
fn behind_a_gate() -> (Folder, ModelServer, Gate) {
    let gate = Gate::default();
    let server = ModelServer::saying({
        let gate = Arc::clone(&gate);
        move |_| {
            let (is_open, opens) = &*gate;
            let opened = opens.wait_while(is_open.lock().unwrap(), |is_open| !*is_open);
            drop(opened.unwrap());
            "1".into()
        }
    });
    let folder = folder(&server.base_url(), &["a", "b", "c", "d", "e", "f"], ONE);
    let suite = fs::read_to_string(folder.path("suite.toml")).unwrap();
    let one_at_once = suite.replace("model = \"tiny\"", "model = \"tiny\"\nconcurrency = 1");
    folder.write("suite.toml", one_at_once);
    (folder, server, gate)
}

/// A followed file is read again from the first case that lacks a row.
#[test]
fn what_a_follower_that_ends_has_not_asked_is_asked_by_the_next_one() {
    let (folder, server, gate) = behind_a_gate();
    let follow = "scorebox live suite.toml --follow cases.jsonl -q";
    let mut live = begun(&folder, follow);
    until(|| server.asked().len() == 1 && folder.rows("SELECT count(*) FROM cases") == ["6"]);
    signal(&live, Signal::TERM);
    until(|| has_said(&folder, "interrupted"));
    *gate.0.lock().unwrap() = true;
    gate.1.notify_all();
    live.wait().unwrap();
    assert_eq!(folder.rows("SELECT count(*) FROM scores"), ["1"]);
    let mut live = begun(&folder, follow);
    until(|| folder.rows("SELECT count(*) FROM scores") == ["6"]);
    signal(&live, Signal::TERM);
    live.wait().unwrap();
    assert_eq!(server.asked().len(), 6);
}

#[test]
fn an_interrupted_run_asks_nothing_more_and_a_resumed_one_asks_the_rest() {
    let (folder, server, gate) = behind_a_gate();
    let mut run = begun(&folder, "scorebox run suite.toml cases.jsonl -q --run-id r");
    until(|| server.asked().len() == 1);
    signal(&run, Signal::TERM);
    until(|| has_said(&folder, "interrupted: finishing the scores in flight"));
    *gate.0.lock().unwrap() = true;
    gate.1.notify_all();
    assert_eq!(run.wait().unwrap().code(), Some(143));
    assert_eq!(server.asked().len(), 1);
    assert_eq!(folder.rows("SELECT state FROM runs"), ["interrupted"]);
    assert_eq!(folder.rows("SELECT status FROM scores"), ["scored"]);

    sh(&folder, "scorebox run suite.toml cases.jsonl -q --resume r").exits_with(0);
    assert_eq!(server.asked().len(), 6);
    assert_eq!(folder.rows("SELECT count(*), sum(score) FROM scores"), ["6 | 6"]);
}

/// A folder with a suite whose judge is a program that writes its process id into the file `program` and never ends.
fn with_an_endless_program() -> Folder {
    let folder = folder("http://127.0.0.1:9/v1", &["a"], "");
    let program = "echo $$ > program.new; mv program.new program; exec sleep 10000";
    folder.write(
        "suite.toml",
        format!(
            "[judges.default]\nprovider = \"command\"\ncommand = [\"sh\", \"-c\", \"{program}\"]\n{ONE}"
        ),
    );
    folder
}

/// Whether a process with this id runs: a zombie counts as ended.
fn runs(number: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{number}/stat"));
    status.is_ok_and(|status| !status.rsplit(')').next().unwrap_or_default().starts_with(" Z"))
}

/// The process id of the program that answers, once it runs.
fn program(folder: &Folder) -> String {
    until(|| folder.path("program").exists());
    fs::read_to_string(folder.path("program")).unwrap().trim().to_owned()
}

#[test]
fn the_second_signal_ends_the_programs_that_answer() {
    if !Path::new("/proc/self/stat").exists() {
        return;
    }
    let folder = with_an_endless_program();
    let mut run = begun(&folder, "scorebox run suite.toml cases.jsonl -q");
    let program = program(&folder);
    signal(&run, Signal::TERM);
    until(|| has_said(&folder, "interrupted: finishing the scores in flight"));
    assert!(runs(&program));
    signal(&run, Signal::TERM);
    assert_eq!(run.wait().unwrap().code(), Some(143));
    until(|| !runs(&program));
}

#[test]
fn a_run_that_is_killed_leaves_no_program_that_answers() {
    if !Path::new("/proc/self/stat").exists() {
        return;
    }
    let folder = with_an_endless_program();
    // Processes that the program starts are in its group, and end with it.
    let suite = fs::read_to_string(folder.path("suite.toml")).unwrap();
    folder.write("suite.toml", suite.replace("exec sleep 10000", "sleep 10000; true"));
    let mut run = begun(&folder, "scorebox run suite.toml cases.jsonl -q");
    let program = program(&folder);
    let begun_by = |parent: &str| {
        let begun = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
        begun.unwrap_or_default().split_whitespace().next().map(str::to_owned)
    };
    until(|| begun_by(&program).is_some());
    let sleep = begun_by(&program).unwrap();
    run.kill().unwrap();
    run.wait().unwrap();
    until(|| !runs(&program) && !runs(&sleep));
}

#[test]
fn a_signal_ends_a_score_and_a_check_with_the_programs_that_answer() {
    if !Path::new("/proc/self/stat").exists() {
        return;
    }
    for command in [
        "scorebox score ./asker.wasm --grant judge --judges suite.toml --output-text a",
        "scorebox judges check suite.toml",
    ] {
        let folder = with_an_endless_program();
        let mut asking = begun(&folder, command);
        let program = program(&folder);
        signal(&asking, Signal::INT);
        assert_eq!(asking.wait().unwrap().code(), Some(130), "{command}");
        until(|| !runs(&program));
    }
}
