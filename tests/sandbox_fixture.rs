//! Shared parts of the tests of the sandbox and of runs: sandboxes, the built-in components and the test guests, loaded
//! with a configuration. Asserts nothing.

use std::{fs, path::PathBuf, time::Duration};

use scorebox::{
    component_bytes::ComponentBytes,
    contract::{ScoreResult, ScorerInput},
    registry::Registry,
    sandbox::{
        CacheOptions, CompileLimits, Compiler, ErrorKind, Grants, Limits, LoadedScorer, Outcome,
        Sandbox, SandboxOptions, ScoreError, ScorerConfig,
    },
};
use serde_json::Value;

/// The cache that all tests of the library and of commands share, because compiling takes most of their time.
pub(crate) fn shared_cache() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("compiled-scorers")
}

/// A sandbox with this many slots, and the shared cache.
pub(crate) fn sandbox(slots: u32) -> Sandbox {
    Sandbox::new(&options(slots)).unwrap()
}

/// The same, in which no code is compiled apart from its state.
pub(crate) fn sandbox_of_wholes(slots: u32) -> Sandbox {
    Sandbox::new(&options(slots).with_code_apart(false)).unwrap()
}

/// The same, in which each score makes its own instance.
pub(crate) fn sandbox_of_fresh_instances(slots: u32) -> Sandbox {
    Sandbox::new(&options(slots).with_instances_kept(false)).unwrap()
}

/// The same, in which traps are detected by checks, and not by signals.
pub(crate) fn sandbox_without_signals(slots: u32) -> Sandbox {
    Sandbox::new(&options(slots).with_signals_based_traps(false)).unwrap()
}

fn options(slots: u32) -> SandboxOptions {
    patient().with_slots(slots).with_cache(CacheOptions::new(shared_cache()))
}

/// A sandbox with this many slots, in which everything is compiled and configured from scratch.
pub(crate) fn uncached(slots: u32) -> Sandbox {
    Sandbox::new(&patient().with_slots(slots)).unwrap()
}

/// The wall clock limits compiling in this process, and other tests run at the same time.
fn patient() -> SandboxOptions {
    let timeout = Duration::from_secs(600);
    let compile_limits = CompileLimits::default().with_timeout(timeout);
    SandboxOptions::default().with_compiler(Compiler::InProcess).with_compile_limits(compile_limits)
}

/// The component of a built-in scorer.
pub(crate) fn builtin(name: &str) -> Vec<u8> {
    Registry::with_builtins().get(name).unwrap().component.bytes().unwrap().to_vec()
}

/// The path of the component of a test guest.
pub(crate) fn guest_path(name: &str) -> PathBuf {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    tests.join("guests/dist").join(format!("{name}.wasm"))
}

/// The component of a test guest.
pub(crate) fn guest(name: &str) -> Vec<u8> {
    fs::read(guest_path(name)).unwrap()
}

pub(crate) fn config(config: &Value) -> ScorerConfig {
    ScorerConfig::new(config.as_object().unwrap())
}

/// Loads a scorer without grants.
pub(crate) async fn try_load(
    sandbox: &Sandbox,
    component: &[u8],
    settings: &Value,
    limits: &Limits,
) -> Result<LoadedScorer, ScoreError> {
    let component = ComponentBytes::new(component.to_vec());
    sandbox.load(&component, &config(settings), limits, Grants::NONE).await
}

/// Loads a scorer with the default limits.
pub(crate) async fn load(sandbox: &Sandbox, component: &[u8], settings: &Value) -> LoadedScorer {
    try_load(sandbox, component, settings, &Limits::default()).await.unwrap()
}

/// A case with only an output, as JSON.
pub(crate) fn output(json: &str) -> ScorerInput<'_> {
    ScorerInput::of(json)
}

pub(crate) fn result(outcome: Outcome) -> ScoreResult {
    outcome.result.unwrap()
}

pub(crate) fn error(outcome: Outcome) -> ScoreError {
    outcome.result.unwrap_err()
}

pub(crate) fn kind(outcome: &Outcome) -> Option<ErrorKind> {
    outcome.result.as_ref().err().map(|error| error.kind)
}

/// The error of loading.
pub(crate) fn refusal(loaded: Result<LoadedScorer, ScoreError>) -> ScoreError {
    match loaded {
        Ok(_) => panic!("it was loaded"),
        Err(error) => error,
    }
}

/// Both ways to compile a scorer use the same fuel. Only the end of the stack depends on the machine code, whose frames
/// differ: an endless recursion may have one call more or less.
pub(crate) fn must_be_the_same_fuel(one: &Outcome, other: &Outcome) {
    let ends_with_the_stack = |outcome: &Outcome| {
        let error = outcome.result.as_ref().err();
        error.is_some_and(|error| error.message.contains("call stack exhausted"))
    };
    match (one.fuel, other.fuel) {
        (Some(fuel), Some(fuel_of_other)) if ends_with_the_stack(one) => {
            assert!(fuel.abs_diff(fuel_of_other) < 100, "{fuel} against {fuel_of_other}");
        }
        (fuel, fuel_of_other) => assert_eq!(fuel, fuel_of_other),
    }
}
