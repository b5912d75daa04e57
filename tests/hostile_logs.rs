//! Scorers that fill their log, or write into it what is meant for the terminal or the user.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::hostile_fixture::Arena;

#[test]
fn a_log_without_end_ends_with_the_score() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("log-without-end", 0, "--timeout 300ms"), @"");
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
    assert_snapshot!(arena.attack_everywhere("log-one-long-line", 30 << 20, ""), @"");
}

#[test]
fn what_a_terminal_would_act_on_is_shown_and_not_done() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_everywhere("log-for-a-terminal", 0, ""), @"");
}

#[test]
fn json_for_a_terminal_means_the_same_and_does_nothing() {
    let arena = Arena::new();
    let config = json!({"score": "log-for-a-terminal"});
    // That nothing is in it that a terminal acts on is for the arena to see.
    let output = arena.score("attacker", &config.to_string(), "").exits_with(1);
    let logged = &output.json()["log"][0]["message"];
    let written = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}desrever\u{2066}\r\u{8}\u{9b}31m\u{7f}\u{0}\u{200f}\u{feff}";
    assert_eq!(*logged, Value::from(written));
}

#[test]
fn long_last_words_do_not_hide_what_happened() {
    let arena = Arena::new();
    let words = arena.attack_score("log-a-long-error-and-crash", 1 << 20, "");
    let short = words.replace(&"long".repeat(16), "");
    assert_snapshot!(short, @"");
}

#[test]
fn words_that_look_like_the_engines_own_stand_apart_from_them() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_everywhere("log-what-looks-like-the-engines-words", 0, ""), @"");
    assert_snapshot!(arena.attack_configure("refuse-in-the-engines-words", 0, ""), @"");
    assert_snapshot!(arena.attack_score("fail-in-the-engines-words", 0, ""), @"");
}
