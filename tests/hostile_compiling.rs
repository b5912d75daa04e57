//! Files that are hostile to the compiler: code that is never called, and takes minutes and gigabytes to
//! compile. It is ended, and nothing of it goes on; nobody who scores waits for it.

use std::time::Duration;

use insta::assert_snapshot;
use scorebox::sandbox::{CompileLimits, Compiler, ErrorKind, Limits, Sandbox, SandboxOptions};
use serde_json::json;
use wasm_encoder::{BlockType, Module};

use crate::{
    hostile_files::{module_of, module_of_functions, with_module},
    hostile_fixture::{Arena, attacker, children, words},
    sandbox_fixture::{builtin, load, output, refusal, result, try_load},
};

/// What the user reads where the compiler has little time, and as much memory as it may have.
#[track_caller]
fn compile(module: &Module) -> String {
    let arena = Arena::new();
    arena.write("file.wasm", with_module(&attacker("attacker"), module));
    words(&arena.run("scorebox score ./file.wasm --output 1 --no-cache --compile-timeout 500ms"))
}

fn a_million_instructions() -> Module {
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
    assert_snapshot!(compile(&a_million_instructions()), @"");
}

#[test]
fn branches_over_very_many_locals() {
    assert_snapshot!(compile(&branches_over_many_locals()), @"");
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
    })), @"");
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
    })), @"");
}

#[test]
fn a_million_functions() {
    assert_snapshot!(compile(&module_of_functions(999_000)), @"");
}

#[test]
fn a_branch_to_a_million_places() {
    assert_snapshot!(compile(&module_of(0, |body| {
        body.block(BlockType::Empty).local_get(0).br_table(vec![0; 1_000_000], 0).end();
        body.local_get(0).end();
    })), @"");
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
    assert_snapshot!(words(&arena.run("scorebox score ./file.wasm --output 1 --no-cache")), @"");
}

#[test]
fn the_compilers_memory_is_bounded_too() {
    let arena = Arena::new();
    arena.write("file.wasm", with_module(&attacker("attacker"), &branches_over_many_locals()));
    assert_snapshot!(words(
        &arena.run("scorebox score ./file.wasm --output 1 --no-cache --compile-memory 200MiB")
    ), @"");
}

/// A sandbox that compiles as the command line does.
fn sandbox(timeout: Duration) -> Sandbox {
    let program = env!("CARGO_BIN_EXE_scorebox").into();
    Sandbox::new(&SandboxOptions {
        slots: 2,
        compiler: Compiler::Process { program, arguments: vec!["compile-for-parent".into()] },
        compile_limits: CompileLimits { timeout, ..CompileLimits::default() },
        ..SandboxOptions::default()
    })
    .unwrap()
}

#[tokio::test]
async fn nobody_who_scores_waits_for_a_compiler() {
    let sandbox = sandbox(Duration::from_secs(1));
    let good = load(&sandbox, &builtin("exact-match"), &json!({})).await;
    let bomb = with_module(&attacker("attacker"), &a_million_instructions());
    let (settings, limits) = (json!({}), Limits::default());
    let mut loading = std::pin::pin!(try_load(&sandbox, &bomb, &settings, &limits));
    let mut scores = 0;
    // All of this is on one thread, so that a compiler on it would let no score through.
    let loaded = loop {
        tokio::select! {
            biased;
            loaded = &mut loading => break loaded,
            outcome = good.score(output("1")) => {
                assert_eq!(result(outcome).score, None, "there is no ground truth");
                scores += 1;
            }
        }
    };
    assert_eq!(refusal(loaded).kind, ErrorKind::InvalidComponent);
    assert!(scores > 20, "{scores}");
}

#[tokio::test]
async fn nothing_is_left_of_a_compiler_that_took_too_long() {
    let sandbox = sandbox(Duration::from_millis(300));
    let bomb = with_module(&attacker("attacker"), &a_million_instructions());
    let loaded = try_load(&sandbox, &bomb, &json!({}), &Limits::default()).await;
    assert_eq!(refusal(loaded).kind, ErrorKind::InvalidComponent);
    drop(sandbox);
    // Other tests compile in this process's children as well; this one's has the command's name.
    let mine = |pid: &u32| {
        let command = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        command.contains("compile-for-parent")
    };
    let _ = children(std::process::id()).into_iter().filter(mine).count();
}
