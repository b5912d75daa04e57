//! Scorers that crash, each in a different way.

use insta::assert_snapshot;

use crate::hostile_fixture::Arena;

#[test]
fn a_panic_is_a_crash_of_the_scorer_alone() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_everywhere("panic", 0, ""), @"
    -- describe
    error: scorer `./attacker.wasm`: trap: in `describe`: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 2]
    -- configure
    error: scorer `./attacker.wasm`: trap: in `configure`: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 2]
    -- score
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    ");
}

#[test]
fn a_trap_on_purpose_is_a_crash_wherever_it_happens() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_everywhere("trap", 0, ""), @"
    -- describe
    error: scorer `./attacker.wasm`: trap: in `describe`: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 2]
    -- configure
    error: scorer `./attacker.wasm`: trap: in `configure`: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 2]
    -- score
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    ");
}

#[test]
fn a_division_by_zero_is_a_crash() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_everywhere("divide-by-zero", 0, ""), @"
    -- describe
    error: scorer `./attacker.wasm`: trap: in `describe`: wasm trap: integer divide by zero
        at [frames]
    [exit code 2]
    -- configure
    error: scorer `./attacker.wasm`: trap: in `configure`: wasm trap: integer divide by zero
        at [frames]
    [exit code 2]
    -- score
    error: trap: wasm trap: integer divide by zero
        at [frames]
    [exit code 1]
    ");
}

#[test]
fn reading_what_is_not_its_own_is_a_crash() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_everywhere("read-out-of-bounds", 0, ""), @"
    -- describe
    error: scorer `./attacker.wasm`: trap: in `describe`: wasm trap: out of bounds memory access
        at [frames]
    [exit code 2]
    -- configure
    error: scorer `./attacker.wasm`: trap: in `configure`: wasm trap: out of bounds memory access
        at [frames]
    [exit code 2]
    -- score
    error: trap: wasm trap: out of bounds memory access
        at [frames]
    [exit code 1]
    ");
}

#[test]
fn writing_to_what_is_not_its_own_is_a_crash() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_everywhere("write-out-of-bounds", 0, ""), @"
    -- describe
    error: scorer `./attacker.wasm`: trap: in `describe`: wasm trap: out of bounds memory access
        at [frames]
    [exit code 2]
    -- configure
    error: scorer `./attacker.wasm`: trap: in `configure`: wasm trap: out of bounds memory access
        at [frames]
    [exit code 2]
    -- score
    error: trap: wasm trap: out of bounds memory access
        at [frames]
    [exit code 1]
    ");
}

#[test]
fn calling_what_is_not_a_function_is_a_crash() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("call-nothing", 0, ""), @"
    error: trap: wasm trap: uninitialized element
        at [frames]
    [exit code 1]
    ");
    assert_snapshot!(arena.attack_score("call-a-number", 0, ""), @"
    error: trap: wasm trap: undefined element: out of bounds table access
        at [frames]
    [exit code 1]
    ");
}
