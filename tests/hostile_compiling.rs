//! Files that are hostile to the compiler: code that is never called, and takes minutes and gigabytes to compile. The
//! compiler is stopped, no part of it continues, and no score waits for it.

use std::{
    io::Write as _,
    process::{Command, Stdio},
    time::Duration,
};

use insta::assert_snapshot;
use scorebox::{
    contract::Field,
    sandbox::{CompileLimits, Limits},
};
use serde_json::json;
use wasm_encoder::{BlockType, Module};

use crate::{
    hostile_files::{module_of, module_of_functions, with_module},
    hostile_fixture::{Arena, compiling_as_the_command_line_does, compiling_by_shell, words},
    hostile_modules,
    sandbox_fixture::{builtin, load, output, refusal, result, try_load},
};

/// A harmless scorer, into which code is put.
fn scorer() -> Vec<u8> {
    hostile_modules::Module::default().component()
}

/// The message about a scorer with that code in it.
#[track_caller]
fn compile(module: &Module, options: &str) -> String {
    let arena = Arena::new();
    arena.write("file.wasm", with_module(&scorer(), module));
    words(&arena.run(&format!("scorebox score ./file.wasm --output 1 --no-cache {options}")))
}

/// A small part of a compilation that takes minutes is enough to see.
const BRIEFLY: &str = "--compile-timeout 500ms";

