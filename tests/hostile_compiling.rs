//! Files that are hostile to the compiler: code that is never called, and takes minutes and gigabytes to
//! compile. It is ended, and nothing of it goes on; nobody who scores waits for it.

use insta::assert_snapshot;
use scorebox::{
    contract::ScorerInput,
    sandbox::{CompileLimits, Limits},
};
use serde_json::json;
use wasm_encoder::{BlockType, Module};

use crate::{
    hostile_files::{module_of, module_of_functions, with_module},
    hostile_fixture::{Arena, attacker, compiling_as_the_command_line_does, words},
    sandbox_fixture::{builtin, load, output, result, try_load},
};

/// What the user reads where the compiler has little time, and as much memory as it may have.
#[track_caller]
fn compile(module: &Module) -> String {
    let arena = Arena::new();
    arena.write("file.wasm", with_module(&attacker("attacker"), module));
    words(&arena.run("scorebox score ./file.wasm --output 1 --no-cache --compile-timeout 500ms"))
}

/// Code that keeps a compiler busy for a minute.
pub fn a_million_instructions() -> Module {
    module_of(0, |body| {
        body.local_get(0);
        for number in 0..1_000_000 {
            body.i32_const(number & 63).i32_add();
        }
        body.end();
    })
}

fn branches_over_many_locals() -> Module {
    module_of(49_000, |body| {
        for number in 0..100_000 {
            body.local_get(number % 49_000).if_(BlockType::Empty);
            body.local_get((number * 31) % 49_000).local_set((number * 17) % 49_000).end();
        }
        body.local_get(0).end();
    })
}

#[test]
fn a_function_of_a_million_instructions() {
    assert_snapshot!(compile(&a_million_instructions()), @"
    error: scorer `./file.wasm`: invalid-component: compiling the component took longer than 500 ms
    hint: if you trust it that far, raise the limit: --compile-timeout
    [exit code 2]
    ");
}

#[test]
fn branches_over_very_many_locals() {
    assert_snapshot!(compile(&branches_over_many_locals()), @"
    error: scorer `./file.wasm`: invalid-component: compiling the component took longer than 500 ms
    hint: if you trust it that far, raise the limit: --compile-timeout
    [exit code 2]
    ");
}

#[test]
fn loops_in_loops() {
    assert_snapshot!(compile(&module_of(0, |body| {
        for _ in 0..300_000 {
            body.loop_(BlockType::Empty);
        }
        for _ in 0..300_000 {
            body.local_get(0).br_if(0).end();
        }
        body.local_get(0).end();
    })), @"
    error: scorer `./file.wasm`: invalid-component: compiling the component took longer than 500 ms
    hint: if you trust it that far, raise the limit: --compile-timeout
    [exit code 2]
    ");
}

#[test]
fn calls_whose_results_all_wait() {
    assert_snapshot!(compile(&module_of(0, |body| {
        for _ in 0..300_000 {
            body.local_get(0).call(0);
        }
        for _ in 0..299_999 {
            body.i32_add();
        }
        body.end();
    })), @"
    error: scorer `./file.wasm`: invalid-component: compiling the component took longer than 500 ms
    hint: if you trust it that far, raise the limit: --compile-timeout
    [exit code 2]
    ");
}

#[test]
fn a_million_functions() {
    assert_snapshot!(compile(&module_of_functions(999_000)), @"
    error: scorer `./file.wasm`: invalid-component: compiling the component took longer than 500 ms
    hint: if you trust it that far, raise the limit: --compile-timeout
    [exit code 2]
    ");
}

#[test]
fn a_branch_to_a_million_places() {
    assert_snapshot!(compile(&module_of(0, |body| {
        body.block(BlockType::Empty).local_get(0).br_table(vec![0; 1_000_000], 0).end();
        body.local_get(0).end();
    })), @"
    error: scorer `./file.wasm`: invalid-component: the component does not compile: failed to compile: wasm[3]::function[0]: WebAssembly translation error: Unsupported feature: `br_table` has 1000000 targets, which exceeds the implementation limit of 65520
    [exit code 2]
    ");
}

#[test]
fn blocks_in_blocks_do_no_harm() {
    let arena = Arena::new();
    let blocks = module_of(0, |body| {
        for _ in 0..20_000 {
            body.block(BlockType::Empty);
        }
        for _ in 0..20_000 {
            body.end();
        }
        body.local_get(0).end();
    });
    arena.write("file.wasm", with_module(&attacker("attacker"), &blocks));
    assert_snapshot!(words(&arena.run("scorebox score ./file.wasm --output 1 --no-cache")), @"[exit code 0]");
}

#[test]
fn the_compilers_memory_is_bounded_too() {
    let arena = Arena::new();
    arena.write("file.wasm", with_module(&attacker("attacker"), &branches_over_many_locals()));
    assert_snapshot!(words(
        &arena.run("scorebox score ./file.wasm --output 1 --no-cache --compile-memory 200MiB")
    ), @"
    error: scorer `./file.wasm`: invalid-component: compiling the component took more than 209715200 bytes of memory
    hint: if you trust it that far, raise the limit: --compile-memory
    [exit code 2]
    ");
}

#[tokio::test]
async fn nobody_who_scores_waits_for_a_compiler() {
    let sandbox = compiling_as_the_command_line_does(&CompileLimits::default());
    let good = load(&sandbox, &builtin("exact-match"), &json!({})).await;
    let bomb = with_module(&attacker("attacker"), &a_million_instructions());
    let (settings, limits) = (json!({}), Limits::default());
    let mut loading = std::pin::pin!(try_load(&sandbox, &bomb, &settings, &limits));
    // All of this is on one thread: were the compiler on it, it would be done before the first score.
    let case = ScorerInput { ground_truth: Some("1"), ..output("1") };
    for _ in 0..100 {
        tokio::select! {
            biased;
            _ = &mut loading => panic!("the compiler is done with what takes a minute"),
            outcome = good.score(case) => assert_eq!(result(outcome).score, Some(1.0)),
        }
    }
}
