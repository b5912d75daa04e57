//! Extra fields that a user sends to a judge, beyond what the protocol requires: in a suite, in stored data, and in
//! mistakes. Uses a real server of OpenAI's protocol on the loopback interface.

use std::fs;

use insta::assert_snapshot;

use crate::{
    fixture::Folder,
    judge_fixture::{KEY, ONE, RUN, folder, rows, sh},
    model_server::ModelServer,
};

/// Adds lines to the suite's judge.
fn add(folder: &Folder, lines: &str) {
    let suite = fs::read_to_string(folder.path("suite.toml")).unwrap();
    let suite = suite.replacen("model = \"tiny\"\n", &format!("model = \"tiny\"\n{lines}"), 1);
    folder.write("suite.toml", suite);
}

#[test]
fn what_a_user_adds_is_sent_stored_and_replayed_and_another_value_is_another_question() {
    let server = ModelServer::saying(|_| "0.5".to_owned());
    let folder = folder(&server.base_url(), &["a"], ONE);
    let headers = "key_header = \"api-key\"\nextra_headers = { X-Team = \"team-${TEAM}\" }\n";
    add(&folder, &format!("extra_body = {{ seed = 7, top_p = 0.5 }}\n{headers}"));
    let with_team = |line: &str| sh(&folder, &format!("TEAM=blue {line}"));
    with_team(RUN).exits_with(0);
    let asked = server.asked();
    assert_eq!((&asked[0].body["seed"], &asked[0].body["top_p"]), (&7.into(), &0.5.into()));
    assert_eq!(asked[0].headers["x-team"], "team-blue");
    assert_eq!(asked[0].headers["api-key"], KEY);
    assert_eq!(asked[0].authorization(), None);

    let calls = folder.sh("scorebox calls --format jsonl --limit 0").stdout;
    assert!(calls.contains(r#""extraBody":{"seed":7,"top_p":0.5}"#), "{calls}");
    let stored = fs::read(folder.path("scorebox.db")).unwrap();
    for secret in [KEY, "team-blue"] {
        assert!(!stored.windows(secret.len()).any(|bytes| bytes == secret.as_bytes()), "{secret}");
    }
    folder.sh("scorebox verify").exits_with(0);
    with_team(&format!("{RUN} --judge-cache only")).exits_with(0);

    let suite = fs::read_to_string(folder.path("suite.toml")).unwrap();
    folder.write("suite.toml", suite.replace("seed = 7", "seed = 8"));
    with_team(&format!("{RUN} --judge-cache only")).exits_with(1);
    assert_eq!(rows(&folder), ["one c0 error - judge-not-recorded"]);
    with_team(RUN).exits_with(0);
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn what_cannot_be_sent_is_a_mistake_with_its_place() {
    let folder = folder("http://127.0.0.1:1/v1", &["a"], ONE);
    add(
        &folder,
        "extra_body = { stream = true }\nextra_headers = { Authorization = \"Bearer x\" }\nkey_header = \"a b\"\n",
    );
    let run = folder.sh(RUN);
    assert_eq!(run.code, Some(2), "{run}");
    assert_snapshot!(run.stderr, @"
    error: suite.toml:5:14: `extra_body` cannot have `stream`: scorebox decides it
    error: suite.toml:6:17: `extra_headers` cannot have `Authorization`: a key is named by `key_env`, and its header by `key_header`
    error: suite.toml:7:14: `a b` is not a name of a header
    ");
    let command = "[judges.default]\nprovider = \"command\"\ncommand = [\"a\"]\nextra_headers = { a = \"b\" }\n";
    folder.write("suite.toml", format!("{command}{ONE}"));
    let run = folder.sh(RUN);
    assert!(run.stderr.contains("a judge of provider `command` has no `extra_headers`"), "{run}");
}
