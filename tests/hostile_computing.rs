//! Scorers that compute or recurse endlessly, in each of their exports.

use insta::assert_snapshot;
use serde_json::json;

use crate::hostile_fixture::{Arena, attacker, attacker_in_describe, is_ended_by_the_clock_in};

/// More fuel than can be used in the time that a scorer has.
const FUEL_WITHOUT_END: &str = "--fuel 1000000000000000";

#[test]
fn a_loop_without_end_is_ended_by_the_clock_in_describe_and_configure() {
    is_ended_by_the_clock_in("describe", &attacker_in_describe("spin"), &json!({}));
    is_ended_by_the_clock_in("configure", &attacker("attacker"), &json!({"configure": "spin"}));
}

#[test]
fn a_loop_without_end_is_ended_by_the_clock_in_score() {
    let arena = Arena::new();
    let options = format!("{FUEL_WITHOUT_END} --timeout 200ms");
    assert_snapshot!(arena.attack_score("spin", 0, &options), @r#"
    error: timed-out: no answer within 200 ms; the scorer was stopped
    hint: if it needs longer, raise it: `limits = { timeout = "…s" }` in the suite, or --timeout
    [exit code 1]
    "#);
}

#[test]
fn a_loop_without_end_is_ended_by_its_fuel() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("spin", 0, "--fuel 20000000"), @"
    error: out-of-fuel: the scorer used up its 20000000 fuel
    hint: if it needs more, raise it: `limits = { fuel = … }` in the suite, or --fuel
    [exit code 1]
    ");
}

#[test]
fn a_recursion_without_end_is_a_crash_wherever_it_happens() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_everywhere("recurse", 0, ""), @"
    -- describe
    error: scorer `./attacker.wasm`: trap: in `describe`: wasm trap: call stack exhausted
        at [frames]
    [exit code 2]
    -- configure
    error: scorer `./attacker.wasm`: trap: in `configure`: wasm trap: call stack exhausted
        at [frames]
    [exit code 2]
    -- score
    error: trap: wasm trap: call stack exhausted
        at [frames]
    [exit code 1]
    ");
}

#[test]
fn a_recursion_without_end_that_uses_no_memory_of_its_own_is_a_crash_too() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_everywhere("recurse-with-little-stack", 0, ""), @"
    -- describe
    error: scorer `./attacker.wasm`: trap: in `describe`: wasm trap: call stack exhausted
        at [frames]
    [exit code 2]
    -- configure
    error: scorer `./attacker.wasm`: trap: in `configure`: wasm trap: call stack exhausted
        at [frames]
    [exit code 2]
    -- score
    error: trap: wasm trap: call stack exhausted
        at [frames]
    [exit code 1]
    ");
}
