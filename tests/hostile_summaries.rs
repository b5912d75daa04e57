//! Scorers that attack in `summarize`, when the scores of a run are all there.

use insta::assert_snapshot;
use serde_json::json;

use crate::hostile_fixture::{Arena, words};

/// What the user reads of a run whose attacker does `word` in `summarize`; all scores are right.
#[track_caller]
fn attack(word: &str, amount: usize, options: &str) -> String {
    let arena = Arena::new();
    let config = json!({"summarize": word, "amount": amount}).to_string();
    let output = arena.run_beside_a_good_scorer("attacker", &config, options);
    let said = output.stdout.split_once("\n\n").map_or("", |(_, said)| said);
    format!("{said}{}", words(&output))
}

#[test]
fn without_an_attack_it_says_how_many_rows_there_were() {
    assert_snapshot!(attack("behave", 0, ""), @"");
}

#[test]
fn computing_without_end() {
    assert_snapshot!(attack("spin", 0, "--fuel 1000000000000000"), @"");
}

#[test]
fn recursing_taking_memory_and_crashing() {
    assert_snapshot!(attack("recurse", 0, ""), @"");
    assert_snapshot!(attack("take-memory-at-once", 1 << 30, ""), @"");
    assert_snapshot!(attack("take-memory-in-steps", 0, ""), @"");
    assert_snapshot!(attack("read-out-of-bounds", 0, ""), @"");
    assert_snapshot!(attack("divide-by-zero", 0, ""), @"");
}

#[test]
fn logging() {
    assert_snapshot!(attack("log-one-long-line", 30 << 20, ""), @"");
    assert_snapshot!(attack("log-for-a-terminal", 0, ""), @"");
    assert_snapshot!(attack("log-what-looks-like-the-engines-words", 0, ""), @"");
}

#[test]
fn what_is_no_bounded_json_is_no_summary() {
    assert_snapshot!(attack("no-json", 0, ""), @"");
    assert_snapshot!(attack("nothing", 0, ""), @"");
    assert_snapshot!(attack("deep", 100_000, ""), @"");
    assert_snapshot!(attack("long", 2 << 20, ""), @"");
    assert_snapshot!(attack("long", 50 << 20, ""), @"");
}

#[test]
fn what_a_terminal_would_act_on() {
    assert_snapshot!(attack("for-a-terminal", 0, ""), @"");
    assert_snapshot!(attack("fail-for-a-terminal", 0, ""), @"");
}

#[test]
fn failing() {
    assert_snapshot!(attack("fail", 0, ""), @"");
    assert_snapshot!(attack("fail-at-length", 4 << 20, "").replace(&"long".repeat(512), ""), @"");
}

#[test]
fn traces_of_scores_are_not_there() {
    let arena = Arena::new();
    let config = json!({"score": "leave-traces", "summarize": "leave-traces"}).to_string();
    let output = arena.run_beside_a_good_scorer("attacker", &config, "").exits_with(0);
    assert!(output.stdout.contains("static: false, heap: false, memory: false"), "{output}");
}
