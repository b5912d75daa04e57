//! Where components are compiled: never on a thread that scores and, unless the program says otherwise, in a
//! separate process, which can be ended. What is compiled was not checked beyond its outside.
//!
//! Compiling is the one thing that hostile bytes can make long without running at all. A thread cannot
//! be ended from outside, a process can; so components are compiled in a child process
//! (`compile_child`, `compiler_process`) with limits on processor time and memory.

use std::{
    ffi::OsString,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{process::Command, time::timeout};
use wasmtime::Engine;

use crate::advice::{Advice, Build, Limit};

use super::{
    Allocation, ErrorKind, ScoreError,
    code::{self, Code, NotRead, Way},
    compile_child,
    compiler_process::{self, COMPLAINT_BYTES},
    cut, phrases, settings,
};

/// Where components are compiled.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Compiler {
    /// In a process of this same program, started again, which ends when its time is over. `main` must begin
    /// with [`compile_if_asked`](super::compile_if_asked); if it does not, no sandbox is made.
    #[default]
    Child,
    /// On a thread of this process. When the time is over, the answer is an error, but the thread continues
    /// until it is done, its memory is not bounded, and bytes that are nested without end overflow
    /// its stack, which ends this process: for programs that trust the scorers which they load that far.
    InProcess,
    /// In a process of another program, which ends when its time is over: for a host that does not control
    /// its `main`, such as an interpreter.
    Process {
        /// A program with this very version of scorebox, whose `main` begins with
        /// [`compile_if_asked`](super::compile_if_asked).
        program: PathBuf,
        /// Its arguments; the request itself comes through its environment.
        arguments: Vec<OsString>,
    },
}

/// What compiling one scorer may use.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompileLimits {
    /// The time of all compiling that one load of a scorer takes (up to three components).
    /// In a separate process it is time of the processor, of all cores together, so that it does not
    /// depend on what else the machine does; with [`Compiler::InProcess`], wall-clock time.
    pub timeout: Duration,
    /// Bytes of memory of the compiler's process; not bounded if it compiles in this process.
    pub memory_bytes: u64,
}

impl Default for CompileLimits {
    fn default() -> CompileLimits {
        CompileLimits { timeout: Duration::from_secs(120), memory_bytes: 2 << 30 }
    }
}

impl CompileLimits {
    /// The same with this [`timeout`](CompileLimits::timeout).
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> CompileLimits {
        self.timeout = timeout;
        self
    }

    /// The same with this [`memory_bytes`](CompileLimits::memory_bytes).
    #[must_use]
    pub fn with_memory_bytes(mut self, memory_bytes: u64) -> CompileLimits {
        self.memory_bytes = memory_bytes;
        self
    }
}

/// The time for all compiling of one load. Clones share it.
#[derive(Clone)]
pub(super) struct CompileBudget {
    /// Microseconds.
    left: Arc<AtomicU64>,
}

impl CompileBudget {
    pub(super) fn new(limits: &CompileLimits) -> CompileBudget {
        CompileBudget { left: Arc::new(micros(limits.timeout).into()) }
    }

    /// The time that is left.
    pub(super) fn left(&self) -> Duration {
        Duration::from_micros(self.left.load(Ordering::Relaxed))
    }

