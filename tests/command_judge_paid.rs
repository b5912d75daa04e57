//! Answers that were paid for. They are among the calls of a score that another question ended, and of the run if no
//! score was stored, and they count towards its cost and its budget until the run is removed. Uses a real server of
//! OpenAI's protocol on the loopback interface.

use std::{
    process::Stdio,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    fixture::{Folder, Output},
    judge_fixture::{KEY, RUN, folder, rows, sh},
    model_server::{Asked, ModelServer},
};

const USEFUL: &str = r#"{"reason": "so", "choice": "Yes"}"#;

/// The cost of one answer of 12 and 2 tokens, in millionths of a dollar.
const COST: usize = 16;

/// A budget of six answers: the sixth answer spends it.
const BUDGET: &str = "--judge-budget usd=0.00009";

/// A scorer that asks about each document of the context.
const SCORER: &str = "[scorers.x]\nuse = \"context-precision\"\ngrants = [\"judge\"]\n";

fn is_about(asked: &Asked, document: &str) -> bool {
    asked.body["messages"].to_string().contains(document)
}

/// A server that fails for the document BAD, after it has answered about the others.
fn server() -> ModelServer {
    ModelServer::answering(|asked| match is_about(asked, "BAD") {
        true => {
            thread::sleep(Duration::from_millis(100));
            (401, "no".into())
        }
        false => (200, USEFUL.into()),
    })
}

/// The file `cases.jsonl`, with a case for each of these contexts, whose documents differ between cases.
fn write_cases(folder: &Folder, count: usize, documents: &[&str]) {
    let cases = (0..count).map(|at| {
        let context: Vec<String> = documents.iter().map(|it| format!("{it} of {at}")).collect();
        let case = json!({"id": format!("c{at}"), "input": "q", "output": "o", "context": context});
        format!("{case}\n")
    });
    folder.write("cases.jsonl", cases.collect::<String>());
}

fn answered(server: &ModelServer) -> usize {
    server.asked().iter().filter(|asked| !is_about(asked, "BAD")).count()
}

/// From the JSON summary of a run: the answers, the answers that were recorded before, and the cost in millionths of a
/// dollar.
fn judged(run: &Output) -> [usize; 3] {
    let judged = &run.json()["judges"][0];
    let count = |figure: &str| judged[figure].as_u64().unwrap() as usize;
    let cost = (judged["costUsd"].as_f64().unwrap() * 1e6).round() as usize;
    [count("calls"), count("recorded"), cost]
}

/// The output of `calls` for the newest run: the case of each recording.
fn listed(folder: &Folder) -> Vec<Value> {
    let calls = sh(folder, "scorebox calls --format jsonl --limit 0").exits_with(0);
    let lines = calls.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|call| call["caseId"].clone()).collect()
}

fn recordings(folder: &Folder) -> Vec<String> {
    folder.rows("SELECT count(*) FROM calls")
}

#[test]
fn answers_beside_a_question_that_has_none_are_calls_of_the_score() {
    let server = server();
    let folder = folder(&server.base_url(), &[], SCORER);
    write_cases(&folder, 1, &["BAD", "one", "two"]);
    let run = sh(&folder, &format!("{RUN} --run-id r --format json")).exits_with(1);
    assert_eq!(rows(&folder), ["x c0 error - judge-refused"]);
    assert_eq!(judged(&run), [2, 0, 2 * COST]);
    assert_eq!(listed(&folder), ["c0", "c0"]);

    let verified = sh(&folder, "scorebox verify r --format jsonl").exits_with(1);
    assert!(verified.stdout.contains("a judge had no answer"), "{verified}");
    let root = run.json()["root"].as_str().unwrap().to_owned();
    sh(&folder, &format!("scorebox verify r --root {root}")).exits_with(0);

    sh(&folder, "scorebox rm r --yes").exits_with(0);
    assert_eq!(recordings(&folder), ["0"]);
}

#[test]
fn a_followed_run_keeps_its_budget_of_dollars_if_scores_are_errors() {
    let server = server();
    let folder = folder(&server.base_url(), &[], SCORER);
    write_cases(&folder, 12, &["BAD", "one", "two"]);
    let follow = format!("scorebox live suite.toml --follow cases.jsonl -q {BUDGET}");
    sh(&folder, &follow).exits_with(1);
    let paid = answered(&server);
    assert!((6..=8).contains(&paid), "{paid}");
    for _ in 0..2 {
        let stopped = sh(&folder, &follow).exits_with(1);
        assert!(stopped.stderr.contains("US dollars are spent"), "{stopped}");
        assert_eq!(answered(&server), paid);
    }
}

#[test]
fn what_a_run_paid_for_scores_that_it_did_not_store_is_its_cost() {
    let server = server();
    let folder = folder(&server.base_url(), &[], SCORER);
    write_cases(&folder, 4, &["one", "two", "three", "four"]);
    let stopped = sh(&folder, &format!("{RUN} --run-id r --format json {BUDGET}")).exits_with(1);
    let paid = answered(&server);
    assert_eq!(judged(&stopped), [paid, 0, paid * COST]);
    let calls = listed(&folder);
    assert_eq!(calls.len(), paid);
    assert!(calls.contains(&Value::Null), "{calls:?}");

    let resumed = sh(&folder, "scorebox run suite.toml cases.jsonl -q --resume r --format json");
    let resumed = resumed.exits_with(0);
    assert_eq!((answered(&server), judged(&resumed)), (16, [16, 0, 16 * COST]));
    assert_eq!(listed(&folder).len(), 16);

    // Another run uses the recordings, and asks nothing.
    let second = sh(&folder, &format!("{RUN} --run-id s --format json")).exits_with(0);
    assert_eq!(judged(&second), [16, 16, 0]);
    sh(&folder, "scorebox rm r --yes").exits_with(0);
    assert_eq!(recordings(&folder), ["16"]);
    sh(&folder, "scorebox rm s --yes").exits_with(0);
    assert_eq!(recordings(&folder), ["0"]);
}

#[test]
fn what_a_killed_run_paid_for_is_its_cost_and_goes_with_it() {
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let server = ModelServer::saying({
        let (gate, asked) = (Arc::clone(&gate), AtomicUsize::new(0));
        move |_| {
            // The third one waits until the run is killed.
            if asked.fetch_add(1, SeqCst) == 2 {
                let (is_open, opens) = &*gate;
                let opened = opens.wait_while(is_open.lock().unwrap(), |is_open| !*is_open);
                drop(opened.unwrap());
            }
            USEFUL.into()
        }
    });
    let folder = folder(&server.base_url(), &[], SCORER);
    write_cases(&folder, 1, &["one", "two", "three"]);
    let mut shell = folder.shell("exec scorebox run suite.toml cases.jsonl -q --run-id r");
    let mut run =
        shell.env("THE_KEY", KEY).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while server.asked().len() < 3 || recordings(&folder) != ["2"] {
        thread::sleep(Duration::from_millis(10));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    *gate.0.lock().unwrap() = true;
    gate.1.notify_all();
    assert_eq!(listed(&folder), [Value::Null, Value::Null]);

    let resumed = sh(&folder, "scorebox run suite.toml cases.jsonl -q --resume r --format json");
    assert_eq!(judged(&resumed.exits_with(0)), [3, 0, 3 * COST]);
    sh(&folder, "scorebox rm r --yes").exits_with(0);
    assert_eq!(recordings(&folder), ["0"]);
}