/// Code that keeps a compiler busy for a minute.
pub(crate) fn a_million_instructions() -> Module {
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
fn a_function_of_a_million_instructions_takes_the_compiler_too_long() {
    assert_snapshot!(compile(&a_million_instructions(), BRIEFLY), @"
    error: scorer `./file.wasm`: invalid-component: compiling the scorer took more than 500 ms of processor time
    hint: raise the limit: --compile-timeout
    [exit code 2]
    ");
}

#[test]
fn branches_over_very_many_locals_take_the_compiler_too_long() {
    assert_snapshot!(compile(&branches_over_many_locals(), BRIEFLY), @"
    error: scorer `./file.wasm`: invalid-component: compiling the scorer took more than 500 ms of processor time
    hint: raise the limit: --compile-timeout
    [exit code 2]
    ");
}

#[test]
fn loops_in_loops_take_the_compiler_too_long() {
    let loops = module_of(0, |body| {
        for _ in 0..300_000 {
            body.loop_(BlockType::Empty);
        }
        for _ in 0..300_000 {
            body.local_get(0).br_if(0).end();
        }
        body.local_get(0).end();
    });
    assert_snapshot!(compile(&loops, BRIEFLY), @"
    error: scorer `./file.wasm`: invalid-component: compiling the scorer took more than 500 ms of processor time
    hint: raise the limit: --compile-timeout
    [exit code 2]
    ");
}

#[test]
fn calls_whose_results_all_wait_take_the_compiler_too_long() {
    let calls = module_of(0, |body| {
        for _ in 0..300_000 {
            body.local_get(0).call(0);
        }
        for _ in 0..299_999 {
            body.i32_add();
        }
        body.end();
    });
    assert_snapshot!(compile(&calls, BRIEFLY), @"
    error: scorer `./file.wasm`: invalid-component: compiling the scorer took more than 500 ms of processor time
    hint: raise the limit: --compile-timeout
    [exit code 2]
    ");
}

#[test]
fn a_million_functions_take_the_compiler_too_long() {
    assert_snapshot!(compile(&module_of_functions(999_000), BRIEFLY), @"
    error: scorer `./file.wasm`: invalid-component: compiling the scorer took more than 500 ms of processor time
    hint: raise the limit: --compile-timeout
    [exit code 2]
    ");
}

#[test]
fn a_branch_to_a_million_places_is_refused_by_the_compiler() {
    let branch = module_of(0, |body| {
        body.block(BlockType::Empty).local_get(0).br_table(vec![0; 1_000_000], 0).end();
        body.local_get(0).end();
    });
    assert_snapshot!(compile(&branch, ""), @r#"
    error: scorer `./file.wasm`: invalid-component: the component does not compile: failed to compile: wasm[1]::function[0]: WebAssembly translation error: Unsupported feature: `br_table` has 1000000 targets, which exceeds the implementation limit of 65520
    [exit code 2]
    "#);
}

#[test]
fn blocks_in_blocks_do_no_harm() {
    let blocks = module_of(0, |body| {
        for _ in 0..20_000 {
            body.block(BlockType::Empty);
        }
        for _ in 0..20_000 {
            body.end();
        }
        body.local_get(0).end();
    });
    assert_snapshot!(compile(&blocks, ""), @"[exit code 0]");
}

#[test]
fn the_compilers_memory_is_bounded_too() {
    let branches = branches_over_many_locals();
    assert_snapshot!(compile(&branches, "--compile-memory 200MiB"), @"
    error: scorer `./file.wasm`: invalid-component: compiling the scorer took more than 209715200 bytes of memory
    hint: raise the limit: --compile-memory
    [exit code 2]
    ");
}

#[test]
fn memory_that_is_too_little_to_begin_with_is_reported_as_a_limit() {
    for memory in ["8MiB", "12MiB", "16MiB", "24MiB", "32MiB"] {
        let options = format!("--ground-truth 1 --no-cache --compile-memory {memory}");
        let arena = Arena::new();
        let refused =
            words(&arena.run(&format!("scorebox score exact-match --output 1 {options}")));
        assert!(refused.contains("hint: raise the limit: --compile-memory"), "{memory}: {refused}");
    }
}

#[test]
fn a_limit_that_is_too_low_for_a_built_in_scorer_is_reported_as_a_limit() {
    let options = "--ground-truth 1 --no-cache --compile-timeout 1ms";
    let command = format!("scorebox score exact-match --output 1 {options}");
    assert_snapshot!(words(&Arena::new().run(&command)), @"
    error: scorer `exact-match`: invalid-component: compiling the scorer took more than 1 ms of processor time
    hint: raise the limit: --compile-timeout
    [exit code 2]
    ");
}

/// A scorer that is not split is compiled three times: for its description, for its configuration, and for its image.
#[tokio::test]
async fn all_compiling_of_one_scorer_is_of_one_limit() {
    // The first one reports that it used all the time that eight bytes can express.
    let line = r#"printf '\377\377\377\377\377\377\377\377'; scorebox | tail -c +9"#;
    let sandbox = compiling_by_shell(line, &CompileLimits::default());
    let more = "(data \"passive\")";
    let not_split = hostile_modules::Module { more, ..Default::default() }.component();
    let loaded = try_load(&sandbox, &not_split, &json!({}), &Limits::default()).await;
    assert_snapshot!(refusal(loaded), @"invalid-component: compiling the scorer took more than 120000 ms of processor time");
}

#[tokio::test]
async fn a_machine_that_does_other_things_meanwhile_makes_no_scorer_too_slow() {
    let limits = CompileLimits::default().with_timeout(Duration::from_millis(990));
    // On a busy machine a process waits as this one does: without using the processor.
    let sandbox = compiling_by_shell(r#"sleep 1; scorebox"#, &limits);
    let loaded = load(&sandbox, &scorer(), &json!({})).await;
    assert_eq!(result(loaded.score(output("1")).await).score, Some(1.0));
}

#[tokio::test]
async fn a_compiler_that_is_killed_is_not_the_fault_of_the_scorer() {
    let sandbox = compiling_by_shell("kill -9 $$", &CompileLimits::default());
    let loaded = try_load(&sandbox, &scorer(), &json!({}), &Limits::default()).await;
    assert_snapshot!(refusal(loaded), @"failed: the compiler's process was ended by signal: 9 (SIGKILL)");
}

/// It compiles for a minute, unless it notices that its answer is not taken; then it exits with another code.
#[test]
fn a_compiler_ends_when_its_answer_is_no_longer_read() {
    let bomb = with_module(&scorer(), &a_million_instructions());
    let mut compiler = Command::new(env!("CARGO_BIN_EXE_scorebox"));
    compiler.env("SCOREBOX_COMPILE_FOR_PARENT", "pooling signals apart 4000000000 3600000");
    compiler.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = compiler.spawn().unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(&bomb).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(75));
}

#[tokio::test]
async fn no_score_waits_for_a_compiler() {
    let sandbox = compiling_as_the_command_line_does(&CompileLimits::default());
    let good = load(&sandbox, &builtin("exact-match"), &json!({})).await;
    let bomb = with_module(&scorer(), &a_million_instructions());
    let (settings, limits) = (json!({}), Limits::default());
    let mut loading = std::pin::pin!(try_load(&sandbox, &bomb, &settings, &limits));
    // All of this runs on one thread: if the compiler ran on it too, it would be done before the first score.
    let case = output("1").with(Field::GroundTruth, "1");
    for _ in 0..100 {
        tokio::select! {
            biased;
            _ = &mut loading => panic!("the compiler is done with what takes a minute"),
            outcome = good.score(case) => assert_eq!(result(outcome).score, Some(1.0)),
        }
    }
}
