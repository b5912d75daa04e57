//! Scorers that answer a case with what is no score, too long, no JSON, or written for a terminal.

use insta::assert_snapshot;
use serde_json::json;

use crate::hostile_fixture::{Arena, attacker_in_describe};

/// The score of one attack, as data.
fn score(arena: &Arena, word: &str) -> serde_json::Value {
    let output = arena.score("attacker", &json!({"score": word}).to_string(), "");
    output.exits_with(0).json()
}

#[test]
fn a_score_off_its_scale_is_no_score() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("nan", 0, ""), @"");
    assert_snapshot!(arena.attack_score("infinity", 0, ""), @"");
    assert_snapshot!(arena.attack_score("minus-infinity", 0, ""), @"");
    assert_snapshot!(arena.attack_score("minus-one", 0, ""), @"");
    assert_snapshot!(arena.attack_score("next-after-one", 0, ""), @"");
    assert_snapshot!(arena.attack_score("1e308", 0, ""), @"");
}

#[test]
fn minus_zero_is_stored_as_zero() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("minus-zero", 0, ""), @"");
    assert!(score(&arena, "minus-zero")["score"].as_f64().unwrap().is_sign_positive());
}

#[test]
fn points_as_large_as_numbers_get_break_no_statistics() {
    let arena = Arena::new();
    arena.write("attacker.wasm", attacker_in_describe("points"));
    let output =
        arena.run_beside_a_good_scorer("attacker", r#"{"score": "1e308"}"#, "--format json");
    let json = output.exits_with(0).json();
    let attacker = &json["scorers"][0];
    assert_eq!((&attacker["count"], &attacker["max"]), (&json!(6), &json!(1e308)));
    assert_eq!((&attacker["mean"], &attacker["stddev"]), (&json!(1e308), &json!(0.0)));
}

#[test]
fn texts_beyond_their_limits_are_refused_with_the_limit() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("long-label", 1 << 20, ""), @"");
    assert_snapshot!(arena.attack_score("long-reason", 1 << 20, ""), @"");
    assert_snapshot!(arena.attack_score("long-meta", 2 << 20, ""), @"");
    assert_snapshot!(arena.attack_score("assertion-with-a-long-name", 1 << 20, ""), @"");
}

#[test]
fn texts_beyond_all_limits_are_not_even_taken_over() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("long-reason", 50 << 20, ""), @"");
    assert_snapshot!(arena.attack_score("fail-at-length", 50 << 20, ""), @"");
}

#[test]
fn a_limit_that_is_raised_lets_the_text_through() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("long-reason", 1 << 20, "--limit reason=2MiB"), @"");
    assert_snapshot!(arena.attack_score("long-meta", 2 << 20, "--limit meta=3MiB"), @"");
    assert_snapshot!(arena.attack_score("many-assertions", 1001, "--limit assertions=1001"), @"");
}

#[test]
fn assertions_are_counted() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("many-assertions", 1001, ""), @"");
    assert_snapshot!(arena.attack_score("many-assertions", 300_000, ""), @"");
}

#[test]
fn assertions_are_checked_one_by_one() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("assertion-that-scores-nan", 0, ""), @"");
    assert_snapshot!(arena.attack_score("assertion-with-an-infinite-threshold", 0, ""), @"");
}

#[test]
fn meta_is_one_json_document() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("empty-meta", 0, ""), @"");
    assert_snapshot!(arena.attack_score("meta-that-is-no-json", 0, ""), @"");
    assert_snapshot!(arena.attack_score("meta-of-two-documents", 0, ""), @"");
    assert_snapshot!(arena.attack_score("meta-for-a-terminal", 0, ""), @"");
    assert_snapshot!(arena.attack_score("deep-meta", 100_000, ""), @"");
}

#[test]
fn meta_that_other_programs_could_not_read_is_refused() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("meta-with-a-huge-number", 0, ""), @"");
    assert_snapshot!(arena.attack_score("meta-with-half-a-character", 0, ""), @"");
}

#[test]
fn texts_for_a_terminal_are_stored_as_they_are_and_printed_harmlessly() {
    let arena = Arena::new();
    for word in ["reason-for-a-terminal", "label-for-a-terminal", "assertion-for-a-terminal"] {
        assert_eq!(score(&arena, word)["status"], "scored");
        arena.attack_score(word, 0, "");
    }
    assert_eq!(score(&arena, "meta-with-raw-escapes")["meta"], "\u{9b}31m\u{202e}\u{7f}");
}

#[test]
fn what_a_scorer_says_when_it_fails_is_cut_and_harmless() {
    let arena = Arena::new();
    let fails = arena.attack_score("fail-at-length", 4 << 20, "");
    assert_snapshot!(fails.replace(&"long".repeat(512), ""), @"");
    let refuses = arena.attack_score("refuse-the-case-at-length", 4 << 20, "");
    assert_snapshot!(refuses.replace(&"long".repeat(512), ""), @"");
    assert_snapshot!(arena.attack_score("fail-for-a-terminal", 0, ""), @"");
}

#[test]
fn what_a_scorer_says_of_its_configuration_is_cut_and_harmless() {
    let arena = Arena::new();
    let refuses = arena.attack_configure("refuse-at-length", 5 << 20, "");
    assert_snapshot!(refuses.replace(&"long".repeat(512), ""), @"");
    assert_snapshot!(arena.attack_configure("refuse-at-length", 20 << 20, ""), @"");
    assert_snapshot!(arena.attack_configure("refuse-for-a-terminal", 0, ""), @"");
}

#[test]
fn the_table_of_stored_scores_is_harmless() {
    let arena = Arena::new();
    let table = |word: &str| {
        let config = json!({"score": word}).to_string();
        let run = format!("scorebox run -q -s ./attacker.wasm cases.jsonl --run-id {word}");
        arena.run(&format!("{run} --allow-errors --config attacker='{config}'")).exits_with(0);
        arena.run(&format!("scorebox scores {word} --limit 1"))
    };
    assert_snapshot!(table("reason-for-a-terminal"), @"");
    assert_snapshot!(table("fail-for-a-terminal"), @"");
    assert_snapshot!(table("reason-in-the-engines-words"), @"");
}