    /// Subtracts the time that compiling took.
    pub(super) fn spend(&self, time: Duration) {
        let less = |left: u64| Some(left.saturating_sub(micros(time)));
        // The closure never returns `None`.
        let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Why a component was not compiled.
#[derive(Debug)]
pub(super) enum CompileError {
    /// Because of the component: no machine compiles it.
    OfTheComponent(ScoreError),
    /// Because of this machine, or of a limit: it may compile elsewhere.
    OfTheMachine(ScoreError),
}

impl From<CompileError> for ScoreError {
    fn from(error: CompileError) -> ScoreError {
        match error {
            CompileError::OfTheComponent(error) | CompileError::OfTheMachine(error) => error,
        }
    }
}

impl Compiler {
    /// Compiles a component for `engine` with what is left of `budget`. Returns the code to run, and the
    /// bytes that `code` reads.
    pub(super) async fn compile(
        &self,
        engine: &Engine,
        allocation: &Allocation,
        (bytes, way): (&[u8], Way),
        limits: &CompileLimits,
        budget: &CompileBudget,
    ) -> Result<(Code, Vec<u8>), CompileError> {
        let compiled = match self.command().map_err(CompileError::OfTheMachine)? {
            None => compile_on_a_thread(engine, bytes, way, limits, budget).await?,
            Some(command) => {
                compiler_process::compile(command, allocation, (bytes, way), limits, budget).await?
            }
        };
        // SAFETY: these are the bytes that `code::compile` gave: in this process, or in one that this one
        // started from the program that the host trusts, over a pipe that no other process has.
        // wasmtime checks version and settings once more.
        #[allow(unsafe_code)]
        let code = unsafe { code::read(engine, &compiled) };
        let code = code.map_err(|error| match error {
            NotRead::Broken => compiler_process::broken(std::io::ErrorKind::InvalidData.into()),
            // The compiler's process has no pool, so the pool's bounds are first met here.
            NotRead::Refused(error) if error.contains(phrases::DOES_NOT_FIT_THE_POOL) => {
                does_not_compile(&error)
            }
            NotRead::Refused(error) => {
                compiler_process::failed(format!("the compiler's process gave other code: {error}"))
            }
        })?;
        Ok((code, compiled))
    }

    /// What starts a process that compiles; `None` if this one does.
    ///
    /// # Errors
    /// If this program cannot be started again to compile.
    pub(super) fn command(&self) -> Result<Option<Command>, ScoreError> {
        Ok(match self {
            Compiler::Child => Some(Command::new(compile_child::this_program()?)),
            Compiler::InProcess => None,
            Compiler::Process { program, arguments } => {
                let mut command = Command::new(program);
                command.args(arguments);
                Some(command)
            }
        })
    }
}

async fn compile_on_a_thread(
    engine: &Engine,
    bytes: &[u8],
    way: Way,
    limits: &CompileLimits,
    budget: &CompileBudget,
) -> Result<Vec<u8>, CompileError> {
    let started = Instant::now();
    let (engine, bytes) = (engine.clone(), bytes.to_vec());
    let compiling = on_a_deep_stack(move || code::compile(&engine, &bytes, way));
    let compiled = timeout(budget.left(), compiling).await;
    budget.spend(started.elapsed());
    match compiled {
        Ok(Some(compiled)) => compiled.map_err(|error| does_not_compile(&error)),
        Ok(None) => Err(does_not_compile("the compiler panicked")),
        Err(_elapsed) => Err(out_of_time(limits, "longer than", "")),
    }
}

/// The name of the threads that parse untrusted bytes. If one panics, its caller has
/// an error for that; a program may want to silence the panic's own message.
pub const PARSERS_NAME: &str = "scorebox-parser";
/// Bytes of stack of the threads that parse untrusted bytes: parsers recurse.
const DEEP_STACK_BYTES: usize = 64 << 20;

/// Runs `work` on a separate thread with a deep stack; `None` if it panicked, or could not begin.
pub(super) async fn on_a_deep_stack<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let thread = std::thread::Builder::new().name(PARSERS_NAME.into());
    let begun = thread.stack_size(DEEP_STACK_BYTES).spawn(move || {
        // The receiver is gone if the time was over.
        let _ = sender.send(work());
    });
    begun.ok()?;
    receiver.await.ok()
}

/// The error of a component that no machine compiles.
pub(super) fn does_not_compile(why: &str) -> CompileError {
    CompileError::OfTheComponent(invalid_component(why))
}

fn invalid_component(why: &str) -> ScoreError {
    let invalid = |why: &str| {
        let why = why.strip_prefix(phrases::DOES_NOT_PARSE).unwrap_or(why);
        ScoreError::new(
            ErrorKind::InvalidComponent,
            format!(
                "the component does not compile: {}",
                cut(why.trim(), COMPLAINT_BYTES as usize)
            ),
        )
    };
    if why.contains(phrases::IS_ASYNCHRONOUS) {
        return invalid(why).with(Advice::Build(Build::WithoutAsync));
    }
    if !why.contains(phrases::DOES_NOT_FIT_THE_POOL) {
        return invalid(why);
    }
    let (_, detail) = why.split_once(phrases::POOL_REQUIREMENTS).unwrap_or(("", why));
    let detail = detail.replace(" in the pooling allocator", "");
    let first_line = detail.lines().next().unwrap_or_default();
    invalid(&format!("it needs more than a sandbox has: {first_line}"))
        .with(Advice::Bound(settings::SHAPE))
}

pub(super) fn out_of_processor_time(limits: &CompileLimits) -> CompileError {
    out_of_time(limits, "more than", " of processor time")
}

fn out_of_time(limits: &CompileLimits, more: &str, of_what: &str) -> CompileError {
    let milliseconds = limits.timeout.as_millis();
    let message = format!("compiling the scorer took {more} {milliseconds} ms{of_what}");
    over_the_limit(message, Limit::CompileTime)
}

pub(super) fn too_large(limits: &CompileLimits) -> CompileError {
    let bytes = limits.memory_bytes;
    let message = format!("compiling the scorer took more than {bytes} bytes of memory");
    over_the_limit(message, Limit::CompileMemory)
}

fn over_the_limit(message: String, limit: Limit) -> CompileError {
    let error = ScoreError::new(ErrorKind::InvalidComponent, message);
    CompileError::OfTheMachine(error.with(Advice::Raise(limit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_compiling_of_a_load_is_of_one_budget() {
        let timeout = Duration::from_millis(500);
        let budget = CompileBudget::new(&CompileLimits { timeout, ..CompileLimits::default() });
        let same = budget.clone();
        budget.spend(Duration::from_millis(200));
        same.spend(Duration::from_millis(100));
        assert_eq!(budget.left(), Duration::from_millis(200));
        same.spend(Duration::MAX);
        assert_eq!(budget.left(), Duration::ZERO);
    }
}
