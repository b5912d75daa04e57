//! Scorers that crash, each in another way.

use insta::assert_snapshot;

use crate::hostile_fixture::Arena;

#[test]
fn a_panic_is_a_crash_of_the_scorer_alone() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_everywhere("panic", 0, ""), @"");
}

#[test]
fn a_trap_on_purpose() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_everywhere("trap", 0, ""), @"");
}

#[test]
fn a_division_by_zero() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_everywhere("divide-by-zero", 0, ""), @"");
}

#[test]
fn reading_what_is_not_its_own() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_everywhere("read-out-of-bounds", 0, ""), @"");
}

#[test]
fn writing_to_what_is_not_its_own() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_everywhere("write-out-of-bounds", 0, ""), @"");
}

#[test]
fn calling_what_is_no_function() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_score("call-nothing", 0, ""), @"");
    assert_snapshot!(arena.attack_score("call-a-number", 0, ""), @"");
}
