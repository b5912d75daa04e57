//! Where components are compiled: never on a thread that scores and, unless the program decides otherwise, in a
//! separate process, which can be ended. What is compiled was not checked beyond its outside.
//!
//! Compiling is the only step that hostile bytes can make slow without running at all. A thread cannot be ended from
//! outside, but a process can; so components are compiled in a child process (`compile_child`, `compiler_process`) with
//! limits on processor time and memory.

use std::{ffi::OsString, path::PathBuf, time::Instant};

use tokio::{process::Command, time::timeout};
use wasmtime::Engine;

use crate::digest::Digest;

use super::{
    ScoreError,
    code::{self, Code, NotRead, SplitCode, Way},
    compile_child,
    compile_limits::{
        CompileBudget, CompileError, CompileLimits, does_not_compile, no_thread, out_of_time,
    },
    compiler_process,
    parser_thread::{Undone, on_a_deep_stack},
    phrases,
    settings::{Allocation, Traps},
};

/// Where components are compiled.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Compiler {
    /// In a process of this same program, started again, which ends when its time runs out. `main` must begin with
    /// [`compile_if_asked`](super::compile_if_asked); if it does not, no sandbox can be made.
    #[default]
    Child,
    /// On a thread of this process. When the time runs out, the result is an error, but the thread continues until it
    /// is done, its memory is not bounded, and deeply nested bytes overflow its stack, which ends this process. It is
    /// for programs that trust the scorers that they load that far.
    InProcess,
    /// In a process of another program, which ends when its time runs out: for a host that does not control its `main`,
    /// such as an interpreter.
    Process {
        /// A program with exactly this version of scorebox, whose `main` begins with
        /// [`compile_if_asked`](super::compile_if_asked).
        program: PathBuf,
        /// Its arguments; the request itself comes through its environment.
        arguments: Vec<OsString>,
    },
}

impl Compiler {
    /// Compiles a component for `engine` with what is left of `budget`; with `beside`, only what that does not have
    /// already. Returns the code to run, and the bytes that `code` reads.
    pub(super) async fn compile(
        &self,
        engine: &Engine,
        settings: (&Allocation, Traps),
        (bytes, way, beside): (&[u8], Way, Option<&SplitCode>),
        limits: &CompileLimits,
        budget: &CompileBudget,
    ) -> Result<(Code, Vec<u8>), CompileError> {
        let order = (bytes, way, beside.map(|code| code.shell_digest));
        let compiled = match self.command().map_err(CompileError::OfTheMachine)? {
            None => compile_on_a_thread(engine, order, limits, budget).await?,
            Some(command) => {
                compiler_process::compile(command, settings, order, limits, budget).await?
            }
        };
        // SAFETY: these are the bytes that `code::compile` gave: in this process, or in one that this one
        // started from the program that the host trusts, over a pipe that no other process has.
        // wasmtime checks version and settings once more.
        #[expect(unsafe_code, reason = "wasmtime reads machine code only so")]
        let code = unsafe { code::read(engine, &compiled, beside) };
        let code = code.map_err(|error| match error {
            NotRead::Broken => compiler_process::broken(std::io::ErrorKind::InvalidData.into()),
            // The compiler process has no pool, so the pool's bounds first apply here.
            NotRead::Refused(error) if error.contains(phrases::DOES_NOT_FIT_THE_POOL) => {
                does_not_compile(&error)
            }
            NotRead::Refused(error) => {
                compiler_process::failed(format!("the compiler's process gave other code: {error}"))
            }
        })?;
        Ok((code, compiled))
    }

    /// The command that starts a process that compiles; `None` if this process compiles.
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
    (bytes, way, beside): (&[u8], Way, Option<Digest>),
    limits: &CompileLimits,
    budget: &CompileBudget,
) -> Result<Vec<u8>, CompileError> {
    let started = Instant::now();
    let (engine, bytes) = (engine.clone(), bytes.to_vec());
    let compiling = on_a_deep_stack(move || code::compile(&engine, &bytes, way, beside));
    let compiled = timeout(budget.left(), compiling).await;
    budget.spend(started.elapsed());
    match compiled {
        Ok(Ok(compiled)) => compiled.map_err(|error| does_not_compile(&error)),
        Ok(Err(Undone::Panicked)) => Err(does_not_compile("the compiler panicked")),
        Ok(Err(Undone::NotBegun(error))) => Err(no_thread(&error.to_string())),
        Err(_elapsed) => Err(out_of_time(limits, "longer than", "")),
    }
}
