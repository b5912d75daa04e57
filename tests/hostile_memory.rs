//! Scorers that request more memory than they may have, at once and in steps.

use insta::assert_snapshot;

use crate::hostile_fixture::Arena;

#[test]
fn memory_at_once_beyond_the_limit_is_refused_in_every_export() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_everywhere("take-memory-at-once", 1 << 30, ""), @r#"
    -- describe
    error: scorer `./attacker.wasm`: out-of-memory: in `describe`: the scorer needs [needed] bytes of memory, more than its limit of 67108864
      wasm trap: wasm `unreachable` instruction executed
        at [frames]
    hint: if it needs more, raise it: `limits = { memory = "…MiB" }` in the suite, or --memory
    [exit code 2]
    -- configure
    error: scorer `./attacker.wasm`: out-of-memory: in `configure`: the scorer needs [needed] bytes of memory, more than its limit of 67108864
      wasm trap: wasm `unreachable` instruction executed
        at [frames]
    hint: if it needs more, raise it: `limits = { memory = "…MiB" }` in the suite, or --memory
    [exit code 2]
    -- score
    error: out-of-memory: the scorer needs [needed] bytes of memory, more than its limit of 67108864
      wasm trap: wasm `unreachable` instruction executed
        at [frames]
    hint: if it needs more, raise it: `limits = { memory = "…MiB" }` in the suite, or --memory
    [exit code 1]
    "#);
}

#[test]
fn memory_in_small_steps_ends_at_the_same_limit() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_everywhere("take-memory-in-steps", 0, ""), @r#"
    -- describe
    error: scorer `./attacker.wasm`: out-of-memory: in `describe`: the scorer needs [needed] bytes of memory, more than its limit of 67108864
      wasm trap: wasm `unreachable` instruction executed
        at [frames]
    hint: if it needs more, raise it: `limits = { memory = "…MiB" }` in the suite, or --memory
    [exit code 2]
    -- configure
    error: scorer `./attacker.wasm`: out-of-memory: in `configure`: the scorer needs [needed] bytes of memory, more than its limit of 67108864
      wasm trap: wasm `unreachable` instruction executed
        at [frames]
    hint: if it needs more, raise it: `limits = { memory = "…MiB" }` in the suite, or --memory
    [exit code 2]
    -- score
    error: out-of-memory: the scorer needs [needed] bytes of memory, more than its limit of 67108864
      wasm trap: wasm `unreachable` instruction executed
        at [frames]
    hint: if it needs more, raise it: `limits = { memory = "…MiB" }` in the suite, or --memory
    [exit code 1]
    "#);
}

#[test]
fn a_lower_limit_is_lower_for_scores_only() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("take-memory-in-steps", 0, "--memory 1MiB"), @r#"
    error: out-of-memory: the scorer needs [needed] bytes of memory, more than its limit of 1048576
      wasm trap: wasm `unreachable` instruction executed
        at [frames]
    hint: if it needs more, raise it: `limits = { memory = "…MiB" }` in the suite, or --memory
    [exit code 1]
    "#);
}

#[test]
fn a_scorer_that_lives_with_a_refusal_has_its_score() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("be-refused-memory-and-live", 0, ""), @"[exit code 0]");
}

#[test]
fn a_crash_after_a_refusal_is_reported_with_both() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("be-refused-memory-and-panic-later", 0, ""), @r#"
    error: out-of-memory: the scorer needs [needed] bytes of memory, more than its limit of 67108864
      something else went wrong
      (wasm trap: wasm `unreachable` instruction executed)
        at [frames]
    hint: if it needs more, raise it: `limits = { memory = "…MiB" }` in the suite, or --memory
    [exit code 1]
    "#);
}

#[test]
fn memory_that_is_all_beginnings_and_ends_is_frozen_in_bounded_memory() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_configure("fill-memory-with-stripes", 60 << 20, ""), @"[exit code 0]");
}
