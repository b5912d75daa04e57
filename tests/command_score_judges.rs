//! `scorebox score` and `inspect` with scorers that ask a judge: how a judge is named, what it costs, and the message
//! without one. Uses a real server of OpenAI's protocol on the loopback interface.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use serde_json::json;

use crate::{
    judge_fixture::{KEY, ONE, entry, folder, sh},
    model_server::ModelServer,
};

const SCORE: &str = "scorebox score ./asker.wasm --output-text abc";

#[test]
fn one_judged_score_needs_a_suite_or_a_server_and_shows_its_cost() {
    let server = ModelServer::saying(|_| "0.25".into());
    let folder = folder(&server.base_url(), &[], ONE);
    let with_suite = sh(&folder, &format!("{SCORE} --grant judge --judges suite.toml"));
    assert_eq!(with_suite.json()["score"], 0.25, "{with_suite}");
    assert_eq!(with_suite.json()["calls"][0]["isRecorded"], false);
    let cost =
        "judge of ./asker.wasm: 1 answer, 12 tokens of questions and 2 of answers, $0.000016";
    assert!(with_suite.stderr.contains(cost), "{with_suite}");
    assert_eq!(with_suite.code, Some(0));

    let server_alone = format!("--judge-url {} --judge-model small", server.base_url());
    let alone = folder.sh(&format!("{SCORE} --grant judge {server_alone} --format table"));
    assert!(alone.stdout.contains("0.2500"), "{alone}");
    assert!(alone.stderr.contains("1 answer, 12 tokens of questions and 2 of answers"), "{alone}");
    let asked = server.asked();
    let models: Vec<&str> = asked.iter().map(|it| it.body["model"].as_str().unwrap()).collect();
    assert_eq!(models, ["tiny", "small"]);
    // A server that the user names only gets a key that is meant for it.
    assert_eq!(asked[1].authorization(), None);
    sh(&folder, &format!("{SCORE} --grant judge {server_alone} --judge-key-env THE_KEY"))
        .exits_with(0);
    assert_eq!(server.asked()[2].authorization(), Some(format!("Bearer {KEY}").as_str()));
    let without = format!("{SCORE} --grant judge {server_alone} --judge-key-env NO_SUCH_KEY");
    let without = folder.sh(&without).exits_with(2);
    assert!(
        without.stderr.contains("the environment variable `NO_SUCH_KEY` has no value"),
        "{without}"
    );
    assert!(!folder.path("scorebox.db").exists());
}

#[test]
fn answers_are_recorded_in_a_database_that_is_named() {
    let server = ModelServer::saying(|_| "0.25".into());
    let folder = folder(&server.base_url(), &[], ONE);
    let judged = format!("{SCORE} --grant judge --judges suite.toml --db calls.db");
    sh(&folder, &judged).exits_with(0);
    drop(server);
    let again = folder.sh(&format!("{judged} --judge-cache only")).exits_with(0);
    assert_eq!(again.json()["calls"][0]["isRecorded"], true);
    assert!(again.stderr.contains("1 answer, 1 of them recorded before"), "{again}");
    let no_database = "--grant judge --judges suite.toml --judge-cache only";
    let refused = folder.sh(&format!("{SCORE} {no_database}")).exits_with(2);
    assert!(refused.stderr.contains("name it: --db FILE"), "{refused}");
}

#[test]
fn a_budget_and_trouble_end_one_score_with_an_error() {
    let server = ModelServer::saying(|_| "0.25".into());
    let folder = folder(&server.base_url(), &[], ONE);
    let thrice = "--config '{\"how\": \"together\", \"times\": 3}'";
    let judged = format!("{SCORE} --grant judge --judges suite.toml {thrice}");
    let spent = sh(&folder, &format!("{judged} --judge-budget calls=2"));
    assert_eq!(spent.json()["error"]["kind"], "judge-over-budget", "{spent}");
    assert_eq!(spent.code, Some(1));
    assert_eq!(server.asked().len(), 2);
    assert!(spent.stderr.contains("24 tokens of questions"), "{spent}");
}

/// A rate limit may last for minutes, and a script's log would not mention it.
#[test]
fn a_judge_that_asks_to_wait_is_said_in_a_line() {
    let refusals = AtomicU32::new(0);
    let server = ModelServer::answering(move |_| match refusals.fetch_add(1, Relaxed) {
        0..3 => (429, "slow down".into()),
        _ => (200, "0.25".into()),
    });
    let folder = folder(&server.base_url(), &[], ONE);
    let asked = format!("--judge-url {} --judge-model small", server.base_url());
    let judged = format!("{SCORE} --grant judge {asked}");
    let slowed = sh(&folder, &judged).exits_with(0);
    let said = |of: &str| slowed.stderr.matches(of).count();
    assert_eq!(said("waiting until the judge may be asked again"), 1, "{slowed}");
    let at_once = sh(&folder, &judged).exits_with(0);
    assert!(!at_once.stderr.contains("waiting"), "{at_once}");
}

#[test]
fn without_a_judge_the_line_to_use_is_shown() {
    let folder = folder("http://127.0.0.1:9/v1", &[], ONE);
    let not_granted = folder.sh(SCORE).exits_with(2);
    assert!(
        not_granted.stderr.contains("missing-grant: it asks a judge, which was not granted"),
        "{not_granted}"
    );
    let line = "`scorebox score ./asker.wasm --grant judge --judges SUITE.toml …`";
    assert!(not_granted.stderr.contains(line), "{not_granted}");
    assert!(not_granted.stderr.contains("--judge-url http://127.0.0.1:11434/v1"), "{not_granted}");
    let none = folder.sh(&format!("{SCORE} --grant judge")).exits_with(2);
    assert!(none.stderr.contains("asks a judge, and none is named"), "{none}");
    assert!(none.stderr.contains(line), "{none}");
    let named = "--grant judge --judges suite.toml --judge strict";
    let unknown = folder.sh(&format!("{SCORE} {named}")).exits_with(2);
    assert!(unknown.stderr.contains("suite.toml has no judge `strict`"), "{unknown}");
    assert!(unknown.stderr.contains("name one with --judge: default"), "{unknown}");
    let no_model = folder.sh(&format!("{SCORE} --grant judge --judge-url http://a/v1"));
    assert_eq!(no_model.exits_with(2).stdout, "");
}

#[test]
fn an_inspection_says_which_grants_a_scorer_needs_and_how_to_give_them() {
    let server = ModelServer::saying(|_| "0.25".into());
    let folder = folder(&server.base_url(), &[], &entry("one", "{}"));
    let shown = folder.sh("scorebox inspect ./asker.wasm --grant judge").exits_with(0);
    for said in
        ["the grant `judge`: it asks a language model", "--judges SUITE.toml", "[judges.default]"]
    {
        assert!(shown.stdout.contains(said), "{said}\n{shown}");
    }
    let json = folder.sh("scorebox inspect ./asker.wasm --grant judge --format json").exits_with(0);
    assert_eq!(json.json()["grants"], json!(["judge"]));
    let plain = folder.sh("scorebox inspect contains --format json").exits_with(0);
    assert_eq!(plain.json()["grants"], json!([]));
    let cost = "scorebox inspect ./asker.wasm --grant judge --judges suite.toml --output-text abc";
    let scored = sh(&folder, cost).exits_with(0);
    assert!(scored.stdout.contains("score         0.2500"), "{scored}");
}
