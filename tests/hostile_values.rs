//! Scorers that break the rules of how values cross the wall: addresses, lengths and encodings that
//! are not so, and functions that are called on the way.

use insta::assert_snapshot;

use crate::{
    hostile_fixture::{Arena, words},
    hostile_modules::{ASSERTIONS, Module, REASON, answer_with},
};

/// What the user reads of a score by `module`; a good scorer beside it is none the worse.
#[track_caller]
fn score(module: &Module<'_>, options: &str) -> String {
    let arena = Arena::new();
    arena.write("by-hand.wasm", module.component());
    let alone = arena.score("by-hand", "{}", options);
    arena.run_beside_a_good_scorer("by-hand", "{}", options);
    words(&alone)
}

#[track_caller]
fn answer(numbers: &[(i32, i32)]) -> String {
    score(&Module { score: &answer_with(numbers), ..Module::default() }, "")
}

/// What the user reads where `module` cannot be loaded.
#[track_caller]
fn load(module: &Module<'_>) -> String {
    let arena = Arena::new();
    arena.write("by-hand.wasm", module.component());
    words(&arena.score("by-hand", "{}", ""))
}

#[test]
fn without_an_attack_the_module_is_a_scorer() {
    assert_snapshot!(score(&Module::default(), ""), @"");
}

#[test]
fn an_answer_outside_of_memory() {
    assert_snapshot!(score(&Module { score: "(i32.const -8)", ..Module::default() }, ""), @"");
    assert_snapshot!(score(&Module { score: "(i32.const 4097)", ..Module::default() }, ""), @"");
}

#[test]
fn a_string_of_a_gigabyte_that_is_not_there() {
    let [some, address, length] = REASON;
    assert_snapshot!(answer(&[(some, 1), (address, 0), (length, 1 << 30)]), @"");
    assert_snapshot!(answer(&[(some, 1), (address, -1), (length, -1)]), @"");
}

#[test]
fn a_string_of_a_gigabyte_that_is_there() {
    let [some, address, length] = REASON;
    let long = answer_with(&[(some, 1), (address, 65536), (length, 1 << 30)]);
    let body = format!("(drop (memory.grow (i32.const 16400))) {long}");
    let module = Module { score: &body, ..Module::default() };
    assert_snapshot!(score(&module, "--memory 2GiB"), @"");
    assert_snapshot!(score(&module, ""), @"");
}

#[test]
fn a_list_of_ten_million_that_is_not_there() {
    let [address, length] = ASSERTIONS;
    assert_snapshot!(answer(&[(address, 65536), (length, 10_000_000)]), @"");
    assert_snapshot!(answer(&[(address, 65536), (length, i32::MAX)]), @"");
}

#[test]
fn a_list_of_ten_million_that_is_there() {
    let [address, length] = ASSERTIONS;
    let long = answer_with(&[(address, 65536), (length, 10_000_000)]);
    let body = format!("(drop (memory.grow (i32.const 9000))) {long}");
    assert_snapshot!(score(&Module { score: &body, ..Module::default() }, "--memory 1GiB"), @"");
}

#[test]
fn a_string_that_is_no_text() {
    let [some, address, length] = REASON;
    let body = answer_with(&[(some, 1), (address, 5000), (length, 2)]);
    let more = r#"(data (i32.const 5000) "\ff\fe")"#;
    assert_snapshot!(score(&Module { score: &body, more, ..Module::default() }, ""), @"");
}

#[test]
fn cases_that_the_types_do_not_have() {
    assert_snapshot!(answer(&[(4096, 9)]), @"");
    assert_snapshot!(answer(&[(REASON[0], 7)]), @"");
    let describe = "(i32.store8 (i32.const 2092) (i32.const 77)) (i32.const 2048)";
    assert_snapshot!(load(&Module { describe, ..Module::default() }), @"");
}

#[test]
fn a_number_that_is_not_the_usual_nan() {
    let odd = "(i64.store (i32.const 4112) (i64.const 0xfff4deadbeef0001)) (i32.const 4096)";
    assert_snapshot!(score(&Module { score: odd, ..Module::default() }, ""), @"");
}

