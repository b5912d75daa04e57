//! Components from bytes: their outer structure, and the whole path to a score. An input may also be WebAssembly text,
//! which keeps the committed inputs readable.

use std::{fs, sync::OnceLock, time::Duration};

use scorebox::{
    component_bytes::ComponentBytes,
    contract::{Field, Fields, ScorerInput},
    sandbox::{
        Anatomy, Capabilities, Compiler, ErrorKind, Grant, Limits, LoadedScorer, Outcome, Sandbox,
        SandboxOptions, ScoreError, ScorerConfig,
    },
    workspace::{TaskFolder, WorkspaceFolder},
};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::guest::assembled;

/// The most bytes of an error message: the 8 KiB of a crash, and the text that `load` puts before it.
const MESSAGE_BYTES: usize = (8 << 10) + 64;

/// Reads the outer structure of a component.
pub fn component_outside(data: &[u8]) {
    let Some(bytes) = assembled(data) else { return };
    match Anatomy::read(&bytes) {
        Ok(anatomy) => {
            let names = anatomy.imports.iter().chain(&anatomy.exports);
            assert!(names.map(String::len).sum::<usize>() <= bytes.len());
        }
        Err(error) => {
            assert_eq!(error.kind, ErrorKind::InvalidComponent);
            check_error(&error);
        }
    }
}

/// Loads a component with all grants, both with its code apart from its state and with the two frozen together, and
/// scores.
pub fn component_load(data: &[u8]) {
    let Some(loaded) = loaded(data) else { return };
    check_ways(data, &loaded);
    match loaded {
        Ok(scorer) => check_scorer(&scorer),
        Err(error) => check_error(&error),
    }
}

/// The scorer that an input is; `None` if it is text that is not a valid component.
pub(crate) fn loaded(data: &[u8]) -> Option<Result<LoadedScorer, ScoreError>> {
    loaded_by(&stage().sandbox, data)
}

fn loaded_by(sandbox: &Sandbox, data: &[u8]) -> Option<Result<LoadedScorer, ScoreError>> {
    let component = ComponentBytes::new(assembled(data)?.into_owned());
    let grants = Grant::ALL.into_iter().collect();
    let (config, limits) = (ScorerConfig::default(), limits());
    Some(stage().runtime.block_on(sandbox.load(&component, &config, &limits, grants)))
}

/// Checks that code that is compiled apart from its state gives the same as code that is frozen with it. (If memory is
/// too small, another of the scorer's memories and tables may be refused first.)
fn check_ways(data: &[u8], apart: &Result<LoadedScorer, ScoreError>) {
    let Some(whole) = loaded_by(&stage().wholes, data) else { return };
    match (apart, &whole) {
        (Ok(apart), Ok(whole)) => {
            assert_eq!(apart.info(), whole.info());
            // A component that starts in another way uses other fuel, because `configure` is part of it.
            if apart.start() == whole.start() {
                check_outcomes(&scored(apart), &scored(whole));
            }
        }
        (Err(apart), Err(whole)) => assert_eq!(apart.kind, whole.kind),
        (Ok(_), Err(error)) | (Err(error), Ok(_)) => {
            // The clock decides these errors.
            assert_eq!(error.kind, ErrorKind::TimedOut, "{error}");
        }
    }
}

fn check_outcomes(apart: &Outcome, whole: &Outcome) {
    match (&apart.result, &whole.result) {
        (Err(error), _) | (_, Err(error)) if error.kind == ErrorKind::TimedOut => {}
        (Err(apart), Err(whole)) if apart.kind == ErrorKind::OutOfMemory => {
            assert_eq!(apart.kind, whole.kind);
        }
        _ => {
            assert_eq!(apart.result, whole.result);
            assert_eq!((apart.fuel, apart.memory_bytes), (whole.fuel, whole.memory_bytes));
            assert_eq!(apart.log, whole.log);
        }
    }
}

/// The outcome of a fixed case, with files for a component that imports them.
pub(crate) fn scored(scorer: &LoadedScorer) -> Outcome {
    let stage = stage();
    let input = ScorerInput::of("\"Paris\"").with(Field::Input, "{}");
    let input = ScorerInput { workspace: Some(&stage.task), ..input };
    stage.runtime.block_on(scorer.score(input))
}

/// The sandboxes and the runtime that run the scorers.
struct Stage {
    runtime: Runtime,
    sandbox: Sandbox,
    /// A sandbox in which no code is compiled apart from its state.
    wholes: Sandbox,
    task: TaskFolder,
    /// The folder of the task, which is deleted with the process.
    _folder: TempDir,
}

fn stage() -> &'static Stage {
    static STAGE: OnceLock<Stage> = OnceLock::new();
    STAGE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("answer.txt"), "Paris").unwrap();
        fs::write(folder.path().join("é.bin"), [0, 255, 13, 10]).unwrap();
        let sandbox = |code_apart| {
            let workspace = WorkspaceFolder::open(folder.path()).unwrap();
            let capabilities = Capabilities::none().with_workspace(workspace);
            let options = SandboxOptions::default()
                .with_compiler(Compiler::InProcess)
                .with_slots(8)
                .with_capabilities(capabilities);
            Sandbox::new(&options.with_code_apart(code_apart)).unwrap()
        };
        Stage {
            runtime: tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap(),
            sandbox: sandbox(true),
            wholes: sandbox(false),
            task: TaskFolder::new("."),
            _folder: folder,
        }
    })
}

/// Tight limits, so that no input takes long.
fn limits() -> Limits {
    Limits::default()
        .with_fuel(200_000)
        .with_memory_bytes(4 << 20)
        // Fuel ends a score long before this, unless the scorer sleeps.
        .with_timeout(Duration::from_millis(500))
        .with_reason_bytes(4 << 10)
        .with_meta_bytes(4 << 10)
        .with_assertions(10)
        .with_log_lines(10)
        .with_log_bytes(1 << 10)
}

fn check_scorer(scorer: &LoadedScorer) {
    let info = scorer.info();
    assert!((1..=64).contains(&info.id.len()) && info.name.len() <= 200);
    assert!(info.threshold.is_none_or(|least| info.scale.contains(least)));
    assert!(info.reads.iter().all(|field| Fields::ALL.contains(field)));
    let (first, second) = (scored(scorer), scored(scorer));
    assert!(first.fuel.is_none_or(|fuel| fuel <= limits().fuel));
    assert!(first.memory_bytes <= limits().memory_bytes);
    assert!(first.log.len() <= limits().log_lines + 1);
    let slow = |error: &ScoreError| error.kind == ErrorKind::TimedOut;
    match (&first.result, &second.result) {
        (Err(error), _) | (_, Err(error)) if slow(error) => {}
        (first_result, second_result) => {
            assert_eq!(first_result, second_result);
            assert_eq!((first.fuel, &first.log), (second.fuel, &second.log));
        }
    }
    match &first.result {
        Ok(result) => assert!(result.score.is_none_or(|score| info.scale.contains(score))),
        Err(error) => check_error(error),
    }
}

fn check_error(error: &ScoreError) {
    assert!(!error.message.is_empty());
    assert!(error.message.len() <= MESSAGE_BYTES, "{} bytes", error.message.len());
}

/// Lets a component's structure break wizer's own assertions. The engine catches such a panic, which only costs the
/// component its frozen start.
#[cfg(feature = "libfuzzer")]
pub fn let_wizer_assert() {
    let abort = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic.location().is_some_and(|place| place.file().contains("wasmtime-wizer")) {
            abort(panic);
        }
    }));
}