#[test]
fn memory_for_the_case_that_is_outside_of_memory() {
    assert_snapshot!(load(&Module { realloc: "(i32.const -8)", ..Module::default() }), @"");
}

#[test]
fn memory_for_the_case_that_is_the_answer_too() {
    // Harmless: it overwrites what is its own.
    assert_snapshot!(score(&Module { realloc: "(i32.const 4096)", ..Module::default() }, ""), @"");
}

#[test]
fn asking_for_memory_without_end() {
    let spin = "(loop $l (br $l)) (i32.const 0)";
    let first = "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
        (if (i32.gt_u (global.get $calls) (i32.const 1)) (then (loop $l (br $l)))) (i32.const 65536)";
    // `configure` is the first that is given something; the second call is `score`'s.
    let module = Module {
        realloc: first,
        more: "(global $calls (mut i32) (i32.const 0))",
        ..Module::default()
    };
    assert_snapshot!(score(&module, "--timeout 200ms --fuel 1000000000000"), @"");
    assert_snapshot!(load(&Module { realloc: spin, ..Module::default() }), @"");
}

#[test]
fn cleaning_up_without_end() {
    let spin = r#"(func (export "cabi_post_scorebox:scorer/scoring@0.1.0#score") (param i32)
        (loop $l (br $l)))"#;
    assert_snapshot!(score(
        &Module { more: spin, ..Module::default() },
        "--timeout 200ms --fuel 1000000000000"
    ), @"");
    let trap = r#"(func (export "cabi_post_scorebox:scorer/scoring@0.1.0#score") (param i32)
        unreachable)"#;
    assert_snapshot!(score(&Module { more: trap, ..Module::default() }, ""), @"");
}

#[test]
fn beginning_without_end() {
    let module = Module { more: "(func $s (loop $l (br $l))) (start $s)", ..Module::default() };
    assert_snapshot!(load(&module), @"");
}

#[test]
fn a_table_that_grows_at_once() {
    let body = "(if (i32.eq (table.grow $t (ref.null func) (i32.const 100000000)) (i32.const -1))
        (then unreachable)) (i32.const 4096)";
    let more = "(table $t 1 funcref)";
    assert_snapshot!(score(&Module { score: body, more, ..Module::default() }, ""), @"");
}

#[test]
fn a_table_that_grows_in_steps() {
    let body = "(loop $l (br_if $l (i32.ne
        (table.grow $t (ref.null func) (i32.const 100)) (i32.const -1)))) unreachable";
    let more = "(table $t 1 funcref)";
    assert_snapshot!(score(&Module { score: body, more, ..Module::default() }, ""), @"");
    assert_snapshot!(score(&Module { score: body, more, ..Module::default() }, "--memory 256KiB"), @"");
}

#[test]
fn filling_memory_again_and_again_is_ended_by_the_clock() {
    let body = "(drop (memory.grow (i32.const 1000)))
        (loop $l (memory.fill (i32.const 0) (i32.const 1) (i32.const 65000000)) (br $l)) (i32.const 0)";
    let module = Module { score: body, ..Module::default() };
    assert_snapshot!(score(&module, "--timeout 200ms"), @"");
}

#[test]
fn a_memory_that_begins_with_four_gigabytes() {
    let module = Module { memory: "(memory (export \"memory\") 65536)", ..Module::default() };
    assert_snapshot!(load(&module), @"");
}

#[test]
fn what_webassembly_has_and_a_sandbox_has_not() {
    let refused = |memory: &str, more: &str| load(&Module { memory, more, ..Module::default() });
    let usual = Module::default().memory;
    assert_snapshot!(refused("(memory (export \"memory\") 2 4 shared)", ""), @"");
    assert_snapshot!(refused(usual, "(memory i64 1)"), @"");
    assert_snapshot!(refused(usual, "(type (struct (field i32)))"), @"");
    assert_snapshot!(refused(usual, "(memory 1) (memory 1) (memory 1) (memory 1)"), @"");
}
